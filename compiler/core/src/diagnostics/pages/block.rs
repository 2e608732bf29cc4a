//! One fenced block: the bytes of a file and what is expected of it.

use std::ops::Range;

use super::suite::{SuiteError, error, is_code};
use crate::diagnostics::Severity;

/// A file of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path relative to the directory of the case.
    pub name: String,
    /// The name as written, which may stand for many files.
    pub written_name: String,
    /// Exact content, without marks.
    pub bytes: Vec<u8>,
    /// What is expected to be found in it.
    pub expectations: Vec<Expectation>,
    /// The lines of the block, each with the code of its mark if it is one.
    lines: Vec<(String, Option<String>)>,
}

/// Where a finding is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// Exactly these columns of a line; both 1-based, the end behind the last character.
    Columns(u32, Range<u32>),
    /// Somewhere on a line.
    Line(u32),
    /// Anywhere in the case.
    Anywhere,
}

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// 1-based line of the mark in the Markdown file.
    pub mark: u32,
    /// The code.
    pub code: String,
    /// Its severity; `None` for a related place.
    pub severity: Option<Severity>,
    /// Whether a related place of a finding is meant, not the finding itself.
    pub related: bool,
    /// The place.
    pub place: Where,
    /// Part of message, label or help; empty when nothing is asked of them.
    pub fragment: String,
}

/// Form of the written file.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) line_end: &'static str,
    /// No line end behind the last line.
    pub(super) open_end: bool,
    /// Numbers of the copies to make.
    pub(super) copies: Range<u32>,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            line_end: "\n",
            open_end: false,
            copies: 0..1,
        }
    }
}

impl File {
    /// The block with the marks of one code, or with none.
    pub(super) fn display(&self, code: Option<&str>) -> String {
        let shown = self.lines.iter().filter(|(_, mark)| match mark {
            None => true,
            Some(mark) => code == Some(mark),
        });
        shown.map(|(line, _)| format!("{line}\n")).collect()
    }
}

/// The files of a block: one, or one for each number of `for`.
pub(super) fn files(
    name: &str,
    form: &Form,
    body: &[(&str, u32)],
) -> Result<Vec<File>, SuiteError> {
    let numbers = form.copies.clone();
    numbers.map(|n| file(name, n, form, body)).collect()
}

fn file(name: &str, number: u32, form: &Form, body: &[(&str, u32)]) -> Result<File, SuiteError> {
    let mut file = File {
        name: with_number(name, number),
        written_name: name.to_owned(),
        bytes: Vec::new(),
        expectations: Vec::new(),
        lines: Vec::new(),
    };
    let mut count = 0;
    let mut columns = Vec::new();
    for (written, line) in body {
        if let Some(mut mark) = mark(written, *line)? {
            if let Where::Columns(at, range) = &mut mark.place {
                *at = count;
                let start = actual(&columns, range.start);
                *range = start..actual(&columns, range.end).max(start);
            }
            if let Where::Line(at) = &mut mark.place {
                *at = count;
            }
            file.lines
                .push(((*written).to_owned(), Some(mark.code.clone())));
            file.expectations.push(mark);
            continue;
        }
        if count > 0 {
            file.bytes.extend(form.line_end.as_bytes());
        }
        count += 1;
        let first = file.bytes.is_empty();
        columns = append(&with_number(written, number), first, *line, &mut file.bytes)?;
        file.lines.push(((*written).to_owned(), None));
    }
    if count > 0 && !form.open_end {
        file.bytes.extend(form.line_end.as_bytes());
    }
    Ok(file)
}

/// Appends a line and gives, for each written column and the one behind the last, the column that
/// it has in the file; all 1-based.
fn append(
    written: &str,
    first: bool,
    line: u32,
    bytes: &mut Vec<u8>,
) -> Result<Vec<u32>, SuiteError> {
    let mut columns = Vec::new();
    let mut column = 1;
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        let inserted = rest
            .strip_prefix('⟦')
            .and_then(|inside| inside.split_once('⟧'));
        let Some((inside, behind)) = inserted else {
            columns.push(column);
            column += 1;
            let (character, behind) = rest.split_at(c.len_utf8());
            bytes.extend(character.as_bytes());
            rest = behind;
            continue;
        };
        let part =
            insertion(inside).ok_or_else(|| error(line, "`⟦…⟧` holds no bytes and no text"))?;
        columns.resize(columns.len() + inside.chars().count() + 2, column);
        let is_mark = first && columns.len() == inside.len() + 2 && part == "\u{feff}".as_bytes();
        column += if is_mark { 0 } else { width(&part) };
        bytes.extend(&part);
        rest = behind;
    }
    columns.push(column);
    Ok(columns)
}

/// `"text" × 300`, or bytes in hexadecimal.
fn insertion(inside: &str) -> Option<Vec<u8>> {
    const MOST: usize = 80 << 20;
    if let Some((text, count)) = inside.rsplit_once('×') {
        let text = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        let count: usize = count.trim().replace(',', "").parse().ok()?;
        let small = text.len().checked_mul(count)? <= MOST;
        return small.then(|| text.repeat(count).into_bytes());
    }
    let bytes = inside.split_whitespace();
    bytes
        .map(|byte| u8::from_str_radix(byte, 16).ok())
        .collect()
}

/// Characters of a text in which each run of bytes that are not UTF-8 counts as one.
fn width(bytes: &[u8]) -> u32 {
    let mut width = 0;
    let mut in_run = false;
    for chunk in bytes.utf8_chunks() {
        width += chunk.valid().chars().count();
        in_run &= chunk.valid().is_empty();
        if !chunk.invalid().is_empty() {
            width += usize::from(!in_run);
            in_run = true;
        }
    }
    width as u32
}

fn with_number(text: &str, number: u32) -> String {
    text.replace("⟦n⟧", &number.to_string())
        .replace("⟦n+1⟧", &(number + 1).to_string())
}

fn actual(columns: &[u32], written: u32) -> u32 {
    let last = columns.last().copied().unwrap_or(1);
    let index = written.saturating_sub(1) as usize;
    // Carets may reach past the end of a line only to its end.
    columns.get(index).copied().unwrap_or(last)
}

/// Reads a line as a mark. Lines and columns are still those of the Markdown file.
fn mark(written: &str, line: u32) -> Result<Option<Expectation>, SuiteError> {
    let text = written.trim_start_matches(' ');
    let Some(pointer) = text
        .chars()
        .next()
        .filter(|c| matches!(c, '^' | '-' | '~' | '='))
    else {
        return Ok(None);
    };
    let behind = text.trim_start_matches(pointer);
    let Some(words) = behind.strip_prefix(' ') else {
        return Ok(None);
    };
    let Some((kind, rest)) = words.split_once(' ') else {
        return Ok(None);
    };
    let severity = match kind {
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "note" => Some(Severity::Note),
        "related" => None,
        _ => return Ok(None),
    };
    let (code, fragment) = rest.split_once(": ").unwrap_or((rest, ""));
    if !is_code(code) {
        return Err(error(line, "a mark without a code"));
    }
    let related = severity.is_none();
    if pointer != '~' && related != (pointer == '-') {
        return Err(error(
            line,
            "`related` is for dashes, and dashes are for it",
        ));
    }
    let start = (written.len() - text.len()) as u32 + 1;
    let width = (text.len() - behind.len()) as u32;
    let place = match pointer {
        '~' => Where::Line(0),
        '=' => Where::Anywhere,
        _ => Where::Columns(0, start..start + width),
    };
    Ok(Some(Expectation {
        mark: line,
        code: code.to_owned(),
        severity,
        related,
        place,
        fragment: fragment.trim().to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn one(body: &str) -> File {
        let lines: Vec<_> = body.lines().zip(1..).collect();
        files("a.chatmd", &Form::default(), &lines)
            .unwrap()
            .remove(0)
    }

    #[test]
    fn marks_vanish_and_keep_their_columns() {
        let file = one("<a b/>\n   ^ error x.y: text\n ^ note x.z\n<c/>\n ~ warning x.w");
        assert_eq!(file.bytes, b"<a b/>\n<c/>\n");
        let places: Vec<_> = file.expectations.iter().map(|e| e.place.clone()).collect();
        assert_eq!(
            places,
            [
                Where::Columns(1, 4..5),
                Where::Columns(1, 2..3),
                Where::Line(2)
            ]
        );
        assert_eq!(file.expectations.first().unwrap().fragment, "text");
    }

    #[test]
    fn insertions_count_as_what_they_stand_for() {
        let file = one(
            "a⟦FF⟧b⟦\"xy\" × 3⟧!\n ^^^^ error x.y\n     ^ error x.z\n                ^ error x.w",
        );
        assert_eq!(file.bytes, b"a\xffbxyxyxy!\n");
        let places: Vec<_> = file.expectations.iter().map(|e| e.place.clone()).collect();
        assert_eq!(
            places,
            [
                Where::Columns(1, 2..3),
                Where::Columns(1, 3..4),
                Where::Columns(1, 10..11)
            ]
        );
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let file = one("⟦EF BB BF⟧<a/>\n          ^^^^ error x.y");
        let place = &file.expectations.first().unwrap().place;
        assert_eq!(*place, Where::Columns(1, 1..5));
    }

    #[test]
    fn prose_is_no_mark() {
        for line in ["^^^ text", "--- x", "~~~", "= = =", "- error of mine"] {
            let result = mark(line, 1);
            assert!(!matches!(result, Ok(Some(_))), "{line}: {result:?}");
        }
    }
}
