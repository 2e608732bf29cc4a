//! Which files are ChatMD documents (spec 11 section 1.4).

use chatmd_syntax::{Name, parse};

/// How much of a Markdown file decides what it is, in bytes.
const WINDOW: usize = 64 << 10;

/// What an open text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A ChatMD document: it is checked.
    Document,
    /// Something else, of interest only to the documents that read it.
    Other,
}

/// The class of a text by language id, file name and, for Markdown, by what it begins with.
pub fn classify(language: &str, file_name: &str, text: &str) -> Class {
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension);
    let document = match (language, extension) {
        ("chatmd", _) => true,
        (_, Some("chatmd")) => true,
        ("chatml", _) | (_, Some("chatml")) => false,
        ("markdown", _) | (_, Some("md" | "markdown")) => begins_like_chatmd(text),
        _ => false,
    };
    if document {
        Class::Document
    } else {
        Class::Other
    }
}

/// Whether only layout stands before a complete start tag of a fence name (spec 01 section 16.1).
fn begins_like_chatmd(text: &str) -> bool {
    let mut end = text.len().min(WINDOW);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let window = text.get(..end).unwrap_or_default();
    // Cheap: most Markdown begins with a heading or prose.
    let Some(start) = skip_layout(window) else {
        return false;
    };
    let parsed = parse(window.as_bytes());
    let mut elements = parsed
        .tree
        .top
        .iter()
        .filter_map(|id| parsed.tree.element(*id));
    let first = elements.find(|element| element.span.start as usize >= start);
    first.is_some_and(|element| {
        let tag = window.get(element.start_tag.range()).unwrap_or_default();
        element.span.start as usize == start
            && !element.broken_start
            && tag.ends_with('>')
            && matches!(element.name, Name::Known(tag) if tag.is_fence())
    })
}

/// Offset of the first byte that is neither blank nor part of a comment, if that is a `<`.
fn skip_layout(text: &str) -> Option<usize> {
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    loop {
        let rest = text.get(at..)?;
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let Some(comment) = trimmed.strip_prefix("<!--") else {
            return trimmed.starts_with('<').then_some(at);
        };
        at += 4 + comment.find("-->")? + 3;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn markdown_is_chatmd_only_when_it_begins_like_it() {
        for (text, expected) in [
            ("<system>\nBe brief.\n</system>\n", true),
            ("\u{feff}\n<!-- a note -->\n<shell_access id=\"x\">", true),
            ("<tool name=\"t\"/>", true),
            ("<user", false),
            ("", false),
            ("# Title\n\n<system>x</system>", false),
            ("Prose\n<user>x</user>", false),
            ("<p align=\"center\">\n<user>x</user>", false),
            ("<img src=\"x\"/>\n<user>x</user>", false),
            ("<details>\n<user>x</user></details>", false),
            ("```xml\n<user>x</user>\n```", false),
            ("<!-- open\n<user>x</user>", false),
        ] {
            let class = if expected {
                Class::Document
            } else {
                Class::Other
            };
            assert_eq!(classify("markdown", "README.md", text), class, "{text:?}");
        }
    }

    #[test]
    fn language_and_extension_come_first() {
        for (language, name, expected) in [
            ("chatmd", "x.md", Class::Document),
            ("plaintext", "x.chatmd", Class::Document),
            ("chatml", "x.chatml", Class::Other),
            ("plaintext", "x.chatml", Class::Other),
            ("rust", "x.rs", Class::Other),
        ] {
            assert_eq!(
                classify(language, name, "prose"),
                expected,
                "{language} {name}"
            );
        }
    }

    #[test]
    fn only_the_first_64_kib_count() {
        let text = format!("{}<user>x</user>", "\n".repeat(WINDOW));
        assert_eq!(classify("markdown", "a.md", &text), Class::Other);
    }
}
