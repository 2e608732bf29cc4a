//! What has to hold for any bytes: one function for each fuzz target. The regression test of
//! `corpus/hostile` compiles this file too and calls every function with every file there.

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::{self, Platform, bundle};
use chatmd_compiler::{CompileOptions, compile, lower};
use chatmd_policy::input::{ArgumentRule, InputMode, InputShape, Presence, validate};
use chatmd_runtime::audit::{self, ValidationOptions};
use chatml::surface::Kind;

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
            assert_eq!(**manifest, read);
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

/// A bundle that is accepted is the bundle that would be written for it. Digests that a mutation
/// made wrong are made right, so that what stands behind them is met too.
pub fn bundle(bytes: &[u8]) {
    let _ = bundle::recognise(bytes);
    let accepted = |bytes: &[u8]| {
        let Ok(read) = bundle::read(bytes) else {
            return;
        };
        assert_eq!(bundle::recognise(bytes), bundle::Content::Bundle);
        let written = bundle::write(&read.manifest, &read.scripts).expect("it can be written");
        assert_eq!(
            bundle::read(&written).expect("what we write, we read"),
            read
        );
    };
    accepted(bytes);
    let Ok(mut value) = manifest::json::parse(bytes) else {
        return;
    };
    let Some(payload) = value.get("payload").cloned() else {
        return;
    };
    let Ok(payload) = manifest::from_value(payload) else {
        return;
    };
    let (Ok(requested), Ok(bound)) = (
        manifest::requested_sha256(&payload),
        manifest::digest(&payload),
    ) else {
        return;
    };
    value["requested_sha256"] = requested.into();
    if payload.binding.is_some() {
        value["manifest_sha256"] = bound.into();
    }
    let stamped = manifest::json::canonical(&value).expect("strict JSON has a form");
    accepted(&stamped);
}

/// Any file can be validated and shown; from a valid chain no event can be taken out unnoticed.
pub fn audit(bytes: &[u8]) {
    // Memory where there is some: a disk would be most of the time.
    let memory = std::path::PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let file = folder.join(format!("chatmd-fuzz-audit-{}", std::process::id()));
    std::fs::write(&file, bytes).expect("a scratch file can be written");
    let chain = ValidationOptions {
        require_chain: true,
        ..ValidationOptions::default()
    };
    let report = audit::validate(&file, chain).expect("a regular file can be read");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    assert!(report.events <= lines.len() as u64);
    for found in report.errors.iter().chain(&report.warnings) {
        assert!(
            found
                .line
                .is_none_or(|line| line >= 1 && line <= lines.len() as u64)
        );
        assert!(
            !found.message.contains(|c: char| c.is_control()),
            "{found:?}"
        );
    }
    let options = audit::ReplayOptions {
        wide: true,
        allow_invalid: true,
        ..audit::ReplayOptions::default()
    };
    let mut shown = 0;
    let replayed = audit::replay(&file, ValidationOptions::default(), &options, |line| {
        assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        shown += 1;
    });
    assert!(replayed.is_ok() && shown >= report.events);
    let _ = audit::reconstruct(&file, ValidationOptions::default(), "00000000", true);
    if report.is_valid() && report.events as usize == lines.len() && lines.len() >= 3 {
        let middle = lines.len() / 2;
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != middle);
        let without: Vec<u8> = kept.flat_map(|(_, line)| *line).copied().collect();
        std::fs::write(&file, without).expect("a scratch file can be written");
        let report = audit::validate(&file, chain).expect("a regular file can be read");
        assert!(
            !report.is_valid(),
            "the loss of event {middle} is not noticed"
        );
    }
    let _ = std::fs::remove_file(&file);
}

/// Every finding about a script lies in it, and what parses can be checked as any kind.
pub fn script(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return;
    };
    let parsed = chatml::parse(source);
    let within = |found: &chatml::diagnostic::Diagnostic| {
        let places = std::iter::once(found.span).chain(found.labels.iter().map(|label| label.span));
        for place in places {
            let (start, end) = (place.start as usize, place.end as usize);
            assert!(source.get(start..end).is_some(), "{found:?}");
        }
        assert!(!found.message.is_empty());
    };
    parsed
        .errors
        .iter()
        .chain(&parsed.warnings)
        .for_each(within);
    if parsed.is_ok() {
        for kind in [Kind::Core, Kind::ShellReviewer, Kind::Moderator] {
            let checked = chatml::check(&parsed.program, kind);
            checked
                .errors
                .iter()
                .chain(&checked.warnings)
                .for_each(within);
        }
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
    ("bundle", bundle),
    ("audit", audit),
    ("script", script),
    ("tool_input", tool_input),
];
