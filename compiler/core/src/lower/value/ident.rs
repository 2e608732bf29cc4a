//! Identifiers and references (spec 02 section 4).

use super::{Fault, Parsed, Value};
use crate::diagnostics::quote;
use crate::resolve::profiles;

const PATTERN: &str = "a letter or `_`, then letters, digits, `_`, `.` and `-`";

/// The strict pattern, at most 128 bytes.
pub(crate) fn is_strict(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// Id of a runtime or script. A qualified id passes when each segment is strict; whether it may
/// be declared depends on the file being the root or imported, which is decided later.
pub(super) fn declared(text: &str) -> Result<Value, Fault> {
    let first = text.split(':').next().unwrap_or_default();
    if text.contains(':') && matches!(first, "builtin" | "legacy")
        || matches!(text, "builtin" | "legacy")
    {
        return Err(Fault::new(format!("the name `{first}` is reserved"))
            .code("shell.reserved_namespace")
            .at(0..first.len())
            .hint("choose another name"));
    }
    if !text.split(':').all(is_strict) || text.len() > 512 {
        return Err(Fault::new(format!("{} is not a valid id", quote(text)))
            .hint(format!("an id is {PATTERN}, at most 128 bytes")));
    }
    Ok(Value::Text(text.to_owned()))
}

/// Lenient id; `declares` adds the style warning.
pub(super) fn entry(text: &str, declares: bool) -> Parsed {
    let reason = if text.is_empty() {
        Some("must not be empty")
    } else if text.len() > 128 {
        Some("must not be longer than 128 bytes")
    } else if text.trim() != text {
        Some("must not start or end with whitespace")
    } else if text.chars().any(char::is_control) {
        Some("must not contain control characters")
    } else {
        None
    };
    if let Some(reason) = reason {
        let fault = Fault::new(format!("the id {} {reason}", quote(text)));
        let trimmed = text.trim();
        return Err(if trimmed != text && !trimmed.is_empty() {
            fault.replace(trimmed)
        } else {
            fault
        });
    }
    let mut warnings = Vec::new();
    if declares && !is_strict(text) {
        warnings.push(
            Fault::new(format!("the id {} is legal but unusual", quote(text)))
                .code("shell.identifier_style")
                .hint(format!("prefer {PATTERN}")),
        );
    }
    Ok((Value::Text(text.to_owned()), warnings))
}

/// Id of an executable, which doubles as a program name.
pub(super) fn executable(text: &str) -> Parsed {
    if let Some(at) = text.find('/') {
        return Err(Fault::new(
            "the id of an executable is used as a program name and cannot contain `/`",
        )
        .at(at..at + 1));
    }
    entry(text, true)
}

/// Reference to a runtime or script; `parent` permits `builtin:` profiles.
pub(super) fn reference(text: &str, parent: bool) -> Result<Value, Fault> {
    if text.len() > 512 {
        return Err(Fault::new("a reference must not be longer than 512 bytes"));
    }
    if let Some((at, c)) = text
        .char_indices()
        .find(|(_, c)| c.is_whitespace() || c.is_control())
    {
        let trimmed = text.trim();
        let fault = Fault::new(format!(
            "the reference {} contains whitespace or a control character",
            quote(text)
        ));
        return Err(if trimmed != text && reference(trimmed, parent).is_ok() {
            fault.replace(trimmed)
        } else {
            fault.at(at..at + c.len_utf8())
        });
    }
    let profile_meant = |fault: Fault| match profiles::meant(text).filter(|_| parent) {
        Some(profile) => Fault {
            range: None,
            ..fault.replace(profile)
        },
        None => fault,
    };
    if let Some(profile) = text.strip_prefix("builtin:") {
        if !parent {
            return Err(
                Fault::new(format!("{} is a profile, not a runtime", quote(text))).hint(format!(
                    "declare `<shell_access id=\"…\" extends=\"{}\"/>` and refer to that id",
                    crate::diagnostics::clip(text)
                )),
            );
        }
        let (name, version) = profile.split_once('@').unwrap_or((profile, "1"));
        let version_ok = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
        if name.is_empty() || name.contains(':') || !version_ok {
            let fault = Fault::new(format!("{} is not a profile name", quote(text)));
            return Err(profile_meant(
                fault.hint("write `builtin:NAME` or `builtin:NAME@VERSION`"),
            ));
        }
        return Ok(Value::Text(text.to_owned()));
    }
    if let Some(at) = text.find('@') {
        let fault = Fault::new("only built-in profiles, `builtin:NAME@VERSION`, have a version");
        return Err(profile_meant(fault.at(at..text.len())));
    }
    if text.split(':').any(str::is_empty) {
        return Err(
            Fault::new(format!("the reference {} has an empty part", quote(text)))
                .hint("write `id`, or `namespace:id`"),
        );
    }
    Ok(Value::Text(text.to_owned()))
}

/// Name of an environment variable.
pub(super) fn environment(text: &str) -> Result<Value, Fault> {
    if let Some(at) = text.find('=') {
        return Err(Fault::new("the name of a variable cannot contain `=`").at(at..at + 1));
    }
    if text.is_empty() {
        return Err(Fault::new("the name of a variable must not be empty"));
    }
    if text.len() > 256 {
        return Err(Fault::new(
            "the name of a variable must not be longer than 256 bytes",
        ));
    }
    Ok(Value::Text(text.to_owned()))
}

/// Name that the model calls.
pub(super) fn tool_name(text: &str) -> Result<Value, Fault> {
    let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=64).contains(&text.len()) && text.chars().all(ok) {
        return Ok(Value::Text(text.to_owned()));
    }
    let fault = Fault::new(format!("{} is not a tool name", quote(text)))
        .hint("a tool name has 1 to 64 letters, digits, `_` and `-`");
    let meant: String = text
        .trim()
        .chars()
        .map(|c| if ok(c) { c } else { '_' })
        .take(64)
        .collect();
    Err(if meant.is_empty() {
        fault
    } else {
        fault.replace(meant)
    })
}

/// Namespace of an import.
pub(super) fn namespace(text: &str) -> Result<Value, Fault> {
    if matches!(text, "builtin" | "legacy") {
        return Err(Fault::new(format!("the namespace `{text}` is reserved"))
            .code("shell.reserved_namespace")
            .hint("choose another name"));
    }
    if is_strict(text) && text.len() <= 64 {
        return Ok(Value::Text(text.to_owned()));
    }
    Err(Fault::new(format!("{} is not a namespace", quote(text)))
        .hint(format!("a namespace is {PATTERN}, at most 64 bytes")))
}

/// Name of a ChatML function.
pub(super) fn function(text: &str) -> Result<Value, Fault> {
    let first = text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let rest = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'\''));
    if first && rest && text.len() <= 128 {
        return Ok(Value::Text(text.to_owned()));
    }
    Err(Fault::new(format!(
        "{} is not the name of a function",
        quote(text)
    )))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn strict_ids() {
        for (text, ok) in [
            ("a", true),
            ("_x.y-9", true),
            ("a:b", true),
            ("9a", false),
            ("a b", false),
            ("", false),
            ("a:", false),
            ("é", false),
            ("builtin:x", false),
            ("legacy", false),
            ("xbuiltin:a", true),
        ] {
            assert_eq!(declared(text).is_ok(), ok, "{text}");
        }
        assert_eq!(
            declared("legacy:custom").unwrap_err().code,
            Some("shell.reserved_namespace")
        );
        assert!(declared(&"a".repeat(129)).is_err());
    }

    #[test]
    fn lenient_ids() {
        assert_eq!(entry("json prefix", true).unwrap().1.len(), 1);
        assert_eq!(entry("json prefix", false).unwrap().1.len(), 0);
        assert_eq!(entry("ok-1", true).unwrap().1.len(), 0);
        assert_eq!(
            entry(" x", true).unwrap_err().replacement.as_deref(),
            Some("x")
        );
        assert!(entry("a\u{7}b", true).is_err());
        assert!(executable("a/b").is_err());
    }

    #[test]
    fn references() {
        for (text, plain, parent) in [
            ("a", true, true),
            ("a:b:c", true, true),
            ("builtin:x", false, true),
            ("builtin:x@1", false, true),
            ("builtin:x@", false, false),
            ("builtin:@1", false, false),
            ("a@1", false, false),
            ("a:", false, false),
            (":a", false, false),
            ("a b", false, false),
            ("", false, false),
        ] {
            assert_eq!(reference(text, false).is_ok(), plain, "{text}");
            assert_eq!(reference(text, true).is_ok(), parent, "{text}");
        }
    }

    #[test]
    fn other_names() {
        assert!(environment("A=B").is_err() && environment("A.B").is_ok());
        assert_eq!(
            tool_name("my tool").unwrap_err().replacement.as_deref(),
            Some("my_tool")
        );
        assert!(
            namespace("a:b").is_err() && namespace("builtin").is_err() && namespace("ok").is_ok()
        );
        assert!(function("on_event").is_ok() && function("9").is_err());
    }
}
