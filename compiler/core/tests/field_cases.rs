//! Failures met in the field (`corpus/cases`) of the areas `config` and `editor` that need no
//! server, each with its kind: what goes wrong in one place of a document is tried in every place of
//! every golden document.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::diagnostics::{Diagnostic, Severity};
use chatmd_compiler::manifest::{self, Platform};
use chatmd_compiler::{Compilation, CompileOptions, compile};
use chatmd_syntax::fmt::format;
use chatmd_syntax::{Element, Name, Node, Tag, Tree, parse};
use serde_json::Value;

/// A golden document with the files beside it.
struct Document {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    root: String,
    text: String,
    platform: Platform,
}

fn documents() -> Vec<Document> {
    let mut all = Vec::new();
    for case in common::cases("manifest") {
        let expect: Value = serde_json::from_str(&case.expectation).unwrap();
        let root = expect["root"].as_str().unwrap().to_owned();
        let files = case.files();
        let (_, text) = files.iter().find(|(path, _)| *path == root).unwrap();
        if let Ok(text) = String::from_utf8(text.clone()) {
            let platform = Platform::from_word(expect["platform"].as_str().unwrap()).unwrap();
            all.push(Document {
                name: case.name.clone(),
                files,
                root,
                text,
                platform,
            });
        }
    }
    assert!(all.len() > 40, "{}", all.len());
    all
}

impl Document {
    /// Compiles it with another text.
    fn compile(&self, text: &str) -> Arc<Compilation> {
        let mut system = MemoryFileSystem::default();
        for (path, bytes) in &self.files {
            system.insert(format!("/d/{path}"), bytes.clone());
        }
        system.insert(format!("/d/{}", self.root), text.as_bytes());
        let path = Utf8Path::new("/d").join(&self.root);
        let mut db = Database::new(system);
        let name = Utf8Path::new(path.file_name().unwrap());
        let root = db.root_from_path(name, path.parent().unwrap()).unwrap();
        compile(&db, root, &CompileOptions::for_platform(self.platform))
    }
}

fn compile_text(text: &str) -> Arc<Compilation> {
    let mut db = Database::new(MemoryFileSystem::default());
    let bytes: Arc<[u8]> = text.as_bytes().into();
    let root = db.root_from_content("agent.chatmd", "/d".into(), Ok(bytes), None);
    compile(&db, root, &CompileOptions::for_platform(Platform::Linux))
}

/// Elements that declare what an agent may do.
fn declarations(tree: &Tree) -> impl Iterator<Item = &Element> {
    let nodes = tree.nodes.iter().enumerate();
    nodes.filter_map(|(index, node)| match node {
        Node::Element(element) => {
            let top = tree.top.iter().any(|id| id.0 as usize == index);
            let declares = matches!(
                element.name,
                Name::Known(Tag::ShellAccess | Tag::Tool | Tag::Script | Tag::ModeratorRuntime)
            );
            (element.in_shell_scope || (top && declares)).then_some(element)
        }
        _ => None,
    })
}

fn spliced(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// The first error with that ending of its code that marks the bytes.
fn error_at<'a>(
    compilation: &'a Compilation,
    code: &str,
    marked: &Range<usize>,
) -> Option<&'a Diagnostic> {
    compilation.diagnostics.iter().find(|found| {
        let at = compilation.locate(found.primary.place).unwrap().span;
        found.severity == Severity::Error
            && found.code.ends_with(code)
            && at.range().start >= marked.start
            && at.range().end <= marked.end
    })
}

/// fc1-036: no copy of a repeated attribute wins.
#[test]
fn an_attribute_that_is_written_twice_loads_nothing() {
    let mut tried = 0;
    for document in documents() {
        let parsed = parse(document.text.as_bytes());
        for element in declarations(&parsed.tree) {
            for attribute in &element.attributes {
                let written = &document.text[attribute.span.range()];
                let at = attribute.span.range().end;
                let again = at + 1..at + 1 + written.len();
                let text = spliced(&document.text, at..at, &format!(" {written}"));
                let compilation = document.compile(&text);
                let found = error_at(&compilation, ".duplicate_attribute", &again);
                let found = found.unwrap_or_else(|| panic!("{}: {text}", document.name));
                let first = compilation.locate(found.secondary[0].place).unwrap().span;
                assert!(first.range().start >= attribute.span.range().start);
                assert!(first.range().end <= at, "both places are shown");
                assert!(compilation.manifest.is_none(), "{text}");
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

/// fc1-036: the same for whole sections.
#[test]
fn a_section_that_is_written_twice_loads_nothing() {
    let mut tried = BTreeMap::new();
    for document in documents() {
        let parsed = parse(document.text.as_bytes());
        for runtime in declarations(&parsed.tree) {
            if runtime.name != Name::Known(Tag::ShellAccess) {
                continue;
            }
            for child in &runtime.children {
                let Node::Element(section) = parsed.tree.node(*child) else {
                    continue;
                };
                let written = &document.text[section.span.range()];
                let at = section.span.range().end;
                let text = spliced(&document.text, at..at, written);
                let compilation = document.compile(&text);
                let again = at..at + written.len();
                let found = error_at(&compilation, "shell.duplicate_section", &again);
                let found = found.unwrap_or_else(|| panic!("{}: {text}", document.name));
                assert_eq!(found.secondary.len(), 1, "both places are shown");
                assert!(compilation.manifest.is_none(), "{text}");
                let name = &document.text[section.name_span.range()];
                *tried.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(tried.len(), 12, "every section: {tried:?}");
}

/// fc1-036: and for members of a manifest, at every depth.
#[test]
fn a_member_that_is_written_twice_is_no_manifest() {
    let mut tried = 0;
    for document in documents() {
        let compilation = document.compile(&document.text);
        let bytes = manifest::to_bytes(compilation.manifest.as_ref().unwrap()).unwrap();
        let json = String::from_utf8(bytes).unwrap();
        assert!(manifest::from_bytes(json.as_bytes()).is_ok());
        let mut in_string = false;
        let mut escaped = false;
        for (at, c) in json.char_indices() {
            if in_string {
                in_string = escaped || c != '"';
                escaped = !escaped && c == '\\';
                continue;
            }
            in_string = c == '"';
            if c == '{' && !json[at..].starts_with("{}") {
                let name = json[at + 1..].split(':').next().unwrap();
                let twice = spliced(&json, at + 1..at + 1, &format!("{name}:null,"));
                let error = manifest::from_bytes(twice.as_bytes()).unwrap_err();
                assert!(error.message.contains("twice"), "{}", error.message);
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}

/// fc1-037: the three documents of the case.
#[test]
fn the_misspelt_documents_of_the_case() {
    for (section, code, right) in [
        (
            r#"<limits «walltime»="2m"/>"#,
            "shell.unknown_attribute",
            "wall_time",
        ),
        (
            r#"<«capabilites» sandbox="required"/>"#,
            "shell.unknown_element",
            "capabilities",
        ),
        (
            r#"<policy><rule id="x" «acton»="deny"><basename value="rm"/></rule></policy>"#,
            "shell.unknown_attribute",
            "action",
        ),
    ] {
        let word = section.split(['«', '»']).nth(1).unwrap();
        let section = section.replace(['«', '»'], "");
        let text = format!(
            "<shell_access id=\"r\">{section}</shell_access><tool name=\"t\" runtime=\"r\" command=\"ls\"/>"
        );
        let compilation = compile_text(&text);
        let start = text.find(word).unwrap();
        let element = start - 1..start + section.len();
        let found = error_at(&compilation, code, &element).unwrap();
        assert!(found.fixes[0].title.contains(right), "{:?}", found.fixes);
        assert!(compilation.manifest.is_none() && compilation.requested_sha256.is_none());
        assert_eq!(
            compilation.count(Severity::Error),
            1,
            "{:?}",
            compilation.diagnostics
        );
    }
}

/// fc1-037: an attribute or element that nobody knows is an error wherever it stands, and nothing
/// of the document takes effect.
#[test]
fn what_is_unknown_in_a_declaration_loads_nothing() {
    let (mut attributes, mut elements) = (0, 0);
    for document in documents() {
        let parsed = parse(document.text.as_bytes());
        for element in declarations(&parsed.tree) {
            let tag = element.start_tag.range();
            for attribute in &element.attributes {
                let end = attribute.name.range().end;
                let text = spliced(&document.text, end..end, "_zz");
                let compilation = document.compile(&text);
                assert!(
                    error_at(&compilation, "unknown_attribute", &(tag.start..tag.end + 3))
                        .is_some(),
                    "{}: {:?}",
                    document.text[tag.clone()].trim(),
                    compilation.diagnostics
                );
                assert!(compilation.manifest.is_none());
                attributes += 1;
            }
            if !element.self_closing || !element.in_shell_scope {
                continue;
            }
            let end = element.name_span.range().end;
            let text = spliced(&document.text, end..end, "_zz");
            let compilation = document.compile(&text);
            let whole = element.span.range().start..element.span.range().end + 3;
            let found = compilation.diagnostics.iter().find(|found| {
                let at = compilation.locate(found.primary.place).unwrap().span;
                found.severity == Severity::Error && whole.contains(&at.range().start)
            });
            assert!(found.is_some(), "{}", &document.text[tag]);
            assert!(compilation.manifest.is_none());
            elements += 1;
        }
    }
    assert!(
        attributes > 500 && elements > 200,
        "{attributes} {elements}"
    );
}

/// fc1-038: characters whose order differs between code points and UTF-16 code units. Members of a
/// set are sorted by bytes (spec 04 section 8.1), so code points decide.
#[test]
fn sets_are_sorted_by_bytes_whatever_was_written_first() {
    let document = |names: [&str; 2]| {
        format!(
            "<shell_access id=\"r\"><resolver><trusted_root path=\"/srv/{}\"/>\
             <trusted_root path=\"/srv/{}\"/></resolver></shell_access><tool name=\"t\" runtime=\"r\" command=\"ls\"/>",
            names[0], names[1]
        )
    };
    let form = |text: &str| {
        let compilation = compile_text(text);
        let manifest = compilation.manifest.as_ref();
        let manifest = manifest.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics));
        String::from_utf8(manifest::comparison_form(manifest).unwrap()).unwrap()
    };
    let names = ["\u{10000}", "\u{E000}"];
    let one = form(&document(names));
    let other = form(&document([names[1], names[0]]));
    assert_eq!(one, other);
    let place = |name: &str| one.find(&format!("/srv/{name}")).unwrap();
    assert!(place("\u{E000}") < place("\u{10000}"));
}

/// fc1-040: what a formatter may not lose.
#[test]
fn formatting_keeps_comments_line_ends_and_meaning() {
    let tool = "<tool name=\"t\" runtime=\"r\" command=\"ls\"/>";
    let sections = [
        ("only child", "<limits>  <!-- a only -->  </limits>"),
        (
            "last child",
            "<policy><rule   id=\"x\" action=\"deny\"><basename value=\"rm\"/></rule> <!-- b last -->\n</policy><!-- c -->",
        ),
        (
            "between attributes",
            "<limits <!-- d --> wall_time=\"2m\"/>",
        ),
        (
            "several",
            "<!-- e --><limits\n wall_time = '2m'   ></limits><!-- f -->\n<!-- e -->",
        ),
    ];
    let mut formatted = 0;
    for (name, section) in sections {
        for line_end in ["\n", "\r\n"] {
            for last in ["", "\n", "\n\n"] {
                let text =
                    format!("<shell_access id=\"r\">\n{section}\n</shell_access>\n{tool}{last}")
                        .replace('\n', line_end);
                let before = compile_text(&text);
                let Ok(once) = format(&parse(text.as_bytes())) else {
                    // A comment inside a tag is no comment: nothing is touched.
                    assert_eq!(name, "between attributes");
                    assert!(before.manifest.is_none());
                    continue;
                };
                formatted += 1;
                assert_eq!(format(&parse(once.as_bytes())).unwrap(), once, "{name}");
                assert_eq!(comments(&once), comments(&text), "{name}");
                let after = compile_text(&once);
                assert_eq!(
                    manifest::comparison_form(after.manifest.as_ref().unwrap()),
                    manifest::comparison_form(before.manifest.as_ref().unwrap()),
                    "{name}"
                );
                let feeds = once.matches('\n').count();
                let pairs = once.matches("\r\n").count();
                assert_eq!(
                    pairs,
                    if line_end == "\n" { 0 } else { feeds },
                    "{name}: {once:?}"
                );
            }
        }
    }
    assert_eq!(formatted, 18);
}

fn comments(text: &str) -> Vec<String> {
    let parsed = parse(text.as_bytes());
    let all = parsed.tree.nodes.iter();
    let mut found: Vec<String> = all
        .filter(|node| matches!(node, Node::Comment { .. }))
        .map(|node| parsed.tree.slice(node.span()).to_owned())
        .collect();
    found.sort();
    found
}
