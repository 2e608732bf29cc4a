//! A worktree, whose `.git` is a file that leads out of the workspace (field case fc1-016).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::Command;

use chatmd_tests::Project;
use chatmd_tests::python::git;

fn document(more: &str) -> String {
    format!(
        r#"<shell_access id="r" cwd="${{workspace}}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${{workspace}}"/><write path="${{workspace}}"/>{more}
  </capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <environment inherit="safe"><set name="GIT_CONFIG_COUNT" value="0"/></environment>
  <policy default="allow"/>
</shell_access>
<tool name="git" type="shell" mode="structured" runtime="r" result="structured"/>
"#
    )
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The folder becomes a worktree of a repository beside it.
fn worktree(project: &Project, main: &Path) {
    run(git(main).args(["init", "--quiet"]));
    run(git(main).args(["commit", "--quiet", "--allow-empty", "-m", "first"]));
    let text = std::fs::read_to_string(project.path().join("agent.chatmd")).unwrap();
    let added = main.join("../added");
    run(git(main).args(["worktree", "add", "--quiet"]).arg(&added));
    std::fs::rename(added.join(".git"), project.path().join(".git")).unwrap();
    // The repository has to know where its worktree is.
    run(git(&project.path())
        .args(["worktree", "repair"])
        .current_dir(project.path()));
    project.write("agent.chatmd", text);
    project.write("f", "text\n");
}

fn call(project: &Project, arguments: &[&str]) -> String {
    let input = serde_json::json!({ "program": "git", "arguments": arguments });
    project.call("git", &input.to_string()).stdout
}

#[test]
fn its_git_directory_is_named_in_the_refusal_and_works_when_it_is_granted() {
    let outside = tempfile::Builder::new()
        .prefix("chatmd-main")
        .tempdir_in("/var/tmp")
        .unwrap();
    let main = outside.path().canonicalize().unwrap().join("main");
    std::fs::create_dir(&main).unwrap();
    let project = Project::new(&document(""));
    worktree(&project, &main);

    for (arguments, word) in [
        (&["status"][..], "read"),
        (&["add", "f"], "read"),
        (&["-C", ".", "add", "f"], "read"),
    ] {
        let refused = call(&project, arguments);
        assert!(refused.contains("capability_violation"), "{refused}");
        let directory = main.join(".git/worktrees").display().to_string();
        assert!(refused.contains(&directory), "{refused}");
        let advice = format!("grant it with `<{word} path=");
        assert!(refused.contains(&advice), "{refused}");
    }

    let shared = main.join(".git").display().to_string();
    project.write(
        "agent.chatmd",
        document(&format!("<read path=\"{shared}\"/>")),
    );
    let status = call(&project, &["status", "--short"]);
    assert!(status.contains("?? f"), "{status}");
    let refused = call(&project, &["add", "f"]);
    assert!(refused.contains("write outside allowed roots"), "{refused}");
    assert!(refused.contains("grant it with `<write path="), "{refused}");

    project.write(
        "agent.chatmd",
        document(&format!("<write path=\"{shared}\"/>")),
    );
    let added = call(&project, &["add", "f"]);
    assert!(
        added.contains("\"exit_code\":0") || added.contains("\"status\""),
        "{added}"
    );
    let status = call(&project, &["status", "--short"]);
    assert!(status.contains("A  f"), "{status}");
}
