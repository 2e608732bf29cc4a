#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path as StdPath;

use chatmd_compiler::manifest::{
    Executable, FileRole, Hook, Mode, Sandbox, digest, from_value, requested_sha256,
};

use super::*;
use crate::host::{HostInput, Snapshot};

/// Resolved values without a host.
#[derive(Default)]
struct Table {
    directories: BTreeMap<PathBase, String>,
    variables: BTreeMap<String, String>,
}

impl Values for Table {
    fn directory(&mut self, base: PathBase, _: Option<&str>) -> Result<String, Unknown> {
        self.directories
            .get(&base)
            .cloned()
            .ok_or(Unknown::Unavailable("not given".to_owned()))
    }

    fn variable(&mut self, name: &str) -> Result<Option<String>, Unknown> {
        Ok(self.variables.get(name).cloned())
    }

    fn root(&mut self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn file(&mut self, _: &str) -> Result<Option<Identity>, files::FileFault> {
        Ok(None)
    }
}

fn vector(case: &str) -> Manifest {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/vectors/manifest/"
    );
    let text = fs::read(format!("{root}{case}/expect.json")).unwrap();
    let mut expect: serde_json::Value = serde_json::from_slice(&text).unwrap();
    from_value(expect["payload"].take()).unwrap()
}

/// The payload of spec 04 section 8.11: the read-only runtime of a vector, renamed.
fn section_8_11() -> Manifest {
    let mut manifest = vector("038-moderator");
    let wanted = "builtin:workspace-readonly@1";
    manifest.moderator_runtime = None;
    manifest
        .sources
        .retain(|source| source.path == "agent.chatmd");
    manifest.runtimes.truncate(1);
    manifest.runtimes[0].id = "r".to_owned();
    manifest.tools.clear();
    manifest
        .dependencies
        .retain(|edge| edge.to == format!("profile:{wanted}"));
    manifest.dependencies.truncate(1);
    manifest.dependencies[0].from = "runtime:r".to_owned();
    manifest.features = vec!["shell.backend.bubblewrap.v1".to_owned()];
    manifest.sources.truncate(1);
    manifest.sources[0].path = "agent.chatmd".to_owned();
    manifest.sources[0].sha256 =
        "818a8e2f2ee907f260f664b734a374642971b303bd02440ca95535f8f4b637dc".to_owned();
    manifest.runtimes[0].source = "agent.chatmd".to_owned();
    manifest
}

#[test]
fn the_bound_vector_of_the_specification() {
    let manifest = section_8_11();
    let requested = "a77732854455c02fd3fa42019de694c2028be66fee09c09fb49000695d5202c0";
    assert_eq!(digest(&manifest).unwrap(), requested);
    let mut values = Table::default();
    values
        .directories
        .insert(PathBase::Workspace, "/srv/demo".to_owned());
    let bound = bind_values(&manifest, &mut values, Purpose::Start).unwrap();
    assert_eq!(
        digest(&bound.manifest).unwrap(),
        "b98b0843ecd6eefd00cfacccc5745c19ca6143a340a5cec25d7ccd5d299c70ea"
    );
    assert_eq!(requested_sha256(&bound.manifest).unwrap(), requested);
    assert!(bound.findings.is_empty());
}

#[test]
fn a_directory_that_is_missing_has_one_error_however_often_it_is_used() {
    let mut manifest = section_8_11();
    let root = manifest.runtimes[0].capabilities.read[0].clone();
    manifest.runtimes[0].capabilities.write.push(root);
    manifest.runtimes[0].cwd = path(PathBase::SourceDir, "x", Some("agent.chatmd"));
    let findings = bind_values(&manifest, &mut Table::default(), Purpose::Compile).unwrap_err();
    let mut codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        [
            "shell.directory_unavailable",
            "shell.source_dir_unavailable"
        ]
    );
}

fn path(base: PathBase, path: &str, source: Option<&str>) -> Path {
    Path {
        base,
        path: path.to_owned(),
        source: source.map(str::to_owned),
    }
}

fn root(base: PathBase, rest: &str) -> Root {
    Root::Path {
        path: path(base, rest, None),
    }
}

fn host(base: &StdPath, entries: &[&str]) -> Host {
    let environment = Snapshot::from_entries(entries);
    let dirs = HostDirs {
        session_dir: None,
        ..HostDirs::defaults(base, base, &environment)
    };
    Host::new(HostInput {
        directories: dirs.directories(),
        source_dirs: dirs.source_dirs(&section_8_11()),
        environment,
        session_id: None,
    })
}

#[test]
fn roots_are_canonical_ordered_and_listed_once() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(base.join("real")).unwrap();
    symlink("real", base.join("link")).unwrap();
    let mut manifest = section_8_11();
    let capabilities = &mut manifest.runtimes[0].capabilities;
    let variable = |name: &str, optional| Root::PathEnv {
        name: name.to_owned(),
        optional,
    };
    capabilities.read = vec![
        root(PathBase::Workspace, "link"),
        variable("EXTRA", false),
        root(PathBase::Workspace, "real"),
        variable("UNSET", true),
        root(PathBase::Workspace, "not/yet/../there"),
    ];
    capabilities.write = vec![
        root(PathBase::SessionDir, "out"),
        root(PathBase::SessionDir, ""),
    ];
    let bound = bind(
        &manifest,
        &host(&base, &["EXTRA=/usr/../usr"]),
        Purpose::Start,
    )
    .unwrap();
    let binding = bound.manifest.binding.unwrap();
    let at = |rest: &str| base.join(rest).to_str().unwrap().to_owned();
    let roots = &binding.roots[0];
    assert_eq!(roots.read, [at("real"), "/usr".to_owned(), at("not/there")]);
    assert_eq!(roots.write, ["${session_dir}/out", "${session_dir}"]);
    assert_eq!(binding.variables.keys().collect::<Vec<_>>(), ["workspace"]);
    assert_eq!(binding.path_env["EXTRA"].as_deref(), Some("/usr/../usr"));
    assert_eq!(binding.path_env["UNSET"], None);
}

#[test]
fn root_variables_that_can_not_be_used() {
    let dir = tempfile::tempdir().unwrap();
    for (entry, code) in [
        ("OTHER=1", "shell.capability_path_missing"),
        ("V=", "shell.capability_path_invalid"),
        ("V=relative/path", "shell.capability_path_invalid"),
        ("V=/a\nb", "shell.capability_path_invalid"),
    ] {
        let mut manifest = section_8_11();
        manifest.runtimes[0].capabilities.read = vec![Root::PathEnv {
            name: "V".to_owned(),
            optional: false,
        }];
        let findings = bind(&manifest, &host(dir.path(), &[entry]), Purpose::Compile).unwrap_err();
        assert_eq!(findings[0].code, code, "{entry:?}");
        assert_eq!(findings[0].owner.as_deref(), Some("runtime:r"));
        assert!(
            !findings[0].message.contains("relative/path"),
            "no values in messages"
        );
    }
}

fn executable(id: &str, file: Path, sha256: Option<String>) -> Executable {
    Executable {
        id: id.to_owned(),
        path: file,
        sha256,
        trusted: false,
    }
}

#[test]
fn files_are_hashed_through_links_and_pins_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::write(base.join("tool"), b"abc").unwrap();
    symlink("tool", base.join("alias")).unwrap();
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let mut manifest = section_8_11();
    let source = Some("agent.chatmd");
    manifest.runtimes[0].resolver.executables = vec![
        executable(
            "a",
            path(PathBase::SourceDir, "alias", source),
            Some(abc.to_owned()),
        ),
        executable("b", path(PathBase::Workspace, "gone", None), None),
        executable("s", path(PathBase::SessionDir, "x", None), None),
    ];
    let host = host(&base, &[]);
    let bound = bind(&manifest, &host, Purpose::Compile).unwrap();
    let binding = bound.manifest.binding.clone().unwrap();
    let text = |rest: &str| base.join(rest).to_str().unwrap().to_owned();
    assert_eq!(
        binding.files,
        [
            BoundFile {
                owner: "runtime:r/a".to_owned(),
                role: FileRole::Executable,
                path: text("tool"),
                sha256: Some(abc.to_owned()),
            },
            BoundFile {
                owner: "runtime:r/b".to_owned(),
                role: FileRole::Executable,
                path: text("gone"),
                sha256: None,
            },
        ]
    );
    assert_eq!(bound.findings.len(), 1);
    assert_eq!(bound.findings[0].code, "shell.file_absent");
    assert_eq!(
        binding.source_dirs["agent.chatmd"],
        text("").trim_end_matches('/')
    );

    let absent = bind(&manifest, &host, Purpose::Start).unwrap_err();
    assert_eq!(absent[0].code, "shell.executable_unavailable");

    // A file that appears or changes gives another digest.
    let before = digest(&bound.manifest).unwrap();
    fs::write(base.join("gone"), b"").unwrap();
    let after = bind(&manifest, &host, Purpose::Start).unwrap();
    assert_ne!(digest(&after.manifest).unwrap(), before);

    fs::write(base.join("tool"), b"abd").unwrap();
    for purpose in [Purpose::Compile, Purpose::Start] {
        let findings = bind(&manifest, &host, purpose).unwrap_err();
        assert_eq!(findings[0].code, "shell.executable_digest_mismatch");
        assert!(findings[0].message.contains(abc));
    }
}

#[test]
fn every_role_has_its_owner_and_codes() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(base.join("folder")).unwrap();
    let here = |rest: &str| path(PathBase::Workspace, rest, None);
    let hook = |file: Path| Hook {
        executable: file,
        sha256: None,
        runtime: "r".to_owned(),
        protocol: "shell-hook-json-v1".to_owned(),
        timeout_ms: None,
        max_input_bytes: 1,
        max_output_bytes: 1,
    };
    let mut manifest = section_8_11();
    let runtime = &mut manifest.runtimes[0];
    runtime.capabilities.sandbox = Sandbox::Required;
    runtime.audit.filter = Some(chatmd_compiler::manifest::Extension::Executable {
        hook: hook(here("f")),
    });
    runtime
        .backends
        .entries
        .push(chatmd_compiler::manifest::Backend::External {
            id: None,
            when: chatmd_compiler::manifest::When::Any,
            executable: here("w"),
            sha256: None,
            confinement: chatmd_compiler::manifest::Confinement::None,
            atoms: Vec::new(),
        });
    let tool = vector("036-tool-script-mode").tools.swap_remove(0);
    let mut add = |name: &str, mode: Mode| {
        let mut tool = tool.clone();
        (tool.name, tool.runtime, tool.mode) = (name.to_owned(), "r".to_owned(), mode);
        manifest.tools.push(tool);
    };
    let script = Mode::Script {
        script: here("s"),
        interpreter: Some(here("i")),
        fixed_arguments: Vec::new(),
        verification: "sha256".to_owned(),
        max_source_bytes: 2,
    };
    add("script", script);
    add(
        "raw",
        Mode::Raw {
            executable: here("sh"),
            arguments_before_script: Vec::new(),
        },
    );
    let fixed = Mode::Fixed {
        program: Some("/no/such/program".to_owned()),
        executable_ref: None,
        arguments: Vec::new(),
        model_arguments: vector("033-tool-fixed-long-form")
            .tools
            .iter()
            .find_map(|tool| match &tool.mode {
                Mode::Fixed {
                    model_arguments, ..
                } => Some(*model_arguments),
                _ => None,
            })
            .unwrap(),
    };
    add("fixed", fixed);
    let host = host(&base, &[]);
    let codes = |purpose| match bind(&manifest, &host, purpose) {
        Ok(bound) => bound.findings,
        Err(findings) => findings,
    };
    let started: BTreeMap<String, &str> = codes(Purpose::Start)
        .into_iter()
        .map(|finding| (finding.owner.unwrap() + finding.code, finding.code))
        .collect();
    let expected = [
        (
            "runtime:r/audit-filter",
            "shell.hook_executable_unavailable",
        ),
        ("runtime:r/external", "shell.external_backend_unavailable"),
        ("tool:fixed", "shell.executable_unavailable"),
        ("tool:raw", "shell.executable_unavailable"),
        ("tool:script", "shell.script_executable_unavailable"),
        ("tool:script", "shell.script_unavailable"),
    ];
    let expected: BTreeMap<String, &str> = expected
        .into_iter()
        .map(|(owner, code)| (owner.to_owned() + code, code))
        .collect();
    assert_eq!(started, expected);
    assert!(
        codes(Purpose::Compile)
            .iter()
            .all(|f| f.code == "shell.file_absent" && !f.error)
    );

    // A folder is no file, and a script over its bound is refused at start.
    fs::create_dir(base.join("w")).unwrap();
    fs::write(base.join("s"), b"four").unwrap();
    let findings = codes(Purpose::Compile);
    let found = |code: &str| {
        findings
            .iter()
            .find(|finding| finding.code == code)
            .unwrap()
    };
    assert!(found("shell.external_backend_unavailable").error);
    assert!(!found("shell.script_too_large").error);
    let at_start = codes(Purpose::Start);
    assert!(
        at_start
            .iter()
            .any(|f| f.code == "shell.script_too_large" && f.error)
    );
}

#[test]
fn a_pipe_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let mode = nix::sys::stat::Mode::from_bits_truncate(0o600);
    nix::unistd::mkfifo(&base.join("pipe"), mode).unwrap();
    let mut manifest = section_8_11();
    manifest.runtimes[0].resolver.executables = vec![executable(
        "p",
        path(PathBase::Workspace, "pipe", None),
        None,
    )];
    let findings = bind(&manifest, &host(&base, &[]), Purpose::Compile).unwrap_err();
    assert_eq!(findings[0].code, "shell.executable_unavailable");
}

#[test]
fn default_directories() {
    let working = StdPath::new("/project/dir");
    let prompt = StdPath::new("/docs");
    let with =
        |entries: &[&str]| HostDirs::defaults(working, prompt, &Snapshot::from_entries(entries));
    let plain = with(&["HOME=/home/u"]);
    assert_eq!(plain.workspace.as_deref(), Some(working));
    assert_eq!(plain.tool_dir.as_deref(), Some(working));
    assert_eq!(plain.prompt_dir.as_deref(), Some(prompt));
    assert_eq!(plain.home.as_deref(), Some(StdPath::new("/home/u")));
    assert_eq!(
        plain.cache_dir.as_deref(),
        Some(StdPath::new("/home/u/.cache/chatmd"))
    );
    let cache = with(&["HOME=/home/u", "XDG_CACHE_HOME=/c"]);
    assert_eq!(cache.cache_dir.as_deref(), Some(StdPath::new("/c/chatmd")));
    let relative = with(&["HOME=/home/u", "XDG_CACHE_HOME=c"]);
    assert_eq!(relative.cache_dir, plain.cache_dir);
    // An unusable HOME is replaced by the account's.
    assert_ne!(with(&["HOME=u"]).home.as_deref(), Some(StdPath::new("u")));
    assert_eq!(plain.directories().len(), 5);
    let sources = plain.source_dirs(&vector("030-import-two-deep"));
    assert_eq!(sources["a/b/two.chatmd"], StdPath::new("/docs/a/b"));
    assert_eq!(sources["agent.chatmd"], StdPath::new("/docs"));
}
