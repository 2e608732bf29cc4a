//! Features of the manifest (spec 04 section 10.1).

use std::collections::BTreeSet;

/// Every feature id of version 1, in the order of the specification.
pub const ALL: &[&str] = &[
    "shell.tool.fixed.v1",
    "shell.tool.structured.v1",
    "shell.tool.chain.v1",
    "shell.tool.raw.v1",
    "shell.tool.script.v1",
    "shell.backend.seatbelt.v1",
    "shell.backend.bubblewrap.v1",
    "shell.backend.direct.v1",
    "shell.external_backend.v1",
    "shell.resource_limits.v1",
    "shell.secret.literal.v1",
    "shell.chatml.matcher.v1",
    "shell.chatml.reviewer.v1",
    "shell.chatml.before_interceptor.v1",
    "shell.chatml.after_interceptor.v1",
    "shell.chatml.effect_analyzer.v1",
    "shell.chatml.audit_filter.v1",
    "shell.model_reviewer.v1",
    "shell.executable_hooks.v1",
];

/// A set of feature ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Features(BTreeSet<String>);

impl Features {
    /// Every feature of [`ALL`].
    pub fn all() -> Self {
        Self(ALL.iter().map(|id| (*id).to_owned()).collect())
    }

    /// Exactly these features.
    pub fn of<I: IntoIterator<Item = S>, S: Into<String>>(ids: I) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }

    /// Whether the set holds the feature.
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

impl Default for Features {
    fn default() -> Self {
        Self::all()
    }
}
