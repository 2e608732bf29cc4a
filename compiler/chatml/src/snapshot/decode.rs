//! The tagged form back to a value.

use std::collections::BTreeMap;

use super::RestoreError;
use crate::json::{Json, parse};
use crate::value::data::Data;

/// Reads a tagged value whose depth is at most `max_depth` (the root has depth 0).
///
/// # Errors
/// Invalid JSON, an unknown or missing member, an unknown `t`, a repeated record label, an integer
/// outside of 64 bits, a float that is not finite, or deeper nesting.
pub fn decode(text: &str, max_depth: u32) -> Result<Data, RestoreError> {
    // Every level of a value is an object, and for compound values another container in it.
    let nesting = (max_depth as usize).saturating_add(1).saturating_mul(2);
    let json = parse(text, nesting).map_err(|error| RestoreError {
        message: format!("the stored state is not valid JSON: {error}"),
    })?;
    Decoder {
        jobs: vec![Job::Visit(json, max_depth)],
        built: Vec::new(),
        path: "root".to_owned(),
    }
    .run()
}

fn refuse<T>(path: &str, reason: impl std::fmt::Display) -> Result<T, RestoreError> {
    Err(RestoreError {
        message: format!("{path}: {reason}"),
    })
}

/// What is still to be read, last first: depth costs no native stack.
enum Job {
    /// A value that may have parts this deep.
    Visit(Json, u32),
    /// Goes into a part with this path.
    Enter(String),
    /// Goes back to a path of this length.
    Leave(usize),
    Array(usize),
    Record(Vec<String>),
    Variant(String, usize),
}

struct Decoder {
    jobs: Vec<Job>,
    built: Vec<Data>,
    path: String,
}

impl Decoder {
    fn run(mut self) -> Result<Data, RestoreError> {
        while let Some(job) = self.jobs.pop() {
            let data = match job {
                Job::Enter(segment) => {
                    self.path.push_str(&segment);
                    continue;
                }
                Job::Leave(len) => {
                    self.path.truncate(len);
                    continue;
                }
                Job::Visit(json, depth) => match self.visit(json, depth)? {
                    Some(data) => data,
                    None => continue,
                },
                Job::Array(count) => Data::Array(self.parts(count)),
                Job::Record(labels) => {
                    let values = self.parts(labels.len());
                    let count = labels.len();
                    let record: BTreeMap<String, Data> = labels.into_iter().zip(values).collect();
                    if record.len() != count {
                        return refuse(&self.path, "a label is repeated");
                    }
                    Data::Record(record)
                }
                Job::Variant(tag, count) => Data::Variant {
                    tag,
                    arguments: self.parts(count),
                },
            };
            self.built.push(data);
        }
        Ok(self.built.pop().unwrap_or(Data::Unit))
    }

    fn parts(&mut self, count: usize) -> Vec<Data> {
        let start = self.built.len().saturating_sub(count);
        self.built.split_off(start)
    }

    /// A leaf, or nothing when jobs for the parts were added.
    fn visit(&mut self, json: Json, depth: u32) -> Result<Option<Data>, RestoreError> {
        let Json::Object(members) = json else {
            let found = json.kind();
            return refuse(
                &self.path,
                format_args!("a tagged value is an object, not {found}"),
            );
        };
        let (mut kind, mut tag, mut content) = (None, None, None);
        for (name, member) in members {
            let slot = match name.as_str() {
                "t" => &mut kind,
                "tag" => &mut tag,
                "v" => &mut content,
                _ => return refuse(&self.path, "a tagged value has only `t`, `tag` and `v`"),
            };
            if slot.replace(member).is_some() {
                return refuse(&self.path, format_args!("`{name}` is repeated"));
            }
        }
        let Some(Json::String(kind)) = kind else {
            return refuse(&self.path, "`t` is missing");
        };
        let data = match (kind.as_str(), tag, content) {
            ("unit", None, None) => Data::Unit,
            ("bool", None, Some(Json::Bool(value))) => Data::Bool(value),
            ("string", None, Some(Json::String(text))) => Data::String(text),
            ("int", None, Some(Json::String(text))) => int(&text, &self.path)?,
            ("float", None, Some(Json::String(text))) => float(&text, &self.path)?,
            ("array", None, Some(Json::Array(items))) => {
                self.jobs.push(Job::Array(items.len()));
                self.list(items, depth, "")?;
                return Ok(None);
            }
            ("record", None, Some(Json::Object(fields))) => {
                self.record(fields, depth)?;
                return Ok(None);
            }
            ("variant", Some(Json::String(tag)), Some(Json::Array(items))) => {
                let plain = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
                if tag.is_empty() || !tag.bytes().all(plain) {
                    return refuse(&self.path, "the tag is malformed");
                }
                let prefix = format!(".{tag}");
                self.jobs.push(Job::Variant(tag, items.len()));
                self.list(items, depth, &prefix)?;
                return Ok(None);
            }
            ("unit" | "bool" | "string" | "int" | "float" | "array" | "record" | "variant", ..) => {
                return refuse(
                    &self.path,
                    format_args!("the content of `{kind}` is malformed"),
                );
            }
            _ => return refuse(&self.path, "`t` is unknown"),
        };
        Ok(Some(data))
    }

    fn part(&mut self, json: Json, depth: u32, segment: String) -> Result<(), RestoreError> {
        let Some(depth) = depth.checked_sub(1) else {
            return refuse(&self.path, "values nest too deep");
        };
        self.jobs.push(Job::Leave(self.path.len()));
        self.jobs.push(Job::Visit(json, depth));
        self.jobs.push(Job::Enter(segment));
        Ok(())
    }

    fn list(&mut self, items: Vec<Json>, depth: u32, prefix: &str) -> Result<(), RestoreError> {
        for (index, item) in items.into_iter().enumerate().rev() {
            self.part(item, depth, format!("{prefix}[{index}]"))?;
        }
        Ok(())
    }

    fn record(&mut self, fields: Vec<(String, Json)>, depth: u32) -> Result<(), RestoreError> {
        let labels = fields.iter().map(|(label, _)| label.clone()).collect();
        self.jobs.push(Job::Record(labels));
        for (label, field) in fields.into_iter().rev() {
            self.part(field, depth, format!(".{label}"))?;
        }
        Ok(())
    }
}

/// A decimal integer as it is written: no sign but `-`, no superfluous zeros.
fn int(text: &str, path: &str) -> Result<Data, RestoreError> {
    match text.parse::<i64>() {
        Ok(value) if value.to_string() == text => Ok(Data::Int(value)),
        _ => refuse(path, "the integer is malformed or outside of 64 bits"),
    }
}

fn float(text: &str, path: &str) -> Result<Data, RestoreError> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(value) if plain && value.is_finite() => Ok(Data::Float(value)),
        _ => refuse(path, "the float is malformed or not finite"),
    }
}
