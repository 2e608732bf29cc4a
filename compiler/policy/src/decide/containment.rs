//! Which path effects lie under a root, answered for many roots in logarithmic time each.

use std::cell::OnceCell;

use crate::effect::{Effect, EffectKind, Effects};
use crate::facts::PolicyHost;
use crate::matcher::MatcherPath;
use crate::value::Value;

use super::leaf::{Outcome, Why};

/// Path effects, resolved again on first use and sorted.
pub(crate) struct PathEffects<'a> {
    effects: &'a Effects,
    host: &'a dyn PolicyHost,
    read: OnceCell<Paths>,
    write: OnceCell<Paths>,
}

struct Paths {
    /// Each canonical path with a `/` added, so that a byte order is a component order.
    sorted: Vec<String>,
    folded: Vec<String>,
    unresolved: bool,
}

impl<'a> PathEffects<'a> {
    pub(crate) fn new(effects: &'a Effects, host: &'a dyn PolicyHost) -> Self {
        Self {
            effects,
            host,
            read: OnceCell::new(),
            write: OnceCell::new(),
        }
    }

    pub(crate) fn under(&self, kind: EffectKind, root: &MatcherPath) -> Outcome {
        let paths = match kind {
            EffectKind::ReadPath => self.read.get_or_init(|| self.resolve(kind)),
            EffectKind::WritePath => self.write.get_or_init(|| self.resolve(kind)),
            // The compiler refuses `under` on other kinds; nothing can be said here.
            _ => return Outcome::new(Value::Maybe, Why::ContainmentUnknown),
        };
        if paths.sorted.is_empty() && !paths.unresolved {
            return Outcome::new(Value::No, Why::EffectAbsent);
        }
        let MatcherPath::Canonical(root) = root else {
            return Outcome::new(Value::Maybe, Why::ContainmentUnknown);
        };
        if has_below(&paths.sorted, root) {
            Outcome::new(Value::Yes, Why::Under)
        } else if paths.unresolved || has_below(&paths.folded, &root.to_lowercase()) {
            Outcome::new(Value::Maybe, Why::ContainmentUnknown)
        } else {
            Outcome::new(Value::No, Why::NotFound)
        }
    }

    fn resolve(&self, kind: EffectKind) -> Paths {
        let mut paths = Paths {
            sorted: Vec::new(),
            folded: Vec::new(),
            unresolved: false,
        };
        for path in self
            .effects
            .iter()
            .filter(|effect| effect.kind() == kind)
            .filter_map(Effect::path)
        {
            // Pseudo devices stay literal, as in the effect.
            let resolved = if crate::paths::is_pseudo_device(path) {
                Ok(path.to_owned())
            } else {
                self.host.canonical_or_parent(path)
            };
            match resolved {
                Ok(path) => paths.sorted.push(with_slash(&path)),
                Err(_) => paths.unresolved = true,
            }
        }
        if self.host.folds_case() {
            paths.folded = paths
                .sorted
                .iter()
                .map(|path| path.to_lowercase())
                .collect();
            paths.folded.sort_unstable();
        }
        paths.sorted.sort_unstable();
        paths
    }
}

fn with_slash(path: &str) -> String {
    if path.ends_with('/') {
        path.to_owned()
    } else {
        format!("{path}/")
    }
}

fn has_below(sorted: &[String], root: &str) -> bool {
    let root = with_slash(root);
    let first = sorted.partition_point(|path| path.as_str() < root.as_str());
    sorted
        .get(first)
        .is_some_and(|path| path.starts_with(&root))
}
