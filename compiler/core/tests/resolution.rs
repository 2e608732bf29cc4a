//! Findings of resolution, row by row: a document, and every finding that it gives with the text
//! that the finding points at.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::diagnostics::{Diagnostic, Severity};
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

fn compile_files(files: &[(&str, &str)], platform: Platform) -> Arc<Compilation> {
    let mut system = MemoryFileSystem::default();
    for (path, text) in files {
        system.insert(format!("/d/{path}"), text.as_bytes().to_vec());
    }
    let mut db = Database::new(system);
    let root = db
        .root_from_path(Utf8Path::new("agent.chatmd"), Utf8Path::new("/d"))
        .unwrap();
    compile(&db, root, &CompileOptions::for_platform(platform))
}

fn compile_text(text: &str) -> Arc<Compilation> {
    compile_files(&[("agent.chatmd", text)], Platform::Linux)
}

/// `code @ text`, one per finding, in order of output.
fn shown(compilation: &Compilation) -> Vec<String> {
    let one = |found: &Diagnostic| {
        let at = compilation.locate(found.primary.place).unwrap();
        let text = &at.file.text[at.span.range()];
        let text: String = text.chars().take(60).collect();
        format!("{} @ {text}", found.code)
    };
    compilation.diagnostics.iter().map(one).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) -> Arc<Compilation> {
    let compilation = compile_text(text);
    assert_eq!(shown(&compilation), expected, "{text}");
    let failed = compilation.count(Severity::Error) > 0;
    assert_eq!(compilation.manifest.is_none(), failed, "{text}");
    compilation
}

/// A tool that makes runtime `r` used.
const USE: &str = r#"<tool name="use-r" runtime="r" command="ls"/>"#;

fn runtime(body: &str) -> String {
    format!("<shell_access id=\"r\">{body}</shell_access>{USE}")
}

#[test]
fn registries() {
    check(
        r#"<shell_access id="r"/><shell_access id="r"/><tool name="t" runtime="r" command="ls"/>"#,
        &["shell.duplicate_runtime @ r"],
    );
    check(
        r#"<script id="s" language="chatml" kind="shell_matcher">let initial_state = () let match_command c s = Task.pure(s)</script>
<script id="s" language="chatml" kind="shell_reviewer">let a = 1</script>"#,
        &["chatmd.unused_script @ s", "chatmd.duplicate_script @ s"],
    );
    check(
        r#"<script language="chatml" kind="moderator">let initial_state = () let on_event c s e = Task.pure(s)</script>
<script id="b" language="chatml" kind="moderator">let initial_state = () let on_event c s e = Task.pure(s)</script>"#,
        &[r#"chatmd.multiple_moderators @ <script id="b" language="chatml" kind="moderator">"#],
    );
    check(
        r#"<script language="chatml" kind="moderator">let initial_state = () let on_event c s e = Task.pure(s)</script><shell_access id="r"/>
<moderator_runtime shell_runtime="r"/><moderator_runtime shell_runtime="r"/>"#,
        &[r#"shell.duplicate_moderator_runtime @ <moderator_runtime shell_runtime="r"/>"#],
    );
    check(
        r#"<shell_access id="r"/><tool name="t" runtime="r" command="ls"/><tool name="t" runtime="r" command="ls"/>"#,
        &["shell.duplicate_tool @ t"],
    );
    let clash = check(
        r#"<tool name="a" agent="x" local/><tool name="a" command="ls"/>"#,
        &["shell.legacy_tool @ tool", "shell.duplicate_tool @ a"],
    );
    assert_eq!(
        clash.diagnostics[1].secondary.len(),
        1,
        "the first one is shown"
    );
    check(
        r#"<user ochat-history-id="4:sess:12">a</user><user ochat-history-id="4:sess:12">b</user>"#,
        &["chatmd.duplicate_history_id @ 4:sess:12"],
    );
    check(
        r#"<config model="a"/><config model="b"/>"#,
        &[r#"chatmd.duplicate_config @ <config model="b"/>"#],
    );
}

#[test]
fn unused_declarations() {
    check(r#"<shell_access id="r"/>"#, &["shell.unused_runtime @ r"]);
    check(
        r#"<shell_access id="a"/><shell_access id="b" extends="a"/>"#,
        &["shell.unused_runtime @ b"],
    );
    check(
        r#"<shell_access id="r"/><moderator_runtime shell_runtime="r"/>"#,
        &[r#"chatmd.unused_moderator_runtime @ <moderator_runtime shell_runtime="r"/>"#],
    );
}

#[test]
fn references() {
    let found = check(
        r#"<shell_access id="build"/><tool name="t" runtime="biuld" command="ls"/>"#,
        &["shell.unknown_runtime @ biuld"],
    );
    assert_eq!(found.diagnostics[0].fixes[0].edits[0].text, "build");
    check(
        r#"<tool name="t" runtime="legacy:custom" command="ls"/><tool name="u" command="ls"/>"#,
        &[
            "shell.unknown_runtime @ legacy:custom",
            "shell.legacy_tool @ tool",
        ],
    );
    let profile = check(
        r#"<shell_access id="r" extends="builtin:workspace-readonyl"/><tool name="t" runtime="r" executable_ref="gone"/>"#,
        &["shell.unknown_builtin_profile @ builtin:workspace-readonyl"],
    );
    assert_eq!(
        profile.diagnostics[0].fixes[0].edits[0].text,
        "builtin:workspace-readonly@1"
    );
    check(
        r#"<tool name="t" runtime="builtin:yolo" command="ls"/>"#,
        &["shell.invalid_reference @ builtin:yolo"],
    );
    check(
        &runtime(
            r#"<policy><rule id="a" action="ask"><chatml_match script="gone"/></rule></policy>"#,
        ),
        &["shell.unknown_script @ gone"],
    );
    let script = r#"<script id="s" language="chatml" kind="shell_matcher">let initial_state = () let match_command c s = Task.pure(s)</script>"#;
    check(
        &(script.to_owned()
            + &runtime(r#"<reviewers><reviewer id="a" kind="chatml" script="s"/></reviewers>"#)),
        &["shell.script_kind_mismatch @ s"],
    );
    check(
        &(script.to_owned()
            + &runtime(
                r#"<policy><rule id="a" action="ask"><chatml_match script="s" function="other"/></rule></policy>"#,
            )),
        &["shell.unknown_entrypoint @ other"],
    );
}

#[test]
fn broken_declarations_cause_no_further_errors() {
    // The id of a broken runtime is declared all the same, and what it may lack is not missed.
    check(
        r#"<shell_access id="r" extend="b"/><tool name="t" runtime="r" executable_ref="x"/>"#,
        &["shell.unknown_attribute @ extend"],
    );
    check(
        r#"<shell_access id="r"><resolver><executable id="x" pth="/x"/></resolver></shell_access><tool name="t" runtime="r" executable_ref="x"/>"#,
        &["shell.unknown_attribute @ pth"],
    );
    check(
        r#"<shell_access id="r"><capabilities sandbox="direkt"/><backends merge="replace"><direct/></backends></shell_access><tool name="t" runtime="r" command="ls"/>"#,
        &["shell.invalid_attribute @ direkt"],
    );
    // An error elsewhere in the runtime hides nothing.
    check(
        r#"<shell_access id="r"><limits wall_time="soon"/><approvals scopes="durable_exact"/></shell_access><tool name="t" runtime="r" executable_ref="x"/>"#,
        &[
            "shell.invalid_duration @ soon",
            "shell.durable_scope_disabled @ durable_exact",
            "shell.unknown_executable @ x",
        ],
    );
    check(
        r#"<import src="gone.chatmd" namespace="n"/><shell_access id="c" extends="n:base"/><tool name="t" runtime="c" command="ls"/>"#,
        &["chatmd.import_unavailable @ gone.chatmd"],
    );
}

#[test]
fn findings_in_other_files_point_at_both() {
    let compilation = compile_files(
        &[
            (
                "agent.chatmd",
                r#"<import src="lib.chatmd"/><shell_access id="c" extends="p"><policy><rule id="x" action="deny"><any_command/></rule></policy></shell_access><tool name="t" runtime="c" command="ls"/>"#,
            ),
            (
                "lib.chatmd",
                r#"<shell_access id="p"><policy><rule id="x" action="ask"><any_command/></rule></policy></shell_access>"#,
            ),
        ],
        Platform::Linux,
    );
    assert_eq!(shown(&compilation), ["shell.duplicate_named_entry @ x"]);
    let found = &compilation.diagnostics[0];
    let other = compilation.locate(found.secondary[0].place).unwrap();
    assert_eq!(
        (
            other.file.display.as_str(),
            &other.file.text[other.span.range()]
        ),
        ("lib.chatmd", "x")
    );
    assert_eq!(found.runtime_id.as_deref(), Some("c"));
    assert_eq!(found.path, ["shell_access", "c", "policy", "rule", "x"]);
    assert!(
        found
            .hints
            .iter()
            .any(|hint| hint.contains("override=\"true\""))
    );
}

#[test]
fn merging() {
    check(
        &runtime(r#"<resolver merge="replace"/>"#),
        &["shell.search_path_cleared @ resolver"],
    );
    check(
        &runtime(r#"<resolver><search_path path="bin"/></resolver>"#),
        &["shell.relative_search_path @ bin"],
    );
    check(
        &runtime(
            r#"<resolver allow_relative_search_path="true"><search_path path="bin"/></resolver>"#,
        ),
        &[],
    );
    check(
        &runtime(
            r#"<policy><rule id="a" action="ask" override="true"><any_command/></rule></policy>"#,
        ),
        &["shell.override_without_target @ a"],
    );
    let twice = r#"<shell_access id="p"><backends><direct id="d"/></backends></shell_access><shell_access id="r" extends="p"><backends><direct id="d"/></backends></shell_access>"#;
    check(
        &(twice.to_owned() + USE),
        &["shell.duplicate_named_entry @ d"],
    );
    // Ids of other platforms' backends collide too.
    check(
        &runtime(r#"<backends><direct id="builtin-seatbelt" when="windows"/></backends>"#),
        &["shell.duplicate_named_entry @ builtin-seatbelt"],
    );
    let rules = r#"<policy><rule id="a" action="ask"><any_command/></rule></policy>"#;
    let overriding = format!(
        r#"<shell_access id="p">{rules}</shell_access><shell_access id="r" extends="p"><policy><rule id="a" action="deny" override="true"><any_command/></rule></policy></shell_access>{USE}"#
    );
    let compilation = check(&overriding, &[]);
    let manifest = compilation.manifest.as_ref().unwrap();
    assert_eq!(manifest.runtimes[1].policy.rules.len(), 1);
}

#[test]
fn effective_settings() {
    check(
        &runtime(r#"<backends merge="replace"><direct id="d"/></backends>"#),
        &["shell.incompatible_backend @ backends"],
    );
    check(
        &runtime(r#"<capabilities sandbox="direct_unsafe"/>"#),
        &["shell.incompatible_backend @ direct_unsafe"],
    );
    // A child does not repeat what its parent was told.
    check(
        &format!(
            r#"<shell_access id="p"><capabilities sandbox="direct_unsafe"/></shell_access><shell_access id="r" extends="p"/>{USE}"#
        ),
        &["shell.incompatible_backend @ direct_unsafe"],
    );
    check(
        &runtime(r#"<approvals durable="true"/>"#),
        &["shell.durable_scope_unused @ true"],
    );
    check(
        &runtime("<reviewers/>"),
        &["shell.empty_reviewers @ reviewers"],
    );
    check(
        &runtime(
            r#"<approvals provider="none"/><reviewers><reviewer id="u" kind="ui"/></reviewers>"#,
        ),
        &["shell.ui_reviewer_without_provider @ u"],
    );
    let script = r#"<script id="f" language="chatml" kind="shell_audit_filter">let initial_state = () let filter c s = Task.pure(s)</script><script id="m" language="chatml" kind="shell_matcher">let initial_state = () let match_command c s = Task.pure(s)</script>"#;
    let inherited = format!(
        r#"{script}<shell_access id="p"><policy default="allow"/><audit format="session"><filter script="f"/></audit></shell_access><shell_access id="r" extends="p"><policy><rule id="q" action="ask"><chatml_match script="m" failure="no_match"/></rule></policy><audit format="none"/></shell_access>{USE}"#
    );
    check(
        &inherited,
        &[
            "shell.matcher_failure_clamped @ chatml_match",
            "shell.audit_filter_unused @ audit",
        ],
    );
    check(
        &runtime(
            r#"<capabilities><write path="${workspace}"/></capabilities><policy><rule id="ls" action="allow"><basename value="ls"/></rule></policy>"#,
        ),
        &["shell.untrusted_allow @ ls"],
    );
    let many = "<any_command/>".repeat(2100);
    let rule = |id: &str| format!(r#"<rule id="{id}" action="ask"><any>{many}</any></rule>"#);
    check(
        &format!(
            r#"<shell_access id="p"><policy>{}</policy></shell_access><shell_access id="r" extends="p"><policy>{}</policy></shell_access>{USE}"#,
            rule("a"),
            rule("b")
        ),
        &["shell.matcher_too_deep @ policy"],
    );
}

#[test]
fn platforms_decide_about_backends() {
    let text = r#"<shell_access id="r"/><tool name="t" runtime="r" command="ls"/>"#;
    for (platform, expected) in [
        (Platform::Linux, vec![]),
        (Platform::Macos, vec![]),
        (Platform::Windows, vec!["shell.incompatible_backend @ r"]),
    ] {
        let compilation = compile_files(&[("agent.chatmd", text)], platform);
        assert_eq!(shown(&compilation), expected, "{platform:?}");
    }
    let compilation = compile_files(&[("agent.chatmd", text)], Platform::Windows);
    let hints = compilation.diagnostics[0].hints.join("\n");
    assert!(
        hints.contains("builtin-bubblewrap") && hints.contains("another platform"),
        "{hints}"
    );
}

#[test]
fn tools() {
    check(
        r#"<shell_access id="r"><resolver><executable id="lint" path="/l"/></resolver></shell_access><tool name="t" runtime="r" executable_ref="lnit"/>"#,
        &["shell.unknown_executable @ lnit"],
    );
    let raw = r#"<tool name="t" runtime="r" mode="raw" executable="/bin/sh" result="structured"/>"#;
    check(
        &format!(
            r#"<shell_access id="r"><approvals scopes="once,prefix_session"/></shell_access>{raw}"#
        ),
        &[
            "shell.raw_prefix_scope @ tool",
            "shell.tool_never_permitted @ tool",
        ],
    );
    let after = r#"<script id="a" language="chatml" kind="shell_after_interceptor">let initial_state = () let after c s = Task.pure(s)</script><shell_access id="r"><interceptors><interceptor id="i" phase="after" script="a"/></interceptors></shell_access>"#;
    check(
        &format!(r#"{after}<tool name="t" runtime="r" command="ls" stream="sanitized"/>"#),
        &["shell.tool_stream_unsupported @ sanitized"],
    );
    let secret = |environment: &str, name: &str| {
        format!(
            r#"<shell_access id="r"><environment {environment}</environment></shell_access><tool name="t" runtime="r"><command program="x"><secret_arg env="{name}"/></command></tool>"#
        )
    };
    for (environment, name, missing) in [
        (r#"inherit="safe">"#, "TOKEN", true),
        (r#"inherit="safe">"#, "LC_ALL", false),
        (r#"inherit="none">"#, "HOME", true),
        (r#"inherit="raw">"#, "TOKEN", false),
        (r#"inherit="selected"><pass name="TOKEN"/>"#, "TOKEN", false),
        (r#"inherit="raw"><unset_prefix value="TO"/>"#, "TOKEN", true),
        (r#"inherit="none"><path append="/x"/>"#, "PATH", false),
    ] {
        let expected = format!("shell.tool_secret_unavailable @ {name}");
        let expected: Vec<&str> = if missing { vec![&expected] } else { vec![] };
        check(&secret(environment, name), &expected);
    }
    check(
        r#"<shell_access id="r"><reviewers><reviewer id="m" kind="model" agent="t"/></reviewers></shell_access><tool name="t" runtime="r" command="ls"/>"#,
        &["shell.reviewer_agent_is_shell_tool @ t"],
    );
}

const PIN: &str = "aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123";

fn hooked(worker: &str, attributes: &str) -> String {
    format!(
        r#"{worker}<shell_access id="r"><interceptors><interceptor id="i" phase="before" executable="/h" sha256="{PIN}" runtime="w" {attributes}/></interceptors></shell_access>{USE}"#
    )
}

#[test]
fn workers() {
    let worker = |rest: &str| {
        format!(r#"<shell_access id="w" extends="builtin:hook-worker@1">{rest}</shell_access>"#)
    };
    let rule =
        |matcher: &str| format!(r#"<policy><rule id="h" action="allow">{matcher}</rule></policy>"#);
    for (matcher, runs) in [
        ("<any_command/>", true),
        (r#"<resolved_path value="/h"/>"#, true),
        (r#"<resolved_path value="/other"/>"#, false),
        (
            r#"<all><resolved_path value="/h"/><not><raw_shell/></not></all>"#,
            true,
        ),
        (
            r#"<all><resolved_path value="/h"/><trusted_executable/></all>"#,
            false,
        ),
        (
            r#"<any><basename value="x"/><resolved_path value="//h"/></any>"#,
            true,
        ),
    ] {
        let expected: &[&str] = if runs {
            &[]
        } else {
            &["shell.worker_cannot_run_hook @ w"]
        };
        check(&hooked(&worker(&rule(matcher)), ""), expected);
    }
    check(
        &hooked(&worker(""), ""),
        &["shell.worker_cannot_run_hook @ w"],
    );
    let denied =
        r#"<policy default="allow"><rule id="d" action="deny"><any_command/></rule></policy>"#;
    check(
        &hooked(&worker(denied), ""),
        &["shell.worker_cannot_run_hook @ w"],
    );
    let ready = rule("<any_command/>");
    check(
        &hooked(
            &worker(
                &(ready.clone() + r#"<capabilities network="true"/><approvals provider="ui"/>"#),
            ),
            "",
        ),
        &["shell.worker_interactive @ w", "shell.worker_network @ w"],
    );
    check(
        &hooked(
            &worker(&(ready.clone() + r#"<capabilities sandbox="preferred"/>"#)),
            r#"timeout="6s" max_input="2MiB""#,
        ),
        &[
            "shell.worker_unsandboxed @ w",
            "shell.limit_ineffective @ 6s",
            "shell.limit_ineffective @ 2MiB",
        ],
    );
    check(&hooked("", ""), &["shell.unknown_worker_runtime @ w"]);
}

#[test]
fn cycles() {
    let compilation = check(
        r#"<shell_access id="c" extends="a"/><shell_access id="a" extends="b"/><shell_access id="b" extends="c"/><shell_access id="d" extends="a"/><tool name="t" runtime="d" executable_ref="x"/>"#,
        &["shell.inheritance_cycle @ a"],
    );
    let found = &compilation.diagnostics[0];
    assert!(
        found.message.ends_with("a -> b -> c -> a"),
        "{}",
        found.message
    );
    assert_eq!(found.secondary.len(), 2);

    let own = hooked("", "").replace("runtime=\"w\"", "runtime=\"r\"");
    let own = own.replace("executable_ref", "command");
    let compilation = check(&own, &["shell.runtime_dependency_cycle @ r"]);
    let message = &compilation.diagnostics[0].message;
    assert!(message.ends_with("r -> interceptor i -> r"), "{message}");

    let mixed = format!(
        r#"<shell_access id="main"><interceptors><interceptor id="clean" phase="after" executable="h" sha256="{PIN}" runtime="worker"/></interceptors></shell_access>
<shell_access id="worker" extends="main"><interceptors merge="replace"/><policy default="allow"/></shell_access>"#
    );
    let compilation = compile_text(&mixed);
    let found = compilation
        .diagnostics
        .iter()
        .find(|found| found.code == "shell.runtime_dependency_cycle")
        .unwrap();
    assert!(
        found
            .message
            .ends_with("main -> interceptor clean -> worker -> extends main"),
        "{}",
        found.message
    );
}

/// The best of several rounds: load of the machine only ever adds to one of them.
fn seconds(text: &str) -> f64 {
    let round = |_| {
        let start = Instant::now();
        let compilation = compile_text(text);
        assert!(!compilation.files.is_empty());
        start.elapsed().as_secs_f64()
    };
    (0..3).map(round).fold(f64::INFINITY, f64::min)
}

/// Eight times the input takes less than thirty times as long: no pass over ids is quadratic.
#[test]
fn time_grows_with_the_input() {
    let tools = |n: usize| -> String {
        let executables: String = (0..n)
            .map(|i| format!(r#"<executable id="e{i}" path="/e{i}"/>"#))
            .collect();
        let tools: String = (0..n)
            .map(|i| format!("<tool name=\"t{i}\" runtime=\"r\" executable_ref=\"e{i}\"/>\n"))
            .collect();
        format!(r#"<shell_access id="r"><resolver>{executables}</resolver></shell_access>{tools}"#)
    };
    let runtimes = |n: usize| -> String {
        (0..n)
            .map(|i| format!("<shell_access id=\"r{i}\" extends=\"x{i}\"/>\n"))
            .collect()
    };
    let pairs = |n: usize| -> String {
        (0..n)
            .map(|i| format!("<shell_access id=\"a{i}\" extends=\"b{i}\"/><shell_access id=\"b{i}\" extends=\"a{i}\"/>\n"))
            .collect()
    };
    let same = |n: usize| "<shell_access id=\"r\"/>\n".repeat(n);
    let cases: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("tools", &tools),
        ("unknown", &runtimes),
        ("cycles", &pairs),
        ("same id", &same),
    ];
    for (name, make) in cases {
        let (small, large) = (seconds(&make(250)), seconds(&make(2000)));
        assert!(
            large < 30.0 * small.max(0.005),
            "{name}: {small:.3} s, then {large:.3} s"
        );
    }
}

/// A chain repeats the first runtime over and over; a small document must not become a huge manifest.
#[test]
fn what_inheritance_repeats_is_bounded() {
    let chain = |n: usize| -> String {
        let first = r#"<shell_access id="a0"/>"#.to_owned();
        (1..n).fold(first, |mut text, i| {
            let before = i - 1;
            text.push_str(&format!(
                "<shell_access id=\"a{i}\" extends=\"a{before}\"/>\n"
            ));
            text
        })
    };
    let small = compile_text(&chain(200));
    assert_eq!(
        small.manifest.as_ref().unwrap().runtimes[199].extends.len(),
        99,
        "sorted by id"
    );
    let codes = |compilation: &Compilation| {
        let errors = compilation
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error);
        errors.map(|d| d.code).collect::<Vec<_>>()
    };
    assert_eq!(
        codes(&compile_text(&chain(30_000))),
        ["shell.manifest_too_large"]
    );
    let wide = r#"<shell_access id="p"/>"#.to_owned()
        + &(0..60_000)
            .map(|i| format!("<shell_access id=\"a{i}\"/>"))
            .collect::<String>();
    assert!(codes(&compile_text(&wide)).contains(&"shell.manifest_too_large"));
}

/// Quoted values never hold a secret of the document.
#[test]
fn literal_secrets_are_in_no_finding_and_no_manifest() {
    let secret = "hunter2-swordfish";
    let compilation = check(
        &runtime(&format!(
            r#"<secrets><literal value="{secret}"/><literal value="{secret}"/></secrets>"#
        )),
        &[
            "shell.literal_secret_in_source @ literal",
            "shell.literal_secret_in_source @ literal",
        ],
    );
    assert!(!format!("{:?}", compilation.diagnostics).contains(secret));
    let manifest = compilation.manifest.as_ref().unwrap();
    let bytes = chatmd_compiler::manifest::to_bytes(manifest).unwrap();
    assert!(!String::from_utf8(bytes).unwrap().contains("hunter2"));
    assert_eq!(compilation.material.literals.len(), 2);
    assert!(!format!("{:?}", compilation.material).contains(secret));
    let value = &compilation.material.literals[&("r".to_owned(), 1)];
    assert_eq!(value.0, secret);
}
