//! Who decides about a command: policy, approvals, reviewers, interceptors and analyzers, as payload
//! types (spec 04 section 8.5).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::Path;
use super::words::*;

/// Policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Policy {
    pub default: Action,
    /// Shared with the runtimes that inherit them.
    pub rules: Vec<Arc<Rule>>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rule {
    pub id: String,
    pub action: Action,
    pub matcher: Matcher,
}

/// Matcher tree; at most 64 deep (spec 02 section 11.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Matcher {
    AnyCommand {},
    TrustedExecutable {},
    NoUnknownEffects {},
    RawShell {},
    Program {
        value: String,
    },
    Basename {
        value: String,
    },
    Argument {
        value: String,
    },
    ArgumentContains {
        value: String,
    },
    ProgramRegex {
        pattern: String,
    },
    ResolvedPath {
        path: Path,
    },
    ArgvPrefix {
        values: Vec<String>,
    },
    Effect {
        effect: EffectName,
        under: Option<Path>,
    },
    ChatmlMatch {
        script: String,
        function: String,
        failure: MatcherFailure,
    },
    All {
        of: Vec<Matcher>,
    },
    Any {
        of: Vec<Matcher>,
    },
    Not {
        of: Box<Matcher>,
    },
}

impl Matcher {
    /// Every matcher within this one that is no combination of others, in document order.
    pub fn leaves(&self) -> impl Iterator<Item = &Matcher> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            loop {
                match open.pop()? {
                    Matcher::All { of } | Matcher::Any { of } => open.extend(of.iter().rev()),
                    Matcher::Not { of } => open.push(of),
                    leaf => return Some(leaf),
                }
            }
        })
    }

    /// Ids of the scripts that it asks, in document order.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.leaves().filter_map(|leaf| match leaf {
            Matcher::ChatmlMatch { script, .. } => Some(script.as_str()),
            _ => None,
        })
    }
}

/// Approval settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Approvals {
    pub provider: ApprovalProvider,
    pub unavailable: Unavailable,
    pub scopes: Vec<Scope>,
    pub durable: bool,
}

/// Reviewer chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Reviewers {
    pub mode: ReviewerMode,
    pub strategy: Strategy,
    pub entries: Vec<Reviewer>,
}

impl Reviewers {
    /// Whether a document asks for a chain of reviewers and names none: every `ask` is denied (spec 02
    /// section 12).
    pub fn is_empty_chain(&self) -> bool {
        self.mode == ReviewerMode::Chain && self.entries.is_empty()
    }

    /// Whether nobody but a person could answer.
    pub fn only_people(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.all(|entry| matches!(entry, Reviewer::Ui { .. }))
    }
}

/// One reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Reviewer {
    Ui {
        id: String,
    },
    Chatml {
        id: String,
        script: String,
        lifecycle: Lifecycle,
        failure: Failure,
    },
    Model {
        id: String,
        agent: String,
        model: Option<String>,
        failure: Failure,
    },
    Executable {
        id: String,
        hook: Hook,
        failure: Failure,
    },
}

/// A script or hook of an extension point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Extension {
    Chatml {
        script: String,
        lifecycle: Lifecycle,
    },
    Executable {
        hook: Hook,
    },
}

impl Extension {
    /// Id of its script, if it is one.
    pub fn script(&self) -> Option<&str> {
        match self {
            Extension::Chatml { script, .. } => Some(script),
            Extension::Executable { .. } => None,
        }
    }
}

/// An executable extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Hook {
    pub executable: Path,
    pub sha256: Option<String>,
    pub runtime: String,
    pub protocol: String,
    pub timeout_ms: Option<u64>,
    pub max_input_bytes: u64,
    pub max_output_bytes: u64,
}

/// One interceptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Interceptor {
    pub id: String,
    pub phase: Phase,
    pub matcher: Option<Matcher>,
    pub failure: Failure,
    pub extension: Extension,
}

/// One effect analyzer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Analyzer {
    pub id: String,
    pub replace: bool,
    pub failure: Failure,
    pub extension: Extension,
}
