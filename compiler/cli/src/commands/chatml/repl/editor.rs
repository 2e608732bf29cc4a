//! The session on a terminal: line editing, history, completion, colours.

use std::borrow::Cow;
use std::ops::Range;

use chatml::lex::{TokenKind, lex};
use chatml::session::{Candidate, Session};
use rustyline::completion::{Candidate as Listed, Completer};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};

use super::{Next, answer, ends, history, meta};
use crate::commands::complain;
use crate::exit;
use crate::output::Output;

/// What reading from a terminal that is gone gives.
const EIO: i32 = 5;
/// Longest input that is coloured while it is typed, in bytes.
const MAX_COLOURED: usize = 16 * 1024;

/// Reads and answers inputs until the person ends the session.
pub fn run(session: Session, output: &mut Output) -> u8 {
    let mut editor = match editor(session, output.color) {
        Ok(editor) => editor,
        Err(error) => {
            complain(output, &format!("the terminal can not be used: {error}"));
            return exit::IO;
        }
    };
    let history = history::file();
    if let Some(file) = history.as_deref().filter(|file| file.exists())
        && let Err(error) = editor.load_history(file)
    {
        complain(output, &format!("the history can not be read: {error}"));
    }
    greet(&editor, output);
    let code = loop_over(&mut editor, output);
    if let Some(file) = &history
        && let Err(error) = save(&mut editor, file)
    {
        complain(output, &format!("the history can not be kept: {error}"));
    }
    code
}

fn save(
    editor: &mut Editor<Assistant, DefaultHistory>,
    file: &std::path::Path,
) -> rustyline::Result<()> {
    history::prepare(file)?;
    editor.append_history(file)
}

fn greet(editor: &Editor<Assistant, DefaultHistory>, output: &mut Output) {
    let version = env!("CARGO_PKG_VERSION");
    let kind = editor.helper().map(|helper| helper.session.kind());
    let kind = kind.map_or("", chatml::surface::Kind::as_str);
    output.result(format!(
        "ChatML {version}, surface {kind}. `:help` lists the commands, Ctrl-D ends.\n"
    ));
}

fn editor(session: Session, color: bool) -> rustyline::Result<Editor<Assistant, DefaultHistory>> {
    let config = Config::builder()
        .max_history_size(history::MAX_ENTRIES)?
        .history_ignore_dups(true)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .color_mode(if color {
            ColorMode::Forced
        } else {
            ColorMode::Disabled
        })
        .tab_stop(2)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant { session, color }));
    Ok(editor)
}

fn loop_over(editor: &mut Editor<Assistant, DefaultHistory>, output: &mut Output) -> u8 {
    let mut number = 1;
    loop {
        output.flush();
        if output.has_failed() {
            return exit::OK;
        }
        let prompt = format!("{number}> ");
        let styled = format!("\u{1b}[1;32m{prompt}\u{1b}[0m");
        let input = match editor.readline(&(prompt, styled)) {
            Ok(input) => input,
            // What is typed so far is dropped.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return exit::OK,
            // The terminal went away; there is nobody to tell.
            Err(error) if is_gone(&error) => return exit::HANGUP,
            Err(error) => {
                complain(output, &format!("the terminal can not be read: {error}"));
                return exit::IO;
            }
        };
        let input = input.trim_end();
        if !input.is_empty() {
            // A history that takes no more is no reason to stop.
            let _ = editor.add_history_entry(input);
        }
        let Some(helper) = editor.helper_mut() else {
            return exit::INTERNAL;
        };
        if answer(&mut helper.session, input, output) == Next::Quit {
            return exit::OK;
        }
        number = helper.session.count() + 1;
    }
}

fn is_gone(error: &ReadlineError) -> bool {
    match error {
        ReadlineError::Io(error) => error.raw_os_error() == Some(EIO),
        ReadlineError::Errno(error) => *error as i32 == EIO,
        _ => false,
    }
}

/// What helps while somebody types.
struct Assistant {
    session: Session,
    color: bool,
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let input = context.input();
        let blank = input
            .lines()
            .next_back()
            .is_none_or(|line| line.trim().is_empty())
            || input.ends_with('\n');
        Ok(
            match input.trim().is_empty() || ends(&format!("{input}\n"), blank) {
                true => ValidationResult::Valid(None),
                false => ValidationResult::Incomplete,
            },
        )
    }
}

/// A candidate with its type in the list.
struct Choice {
    shown: String,
    name: String,
}

impl Listed for Choice {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.name
    }
}

impl From<Candidate> for Choice {
    fn from(candidate: Candidate) -> Self {
        let Candidate { name, detail } = candidate;
        let shown = match detail.as_str() {
            "" => name.clone(),
            detail => format!("{name} : {detail}"),
        };
        Self { shown, name }
    }
}

impl Completer for Assistant {
    type Candidate = Choice;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Choice>)> {
        let before = line.get(..at).unwrap_or("");
        if meta::is_command(before) && !before.trim_start().contains(char::is_whitespace) {
            let start = before.len() - before.trim_start().len();
            let word = before.trim_start();
            let rows = meta::COMMANDS
                .iter()
                .filter(|(name, ..)| name.starts_with(word));
            let choices = rows.map(|(name, argument, _)| Choice {
                shown: format!("{name} {argument}"),
                name: (*name).to_owned(),
            });
            return Ok((start, choices.collect()));
        }
        let (start, found) = self.session.complete(before);
        Ok((start, found.into_iter().map(Choice::from).collect()))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if !self.color || line.len() > MAX_COLOURED || meta::is_command(line) {
            return Cow::Borrowed(line);
        }
        Cow::Owned(coloured(line))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.color && kind != CmdKind::MoveCursor
    }
}

/// An input with colours by token. Nothing else changes: the width stays the same.
fn coloured(line: &str) -> String {
    const KEYWORD: &str = "\u{1b}[1;34m";
    const TEXT: &str = "\u{1b}[32m";
    const NUMBER: &str = "\u{1b}[36m";
    const TAG: &str = "\u{1b}[35m";
    const COMMENT: &str = "\u{1b}[2m";
    let lexed = lex(line);
    let mut parts: Vec<(Range<usize>, &str)> = Vec::new();
    for token in &lexed.tokens {
        let color = match token.kind {
            TokenKind::String => TEXT,
            TokenKind::Int | TokenKind::Float => NUMBER,
            TokenKind::Tag => TAG,
            kind if kind.is_keyword() => KEYWORD,
            _ => continue,
        };
        parts.push((token.span.start as usize..token.span.end as usize, color));
    }
    let comments = lexed.comments.iter();
    parts.extend(comments.map(|span| (span.start as usize..span.end as usize, COMMENT)));
    parts.sort_by_key(|(range, _)| range.start);
    let mut text = String::with_capacity(line.len() * 2);
    let mut at = 0;
    for (range, color) in parts {
        text.push_str(line.get(at..range.start).unwrap_or(""));
        text.push_str(color);
        text.push_str(line.get(range.clone()).unwrap_or(""));
        text.push_str("\u{1b}[0m");
        at = range.end;
    }
    text.push_str(line.get(at..).unwrap_or(""));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_nothing_else() {
        for line in [
            "let x = \"é\" in (* c *) `Tag(1, 2.5)",
            "\"open",
            "(* open",
            "日本 @ #",
            "",
            "match\nlet",
        ] {
            let coloured = coloured(line);
            let mut plain = String::new();
            let mut rest = coloured.as_str();
            while let Some((before, after)) = rest.split_once('\u{1b}') {
                plain.push_str(before);
                rest = after.split_once('m').map_or("", |(_, after)| after);
            }
            plain.push_str(rest);
            assert_eq!(plain, line);
        }
        assert!(coloured("let").starts_with("\u{1b}[1;34mlet"));
    }
}
