//! `chatmdc graph` in every form.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use serde_json::Value;
use support::Project;

const CYCLE: &str = "<shell_access id=\"a\" extends=\"b\"/>\n<shell_access id=\"b\" extends=\"a\"/>\n\
    <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"a\"/>\n";
const PLAIN: &str = "<import src=\"lib.chatmd\"/>\n\
    <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n";
const LIB: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\"/>\n";

#[test]
fn for_people() {
    let project = Project::new(&[("a.chatmd", PLAIN), ("lib.chatmd", LIB)]);
    let run = project.run(&["graph", "--platform", "linux", "a.chatmd"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.stdout,
        "tool t\n\
         \x20 runtime r\n\
         runtime r\n\
         \x20 backend 1, bubblewrap -> backend r/builtin-bubblewrap\n\
         \x20 extends builtin:workspace-readonly@1 -> profile builtin:workspace-readonly@1\n\
         profile builtin:workspace-readonly@1\n\
         backend r/builtin-bubblewrap\n\
         file a.chatmd\n\
         \x20 imports lib.chatmd -> file lib.chatmd\n\
         file lib.chatmd\n"
    );
    let run = project.run(&["graph", "--only", "tool", "--only", "runtime", "a.chatmd"]);
    assert_eq!(run.stdout, "tool t\n  runtime r\nruntime r\n");
}

#[test]
fn cycles_are_shown_and_fail() {
    let project = Project::new(&[("a.chatmd", CYCLE)]);
    let run = project.run(&["graph", "a.chatmd"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .contains("runtime a\n  extends b -> runtime b  [cycle]\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .ends_with("cycle: runtime:a -> runtime:b -> runtime:a\n")
    );
    assert!(run.stderr.contains("shell.inheritance_cycle"));
    let run = project.run(&["graph", "--format", "json", "a.chatmd"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        answer["cycles"],
        serde_json::json!([["runtime:a", "runtime:b"]])
    );
    let edges = answer["edges"].as_array().unwrap();
    assert_eq!(
        edges.iter().filter(|edge| edge["in_cycle"] == true).count(),
        2
    );
    assert_eq!(answer["summary"]["errors"], 1);
    let dot = project
        .run(&["graph", "--format", "dot", "a.chatmd"])
        .stdout;
    assert!(
        dot.contains("\"runtime:a\" -> \"runtime:b\" [label=\"extends b\", color=red"),
        "{dot}"
    );
    let mermaid = project
        .run(&["graph", "--format", "mermaid", "a.chatmd"])
        .stdout;
    assert!(mermaid.contains("linkStyle"), "{mermaid}");
}

#[test]
fn names_cannot_leave_their_quotes() {
    let name = "x\"];evil[label=\"y.chatmd";
    let import = format!("<import src='{name}'/>");
    let main = PLAIN.replace("<import src=\"lib.chatmd\"/>", &import);
    let project = Project::new(&[("a.chatmd", &main), (name, LIB)]);
    let dot = project.run(&["graph", "--format", "dot", "a.chatmd"]);
    assert_eq!(dot.code, 0, "{}", dot.stderr);
    let escaped = name.replace('"', "\\\"");
    assert!(dot.stdout.contains(&escaped), "{}", dot.stdout);
    // Quotes that are not escaped come in pairs on every line.
    for line in dot.stdout.lines() {
        let bare = line.replace("\\\\", "").replace("\\\"", "");
        assert_eq!(bare.matches('"').count() % 2, 0, "{line}");
        assert!(
            !bare
                .split('"')
                .step_by(2)
                .any(|outside| outside.contains("evil")),
            "{line}"
        );
    }
    let mermaid = project
        .run(&["graph", "--format", "mermaid", "a.chatmd"])
        .stdout;
    for line in mermaid.lines() {
        assert!(line.matches('"').count() <= 2, "{line}");
    }
}

#[test]
fn a_bundle_has_a_graph_without_its_sources() {
    let project = Project::new(&[("a.chatmd", PLAIN), ("lib.chatmd", LIB)]);
    let made = project.run(&["manifest", "--bundle", "-o", "b.json", "a.chatmd"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    std::fs::remove_file(project.path().join("a.chatmd")).unwrap();
    std::fs::remove_file(project.path().join("lib.chatmd")).unwrap();
    let run = project.run(&["graph", "--only", "tool", "--only", "runtime", "b.json"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "tool t\n  runtime r\nruntime r\n")
    );
}
