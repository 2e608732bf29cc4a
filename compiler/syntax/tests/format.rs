//! The formatter (spec 01 section 19).
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::Path;

use chatmd_syntax::fmt::{format, same_meaning};
use chatmd_syntax::{Node, Parse, parse};

/// Formats, and checks the invariants of section 19.1.
#[track_caller]
fn formatted(text: &str) -> String {
    let parsed = parse(text.as_bytes());
    let once = format(&parsed).unwrap();
    let again = parse(once.as_bytes());
    assert_eq!(format(&again).unwrap(), once, "not idempotent");
    assert!(same_meaning(&parsed.tree, &again.tree), "{once}");
    assert_eq!(comments(&parsed), comments(&again));
    once
}

fn comments(parsed: &Parse) -> Vec<String> {
    let all = parsed
        .tree
        .nodes
        .iter()
        .filter(|node| matches!(node, Node::Comment { .. }));
    all.map(|node| parsed.tree.slice(node.span()).to_owned())
        .collect()
}

#[test]
fn example_of_the_specification() {
    let before = r#"<shell_access  id='ci'   extends="builtin:workspace-readonly@1" ><limits wall_time="5m"></limits>
   <!-- keep narrow -->
<policy default="deny"><rule id="m" action="allow"><all><basename value="make"/><trusted_executable/></all></rule></policy></shell_access>
"#;
    let after = r#"<shell_access id="ci" extends="builtin:workspace-readonly@1">
  <limits wall_time="5m"/>
  <!-- keep narrow -->
  <policy default="deny">
    <rule id="m" action="allow">
      <all><basename value="make"/><trusted_executable/></all>
    </rule>
  </policy>
</shell_access>
"#;
    assert_eq!(formatted(before), after);
}

#[test]
fn rules_one_by_one() {
    for (before, after) in [
        // Tags and quotes.
        ("<config   model = \"m\"\n/>", "<config model=\"m\"/>"),
        (
            "<config model='m' id='a\"b'></config >",
            "<config model=\"m\" id='a\"b'/>",
        ),
        (
            "<tool name='a\\d' command=\"x\"/>",
            "<tool name='a\\d' command=\"x\"/>",
        ),
        (
            "<config model=a&amp;b id=c\\ show_tool_call/>",
            "<config model=\"a&amp;amp;b\" id=\"c\\\\\" show_tool_call/>",
        ),
        (
            "<tool name=\"t\" agent=\"a\" local=\"true\"></tool>",
            "<tool name=\"t\" agent=\"a\" local=\"true\"/>",
        ),
        ("<config> </config>", "<config/>"),
        (
            "<config model=\"a\"id=\"b\"/>",
            "<config model=\"a\" id=\"b\"/>",
        ),
        // Values of several lines.
        (
            "<tool name=\"t\" description=\"a\nb\"/>",
            "<tool\n    name=\"t\"\n    description=\"a\nb\"/>",
        ),
        // Comments.
        (
            "<config><!-- only --></config>",
            "<config>\n  <!-- only -->\n</config>",
        ),
        (
            "<shell_access id=\"a\"> <!-- first --> <limits/> <!-- beside --> <!-- too -->\n<!-- own\n   line --><audit/><!-- last --></shell_access>",
            "<shell_access id=\"a\">\n  <!-- first -->\n  <limits/> <!-- beside --> <!-- too -->\n  <!-- own\n   line -->\n  <audit/> <!-- last -->\n</shell_access>",
        ),
        // Blank lines.
        (
            "<shell_access id=\"a\">\n\n\n  <limits/>\n\n\n\n  <audit/>\n  <secrets/>\n\n</shell_access>",
            "<shell_access id=\"a\">\n  <limits/>\n\n  <audit/>\n  <secrets/>\n</shell_access>",
        ),
        // On one line as long as it was written so.
        (
            "<tool runtime=\"r\"><command><arg/><arg/></command></tool>",
            "<tool runtime=\"r\">\n  <command><arg/><arg/></command>\n</tool>",
        ),
        (
            "<tool runtime=\"r\"><command> <arg></arg> </command></tool>",
            "<tool runtime=\"r\">\n  <command><arg/></command>\n</tool>",
        ),
        (
            "<tool runtime=\"r\"><command><arg/>\n<arg/></command></tool>",
            "<tool runtime=\"r\">\n  <command>\n    <arg/>\n    <arg/>\n  </command>\n</tool>",
        ),
        // A semantic error is copied, its neighbours are not.
        (
            "<shell_access id=\"a\"><limits>  text </limits><audit  /></shell_access>",
            "<shell_access id=\"a\">\n  <limits>  text </limits>\n  <audit/>\n</shell_access>",
        ),
        (
            "<shell_access  id=\"a\"><wat  /></shell_access>",
            "<shell_access  id=\"a\"><wat  /></shell_access>",
        ),
        ("<config  >x</config>", "<config  >x</config>"),
        (
            "<shell_access  id=\"a\"><user > x </user></shell_access>",
            "<shell_access id=\"a\">\n  <user > x </user>\n</shell_access>",
        ),
        (
            "<shell_access id=\"a\"  id=\"b\"/>",
            "<shell_access id=\"a\" id=\"b\"/>",
        ),
        // Scripts.
        (
            "<script  id=\"s\" >\n  let x = 1 \n</script >",
            "<script id=\"s\">\n  let x = 1 \n</script >",
        ),
        (
            "<script  id=\"s\"  src=\"f\"> \n </script>",
            "<script id=\"s\" src=\"f\"/>",
        ),
        (
            "<script  id=\"s\"> \n </script>",
            "<script id=\"s\"> \n </script>",
        ),
        // Everything else stays: layout between elements, bodies, place of the first character.
        (
            "\u{FEFF} \t<config  /><user  name='x'> <config  /> </user>  \n\n\n<!--   -->  ",
            "\u{FEFF} \t<config/><user  name='x'> <config  /> </user>  \n\n\n<!--   -->  ",
        ),
        // Line ends of the file.
        (
            "<shell_access id=\"a\">\r\n<limits/>\n</shell_access>",
            "<shell_access id=\"a\">\r\n  <limits/>\r\n</shell_access>",
        ),
        (
            "<shell_access id=\"a\"><limits>\r</limits></shell_access>",
            "<shell_access id=\"a\">\r  <limits/>\r</shell_access>",
        ),
    ] {
        assert_eq!(formatted(before), after, "{before}");
    }
}

#[test]
fn width_is_a_hundred_characters() {
    let tag = |fill: &str| format!("<config model=\"{fill}\"/>");
    let frame = tag("").chars().count();
    let fits = tag(&"é".repeat(100 - frame));
    assert_eq!(formatted(&fits), fits);
    let wide = "é".repeat(101 - frame);
    assert_eq!(
        formatted(&tag(&wide)),
        format!("<config\n    model=\"{wide}\"/>")
    );
    // The indent counts, the real column does not.
    let inner = |fill: usize| format!("<limits wall_time=\"{}\"/>", "1".repeat(fill));
    let text = |inner: &str| {
        format!(
            "{}<shell_access id=\"a\">\n  {inner}\n</shell_access>",
            " ".repeat(90)
        )
    };
    assert_eq!(formatted(&text(&inner(76))), text(&inner(76)));
    let split = inner(77).replace(" wall", "\n      wall");
    assert_eq!(formatted(&text(&inner(77))), text(&split));
    let line = |fill: usize| format!("<all><basename value=\"{}\"/></all>", "x".repeat(fill));
    let text = |fill: usize| format!("<shell_access>\n  {}\n</shell_access>", line(fill));
    assert_eq!(formatted(&text(67)), text(67));
    assert!(formatted(&text(68)).contains("<all>\n    <basename"));
}

#[test]
fn files_with_syntax_errors_are_refused() {
    for text in [
        "<user>",
        "x",
        "<config a=/>",
        "<config %/>",
        "<config a=\"1\" a=\"2\"/>",
        "<yo/>",
        "<user>\0</user>",
    ] {
        let refused = format(&parse(text.as_bytes())).unwrap_err();
        assert_eq!(refused.code, "chatmd.format_syntax_error", "{text}");
    }
    assert!(format(&parse(b"<user>\xff</user>")).is_err());
    assert_eq!(format(&parse(b"")).unwrap(), "");
}

#[test]
fn meaning_is_compared_exactly() {
    let same =
        |a: &str, b: &str| same_meaning(&parse(a.as_bytes()).tree, &parse(b.as_bytes()).tree);
    assert!(same("<config model='a'></config>", "<config model=\"a\"/>"));
    for (a, b) in [
        ("<config model=\"a\"/>", "<config model=\"b\"/>"),
        (
            "<config model=\"a\" id=\"b\"/>",
            "<config id=\"b\" model=\"a\"/>",
        ),
        ("<config model/>", "<config model=\"\"/>"),
        ("<user>a</user>", "<user>a </user>"),
        ("<user> </user>", "<user/>"),
        ("<script>a</script>", "<script>a </script>"),
        ("<tool><!-- a --></tool>", "<tool><!-- b --></tool>"),
        ("<tool runtime=\"r\"><arg/></tool>", "<tool runtime=\"r\"/>"),
        (
            "<tool runtime=\"r\"><arg/><arg/></tool>",
            "<tool runtime=\"r\"><arg><arg/></arg></tool>",
        ),
        ("<config/>", "<config/><config/>"),
    ] {
        assert!(!same(a, b), "{a} and {b}");
        assert!(!same(b, a), "{b} and {a}");
    }
}

#[test]
fn every_document_of_the_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut work = vec![
        root.join("../../corpus/vectors/manifest"),
        root.join("../../corpus/vectors/errors"),
        root.join("tests/documents"),
    ];
    let mut files = 0;
    while let Some(path) = work.pop() {
        if path.is_dir() {
            work.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) else {
            continue;
        };
        if path
            .extension()
            .is_some_and(|extension| extension == "chatmd")
            && format(&parse(text.as_bytes())).is_ok()
        {
            files += 1;
            formatted(&text);
            for line_end in ["\r\n", "\r"] {
                let other = text.replace("\r\n", "\n").replace('\n', line_end);
                if format(&parse(other.as_bytes())).is_ok() {
                    formatted(&other);
                }
            }
        }
    }
    assert!(files >= 100, "{files}");
}

#[test]
fn random_declarations() {
    // Pieces of a declaration in any order: most of them are refused or copied, the rest must obey.
    const PIECES: [&str; 16] = [
        "<limits/>",
        "<limits wall_time='1m'>",
        "</limits>",
        "<!-- c -->",
        "<!-- c\n d -->",
        "\n",
        "\n\n",
        " ",
        "<all>",
        "</all>",
        "<arg value=\"a\nb\"/>",
        "<arg a=x b>",
        "</arg>",
        "text",
        "<doc src='a'/>",
        "<script src=s> </script>",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut body = String::new();
        for _ in 0..10 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            body.push_str(PIECES[(state >> 32) as usize % PIECES.len()]);
        }
        let text = format!("<shell_access id=a>{body}</shell_access>\n");
        if parse(text.as_bytes()).has_errors() {
            continue;
        }
        accepted += 1;
        formatted(&text);
    }
    assert!(accepted > 200, "{accepted}");
}

#[test]
fn mutated_documents() {
    // One byte of a valid document removed or doubled: what still parses must keep its meaning.
    for document in [
        include_str!("documents/review.chatmd"),
        include_str!("documents/scripts.chatmd"),
    ] {
        let places: Vec<usize> = document.char_indices().map(|(at, _)| at).collect();
        let mut accepted = 0;
        for at in places.iter().step_by(3) {
            let next = document[*at..].chars().next().unwrap();
            let removed = format!("{}{}", &document[..*at], &document[at + next.len_utf8()..]);
            let doubled = format!("{}{next}{}", &document[..*at], &document[*at..]);
            for text in [removed, doubled] {
                if format(&parse(text.as_bytes())).is_ok() {
                    accepted += 1;
                    formatted(&text);
                }
            }
        }
        assert!(accepted > 300, "{accepted}");
    }
}
