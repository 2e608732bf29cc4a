//! Capability check: do the inferred effects fit the declared ceilings (spec 06 section 7)?

use std::fmt;

use crate::effect::{Effect, EffectKind, Effects};
use crate::facts::PolicyHost;
use crate::paths;

/// Lowered capabilities of one runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Canonical read roots, frozen when the runtime was materialised.
    pub read: Vec<String>,
    /// Canonical write roots, frozen likewise.
    pub write: Vec<String>,
    /// Network access.
    pub network: bool,
    /// Starting other processes.
    pub child_processes: bool,
    /// Running code that the analysis does not see.
    pub arbitrary_code: bool,
    /// Changing privileges.
    pub privilege_change: bool,
}

/// One effect that exceeds the capabilities. `Display` prints the reason text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityFailure {
    /// Kind of the effect.
    pub kind: EffectKind,
    /// Path of a path effect.
    pub path: Option<String>,
    /// The granted root (of a kind that would satisfy the effect) that shares the most leading
    /// components with the path.
    pub nearest_root: Option<String>,
    /// A frozen root that would have held the path now leads elsewhere.
    pub root_changed: bool,
    /// Reason of an unknown effect.
    pub unknown: Option<String>,
}

impl fmt::Display for CapabilityFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref().unwrap_or_default();
        match self.kind {
            EffectKind::ReadPath | EffectKind::WritePath if self.root_changed => {
                out.write_str("capability root changed")
            }
            EffectKind::ReadPath => write!(
                out,
                "read outside allowed roots: {path}{}",
                advice(path, "read")
            ),
            EffectKind::WritePath => write!(
                out,
                "write outside allowed roots: {path}{}",
                advice(path, "write")
            ),
            EffectKind::Network => out.write_str("network access is disabled"),
            EffectKind::ChildProcesses => out.write_str("child process creation is disabled"),
            EffectKind::ArbitraryCode => out.write_str("arbitrary code execution is disabled"),
            EffectKind::PrivilegeChange => out.write_str("privilege changes are disabled"),
            EffectKind::Unknown => write!(
                out,
                "unknown effect requires arbitrary-code capability: {}",
                self.unknown.as_deref().unwrap_or_default()
            ),
        }
    }
}

/// Every effect that the capabilities do not cover, in the order of the effects. The first one is
/// the reason of the `capability_violation`; an empty list means that the check passed.
pub fn check_capabilities(
    capabilities: &Capabilities,
    effects: &Effects,
    host: &dyn PolicyHost,
) -> Vec<CapabilityFailure> {
    let roots = LiveRoots::new(capabilities, host);
    effects
        .iter()
        .filter_map(|effect| roots.failure(capabilities, effect, host))
        .collect()
}

/// A worktree and a submodule keep their git directory elsewhere, which few people think of.
fn advice(path: &str, element: &str) -> String {
    if path.split('/').any(|part| part == ".git") {
        format!(" (a git directory; grant it with `<{element} path=\"…\"/>` in `capabilities`)")
    } else {
        String::new()
    }
}

/// Roots that still lead where they led when they were frozen, and those that do not.
struct LiveRoots<'a> {
    read: Vec<&'a str>,
    write: Vec<&'a str>,
    changed: Vec<&'a str>,
}

impl<'a> LiveRoots<'a> {
    fn new(capabilities: &'a Capabilities, host: &dyn PolicyHost) -> Self {
        let mut changed = Vec::new();
        let mut live = |roots: &'a [String]| -> Vec<&'a str> {
            let mut kept = Vec::with_capacity(roots.len());
            for root in roots {
                if host.canonical_or_parent(root).is_ok_and(|now| now == *root) {
                    kept.push(root.as_str());
                } else {
                    changed.push(root.as_str());
                }
            }
            kept
        };
        let write = live(&capabilities.write);
        let read = live(&capabilities.read);
        Self {
            read,
            write,
            changed,
        }
    }

    fn failure(
        &self,
        capabilities: &Capabilities,
        effect: &Effect,
        host: &dyn PolicyHost,
    ) -> Option<CapabilityFailure> {
        // The path is resolved again: links may have moved since the effects were inferred. One
        // that no longer resolves lies outside every root.
        let now = effect
            .path()
            .and_then(|path| host.canonical_or_parent(path).ok());
        let within = |roots: &[&str]| {
            now.as_deref()
                .is_some_and(|path| roots.iter().any(|root| paths::is_within(root, path)))
        };
        let covered = match effect {
            Effect::Read(path) => {
                paths::is_pseudo_device(path) || within(&self.write) || within(&self.read)
            }
            Effect::Write(path) => paths::is_writable_device(path) || within(&self.write),
            Effect::Network => capabilities.network,
            Effect::ChildProcesses => capabilities.child_processes,
            Effect::ArbitraryCode | Effect::Unknown(_) => capabilities.arbitrary_code,
            Effect::PrivilegeChange => capabilities.privilege_change,
        };
        (!covered).then(|| self.describe(effect))
    }

    fn describe(&self, effect: &Effect) -> CapabilityFailure {
        let path = effect.path();
        let candidates = match effect {
            Effect::Read(_) => [self.read.as_slice(), self.write.as_slice()],
            _ => [self.write.as_slice(), &[]],
        };
        let nearest_root = path.and_then(|path| {
            candidates
                .iter()
                .flat_map(|roots| roots.iter())
                .copied()
                .max_by_key(|root| shared_components(root, path))
                .map(str::to_owned)
        });
        CapabilityFailure {
            kind: effect.kind(),
            root_changed: path
                .is_some_and(|path| self.changed.iter().any(|root| paths::is_within(root, path))),
            path: path.map(str::to_owned),
            nearest_root,
            unknown: match effect {
                Effect::Unknown(reason) => Some(reason.clone()),
                _ => None,
            },
        }
    }
}

fn shared_components(root: &str, path: &str) -> usize {
    root.split('/')
        .zip(path.split('/'))
        .take_while(|(a, b)| a == b)
        .count()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::borrow::Cow;

    use super::*;
    use crate::effect::{EffectRecord, EffectSource};
    use crate::symbolic::{SymbolicFacts, SymbolicHost, SymbolicResolver};

    fn failures(facts: &str, effects: Vec<Effect>) -> Vec<String> {
        let mut given = SymbolicFacts::default();
        given.add(facts).expect("facts");
        let host = SymbolicHost::new(given, SymbolicResolver::default());
        let mut set = Effects::new();
        for effect in effects {
            set.push(EffectRecord {
                effect,
                source: EffectSource::Builtin,
                rule: Cow::Borrowed("test"),
            });
        }
        let capabilities = Capabilities {
            read: vec!["/ws".to_owned()],
            write: vec!["/ws/out".to_owned()],
            ..Capabilities::default()
        };
        check_capabilities(&capabilities, &set, &host)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn every_row_of_the_table() {
        let read = |path: &str| Effect::Read(path.to_owned());
        let write = |path: &str| Effect::Write(path.to_owned());
        for (effect, reason) in [
            (read("/ws/a"), None),
            (read("/ws/out/a"), None),
            (read("/dev/urandom"), None),
            (read("/ws2"), Some("read outside allowed roots: /ws2")),
            (write("/ws/out"), None),
            (write("/dev/stdout"), None),
            (
                write("/dev/urandom"),
                Some("write outside allowed roots: /dev/urandom"),
            ),
            (write("/ws/a"), Some("write outside allowed roots: /ws/a")),
            (Effect::Network, Some("network access is disabled")),
            (
                Effect::ChildProcesses,
                Some("child process creation is disabled"),
            ),
            (
                Effect::ArbitraryCode,
                Some("arbitrary code execution is disabled"),
            ),
            (
                Effect::PrivilegeChange,
                Some("privilege changes are disabled"),
            ),
            (
                Effect::Unknown("x".to_owned()),
                Some("unknown effect requires arbitrary-code capability: x"),
            ),
        ] {
            let found = failures("", vec![effect.clone()]);
            assert_eq!(found.first().map(String::as_str), reason, "{effect}");
        }
    }

    #[test]
    fn all_failures_in_the_order_of_the_effects() {
        let found = failures("", vec![Effect::Network, Effect::Read("/x".to_owned())]);
        assert_eq!(
            found,
            [
                "network access is disabled",
                "read outside allowed roots: /x"
            ]
        );
    }

    #[test]
    fn links_that_appeared_after_inference() {
        let path = || vec![Effect::Read("/ws/l/a".to_owned())];
        assert!(failures("", path()).is_empty());
        assert_eq!(
            failures("link /ws/l -> /etc", path()),
            ["read outside allowed roots: /ws/l/a"]
        );
        assert_eq!(
            failures("link /ws -> /etc", path()),
            ["capability root changed"]
        );
        assert_eq!(
            failures("link /ws/l -> /ws/l", path()),
            ["read outside allowed roots: /ws/l/a"]
        );
    }

    #[test]
    fn a_failure_names_the_nearest_root_that_would_have_served() {
        let host = SymbolicHost::new(SymbolicFacts::default(), SymbolicResolver::default());
        let capabilities = Capabilities {
            read: ["/opt", "/ws/a/b", "/ws", "/srv"]
                .map(str::to_owned)
                .to_vec(),
            write: vec!["/ws/a/c/d".to_owned(), "/tmp".to_owned()],
            ..Capabilities::default()
        };
        let nearest = |effect: Effect| {
            let mut set = Effects::new();
            set.push(EffectRecord {
                effect,
                source: EffectSource::Builtin,
                rule: Cow::Borrowed("test"),
            });
            let found = check_capabilities(&capabilities, &set, &host);
            found.first().map(|failure| failure.nearest_root.clone())
        };
        let read = |path: &str| nearest(Effect::Read(path.to_owned()));
        let write = |path: &str| nearest(Effect::Write(path.to_owned()));
        let root = |path: &str| Some(Some(path.to_owned()));
        // A write root lets read as well.
        assert_eq!(read("/tmp/x"), None);
        assert_eq!(read("/opt2/x"), read("/etc"));
        assert_eq!(read("/ws2/a/b"), read("/etc"));
        assert_eq!(write("/ws/a/b"), root("/ws/a/c/d"));
        assert_eq!(write("/tmp2"), write("/etc"));
        assert_eq!(nearest(Effect::Network), Some(None));
    }
}
