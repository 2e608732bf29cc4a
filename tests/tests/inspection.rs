//! What inspection says about the backends of a runtime (06b B1.2, B1.3, B2): the compiler, which
//! starts nothing, and the host agree.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use chatmd_tests::Project;
use serde_json::Value;

const DOCUMENT: &str = r#"<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="preferred"><read path="${workspace}"/><write path="${workspace}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <backends merge="replace">
    <bubblewrap id="gone" executable="/nonexistent/bwrap"/>
    <bubblewrap id="box"/>
    <direct id="open"/>
  </backends>
  <policy default="allow"/>
</shell_access>
<tool name="go" type="shell" runtime="r" command="true"/>
"#;

fn live(project: &Project, format: &str) -> String {
    let digest = project.bound_digest();
    let words = [
        "tools",
        "--live",
        "--format",
        format,
        "--authorize-manifest",
    ];
    let outcome = project.chatmd(&[&words[..], &[&digest, "agent.chatmd"]].concat());
    outcome.expect(0).stdout.clone()
}

fn warnings(entry: &Value) -> Vec<String> {
    let list = entry["warnings"].as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_declared_backend_is_listed_with_what_is_weak_about_it() {
    let project = Project::new(DOCUMENT);
    project.write(".envrc", "");
    let listed: Value = serde_json::from_str(&live(&project, "json")).unwrap();
    let backends = listed["backends"].as_array().unwrap();
    let row = |entry: &Value| {
        let word = |name: &str| entry[name].as_str().unwrap().to_owned();
        let flag = |name: &str| entry[name].as_bool().unwrap();
        let words = [
            word("runtime"),
            word("id"),
            word("kind"),
            word("confinement"),
        ];
        (words.join(" "), flag("usable"), flag("selected"))
    };
    let rows: Vec<_> = backends.iter().map(row).collect();
    let expected = [
        ("r gone bubblewrap verified", false, false),
        ("r box bubblewrap verified", true, true),
        ("r open direct none", true, false),
    ];
    assert_eq!(
        rows,
        expected.map(|(text, usable, selected)| (text.to_owned(), usable, selected))
    );
    let reason = |index: usize| {
        backends[index]["reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(reason(0).contains("/nonexistent/bwrap"), "{}", reason(0));
    assert_eq!(reason(1), "");

    let here = warnings(&backends[1]);
    let writable = here
        .iter()
        .find(|text| text.starts_with("commands may write"));
    let writable = writable.expect("unprotected files are named");
    assert!(
        writable.contains(".idea, .pre-commit-config.yaml, .vscode"),
        "{writable}"
    );
    assert!(!writable.contains(".envrc"), "{writable}");
    let uid_zero = here.iter().any(|text| text == "the sandbox runs as uid 0");
    assert_eq!(uid_zero, nix::unistd::geteuid().is_root());
    assert!(warnings(&backends[2]).is_empty());

    // The compiler says the same of the chosen one.
    let inspected = project.chatmdc(&["inspect", "--format", "json", "agent.chatmd"]);
    let inspected: Value = serde_json::from_str(&inspected.expect(0).stdout).unwrap();
    assert_eq!(warnings(&inspected["live"][0]), here);

    let text = live(&project, "human");
    for line in [
        "runtime r",
        "  backend gone (bubblewrap, confinement verified): can not be used: ",
        "  backend box (bubblewrap, confinement verified): used\n    warning: ",
        "  backend open (direct, confinement none): usable, not needed",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = project
        .chatmdc(&["inspect", "agent.chatmd"])
        .expect(0)
        .stdout
        .clone();
    assert!(
        text.contains(&format!("    warning: {writable}\n")),
        "{text}"
    );
}

#[test]
fn a_fallback_without_confinement_is_said() {
    let project = Project::new(&DOCUMENT.replace("<bubblewrap id=\"box\"/>", ""));
    let text = live(&project, "human");
    let expected = "  backend open (direct, confinement none): used\n    warning: no sandbox can be used \
                    here, so commands run without one";
    assert!(text.contains(expected), "{text}");
}

/// Whoever runs a command is told once, whether or not they are asked something.
#[test]
fn a_run_without_the_preferred_sandbox_says_so_once() {
    let warning = "warning: runtime r: no sandbox can be used here, so commands run without one (direct-unsafe)";
    for (document, expected) in [
        (DOCUMENT.replace("<bubblewrap id=\"box\"/>", ""), 1),
        (DOCUMENT.to_owned(), 0),
    ] {
        let project = Project::new(&document);
        let digest = project.bound_digest();
        let run = |options: &[&str]| {
            let words = ["run", "--authorize-manifest", &digest, "agent.chatmd", "go"];
            project
                .chatmd(&[options, &words].concat())
                .expect(0)
                .stderr
                .clone()
        };
        let text = "so commands run without one";
        assert_eq!(run(&[]).matches(warning).count(), expected);
        assert_eq!(run(&["--verbose"]).matches(text).count(), expected);
        assert!(!run(&["--quiet"]).contains(text));
    }
}

#[test]
fn a_working_directory_outside_the_roots_is_in_the_way_of_every_command() {
    let project = Project::new(&DOCUMENT.replace("cwd=\"${workspace}\"", "cwd=\"/var\""));
    let text = project
        .chatmdc(&["inspect", "agent.chatmd"])
        .expect(0)
        .stdout
        .clone();
    let expected =
        "no command can run here: the working directory lies in no read or write root: /var";
    assert!(text.contains(expected), "{text}");
}
