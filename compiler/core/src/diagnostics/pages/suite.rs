//! Suites: Markdown files of `corpus/spec` whose fenced blocks are documents with expectations
//! written below the lines they speak of. `corpus/spec/README.md` describes the notation.

use super::block::{self, File};
use crate::diagnostics::Severity;

/// A suite that is not written as its notation asks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct SuiteError {
    /// 1-based line of the Markdown file.
    pub line: u32,
    /// What is wrong.
    pub reason: String,
}

/// One Markdown file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Codes whose unmarked findings do not count.
    pub ignored: Vec<String>,
    /// The headings with what stands below them.
    pub sections: Vec<Section>,
}

/// A heading and the cases up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Text of the heading.
    pub heading: String,
    /// Codes that the heading names in backquotes: the cases show them firing and silent.
    pub codes: Vec<String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// 1-based line of its first fence.
    pub line: u32,
    /// Word of the target platform.
    pub platform: String,
    /// Feature ids that the compiler is told it lacks.
    pub without: Vec<String>,
    /// Codes whose unmarked findings do not count.
    pub ignored: Vec<String>,
    /// Whether the findings of the authority summary are expected too.
    pub authority: bool,
    /// Root first.
    pub files: Vec<File>,
}

impl Case {
    /// Whether a finding of that code is expected.
    pub fn fires(&self, code: &str) -> bool {
        let mut expectations = self.files.iter().flat_map(|file| &file.expectations);
        expectations.any(|expected| !expected.related && expected.code == code)
    }

    /// Whether the case compiles: no error is expected.
    pub fn compiles(&self) -> bool {
        let mut expectations = self.files.iter().flat_map(|file| &file.expectations);
        expectations.all(|expected| expected.severity != Some(Severity::Error))
    }

    /// The files as a person reads them. Several are joined with `-- NAME --` lines.
    ///
    /// With `code`, the marks of that code stay in place.
    pub fn display(&self, code: Option<&str>) -> String {
        let mut text = String::new();
        for file in &self.files {
            if self.files.len() > 1 {
                text += &format!("-- {} --\n", file.written_name);
            }
            text += &file.display(code);
        }
        text
    }
}

/// The words behind the fence of a block.
#[derive(Default)]
struct Options {
    language: String,
    file: Option<String>,
    platform: Option<String>,
    without: Vec<String>,
    ignored: Vec<String>,
    authority: bool,
    form: block::Form,
}

/// Reads a suite.
///
/// # Errors
/// The first line that does not fit the notation.
pub fn parse(markdown: &str) -> Result<Suite, SuiteError> {
    let mut suite = Suite {
        ignored: Vec::new(),
        sections: Vec::new(),
    };
    let mut lines = markdown.lines().zip(1_u32..);
    while let Some((text, line)) = lines.next() {
        if let Some(heading) = text.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim().to_owned();
            suite.sections.push(Section {
                codes: quoted(&heading).filter(|word| is_code(word)).collect(),
                heading,
                cases: Vec::new(),
            });
        } else if text.starts_with("Unmarked findings of") {
            suite.ignored.extend(quoted(text));
        } else if let Some(words) = text.strip_prefix("```") {
            let options = options(words, line)?;
            let mut body = Vec::new();
            loop {
                match lines.next() {
                    Some(("```", _)) => break,
                    Some(inside) => body.push(inside),
                    None => return Err(error(line, "the block has no end")),
                }
            }
            add_block(&mut suite, options, line, &body)?;
        }
    }
    Ok(suite)
}

fn add_block(
    suite: &mut Suite,
    options: Options,
    line: u32,
    body: &[(&str, u32)],
) -> Result<(), SuiteError> {
    if options.language != "chatmd" && options.file.is_none() {
        return Ok(());
    }
    let Some(section) = suite.sections.last_mut() else {
        return Err(error(line, "a block before the first heading"));
    };
    match options.file {
        Some(name) => {
            let Some(case) = section.cases.last_mut() else {
                return Err(error(line, "a further file before the root of its case"));
            };
            case.files.extend(block::files(&name, &options.form, body)?);
        }
        None => section.cases.push(Case {
            line,
            platform: options.platform.unwrap_or_else(|| "linux".to_owned()),
            without: options.without,
            ignored: options.ignored,
            authority: options.authority,
            files: block::files("agent.chatmd", &options.form, body)?,
        }),
    }
    Ok(())
}

fn options(words: &str, line: u32) -> Result<Options, SuiteError> {
    let mut options = Options::default();
    for (index, word) in words.split_whitespace().enumerate() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            _ if index == 0 && value.is_empty() => options.language = word.to_owned(),
            "file" => options.file = Some(value.to_owned()),
            "platform" => options.platform = Some(value.to_owned()),
            "without" => options.without.push(value.to_owned()),
            "ignore" => options.ignored.push(value.to_owned()),
            "authority" => options.authority = true,
            "eol" => {
                options.form.line_end = match value {
                    "crlf" => "\r\n",
                    "cr" => "\r",
                    _ => return Err(error(line, "`eol` is `crlf` or `cr`")),
                }
            }
            "open" => options.form.open_end = true,
            "for" => options.form.copies = range(value).ok_or_else(|| error(line, "`for=A..B`"))?,
            _ => return Err(error(line, &format!("unknown word `{name}`"))),
        }
    }
    Ok(options)
}

/// `A..B`, B not included; at most 2,000 copies.
fn range(text: &str) -> Option<std::ops::Range<u32>> {
    let (start, end) = text.split_once("..")?;
    let range = start.parse().ok()?..end.parse().ok()?;
    (range.len() <= 2_000 && !range.is_empty()).then_some(range)
}

/// The words between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// Whether a word has the form of a code.
pub(super) fn is_code(word: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    word.contains('.') && word.split('.').all(part)
}

pub(super) fn error(line: u32, reason: &str) -> SuiteError {
    SuiteError {
        line,
        reason: reason.to_owned(),
    }
}
