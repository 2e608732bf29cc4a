//! Where an attribute value ends (spec 01 sections 2.4 and 16.2).

use memchr::{memchr2, memchr3};

use crate::Tag;
use crate::lexer::{is_space, is_unquoted};
use crate::tree::Quote;

/// Longest name that can be one of the vocabulary.
const MAX_NAME_BYTES: usize = 128;

/// Whether shell names count as recognised for the multi-line rule of section 2.4: inside a shell
/// element, and in a start tag that is a scope root by what was read of it so far.
pub(crate) struct Scope {
    pub shell: bool,
    tool: bool,
    attribute: ToolAttribute,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolAttribute {
    Type,
    Name,
    Other,
}

impl Scope {
    pub(crate) fn new(tag: Option<Tag>) -> Self {
        let shell = tag.is_some_and(|tag| tag.is_shell() || tag == Tag::ShellAccess);
        Self {
            shell,
            tool: tag == Some(Tag::Tool),
            attribute: ToolAttribute::Other,
        }
    }

    pub(crate) fn name(&mut self, name: &str) {
        if self.tool {
            self.shell |= name == "runtime";
            self.attribute = match name {
                "type" => ToolAttribute::Type,
                "name" => ToolAttribute::Name,
                _ => ToolAttribute::Other,
            };
        }
    }

    pub(crate) fn value(&mut self, value: &str) {
        self.shell |= match self.attribute {
            ToolAttribute::Type => value == "shell",
            ToolAttribute::Name => matches!(value, "read_file" | "get_contents"),
            ToolAttribute::Other => false,
        };
    }
}

/// The extent of a quoted value.
pub(crate) struct Quoted {
    /// Where the closing quote stands, or where recovery ended the value.
    pub content_end: usize,
    /// Behind the closing quote.
    pub end: usize,
    pub terminated: bool,
}

/// The quoted value whose content starts at `from` (spec 01 sections 2.4 and 16.2).
pub(crate) fn quoted(bytes: &[u8], from: usize, quote: Quote, shell: bool) -> Quoted {
    let mark = if quote == Quote::Double { b'"' } else { b'\'' };
    let mut at = from;
    let mut several_lines = false;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let found = if several_lines {
            memchr2(mark, b'<', rest)
        } else {
            memchr3(mark, b'\n', b'\r', rest)
        };
        let Some(length) = found else { break };
        at += length;
        match bytes.get(at) {
            Some(b'\n' | b'\r') => several_lines = true,
            Some(b'<') if starts_recognised_tag(bytes.get(at + 1..).unwrap_or_default(), shell) => {
                break;
            }
            Some(byte) if *byte == mark && !escaped(bytes, from, at) => {
                if let Some(end) = missing_quote(bytes, from, at) {
                    return Quoted {
                        content_end: end,
                        end,
                        terminated: false,
                    };
                }
                return Quoted {
                    content_end: at,
                    end: at + 1,
                    terminated: true,
                };
            }
            _ => {}
        }
        at += 1;
    }
    let end = recovered_end(bytes, from);
    Quoted {
        content_end: end,
        end,
        terminated: false,
    }
}

/// Where a value ends whose "closing" quote at `at` opens the value of the next attribute, as in
/// `id="main kind="worker"`: its text ends with a name and `=`, and a value follows directly. Read
/// as they stand, the quotes would pair wrongly up to the end of the tag.
fn missing_quote(bytes: &[u8], from: usize, at: usize) -> Option<usize> {
    let next = *bytes.get(at + 1)?;
    if is_space(next) || matches!(next, b'>' | b'/' | b'=' | b'<') {
        return None;
    }
    let text = bytes.get(from..at)?.strip_suffix(b"=")?;
    let name = text
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .take(MAX_NAME_BYTES)
        .count();
    let before = text.get(..text.len() - name)?;
    if name == 0 || !before.last().is_some_and(|byte| is_space(*byte)) {
        return None;
    }
    let spaces = before.iter().rev().take_while(|byte| is_space(**byte));
    let value = before.len() - spaces.count();
    Some(recovered_end(bytes, from).min(from + value))
}

/// Whether an odd run of backslashes stands directly before `at`.
fn escaped(bytes: &[u8], from: usize, at: usize) -> bool {
    let before = bytes.get(from..at).unwrap_or_default();
    before
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count()
        % 2
        == 1
}

/// Whether `<` followed by `rest` begins a start or end tag of a recognised name.
fn starts_recognised_tag(rest: &[u8], shell: bool) -> bool {
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let (name, after) = rest.split_at(length.min(MAX_NAME_BYTES));
    let known = std::str::from_utf8(name).ok().and_then(Tag::from_name);
    let ends = match after {
        [b'>', ..] | [b'/', b'>', ..] => true,
        [byte, ..] => is_space(*byte),
        [] => false,
    };
    ends && known.is_some_and(|tag| shell || !tag.is_shell())
}

/// Where an unterminated value ends: before the first `/>`, `>` or line end.
fn recovered_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    match memchr3(b'>', b'\n', b'\r', rest) {
        Some(0) => from,
        Some(length) => {
            let slash = rest.get(length) == Some(&b'>') && rest.get(length - 1) == Some(&b'/');
            from + length - usize::from(slash)
        }
        None => bytes.len(),
    }
}

/// End of the unquoted value that starts at `from`.
pub(crate) fn unquoted(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let length = rest
        .iter()
        .enumerate()
        .position(|(at, byte)| {
            !is_unquoted(*byte) || (*byte == b'/' && rest.get(at + 1) == Some(&b'>'))
        })
        .unwrap_or(rest.len());
    from + length
}
