//! What the action of a call means, with the bounds of spec 07 section 4.

use std::collections::BTreeSet;

use super::event::AuditField;
use super::response::{Approval, AuditResponse, EffectResponse, Interception, ResultResponse};
use crate::eval::Fault;
use crate::instance::Performance;
use crate::json::{Json, parse};
use crate::value::data::Data;

/// The action of a call, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A matcher's.
    Match {
        /// Whether the command matches.
        matches: bool,
        /// Why, trimmed.
        reason: String,
    },
    /// A reviewer's. Whether a scope is available is for the host to say.
    Review(Approval),
    /// A before-interceptor's.
    Intercept(Interception),
    /// An after-interceptor's.
    Result(ResultResponse),
    /// An analyzer's. Whether it may replace is for the host to say.
    Effect(EffectResponse),
    /// An audit filter's.
    Audit(AuditResponse),
}

/// What an effect text says (spec 05b section 5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Reads a path; a relative one belongs to the command's directory.
    Read(String),
    /// Writes a path.
    Write(String),
    /// Uses the network.
    Network,
    /// Starts other programs.
    ChildProcesses,
    /// Runs code that nobody has seen.
    ArbitraryCode,
    /// Changes privileges.
    PrivilegeChange,
    /// Anything else, with its reason.
    Unknown(String),
}

impl Effect {
    /// Reads an effect text; nothing when it is empty, has an empty path, a control character or more
    /// than 4096 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        const LONGEST: usize = 4096;
        if text.is_empty() || text.len() > LONGEST || text.bytes().any(|byte| byte < b' ') {
            return None;
        }
        Some(match text {
            "network" => Self::Network,
            "child_processes" => Self::ChildProcesses,
            "arbitrary_code" => Self::ArbitraryCode,
            "privilege_change" => Self::PrivilegeChange,
            "read:" | "write:" | "unknown:" => return None,
            _ => {
                if let Some(path) = text.strip_prefix("read:") {
                    Self::Read(path.to_owned())
                } else if let Some(path) = text.strip_prefix("write:") {
                    Self::Write(path.to_owned())
                } else {
                    let reason = text.strip_prefix("unknown:").unwrap_or(text);
                    Self::Unknown(reason.to_owned())
                }
            }
        })
    }
}

/// Names of audit fields that no filter may touch (spec 07 section 4).
const PROTECTED: &[&str] = &[
    "sequence",
    "timestamp",
    "request_id",
    "runtime_id",
    "manifest_sha256",
    "schema_version",
    "session_id",
    "plan_id",
    "event",
    "previous_event_sha256",
    "event_sha256",
    "filter_failed",
];

/// Decodes the action of a call.
///
/// # Errors
/// `chatml.task.invalid_action` with the operation and what is wrong.
pub fn decode_action(performed: &Performance) -> Result<Action, Fault> {
    let name = performed.name();
    read(name, &performed.arguments)
        .map_err(|reason| Fault::outside("chatml.task.invalid_action", format!("{name}: {reason}")))
}

fn read(name: &str, arguments: &[Data]) -> Result<Action, String> {
    Ok(match (name, arguments) {
        ("Match.yes" | "Match.no", [Data::String(text)]) => Action::Match {
            matches: name == "Match.yes",
            reason: reason(text)?,
        },
        ("Review.approve", []) => Action::Review(Approval::Approve),
        ("Review.defer", []) => Action::Review(Approval::Defer),
        ("Review.approve_for", [Data::String(text)]) => Action::Review(scope(text)?),
        ("Review.deny", [Data::String(text)]) => Action::Review(Approval::Deny(reason(text)?)),
        ("Review.rewrite", [argv]) => Action::Review(Approval::Rewrite(command(argv)?)),
        ("Intercept.continue", []) => Action::Intercept(Interception::Continue),
        ("Intercept.rewrite", [argv]) => Action::Intercept(Interception::Rewrite(command(argv)?)),
        ("Intercept.respond", [Data::String(stdout), Data::String(stderr)]) => {
            Action::Intercept(Interception::Respond {
                stdout: stdout.clone(),
                stderr: stderr.clone(),
            })
        }
        ("Intercept.reject", [Data::String(text)]) => {
            Action::Intercept(Interception::Reject(reason(text)?))
        }
        ("Result.keep", []) => Action::Result(ResultResponse::Keep),
        ("Result.replace", [Data::String(stdout), Data::String(stderr)]) => {
            Action::Result(ResultResponse::Replace {
                stdout: stdout.clone(),
                stderr: stderr.clone(),
            })
        }
        ("Result.reject_disclosure", [Data::String(text)]) => {
            Action::Result(ResultResponse::RejectDisclosure(reason(text)?))
        }
        ("Audit.keep", []) => Action::Audit(AuditResponse::Keep),
        ("Audit.drop_field", [Data::String(field)]) => {
            Action::Audit(AuditResponse::DropField(audit_name(field)?))
        }
        ("Audit.replace", [Data::String(text)]) => {
            Action::Audit(AuditResponse::Replace(audit_fields(text)?))
        }
        _ => Action::Effect(effects(name, arguments)?),
    })
}

fn effects(name: &str, arguments: &[Data]) -> Result<EffectResponse, String> {
    const MOST: usize = 256;
    let add = |text: String| -> Result<EffectResponse, String> {
        Ok(EffectResponse::Add(vec![effect(text)?]))
    };
    match (name, arguments) {
        ("Effect.add", [Data::String(text)]) => add(text.clone()),
        ("Effect.read_path", [Data::String(path)]) => add(format!("read:{path}")),
        ("Effect.write_path", [Data::String(path)]) => add(format!("write:{path}")),
        (
            "Effect.network"
            | "Effect.child_processes"
            | "Effect.arbitrary_code"
            | "Effect.privilege_change",
            [],
        ) => add(name.trim_start_matches("Effect.").to_owned()),
        ("Effect.replace", [Data::Array(items)]) => {
            if items.len() > MOST {
                return Err(format!("more than {MOST} effects"));
            }
            let mut seen = BTreeSet::new();
            let mut effects = Vec::new();
            for item in items {
                let Data::String(text) = item else {
                    return Err("an effect is not a string".to_owned());
                };
                let text = effect(text.clone())?;
                if seen.insert(text.clone()) {
                    effects.push(text);
                }
            }
            Ok(EffectResponse::Replace(effects))
        }
        _ => Err("the operation or its arguments are not those of a shell script".to_owned()),
    }
}

fn effect(text: String) -> Result<String, String> {
    match Effect::parse(&text) {
        Some(_) => Ok(text),
        None => Err(
            "an effect is empty, lacks its path, is too long or has a control character".to_owned(),
        ),
    }
}

fn scope(text: &str) -> Result<Approval, String> {
    match text {
        "once" => Ok(Approval::Approve),
        "exact_session" | "prefix_session" | "durable_exact" => {
            Ok(Approval::ApproveFor(text.to_owned()))
        }
        _ => Err("the scope is unknown".to_owned()),
    }
}

fn reason(text: &str) -> Result<String, String> {
    const LONGEST: usize = 4096;
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    if trimmed.is_empty() {
        return Err("the reason is empty".to_owned());
    }
    if trimmed.len() > LONGEST {
        return Err(format!("the reason is longer than {LONGEST} bytes"));
    }
    Ok(trimmed.to_owned())
}

/// The words of a command within the bounds of spec 06 section 4.5. The environment counts against
/// the same total; the host checks that.
fn command(argv: &Data) -> Result<Vec<String>, String> {
    const WORDS: usize = 4096;
    const WORD: usize = 131_071;
    const TOTAL: usize = 1024 * 1024;
    let Data::Array(items) = argv else {
        return Err("the command is not an array".to_owned());
    };
    if items.len() > WORDS {
        return Err(format!("the command has more than {WORDS} words"));
    }
    let mut words = Vec::with_capacity(items.len());
    let mut total = 0usize;
    for item in items {
        let Data::String(word) = item else {
            return Err("a word of the command is not a string".to_owned());
        };
        if word.contains('\0') {
            return Err("a word of the command contains U+0000".to_owned());
        }
        total = total.saturating_add(word.len() + 1);
        if word.len() > WORD || total > TOTAL {
            return Err("the command is too long".to_owned());
        }
        words.push(word.clone());
    }
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("the command has no program".to_owned()),
    }
}

fn audit_name(name: &str) -> Result<String, String> {
    const LONGEST: usize = 64;
    let mut bytes = name.bytes();
    let first = bytes
        .next()
        .is_some_and(|byte| byte == b'_' || byte.is_ascii_lowercase());
    let rest = bytes.all(|byte| byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !first || !rest || name.len() > LONGEST {
        return Err("the name of an audit field is malformed".to_owned());
    }
    if PROTECTED.contains(&name) {
        return Err(format!("the audit field `{name}` is protected"));
    }
    Ok(name.to_owned())
}

fn audit_fields(text: &str) -> Result<Vec<AuditField>, String> {
    const MOST: usize = 64;
    let json = parse(text, 2).map_err(|error| format!("the text is not JSON: {error}"))?;
    let Json::Object(members) = json else {
        return Err("the text is not one JSON object".to_owned());
    };
    if members.len() > MOST {
        return Err(format!("more than {MOST} fields"));
    }
    let mut names = BTreeSet::new();
    let mut fields = Vec::with_capacity(members.len());
    for (name, value) in members {
        let Json::String(value) = value else {
            return Err(format!("the value is {}, not a string", value.kind()));
        };
        let name = audit_name(&name)?;
        if !names.insert(name.clone()) {
            return Err(format!("the audit field `{name}` is repeated"));
        }
        fields.push(AuditField { name, value });
    }
    Ok(fields)
}
