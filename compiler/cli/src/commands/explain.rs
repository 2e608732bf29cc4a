//! `chatmdc explain` (spec 10 section 2.5).

use std::fmt::Write as _;

use chatmd_compiler::diagnostics::registry;
use serde::Serialize;

use super::{JsonError, complain, to_json};
use crate::args::{Explain, InspectFormat};
use crate::output::Output;
use crate::{codes, exit};

#[derive(Serialize)]
struct Answer {
    version: u32,
    command: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codes: Option<Vec<Listed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}

impl Answer {
    fn new(ok: bool) -> Self {
        let (code, severity, title, codes, error) = (None, None, None, None, None);
        Self {
            version: 1,
            command: "explain",
            ok,
            code,
            severity,
            title,
            codes,
            error,
        }
    }
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
    match (codes::find(code), args.format) {
        (Ok(entry), InspectFormat::Human) => {
            let related = codes::similar(entry.code);
            let related: Vec<_> = related
                .into_iter()
                .filter(|other| *other != entry.code)
                .collect();
            let mut text = format!(
                "{} ({})\n\n  {}\n",
                entry.code,
                entry.level.as_str(),
                entry.title
            );
            if !related.is_empty() {
                let _ = write!(text, "\nrelated: {}\n", related.join(", "));
            }
            output.result(text);
            exit::OK
        }
        (Ok(entry), InspectFormat::Json) => {
            let (code, severity, title) = (entry.code, entry.level.as_str(), entry.title);
            output.result(to_json(&Answer {
                code: Some(code),
                severity: Some(severity),
                title: Some(title),
                ..Answer::new(true)
            }));
            exit::OK
        }
        (Err(message), InspectFormat::Human) => {
            complain(output, &message);
            exit::FAILED
        }
        (Err(message), InspectFormat::Json) => {
            let error = Some(JsonError {
                code: None,
                message,
            });
            output.result(to_json(&Answer {
                error,
                ..Answer::new(false)
            }));
            exit::FAILED
        }
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
        output.result(to_json(&Answer {
            codes: Some(listed.collect()),
            ..Answer::new(true)
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
