//! Answers as typed values and as the versioned records of logs and tests.

use super::codec::{CodecError, decode};
use super::event::AuditField;
use super::schema::Record;
use crate::limits::Limits;
use crate::value::data::Data;

/// A reviewer's answer (`shell-approval-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// This execution.
    Approve,
    /// For a scope.
    ApproveFor(String),
    /// With a reason.
    Deny(String),
    /// Another command.
    Rewrite(Vec<String>),
    /// The next reviewer decides.
    Defer,
}

/// A before-interceptor's answer (`shell-interceptor-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interception {
    /// The command goes on.
    Continue,
    /// Another command.
    Rewrite(Vec<String>),
    /// This output instead of a process.
    Respond {
        /// Standard output.
        stdout: String,
        /// Standard error.
        stderr: String,
    },
    /// With a reason.
    Reject(String),
}

/// An after-interceptor's answer (`shell-result-response-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultResponse {
    /// Unchanged.
    Keep,
    /// Other output.
    Replace {
        /// Standard output.
        stdout: String,
        /// Standard error.
        stderr: String,
    },
    /// Withheld, with a reason.
    RejectDisclosure(String),
}

/// An analyzer's answer (`shell-effect-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectResponse {
    /// In addition to what is known.
    Add(Vec<String>),
    /// Instead of what is known.
    Replace(Vec<String>),
}

/// An audit filter's answer (`shell-audit-response-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditResponse {
    /// Unchanged.
    Keep,
    /// Without a field.
    DropField(String),
    /// With other values.
    Replace(Vec<AuditField>),
}

fn record(record: Record, action: &str, fields: Vec<(&str, Data)>) -> Data {
    Data::record(
        [
            ("version", Data::string(record.version())),
            ("action", Data::string(action)),
        ]
        .into_iter()
        .chain(fields),
    )
}

fn texts(items: &[String]) -> Data {
    Data::strings(items.iter().map(String::as_str))
}

/// Reads the fields of a record that was checked.
struct Fields<'a>(&'a Data);

impl Fields<'_> {
    fn get(&self, label: &str) -> Option<&Data> {
        match self.0 {
            Data::Record(values) => values.get(label),
            _ => None,
        }
    }

    fn text(&self, label: &str) -> String {
        text_of(self.get(label))
    }

    fn texts(&self, label: &str) -> Vec<String> {
        texts_of(self.get(label))
    }

    /// What is inside of `` `Some ``.
    fn option(&self, label: &str) -> Option<&Data> {
        match self.get(label) {
            Some(Data::Variant { arguments, .. }) => arguments.first(),
            _ => None,
        }
    }
}

fn text_of(data: Option<&Data>) -> String {
    match data {
        Some(Data::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn texts_of(data: Option<&Data>) -> Vec<String> {
    match data {
        Some(Data::Array(items)) => items.iter().map(|item| text_of(Some(item))).collect(),
        _ => Vec::new(),
    }
}

impl Approval {
    /// The versioned record.
    pub fn to_data(&self) -> Data {
        let (action, argument) = match self {
            Self::Approve => ("approve", None),
            Self::ApproveFor(scope) => ("approve_for", Some(Data::string(scope))),
            Self::Deny(reason) => ("deny", Some(Data::string(reason))),
            Self::Rewrite(argv) => ("rewrite", Some(texts(argv))),
            Self::Defer => ("defer", None),
        };
        let argument = Data::option(argument);
        record(Record::Approval, action, vec![("argument", argument)])
    }

    /// Reads the versioned record.
    ///
    /// # Errors
    /// See [`decode`].
    pub fn from_data(data: &Data, limits: &Limits) -> Result<Self, CodecError> {
        decode(Record::Approval, data, limits)?;
        let fields = Fields(data);
        let argument = fields.option("argument");
        Ok(match fields.text("action").as_str() {
            "approve" => Self::Approve,
            "approve_for" => Self::ApproveFor(text_of(argument)),
            "deny" => Self::Deny(text_of(argument)),
            "rewrite" => Self::Rewrite(texts_of(argument)),
            _ => Self::Defer,
        })
    }
}

impl Interception {
    /// The versioned record.
    pub fn to_data(&self) -> Data {
        let (action, fields) = match self {
            Self::Continue => ("continue", Vec::new()),
            Self::Rewrite(argv) => ("rewrite", vec![("argv", texts(argv))]),
            Self::Respond { stdout, stderr } => ("respond", streams(stdout, stderr)),
            Self::Reject(reason) => ("reject", vec![("reason", Data::string(reason))]),
        };
        record(Record::Interceptor, action, fields)
    }

    /// Reads the versioned record.
    ///
    /// # Errors
    /// See [`decode`].
    pub fn from_data(data: &Data, limits: &Limits) -> Result<Self, CodecError> {
        decode(Record::Interceptor, data, limits)?;
        let fields = Fields(data);
        Ok(match fields.text("action").as_str() {
            "continue" => Self::Continue,
            "rewrite" => Self::Rewrite(fields.texts("argv")),
            "respond" => Self::Respond {
                stdout: fields.text("stdout"),
                stderr: fields.text("stderr"),
            },
            _ => Self::Reject(fields.text("reason")),
        })
    }
}

fn streams(stdout: &str, stderr: &str) -> Vec<(&'static str, Data)> {
    vec![
        ("stdout", Data::string(stdout)),
        ("stderr", Data::string(stderr)),
    ]
}

impl ResultResponse {
    /// The versioned record.
    pub fn to_data(&self) -> Data {
        let (action, fields) = match self {
            Self::Keep => ("keep", Vec::new()),
            Self::Replace { stdout, stderr } => ("replace", streams(stdout, stderr)),
            Self::RejectDisclosure(reason) => {
                ("reject_disclosure", vec![("reason", Data::string(reason))])
            }
        };
        record(Record::ResultResponse, action, fields)
    }

    /// Reads the versioned record.
    ///
    /// # Errors
    /// See [`decode`].
    pub fn from_data(data: &Data, limits: &Limits) -> Result<Self, CodecError> {
        decode(Record::ResultResponse, data, limits)?;
        let fields = Fields(data);
        Ok(match fields.text("action").as_str() {
            "keep" => Self::Keep,
            "replace" => Self::Replace {
                stdout: fields.text("stdout"),
                stderr: fields.text("stderr"),
            },
            _ => Self::RejectDisclosure(fields.text("reason")),
        })
    }
}

impl EffectResponse {
    /// The versioned record.
    pub fn to_data(&self) -> Data {
        let (action, effects) = match self {
            Self::Add(effects) => ("add", effects),
            Self::Replace(effects) => ("replace", effects),
        };
        record(Record::Effect, action, vec![("effects", texts(effects))])
    }

    /// Reads the versioned record.
    ///
    /// # Errors
    /// See [`decode`].
    pub fn from_data(data: &Data, limits: &Limits) -> Result<Self, CodecError> {
        decode(Record::Effect, data, limits)?;
        let fields = Fields(data);
        let effects = fields.texts("effects");
        Ok(match fields.text("action").as_str() {
            "add" => Self::Add(effects),
            _ => Self::Replace(effects),
        })
    }
}

impl AuditResponse {
    /// The versioned record.
    pub fn to_data(&self) -> Data {
        let (action, fields) = match self {
            Self::Keep => ("keep", Vec::new()),
            Self::DropField(name) => ("drop_field", vec![("field", Data::string(name))]),
            Self::Replace(values) => {
                let values = values.iter().map(|field| {
                    Data::record([
                        ("name", Data::string(&field.name)),
                        ("value", Data::string(&field.value)),
                    ])
                });
                ("replace", vec![("fields", Data::Array(values.collect()))])
            }
        };
        record(Record::AuditResponse, action, fields)
    }

    /// Reads the versioned record.
    ///
    /// # Errors
    /// See [`decode`].
    pub fn from_data(data: &Data, limits: &Limits) -> Result<Self, CodecError> {
        decode(Record::AuditResponse, data, limits)?;
        let fields = Fields(data);
        Ok(match fields.text("action").as_str() {
            "keep" => Self::Keep,
            "drop_field" => Self::DropField(fields.text("field")),
            _ => {
                let values = match fields.get("fields") {
                    Some(Data::Array(items)) => items.as_slice(),
                    _ => &[],
                };
                Self::Replace(
                    values
                        .iter()
                        .map(|item| AuditField {
                            name: Fields(item).text("name"),
                            value: Fields(item).text("value"),
                        })
                        .collect(),
                )
            }
        })
    }
}
