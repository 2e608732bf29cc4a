//! From a manifest runtime to the input of the policy engine (spec 06 sections 2.1 step 9 and 8).
//!
//! The policy engine compares canonical paths only, so whoever knows the host supplies them; the
//! rest is a translation without choices.

use chatmd_policy::{
    CompiledPolicy, DynamicMatch, EffectKind, Matcher as PolicyMatcher, MatcherPath, PolicyFault,
    PolicySource, RuleSource,
};

use crate::manifest::{
    Action, Backend, Confinement, EffectName, Matcher, MatcherFailure, Path, Runtime, Sandbox,
};

/// What a policy needs from the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyRoots {
    /// Canonical read roots of the runtime.
    pub read: Vec<String>,
    /// Canonical write roots of the runtime.
    pub write: Vec<String>,
}

/// The policy of a runtime. `locate` gives the canonical form of a path of a matcher, or its joined
/// absolute form when it has none.
pub fn policy_source(
    runtime: &Runtime,
    roots: PolicyRoots,
    locate: &mut dyn FnMut(&Path) -> MatcherPath,
) -> PolicySource {
    let rules = runtime
        .policy
        .rules
        .iter()
        .map(|rule| RuleSource {
            id: rule.id.clone(),
            action: action(rule.action),
            matcher: matcher(&rule.matcher, locate),
        })
        .collect();
    let powers = &runtime.capabilities;
    PolicySource {
        default: action(runtime.policy.default),
        rules,
        capabilities: chatmd_policy::Capabilities {
            read: roots.read,
            write: roots.write,
            network: powers.network,
            child_processes: powers.child_processes,
            arbitrary_code: powers.arbitrary_code,
            privilege_change: powers.privilege_change,
        },
        direct: may_run_unconfined(runtime),
    }
}

/// [`policy_source`], compiled.
pub fn compiled_policy(
    runtime: &Runtime,
    roots: PolicyRoots,
    locate: &mut dyn FnMut(&Path) -> MatcherPath,
) -> Result<CompiledPolicy, PolicyFault> {
    CompiledPolicy::compile(policy_source(runtime, roots, locate))
}

/// Whether some command of the runtime may start without confinement (spec 02 section 10).
pub fn may_run_unconfined(runtime: &Runtime) -> bool {
    let backends = &runtime.backends;
    match runtime.capabilities.sandbox {
        Sandbox::Required => false,
        Sandbox::Preferred | Sandbox::DirectUnsafe => backends
            .entries
            .iter()
            .any(|backend| !confines(backend, backends.accept_declared_confinement)),
    }
}

/// Whether a backend counts as confining; a declared external one only when that is accepted.
pub fn confines(backend: &Backend, accept_declared_confinement: bool) -> bool {
    match backend {
        Backend::Seatbelt { .. } | Backend::Bubblewrap { .. } => true,
        Backend::Direct { .. } => false,
        Backend::External { confinement, .. } => {
            accept_declared_confinement && *confinement == Confinement::Declared
        }
    }
}

fn action(action: Action) -> chatmd_policy::Action {
    match action {
        Action::Allow => chatmd_policy::Action::Allow,
        Action::Ask => chatmd_policy::Action::Ask,
        Action::Deny => chatmd_policy::Action::Deny,
    }
}

fn effect(effect: EffectName) -> EffectKind {
    match effect {
        EffectName::ReadPath => EffectKind::ReadPath,
        EffectName::WritePath => EffectKind::WritePath,
        EffectName::Network => EffectKind::Network,
        EffectName::ChildProcesses => EffectKind::ChildProcesses,
        EffectName::ArbitraryCode => EffectKind::ArbitraryCode,
        EffectName::PrivilegeChange => EffectKind::PrivilegeChange,
        EffectName::Unknown => EffectKind::Unknown,
    }
}

/// A matcher of a rule or of an interceptor. As deep as the manifest's, which is at most 64.
pub fn matcher(matcher: &Matcher, locate: &mut dyn FnMut(&Path) -> MatcherPath) -> PolicyMatcher {
    match matcher {
        Matcher::AnyCommand {} => PolicyMatcher::AnyCommand,
        Matcher::TrustedExecutable {} => PolicyMatcher::TrustedExecutable,
        Matcher::NoUnknownEffects {} => PolicyMatcher::NoUnknownEffects,
        Matcher::RawShell {} => PolicyMatcher::RawShell,
        Matcher::Program { value } => PolicyMatcher::Program(value.clone()),
        Matcher::Basename { value } => PolicyMatcher::Basename(value.clone()),
        Matcher::Argument { value } => PolicyMatcher::Argument(value.clone()),
        Matcher::ArgumentContains { value } => PolicyMatcher::ArgumentContains(value.clone()),
        Matcher::ProgramRegex { pattern } => PolicyMatcher::ProgramRegex(pattern.clone()),
        Matcher::ResolvedPath { path } => PolicyMatcher::ResolvedPath(locate(path)),
        Matcher::ArgvPrefix { values } => PolicyMatcher::ArgvPrefix(values.clone()),
        Matcher::Effect {
            effect: name,
            under,
        } => PolicyMatcher::Effect {
            kind: effect(*name),
            under: under.as_ref().map(&mut *locate),
        },
        Matcher::ChatmlMatch {
            script,
            function,
            failure,
        } => {
            let failure = match failure {
                MatcherFailure::Conservative | MatcherFailure::NoMatch => {
                    chatmd_policy::MatcherFailure::Conservative
                }
                MatcherFailure::Deny | MatcherFailure::Error => chatmd_policy::MatcherFailure::Deny,
            };
            PolicyMatcher::Dynamic(DynamicMatch {
                script: script.clone(),
                function: function.clone(),
                failure,
            })
        }
        Matcher::All { of } => PolicyMatcher::All(all(of, locate)),
        Matcher::Any { of } => PolicyMatcher::Any(all(of, locate)),
        Matcher::Not { of } => PolicyMatcher::Not(Box::new(self::matcher(of, locate))),
    }
}

fn all(of: &[Matcher], locate: &mut dyn FnMut(&Path) -> MatcherPath) -> Vec<PolicyMatcher> {
    of.iter()
        .map(|child| matcher(child, &mut *locate))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::manifest::{Manifest, PathBase, from_value};

    fn manifest(case: &str) -> Manifest {
        let root = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../corpus/vectors/manifest/"
        );
        let text = std::fs::read(format!("{root}{case}/expect.json")).unwrap();
        let mut expect: serde_json::Value = serde_json::from_slice(&text).unwrap();
        from_value(expect["payload"].take()).unwrap()
    }

    fn locate(path: &Path) -> MatcherPath {
        match path.base {
            PathBase::Absolute => MatcherPath::Canonical(path.path.clone()),
            base => MatcherPath::Unresolved(format!("/{}/{}", base.as_str(), path.path)),
        }
    }

    #[test]
    fn every_matcher_of_the_language_is_lowered() {
        let manifest = manifest("015-policy-every-matcher");
        let runtime = &manifest.runtimes[0];
        let source = policy_source(runtime, PolicyRoots::default(), &mut locate);
        assert_eq!(source.default, chatmd_policy::Action::Deny);
        let ids: Vec<&str> = source.rules.iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids, ["any", "deep", "json prefix", "eff", "dyn", "clamped"]);
        let PolicyMatcher::All(deep) = &source.rules[1].matcher else {
            unreachable!()
        };
        assert_eq!(deep.len(), 13);
        assert_eq!(
            deep[2],
            PolicyMatcher::ResolvedPath(MatcherPath::Unresolved("/workspace/bin/git".to_owned()))
        );
        assert_eq!(
            deep[8],
            PolicyMatcher::Effect {
                kind: EffectKind::ReadPath,
                under: Some(MatcherPath::Unresolved("/source_dir/src".to_owned())),
            }
        );
        let failure = |index: usize| match &source.rules[index].matcher {
            PolicyMatcher::Dynamic(dynamic) => (dynamic.function.clone(), dynamic.failure),
            other => unreachable!("{other:?}"),
        };
        let deny = chatmd_policy::MatcherFailure::Deny;
        assert_eq!(failure(4), ("other".to_owned(), deny));
        let conservative = chatmd_policy::MatcherFailure::Conservative;
        assert_eq!(failure(5), ("match_command".to_owned(), conservative));
        compiled_policy(runtime, PolicyRoots::default(), &mut locate).unwrap();
    }

    #[test]
    fn every_policy_of_the_vectors_compiles() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
        for entry in std::fs::read_dir(root).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            for runtime in &manifest(&name).runtimes {
                compiled_policy(runtime, PolicyRoots::default(), &mut locate).unwrap();
            }
        }
    }

    #[test]
    fn what_may_run_unconfined() {
        for (case, runtime, expected) in [
            ("001-defaults-linux", 0, false),
            ("037-legacy-tools", 0, true),
            ("013-backends-windows-direct", 0, true),
        ] {
            let manifest = manifest(case);
            assert_eq!(
                may_run_unconfined(&manifest.runtimes[runtime]),
                expected,
                "{case}"
            );
        }
    }
}
