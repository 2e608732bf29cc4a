//! Whole documents: many mistakes at once, repairs, paths and values.

use chatmd_syntax::parse;

use super::super::lower;
use super::{Seen, findings, fixed, lowered, shown};
use crate::decl::{CommandDecl, Decl, Field, FixedArgDecl, ModeDecl, ToolForm};
use crate::diagnostics::Severity;

#[test]
fn ten_unrelated_mistakes_are_ten_errors() {
    let text = r#"<config temperature="hot"/>
<import src="lib.chatmd" namespace="builtin"/>
<shell_access id="dev" cwd="${workspce}/a">
  <capabilities network="yes"/>
  <limits wall_time="5 minutes" walltime="1s"/>
  <policy default="ask">
    <rule id="one" action="alow"><basename value="rg"/></rule>
    <rule id="two" action="deny"><not/></rule>
  </policy>
</shell_access>
<tool name="my tool" runtime="dev" command="rg"/>
<tool name="other" runtime="dev" command="rg | wc"/>
"#;
    let expected = [
        ("chatmd.config_invalid_value", 1, 22),
        ("shell.reserved_namespace", 2, 37),
        ("shell.invalid_path", 3, 29),
        ("shell.invalid_attribute", 4, 26),
        ("shell.invalid_duration", 5, 22),
        ("shell.unknown_attribute", 5, 33),
        ("shell.invalid_attribute", 7, 28),
        ("shell.matcher_arity", 8, 35),
        ("shell.tool_invalid_name", 11, 13),
        ("shell.tool_invalid_fixed_command", 12, 43),
    ];
    let expected = expected.map(|(code, line, column)| Seen {
        line,
        column,
        code: code.to_owned(),
    });
    assert_eq!(findings(&parse(text.as_bytes()), Severity::Error), expected);
}

#[test]
fn mechanical_mistakes_are_repaired() {
    let table = [
        (
            "<shell_access id=\"r\" pipefial=\"true\"/>",
            "<shell_access id=\"r\" pipefail=\"true\"/>",
        ),
        (
            "<shell_access id=\"r\"><limit wall_time=\"1s\"></limit></shell_access>",
            "<shell_access id=\"r\"><limits wall_time=\"1s\"></limits></shell_access>",
        ),
        (
            "<shell_access id=\"r\"><environment inherit=\"Safe\"/></shell_access>",
            "<shell_access id=\"r\"><environment inherit=\"safe\"/></shell_access>",
        ),
        (
            "<shell_access id=\"r\"><limits wall_time=\"5min\"/></shell_access>",
            "<shell_access id=\"r\"><limits wall_time=\"5m\"/></shell_access>",
        ),
        (
            "<shell_access id=\"r\"><limits stdout=\"64KB\"/></shell_access>",
            "<shell_access id=\"r\"><limits stdout=\"64KiB\"/></shell_access>",
        ),
        (
            "<shell_access id=\"r\" cwd=\"${workspac}/x\"/>",
            "<shell_access id=\"r\" cwd=\"${workspace}/x\"/>",
        ),
        (
            "<shell_access id=\"r\"><approvals scopes=\"once,exact\"/></shell_access>",
            "",
        ),
        (
            "<user><doc src=\"a\" local=\"yes\"/></user>",
            "<user><doc src=\"a\" local=\"true\"/></user>",
        ),
        ("<user role=\"user\">x</user>", "<user >x</user>"),
        (
            "<tool name=\"my tool\" runtime=\"r\" command=\"x\"/>",
            "<tool name=\"my_tool\" runtime=\"r\" command=\"x\"/>",
        ),
        (
            "<tool name=\"t\" type=\"bash\" command=\"x\"/>",
            "<tool name=\"t\" type=\"shell\" command=\"x\"/>",
        ),
        (
            "<tool name=\"aply_patch\"/>",
            "<tool name=\"apply_patch\"/>",
        ),
        (
            "<shell_access id=\"r\"><policy><rule id=\"x\" action=\"ask\"><basename value=\"/bin/rg\"/></rule></policy></shell_access>",
            "<shell_access id=\"r\"><policy><rule id=\"x\" action=\"ask\"><basename value=\"rg\"/></rule></policy></shell_access>",
        ),
        (
            "<shell_access id=\"r\"><backends><seatbelt when=\"linux\"/></backends></shell_access>",
            "<shell_access id=\"r\"><backends><seatbelt when=\"macos\"/></backends></shell_access>",
        ),
    ];
    for (before, after) in table {
        assert_eq!(
            fixed(before).unwrap_or_default(),
            after,
            "{before}: {:?}",
            shown(before)
        );
    }
}

/// A repeated or misspelt rule must never load as something weaker.
#[test]
fn a_rule_with_a_mistake_takes_no_effect() {
    let table: &[(&str, &[&str])] = &[
        (
            "<policy><rule id=\"r\" action=\"deny\" action=\"allow\"><basename value=\"rm\"/></rule></policy>",
            &["shell.duplicate_attribute@action"],
        ),
        (
            "<policy default=\"deny\"/><policy default=\"allow\"/>",
            &["shell.duplicate_section@<policy default=\"allow\"/>"],
        ),
        (
            "<limits walltime=\"2m\"/>",
            &["shell.unknown_attribute@walltime"],
        ),
        (
            "<capabilites sandbox=\"required\"/>",
            &["shell.unknown_element@<capabilites sandbox=\"required\"/>"],
        ),
        (
            "<policy><rule id=\"x\" acton=\"deny\"><basename value=\"rm\"/></rule></policy>",
            &["shell.unknown_attribute@acton"],
        ),
    ];
    for (fragment, expected) in table {
        let text = format!("<shell_access id=\"r\">{fragment}</shell_access>");
        assert_eq!(shown(&text), *expected, "{text}");
        assert!(lower(&parse(text.as_bytes())).items[0].broken);
    }
    assert_eq!(
        fixed("<shell_access id=\"r\"><limits walltime=\"2m\" wall_time=\"1s\"/></shell_access>")
            .unwrap(),
        "<shell_access id=\"r\"><limits  wall_time=\"1s\"/></shell_access>",
    );
}

#[test]
fn findings_name_the_declaration() {
    let path = |text: &str| lowered(&parse(text.as_bytes()))[0].path.join(".");
    let table = [
        (
            "<shell_access id=\"dev\"><policy><rule id=\"allow-git\" action=\"allow\"><basename value=\"a/b\"/></rule></policy></shell_access>",
            "shell_access.dev.policy.rule.allow-git.basename.value",
        ),
        (
            "<moderator_runtime shell_runtime=\"c\" x=\"y\"/>",
            "moderator_runtime",
        ),
        (
            "<script language=\"python\" kind=\"moderator\">1</script>",
            "script.language",
        ),
        (
            "<script language=\"chatml\" kind=\"shell_matcher\">x</script>",
            "script.id",
        ),
        (
            "<tool name=\"read_file\"><read id=\" \" path=\"lib\"/></tool>",
            "tool.read.0.id",
        ),
        (
            "<tool name=\"read_file\"><read id=\"a\" path=\"x\"/><read id=\"a\" path=\"y\"/></tool>",
            "tool.read",
        ),
        (
            "<tool name=\"read_file\"><command program=\"cat\"/></tool>",
            "tool",
        ),
        (
            "<tool name=\"t\" runtime=\"r\" command=\"|\"/>",
            "tool.t.command",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(path(text), expected, "{text}");
    }
    let found = lowered(&parse(
        b"<shell_access id=\"dev\"><limits memory=\"x\"/></shell_access>",
    ));
    assert_eq!(found[0].runtime_id.as_deref(), Some("dev"));
}

#[test]
fn secrets_are_never_shown() {
    let secret = "hunter2-hunter2";
    for text in [
        format!(
            "<shell_access id=\"r\"><secrets><literal value=\"{secret}${{home}}\"/></secrets></shell_access>"
        ),
        format!(
            "<shell_access id=\"r\"><secrets><literal value=\"{secret}{}\"/></secrets></shell_access>",
            "x".repeat(70_000)
        ),
        format!(
            "<shell_access id=\"r\"><secrets><literal>{secret}</literal></secrets></shell_access>"
        ),
    ] {
        let found = lowered(&parse(text.as_bytes()));
        assert!(found.len() >= 2);
        for finding in &found {
            assert!(!format!("{finding:?}").contains("hunter2"), "{finding:?}");
        }
        let lowered = lower(&parse(text.as_bytes()));
        assert!(!format!("{lowered:?}").contains("hunter2"));
    }
}

#[test]
fn compact_and_long_commands_are_equal() {
    let mode = |text: &str| match &lower(&parse(text.as_bytes())).items[0].decl {
        Some(Decl::Tool(tool)) => match &tool.form {
            ToolForm::Shell(tool) => match &tool.mode {
                Some(ModeDecl::Fixed {
                    command: CommandDecl::Program(program),
                    arguments,
                    model_arguments,
                }) => (program.value.clone(), arguments.clone(), *model_arguments),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let compact = mode("<tool name=\"t\" runtime=\"r\" command=\"rg '--json' &quot;a b&quot;\"/>");
    let long = mode(
        "<tool name=\"t\" runtime=\"r\"><command program=\"rg\"><arg value=\"--json\"/><arg value=\"a b\"/></command><arguments mode=\"optional\"/></tool>",
    );
    assert_eq!(compact, long);
    assert_eq!(
        compact.1,
        [
            FixedArgDecl::Literal("--json".into()),
            FixedArgDecl::Literal("a b".into())
        ]
    );
}

#[test]
fn ids_of_broken_declarations_stay_declared() {
    let id = |text: &str| match &lower(&parse(text.as_bytes())).items[0].decl {
        Some(Decl::Runtime(runtime)) => runtime.id.clone(),
        other => panic!("{other:?}"),
    };
    let raw = |text: &str| match id(text) {
        Field::Poisoned { raw, .. } => raw,
        other => panic!("{other:?}"),
    };
    assert!(id("<shell_access id=\"r\" bad=\"x\"/>").value().is_some());
    assert_eq!(raw("<shell_access id=\"9r\"/>").as_deref(), Some("9r"));
    assert_eq!(
        raw("<shell_access id=\"r\" cwd=\"x\n<user>a</user>\n").as_deref(),
        Some("r")
    );
    assert_eq!(raw("<shell_access id=\"r\" id=\"s\"/>"), None);
}

#[test]
fn an_edit_above_leaves_an_item_equal() {
    let item = |text: &str, at: usize| lower(&parse(text.as_bytes())).items[at].clone();
    let runtime = "<shell_access id=\"r\" cwd=\"x\"><limits memory=\"1GiB\"/></shell_access>";
    assert_eq!(
        item(&format!("<user>a</user>\n{runtime}"), 1),
        item(&format!("<user>abcdef</user>\n\n{runtime}"), 1)
    );
    let broken = runtime.replace("1GiB", "1");
    assert_eq!(
        item(&format!("<user>a</user>\n{broken}"), 1),
        item(&format!("<user>ab</user>\n\n{broken}"), 1)
    );
}
