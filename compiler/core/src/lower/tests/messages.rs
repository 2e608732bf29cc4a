//! Messages, content, config, imports and scripts: a firing and a silent case per code.

use chatmd_syntax::{parse, parse_content};

use super::super::{lower, lower_content};
use super::check;
use crate::decl::{Decl, ScriptSourceDecl};
use crate::schema::BodyClass;

#[test]
fn messages() {
    check(
        &[
            ("<user>a <b>x</b> < y</user>", &[]),
            ("<msg role=\"user\">x</msg>", &[]),
            ("<msg>x</msg>", &["chatmd.missing_attribute@msg"]),
            ("<msg role>x</msg>", &["chatmd.missing_attribute@role"]),
            ("<msg role=\"User\">x</msg>", &["chatmd.invalid_role@User"]),
            (
                "<user role=\"system\">x</user>",
                &["chatmd.role_conflict@role"],
            ),
            (
                "<user ochat-source-context=\"x\">x</user>",
                &["chatmd.reserved_attribute@ochat-source-context"],
            ),
            (
                "<user nme=\"x\" id>x</user>",
                &[
                    "chatmd.unknown_attribute@nme",
                    "chatmd.attribute_value_missing@id",
                ],
            ),
            (
                "<assistant status=\"done\">x</assistant>",
                &["chatmd.assistant_status_without_id@status"],
            ),
            ("<assistant status=\"done\" id=\"m\">x</assistant>", &[]),
            (
                "<msg role=\"user\" function_call>x</msg>",
                &["chatmd.deprecated_attribute@function_call"],
            ),
            (
                "<msg role=\"tool\">x</msg>",
                &["chatmd.missing_attribute@msg"],
            ),
            (
                "<msg role=\"tool\" tool_call tool_call_id=\"c\">x</msg>",
                &["chatmd.missing_attribute@msg"],
            ),
            (
                "<msg role=\"tool\" tool_call=\"false\" tool_call_id=\"c\">x</msg>",
                &[],
            ),
            (
                "<msg role=\"tool\" tool_call=\"no\" tool_call_id=\"c\">x</msg>",
                &["chatmd.invalid_flag@no"],
            ),
            (
                "<tool_call function_name=\"f\" tool_call_id=\"\">x</tool_call>",
                &["chatmd.missing_attribute@"],
            ),
            ("<tool_response tool_call_id=\"c\">x</tool_response>", &[]),
            (
                "<reasoning>x</reasoning>",
                &["chatmd.missing_attribute@reasoning"],
            ),
            (
                "<reasoning id=\"r\"><summary typ=\"x\">x</summary></reasoning>",
                &["chatmd.unknown_attribute@typ"],
            ),
            ("<user ochat-history-id=\"4:sess:1\">x</user>", &[]),
            (
                "<user ochat-history-id=\"4:ses:1\">x</user>",
                &["chatmd.invalid_history_id@4:ses:1"],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn content() {
    check(
        &[
            (
                "<user><img src=\"u\" local alt=\"\"/><doc src=\"d\" local=\"true\" markdown/></user>",
                &[],
            ),
            (
                "<user><img/><doc src=\"\"/></user>",
                &["chatmd.missing_attribute@img", "chatmd.missing_attribute@"],
            ),
            (
                "<user><img src=\"u\" widht=\"3\"/></user>",
                &["chatmd.unknown_attribute@widht"],
            ),
            (
                "<user><doc src=\"d\" strip markdown/></user>",
                &["chatmd.attribute_ignored@markdown"],
            ),
            (
                "<user><doc src=\"d\" strip=\"false\" markdown/></user>",
                &[],
            ),
            (
                "<user><doc src=\"d\">x</doc></user>",
                &["chatmd.unexpected_content@x"],
            ),
            (
                "<user><tool name=\"x\" bad=\"y\"/></user>",
                &["chatmd.literal_element@<tool name=\"x\" bad=\"y\"/>"],
            ),
            ("<assistant><tool name=\"x\"/></assistant>", &[]),
            (
                "<msg role=\"assistant\"><tool name=\"x\"/><import src=\"a\" bad/></msg>",
                &[],
            ),
            (
                "<user><agent src=\"a\"><tool name=\"x\"/></agent></user>",
                &["chatmd.literal_element@<tool name=\"x\"/>"],
            ),
            ("<reasoning id=\"r\"><doc/><user>x</user></reasoning>", &[]),
            (
                "<user><import src=\"a.md\" namespace=\"n\"/></user>",
                &["chatmd.import_namespace_in_content@namespace"],
            ),
            (
                "<user><import src=\"https://e.test/a\"/></user>",
                &["chatmd.import_invalid_src@https://e.test/a"],
            ),
            ("<user>path <read> here</user>", &[]),
        ],
        str::to_owned,
    );
}

#[test]
fn content_imports_are_collected_in_order() {
    let text = "<user>a<import src=\"1\"/><agent src=\"a\"><import src=\"2\"/></agent><import src=\"3\" x=\"y\"/><import/></user>";
    let lowered = lower(&parse(text.as_bytes()));
    let Some(Decl::Message(message)) = &lowered.items[0].decl else {
        panic!("no message")
    };
    let sources: Vec<&str> = message
        .content_imports
        .iter()
        .map(|import| import.src.value().unwrap().value.as_str())
        .collect();
    assert_eq!(sources, ["1", "2", "3"]);
}

#[test]
fn imported_content_is_checked_as_content() {
    let file = parse_content(
        b"plain text\n<import src=\"x.md\"/><tool name=\"t\"/><doc/>",
        false,
    );
    let (found, imports) = lower_content(&file, BodyClass::Authored);
    let codes: Vec<(&str, u32)> = found
        .iter()
        .map(|f| (f.code, f.primary.place.span.start))
        .collect();
    assert_eq!(
        codes,
        [
            ("chatmd.literal_element", 31),
            ("chatmd.missing_attribute", 48)
        ]
    );
    assert!(found.iter().all(|f| f.primary.place.item.is_none()));
    assert_eq!(imports.len(), 1);
    let (found, imports) = lower_content(
        &parse_content(b"<import src=\"x.md\"/>", true),
        BodyClass::Transcript,
    );
    assert!(found.is_empty() && imports.is_empty());
}

#[test]
fn config_and_imports() {
    check(
        &[
            (
                "<config model=\"m\" max_tokens=\"1\" temperature=\"0.5\" show_tool_call id=\"\"/>",
                &[],
            ),
            (
                "<config model=\"\" max_tokens=\"0\" temperature=\"2.5\" reasoning_effort=\"\"/>",
                &[
                    "chatmd.config_invalid_value@",
                    "chatmd.config_invalid_value@0",
                    "chatmd.config_invalid_value@2.5",
                    "chatmd.config_invalid_value@",
                ],
            ),
            (
                "<config modl=\"m\">x</config>",
                &[
                    "chatmd.unknown_attribute@modl",
                    "chatmd.unexpected_content@x",
                ],
            ),
            (
                "<config show_tool_call=\"1\" model/>",
                &[
                    "chatmd.invalid_flag@1",
                    "chatmd.attribute_value_missing@model",
                ],
            ),
            ("<import src=\"a\" namespace=\"n\"/>", &[]),
            ("<import/>", &["chatmd.import_missing_src@import"]),
            ("<import src/>", &["chatmd.import_missing_src@src"]),
            ("<import src=\" \"/>", &["chatmd.import_missing_src@ "]),
            (
                "<import src=\"${home}/a\" namespace=\"9\"/>",
                &[
                    "chatmd.import_invalid_src@${home}/a",
                    "chatmd.import_invalid_namespace@9",
                ],
            ),
            (
                "<import src=\"a\" namespace=\"legacy\"/>",
                &["shell.reserved_namespace@legacy"],
            ),
            (
                "<import src=\"a\" local>x<user>y</user></import>",
                &[
                    "chatmd.unknown_attribute@local",
                    "chatmd.import_content@x",
                    "chatmd.import_content@<user>",
                ],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn an_import_with_other_errors_keeps_its_source() {
    let lowered = lower(&parse(
        b"<import src=\"a\" namespace=\"n\" local>x</import>",
    ));
    let item = &lowered.items[0];
    let Some(Decl::Import(import)) = &item.decl else {
        panic!("no import")
    };
    assert!(item.broken && import.src.value().is_some() && import.namespace.value().is_some());
}

#[test]
fn scripts_and_moderators() {
    check(
        &[
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_matcher\">x</script>",
                &[],
            ),
            (
                "<script language=\"chatml\" kind=\"moderator\">x</script>",
                &[],
            ),
            (
                "<script language=\"chatml\" kind=\"shell_matcher\">x</script>",
                &["chatmd.script_id_required@script"],
            ),
            (
                "<script id=\"\" language=\"chatml\" kind=\"shell_matcher\">x</script>",
                &["chatmd.script_id_required@"],
            ),
            (
                "<script id=\"1\" language=\"chatml\" kind=\"shell_matcher\">x</script>",
                &["chatmd.script_invalid_id@1"],
            ),
            (
                "<script id=\"builtin:s\" language=\"chatml\" kind=\"moderator\">x</script>",
                &["shell.reserved_namespace@builtin"],
            ),
            (
                "<script id=\"s\" language=\"python\" kind=\"matcher\">x</script>",
                &[
                    "chatmd.script_invalid_language@python",
                    "chatmd.script_invalid_kind@matcher",
                ],
            ),
            (
                "<script id=\"s\">x</script>",
                &[
                    "shell.missing_attribute@script",
                    "shell.missing_attribute@script",
                ],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\"> </script>",
                &["chatmd.script_empty_source@script"],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" src=\" \"/>",
                &["chatmd.script_empty_source@ "],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" src=\"\"/>",
                &["chatmd.script_empty_source@"],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" src=\"a\"> \n</script>",
                &[],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" src=\"a\">x</script>",
                &["chatmd.script_conflicting_source@src"],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" src=\"http://x\"/>",
                &["chatmd.script_source_unavailable@http://x"],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" fuel=\"0\" max_value=\"65MiB\" wall_time=\"none\" max_depth=\"x\">x</script>",
                &[
                    "chatmd.script_invalid_limit@0",
                    "chatmd.script_invalid_limit@65MiB",
                    "chatmd.script_invalid_limit@none",
                    "chatmd.script_invalid_limit@x",
                ],
            ),
            (
                "<script id=\"s\" language=\"chatml\" kind=\"shell_reviewer\" entry=\"x\">x</script>",
                &["shell.unknown_attribute@entry"],
            ),
            ("<moderator_runtime shell_runtime=\"r\"/>", &[]),
            (
                "<moderator_runtime/>",
                &["shell.missing_attribute@moderator_runtime"],
            ),
            (
                "<moderator_runtime shell_runtime/>",
                &["shell.attribute_value_required@shell_runtime"],
            ),
            (
                "<moderator_runtime shell_runtime=\"c\" x=\"y\">z</moderator_runtime>",
                &[
                    "shell.unknown_attribute@x",
                    "shell.moderator_runtime_content@z",
                ],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn programs_are_exact() {
    let program = |text: &str| match &lower(&parse(text.as_bytes())).items[0].decl {
        Some(Decl::Script(script)) => match &script.source {
            Some(ScriptSourceDecl::Inline(program)) => program.value.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let script = |body: &str| {
        format!("<script id=\"s\" language=\"chatml\" kind=\"shell_matcher\">{body}</script>")
    };
    assert_eq!(
        program(&script("\nlet s = \"<user>RAW|&lt;\"\n")),
        "\nlet s = \"<user>RAW|&lt;\"\n"
    );
    assert_eq!(program(&script(" RAW|a </script> b|RAW ")), "a </script> b");
    let large = script(&"x".repeat((1 << 20) + 1));
    assert!(super::shown(&large)[0].starts_with("chatmd.script_source_too_large"));
}
