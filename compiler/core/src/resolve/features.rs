//! Features of the manifest (spec 04 section 10.1).

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

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

/// A set of feature ids. Cheap to clone, compare and hash: it is part of the key of queries that
/// are asked for every open document after every edit.
#[derive(Clone, Debug)]
pub struct Features {
    ids: Arc<BTreeSet<String>>,
    hash: u64,
}

impl PartialEq for Features {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ids, &other.ids) || self.ids == other.ids
    }
}

impl Eq for Features {}

impl Hash for Features {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl Features {
    /// Every feature of [`ALL`].
    pub fn all() -> Self {
        static EVERY: LazyLock<Features> = LazyLock::new(|| Features::of(ALL.iter().copied()));
        EVERY.clone()
    }

    /// Exactly these features.
    pub fn of<I: IntoIterator<Item = S>, S: Into<String>>(ids: I) -> Self {
        let ids: BTreeSet<String> = ids.into_iter().map(Into::into).collect();
        let mut hasher = DefaultHasher::new();
        ids.hash(&mut hasher);
        Self {
            ids: Arc::new(ids),
            hash: hasher.finish(),
        }
    }

    /// Whether the set holds the feature.
    pub fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}

impl Default for Features {
    fn default() -> Self {
        Self::all()
    }
}
