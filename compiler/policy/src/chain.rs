//! The conservative command parser (spec 06 section 5).
//!
//! It reads words, quotes and the operators `|`, `&&`, `||`, `;`, and refuses everything a shell
//! would expand, redirect, group or interpret. Nothing is ever expanded.

use std::fmt;

use crate::bounds::{MAX_CHAIN_BYTES, MAX_CHAIN_COMMANDS, MAX_COMMAND_WORDS, MAX_PIPELINE_STAGES};

/// A parsed chain: `pipelines[0] operators[0] pipelines[1] …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// At least one pipeline.
    pub pipelines: Vec<Pipeline>,
    /// Operator between a pipeline and the next one.
    pub operators: Vec<Operator>,
}

/// Commands joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// argv of each stage, program first; never empty, nor is any program.
    pub stages: Vec<Vec<String>>,
}

impl Chain {
    /// argv of every simple command, left to right.
    pub fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        self.pipelines.iter().flat_map(|pipeline| &pipeline.stages)
    }

    /// The only command, if there is exactly one.
    pub fn single(&self) -> Option<&[String]> {
        let mut commands = self.commands();
        let first = commands.next()?;
        commands.next().is_none().then_some(first.as_slice())
    }
}

/// Operator between pipelines; equal precedence, left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `&&`: the next runs iff the last executed one succeeded.
    And,
    /// `||`: the next runs iff the last executed one failed.
    Or,
    /// `;`: the next always runs.
    Sequence,
}

impl Operator {
    /// The operator as written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Sequence => ";",
        }
    }
}

macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// Why a chain is refused. `Display` prints the fixed reason text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason { $($(#[$meta])* #[doc = $text] $name),+ }

        impl Reason {
            /// The fixed reason text.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

reasons! {
    EmptyCommand = "empty command",
    Background = "background execution is not supported",
    Redirection = "redirection is not supported by structured execution",
    Substitution = "command substitution is not supported",
    Grouping = "shell grouping is not supported",
    UnterminatedSingle = "unterminated single quote",
    UnterminatedDouble = "unterminated double quote",
    TrailingEscape = "trailing escape",
    TrailingEscapeInDouble = "trailing escape in double quote",
    Continuation = "line continuation is not supported",
    ExpectedCommand = "expected a command",
    Variable = "variable expansion is not supported",
    Glob = "glob expansion is not supported",
    Tilde = "tilde expansion is not supported",
    Comment = "comments are not supported",
    Assignment = "variable assignment is not supported",
    Keyword = "shell keyword is not supported",
    Control = "control character is not supported",
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Why a text is no chain. `Display` prints the message for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainFault {
    /// `shell.tool_chain_parse`.
    Syntax {
        /// Byte offset of the offending token; the byte length at the end of input.
        offset: usize,
        /// What is refused.
        reason: Reason,
    },
    /// `shell.tool_command_too_large`.
    TooLarge(ChainBound),
}

/// Bound that a chain exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainBound {
    /// [`MAX_CHAIN_BYTES`].
    Bytes,
    /// [`MAX_CHAIN_COMMANDS`].
    Commands,
    /// [`MAX_PIPELINE_STAGES`].
    Stages,
    /// [`MAX_COMMAND_WORDS`].
    Words,
}

impl ChainFault {
    /// Invocation code of the fault.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax { .. } => "shell.tool_chain_parse",
            Self::TooLarge(_) => "shell.tool_command_too_large",
        }
    }
}

impl fmt::Display for ChainFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { offset, reason } => {
                write!(out, "command parse failed at byte {offset}: {reason}")
            }
            Self::TooLarge(bound) => {
                let (limit, unit) = match bound {
                    ChainBound::Bytes => (MAX_CHAIN_BYTES, "bytes"),
                    ChainBound::Commands => (MAX_CHAIN_COMMANDS, "commands"),
                    ChainBound::Stages => (MAX_PIPELINE_STAGES, "stages in one pipeline"),
                    ChainBound::Words => (MAX_COMMAND_WORDS, "words in one command"),
                };
                write!(out, "command has more than {limit} {unit}")
            }
        }
    }
}

impl std::error::Error for ChainFault {}

/// Words that a shell reads as syntax when they stand first and unquoted.
const KEYWORDS: &[&str] = &[
    "!", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "select", "time", "coproc", "[[",
];

/// Parses a chain. One scan from left to right; the first violation met is reported.
pub fn parse(text: &str) -> Result<Chain, ChainFault> {
    if text.len() > MAX_CHAIN_BYTES {
        return Err(ChainFault::TooLarge(ChainBound::Bytes));
    }
    let mut scanner = Scanner::new(text);
    scanner
        .run()
        .map_err(|(offset, reason)| ChainFault::Syntax { offset, reason })?;
    let chain = Chain {
        pipelines: scanner.pipelines,
        operators: scanner.operators,
    };
    check_counts(&chain)?;
    Ok(chain)
}

fn check_counts(chain: &Chain) -> Result<(), ChainFault> {
    let bound = if chain.commands().count() > MAX_CHAIN_COMMANDS {
        ChainBound::Commands
    } else if chain
        .pipelines
        .iter()
        .any(|pipeline| pipeline.stages.len() > MAX_PIPELINE_STAGES)
    {
        ChainBound::Stages
    } else if chain.commands().any(|argv| argv.len() > MAX_COMMAND_WORDS) {
        ChainBound::Words
    } else {
        return Ok(());
    };
    Err(ChainFault::TooLarge(bound))
}

type Fault = (usize, Reason);

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    position: usize,
    /// Start of the trailing run of blanks and line ends.
    tail: usize,
    word: Option<Word>,
    argv: Vec<String>,
    stages: Vec<Vec<String>>,
    pipelines: Vec<Pipeline>,
    operators: Vec<Operator>,
    /// The last operator was `;`, after which the chain may end.
    after_sequence: bool,
}

struct Word {
    start: usize,
    text: String,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        let kept = text.trim_end_matches([' ', '\t', '\n', '\r']);
        Self {
            text,
            bytes: text.as_bytes(),
            position: 0,
            tail: kept.len(),
            word: None,
            argv: Vec::new(),
            stages: Vec::new(),
            pipelines: Vec::new(),
            operators: Vec::new(),
            after_sequence: false,
        }
    }

    fn at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.at(0) {
            match byte {
                b' ' | b'\t' => {
                    self.end_word()?;
                    self.position += 1;
                }
                b'\n' | b'\r' if self.is_outer_line_end() => {
                    self.end_word()?;
                    self.position += 1;
                }
                b'|' | b'&' | b';' => self.operator(byte)?,
                b'\'' => self.single_quoted()?,
                b'"' => self.double_quoted()?,
                b'\\' => self.escape()?,
                _ => {
                    self.refuse_special(byte)?;
                    self.bare();
                }
            }
        }
        self.finish()
    }

    /// A line end before the first token or after the last one.
    fn is_outer_line_end(&self) -> bool {
        let nothing_yet = self.word.is_none()
            && self.argv.is_empty()
            && self.stages.is_empty()
            && self.pipelines.is_empty();
        nothing_yet || self.position >= self.tail
    }

    fn fault(&self, reason: Reason) -> Fault {
        (self.position, reason)
    }

    /// Refusals that depend on an unquoted character and what follows it.
    fn refuse_special(&self, byte: u8) -> Result<(), Fault> {
        let next = self.at(1);
        let reason = match byte {
            b'<' | b'>' if next == Some(b'(') => Reason::Substitution,
            b'<' | b'>' => Reason::Redirection,
            b'`' => Reason::Substitution,
            b'$' => match next {
                Some(b'(') => Reason::Substitution,
                Some(b'\'' | b'"') => Reason::Variable,
                Some(next) if starts_expansion(next) => Reason::Variable,
                _ => return Ok(()),
            },
            b'(' | b')' | b'{' | b'}' => Reason::Grouping,
            b'*' | b'?' => Reason::Glob,
            b'[' if !self.is_literal_bracket() => Reason::Glob,
            b'~' if self.word.is_none() => Reason::Tilde,
            b'#' if self.word.is_none() => Reason::Comment,
            0..0x20 => Reason::Control,
            _ => return Ok(()),
        };
        Err(self.fault(reason))
    }

    /// `[` alone in its word, or `[[` alone in the first word (then the keyword row speaks).
    fn is_literal_bracket(&self) -> bool {
        let first = self.argv.is_empty();
        match &self.word {
            None => {
                self.word_ends_at(1) || (first && self.at(1) == Some(b'[') && self.word_ends_at(2))
            }
            // Read as bare by the arm above, so it stands first.
            Some(word) => {
                word.text == "[" && self.position == word.start + 1 && self.word_ends_at(1)
            }
        }
    }

    fn word_ends_at(&self, ahead: usize) -> bool {
        match self.at(ahead) {
            None | Some(b' ' | b'\t' | b'|' | b';' | b'\n' | b'\r') => true,
            Some(b'&') => self.at(ahead + 1) == Some(b'&'),
            Some(_) => false,
        }
    }

    fn word(&mut self) -> &mut String {
        let start = self.position;
        &mut self
            .word
            .get_or_insert_with(|| Word {
                start,
                text: String::new(),
            })
            .text
    }

    /// Takes the character at the position.
    fn bare(&mut self) {
        let length = self.character_length();
        let text = self.text;
        let piece = text
            .get(self.position..self.position + length)
            .unwrap_or_default();
        self.word().push_str(piece);
        self.position += length;
    }

    /// Bytes of the character at the position.
    fn character_length(&self) -> usize {
        self.text
            .get(self.position..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.at(1) {
            None => Err(self.fault(Reason::TrailingEscape)),
            Some(b'\n') => Err(self.fault(Reason::Continuation)),
            Some(_) => {
                self.word();
                self.position += 1;
                self.bare();
                Ok(())
            }
        }
    }

    fn single_quoted(&mut self) -> Result<(), Fault> {
        let text = self.text;
        let rest = text.get(self.position + 1..).unwrap_or_default();
        let Some(length) = rest.find('\'') else {
            return Err(self.fault(Reason::UnterminatedSingle));
        };
        self.word().push_str(rest.get(..length).unwrap_or_default());
        self.position += length + 2;
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), Fault> {
        let opening = self.position;
        self.word();
        self.position += 1;
        while let Some(byte) = self.at(0) {
            match byte {
                b'"' => {
                    self.position += 1;
                    return Ok(());
                }
                b'`' => return Err(self.fault(Reason::Substitution)),
                b'$' => match self.at(1) {
                    Some(b'(') => return Err(self.fault(Reason::Substitution)),
                    Some(next) if starts_expansion(next) => {
                        return Err(self.fault(Reason::Variable));
                    }
                    _ => self.bare(),
                },
                b'\\' => match self.at(1) {
                    None => return Err(self.fault(Reason::TrailingEscapeInDouble)),
                    Some(b'\n') => return Err(self.fault(Reason::Continuation)),
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        self.position += 1;
                        self.bare();
                    }
                    Some(_) => self.bare(),
                },
                _ => self.bare(),
            }
        }
        Err((opening, Reason::UnterminatedDouble))
    }

    fn operator(&mut self, byte: u8) -> Result<(), Fault> {
        let next = self.at(1);
        // A word that ends here is judged first: its start lies before this byte.
        let (operator, length) = match (byte, next) {
            (b'&', Some(b'&')) => (Some(Operator::And), 2),
            (b'&', _) => return Err(self.fault(Reason::Background)),
            (b'|', Some(b'|')) => (Some(Operator::Or), 2),
            (b'|', _) => (None, 1),
            _ => (Some(Operator::Sequence), 1),
        };
        self.end_word()?;
        if byte == b'|' && next == Some(b'&') {
            return Err(self.fault(Reason::Background));
        }
        if self.argv.is_empty() {
            return Err(self.fault(Reason::ExpectedCommand));
        }
        self.stages.push(std::mem::take(&mut self.argv));
        if let Some(operator) = operator {
            self.pipelines.push(Pipeline {
                stages: std::mem::take(&mut self.stages),
            });
            self.operators.push(operator);
        }
        self.after_sequence = operator == Some(Operator::Sequence);
        self.position += length;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), Fault> {
        let Some(word) = self.word.take() else {
            return Ok(());
        };
        if self.argv.is_empty() {
            let source = self.text.get(word.start..self.position).unwrap_or_default();
            let reason = if starts_assignment(source) {
                Some(Reason::Assignment)
            } else if KEYWORDS.contains(&source) {
                Some(Reason::Keyword)
            } else if word.text.is_empty() {
                Some(Reason::ExpectedCommand)
            } else {
                None
            };
            if let Some(reason) = reason {
                return Err((word.start, reason));
            }
        }
        self.argv.push(word.text);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.end_word()?;
        let end = self.bytes.len();
        if !self.argv.is_empty() {
            self.stages.push(std::mem::take(&mut self.argv));
            self.pipelines.push(Pipeline {
                stages: std::mem::take(&mut self.stages),
            });
        } else if self.pipelines.is_empty() && self.stages.is_empty() {
            return Err((end, Reason::EmptyCommand));
        } else if self.after_sequence {
            self.operators.pop();
        } else {
            return Err((end, Reason::ExpectedCommand));
        }
        Ok(())
    }
}

/// `NAME=` or `NAME+=` at the start of a word as written.
fn starts_assignment(source: &str) -> bool {
    let rest = source.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = source.len() - rest.len();
    name > 0
        && !source.starts_with(|c: char| c.is_ascii_digit())
        && (rest.starts_with('=') || rest.starts_with("+="))
}

/// Bytes that make a preceding `$` an expansion, quotes and `(` apart.
const fn starts_expansion(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'{' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-'
        )
}
