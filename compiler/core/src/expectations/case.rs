//! One test, wherever it is written.

use std::sync::Arc;

use super::options::Options;
use super::verb::Verb;
use crate::diagnostics::Place;

/// What a test is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A runtime by its qualified id.
    Runtime(String),
    /// A shell tool by its name.
    Tool(String),
}

/// The request of a test as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaseText {
    /// Read as its target reads it: a command, or the script of a raw tool.
    Plain(String),
    /// A command line.
    Command(String),
    /// Program and arguments.
    Argv(Vec<String>),
    /// The script of a raw tool.
    Script(String),
    /// The input object of a tool.
    Json(String),
}

impl CaseText {
    /// The text as people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Plain(text) | Self::Command(text) | Self::Script(text) | Self::Json(text) => {
                text.clone()
            }
            Self::Argv(words) => serde_json::to_string(words).unwrap_or_default(),
        }
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its own characters; the whole line in a sidecar.
    pub at: Place,
    /// The directive around it; the whole line in a sidecar.
    pub directive: Place,
    /// What is expected.
    pub verb: Verb,
    /// The word of the verb.
    pub verb_at: Place,
    /// Where the options are written, by key.
    pub written: Arc<[(String, Place)]>,
    /// The options.
    pub options: Arc<Options>,
    /// The request.
    pub text: CaseText,
    /// What it is about.
    pub target: Target,
    /// The rule that it stands in.
    pub rule: Option<String>,
    /// Facts of the host: an index into [`super::Suite::facts`].
    pub facts: usize,
    /// Manifest path of the file, for relative paths.
    pub source: Arc<str>,
    /// Id in a sidecar.
    pub id: Option<String>,
}

impl Case {
    /// Where an option is written, else the case.
    pub(super) fn option_at(&self, key: &str) -> Place {
        let written = self.written.iter().find(|(known, _)| known == key);
        written.map_or(self.at, |(_, place)| *place)
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match &self.options.name {
            Some(name) => name.clone(),
            None => self.text.shown(),
        }
    }

    /// The rule that `match` and `no_match` speak of.
    pub(super) fn asked_rule(&self) -> Option<&str> {
        match (self.options.rules.as_slice(), &self.rule) {
            ([rule], _) => Some(rule),
            (_, Some(rule)) => Some(rule),
            _ => None,
        }
    }
}
