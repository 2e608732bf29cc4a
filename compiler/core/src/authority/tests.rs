#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::manifest::{Binding, BoundRoots, Manifest, Root, from_value};

fn manifest(case: &str) -> Manifest {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/vectors/manifest/"
    );
    let text = std::fs::read(format!("{root}{case}/expect.json")).unwrap();
    let mut expect: serde_json::Value = serde_json::from_slice(&text).unwrap();
    from_value(expect["payload"].take()).unwrap()
}

fn codes(summary: &Summary) -> Vec<&str> {
    summary
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect()
}

#[test]
fn text_of_a_read_only_runtime() {
    let mut manifest = manifest("002-profile-aliases");
    manifest.runtimes.retain(|runtime| {
        runtime
            .profile
            .as_ref()
            .is_some_and(|p| p.resolved == "builtin:workspace-readonly@1")
    });
    manifest.runtimes.truncate(1);
    manifest.tools.clear();
    manifest.sources.truncate(1);
    manifest.sources[0].sha256 = "0".repeat(64);
    manifest.runtimes[0].id = "r".to_owned();
    let requested = summarise(&manifest).unwrap();
    assert_eq!(requested.level, Level::Normal);
    let first = format!("0 shell tool(s), requested {}", requested.requested_sha256);
    assert!(
        requested
            .text()
            .starts_with(&format!("1 shell runtime(s), {first}\n"))
    );
    manifest.binding = Some(Binding {
        variables: [("workspace".to_owned(), "/srv/demo".to_owned())].into(),
        roots: vec![BoundRoots {
            runtime: "r".to_owned(),
            read: vec!["/srv/demo".to_owned()],
            write: Vec::new(),
        }],
        ..Binding::default()
    });
    let bound = summarise(&manifest).unwrap();
    let digest = bound.manifest_sha256.clone().unwrap();
    let expected = format!(
        "1 shell runtime(s), 0 shell tool(s), manifest {digest}\n\
         normal: runtime r: may read below /srv/demo\n\
         runtime r\n\
         \x20 profile: builtin:workspace-readonly@1\n\
         \x20 sandbox: required; backends: builtin-bubblewrap (bubblewrap, confinement verified)\n\
         \x20 read: /srv/demo\n\
         \x20 write: none\n\
         \x20 powers: none\n\
         \x20 policy: default ask; 1 allow, 0 ask, 1 deny rule(s)\n\
         \x20 environment: safe; set: none; passed: none; secret: none\n\
         \x20 secrets: none\n\
         \x20 approvals: provider ui; unavailable deny; scopes: once, exact_session; durable false\n\
         \x20 reviewers: implicit_ui; none\n\
         \x20 extensions: none\n\
         \x20 limits: wall 180000 ms, idle 60000 ms, stdin 1048576 B, stdout 1000000 B, stderr 1000000 B, output 1500000 B, cpu unlimited, memory unlimited, file unlimited, open files unlimited\n\
         \x20 audit: none; path: none; content redacted; failure continue; filter no\n\
         \x20 tools: none\n\
         moderator: starts no processes\n\
         sources:\n\
         \x20 agent.chatmd (root) {}\n",
        "0".repeat(64)
    );
    let text = bound.text();
    let (head, profiles) = text.rsplit_once("profiles: ").unwrap();
    assert_eq!(head, expected);
    assert!(profiles.contains("builtin:workspace-readonly"));
}

#[test]
fn the_most_dangerous_runtimes_are_critical() {
    let yolo = summarise(&manifest("039-yolo-narrowed")).unwrap();
    assert_eq!(yolo.level, Level::Critical);
    assert_eq!(yolo.findings[0].code, "authority.yolo");
    let text = yolo.text();
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("CRITICAL: ") && first.contains("full local process authority"));

    let legacy = summarise(&manifest("037-legacy-tools")).unwrap();
    let found = codes(&legacy);
    assert_eq!(found[..2], ["authority.direct", "authority.legacy"]);
    assert!(found.contains(&"authority.raw_environment"));
    assert!(found.contains(&"authority.no_audit"));
    assert!(
        !found.contains(&"authority.write_everything"),
        "the default is ask"
    );
}

/// Roots that cover the home directory count, also where the manifest does not name it.
#[test]
fn a_write_root_around_the_home_directory_is_everything() {
    let mut manifest = manifest("039-yolo-narrowed");
    let id = manifest.runtimes[0].id.clone();
    for runtime in &mut manifest.runtimes {
        runtime.policy.default = crate::manifest::Action::Allow;
        runtime.capabilities.write.clear();
    }
    for (root, home, everything) in [
        ("/home/ann", Some("/home/ann"), true),
        ("/home", Some("/home/ann"), true),
        ("/home/an", Some("/home/ann"), false),
        ("/home/ann/work", Some("/home/ann"), false),
        ("/home/ann", None, false),
        ("/", None, true),
    ] {
        manifest.binding = Some(crate::manifest::Binding {
            roots: vec![crate::manifest::BoundRoots {
                runtime: id.clone(),
                read: Vec::new(),
                write: vec![root.to_owned()],
            }],
            ..crate::manifest::Binding::default()
        });
        let summary = summarise_here(&manifest, home).unwrap();
        let found = codes(&summary).contains(&"authority.write_everything");
        assert_eq!(found, everything, "{root} {home:?}");
    }
}

#[test]
fn findings_of_the_vectors() {
    for (case, code) in [
        ("035-tool-structured-chain-raw", "authority.raw_shell"),
        ("038-moderator", "authority.moderator_process"),
        ("019-reviewers-every-kind", "authority.model_reviewer"),
        (
            "021-interceptors-script-and-hook",
            "authority.unpinned_hook",
        ),
        ("024-audit-fields-inherit", "authority.full_audit"),
        ("022-effect-analysis", "authority.effect_replacement"),
        ("018-approvals-merge", "authority.durable_approvals"),
        ("004-capabilities-append-dedupe", "authority.write"),
    ] {
        let summary = summarise(&manifest(case)).unwrap();
        assert!(
            codes(&summary).contains(&code),
            "{case}: {:?}",
            codes(&summary)
        );
    }
}

#[test]
fn order_is_by_level_and_every_summary_survives_its_json() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
    for entry in std::fs::read_dir(root).unwrap() {
        let case = entry.unwrap().file_name().to_string_lossy().into_owned();
        let manifest = manifest(&case);
        let summary = summarise(&manifest).unwrap();
        assert!(
            summary.findings.is_sorted_by(|a, b| a.level >= b.level),
            "{case}"
        );
        let json = serde_json::to_string(&summary).unwrap();
        let mut again: Summary = serde_json::from_str(&json).unwrap();
        again.rest = summary.rest.clone();
        assert_eq!(again, summary, "{case}");
        let critical = summary.text().starts_with("CRITICAL: ");
        assert_eq!(critical, summary.level == Level::Critical, "{case}");
        assert!(
            !summary.text().chars().any(|c| c.is_control() && c != '\n'),
            "{case}"
        );
    }
}

#[test]
fn strings_of_the_document_can_not_speak_to_the_terminal() {
    let mut manifest = manifest("001-defaults-linux");
    manifest.runtimes.truncate(1);
    let runtime = &mut manifest.runtimes[0];
    runtime.id = "\u{1b}[2J\nCRITICAL: fake\u{202e}".to_owned();
    runtime.capabilities.write = (0..30)
        .map(|n| Root::PathEnv {
            name: format!("V{n}\u{7}"),
            optional: false,
        })
        .collect();
    runtime.secrets.sources = vec![crate::manifest::SecretSource::FromEnv {
        name: "x".repeat(1000),
        optional: false,
    }];
    manifest.sources[0].path = "a\u{9b}b".to_owned();
    let summary = summarise(&manifest).unwrap();
    assert_eq!(
        summary.runtimes[0].write.len(),
        30,
        "the object form is complete"
    );
    let text = summary.text();
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'));
    assert!(!text.lines().any(|line| line.starts_with("CRITICAL")));
    assert!(text.contains("and 10 more"));
    assert!(text.contains(&format!("env {}…", "x".repeat(251))));
}
