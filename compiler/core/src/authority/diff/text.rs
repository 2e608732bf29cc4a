//! A difference for people.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Change, ChangeKind, Diff, Subject};
use crate::authority::show::safe;

/// Longest value that is shown, in characters.
const MAX_VALUE: usize = 120;

/// Deepest nesting of a value that is shown.
const MAX_DEPTH: usize = 6;

/// Changes by runtime and tool, one line each (`+` added, `-` removed, `~` changed), and the
/// verdict as the last line. Everything that comes from a document is safe for a terminal.
pub fn text(diff: &Diff) -> String {
    let mut groups: BTreeMap<&Subject, Vec<&Change>> = BTreeMap::new();
    for change in &diff.changes {
        groups.entry(&change.subject).or_default().push(change);
    }
    let mut text = String::new();
    for (subject, changes) in groups {
        let (heading, prefix) = match subject {
            Subject::Runtime(id) => (format!("runtime {}", safe(id)), format!("runtimes.{id}")),
            Subject::Tool(name) => (format!("tool {}", safe(name)), format!("tools.{name}")),
            Subject::Document => ("document".to_owned(), String::new()),
        };
        text.push_str(&heading);
        text.push('\n');
        for change in changes {
            let rest = change.path.strip_prefix(&prefix).unwrap_or(&change.path);
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            text.push_str("  ");
            text.push_str(&entry(change, rest));
            text.push('\n');
        }
    }
    text.push_str("authority: ");
    text.push_str(diff.verdict.as_str());
    text.push('\n');
    text
}

/// One change on one line with its whole path, safe for a terminal.
pub fn line(change: &Change) -> String {
    entry(change, &change.path)
}

fn entry(change: &Change, path: &str) -> String {
    let (sign, values) = match change.change {
        ChangeKind::Added => ('+', shown(&change.new)),
        ChangeKind::Removed => ('-', shown(&change.old)),
        ChangeKind::Changed => (
            '~',
            format!("{} -> {}", shown(&change.old), shown(&change.new)),
        ),
    };
    let class = change.class.as_str();
    if path.is_empty() {
        // The whole runtime or tool.
        return format!("{sign} {class:<9} {values}");
    }
    let path = safe(path);
    // An entry that is known by its content need not be said twice.
    if path.ends_with(&values) && change.change != ChangeKind::Changed {
        format!("{sign} {class:<9} {path}")
    } else {
        format!("{sign} {class:<9} {path}: {values}")
    }
}

/// A value on one line, cut.
fn shown(value: &Value) -> String {
    let mut out = String::new();
    match whole(value) {
        Some(text) => out = text,
        None => write(value, 0, &mut out),
    }
    let text = safe(&out);
    if text.chars().count() <= MAX_VALUE {
        return text;
    }
    let mut cut: String = text.chars().take(MAX_VALUE - 1).collect();
    cut.push('…');
    cut
}

/// What matters first of a runtime or tool that comes or goes as a whole.
fn whole(value: &Value) -> Option<String> {
    let word = |at: &str| value.pointer(at).and_then(Value::as_str);
    if let (Some(sandbox), Some(default)) = (word("/capabilities/sandbox"), word("/policy/default"))
    {
        let mut text = format!("sandbox {sandbox}, policy {default}");
        let powers = [
            "network",
            "child_processes",
            "arbitrary_code",
            "privilege_change",
        ];
        for power in powers {
            if value.pointer(&format!("/capabilities/{power}")) == Some(&Value::Bool(true)) {
                text.push_str(", ");
                text.push_str(power);
            }
        }
        for roots in ["read", "write"] {
            if let Some(Value::Array(list)) = value.pointer(&format!("/capabilities/{roots}"))
                && !list.is_empty()
            {
                text.push_str(", ");
                text.push_str(roots);
                text.push(' ');
                write(&Value::Array(list.clone()), 0, &mut text);
            }
        }
        return Some(text);
    }
    if let (Some(mode), Some(runtime)) = (word("/mode/kind"), word("/runtime")) {
        let mut text = format!("{mode} tool on runtime {runtime}");
        if let Some(mode) = value.get("mode")
            && mode.as_object().is_some_and(|members| members.len() > 1)
        {
            text.push_str(": ");
            write(mode, 0, &mut text);
        }
        return Some(text);
    }
    None
}

fn write(value: &Value, depth: usize, out: &mut String) {
    // What is beyond the cut is not worth building.
    if depth > MAX_DEPTH || out.len() > 4 * MAX_VALUE {
        out.push('…');
        return;
    }
    match value {
        Value::Null => out.push_str("none"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) if is_digest(text) => {
            out.extend(text.chars().take(12));
            out.push('…');
        }
        Value::String(text) => out.push_str(text),
        Value::Array(entries) => {
            out.push('[');
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write(entry, depth + 1, out);
                if out.len() > 4 * MAX_VALUE {
                    break;
                }
            }
            out.push(']');
        }
        Value::Object(members) => {
            if let Some(path) = path(value) {
                out.push_str(&path);
                return;
            }
            object(members, depth, out);
        }
    }
}

/// `kind` first, then the other members; a single one without its name.
fn object(members: &serde_json::Map<String, Value>, depth: usize, out: &mut String) {
    let kind = members.get("kind").and_then(Value::as_str);
    let others: Vec<(&String, &Value)> = members
        .iter()
        .filter(|(name, value)| !(value.is_null() || kind.is_some() && name.as_str() == "kind"))
        .collect();
    if let Some(kind) = kind {
        match (kind, others.as_slice()) {
            // A root is its path.
            ("path", [(_, only)]) => return write(only, depth + 1, out),
            (_, []) => return out.push_str(kind),
            _ => out.push_str(kind),
        }
        if let [(_, only)] = others.as_slice() {
            out.push(' ');
            return write(only, depth + 1, out);
        }
    }
    out.push('{');
    for (index, (name, value)) in others.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(name);
        out.push(' ');
        write(value, depth + 1, out);
    }
    out.push('}');
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A path as it is written in a document.
fn path(value: &Value) -> Option<String> {
    let base = value.get("base")?.as_str()?;
    let rest = value.get("path")?.as_str()?;
    Some(match (base, rest) {
        ("absolute", rest) => rest.to_owned(),
        (base, "") => format!("${{{base}}}"),
        (base, rest) => format!("${{{base}}}/{rest}"),
    })
}
