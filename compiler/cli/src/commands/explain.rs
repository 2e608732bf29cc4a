//! `chatmdc explain` (spec 10 section 2.5).

use std::fmt::Write as _;

use chatmd_compiler::diagnostics::pages::{self, Page};
use chatmd_compiler::diagnostics::registry;
use serde::Serialize;

use super::{JsonError, complain, to_json};
use crate::args::{Explain, InspectFormat};
use crate::output::Output;
use crate::{codes, exit};

/// Columns of the text form.
const WIDTH: usize = 80;

/// First members of every answer.
#[derive(Serialize)]
struct Envelope {
    version: u32,
    command: &'static str,
    ok: bool,
}

#[derive(Serialize)]
struct PageAnswer {
    #[serde(flatten)]
    envelope: Envelope,
    code: Option<&'static str>,
    severity: Option<&'static str>,
    title: Option<&'static str>,
    meaning: Option<&'static str>,
    cause: Option<&'static str>,
    failing: Option<String>,
    corrected: Option<String>,
    related: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}

#[derive(Serialize)]
struct ListAnswer {
    #[serde(flatten)]
    envelope: Envelope,
    codes: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    code: &'static str,
    severity: &'static str,
    summary: &'static str,
}

/// Runs the command.
pub fn run(args: &Explain, output: &mut Output) -> u8 {
    let Some(code) = &args.code else {
        return list(args, output);
    };
    let page = codes::find(code).and_then(|entry| {
        pages::page(entry.code).ok_or_else(|| format!("nothing is known about `{}`", entry.code))
    });
    match (page, args.format) {
        (Ok(page), InspectFormat::Human) => {
            output.result(text(&page));
            exit::OK
        }
        (Ok(page), InspectFormat::Json) => {
            output.result(to_json(&answer(Some(page), None)));
            exit::OK
        }
        (Err(message), InspectFormat::Human) => {
            complain(output, &message);
            exit::FAILED
        }
        (Err(message), InspectFormat::Json) => {
            let code = None;
            output.result(to_json(&answer(None, Some(JsonError { code, message }))));
            exit::FAILED
        }
    }
}

fn envelope(ok: bool) -> Envelope {
    Envelope {
        version: 1,
        command: "explain",
        ok,
    }
}

fn answer(page: Option<Page>, error: Option<JsonError>) -> PageAnswer {
    let example = page.as_ref().and_then(|page| page.example.as_ref());
    PageAnswer {
        envelope: envelope(page.is_some()),
        code: page.as_ref().map(|page| page.entry.code),
        severity: page.as_ref().map(|page| page.entry.level.as_str()),
        title: page.as_ref().map(|page| page.entry.title),
        meaning: page.as_ref().map(|page| page.meaning),
        cause: page.as_ref().map(|page| page.cause),
        failing: example.map(|example| example.failing.display(None)),
        corrected: example.map(|example| example.corrected.display(None)),
        related: page.map(|page| page.related).unwrap_or_default(),
        error,
    }
}

/// The page for people.
fn text(page: &Page) -> String {
    let code = page.entry.code;
    let mut text = format!("{code} ({})\n", page.entry.level.as_str());
    paragraph(&mut text, page.entry.title);
    paragraph(&mut text, page.meaning);
    paragraph(&mut text, &format!("Typical cause: {}", page.cause));
    if let Some(example) = &page.example {
        snippet(&mut text, "failing", &example.failing.display(Some(code)));
        snippet(&mut text, "corrected", &example.corrected.display(None));
    }
    if !page.related.is_empty() {
        text.push_str("\nrelated:\n");
        paragraph(&mut text, &page.related.join(", "));
    }
    text
}

/// An empty line and the words, wrapped and indented.
fn paragraph(text: &mut String, words: &str) {
    text.push('\n');
    let mut column = 0;
    for word in words.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            text.push('\n');
            column = 0;
        }
        if column == 0 {
            text.push_str("  ");
            column = 2;
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}

fn snippet(text: &mut String, title: &str, source: &str) {
    let _ = write!(text, "\n{title}:\n\n");
    for line in source.lines() {
        let _ = writeln!(text, "    {line}");
    }
}

fn list(args: &Explain, output: &mut Output) -> u8 {
    let mut entries: Vec<_> = registry::entries().collect();
    entries.sort_by_key(|entry| entry.code);
    if args.format == InspectFormat::Json {
        let listed = entries.iter().map(|entry| Listed {
            code: entry.code,
            severity: entry.level.as_str(),
            summary: entry.title,
        });
        output.result(to_json(&ListAnswer {
            envelope: envelope(true),
            codes: listed.collect(),
        }));
        return exit::OK;
    }
    let width = entries
        .iter()
        .map(|entry| entry.code.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(
            text,
            "{:width$}  {:10}  {}",
            entry.code,
            entry.level.as_str(),
            entry.title
        );
    }
    output.result(text);
    exit::OK
}
