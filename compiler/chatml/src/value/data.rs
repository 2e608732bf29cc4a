//! Values outside of an instance: plain trees that own their parts.

use std::collections::BTreeMap;

/// A value that can cross the boundary between script and host (spec 05 section 8.4).
///
/// Record labels are sorted and unique by construction. Whoever builds one from text bounds its depth.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `()`.
    Unit,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double; finite where it is to be stored.
    Float(f64),
    /// UTF-8.
    String(String),
    /// Items in order.
    Array(Vec<Data>),
    /// Labels with their values.
    Record(BTreeMap<String, Data>),
    /// A tag with its arguments.
    Variant {
        /// Without the grave accent.
        tag: String,
        /// In order.
        arguments: Vec<Data>,
    },
}

impl Data {
    /// A string.
    pub fn string(text: impl Into<String>) -> Self {
        Self::String(text.into())
    }

    /// An array of strings.
    pub fn strings<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::Array(items.into_iter().map(Self::string).collect())
    }

    /// A record.
    pub fn record<L: Into<String>>(fields: impl IntoIterator<Item = (L, Data)>) -> Self {
        Self::Record(
            fields
                .into_iter()
                .map(|(label, value)| (label.into(), value))
                .collect(),
        )
    }

    /// A variant.
    pub fn variant(tag: impl Into<String>, arguments: Vec<Data>) -> Self {
        Self::Variant {
            tag: tag.into(),
            arguments,
        }
    }

    /// `` `None `` or `` `Some(value) ``.
    pub fn option(value: Option<Data>) -> Self {
        match value {
            None => Self::variant("None", Vec::new()),
            Some(value) => Self::variant("Some", vec![value]),
        }
    }

    /// The text that `to_string` gives (spec 05 section 6.2).
    pub fn text(&self) -> String {
        super::print::data_to_string(self)
    }

    /// What a reader would call this value.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Float(_) => "a float",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Record(_) => "a record",
            Self::Variant { .. } => "a variant",
        }
    }
}
