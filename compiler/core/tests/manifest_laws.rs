//! Laws of spec 04 section 8.1 over every vector: layout, the order of attributes and of sections
//! and line ends change the digest of a document, never its comparison form.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::{self, Platform};
use chatmd_compiler::{Compilation, CompileOptions, compile};
use chatmd_syntax::{Element, Node, Tag, Tree};
use common::cases;
use serde_json::Value;

/// Compiles the case with its root document rewritten.
fn compile_with(case: &common::Case, expect: &Value, root_text: Vec<u8>) -> Arc<Compilation> {
    let mut system = MemoryFileSystem::default();
    for (path, bytes) in case.files() {
        system.insert(format!("/d/{path}"), bytes);
    }
    let root = expect["root"].as_str().unwrap();
    system.insert(format!("/d/{root}"), root_text);
    let mut db = Database::new(system);
    let path = Utf8Path::new("/d").join(root);
    let root = db
        .root_from_path(
            Utf8Path::new(path.file_name().unwrap()),
            path.parent().unwrap(),
        )
        .unwrap();
    let platform = Platform::from_word(expect["platform"].as_str().unwrap()).unwrap();
    compile(&db, root, &CompileOptions::for_platform(platform))
}

/// Elements of declarations, where order and layout carry no meaning.
fn declarations(tree: &Tree) -> Vec<&Element> {
    let elements = tree.nodes.iter().filter_map(|node| match node {
        Node::Element(element) => Some(element),
        _ => None,
    });
    elements
        .filter(|element| {
            element.in_shell_scope
                || matches!(
                    element.name,
                    chatmd_syntax::Name::Known(Tag::ShellAccess | Tag::Tool | Tag::Script)
                )
        })
        .collect()
}

fn splice(text: &[u8], mut edits: Vec<(std::ops::Range<usize>, Vec<u8>)>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (Vec::new(), 0);
    for (range, new) in edits {
        out.extend_from_slice(&text[at..range.start]);
        out.extend_from_slice(&new);
        at = range.end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

/// Every start tag with its attributes the other way round.
fn reverse_attributes(text: &[u8]) -> Vec<u8> {
    let parse = chatmd_syntax::parse(text);
    let mut edits = Vec::new();
    for element in declarations(&parse.tree) {
        let spans: Vec<_> = element.attributes.iter().map(|a| a.span.range()).collect();
        for (here, there) in spans.iter().zip(spans.iter().rev()) {
            edits.push((here.clone(), text[there.clone()].to_vec()));
        }
    }
    splice(text, edits)
}

/// Every runtime with its sections the other way round.
fn reverse_sections(text: &[u8]) -> Vec<u8> {
    let parse = chatmd_syntax::parse(text);
    let mut edits = Vec::new();
    for element in declarations(&parse.tree) {
        if element.name != chatmd_syntax::Name::Known(Tag::ShellAccess) {
            continue;
        }
        let spans: Vec<_> = element
            .children
            .iter()
            .filter(|child| matches!(parse.tree.node(**child), Node::Element(_)))
            .map(|child| parse.tree.node(*child).span().range())
            .collect();
        for (here, there) in spans.iter().zip(spans.iter().rev()) {
            edits.push((here.clone(), text[there.clone()].to_vec()));
        }
    }
    splice(text, edits)
}

/// A comment and line ends before every declaration.
fn add_layout(text: &[u8]) -> Vec<u8> {
    let parse = chatmd_syntax::parse(text);
    let edits = declarations(&parse.tree)
        .into_iter()
        .map(|element| {
            let at = element.start_tag.range().start;
            (at..at, b"\n<!-- <rule id=\"no\"/> -->\r\n\t ".to_vec())
        })
        .collect();
    splice(text, edits)
}

/// CRLF instead of LF outside start tags, in documents without other carriage returns or programs.
fn crlf(text: &[u8]) -> Vec<u8> {
    let plain = !text.contains(&b'\r') && !text.windows(8).any(|window| window == b"</script");
    if !plain {
        return text.to_vec();
    }
    let parse = chatmd_syntax::parse(text);
    let mut inside = vec![false; text.len()];
    for element in declarations(&parse.tree) {
        inside[element.start_tag.range()].fill(true);
    }
    let edits = (0..text.len())
        .filter(|at| text[*at] == b'\n' && !inside[*at])
        .map(|at| (at..at, b"\r".to_vec()))
        .collect();
    splice(text, edits)
}

#[test]
fn what_carries_no_meaning_leaves_the_comparison_form() {
    type Rewrite = fn(&[u8]) -> Vec<u8>;
    let rewrites: [(&str, Rewrite); 4] = [
        ("attributes", reverse_attributes),
        ("sections", reverse_sections),
        ("layout", add_layout),
        ("line ends", crlf),
    ];
    let mut changed = [0_usize; 4];
    for case in cases("manifest") {
        let expect: Value = serde_json::from_str(&case.expectation).unwrap();
        let root = expect["root"].as_str().unwrap();
        let files = case.files();
        let (_, text) = files.iter().find(|(path, _)| path == root).unwrap();
        let plain = compile_with(&case, &expect, text.clone());
        let plain = plain.manifest.as_ref().unwrap();
        for (index, (name, rewrite)) in rewrites.iter().enumerate() {
            let other_text = rewrite(text);
            if other_text == *text {
                continue;
            }
            changed[index] += 1;
            let other = compile_with(&case, &expect, other_text);
            let Some(other) = &other.manifest else {
                panic!("{} {name}: {:?}", case.name, other.diagnostics)
            };
            assert_ne!(
                manifest::digest(plain),
                manifest::digest(other),
                "{} {name}",
                case.name
            );
            assert_eq!(
                String::from_utf8(manifest::comparison_form(other).unwrap()),
                String::from_utf8(manifest::comparison_form(plain).unwrap()),
                "{} {name}",
                case.name
            );
        }
    }
    assert!(
        changed.iter().all(|count| *count >= 9),
        "the rewrites do something: {changed:?}"
    );
}
