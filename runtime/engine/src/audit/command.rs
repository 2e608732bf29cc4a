//! Command metadata of audit events (spec 08 section 6.2).

use super::value::{Member, Value};
use crate::identity::sha256_hex;
use crate::output::{Redactor, SafeText, display_command, display_element};

/// The facts of a prepared command, unredacted.
#[derive(Clone, Copy, Debug)]
pub struct CommandContext<'a> {
    /// `structured`, `script_file` or `raw_shell`.
    pub request_kind: &'static str,
    /// Program and arguments.
    pub argv: &'a [Vec<u8>],
    /// Working directory.
    pub cwd: &'a [u8],
    /// Canonical path; absent before resolution.
    pub executable: Option<&'a [u8]>,
    /// Effect kinds in any order.
    pub effects: &'a [&'static str],
    /// Effects as text (06 section 6.1).
    pub effect_details: &'a [String],
    /// The display form where it is not that of `argv` (raw shell requests).
    pub display: Option<&'a SafeText>,
}

/// The same, redacted, with its digests. Made once per command and shared by its events.
#[derive(Clone, Debug)]
pub struct CommandFacts {
    request_kind: &'static str,
    command_sha256: String,
    command_redacted: bool,
    cwd_sha256: String,
    effects: Vec<&'static str>,
    command: SafeText,
    argv: Vec<SafeText>,
    cwd: SafeText,
    executable: Option<SafeText>,
    effect_details: Vec<SafeText>,
}

impl CommandFacts {
    /// Redacts and digests the facts.
    pub fn new(redactor: &Redactor, context: &CommandContext<'_>) -> Self {
        let redacted: Vec<Vec<u8>> = context
            .argv
            .iter()
            .map(|element| redactor.redact_bytes(element))
            .collect();
        let mut effects = context.effects.to_vec();
        effects.sort_unstable();
        effects.dedup();
        // Escaped, not cleaned: what the log shows is what ran.
        let text = |bytes: &[u8]| display_element(redactor, bytes);
        Self {
            request_kind: context.request_kind,
            command_sha256: audit_command_sha256(&redacted),
            command_redacted: redacted != context.argv,
            cwd_sha256: sha256_hex(context.cwd),
            effects,
            command: context
                .display
                .cloned()
                .unwrap_or_else(|| display_command(redactor, context.argv)),
            argv: context.argv.iter().map(|element| text(element)).collect(),
            cwd: text(context.cwd),
            executable: context.executable.map(text),
            effect_details: context
                .effect_details
                .iter()
                .map(|item| text(item.as_bytes()))
                .collect(),
        }
    }

    /// The label digest that groups equal commands in a log; not the identity of grants.
    pub fn command_sha256(&self) -> &str {
        &self.command_sha256
    }

    /// The display form.
    pub const fn display(&self) -> &SafeText {
        &self.command
    }

    pub(crate) fn members(&self) -> Vec<Member> {
        let list = |items: &[SafeText]| {
            Value::Texts(items.iter().map(|item| item.as_str().to_owned()).collect())
        };
        let mut members = vec![
            Member::new("request_kind", Value::word(self.request_kind)),
            Member::new("command_sha256", Value::word(self.command_sha256.clone())),
        ];
        if self.command_redacted {
            members.push(Member::new("command_redacted", Value::Bool(true)));
        }
        let effects = self.effects.iter().map(|kind| (*kind).into()).collect();
        members.extend([
            Member::new("cwd_sha256", Value::word(self.cwd_sha256.clone())),
            Member::new("effects", Value::Words(effects)),
            Member::new("command", Value::text(self.command.as_str())),
            Member::new("argv", list(&self.argv)),
            Member::new("cwd", Value::text(self.cwd.as_str())),
        ]);
        if let Some(executable) = &self.executable {
            members.push(Member::new("executable", Value::text(executable.as_str())));
        }
        members.push(Member::new("effect_details", list(&self.effect_details)));
        members
    }
}

/// `command_sha256` of an audit line: SHA-256 of the elements joined by NUL.
pub fn audit_command_sha256<T: AsRef<[u8]>>(argv: &[T]) -> String {
    let mut joined = Vec::new();
    for (index, element) in argv.iter().enumerate() {
        if index > 0 {
            joined.push(0);
        }
        joined.extend_from_slice(element.as_ref());
    }
    sha256_hex(&joined)
}
