//! `chatmdc manifest` and `chatmdc inspect` as processes.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use chatmd_compiler::manifest::sha256_hex;
use support::Project;

/// The published test vector (spec 04 section 8.11).
const VECTOR: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n";
const DIGEST: &str = "a77732854455c02fd3fa42019de694c2028be66fee09c09fb49000695d5202c0";

fn project() -> Project {
    Project::new(&[("agent.chatmd", VECTOR)])
}

#[test]
fn the_digest_is_that_of_the_printed_bytes() {
    let project = project();
    let args = |more: &[&'static str]| -> Vec<&'static str> {
        let mut args = vec!["manifest", "--platform", "linux"];
        args.extend(more);
        args
    };
    let bytes = project.run(&args(&["agent.chatmd"])).stdout;
    assert_eq!(
        (bytes.len(), sha256_hex(bytes.as_bytes()).as_str()),
        (2911, DIGEST)
    );
    let digest = project.run(&args(&["--digest", "agent.chatmd"])).stdout;
    assert_eq!(digest, format!("{DIGEST}\n"));
    let run = project.run(&args(&["-o", "out.json", "agent.chatmd"]));
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    assert_eq!(
        std::fs::read_to_string(project.path().join("out.json")).unwrap(),
        bytes
    );
    let pretty = project.run(&args(&["--pretty", "agent.chatmd"])).stdout;
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert!(pretty.lines().count() > 50);
    assert_eq!(value(&pretty), value(&bytes));
}

#[test]
fn the_same_document_elsewhere_has_the_same_digest() {
    let (one, two) = (project(), project());
    std::fs::create_dir(two.path().join("deep")).unwrap();
    std::fs::rename(
        two.path().join("agent.chatmd"),
        two.path().join("deep/agent.chatmd"),
    )
    .unwrap();
    let first = one.run(&["manifest", "--digest", "agent.chatmd"]).stdout;
    assert_eq!(
        first,
        two.run(&["manifest", "--digest", "deep/agent.chatmd"])
            .stdout
    );
    assert_eq!(first.len(), 65);
}

#[test]
fn a_bundle_holds_its_payload_and_digest() {
    let run = project().run(&[
        "manifest",
        "--bundle",
        "--platform",
        "linux",
        "agent.chatmd",
    ]);
    let bundle: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(bundle["format"], "chatmd.shell.bundle.v1");
    assert_eq!(bundle["requested_sha256"], DIGEST);
    assert_eq!(bundle["payload"]["encoding"], "chatmd.shell.manifest.v1");
    assert_eq!(bundle["material"], serde_json::json!({ "scripts": {} }));
}

#[test]
fn literal_secrets_never_leave_in_a_bundle() {
    let text = "<shell_access id=\"r\"><secrets><literal value=\"s3cr3t-value\"/></secrets>\
                </shell_access>\n<tool name=\"t\" runtime=\"r\" command=\"ls\"/>\n";
    let project = Project::new(&[("agent.chatmd", text)]);
    let run = project.run(&["manifest", "--bundle", "agent.chatmd"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("shell.manifest_material_missing"),
        "{}",
        run.stderr
    );
    for args in [
        &["manifest", "agent.chatmd"][..],
        &["inspect", "--no-live", "agent.chatmd"],
    ] {
        let run = project.run(args);
        assert_eq!(run.code, 0);
        assert!(!(run.stdout + &run.stderr).contains("s3cr3t"));
    }
}

#[test]
fn errors_leave_standard_output_empty() {
    let project = Project::new(&[("agent.chatmd", "<User/>\n"), ("old.json", "kept")]);
    for args in [
        &["manifest", "agent.chatmd"][..],
        &["manifest", "--digest", "agent.chatmd"],
    ] {
        let run = project.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{args:?}");
        assert!(run.stderr.contains("chatmd.unknown_element"));
    }
    project.run(&["manifest", "-o", "old.json", "agent.chatmd"]);
    assert_eq!(
        std::fs::read_to_string(project.path().join("old.json")).unwrap(),
        "kept"
    );
    let names = std::fs::read_dir(project.path()).unwrap().count();
    assert_eq!(names, 2, "no temporary file is left");
}

#[test]
fn inspection_for_people() {
    let run = project().run(&[
        "inspect",
        "--no-live",
        "--platform",
        "linux",
        "agent.chatmd",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    insta::assert_snapshot!("inspect_human", run.stdout);
}

#[test]
fn canonical_inspection() {
    let project = project();
    let manifest = project
        .run(&["manifest", "--platform", "linux", "agent.chatmd"])
        .stdout;
    let args = [
        "inspect",
        "-canonical",
        "--platform",
        "linux",
        "--no-live",
        "agent.chatmd",
    ];
    let run = project.run(&args);
    assert!(
        run.stdout.ends_with(&format!("\n\n{manifest}\n")),
        "{}",
        run.stdout
    );
    let args = [
        "inspect",
        "--canonical",
        "-q",
        "--platform",
        "linux",
        "--no-live",
        "agent.chatmd",
    ];
    assert_eq!(project.run(&args).stdout, format!("{manifest}\n"));
}

#[test]
fn inspection_as_json() {
    let args = [
        "inspect",
        "--format",
        "json",
        "--no-live",
        "--platform",
        "linux",
        "agent.chatmd",
    ];
    let run = project().run(&args);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["requested_sha256"], DIGEST);
    assert_eq!(value["manifest_sha256"], serde_json::Value::Null);
    assert_eq!(value["platform"], "linux");
}

#[cfg(target_os = "linux")]
#[test]
fn binding_depends_on_the_machine_and_the_requested_manifest_does_not() {
    let project = project();
    for name in ["one", "two"] {
        std::fs::create_dir(project.path().join(name)).unwrap();
    }
    let bound = |workspace: &str| {
        let args = [
            "manifest",
            "--bound",
            "--workspace",
            workspace,
            "agent.chatmd",
        ];
        let run = project.run(&args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let real = project.path().join(workspace).canonicalize().unwrap();
        assert_eq!(
            value["binding"]["variables"]["workspace"],
            real.to_str().unwrap()
        );
        let args = [
            "inspect",
            "--format",
            "json",
            "--workspace",
            workspace,
            "agent.chatmd",
        ];
        let inspected: serde_json::Value =
            serde_json::from_str(&project.run(&args).stdout).unwrap();
        assert_eq!(
            inspected["manifest_sha256"],
            sha256_hex(run.stdout.as_bytes())
        );
        assert_eq!(inspected["requested_sha256"], DIGEST);
        assert_eq!(
            inspected["live"][0]["roots"]["read"][0],
            real.to_str().unwrap()
        );
        sha256_hex(run.stdout.as_bytes())
    };
    assert_ne!(bound("one"), bound("two"));
    let run = project.run(&["inspect", "--workspace", "none", "agent.chatmd"]);
    assert_eq!(run.code, 4);
    assert!(run.stderr.contains("none"), "{}", run.stderr);
    let run = project.run(&["manifest", "--bound", "--platform", "macos", "agent.chatmd"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("compiled for macos"), "{}", run.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn variables_come_from_the_environment_file_alone_when_there_is_one() {
    let text = "<shell_access id=\"r\"><capabilities><read path_env=\"DATA\"/></capabilities>\
                </shell_access>\n<tool name=\"t\" runtime=\"r\" command=\"ls\"/>\n";
    let project = Project::new(&[("agent.chatmd", text), ("empty.env", "# nothing\n")]);
    project.write(
        "full.env",
        format!("DATA={}\n", project.path().display()).as_bytes(),
    );
    let unavailable = |args: &[&str]| {
        let mut command = project.command(args);
        let run = support::finished(command.env("DATA", "/").output().unwrap());
        let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        !value["live_unavailable"].is_null()
    };
    let args = ["inspect", "--format", "json", "agent.chatmd"];
    assert!(!unavailable(&args));
    assert!(!unavailable(
        &[&args[..], &["--env-file", "full.env"]].concat()
    ));
    assert!(unavailable(
        &[&args[..], &["--env-file", "empty.env"]].concat()
    ));
    assert_eq!(
        project
            .run(&["inspect", "--env-file", "none", "agent.chatmd"])
            .code,
        4
    );
}

/// fc1-038: the locale has no say in canonical bytes.
#[test]
fn every_locale_gives_the_same_bytes() {
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/examples");
    for document in ["repository-search.chatmd", "development-build.chatmd"] {
        let run = |locale: &str| {
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_chatmdc"))
                .args(["manifest", document])
                .current_dir(&example)
                .env_clear()
                .envs([("LANG", locale), ("LC_ALL", locale), ("LC_COLLATE", locale)])
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            assert!(!output.stdout.is_empty());
            output.stdout
        };
        let plain = run("C");
        for locale in ["cs_CZ.UTF-8", "tr_TR.UTF-8", "C.UTF-8", "not a locale"] {
            assert!(run(locale) == plain, "{document} in {locale}");
        }
    }
}

#[test]
fn a_bound_manifest_says_which_files_are_absent() {
    let document = "<shell_access id=\"r\" cwd=\"${workspace}\">\n\
        <resolver><executable id=\"gone\" path=\"/no/such/program\"/></resolver>\n\
        </shell_access>\n\
        <tool name=\"t\" type=\"shell\" runtime=\"r\" executable_ref=\"gone\"/>\n";
    let project = Project::new(&[("a.chatmd", document)]);
    for extra in [&[][..], &["--digest"]] {
        let mut args = vec!["manifest", "--bound"];
        args.extend(extra);
        args.push("a.chatmd");
        let run = project.run(&args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            run.stderr.contains("warning[shell.file_absent]"),
            "{}",
            run.stderr
        );
    }
}
