//! Compact `command="…"`: one simple command of the chain grammar (spec 03 section 3.1).

use chatmd_policy::chain::{self, ChainFault};

use super::context::Context;
use super::reader::Attributes;
use crate::decl::{CommandDecl, FixedArgDecl, Sp};

/// Program, literal arguments and the source text of a compact command.
pub(super) struct Compact {
    pub(super) command: CommandDecl,
    pub(super) arguments: Vec<FixedArgDecl>,
    pub(super) source: String,
}

/// Parses the `command` attribute; anything but one simple command is reported.
pub(super) fn compact(context: &mut Context<'_>, attributes: &Attributes<'_>) -> Option<Compact> {
    let text = attributes.text("command")?;
    let written = attributes.written("command")?;
    let decoded = context.tree.value(written)?;
    // The value may have been trimmed; offsets count from what is left.
    let lead = decoded.find(text.value.as_str()).unwrap_or(0);
    let (range, reason) = match chain::parse(&text.value) {
        Ok(chain) => match chain.single() {
            Some([program, arguments @ ..]) => {
                return Some(Compact {
                    command: CommandDecl::Program(Sp {
                        value: program.clone(),
                        span: text.span,
                    }),
                    arguments: arguments
                        .iter()
                        .map(|value| FixedArgDecl::Literal(value.clone()))
                        .collect(),
                    source: text.value,
                });
            }
            _ => (
                0..text.value.len(),
                "it has more than one command".to_owned(),
            ),
        },
        Err(ChainFault::Syntax { offset, reason }) => {
            let rest = text
                .value
                .get(offset..)
                .and_then(|rest| rest.chars().next());
            (
                offset..offset + rest.map_or(0, char::len_utf8),
                format!("{} at byte {offset}", reason.as_str()),
            )
        }
        Err(ChainFault::TooLarge(_)) => (
            0..text.value.len(),
            "it is too long or has too many parts".to_owned(),
        ),
    };
    let span = context.inside(written, &(range.start + lead..range.end + lead));
    let finding = context
        .finding("shell.tool_invalid_fixed_command", span, format!("the command is not one simple command: {reason}"))
        .hint("write one program with its arguments, list them in `<command>`, or let the model write a chain with mode=\"chain\"");
    context.report_below(finding, &["command"]);
    None
}
