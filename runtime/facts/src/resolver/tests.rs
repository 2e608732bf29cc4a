#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use chatmd_compiler::manifest::{EnvOp, Environment, Inherit, PathBase};

use super::*;
use crate::canonical::canonical;
use crate::environment;
use crate::host::{HostInput, Snapshot};

/// A scratch world below a folder that only root and its owner may change.
struct World {
    _keep: tempfile::TempDir,
    base: PathBuf,
}

struct Setup {
    path: String,
    relative: bool,
    search: Vec<PathBuf>,
    trusted: Vec<PathBuf>,
    executables: Vec<(&'static str, PathBuf, bool, Option<String>)>,
    write: Vec<PathBuf>,
    workspace: Option<PathBuf>,
}

impl World {
    fn new() -> Self {
        // Not in /tmp: nothing there is ever stable.
        let home = std::env::current_exe()
            .unwrap()
            .parent()
            .unwrap()
            .to_path_buf();
        let dir = tempfile::tempdir_in(home).unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        Self { _keep: dir, base }
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy("/bin/true", &path).unwrap();
        mode(&path, 0o755);
        path
    }

    fn file(&self, name: &str, text: &str, bits: u32) -> PathBuf {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        mode(&path, bits);
        path
    }

    fn setup(&self) -> Setup {
        Setup {
            path: format!("{}:/usr/bin", self.base.join("bin").display()),
            relative: false,
            search: vec![],
            trusted: vec![],
            executables: vec![],
            write: vec![],
            workspace: None,
        }
    }

    fn resolver(&self, setup: Setup) -> Resolver {
        let host = Host::new(HostInput {
            environment: Snapshot::default(),
            directories: setup
                .workspace
                .map(|path| (PathBase::Workspace, path))
                .into_iter()
                .collect(),
            ..HostInput::default()
        });
        let absolute = |path: &PathBuf| manifest::Path {
            base: PathBase::Absolute,
            path: path.to_str().unwrap().to_owned(),
            source: None,
        };
        let operations = vec![EnvOp::Set {
            name: "PATH".to_owned(),
            value: setup.path,
        }];
        let environment = environment::build(
            &host,
            &Environment {
                inherit: Inherit::None,
                operations,
            },
            setup.relative,
        )
        .unwrap();
        let declared = manifest::Resolver {
            search_path: setup.search.iter().map(absolute).collect(),
            trusted_roots: setup.trusted.iter().map(absolute).collect(),
            executables: setup
                .executables
                .iter()
                .map(|(id, path, trusted, sha256)| manifest::Executable {
                    id: (*id).to_owned(),
                    path: absolute(path),
                    sha256: sha256.clone(),
                    trusted: *trusted,
                })
                .collect(),
            allow_relative_search_path: setup.relative,
        };
        let roots = FrozenRoots {
            read: vec![],
            write: setup
                .write
                .iter()
                .map(|path| canonical(path).unwrap())
                .collect(),
        };
        Resolver::new(
            &host,
            &declared,
            &canonical(&self.base).unwrap(),
            &environment,
            &roots,
        )
        .unwrap()
    }
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

fn reason(result: Result<ResolvedExecutable, ResolveError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn search_order_and_candidates() {
    let world = World::new();
    fs::create_dir_all(world.base.join("a/tool")).unwrap();
    world.file("b/tool", "#!/bin/sh\n", 0o644);
    let wanted = world.program("c/tool");
    world.program("d/tool");
    let folders: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .map(|name| world.base.join(name))
        .collect();
    let from_path = world.resolver(Setup {
        path: folders
            .iter()
            .map(|path| path.to_str().unwrap())
            .collect::<Vec<_>>()
            .join(":"),
        ..world.setup()
    });
    let declared = world.resolver(Setup {
        search: folders,
        ..world.setup()
    });
    for resolver in [from_path, declared] {
        // Neither a folder nor a file without an execute bit hides a program further on.
        assert_eq!(resolver.resolve("tool").unwrap().located(), wanted);
    }
}

#[test]
fn names_that_can_not_be_resolved() {
    let world = World::new();
    world.file("bin/plain", "text", 0o644);
    fs::create_dir_all(world.base.join("bin/folder")).unwrap();
    let resolver = world.resolver(world.setup());
    for (program, expected) in [
        ("nosuch", "executable \"nosuch\" was not found"),
        (
            "cd",
            "executable \"cd\" was not found (shell built-ins are not available)",
        ),
        (
            "export",
            "executable \"export\" was not found (shell built-ins are not available)",
        ),
        ("plain", "executable \"plain\" is not executable"),
        ("folder", "executable \"folder\" is not executable"),
        ("./nosuch", "executable \"./nosuch\" was not found"),
        (
            "./bin/plain",
            "executable \"./bin/plain\" is not executable",
        ),
        (
            ".",
            "\".\" can not name a program (shell built-ins are not available)",
        ),
        ("..", "\"..\" can not name a program"),
        ("", "\"\" can not name a program"),
        ("bin/", "\"bin/\" can not name a program"),
    ] {
        assert_eq!(reason(resolver.resolve(program)), expected);
    }
    let long = "x".repeat(MAX_PROGRAM_BYTES + 1);
    assert!(matches!(
        resolver.resolve(&long),
        Err(ResolveError::ProgramTooLong)
    ));
    assert!(reason(resolver.resolve(&long[1..])).len() < 400);
}

#[test]
fn relative_search_needs_permission() {
    let world = World::new();
    let tool = world.program("rel/tool");
    let here = world.program("here");
    let setup = |relative| Setup {
        path: "rel::/usr/bin".to_owned(),
        relative,
        ..world.setup()
    };
    let strict = world.resolver(setup(false));
    assert!(matches!(
        strict.resolve("tool"),
        Err(ResolveError::NotFound(_))
    ));
    let open = world.resolver(setup(true));
    assert_eq!(open.resolve("tool").unwrap().located(), tool);
    assert_eq!(
        open.resolve("here").unwrap().located(),
        here,
        "an empty entry is the working directory"
    );
    // A slash means a path, searched or not.
    assert_eq!(strict.resolve("rel/tool").unwrap().located(), tool);
    let dotted = strict.resolve("./rel//../rel/./tool").unwrap();
    assert_eq!(dotted.canonical().as_path(), tool);
    let text = format!("{}/rel/../rel/tool", world.base.display());
    assert_eq!(dotted.located().to_str(), Some(text.as_str()));
}

#[test]
fn aliases_digests_and_links() {
    let world = World::new();
    let program = world.program("opt/real");
    symlink("opt/real", world.base.join("alias")).unwrap();
    let alias = world.base.join("alias");
    let plain = world.resolver(Setup {
        executables: vec![("my tool", alias.clone(), false, None)],
        ..world.setup()
    });
    let found = plain.resolve("my tool").unwrap();
    assert_eq!(
        (found.requested(), found.located()),
        ("my tool", alias.as_path())
    );
    assert_eq!(found.canonical().as_path(), program);
    assert!(found.is_alias() && !found.trusted());
    assert_eq!(found.target().links.len(), 1);
    let digest = found.fingerprint().sha256.to_string();
    let good = world.resolver(Setup {
        executables: vec![("t", alias.clone(), true, Some(digest))],
        ..world.setup()
    });
    assert!(good.check_declared().is_empty());
    let wrong = Some("0".repeat(63) + "1");
    let bad = world.resolver(Setup {
        executables: vec![
            ("t", alias, true, wrong),
            ("gone", world.base.join("gone"), false, None),
        ],
        ..world.setup()
    });
    assert_eq!(reason(bad.resolve("t")), "executable digest mismatch: t");
    let codes: Vec<_> = bad.check_declared().iter().map(FactsError::code).collect();
    assert_eq!(
        codes,
        [
            "shell.executable_unavailable",
            "shell.executable_digest_mismatch"
        ]
    );
}

#[test]
fn trust_conditions() {
    let world = World::new();
    let tool = world.program("bin/tool");
    let resolver = |setup: Setup| world.resolver(setup).resolve("tool").unwrap();
    let root = || Setup {
        trusted: vec![world.base.clone()],
        ..world.setup()
    };
    assert!(!resolver(world.setup()).trusted(), "T1");
    let trusted = resolver(root());
    assert!(trusted.trusted() && trusted.stable() && trusted.in_trusted_root());
    for bits in [0o775, 0o757] {
        mode(&tool, bits);
        assert!(!resolver(root()).trusted(), "T2 {bits:o}");
    }
    for bits in [0o4755, 0o2755] {
        mode(&tool, bits);
        let found = resolver(root());
        assert!(!found.trusted() && found.set_id(), "T4 {bits:o}");
    }
    mode(&tool, 0o755);
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(&tool, Some(12345), None).unwrap();
        assert!(!resolver(root()).trusted(), "T3");
        std::os::unix::fs::chown(&tool, Some(0), None).unwrap();
        // A capability as `setcap cap_net_raw+ep` writes it.
        let value = [
            1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        xattr::set(&tool, "security.capability", &value).unwrap();
        let found = resolver(root());
        assert!(!found.trusted() && found.set_id(), "T4 capability");
        xattr::remove(&tool, "security.capability").unwrap();
    }
    let writable = || Setup {
        write: vec![world.base.clone()],
        ..root()
    };
    let found = resolver(writable());
    assert!(
        found.modifiable() && !found.trusted() && !found.stable(),
        "T5"
    );
    let digest = found.fingerprint().sha256.to_string();
    let pinned = Setup {
        executables: vec![("tool", tool.clone(), true, Some(digest))],
        ..writable()
    };
    let found = resolver(pinned);
    assert!(
        found.modifiable() && found.trusted() && found.stable(),
        "T5 with a digest"
    );
    let elsewhere = world.base.join("else");
    fs::create_dir(&elsewhere).unwrap();
    assert!(
        resolver(Setup {
            write: vec![elsewhere],
            ..root()
        })
        .trusted()
    );
}

#[test]
fn stability_conditions() {
    let world = World::new();
    let resolver = world.resolver(Setup {
        path: "/usr/bin".to_owned(),
        ..world.setup()
    });
    let system = resolver.resolve("true").unwrap();
    assert!(system.stable() && !system.trusted());
    let inside = world.resolver(Setup {
        path: "/usr/bin".to_owned(),
        workspace: Some("/usr".into()),
        ..world.setup()
    });
    assert!(
        !inside.resolve("true").unwrap().stable(),
        "a session folder"
    );
    if nix::unistd::geteuid().is_root() {
        let tool = world.program("bin/tool");
        let fixed = || {
            world
                .resolver(world.setup())
                .resolve("tool")
                .unwrap()
                .stable()
        };
        if world
            .base
            .ancestors()
            .all(|above| fs::metadata(above).unwrap().permissions().mode() & 0o022 == 0)
        {
            assert!(fixed());
            mode(&world.base.join("bin"), 0o777);
            assert!(!fixed(), "a folder that others may write");
            mode(&world.base.join("bin"), 0o755);
            mode(&tool, 0o775);
            assert!(!fixed());
        }
    }
    let tmp = tempfile::tempdir().unwrap();
    let tool = tmp.path().join("tool");
    fs::copy("/bin/true", &tool).unwrap();
    mode(&tool, 0o755);
    assert!(
        !resolver.resolve(tool.to_str().unwrap()).unwrap().stable(),
        "/tmp"
    );
}

#[test]
fn fingerprints() {
    let world = World::new();
    let tool = world.program("bin/tool");
    let found = world.resolver(world.setup()).resolve("tool").unwrap();
    let print = found.fingerprint();
    let meta = fs::metadata(&tool).unwrap();
    assert_eq!(
        (print.device, print.inode, print.size),
        (meta.dev(), meta.ino(), meta.len())
    );
    assert_eq!(print.mode, 0o755);
    assert_eq!(
        print.mtime_ns,
        i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
    );
    // The digest of `abc`, from FIPS 180-2, through a script that is exactly that long plus its head.
    let abc = fs::File::open(world.file("abc", "abc", 0o644)).unwrap();
    let digest = fingerprint::hash_through(&abc, 3, |_| Ok(()))
        .unwrap()
        .unwrap();
    assert_eq!(
        digest.to_string(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert!(
        fingerprint::hash_through(&abc, 2, |_| Ok(()))
            .unwrap()
            .is_none()
    );
    let mut copy = Vec::new();
    found
        .file()
        .copy_verified(|chunk| {
            copy.extend_from_slice(chunk);
            Ok(())
        })
        .unwrap();
    assert_eq!(copy, fs::read(&tool).unwrap());
}

#[test]
fn files_beyond_the_hash_bound_are_refused() {
    let world = World::new();
    let tool = world.program("bin/tool");
    // Sparse: nothing of that size is written.
    fs::File::options()
        .write(true)
        .open(&tool)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    let resolver = world.resolver(world.setup());
    assert!(matches!(
        resolver.resolve("tool"),
        Err(ResolveError::TooLarge(_))
    ));
}

#[test]
fn formats_and_interpreters() {
    let world = World::new();
    world.file("bin/text", "echo hello\n", 0o755);
    world.file("bin/script", "#!/bin/sh -e\n", 0o755);
    world.file("bin/lookup", "#!/usr/bin/env -S sh -e\n", 0o755);
    world.file("bin/missing", "#!/nonexistent/sh\n", 0o755);
    let nested = format!("#!{}\n", world.base.join("bin/script").display());
    world.file("bin/nested", &nested, 0o755);
    let resolver = world.resolver(world.setup());
    assert!(reason(resolver.resolve("text")).ends_with("is not a supported executable format"));
    assert!(reason(resolver.resolve("missing")).contains("does not exist"));
    assert!(reason(resolver.resolve("nested")).ends_with("is a script itself"));
    let script = resolver.resolve("script").unwrap();
    let interpreter = script.interpreter().unwrap();
    assert_eq!(interpreter.written, Path::new("/bin/sh"));
    assert_eq!(interpreter.argument.as_deref(), Some(OsStr::new("-e")));
    assert_eq!(interpreter.file().path(), &canonical("/bin/sh").unwrap());
    assert!(!interpreter.looks_up && interpreter.stable);
    assert!(
        resolver
            .resolve("lookup")
            .unwrap()
            .interpreter()
            .unwrap()
            .looks_up
    );
}

#[test]
fn verification_finds_every_change() {
    let world = World::new();
    let tool = world.program("bin/tool");
    let script = world.file("bin/script", "#!/bin/sh\n", 0o755);
    symlink(&tool, world.base.join("bin/link")).unwrap();
    let resolver = world.resolver(world.setup());
    let fresh = |name: &str| resolver.resolve(name).unwrap();
    assert!(fresh("tool").verify(resolver.cache()).is_ok());

    let mut changed = fresh("script");
    fs::write(&script, "#!/bin/sh\nrm x\n").unwrap();
    assert!(matches!(
        changed.verify(resolver.cache()),
        Err(IdentityError::Different(_))
    ));

    let mut replaced = fresh("tool");
    let other = world.program("other");
    fs::rename(&other, &tool).unwrap();
    // Same bytes, another inode.
    assert!(matches!(
        replaced.verify(resolver.cache()),
        Err(IdentityError::Different(_))
    ));

    let mut permissions = fresh("tool");
    mode(&tool, 0o700);
    assert!(permissions.verify(resolver.cache()).is_err());
    mode(&tool, 0o755);

    let mut moved = fresh("link");
    fs::remove_file(world.base.join("bin/link")).unwrap();
    symlink("/bin/false", world.base.join("bin/link")).unwrap();
    assert!(matches!(
        moved.verify(resolver.cache()),
        Err(IdentityError::Moved(_))
    ));

    let mut gone = fresh("tool");
    fs::remove_file(&tool).unwrap();
    assert!(gone.verify(resolver.cache()).is_err());
    // The held descriptor still names the bytes that were approved.
    assert!(gone.file().copy_verified(|_| Ok(())).is_ok());
}

#[test]
fn a_change_that_keeps_size_and_times_is_found_in_unstable_files() {
    let world = World::new();
    let script = world.file("bin/script", "#!/bin/sh\n#a\n", 0o755);
    let resolver = world.resolver(Setup {
        write: vec![world.base.clone()],
        ..world.setup()
    });
    let mut found = resolver.resolve("script").unwrap();
    assert!(!found.stable());
    let times = fs::metadata(&script).unwrap().modified().unwrap();
    fs::write(&script, "#!/bin/sh\n#b\n").unwrap();
    fs::File::options()
        .write(true)
        .open(&script)
        .unwrap()
        .set_modified(times)
        .unwrap();
    assert!(found.verify(resolver.cache()).is_err());
    assert!(found.file().copy_verified(|_| Ok(())).is_err());
}

#[test]
fn a_replaced_link_or_fifo_is_not_opened() {
    let world = World::new();
    let path = world.base.join("fifo");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(
        fingerprint::open_regular(&canonical(&path).unwrap()),
        Err(ResolveError::NotRegular(_))
    ));
    let tool = world.program("tool");
    let canonical_tool = canonical(&tool).unwrap();
    fs::rename(&tool, world.base.join("away")).unwrap();
    symlink("away", &tool).unwrap();
    assert!(matches!(
        fingerprint::open_regular(&canonical_tool),
        Err(ResolveError::Unreadable { .. })
    ));
}

#[test]
fn scripts() {
    let world = World::new();
    let path = world.file("s.py", "print(1)\n", 0o644);
    let mut script = ScriptFile::open(&path, 9).unwrap();
    assert_eq!(script.read().unwrap(), b"print(1)\n");
    assert!(script.verify().is_ok());
    assert_eq!(
        ScriptFile::open(&path, 8).unwrap_err().code(),
        "shell.script_too_large"
    );
    assert_eq!(
        ScriptFile::open(&world.base, 8).unwrap_err().code(),
        "shell.script_unavailable"
    );
    assert_eq!(
        ScriptFile::open(&world.base.join("no"), 8)
            .unwrap_err()
            .code(),
        "shell.script_unavailable"
    );
    // The same bytes in another file are the same script.
    let other = world.file("copy.py", "print(1)\n", 0o644);
    fs::rename(&other, &path).unwrap();
    assert!(script.verify().is_ok());
    fs::write(&path, "print(2)\n").unwrap();
    assert!(
        script
            .verify()
            .unwrap_err()
            .contains("not the script that was approved")
    );
    fs::write(&path, "print(1)\n#\n").unwrap();
    assert!(script.verify().unwrap_err().contains("larger"));
    fs::remove_file(&path).unwrap();
    assert!(script.verify().is_err());
}
