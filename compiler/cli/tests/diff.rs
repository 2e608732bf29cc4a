//! `chatmdc diff` as hooks and workflows run it, with a real repository.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use serde_json::Value;
use support::git::{git, last, repository, run};
use support::{Project, finished};

const OLD: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\"/>\n\
    <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n";
const NARROWER: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\">\
    <policy default=\"deny\"/></shell_access>\n\
    <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n";
const WIDER: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\">\
    <capabilities network=\"true\"/></shell_access>\n\
    <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n";

#[test]
fn two_documents() {
    let project = Project::new(&[("old", OLD), ("narrow", NARROWER), ("wide", WIDER)]);
    let wide = project.run(&["diff", "--platform", "linux", "old", "wide"]);
    assert_eq!((wide.code, wide.stderr.as_str()), (1, ""));
    assert!(
        wide.stdout
            .starts_with("runtime r\n  ~ widening  capabilities.network: false -> true\n"),
        "{}",
        wide.stdout
    );
    assert_eq!(last(&wide), "authority: widening");
    let narrow = project.run(&["diff", "old", "narrow"]);
    assert_eq!((narrow.code, last(&narrow)), (0, "authority: narrowing"));
    let equal = project.run(&["diff", "old", "old"]);
    assert_eq!(
        (equal.code, equal.stdout.as_str()),
        (0, "authority: equal\n")
    );
    for (fail_on, expected) in [
        ("none", [0, 0, 0]),
        ("any", [1, 1, 0]),
        ("widening", [1, 0, 0]),
    ] {
        for (new, code) in ["wide", "narrow", "old"].into_iter().zip(expected) {
            let run = project.run(&["diff", "--fail-on", fail_on, "old", new]);
            assert_eq!(run.code, code, "{fail_on} {new}");
        }
    }
}

#[test]
fn manifests_and_bundles_stand_for_documents() {
    let project = Project::new(&[("old", OLD), ("wide", WIDER)]);
    for (args, file) in [
        (&["manifest", "-o", "m.json", "old"][..], "m.json"),
        (&["manifest", "--bundle", "-o", "b.json", "old"], "b.json"),
    ] {
        assert_eq!(project.run(args).code, 0);
        let equal = project.run(&["diff", file, "old"]);
        assert_eq!(
            (equal.code, last(&equal)),
            (0, "authority: equal"),
            "{}",
            equal.stderr
        );
        assert_eq!(project.run(&["diff", file, "wide"]).code, 1);
    }
    let text = std::fs::read_to_string(project.path().join("b.json")).unwrap();
    project.write("b.json", text.replace("180000", "180001").as_bytes());
    let refused = project.run(&["diff", "b.json", "old"]);
    assert_eq!((refused.code, last(&refused)), (1, "authority: unknown"));
    assert!(
        refused
            .stderr
            .contains("error[shell.manifest_digest_mismatch]"),
        "{}",
        refused.stderr
    );
    let json = project.run(&["diff", "--format", "json", "b.json", "old"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["error"]["code"], "shell.manifest_digest_mismatch");
    assert_eq!(json["verdict"], "unknown");
}

#[test]
fn the_json_answer() {
    let project = Project::new(&[("old", OLD), ("wide", WIDER)]);
    let run = project.run(&[
        "diff",
        "--format",
        "json",
        "--platform",
        "linux",
        "old",
        "wide",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let members: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.split('"').next())
        .collect();
    assert_eq!(
        members,
        [
            "version", "command", "ok", "old", "new", "verdict", "changes"
        ]
    );
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["old"]["operand"], "old");
    assert_eq!(answer["old"]["form"], "requested");
    assert_eq!(answer["old"]["sha256"].as_str().unwrap().len(), 64);
    let change = &answer["changes"][0];
    assert_eq!(change["path"], "runtimes.r.capabilities.network");
    assert_eq!(
        (&change["old"], &change["new"]),
        (&false.into(), &true.into())
    );
    assert_eq!(
        (&change["class"], &change["runtime"]),
        (&"widening".into(), &"r".into())
    );
}

#[test]
fn github_annotations() {
    let project = Project::new(&[("old", OLD), ("wide", WIDER), ("narrow", NARROWER)]);
    let run = project.run(&["diff", "--format", "github", "old", "wide"]);
    assert_eq!(
        run.stdout,
        "::error file=wide,title=authority widening::~ widening  \
         runtimes.r.capabilities.network: false -> true\n"
    );
    let run = project.run(&["diff", "--format", "github", "old", "narrow"]);
    assert!(
        run.stdout.starts_with("::warning file=narrow,"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_bound_form_says_what_a_directory_means_here() {
    let project = Project::new(&[("old", OLD), ("wide", WIDER)]);
    let args = ["diff", "--bound", "--format", "json", "old", "wide"];
    let answer: Value = serde_json::from_str(&project.run(&args).stdout).unwrap();
    assert_eq!(answer["old"]["form"], "bound", "{answer}");
    assert_eq!(
        answer["changes"][0]["path"],
        "runtimes.r.capabilities.network"
    );
}

#[test]
fn what_cannot_be_compared() {
    let project = Project::new(&[("old", OLD), ("broken", "<shell_access idd=\"r\"/>\n")]);
    let broken = project.run(&["diff", "old", "broken"]);
    assert_eq!(
        (broken.code, broken.stdout.as_str()),
        (1, "authority: unknown\n")
    );
    assert!(broken.stderr.contains("idd") && broken.stderr.contains("does not compile"));
    assert_eq!(project.run(&["diff", "old", "missing"]).code, 4);
    for args in [
        &["diff", "old"][..],
        &["diff", "old", "old", "old"],
        &["diff", "-", "-"],
        &["diff", "git:HEAD:old", "old"],
        &["diff", "--allow-git", "git:HEAD", "old"],
        &["diff", "--against", "HEAD", "old"],
        &["diff", "--against", "git:HEAD:old", "old"],
    ] {
        let run = project.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(!run.stderr.is_empty());
    }
    // No repository here.
    let run = run(&project, &["diff", "--allow-git", "git:HEAD:old", "old"]);
    assert_eq!(run.code, 4);
    assert!(
        run.stderr.contains("not a git repository"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_revision_is_read_with_its_imports() {
    let main = "<import src=\"lib/r.chatmd\"/>\n<tool name=\"t\" type=\"shell\" \
                mode=\"structured\" runtime=\"r\"/>\n";
    let lib = |network: &str| {
        format!(
            "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\">\
             <capabilities network=\"{network}\"/></shell_access>\n"
        )
    };
    let project = repository(&[
        ("docs/a.chatmd", main),
        ("docs/lib/r.chatmd", &lib("false")),
    ]);
    // Only the import differs, and only in the work tree.
    project.write("docs/lib/r.chatmd", lib("true").as_bytes());
    let args = [
        "diff",
        "--allow-git",
        "git:HEAD:docs/a.chatmd",
        "docs/a.chatmd",
    ];
    let wide = run(&project, &args);
    assert_eq!(
        (wide.code, last(&wide)),
        (1, "authority: widening"),
        "{}",
        wide.stderr
    );
    let back = run(
        &project,
        &[
            "diff",
            "--allow-git",
            "docs/a.chatmd",
            "git:HEAD:docs/a.chatmd",
        ],
    );
    assert_eq!((back.code, last(&back)), (0, "authority: narrowing"));
    // A file that the revision has not got is missing there, whatever the work tree has.
    project.write("docs/lib/new.chatmd", b"");
    let run = run(
        &project,
        &[
            "diff",
            "--allow-git",
            "git:HEAD:docs/lib/new.chatmd",
            "docs/a.chatmd",
        ],
    );
    assert_eq!(run.code, 4, "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn links_of_a_revision_lead_to_its_own_files() {
    let project = Project::new(&[("real/r.chatmd", OLD)]);
    std::os::unix::fs::symlink("real", project.path().join("docs")).unwrap();
    std::os::unix::fs::symlink("loop", project.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", project.path().join("outside")).unwrap();
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "first"]);
    let compare = |old: &str| run(&project, &["diff", "--allow-git", old, "real/r.chatmd"]);
    assert_eq!(last(&compare("git:HEAD:docs/r.chatmd")), "authority: equal");
    for (operand, reason) in [
        ("git:HEAD:loop", "form a loop"),
        ("git:HEAD:outside", "does not exist"),
        ("git:HEAD:docs", "is a directory"),
        ("git:HEAD:a/../../x", "leads out"),
        ("git:HEAD:../x", "is not in the git repository"),
    ] {
        let run = compare(operand);
        assert_eq!(run.code, 4, "{operand}");
        assert!(run.stderr.contains(reason), "{operand}: {}", run.stderr);
    }
}

#[test]
fn files_against_a_revision() {
    let project = repository(&[("a.chatmd", OLD), ("b.chatmd", OLD), ("sub/c.chatmd", OLD)]);
    let all = [
        "diff",
        "--against",
        "git:HEAD",
        "a.chatmd",
        "b.chatmd",
        "sub/c.chatmd",
    ];
    let equal = run(&project, &all);
    assert_eq!(
        (equal.code, equal.stdout.as_str()),
        (0, "authority: equal\n"),
        "{}",
        equal.stderr
    );
    project.write("b.chatmd", NARROWER.as_bytes());
    let narrow = run(&project, &all);
    assert_eq!((narrow.code, last(&narrow)), (0, "authority: narrowing"));
    assert!(
        narrow.stdout.starts_with("== b.chatmd\nruntime r\n"),
        "{}",
        narrow.stdout
    );
    // A new file permits whatever it permits for the first time.
    project.write("d.chatmd", OLD.as_bytes());
    let new = run(
        &project,
        &["diff", "--against", "git:HEAD", "b.chatmd", "d.chatmd"],
    );
    assert_eq!((new.code, last(&new)), (1, "authority: widening"));
    assert!(
        new.stdout
            .contains("== d.chatmd (new)\nruntime r\n  + widening  sandbox required"),
        "{}",
        new.stdout
    );
    std::fs::remove_file(project.path().join("a.chatmd")).unwrap();
    let gone = run(&project, &["diff", "--against", "git:HEAD", "a.chatmd"]);
    assert_eq!(
        (gone.code, last(&gone)),
        (0, "authority: narrowing"),
        "{}",
        gone.stderr
    );
    let nowhere = run(&project, &["diff", "--against", "git:HEAD", "none.chatmd"]);
    assert_eq!(nowhere.code, 4, "{}", nowhere.stdout);
    let json = run(
        &project,
        &[
            "diff",
            "--format",
            "json",
            "--against",
            "git:HEAD",
            "b.chatmd",
            "d.chatmd",
        ],
    );
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["verdict"], "widening");
    assert_eq!(json["documents"][0]["verdict"], "narrowing");
    assert_eq!(json["documents"][1]["old"]["sha256"], Value::Null);
    // From a directory below, names are those of that directory.
    let mut below = project.command(&["diff", "--against", "git:HEAD", "c.chatmd"]);
    below
        .current_dir(project.path().join("sub"))
        .env("PATH", std::env::var_os("PATH").unwrap());
    let below = finished(below.output().unwrap());
    assert_eq!(last(&below), "authority: equal", "{}", below.stderr);
    let unknown = run(&project, &["diff", "--against", "git:nothing", "b.chatmd"]);
    assert_eq!(unknown.code, 4);
}

#[test]
fn without_files_every_tracked_document_is_compared() {
    let all = ["diff", "--against", "git:HEAD"];
    let importing = "<import src=\"lib.md\"/>\n\
        <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n";
    let project = repository(&[
        ("a.chatmd", OLD),
        ("sub/c.chatmd", importing),
        ("sub/lib.md", OLD.lines().next().unwrap()),
        ("gone.chatmd", OLD),
    ]);
    let equal = run(&project, &all);
    assert_eq!(
        (equal.code, equal.stdout.as_str()),
        (0, "authority: equal\n"),
        "{}",
        equal.stderr
    );
    // An import that changed speaks through the document that has it.
    project.write("sub/lib.md", WIDER.lines().next().unwrap().as_bytes());
    // Git does not know this one.
    project.write("untracked.chatmd", OLD.as_bytes());
    let wider = run(&project, &all);
    assert_eq!((wider.code, last(&wider)), (1, "authority: widening"));
    assert!(
        wider.stdout.starts_with("== sub/c.chatmd\nruntime r\n"),
        "{}",
        wider.stdout
    );
    assert!(!wider.stdout.contains("untracked"), "{}", wider.stdout);
    project.write("sub/lib.md", OLD.lines().next().unwrap().as_bytes());
    // Whether git still lists it or not.
    std::fs::remove_file(project.path().join("gone.chatmd")).unwrap();
    let gone = run(&project, &all);
    assert_eq!((gone.code, last(&gone)), (0, "authority: narrowing"));
    git(&project, &["rm", "-q", "gone.chatmd"]);
    let removed = run(&project, &all);
    assert_eq!(removed.stdout, gone.stdout);
    assert!(removed.stdout.contains("== gone.chatmd (removed)"));
    // Added, and gone again: nothing before, nothing now.
    git(&project, &["add", "untracked.chatmd"]);
    let added = run(&project, &all);
    assert_eq!((added.code, last(&added)), (1, "authority: widening"));
    std::fs::remove_file(project.path().join("untracked.chatmd")).unwrap();
    assert_eq!(run(&project, &all).stdout, gone.stdout);
    let unknown = run(&project, &["diff", "--against", "git:nothing"]);
    assert_eq!(unknown.code, 4, "{}", unknown.stderr);
    assert_eq!(run(&project, &["diff"]).code, 2);
    let empty = Project::new(&[]);
    assert_eq!(run(&empty, &all).code, 4);
    git(&empty, &["init", "-q"]);
    assert_eq!(run(&empty, &all).stdout, "authority: equal\n");
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let project = Project::new(&[("a.chatmd", OLD)]);
    git(&project, &["init", "-q"]);
    let run = run(&project, &["diff", "--against", "git:HEAD", "a.chatmd"]);
    assert_eq!(
        (run.code, last(&run)),
        (1, "authority: widening"),
        "{}",
        run.stderr
    );
}
