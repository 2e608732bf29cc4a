//! Spec 01 sections 2 to 5 and the rows of section 21 that concern syntax.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::{Element, Node, Parse, Tag, parse, parse_content};
use common::{check_cover, outline};

#[track_caller]
fn clean(text: &str) -> Parse {
    let parsed = parse(text.as_bytes());
    check_cover(&parsed);
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed
}

fn first(parsed: &Parse) -> &Element {
    parsed
        .tree
        .top
        .iter()
        .find_map(|id| parsed.tree.element(*id))
        .unwrap()
}

/// What the model reads of the first element's body.
#[track_caller]
fn body(text: &str) -> String {
    let parsed = clean(text);
    parsed.tree.body_text(&first(&parsed).children)
}

#[test]
fn texts_of_bodies() {
    for (document, want) in [
        ("<user>a <b>x</b> < y</user>", "a <b>x</b> < y"),
        (
            "<user>So: RAW| <doc/> |RAW tail</user>",
            "So:  <doc/>  tail",
        ),
        (
            "<system>RAW|<doc src=\"a\"/>|RAW</system>",
            "<doc src=\"a\"/>",
        ),
        ("<user>see DRAW| ok</user>", "see DRAW| ok"),
        ("<user>path <read> here</user>", "path <read> here"),
        ("<user>\nRAW|\nx\n|RAW\n</user>", "\nx\n\n"),
        ("<user>a RAW|b|RAW</user>", "a b"),
        ("<user>RAW|a|RAW RAW|b|RAW</user>", "ab"),
        ("<user>x<!-- c -->y<!-- --- --></user>", "xy"),
        ("<user>x<!-- c --> RAW|y|RAW</user>", "xy"),
        ("<user>RAW||RAW|RAW</user>", "|RAW"),
        ("<user>RAW|x||RAWRAW|RAWy|RAW</user>", "x|RAWy"),
        ("<user>RAW|a|RAW|</user>", "a|"),
        (
            "<user>|RAW 9RAW|_RAW| -RAW|x|RAW</user>",
            "|RAW 9RAW|_RAW| -x",
        ),
        ("<user><RAW|<doc|RAW</user>", "<<doc"),
        ("<user><b title=\"RAW|\">x</user>", "<b title=\"RAW|\">x"),
        ("<user><b title='</user>'></user>", "<b title='</user>'>"),
        ("<user>a <b</user>", "a <b"),
        ("<user>a <b x=\"1</user>", "a <b x=\"1"),
        ("<user><read a=<!-- c -->b</user>", "<read a=b"),
        ("<user>&lt; &amp;</user>", "&lt; &amp;"),
        ("<user>a\r\nb\rc</user>", "a\r\nb\rc"),
        ("<user>\u{a0}RAW|x|RAW</user>", "\u{a0}x"),
        (
            "<user>a <tool name=\"x\">RAW|b|RAW<!-- c --></tool > d</user>",
            "a <tool name=\"x\">b</tool > d",
        ),
        (
            "<assistant>see <doc src=\"a\"/>.</assistant>",
            "see <doc src=\"a\"/>.",
        ),
        ("<user></tool_x> </b></user>", "</tool_x> </b>"),
        ("<user/>", ""),
    ] {
        assert_eq!(body(document), want, "{document}");
    }
}

#[test]
fn content_elements_and_unknown_tags() {
    let parsed = clean("<msg role=\"user\"><yo/><doc src=\"a\" local/><yo>z</yo></msg>");
    assert_eq!(
        outline(&parsed),
        "msg role=\"user\"\n  text \"<yo/>\"\n  doc src=\"a\" local\n  text \"<yo>z</yo>\"\n"
    );
    let parsed = clean("<user>call <tool name=\"x\" command=\"y\"/> please</user>");
    assert!(
        outline(&parsed).contains("  tool name=\"x\""),
        "kept as an element, for the warning about it"
    );
}

#[test]
fn tags_need_a_proper_name() {
    let text = "<user>< user> </ user> <user@host> <tool/x> <1> <_a:b.c-d/> <é></user>";
    assert_eq!(outline(&clean(text)).lines().count(), 2);
    let long = "a".repeat(200);
    assert_eq!(
        body(&format!("<user><{long}>x</user>")),
        format!("<{long}>x")
    );
    clean("<user\n>x</user\t>");
    clean("<user><tool-x/></user>");
}

#[test]
fn attribute_values() {
    for (written, want) in [
        ("value=\"a>b\"", "a>b"),
        ("value=\"say \\\"hi\\\"\"", "say \"hi\""),
        ("value=\"C:\\\\\"", "C:\\"),
        ("value=\"a & b &lt; c\"", "a & b < c"),
        ("value = \n '</arg>'", "</arg>"),
        ("value=\"a\nb\"", "a\nb"),
        ("value=\"a\n<wat>\"", "a\n<wat>"),
        ("value=\"\"", ""),
        ("value='\"'", "\""),
        ("value=\"a\\'b\\\\c\"", "a\\'b\\\\c"),
    ] {
        let text = format!(
            "<shell_access id=\"x\"><policy><rule><arg {written}/></rule></policy></shell_access>"
        );
        let parsed = clean(&text);
        let element = parsed.tree.nodes.iter().find_map(|node| match node {
            Node::Element(element) if element.tag() == Some(Tag::Arg) => Some(element),
            _ => None,
        });
        let attribute = element.unwrap().attribute(&parsed.tree, "value").unwrap();
        assert_eq!(
            parsed.tree.value(attribute).as_deref(),
            Some(want),
            "{written}"
        );
    }
    let parsed = clean("<doc-x/><user a b=\"\"/>".strip_prefix("<doc-x/>").unwrap());
    let user = first(&parsed);
    assert_eq!(user.attributes[0].value, None);
    assert_eq!(parsed.tree.value(&user.attributes[1]).as_deref(), Some(""));
}

#[test]
fn shell_scope() {
    let in_scope = |text: &str| {
        outline(&clean(text)).contains("\n  arg\n") || outline(&clean(text)).contains("  arg\n")
    };
    for (text, want) in [
        ("<shell_access id=\"r\"><arg/></shell_access>", true),
        ("<tool type=\"shell\"><arg/></tool>", true),
        ("<tool runtime><arg/></tool>", true),
        ("<tool name=\"read_file\"><arg/></tool>", true),
        ("<tool name='get_contents'><arg/></tool>", true),
        (
            "<tool type=\"sh&#101;ll\" name=\" read_file\"><arg/></tool>",
            false,
        ),
        ("<tool name=\"t\" command=\"c\"><arg/></tool>", false),
        ("<user><shell_access><arg/></shell_access></user>", true),
        ("<user><shell_access/><arg/></user>", false),
        (
            "<user><shell_access><tool><arg/></tool></shell_access></user>",
            true,
        ),
        (
            "<user><shell_access><tool runtime=\"r\"></tool><arg/></shell_access></user>",
            true,
        ),
        ("<user><shell_access></shell_access><arg/></user>", false),
    ] {
        let parsed = parse(text.as_bytes());
        check_cover(&parsed);
        if parsed.diagnostics.is_empty() {
            assert_eq!(in_scope(text), want, "{text}");
        } else {
            assert_eq!(outline(&parsed).contains("  arg\n"), want, "{text}");
        }
    }
    // First occurrence counts when an attribute is repeated.
    let parsed = parse(b"<tool type=\"x\" type=\"shell\"><arg/></tool>");
    assert!(outline(&parsed).contains("text \"<arg/>\""));
    // Recovery does not lose the scope.
    let parsed = parse(b"<shell_access id=\"a\"><policy><arg/>");
    assert!(outline(&parsed).contains("    arg\n"));
    let parsed = parse(b"<shell_access id=\"a\"><wat><arg/></wat><arg/></shell_access>");
    assert_eq!(
        outline(&parsed),
        "shell_access id=\"a\"\n  ?wat\n    arg\n  arg\n"
    );
}

#[test]
fn declarations_keep_what_lowering_reports() {
    let parsed = clean(
        "<shell_access id=\"x\">wat<limits/>RAW|r|RAW<limits/><user>u</user><!-- c --></shell_access>",
    );
    assert_eq!(
        outline(&parsed),
        "shell_access id=\"x\"\n  text \"wat\"\n  limits\n  raw \"r\"\n  limits\n  user\n    text \"u\"\n  comment \"<!-- c -->\"\n"
    );
    let shell = first(&parsed);
    let limits = parsed.tree.element(shell.children[1]).unwrap();
    assert!(limits.in_shell_scope && !shell.in_shell_scope);
}

#[test]
fn both_forms_of_an_empty_element() {
    let parsed = clean("<config/><config></config>");
    let elements: Vec<&Element> = parsed
        .tree
        .top
        .iter()
        .filter_map(|id| parsed.tree.element(*id))
        .collect();
    assert!(elements[0].self_closing && !elements[1].self_closing);
    assert_eq!(
        elements[1].end_tag.map(|tag| parsed.tree.slice(tag)),
        Some("</config>")
    );
    assert!(elements.iter().all(|element| element.children.is_empty()));
}

#[test]
fn content_imports_allow_text() {
    let parsed = parse_content(
        "\u{FEFF}plain <b> text\n<doc src=\"a\"/><config a a/>\n".as_bytes(),
        false,
    );
    check_cover(&parsed);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(
        parsed.tree.body_text(&parsed.tree.top),
        "plain <b> text\n<doc src=\"a\"/><config a a/>\n"
    );
    let parsed = parse_content(b"a</user>", true);
    assert_eq!(parsed.diagnostics[0].code, "chatmd.unexpected_end_tag");
}

#[test]
fn a_byte_order_mark_counts_in_offsets() {
    let parsed = clean("\u{FEFF}<user>x</user>");
    assert_eq!(first(&parsed).span.start, 3);
    assert_eq!(parsed.tree.bom.len(), 3);
    // A fence is the first thing on its line behind it too.
    let parsed = parse("\u{FEFF}<user>\n\u{b}<user>x</user>".as_bytes());
    assert_eq!(parsed.diagnostics.len(), 1);
}

#[test]
fn tokens_of_a_document() {
    use chatmd_syntax::token::{TokenKind, tokens};
    let text = "\u{FEFF}<user a='1' %>x<!-- c --></user y ><b/>RAW|r|RAW<script>s</script>RAW|";
    let kinds: Vec<(TokenKind, &str)> = tokens(text)
        .iter()
        .map(|t| (t.kind, &text[t.span.range()]))
        .collect();
    let user = TokenKind::TagName(Tag::User);
    let script = TokenKind::TagName(Tag::Script);
    use TokenKind::*;
    assert_eq!(
        kinds,
        [
            (ByteOrderMark, "\u{FEFF}"),
            (StartOpen, "<"),
            (user, "user"),
            (Space, " "),
            (AttributeName, "a"),
            (Equals, "="),
            (Value, "'1'"),
            (Space, " "),
            (Junk, "%"),
            (Close, ">"),
            (Text, "x"),
            (Comment, "<!-- c -->"),
            (EndOpen, "</"),
            (user, "user"),
            (Space, " "),
            (Junk, "y"),
            (Space, " "),
            (Close, ">"),
            (StartOpen, "<"),
            (UnknownTagName, "b"),
            (SelfClose, "/>"),
            (Raw, "RAW|r|RAW"),
            (StartOpen, "<"),
            (script, "script"),
            (Close, ">"),
            (ScriptBody, "s"),
            (EndOpen, "</"),
            (script, "script"),
            (Close, ">"),
            (RawOpener, "RAW|"),
        ]
    );
}
