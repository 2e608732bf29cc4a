//! Attribute lists: spec 01 sections 2.4 and 20.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{check, outline};

#[test]
fn attribute_findings() {
    check(
        "<config id=\"a\" model=/>",
        &[("chatmd.attribute_value_missing", "model=", &[])],
    );
    check(
        "<user id= >x</user>",
        &[("chatmd.attribute_value_missing", "id=", &[])],
    );
    check(
        "<config model=\"a\" %% id=\"b\"/>",
        &[("chatmd.invalid_attribute", "%%", &[])],
    );
    check(
        "<config / >x</config>",
        &[("chatmd.invalid_attribute", "/", &[])],
    );
    check(
        "<user %%>x</user>",
        &[("warning chatmd.invalid_attribute", "%%", &[])],
    );
    check(
        "<user id=\"a\"name=\"b\"/>",
        &[("warning chatmd.invalid_attribute", "name", &[])],
    );
    check(
        "<user id=a-b/c>x</user>",
        &[("warning chatmd.unquoted_attribute", "a-b/c", &[])],
    );
    check(
        "<user id=a/>",
        &[("warning chatmd.unquoted_attribute", "a", &[])],
    );
    check(
        "<user id=\"&nbsp;&lt;\"/>",
        &[("warning chatmd.unknown_entity", "&nbsp;", &[])],
    );
    check(
        "<user id='&#10;'/>",
        &[("warning chatmd.unknown_entity", "&#10;", &[])],
    );
    check("<user id=\"a & b; &amp;\"/>", &[]);
    // The value may be a secret: the finding is at its name.
    let secret = "<shell_access><secrets><literal value=\"p&nbsp;w\"/></secrets></shell_access>";
    check(secret, &[("warning chatmd.unknown_entity", "value", &[])]);
    check(&format!("<config {}=\"x\"/>", "a".repeat(128)), &[]);
    let long = "a".repeat(129);
    check(
        &format!("<config {long}=\"x\"/>"),
        &[("chatmd.invalid_attribute", &long, &[])],
    );
}

#[test]
fn duplicate_attributes_by_element() {
    let shell = "shell.duplicate_attribute";
    let chatmd = "chatmd.duplicate_attribute";
    for (element, code) in [
        ("shell_access", shell),
        ("script src=\"s\"", shell),
        ("moderator_runtime", shell),
        ("tool type=\"shell\"", shell),
        ("tool runtime=\"r\"", shell),
        ("tool command=\"c\"", shell),
        ("tool name=\"read_file\"", shell),
        ("tool name=\"apply_patch\"", chatmd),
        ("tool agent=\"a\"", chatmd),
        ("tool mcp_server=\"a\"", chatmd),
        ("config", chatmd),
        ("import", chatmd),
        ("user", chatmd),
        ("tool_call", chatmd),
        ("reasoning", chatmd),
    ] {
        check(
            &format!("<{element} x=\"1\" y x=\"2\" x/>"),
            &[(code, "x", &["x"]), (code, "x", &["x"])],
        );
    }
    let parsed = check(
        "<shell_access id=\"r\"><limits a=\"1\" a=\"2\"/></shell_access>",
        &[(shell, "a", &["a"])],
    );
    assert!(
        outline(&parsed).contains("limits a=\"1\"! a=\"2\"!"),
        "both are poisoned"
    );
    assert_eq!(parsed.diagnostics[0].primary.start, 35, "the later name");
    assert_eq!(
        parsed.diagnostics[0].secondary[0].0.start, 29,
        "the first name"
    );
    assert_eq!(parsed.diagnostics[0].path, ["shell_access", "limits", "a"]);
    check(
        "<user><doc src=\"a\" src=\"b\"/></user>",
        &[(chatmd, "src", &["src"])],
    );
    let many: String = (0..40).map(|n| format!(" a{n}=\"\"")).collect();
    check(
        &format!("<config{many} a7=\"\"/>"),
        &[(chatmd, "a7", &["a7"])],
    );
}

#[test]
fn attribute_limits() {
    let list = |count: usize| {
        (0..count)
            .map(|n| format!(" a{n}=\"1\""))
            .collect::<String>()
    };
    check(&format!("<user{}>x</user>", list(128)), &[]);
    check(
        &format!("<user{}>x</user>", list(131)),
        &[("chatmd.attribute_too_large", "a128", &[])],
    );
    let mebibyte = "x".repeat(1024 * 1024);
    check(&format!("<user name=\"{mebibyte}\"/>"), &[]);
    check(&format!("<user name=\"&lt;{}\"/>", &mebibyte[1..]), &[]);
    let parsed = check(
        &format!("<user name=\"{mebibyte}x\"/>"),
        &[("chatmd.attribute_too_large", "name", &[])],
    );
    assert!(outline(&parsed).ends_with("x\"!\n"), "poisoned");
}
