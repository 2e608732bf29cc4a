//! The text of a script.

use std::io::Read as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::Compilation;
use chatmd_compiler::compile::Standalone;
use chatmd_compiler::db::{FileSystem as _, LoadError, OsFileSystem};
use chatml::span::Span;

use crate::documents::{STDIN, Unreadable};

/// Largest script, in bytes (spec 01 section 20).
pub const MAX_SCRIPT: u64 = 1 << 20;

/// A script that was read.
pub struct Source {
    /// Its name for people.
    pub display: String,
    /// Its absolute path, or its name where it has none.
    path: Utf8PathBuf,
    /// Its text.
    pub text: Arc<str>,
}

/// Why there is no text to work on.
pub enum Unusable {
    /// Nothing could be read.
    Unreadable(Unreadable),
    /// What was read is no script.
    Refused(Box<Compilation>),
}

impl Source {
    /// A program of the command line.
    ///
    /// # Errors
    /// When it is no text of a script.
    pub fn given(program: &str) -> Result<Self, Unusable> {
        Self::decode("<program>", "<program>".into(), program.as_bytes())
    }

    /// Reads a file; `-` is standard input.
    ///
    /// # Errors
    /// When there is none, or its bytes are no text of a script.
    pub fn read(operand: &Utf8Path) -> Result<Self, Unusable> {
        if operand == "-" {
            let mut bytes = Vec::new();
            let input = std::io::stdin().lock();
            input
                .take(MAX_SCRIPT + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| Unusable::Unreadable(Unreadable::Stdin(error)))?;
            return Self::decode(STDIN, STDIN.into(), &bytes);
        }
        let unreadable = |why| {
            Unusable::Unreadable(Unreadable::File {
                path: operand.to_owned(),
                why,
            })
        };
        let absolute = std::path::absolute(operand)
            .map_err(|error| unreadable(LoadError::from_io(&error)))
            .and_then(|path| {
                Utf8PathBuf::from_path_buf(path).map_err(|_| unreadable(LoadError::PathNotUtf8))
            })?;
        let system = OsFileSystem::with_limit(MAX_SCRIPT);
        let found = system.locate(&absolute).map_err(unreadable)?;
        match system.read(&found.canonical) {
            Ok(bytes) => Self::decode(operand.as_str(), absolute, &bytes),
            Err(LoadError::TooLarge { .. }) => Err(too_large(operand.as_str(), absolute)),
            Err(why) => Err(unreadable(why)),
        }
    }

    fn decode(display: &str, path: Utf8PathBuf, bytes: &[u8]) -> Result<Self, Unusable> {
        if bytes.len() as u64 > MAX_SCRIPT {
            return Err(too_large(display, path));
        }
        let refuse = |path, text: &str, at: usize, length: usize, message| {
            let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
            let span = Span::new(offset(at), offset(at + length));
            let text = [(display.to_owned(), path, Arc::from(text))];
            let report =
                Standalone::new(text).finding("chatmd.script_invalid_encoding", span, message);
            Err(Unusable::Refused(Box::new(report)))
        };
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let shown = String::from_utf8_lossy(bytes);
                let message = "a script is UTF-8 text, and these bytes are not";
                let (at, length) = (error.valid_up_to(), '\u{fffd}'.len_utf8());
                return refuse(path, &shown, at, length, message);
            }
        };
        if let Some(at) = text.find('\0') {
            return refuse(path, text, at, 1, "a script holds no U+0000");
        }
        Ok(Self {
            display: display.to_owned(),
            path,
            text: Arc::from(text),
        })
    }

    /// For a report about it.
    pub fn standalone(&self) -> Standalone {
        Standalone::new([(
            self.display.clone(),
            self.path.clone(),
            Arc::clone(&self.text),
        )])
    }
}

fn too_large(display: &str, path: Utf8PathBuf) -> Unusable {
    let report = Standalone::new([(display.to_owned(), path, Arc::from(""))]).finding(
        "chatmd.script_source_too_large",
        Span::default(),
        &format!("the script is larger than {MAX_SCRIPT} bytes"),
    );
    Unusable::Refused(Box::new(report))
}
