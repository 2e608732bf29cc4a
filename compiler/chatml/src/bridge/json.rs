//! JSON that stands for values by their type (spec 10 section 2.12): for command lines and tests.

use std::fmt;

use crate::json::{Json, parse, write_string};
use crate::surface::Kind;
use crate::types::{NodeId, NodeKind, TypeGraph};
use crate::value::data::Data;

/// JSON that does not stand for a value of the type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonMismatch {
    /// Where.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for JsonMismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.reason)
    }
}

/// Nesting of JSON that is read: more than any value within the limits of a script needs.
const MAX_DEPTH: usize = 200;

/// The value of a type that a JSON text stands for: unit `null`; bools, strings and arrays themselves;
/// int an integer, float a number; a record an object with exactly its labels; a variant
/// `{"tag":NAME,"args":[…]}`, or `null` for `` `None ``. `root` names the value in errors.
///
/// # Errors
/// Invalid JSON, or the first part that is not of the type.
pub fn json_to_data(text: &str, ty: &TypeGraph, root: &str) -> Result<Data, JsonMismatch> {
    let json = parse(text, MAX_DEPTH).map_err(|error| JsonMismatch {
        path: root.to_owned(),
        reason: format!("invalid JSON: {error}"),
    })?;
    Reader {
        ty,
        path: root.to_owned(),
    }
    .value(json, ty.root)
}

/// The event of a shell kind that a JSON text stands for.
///
/// # Errors
/// As [`json_to_data`]; also for kinds without an event of their own.
pub fn event_from_json(text: &str, kind: Kind) -> Result<Data, JsonMismatch> {
    let alias = kind
        .contract()
        .and_then(|contract| crate::surface::alias(contract.event));
    match alias {
        Some(alias) => json_to_data(text, alias.graph(), "event"),
        None => Err(JsonMismatch {
            path: "event".to_owned(),
            reason: "scripts of this kind have no event".to_owned(),
        }),
    }
}

struct Reader<'a> {
    ty: &'a TypeGraph,
    path: String,
}

impl Reader<'_> {
    fn mismatch<T>(&self, reason: impl Into<String>) -> Result<T, JsonMismatch> {
        Err(JsonMismatch {
            path: self.path.clone(),
            reason: reason.into(),
        })
    }

    /// Recursion ends at [`MAX_DEPTH`].
    fn value(&mut self, json: Json, node: NodeId) -> Result<Data, JsonMismatch> {
        let ty = self.ty;
        let Some(kind) = ty.node(node).map(|node| &node.kind) else {
            return self.mismatch("the type is not known");
        };
        match (kind, json) {
            (NodeKind::Unit, Json::Null) => Ok(Data::Unit),
            (NodeKind::Bool, Json::Bool(value)) => Ok(Data::Bool(value)),
            (NodeKind::String, Json::String(text)) => Ok(Data::String(text)),
            (NodeKind::Int, Json::Number(text)) => match text.parse() {
                Ok(value) => Ok(Data::Int(value)),
                Err(_) => self.mismatch("expected an integer of 64 bits"),
            },
            (NodeKind::Float, Json::Number(text)) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Data::Float(value)),
                _ => self.mismatch("the number is too large"),
            },
            (NodeKind::Array(item), Json::Array(items)) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, json) in items.into_iter().enumerate() {
                    list.push(self.part(json, *item, &format!("[{index}]"))?);
                }
                Ok(Data::Array(list))
            }
            (NodeKind::Record { fields, .. }, Json::Object(members)) => {
                self.record(fields, members)
            }
            (NodeKind::Variant { cases, .. }, Json::Null)
                if cases
                    .iter()
                    .any(|(tag, args)| &**tag == "None" && args.is_empty()) =>
            {
                Ok(Data::option(None))
            }
            (NodeKind::Variant { cases, .. }, Json::Object(members)) => {
                self.variant(cases, members)
            }
            // A type that nothing fixed accepts any plain value.
            (NodeKind::Variable { .. }, Json::Null) => Ok(Data::Unit),
            (NodeKind::Variable { .. }, Json::Bool(value)) => Ok(Data::Bool(value)),
            (NodeKind::Variable { .. }, Json::String(text)) => Ok(Data::String(text)),
            (_, json) => {
                let found = json.kind();
                self.mismatch(format!("{found} does not stand for a value of the type"))
            }
        }
    }

    fn part(&mut self, json: Json, node: NodeId, segment: &str) -> Result<Data, JsonMismatch> {
        let len = self.path.len();
        self.path.push_str(segment);
        let data = self.value(json, node)?;
        self.path.truncate(len);
        Ok(data)
    }

    fn record(
        &mut self,
        fields: &[(std::sync::Arc<str>, NodeId)],
        members: Vec<(String, Json)>,
    ) -> Result<Data, JsonMismatch> {
        let mut values = std::collections::BTreeMap::new();
        for (label, json) in members {
            let Some((_, node)) = fields.iter().find(|(field, _)| **field == *label) else {
                return self.mismatch(format!("the field `{label}` is unknown"));
            };
            let value = self.part(json, *node, &format!(".{label}"))?;
            if values.insert(label.clone(), value).is_some() {
                return self.mismatch(format!("the field `{label}` is repeated"));
            }
        }
        match fields
            .iter()
            .find(|(label, _)| !values.contains_key(&**label))
        {
            Some((label, _)) => self.mismatch(format!("the field `{label}` is missing")),
            None => Ok(Data::Record(values)),
        }
    }

    fn variant(
        &mut self,
        cases: &[(std::sync::Arc<str>, Vec<NodeId>)],
        members: Vec<(String, Json)>,
    ) -> Result<Data, JsonMismatch> {
        let (mut tag, mut arguments) = (None, None);
        for (name, json) in members {
            match (name.as_str(), json) {
                ("tag", Json::String(text)) if tag.is_none() => tag = Some(text),
                ("args", Json::Array(items)) if arguments.is_none() => arguments = Some(items),
                _ => return self.mismatch("a variant has exactly `tag` and `args`"),
            }
        }
        let (Some(tag), Some(arguments)) = (tag, arguments) else {
            return self.mismatch("a variant has exactly `tag` and `args`");
        };
        let Some((_, types)) = cases.iter().find(|(case, _)| **case == *tag) else {
            return self.mismatch(format!("the tag `{tag}` is unknown"));
        };
        if types.len() != arguments.len() {
            return self.mismatch(format!("`{tag} has {} arguments", types.len()));
        }
        let mut list = Vec::with_capacity(arguments.len());
        for (index, (json, node)) in arguments.into_iter().zip(types).enumerate() {
            list.push(self.part(json, *node, &format!(".{tag}[{index}]"))?);
        }
        Ok(Data::Variant {
            tag,
            arguments: list,
        })
    }
}

/// The compact JSON that stands for a value. Recursion is bounded by the depth of the value.
pub fn data_to_json(data: &Data) -> String {
    let mut out = String::new();
    write(data, &mut out);
    out
}

fn write(data: &Data, out: &mut String) {
    match data {
        Data::Unit => out.push_str("null"),
        Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Data::Int(value) => out.push_str(&value.to_string()),
        Data::Float(value) => out.push_str(&format!("{value:?}")),
        Data::String(text) => write_string(out, text),
        Data::Array(items) => list(items, out),
        Data::Record(fields) => {
            out.push('{');
            for (index, (label, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(out, label);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Data::Variant { tag, arguments } => {
            out.push_str("{\"tag\":");
            write_string(out, tag);
            out.push_str(",\"args\":");
            list(arguments, out);
            out.push('}');
        }
    }
}

fn list(items: &[Data], out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}
