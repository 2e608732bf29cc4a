//! What has to hold for any bytes: one function for each fuzz target. The regression test of
//! `corpus/hostile` compiles this file too and calls every function with every file there.

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::{self, Platform};
use chatmd_compiler::{CompileOptions, compile, lower};
use chatmd_policy::input::{ArgumentRule, InputMode, InputShape, Presence, validate};

/// Between two files of one input of [`compilation`]; the first one is the root document.
const NEXT_FILE: &[u8] = b"\n%%%\n";

/// The tree covers the text, and formatting is idempotent and keeps the document readable.
pub fn syntax(bytes: &[u8]) {
    for parsed in [
        chatmd_syntax::parse(bytes),
        chatmd_syntax::parse_content(bytes, false),
        chatmd_syntax::parse_content(bytes, true),
    ] {
        let length = parsed.tree.text.len();
        for node in &parsed.tree.nodes {
            let span = node.span();
            assert!(span.start <= span.end && span.end as usize <= length);
            assert!(parsed.tree.text.is_char_boundary(span.start as usize));
            assert!(parsed.tree.text.is_char_boundary(span.end as usize));
        }
        for found in &parsed.diagnostics {
            assert!(found.primary.end as usize <= length, "{found:?}");
        }
    }
    if let Ok(text) = chatmd_syntax::fmt::format(&chatmd_syntax::parse(bytes)) {
        let again = chatmd_syntax::parse(text.as_bytes());
        let twice = chatmd_syntax::fmt::format(&again);
        assert_eq!(Ok(text), twice, "formatting is not idempotent");
    }
}

/// Every finding of lowering lies in the document.
pub fn lowering(bytes: &[u8]) {
    let parsed = chatmd_syntax::parse(bytes);
    let declarations = lower::lower(&parsed);
    let starts = lower::item_starts(&parsed);
    assert!(starts.is_sorted(), "items out of order");
    drop(declarations);
    let content = chatmd_syntax::parse_content(bytes, false);
    for class in [
        chatmd_compiler::schema::BodyClass::Authored,
        chatmd_compiler::schema::BodyClass::Transcript,
    ] {
        drop(lower::lower_content(&content, class));
    }
}

/// A document either has an error or a manifest that its own reader accepts. Files after the first,
/// set apart by lines of `%%%`, are `1.chatmd`, `2.chatmd`, … beside it.
pub fn compilation(bytes: &[u8]) {
    let mut files = split(bytes).into_iter();
    let root = files.next().unwrap_or_default();
    let mut memory = MemoryFileSystem::default();
    for (number, file) in files.enumerate().take(8) {
        memory.insert(format!("/w/{}.chatmd", number + 1), file);
    }
    memory.insert("/w/0.chatmd", root);
    for platform in [Platform::Linux, Platform::Windows] {
        let mut db = Database::new(memory.clone());
        let Ok(root) = db.root_from_path(Utf8Path::new("0.chatmd"), Utf8Path::new("/w")) else {
            return;
        };
        let compiled = compile(&db, root, &CompileOptions::for_platform(platform));
        assert_eq!(compiled.succeeded(), compiled.manifest.is_some());
        for found in &compiled.diagnostics {
            assert!(!found.message.is_empty());
            let _ = compiled.locate(found.primary.place);
        }
        if let Some(manifest) = &compiled.manifest {
            let written = manifest::to_bytes(manifest).expect("a manifest can be written");
            let read = manifest::from_bytes(&written).expect("what we write, we read");
            assert_eq!(*manifest, read);
        }
    }
}

fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest
        .windows(NEXT_FILE.len())
        .position(|window| window == NEXT_FILE)
    {
        parts.push(&rest[..at]);
        rest = &rest[at + NEXT_FILE.len()..];
    }
    parts.push(rest);
    parts
}

/// A manifest that is accepted is exactly what would be written for it.
pub fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = manifest::from_bytes(bytes) {
        let written = manifest::to_bytes(&manifest).expect("an accepted manifest can be written");
        assert_eq!(written, bytes);
        for tool in &manifest.tools {
            drop(chatmd_compiler::published::publish(tool, None));
        }
    }
    if let Ok(value) = manifest::json::parse(bytes) {
        let canonical = manifest::json::canonical(&value).expect("strict JSON has a form");
        let again = manifest::json::parse(&canonical).expect("the canonical form is strict JSON");
        assert_eq!(value, again);
        let _ = manifest::from_value(value);
    }
}

/// A valid tool input obeys the bounds of its tool; the first byte chooses the tool.
pub fn tool_input(bytes: &[u8]) {
    let Some((choice, payload)) = bytes.split_first() else {
        return;
    };
    let presence = |bits: u8| match bits % 3 {
        0 => Presence::None,
        1 => Presence::Optional,
        _ => Presence::Required,
    };
    let mode = match choice % 5 {
        0 => InputMode::Fixed(ArgumentRule {
            mode: presence(choice >> 3),
            min_count: 1,
            max_count: 4,
            max_item_bytes: 64,
        }),
        1 => InputMode::Structured,
        2 => InputMode::Chain,
        3 => InputMode::Raw,
        _ => InputMode::Script,
    };
    let shape = InputShape {
        mode,
        stdin: presence(choice >> 4),
        rationale: presence(choice >> 5),
        max_stdin_bytes: 128,
        declared_arguments: 0,
        reserved_bytes: 0,
    };
    match validate(payload, &shape) {
        Ok(input) => {
            let stdin = input.stdin.map_or(0, |stdin| stdin.len());
            assert!(stdin <= 128 && (stdin == 0 || shape.stdin != Presence::None));
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(payload)
        && let Ok(chain) = chatmd_policy::chain::parse(text)
    {
        assert_eq!(chain.operators.len() + 1, chain.pipelines.len());
        assert!(chain.commands().all(|argv| !argv.is_empty()));
    }
}

/// Every target by name.
#[allow(clippy::type_complexity)]
pub const ALL: &[(&str, fn(&[u8]))] = &[
    ("syntax", syntax),
    ("lowering", lowering),
    ("compilation", compilation),
    ("manifest", manifest),
    ("tool_input", tool_input),
];
