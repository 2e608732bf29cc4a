//! The redactor of a runtime (spec 06b B6).

use std::sync::Arc;

use super::automaton::{Automaton, ROOT};
use super::finalise::{Finalised, Finaliser, finalise_marked};
use super::marked::{Marked, Part};
use super::matcher::Matcher;
use super::safe_text::SafeText;
use super::sanitise::Form;
use super::secret::SecretBytes;
use chatmd_facts::secret_forms::{Needle, json_escape_into, needles};

/// Replacement of a runtime that declares none.
pub const DEFAULT_REPLACEMENT: &str = "[REDACTED]";

/// Bound of the secret values of one runtime, in bytes. The automaton needs about 20 states for
/// each of them, and an automaton has no other bound.
pub const MAX_SECRET_BYTES: usize = 256 * 1024;

/// Bound of messages and other fields of one line, in bytes (spec 06 section 12).
pub const MAX_LINE_BYTES: usize = 4096;

/// Values shorter than this are registered with a warning: they hide much innocent text.
const SHORT: usize = 4;

/// Why a redactor could not be built. All of these are `shell.secret_load_failed`; no message
/// holds any part of a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactorError {
    /// More than [`MAX_SECRET_BYTES`].
    #[error("the secret values of this runtime hold more than {MAX_SECRET_BYTES} bytes")]
    TooLarge,
    /// The replacement would show a secret.
    #[error("the replacement text contains a registered secret value or an encoding of one")]
    ReplacementContainsSecret,
    /// The replacement is empty or would itself have to be sanitised.
    #[error("the replacement text is empty or has characters that no output may hold")]
    ReplacementUnsafe,
}

impl RedactorError {
    /// The diagnostic code.
    pub const fn code(&self) -> &'static str {
        "shell.secret_load_failed"
    }
}

/// A remark about one registered value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretWarning {
    /// `shell.secret_empty` or `shell.secret_short`.
    pub code: &'static str,
    /// Where the value came from, as given at registration.
    pub origin: String,
}

/// Collects the secrets of a runtime.
pub struct RedactorBuilder {
    replacement: String,
    needles: Vec<Needle>,
    value_bytes: usize,
    warnings: Vec<SecretWarning>,
}

impl RedactorBuilder {
    /// A builder that writes `replacement` for every secret.
    pub fn new(replacement: &str) -> Self {
        Self {
            replacement: replacement.to_owned(),
            needles: Vec::new(),
            value_bytes: 0,
            warnings: Vec::new(),
        }
    }

    /// Registers one value. `origin` names its source for warnings (`variable TOKEN`), never its
    /// content. Empty values are ignored with a warning. The order of registration has no effect.
    pub fn register(&mut self, origin: &str, value: &SecretBytes) -> Result<(), RedactorError> {
        let bytes = value.expose();
        if bytes.len() < SHORT {
            let code = if bytes.is_empty() {
                "shell.secret_empty"
            } else {
                "shell.secret_short"
            };
            self.warnings.push(SecretWarning {
                code,
                origin: origin.to_owned(),
            });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.value_bytes = self.value_bytes.saturating_add(bytes.len());
        if self.value_bytes > MAX_SECRET_BYTES {
            return Err(RedactorError::TooLarge);
        }
        self.needles.append(&mut needles(bytes));
        Ok(())
    }

    /// Builds the redactor.
    pub fn build(self) -> Result<(Redactor, Vec<SecretWarning>), RedactorError> {
        let total = self.needles.iter().map(|needle| needle.len()).sum();
        let automaton =
            Automaton::build(self.needles.iter().map(|needle| needle.as_slice()), total);
        if automaton.occurs_in(self.replacement.as_bytes()) {
            return Err(RedactorError::ReplacementContainsSecret);
        }
        let plain = Redactor::with_parts(Automaton::build([], 0), DEFAULT_REPLACEMENT);
        let sanitised = plain.finalise_line(self.replacement.as_bytes(), usize::MAX);
        if self.replacement.is_empty() || sanitised.text.as_str() != self.replacement {
            return Err(RedactorError::ReplacementUnsafe);
        }
        Ok((
            Redactor::with_parts(automaton, &self.replacement),
            self.warnings,
        ))
    }
}

/// Finds every registered secret in every text. Cheap to clone.
#[derive(Clone)]
pub struct Redactor {
    automaton: Arc<Automaton>,
    replacement: Arc<str>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor(…)")
    }
}

impl Default for Redactor {
    /// A redactor without secrets.
    fn default() -> Self {
        Self::with_parts(Automaton::build([], 0), DEFAULT_REPLACEMENT)
    }
}

impl Redactor {
    fn with_parts(automaton: Automaton, replacement: &str) -> Self {
        Self {
            automaton: Arc::new(automaton),
            replacement: Arc::from(replacement),
        }
    }

    /// The text written for a secret.
    pub fn replacement(&self) -> &str {
        &self.replacement
    }

    /// Length of the longest pattern, in bytes.
    pub fn max_pattern_len(&self) -> usize {
        self.automaton.max_len()
    }

    /// Whether any registered secret, in any of its forms, occurs in `bytes`. Such a command offers
    /// no scope but `once` (spec 08 section 4.2).
    pub fn occurs_in(&self, bytes: &[u8]) -> bool {
        self.automaton.occurs_in(bytes)
    }

    /// `bytes` with every secret replaced, otherwise unchanged: for values that are hashed or
    /// stored and not shown. Everything shown goes through [`Self::line`] or
    /// [`Self::finalise`].
    pub fn redact_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.mark(bytes).render(&self.replacement)
    }

    /// Finalised text of one line of at most [`MAX_LINE_BYTES`]: messages, reasons, paths.
    pub fn line(&self, bytes: &[u8]) -> SafeText {
        self.finalise_line(bytes, MAX_LINE_BYTES).text
    }

    /// A whole text through all passes. Unlike captured output it has no capture bound: it is
    /// complete, only its length is bounded.
    pub fn finalise(&self, bytes: &[u8], limit: usize) -> Finalised {
        finalise_marked(self, &self.mark(bytes), Form::Lines, limit)
    }

    /// The same in one line.
    pub fn finalise_line(&self, bytes: &[u8], limit: usize) -> Finalised {
        finalise_marked(self, &self.mark(bytes), Form::OneLine, limit)
    }

    /// Finalises the output that an extension returned: replacement tokens are known by their text
    /// (spec 06b B6.3, B7.1). `captured_whole` is false when the capture of the original output hit
    /// its bound.
    pub fn finalise_again(&self, text: &str, limit: usize, captured_whole: bool) -> Finalised {
        let mut finaliser = Finaliser::new(self, limit);
        finaliser.push_found(text);
        finaliser.finish_as(!captured_whole)
    }

    /// A finaliser for a channel of at most `limit` bytes.
    pub fn finaliser(&self, limit: usize) -> Finaliser {
        Finaliser::new(self, limit)
    }

    /// Appends `text` with JSON string escapes, redacted once more in its escaped form: a secret
    /// that only the escapes make visible is found, and no escape is ever torn apart. Replacement
    /// tokens in `text` are opaque.
    pub(crate) fn json_string_into(&self, text: &str, out: &mut Vec<u8>) {
        let found = Marked::with_tokens_found(text.as_bytes(), &self.replacement);
        for part in found.parts() {
            match part {
                Part::Bytes(bytes) => self.json_segment_into(bytes, out),
                Part::Token => json_escape_into(self.replacement.as_bytes(), out),
            }
        }
    }

    fn json_segment_into(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut escaped = Vec::with_capacity(bytes.len());
        json_escape_into(bytes, &mut escaped);
        if !self.automaton.occurs_in(&escaped) {
            out.extend_from_slice(&escaped);
            return;
        }
        // Characters of the text with the ends of their escaped forms, and which of them are hit.
        let text = String::from_utf8_lossy(bytes);
        let mut units: Vec<(usize, bool)> = Vec::new();
        let mut unit = Vec::new();
        let (mut state, mut at) = (ROOT, 0);
        for c in text.chars() {
            unit.clear();
            json_escape_into(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut unit);
            units.push((at + unit.len(), false));
            for &byte in &unit {
                at += 1;
                state = self.automaton.step(state, byte);
                let start = at - self.automaton.longest(state);
                if start < at {
                    // Units before this one that the match reaches; each is set at most once per
                    // longer match, and matches are short.
                    let hit = units.iter_mut().rev().take_while(|(end, _)| *end > start);
                    hit.for_each(|(_, redacted)| *redacted = true);
                }
            }
        }
        let (mut start, mut inside) = (0, false);
        for (end, redacted) in units {
            if !redacted {
                out.extend_from_slice(&escaped[start..end]);
            } else if !inside {
                json_escape_into(self.replacement.as_bytes(), out);
            }
            inside = redacted;
            start = end;
        }
    }

    pub(crate) fn automaton(&self) -> &Arc<Automaton> {
        &self.automaton
    }

    /// The byte pass.
    pub(crate) fn mark(&self, bytes: &[u8]) -> Marked {
        let mut matcher = Matcher::new(Arc::clone(&self.automaton), false);
        let mut out = Marked::default();
        matcher.push_bytes(bytes, &mut out);
        matcher.finish(&mut out);
        out
    }
}

#[cfg(test)]
#[path = "redactor_tests.rs"]
mod tests;
