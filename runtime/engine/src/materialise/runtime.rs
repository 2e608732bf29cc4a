//! One live runtime (06 section 2.1).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use chatmd_compiler::manifest::{self, FixedArg, Mode, Reviewer, Tool};
use chatmd_facts::environment::{self, BuiltEnvironment};
use chatmd_facts::policy::compile_policy;
use chatmd_facts::resolver::Resolver;
use chatmd_facts::roots::{self, FrozenRoots};
use chatmd_facts::secrets::{self, LoadedSecrets};
use chatmd_facts::{CanonicalPath, FactsError, Host, canonical_or_parent};
use chatmd_plan::bubblewrap::{Note, Standing};
use chatmd_plan::limits::{self, Lowered};
use chatmd_plan::roots::cwd_reachable;
use chatmd_policy::CompiledPolicy;
use zeroize::Zeroizing;

use super::backend::{SelectedBackend, SelectedKind, Wrappers};
use super::state::Shared;
use super::{HostSettings, Problem, audit, backend};
use crate::authorise::AuthorizedManifest;
use crate::identity::{cwd_sha256, environment_sha256};
use crate::journal::Journal;
use crate::output::{Redactor, RedactorBuilder, SecretBytes};
use crate::sys::launch::present_hard_limit;

/// A runtime whose every part has been checked.
pub struct Runtime {
    /// The declaration.
    pub declared: manifest::Runtime,
    /// Canonical working directory.
    pub cwd: CanonicalPath,
    /// Environment of its commands.
    pub environment: BuiltEnvironment,
    /// Digest of the environment for command identities.
    pub environment_sha256: String,
    /// Digest of the working directory for command identities.
    pub cwd_sha256: String,
    /// Hides its secrets.
    pub redactor: Redactor,
    /// Capability roots.
    pub roots: FrozenRoots,
    /// Finds and judges programs.
    pub resolver: Resolver,
    /// Limits.
    pub limits: Lowered,
    /// Rules and ceilings.
    pub policy: CompiledPolicy,
    /// What the document says beside its rules, by rule.
    pub rationales: BTreeMap<String, String>,
    /// Where its commands run.
    pub backend: SelectedBackend,
    /// Its audit stream.
    pub journal: Journal,
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime")
            .field("id", &self.declared.id)
            .finish_non_exhaustive()
    }
}

impl Runtime {
    /// The warning of a runtime that prefers a sandbox and has none (06b B1.2).
    pub fn fallback_warning(&self) -> Option<String> {
        let choice = &self.backend.choice;
        choice.unconfined_fallback.then(|| {
            let name = &choice.name;
            format!("no sandbox can be used here, so commands run without one ({name})")
        })
    }

    /// What inspection says about its backend (06b B1.2, B2): weaker than one would expect.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::from_iter(self.fallback_warning());
        if let SelectedKind::Bubblewrap { wrapper, settings } = &self.backend.kind {
            warnings.extend(wrapper.warnings().iter().cloned());
            let notes = Standing {
                features: wrapper.features(),
                settings: *settings,
                system: &self.shared.system,
                roots: &self.roots.current().usable,
                control: &self.shared.control_paths(&self.roots.write),
                cwd: self.cwd.as_path(),
            }
            .notes();
            match notes {
                Ok(notes) => warnings.extend(Note::texts(&notes)),
                Err(error) => warnings.push(format!("no command can run here: {error}")),
            }
        }
        warnings
    }

    /// Qualified id.
    pub fn id(&self) -> &str {
        &self.declared.id
    }

    /// Bytes of all `NAME=VALUE` strings.
    pub fn environment_bytes(&self) -> usize {
        let entries = self.environment.entries().iter();
        entries
            .map(|(name, value)| name.len() + value.len() + 1)
            .sum()
    }
}

/// What a runtime is built from.
pub(super) struct Work<'a> {
    pub(super) host: &'a Host,
    pub(super) declared: &'a manifest::Runtime,
    pub(super) tools: &'a [&'a Tool],
    pub(super) authorized: &'a AuthorizedManifest,
    pub(super) settings: &'a HostSettings,
    pub(super) shared: &'a Arc<Shared>,
}

/// Collects problems of independent steps.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.0.push(problem)).ok()
    }

    fn keep_all<T>(&mut self, result: Result<T, Vec<Problem>>) -> Option<T> {
        result.map_err(|problems| self.0.extend(problems)).ok()
    }

    fn facts<T>(&mut self, result: Result<T, FactsError>) -> Option<T> {
        self.keep(result.map_err(|error| from_facts(&error)))
    }

    fn all_facts<T>(&mut self, result: Result<T, Vec<FactsError>>) -> Option<T> {
        self.keep_all(result.map_err(|errors| errors.iter().map(from_facts).collect()))
    }
}

fn from_facts(error: &FactsError) -> Problem {
    Problem::new(error.code(), error.to_string())
}

impl Work<'_> {
    /// Steps 3 to 12. Steps that do not depend on each other all run, so that all problems show.
    pub(super) async fn build(self, wrappers: &mut Wrappers) -> Result<Runtime, Vec<Problem>> {
        let declared = self.declared;
        let mut problems = Problems::default();
        self.refuse_extensions(&mut problems);
        let cwd = problems.facts(self.host.working_directory(&declared.cwd));
        let relative = declared.resolver.allow_relative_search_path;
        let environment = problems.all_facts(environment::build(
            self.host,
            &declared.environment,
            relative,
        ));
        let redactor = environment
            .as_ref()
            .and_then(|built| self.redactor(built, &mut problems));
        let roots = problems.keep_all(self.roots());
        let resolver = match (&cwd, &environment, &roots) {
            (Some(cwd), Some(environment), Some(roots)) => {
                let built = Resolver::new(self.host, &declared.resolver, cwd, environment, roots);
                let resolver = problems.all_facts(built);
                if let Some(resolver) = &resolver {
                    problems
                        .0
                        .extend(resolver.check_declared().iter().map(from_facts));
                }
                resolver
            }
            _ => None,
        };
        let limits = self.limits(&mut problems);
        let policy = roots.as_ref().and_then(|roots| {
            let compiled = compile_policy(self.host, declared, roots);
            problems.keep_all(compiled.map_err(|found| {
                let found = found.into_iter();
                found.map(|it| Problem::new(it.code, it.message)).collect()
            }))
        });
        let backend = problems.keep(backend::select(self.host, declared, wrappers).await);
        if let (Some(cwd), Some(roots), Some(backend)) = (&cwd, &roots, &backend) {
            reachable(cwd, roots, backend, &mut problems);
            self.state_is_out_of_reach(roots, backend, &mut problems);
        }
        // The audit sink comes last: a runtime that can not start leaves no trace in its log.
        let journal = match &redactor {
            Some(redactor) if problems.0.is_empty() => problems.keep(self.journal(redactor)),
            _ => None,
        };
        let parts = (
            cwd,
            environment,
            redactor,
            roots,
            resolver,
            limits,
            policy,
            backend,
            journal,
        );
        let (
            Some(cwd),
            Some(environment),
            Some(redactor),
            Some(roots),
            Some(resolver),
            Some(limits),
            Some(policy),
            Some(backend),
            Some(journal),
        ) = parts
        else {
            return Err(problems.0);
        };
        if !problems.0.is_empty() {
            return Err(problems.0);
        }
        let variables = environment.entries().iter();
        let environment_sha256 =
            environment_sha256(variables.map(|(name, value)| (name.as_bytes(), value.as_bytes())));
        Ok(Runtime {
            declared: declared.clone(),
            environment_sha256,
            cwd_sha256: cwd_sha256(cwd.as_bytes()),
            cwd,
            environment,
            redactor,
            roots,
            resolver,
            limits,
            policy,
            rationales: {
                let all = &self.authorized.document().material.rationales;
                all.get(&declared.id).cloned().unwrap_or_default()
            },
            backend,
            journal,
            shared: Arc::clone(self.shared),
        })
    }

    /// The roots that were authorised: those of the binding, and no others.
    fn roots(&self) -> Result<FrozenRoots, Vec<Problem>> {
        let binding = self.authorized.document().manifest.binding.as_ref();
        let bound = binding
            .and_then(|binding| {
                let mut runtimes = binding.roots.iter();
                runtimes.find(|roots| roots.runtime == self.declared.id)
            })
            .ok_or_else(|| {
                let message = "the manifest has no roots bound for this runtime";
                vec![Problem::new("shell.manifest_grant_mismatch", message)]
            })?;
        roots::freeze_bound(self.host, &self.declared.capabilities, bound)
            .map_err(|errors| errors.iter().map(from_facts).collect())
    }

    /// Extensions that this version does not run are refused, never ignored.
    fn refuse_extensions(&self, problems: &mut Problems) {
        let declared = self.declared;
        let reviewers = declared.reviewers.entries.iter();
        let automatic = reviewers
            .filter(|entry| !matches!(entry, Reviewer::Ui { .. }))
            .count();
        let scripts = declared
            .policy
            .rules
            .iter()
            .any(|rule| rule.matcher.scripts().next().is_some());
        for (present, what) in [
            (automatic > 0, "automatic reviewers"),
            (!declared.interceptors.is_empty(), "interceptors"),
            (!declared.effect_analyzers.is_empty(), "effect analyzers"),
            (declared.audit.filter.is_some(), "audit filters"),
            (scripts, "script matchers"),
        ] {
            if present {
                let message = format!("this version does not run {what}");
                problems
                    .0
                    .push(Problem::new("shell.runtime_instantiation_failed", message));
            }
        }
    }

    /// No command may be able to write what authorises or records it (spec 08 section 1, P4).
    fn state_is_out_of_reach(
        &self,
        roots: &FrozenRoots,
        backend: &SelectedBackend,
        problems: &mut Problems,
    ) {
        let own = [
            &self.settings.state.root,
            &self.settings.state.integrity_key,
            &self.settings.session_dir.join(".chatmd"),
        ];
        let own = own
            .into_iter()
            .filter_map(|path| canonical_or_parent(path).ok());
        for path in own {
            let Some(root) = roots.write.iter().find(|root| root.contains(&path)) else {
                continue;
            };
            let shown = path.as_path().display();
            let root = root.as_path().display();
            if matches!(backend.kind, SelectedKind::Bubblewrap { .. }) {
                let message =
                    format!("the runtime's own state {shown} lies in the write root {root}");
                problems
                    .0
                    .push(Problem::new("shell.state_in_write_root", message));
            } else {
                let message = format!(
                    "{}: commands without a sandbox could change the runtime's own state {shown}",
                    self.declared.id
                );
                self.settings
                    .warnings
                    .add("shell.state_unprotected", &message);
            }
        }
    }

    fn redactor(
        &self,
        environment: &BuiltEnvironment,
        problems: &mut Problems,
    ) -> Option<Redactor> {
        let material = &self.authorized.document().material;
        let id = self.declared.id.as_str();
        let literal = |index: u64| {
            let secret = material.literals.get(&(id.to_owned(), index))?;
            Some(Zeroizing::new(secret.0.clone().into_bytes()))
        };
        let loaded = secrets::load(self.host, environment, &self.declared.secrets, literal);
        let mut loaded: LoadedSecrets = problems.all_facts(loaded)?;
        for name in self.secret_arguments() {
            if let Some(value) = problems.facts(secrets::secret_argument(environment, name)) {
                loaded.add(value);
            }
        }
        for warning in &loaded.warnings {
            self.settings
                .warnings
                .add(warning.code(), &warning.message());
        }
        let mut builder = RedactorBuilder::new(&self.declared.secrets.replacement);
        for value in &loaded.values {
            let bytes = SecretBytes::new(value.expose().to_vec());
            let registered = builder.register(value.source(), &bytes);
            problems.keep(registered.map_err(unloadable));
        }
        // Its warnings are those of the loaded values, reported above.
        problems.keep(
            builder
                .build()
                .map(|(redactor, _)| redactor)
                .map_err(unloadable),
        )
    }

    fn secret_arguments(&self) -> impl Iterator<Item = &str> {
        let fixed = self.tools.iter().filter_map(|tool| match &tool.mode {
            Mode::Fixed { arguments, .. } => Some(arguments),
            _ => None,
        });
        fixed.flatten().filter_map(|argument| match argument {
            FixedArg::SecretEnv { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    fn limits(&self, problems: &mut Problems) -> Option<Lowered> {
        let lowered = limits::lower(&self.declared.limits)
            .and_then(|lowered| {
                lowered.check(|resource| present_hard_limit(resource).ok().flatten())?;
                Ok(lowered)
            })
            .map_err(|error| Problem::new(error.code(), error.to_string()));
        problems.keep(lowered)
    }

    fn journal(&self, redactor: &Redactor) -> Result<Journal, Problem> {
        audit::open(
            self.host,
            &self.declared.audit,
            self.authorized.document(),
            redactor,
            self.settings,
        )
    }
}

fn unloadable(error: impl std::fmt::Display) -> Problem {
    Problem::new("shell.secret_load_failed", error.to_string())
}

/// A confined command must be able to enter its working directory.
fn reachable(
    cwd: &CanonicalPath,
    roots: &FrozenRoots,
    backend: &SelectedBackend,
    problems: &mut Problems,
) {
    let confined = matches!(backend.kind, SelectedKind::Bubblewrap { .. });
    if confined && !cwd_reachable(&roots.current().usable, cwd.as_path()) {
        let message = format!(
            "the working directory {} lies in no root",
            cwd.as_path().display()
        );
        problems
            .0
            .push(Problem::new("shell.cwd_unreachable", message));
    }
}

/// A name as an environment entry.
pub(crate) fn entry(name: &OsStr, value: &OsStr) -> Vec<u8> {
    let mut entry = Vec::with_capacity(name.len() + value.len() + 1);
    entry.extend_from_slice(name.as_bytes());
    entry.push(b'=');
    entry.extend_from_slice(value.as_bytes());
    entry
}
