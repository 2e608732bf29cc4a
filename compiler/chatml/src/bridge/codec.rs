//! Exact validation of versioned records (spec 05b section 5.6).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::schema::{AUDIT_FIELD, Field, Record, Shape};
use crate::limits::{self, Limits};
use crate::value::data::Data;

/// A value that is not the record it should be. The outer code is `shell.chatml_codec`, or
/// `chatml.limit.value` when a bound is exceeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecError {
    /// `shell.chatml_codec` or `chatml.limit.value`.
    pub code: &'static str,
    /// Where, beginning with the record's name.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for CodecError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.reason)
    }
}

impl std::error::Error for CodecError {}

fn fail<T>(path: &str, reason: impl Into<String>) -> Result<T, CodecError> {
    Err(CodecError {
        code: "shell.chatml_codec",
        path: path.to_owned(),
        reason: reason.into(),
    })
}

type Values = BTreeMap<String, Data>;

/// Checks a record: first the bounds, then its labels (foreign ones before missing ones, each the first
/// in byte order), then its version, then its action and the other fields.
///
/// # Errors
/// The first thing that is wrong.
pub fn decode(record: Record, data: &Data, limits: &Limits) -> Result<(), CodecError> {
    limits::check(data, limits, record.root()).map_err(|excess| {
        // It begins with the path, which is a member of its own here.
        let text = excess.to_string();
        let reason = text.strip_prefix(&excess.path).unwrap_or(&text);
        CodecError {
            code: "chatml.limit.value",
            reason: reason.strip_prefix(": ").unwrap_or(reason).to_owned(),
            path: excess.path,
        }
    })?;
    versioned(record, data, record.root())
}

fn versioned(record: Record, data: &Data, path: &str) -> Result<(), CodecError> {
    let Data::Record(values) = data else {
        return fail(path, format!("expected a record, found {}", data.kind()));
    };
    match record.shape() {
        Shape::Fixed(fields) => {
            labels(values, fields, &["version"], path)?;
            version(record, values, path)?;
            if let Some(action) = fields.iter().find(|(label, _)| *label == "action") {
                self::fields(values, std::slice::from_ref(action), path)?;
            }
            self::fields(values, fields, path)?;
            match record {
                Record::Approval => argument_of(values, path),
                _ => Ok(()),
            }
        }
        Shape::ByAction(actions) => {
            let word = match values.get("action") {
                Some(Data::String(word)) => Some(word.as_str()),
                _ => None,
            };
            let known = actions.iter().find(|(name, _)| Some(*name) == word);
            let Some((_, fields)) = known else {
                // Which fields belong depends on the action: any field of any action may be meant.
                let all: Vec<_> = actions.iter().flat_map(|(_, fields)| *fields).collect();
                let foreign = values.keys().find(|label| {
                    !["action", "version"].contains(&label.as_str())
                        && !all.iter().any(|(field, _)| *field == label.as_str())
                });
                if let Some(label) = foreign {
                    return fail(&join(path, label), "the field is unknown");
                }
                if values.contains_key("action") {
                    version(record, values, path)?;
                    return fail(&join(path, "action"), "the action is unknown");
                }
                return fail(&join(path, "action"), "the field is missing");
            };
            labels(values, fields, &["action", "version"], path)?;
            version(record, values, path)?;
            self::fields(values, fields, path)
        }
    }
}

fn join(path: &str, label: &str) -> String {
    format!("{path}.{label}")
}

fn labels(
    values: &Values,
    fields: &[(&str, Field)],
    more: &[&str],
    path: &str,
) -> Result<(), CodecError> {
    let known: BTreeSet<&str> = fields
        .iter()
        .map(|(label, _)| *label)
        .chain(more.iter().copied())
        .collect();
    if let Some(label) = values.keys().find(|label| !known.contains(label.as_str())) {
        return fail(&join(path, label), "the field is unknown");
    }
    if let Some(label) = known.iter().find(|label| !values.contains_key(**label)) {
        return fail(&join(path, label), "the field is missing");
    }
    Ok(())
}

fn version(record: Record, values: &Values, path: &str) -> Result<(), CodecError> {
    match values.get("version") {
        Some(Data::String(version)) if version == record.version() => Ok(()),
        _ => fail(
            &join(path, "version"),
            format!("expected \"{}\"", record.version()),
        ),
    }
}

fn fields(values: &Values, fields: &[(&str, Field)], path: &str) -> Result<(), CodecError> {
    for (label, ty) in fields {
        if let Some(value) = values.get(*label) {
            field(value, *ty, &join(path, label))?;
        }
    }
    Ok(())
}

/// The types nest three deep at most.
fn field(value: &Data, ty: Field, path: &str) -> Result<(), CodecError> {
    let expected = match (ty, value) {
        (Field::Text, Data::String(_))
        | (Field::Int, Data::Int(_))
        | (Field::Float, Data::Float(_))
        | (Field::Bool, Data::Bool(_)) => return Ok(()),
        (Field::Texts, Data::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                field(item, Field::Text, &format!("{path}[{index}]"))?;
            }
            return Ok(());
        }
        (Field::OptionText, _) => match option(value, path)? {
            Some(value) => return field(value, Field::Text, path),
            None => return Ok(()),
        },
        (Field::OptionPolicy, _) => match option(value, path)? {
            Some(value) => return versioned(Record::Policy, value, path),
            None => return Ok(()),
        },
        (Field::Argument, _) => match option(value, path)? {
            Some(Data::String(_)) | None => return Ok(()),
            Some(value) => return field(value, Field::Texts, path),
        },
        (Field::Part(part), Data::Record(values)) => {
            labels(values, part, &[], path)?;
            return fields(values, part, path);
        }
        (Field::Parts(part), Data::Array(items)) => return parts(items, part, path),
        (Field::AuditFields, Data::Array(items)) => {
            parts(items, AUDIT_FIELD, path)?;
            return unique(items, path);
        }
        (Field::Sequence, Data::String(text)) if decimal(text) => return Ok(()),
        (Field::Word(words), Data::String(word)) => {
            if words.contains(&word.as_str()) {
                return Ok(());
            }
            return fail(path, format!("expected one of: {}", words.join(", ")));
        }
        (Field::Text | Field::Word(_), _) => "a string",
        (Field::Int, _) => "an int",
        (Field::Float, _) => "a float",
        (Field::Bool, _) => "a bool",
        (Field::Texts | Field::Parts(_) | Field::AuditFields, _) => "an array",
        (Field::Part(_), _) => "a record",
        (Field::Sequence, _) => "a decimal number without sign and leading zeros",
    };
    fail(path, format!("expected {expected}, found {}", value.kind()))
}

fn option<'a>(value: &'a Data, path: &str) -> Result<Option<&'a Data>, CodecError> {
    match value {
        Data::Variant { tag, arguments } => match (tag.as_str(), arguments.as_slice()) {
            ("None", []) => Ok(None),
            ("Some", [value]) => Ok(Some(value)),
            _ => fail(path, "expected `None or `Some"),
        },
        other => fail(path, format!("expected an option, found {}", other.kind())),
    }
}

fn parts(items: &[Data], part: &'static [(&str, Field)], path: &str) -> Result<(), CodecError> {
    for (index, item) in items.iter().enumerate() {
        field(item, Field::Part(part), &format!("{path}[{index}]"))?;
    }
    Ok(())
}

fn unique(items: &[Data], path: &str) -> Result<(), CodecError> {
    let mut names = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        if let Data::Record(values) = item
            && let Some(Data::String(name)) = values.get("name")
            && !names.insert(name)
        {
            return fail(&format!("{path}[{index}].name"), "the name is repeated");
        }
    }
    Ok(())
}

fn decimal(text: &str) -> bool {
    text.parse::<u64>()
        .is_ok_and(|number| number.to_string() == text)
}

/// Each action of an approval has its own argument.
fn argument_of(values: &Values, path: &str) -> Result<(), CodecError> {
    let (Some(Data::String(action)), Some(argument)) =
        (values.get("action"), values.get("argument"))
    else {
        return Ok(());
    };
    let path = join(path, "argument");
    let fits = matches!(
        (action.as_str(), option(argument, &path)?),
        ("approve_for" | "deny", Some(Data::String(_)))
            | ("rewrite", Some(Data::Array(_)))
            | ("approve" | "defer", None)
    );
    if fits {
        return Ok(());
    }
    fail(&path, format!("the argument does not belong to `{action}`"))
}
