//! Path expressions (spec 02 section 3).

use super::{Fault, Parsed, Value};
use crate::decl::PathExpr;
use crate::diagnostics::{nearest, quote};
use crate::manifest::PathBase;

/// The seven variables and what they denote.
const VARIABLES: &[(&str, PathBase)] = &[
    ("prompt_dir", PathBase::PromptDir),
    ("source_dir", PathBase::SourceDir),
    ("tool_dir", PathBase::ToolDir),
    ("workspace", PathBase::Workspace),
    ("cache_dir", PathBase::CacheDir),
    ("home", PathBase::Home),
    ("session_dir", PathBase::SessionDir),
];

/// Longest path value in bytes.
const MOST: usize = 4096;

/// The base that a variable name denotes.
pub(in crate::lower) fn base_of(name: &str) -> Option<PathBase> {
    VARIABLES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, base)| *base)
}

fn list() -> String {
    let names: Vec<String> = VARIABLES
        .iter()
        .map(|(name, _)| format!("`${{{name}}}`"))
        .collect();
    format!("the path variables are {}", names.join(", "))
}

/// Reads a path expression that stands outside an attribute, in an option of a test.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub(crate) fn path_expression(text: &str) -> Result<PathExpr, String> {
    match read(text, PathBase::SourceDir) {
        Ok((Value::Path(path), _)) => Ok(path),
        Ok(_) => Err("this is no path".to_owned()),
        Err(fault) => Err(fault.message),
    }
}

/// Reads a path expression; a relative literal is taken below `relative`.
pub(super) fn read(text: &str, relative: PathBase) -> Parsed {
    if text.is_empty() {
        return Err(Fault::new("a path must not be empty"));
    }
    if text.len() > MOST {
        return Err(Fault::new(format!(
            "the path is {} bytes long; at most {MOST} are permitted",
            text.len()
        )));
    }
    let (base, rest, offset, literal) = if text.starts_with("${") {
        let (base, offset) = leading_variable(text)?;
        (base, text.get(offset..).unwrap_or_default(), offset, false)
    } else if text.starts_with('/') {
        (PathBase::Absolute, text, 0, false)
    } else {
        (relative, text, 0, true)
    };
    let rest = unescape(rest, offset)?;
    let path = normalise(&rest, base == PathBase::Absolute);
    let mut warnings = Vec::new();
    if base != PathBase::Absolute && climbs(&path) {
        warnings.push(
            Fault::new(format!(
                "{} climbs above the place where it starts",
                quote(text)
            ))
            .code("shell.path_escapes_base")
            .hint("name the intended directory by a variable or an absolute path"),
        );
    }
    Ok((
        Value::Path(PathExpr {
            base,
            path,
            relative_literal: literal,
        }),
        warnings,
    ))
}

/// The variable at the start of `text` and the offset behind it.
fn leading_variable(text: &str) -> Result<(PathBase, usize), Fault> {
    let Some(close) = text.find('}') else {
        return Err(Fault::new("the variable is not closed by `}`")
            .at(0..text.len())
            .hint("write a variable such as `${workspace}`; a literal `$` is written `$$`"));
    };
    let name = text.get(2..close).unwrap_or_default();
    let Some(base) = base_of(name) else {
        let fault = Fault::new(format!(
            "there is no path variable {}",
            quote(text.get(..=close).unwrap_or(text))
        ))
        .at(0..close + 1);
        return Err(match name.strip_prefix("env:") {
            Some(_) => fault.hint(
                "environment variables do not expand in paths; use `path_env` on a root, or `<pass>` and `<set>` below `<environment>`",
            ),
            None => match nearest(name, VARIABLES.iter().map(|(known, _)| *known)) {
                Some(meant) => fault
                    .hint(format!("did you mean `${{{meant}}}`? {}", list()))
                    .replace(format!("${{{meant}}}")),
                None => fault.hint(list()),
            },
        });
    };
    match text.as_bytes().get(close + 1) {
        None | Some(b'/') => Ok((base, close + 1)),
        Some(_) => Err(
            Fault::new("a path variable must be followed by `/` or stand alone")
                .at(close + 1..text.len())
                .hint(format!(
                    "write `{}/…`",
                    text.get(..=close).unwrap_or_default()
                )),
        ),
    }
}

/// Replaces `$$` by `$` and refuses `${`.
fn unescape(text: &str, offset: usize) -> Result<String, Fault> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push('$');
        rest = if let Some(tail) = tail.strip_prefix("$$") {
            tail
        } else if tail.starts_with("${") {
            let start = offset + text.len() - tail.len();
            let end = tail.find('}').map_or(tail.len(), |close| close + 1);
            return Err(
                Fault::new("a variable is only possible at the start of a path")
                    .at(start..start + end)
                    .hint("split the path differently; a literal `$` is written `$$`"),
            );
        } else {
            tail.get(1..).unwrap_or_default()
        };
    }
    out.push_str(rest);
    Ok(out)
}

/// Drops `.`, repeated and trailing `/`; keeps `..`.
fn normalise(text: &str, absolute: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for part in text
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        if absolute || !out.is_empty() {
            out.push('/');
        }
        out.push_str(part);
    }
    if absolute && out.is_empty() {
        out.push('/');
    }
    out
}

fn climbs(path: &str) -> bool {
    let mut depth = 0usize;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if part == ".." {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            }
        } else {
            depth += 1;
        }
    }
    false
}

/// Relative suffix of a `path_env` entry, without a trailing `/`.
pub(super) fn suffix(text: &str) -> Result<Value, Fault> {
    if text.starts_with('/') {
        return Err(Fault::new("a suffix is relative and must not start with `/`").at(0..1));
    }
    let mut at = 0;
    for part in text.split('/') {
        if part == ".." {
            return Err(Fault::new("a suffix must not climb with `..`").at(at..at + 2));
        }
        at += part.len() + 1;
    }
    if text.len() > MOST {
        return Err(Fault::new(format!(
            "the suffix is longer than {MOST} bytes"
        )));
    }
    Ok(Value::Text(text.trim_end_matches('/').to_owned()))
}

/// Name of a variable without `${}`.
pub(super) fn variable(text: &str) -> Result<Value, Fault> {
    match VARIABLES.iter().find(|(name, _)| *name == text) {
        Some((name, _)) => Ok(Value::Word(name)),
        None => {
            let bare = text
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'))
                .unwrap_or(text);
            let fault = Fault::new(format!(
                "{} is not the name of a path variable",
                quote(text)
            ));
            Err(
                match nearest(bare, VARIABLES.iter().map(|(name, _)| *name)) {
                    Some(meant) => fault
                        .hint(format!("write `{meant}`, without `${{}}`"))
                        .replace(meant),
                    None => fault.hint(list()),
                },
            )
        }
    }
}

/// Warnings about path variables in text that is not expanded.
pub(super) fn unexpanded(text: &str) -> Vec<Fault> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("${") {
        let Some(tail) = text.get(at + 2..) else {
            continue;
        };
        let Some((name, _)) = VARIABLES.iter().find(|(name, _)| {
            tail.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('}'))
        }) else {
            continue;
        };
        found.push(
            Fault::new(format!("`${{{name}}}` is not expanded in literal text"))
                .code("shell.unexpanded_variable")
                .at(at..at + name.len() + 3)
                .hint("use an attribute of type path, such as `<path_arg path=\"…\"/>`"),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn parsed(text: &str) -> (PathBase, String, usize) {
        match read(text, PathBase::SourceDir).unwrap() {
            (Value::Path(path), warnings) => (path.base, path.path, warnings.len()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn normal_forms() {
        use PathBase::{Absolute, Home, SourceDir, Workspace};
        let table: &[(&str, PathBase, &str, usize)] = &[
            ("/", Absolute, "/", 0),
            ("//a//b/./c/", Absolute, "/a/b/c", 0),
            ("/a/../../b", Absolute, "/a/../../b", 0),
            ("${workspace}", Workspace, "", 0),
            ("${workspace}/", Workspace, "", 0),
            ("${home}//x/./y/", Home, "x/y", 0),
            ("${home}/../x", Home, "../x", 1),
            ("a/../..", SourceDir, "a/../..", 1),
            ("a/..", SourceDir, "a/..", 0),
            (".", SourceDir, "", 0),
            ("$$x", SourceDir, "$x", 0),
            ("$${x", SourceDir, "${x", 0),
            ("$$$${x", SourceDir, "$${x", 0),
            ("a$b", SourceDir, "a$b", 0),
            ("~/x", SourceDir, "~/x", 0),
        ];
        for (text, base, path, warnings) in table {
            assert_eq!(
                parsed(text),
                (*base, (*path).to_owned(), *warnings),
                "{text}"
            );
        }
    }

    #[test]
    fn refusals_point_at_the_characters() {
        let table: &[(&str, Option<core::ops::Range<usize>>)] = &[
            ("", None),
            ("${", Some(0..2)),
            ("${wrkspace}/x", Some(0..11)),
            ("${env:HOME}/x", Some(0..11)),
            ("${home}x", Some(7..8)),
            ("a/${home}/b", Some(2..9)),
            ("${home}/${home}", Some(8..15)),
            ("$$${x", Some(2..5)),
        ];
        for (text, range) in table {
            assert_eq!(
                read(text, PathBase::SourceDir).unwrap_err().range,
                *range,
                "{text}"
            );
        }
        let fault = read("${wrkspace}/x", PathBase::SourceDir).unwrap_err();
        assert_eq!(fault.replacement.as_deref(), Some("${workspace}"));
        assert!(
            read("${env:HOME}", PathBase::SourceDir)
                .unwrap_err()
                .hint
                .unwrap()
                .contains("path_env")
        );
        assert!(read(&"x".repeat(4097), PathBase::SourceDir).is_err());
    }

    #[test]
    fn suffixes_and_literals() {
        assert_eq!(suffix("bin/").unwrap(), Value::Text("bin".into()));
        assert!(suffix("/bin").is_err());
        assert_eq!(suffix("a/../b").unwrap_err().range, Some(2..4));
        assert_eq!(unexpanded("x${home}y${nope}").len(), 1);
        assert_eq!(
            variable("${home}").unwrap_err().replacement.as_deref(),
            Some("home")
        );
    }
}
