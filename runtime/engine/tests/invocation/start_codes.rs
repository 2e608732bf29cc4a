//! Why a document does not become live (06 sections 2.1 and 13): each cause has its code, and
//! nothing is published, executed or recorded.

use crate::harness::Project;

/// Marks of the places where a case adds something.
const DOCUMENT: &str = r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required"><read path="${workspace}"/><!-- root --></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/><!-- program --></resolver>
  <environment inherit="safe"><!-- variable --></environment>
  <!-- section -->
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="go" type="shell" runtime="r" command="true"/>
"#;

/// Where, what, the code, and a word of the message that names the culprit.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        r#"cwd="${workspace}""#,
        r#"cwd="${workspace}/gone""#,
        "shell.directory_unavailable",
        "gone",
    ),
    (
        r#"cwd="${workspace}""#,
        r#"cwd="${workspace}/agent.chatmd""#,
        "shell.directory_unavailable",
        "agent.chatmd",
    ),
    (
        r#"cwd="${workspace}""#,
        r#"cwd="/var""#,
        "shell.cwd_unreachable",
        "/var",
    ),
    (
        "<!-- root -->",
        r#"<read path_env="NOT_SET"/>"#,
        "shell.capability_path_missing",
        "NOT_SET",
    ),
    (
        "<!-- root -->",
        r#"<read path_env="RELATIVE"/>"#,
        "shell.capability_path_invalid",
        "RELATIVE",
    ),
    (
        "<!-- root -->",
        r#"<read path_env="EMPTY"/>"#,
        "shell.capability_path_invalid",
        "EMPTY",
    ),
    (
        "<!-- variable -->",
        r#"<pass name="NOT_SET" required="true"/>"#,
        "shell.environment_missing",
        "NOT_SET",
    ),
    (
        "<!-- variable -->",
        r#"<path_env name="RELATIVE"/>"#,
        "shell.environment_path_invalid",
        "RELATIVE",
    ),
    (
        "<!-- variable -->",
        r#"<path prepend="${workspace}/a:b"/>"#,
        "shell.environment_path_invalid",
        "a:b",
    ),
    (
        "<!-- variable -->",
        r#"<pass name="HUGE"/>"#,
        "shell.environment_too_large",
        "HUGE",
    ),
    (
        "<!-- section -->",
        r#"<secrets><from_env name="NOT_SET"/></secrets>"#,
        "shell.environment_missing",
        "NOT_SET",
    ),
    (
        "<!-- section -->",
        r#"<secrets><from_file path="${workspace}/token"/></secrets>"#,
        "shell.secret_file_missing",
        "token",
    ),
    (
        "<!-- section -->",
        r#"<secrets><from_file path="${workspace}/src"/></secrets>"#,
        "shell.secret_load_failed",
        "src",
    ),
    (
        "<!-- program -->",
        r#"<executable id="x" path="/usr/bin/no-such-program"/>"#,
        "shell.executable_unavailable",
        "no-such-program",
    ),
    (
        "<!-- program -->",
        r#"<executable id="x" path="/usr/bin/true" sha256="0000000000000000000000000000000000000000000000000000000000000000"/>"#,
        "shell.executable_digest_mismatch",
        "true",
    ),
    (
        "<!-- section -->",
        r#"<backends merge="replace"><bubblewrap executable="/nonexistent/bwrap"/></backends>"#,
        "shell.backend_unavailable",
        "/nonexistent/bwrap",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_cause_has_its_code_and_nothing_is_published() {
    for (place, what, expected, culprit) in CASES {
        assert!(DOCUMENT.contains(place));
        let project = Project::new(&DOCUMENT.replace(place, what))
            .with("RELATIVE=a/b")
            .with("EMPTY=")
            .with(&format!("HUGE={}", "x".repeat(200 << 10)));
        let problems = project.try_live().await.unwrap_err();
        let found = problems.iter().find(|problem| problem.code == *expected);
        let found = found.unwrap_or_else(|| panic!("{what}: {expected}: {problems:#?}"));
        assert!(found.message.contains(culprit), "{what}: {found}");
        assert_eq!(problems.len(), 1, "{what}: {problems:#?}");
        let log = std::fs::read_to_string(project.audit_file()).unwrap_or_default();
        assert!(!log.contains("runtime_started"), "{what}: {log}");
    }
}

/// A limit above the one that this process has itself can not be given to a command.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_above_the_hosts_own_is_refused() {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let row = limits.lines().find(|row| row.starts_with("Max open files"));
    let hard: u64 = row
        .unwrap()
        .split_whitespace()
        .nth(4)
        .unwrap()
        .parse()
        .unwrap();
    let most = 1_048_576;
    if hard >= most {
        println!(
            "NOT APPLICABLE: this machine allows as many open files as a document can ask for"
        );
        return;
    }
    for (open_files, refused) in [(hard, false), (hard + 1, true)] {
        let section = format!("<limits open_files=\"{open_files}\"/>");
        let project = Project::new(&DOCUMENT.replace("<!-- section -->", &section));
        let codes = match project.try_live().await {
            Ok(_) => vec![],
            Err(problems) => problems.iter().map(|problem| problem.code).collect(),
        };
        let expected: &[&str] = if refused {
            &["shell.resource_limit_unavailable"]
        } else {
            &[]
        };
        assert_eq!(codes, expected);
    }
}

/// The control: without any of it the document is live, and its command runs.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_document_without_a_cause_is_live() {
    let project = Project::new(DOCUMENT);
    assert!(project.call("go", "{}").await.result.is_ok());
}
