//! Lists: comma separated, or a JSON array of strings.

use super::{Fault, Value, one_of};
use crate::diagnostics::{nearest, quote};

/// Most items of a list.
const MOST: usize = 256;
/// Longest argument that a host accepts.
const LONGEST: usize = 131_071;

/// Items of a comma list with their byte ranges, whitespace around them dropped.
pub(in crate::lower) fn items(text: &str) -> impl Iterator<Item = (core::ops::Range<usize>, &str)> {
    let mut start = 0;
    text.split(',').map(move |part| {
        let lead = part.len() - part.trim_start().len();
        let item = part.trim();
        let at = start + lead;
        start += part.len() + 1;
        (at..at + item.len(), item)
    })
}

/// Distinct words of a closed set.
pub(super) fn words(text: &str, permitted: &'static [&'static str]) -> Result<Value, Fault> {
    let mut out: Vec<&'static str> = Vec::new();
    for (position, (range, item)) in items(text).enumerate() {
        if position >= MOST {
            return Err(Fault::new(format!("the list has more than {MOST} items")));
        }
        if item.is_empty() {
            return Err(
                Fault::new(format!("item {} of the list is empty", position + 1))
                    .at(range)
                    .hint("remove the extra comma"),
            );
        }
        let Some(word) = permitted.iter().find(|word| **word == item) else {
            let fault = Fault::new(format!(
                "{} is not permitted here; expected {}",
                quote(item),
                one_of(permitted)
            ))
            .code("shell.invalid_attribute")
            .at(range);
            return Err(match nearest(item, permitted.iter().copied()) {
                Some(meant) => fault
                    .hint(format!("did you mean `{meant}`?"))
                    .replace(meant),
                None => fault,
            });
        };
        if out.contains(word) {
            return Err(Fault::new(format!("`{word}` is listed twice"))
                .at(range)
                .hint("keep one"));
        }
        out.push(word);
    }
    Ok(Value::Words(out))
}

/// Program and first arguments of a command.
pub(super) fn argv_prefix(text: &str) -> Result<Value, Fault> {
    let parsed: Vec<String> = match serde_json::from_str::<Vec<String>>(text) {
        Ok(list) => list,
        Err(_) => {
            let mut list = Vec::new();
            for (position, (range, item)) in items(text).enumerate() {
                if item.is_empty() && position > 0 {
                    return Err(Fault::new(format!("item {} of the list is empty", position + 1))
                        .code("shell.invalid_list")
                        .at(range)
                        .hint("remove the extra comma, or write a JSON array to state an empty argument"));
                }
                list.push(item.to_owned());
                if list.len() > MOST {
                    break;
                }
            }
            list
        }
    };
    if parsed.len() > MOST {
        return Err(
            Fault::new(format!("the list has more than {MOST} items")).code("shell.invalid_list")
        );
    }
    if parsed.first().is_none_or(String::is_empty) {
        return Err(Fault::new("the list must start with the program")
            .hint("write at least the program, for example `git,status`"));
    }
    Ok(Value::Items(parsed))
}

/// JSON array of strings that can be arguments.
pub(super) fn json(text: &str) -> Result<Value, Fault> {
    let hint = "write a JSON array of strings in single quotes, for example '[\"--fast\"]'";
    let list = serde_json::from_str::<Vec<String>>(text).map_err(|_| {
        Fault::new(format!("{} is not a JSON array of strings", quote(text))).hint(hint)
    })?;
    if list.len() > MOST {
        return Err(Fault::new(format!("the array has more than {MOST} items")));
    }
    if let Some(bad) = list
        .iter()
        .position(|item| item.len() > LONGEST || item.contains('\0'))
    {
        return Err(Fault::new(format!(
            "item {} of the array cannot be an argument: it is too long or contains NUL",
            bad + 1
        )));
    }
    Ok(Value::Items(list))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn prefixes() {
        let ok = |text: &str| match argv_prefix(text).unwrap() {
            Value::Items(items) => items,
            other => panic!("{other:?}"),
        };
        assert_eq!(ok("git, status ,--short"), ["git", "status", "--short"]);
        assert_eq!(ok("[\"a, b\",\"c d\",\"\"]"), ["a, b", "c d", ""]);
        for (text, code) in [
            (",x", None),
            ("[]", None),
            ("[\"\"]", None),
            ("a,,b", Some("shell.invalid_list")),
            ("a,", Some("shell.invalid_list")),
        ] {
            assert_eq!(argv_prefix(text).unwrap_err().code, code, "{text}");
        }
        assert!(argv_prefix(&"a,".repeat(1000)).is_err());
    }

    #[test]
    fn word_lists() {
        let set: &'static [&'static str] = &["once", "exact_session"];
        assert_eq!(
            words(" exact_session , once", set).unwrap(),
            Value::Words(vec!["exact_session", "once"])
        );
        assert_eq!(words("once,once", set).unwrap_err().range, Some(5..9));
        assert_eq!(words("once,", set).unwrap_err().range, Some(5..5));
        let fault = words("once, exact_sesion", set).unwrap_err();
        assert_eq!(
            (fault.code, fault.range, fault.replacement.as_deref()),
            (
                Some("shell.invalid_attribute"),
                Some(6..18),
                Some("exact_session")
            )
        );
    }

    #[test]
    fn json_arrays() {
        assert!(json("[\"a\"]").is_ok() && json("[]").is_ok());
        assert!(json("a").is_err() && json("[1]").is_err() && json("[\"\\u0000\"]").is_err());
    }
}
