//! A runtime on this machine as an evaluation asks it (spec 10 section 2.8): the real resolution,
//! the real paths, the exact sandbox argv. Opens and hashes files; starts nothing, writes nothing.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::rc::Rc;

use chatmd_compiler::Compilation;
use chatmd_compiler::evaluation::{EvaluationHost, ResolutionDetails};
use chatmd_compiler::manifest::{self, Backend, Path, PathBase, Runtime};
use chatmd_facts::environment::{self, BuiltEnvironment};
use chatmd_facts::policy::compile_policy;
use chatmd_facts::policy_host::{LiveHost, executable_facts};
use chatmd_facts::resolver::{ResolvedExecutable, Resolver};
use chatmd_facts::roots::{self, FrozenRoots};
use chatmd_facts::sandbox_facts::{
    ControlInput, audit_file, control_paths, state_path, system_facts,
};
use chatmd_facts::{CanonicalPath, Host, secrets};
use chatmd_plan::bubblewrap::{self, Features, Input, Note, Settings, Standing};
use chatmd_plan::facts::{ControlPath, StatePath};
use chatmd_plan::seccomp::Arch;
use chatmd_policy::trace::{BackendTrace, HostKind, Known, SearchTrace, TrustTrace};
use chatmd_policy::{CompiledPolicy, ExecutableFacts, PolicyHost};

use crate::live::{Live, LiveBackend};

/// A runtime on this machine.
pub struct LiveEvaluation<'a> {
    host: &'a Host,
    runtime: &'a Runtime,
    backend: Option<&'a LiveBackend>,
    cwd: CanonicalPath,
    cwd_text: String,
    environment: BuiltEnvironment,
    effect_variables: BTreeMap<String, String>,
    roots: FrozenRoots,
    paths: LivePaths,
    policy: CompiledPolicy,
    /// What stands in the way of starting this runtime here.
    obstacles: Vec<String>,
    /// Files of the document.
    sources: Vec<PathBuf>,
    /// Programs that were looked up.
    resolved: RefCell<HashMap<String, Result<Rc<ResolvedExecutable>, String>>>,
}

/// The resolver, with which questions about paths are answered.
struct LivePaths {
    resolver: Resolver,
}

impl PolicyHost for LivePaths {
    fn canonical_or_parent(&self, path: &str) -> Result<String, chatmd_policy::PathFault> {
        LiveHost::new(&self.resolver).canonical_or_parent(path)
    }

    fn search(&self, program: &str, cwd: &str) -> Option<chatmd_policy::Located> {
        LiveHost::new(&self.resolver).search(program, cwd)
    }

    fn folds_case(&self) -> bool {
        LiveHost::new(&self.resolver).folds_case()
    }

    fn linked_git_directories(&self, folder: &str) -> Vec<String> {
        LiveHost::new(&self.resolver).linked_git_directories(folder)
    }
}

impl<'a> LiveEvaluation<'a> {
    /// Looks a runtime up on this machine.
    ///
    /// # Errors
    /// One sentence for each thing without which nothing can be judged.
    pub fn of(
        live: &'a Live,
        runtime: &'a Runtime,
        compilation: &Compilation,
    ) -> Result<Self, Vec<String>> {
        let host = &live.host;
        let bound = live.manifest.binding.as_ref().and_then(|binding| {
            let mut roots = binding.roots.iter();
            roots.find(|roots| roots.runtime == runtime.id)
        });
        let mut runtimes = live.runtimes.iter();
        let backend = runtimes
            .find(|found| found.runtime == runtime.id)
            .and_then(|found| found.backend.as_ref());
        let sources = compilation.files.iter();
        let sources = sources
            .map(|file| file.path.as_std_path().to_path_buf())
            .collect();
        let mut errors = Vec::new();
        let relative = runtime.resolver.allow_relative_search_path;
        let cwd = host
            .working_directory(&runtime.cwd)
            .map_err(|error| errors.push(error.to_string()));
        let environment = environment::build(host, &runtime.environment, relative)
            .map_err(|found| errors.extend(found.iter().map(ToString::to_string)));
        let roots = match bound {
            Some(bound) => roots::freeze_bound(host, &runtime.capabilities, bound)
                .map_err(|found| errors.extend(found.iter().map(ToString::to_string))),
            None => {
                errors.push("the manifest has no roots bound for this runtime".to_owned());
                Err(())
            }
        };
        let (Ok(cwd), Ok(environment), Ok(roots)) = (cwd, environment, roots) else {
            return Err(errors);
        };
        let resolver = Resolver::new(host, &runtime.resolver, &cwd, &environment, &roots)
            .map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let policy = compile_policy(host, runtime, &roots).map_err(|found| {
            let found = found.into_iter();
            found.map(|problem| problem.message).collect::<Vec<_>>()
        })?;
        let Some(cwd_text) = cwd.to_str().map(str::to_owned) else {
            return Err(vec![
                "the path of the working directory is not valid UTF-8".to_owned(),
            ]);
        };
        let mut obstacles: Vec<String> = resolver
            .check_declared()
            .iter()
            .map(ToString::to_string)
            .collect();
        if backend.is_none() {
            obstacles.push("no declared backend can be used here".to_owned());
        }
        let variable =
            |name: &str| Some((name.to_owned(), environment.get(name)?.to_str()?.to_owned()));
        let effect_variables = ["HOME", "RIPGREP_CONFIG_PATH"]
            .into_iter()
            .filter_map(variable)
            .collect();
        Ok(Self {
            host,
            runtime,
            backend,
            cwd,
            cwd_text,
            effect_variables,
            environment,
            roots,
            paths: LivePaths { resolver },
            policy,
            obstacles,
            sources,
            resolved: RefCell::default(),
        })
    }

    /// What stands in the way of starting this runtime here.
    pub fn obstacles(&self) -> &[String] {
        &self.obstacles
    }

    fn lookup(&self, program: &str) -> Result<Rc<ResolvedExecutable>, String> {
        if let Some(known) = self.resolved.borrow().get(program) {
            return known.clone();
        }
        let found = self
            .paths
            .resolver
            .resolve(program)
            .map(Rc::new)
            .map_err(|error| error.to_string());
        self.resolved
            .borrow_mut()
            .insert(program.to_owned(), found.clone());
        found
    }

    /// What is weaker here than one would expect, or in the way of every command (06b B1.2, B2).
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self
            .obstacles
            .iter()
            .map(|obstacle| format!("the runtime would not start here: {obstacle}"))
            .collect();
        if let Some(settings) = self.settings() {
            let standing = system_facts().map_err(|error| error.to_string());
            let standing = standing.and_then(|system| {
                let standing = Standing {
                    features: self.features(),
                    settings,
                    system: &system,
                    roots: &self.roots.current().usable,
                    control: &self.control(),
                    cwd: self.cwd.as_path(),
                };
                standing.notes().map_err(|error| error.to_string())
            });
            match standing {
                Ok(notes) => warnings.extend(Note::texts(&notes)),
                Err(error) => warnings.push(format!("no command can run here: {error}")),
            }
        }
        warnings
    }

    /// What bubblewrap can do: the newest is assumed where its bytes do not tell.
    fn features(&self) -> Features {
        self.known_features().unwrap_or(NEWEST)
    }

    fn known_features(&self) -> Option<Features> {
        self.backend?.wrapper.as_ref()?.features
    }

    fn control(&self) -> Vec<ControlPath> {
        let projects = self.host.directory(PathBase::Workspace, None);
        control_paths(&ControlInput {
            write_roots: &self.roots.write,
            sources: &self.sources,
            projects: projects
                .as_ref()
                .map(std::slice::from_ref)
                .unwrap_or_default(),
        })
    }

    /// The options and the command that bubblewrap would get; descriptors as `{N}`, values of
    /// variables left out.
    fn bubblewrap(&self, argv: &[String]) -> Result<Vec<String>, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let program = argv.first().ok_or("the command is empty")?;
        let resolved = self.lookup(program)?;
        let settings = self.settings().ok_or("the backend is not bubblewrap")?;
        let system = system_facts().map_err(|error| text(&error))?;
        let state = self.state();
        let control = self.control();
        let executable = resolved.target();
        let interpreter = resolved.interpreter().map(|it| it.target());
        let arguments: Vec<OsString> = argv.iter().skip(1).map(OsString::from).collect();
        let roots = self.roots.current().usable;
        let input = Input {
            features: self.features(),
            settings,
            system: &system,
            roots: &roots,
            state: &state,
            control: &control,
            executable: &executable,
            interpreter: interpreter.as_ref(),
            script: None,
            argv0: OsStr::new(resolved.located()),
            arguments: &arguments,
            cwd: self.cwd.as_path(),
            environment: self.environment.entries(),
        };
        let plan = bubblewrap::plan(&input).map_err(|error| text(&error))?;
        let options = plan
            .options
            .iter()
            .flat_map(|option| option.display_words());
        let mut words: Vec<OsString> = options.collect();
        words.push("--".into());
        words.extend(plan.command.iter().cloned());
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        Ok(words.collect())
    }

    fn settings(&self) -> Option<Settings> {
        let powers = &self.runtime.capabilities;
        let chosen = self.backend?;
        self.runtime
            .backends
            .entries
            .iter()
            .find_map(|entry| match entry {
                Backend::Bubblewrap {
                    id,
                    private_tmp,
                    proc,
                    dev,
                    ..
                } if chosen.kind == "bubblewrap" && *id == chosen.id => Some(Settings {
                    private_tmp: *private_tmp,
                    proc: *proc,
                    dev: *dev,
                    network: powers.network,
                    child_processes: powers.child_processes,
                    privilege_change: powers.privilege_change,
                    disable_userns: true,
                    hold: true,
                    arch: Arch::host(),
                }),
                _ => None,
            })
    }

    /// The runtime's own files that exist already and would be covered.
    fn state(&self) -> Vec<StatePath> {
        let session = self.host.directory(PathBase::SessionDir, None).ok();
        let session = session.map(|path| path.as_path().join(".chatmd"));
        let masked = session.iter().filter_map(|path| state_path(path));
        let audit = self.runtime.audit.path.as_ref();
        let audit = audit.and_then(|path| self.host.resolve(path).ok());
        masked
            .chain(audit.and_then(|path| audit_file(&path)))
            .collect()
    }
}

/// bubblewrap is not started to ask it.
const NEWEST: Features = Features {
    perms: true,
    clearenv: true,
    json_status_fd: true,
    disable_userns: true,
    size: true,
    argv0: true,
    ro_bind_fd: true,
    bind_fd: true,
    block_fd: true,
};

impl EvaluationHost for LiveEvaluation<'_> {
    fn kind(&self) -> HostKind {
        HostKind::Live
    }

    fn paths(&self) -> &dyn PolicyHost {
        &self.paths
    }

    fn policy(&self) -> &CompiledPolicy {
        &self.policy
    }

    fn cwd(&self) -> &str {
        &self.cwd_text
    }

    fn direct(&self) -> bool {
        self.backend.is_some_and(|backend| backend.kind == "direct")
    }

    fn effect_variables(&self) -> &BTreeMap<String, String> {
        &self.effect_variables
    }

    fn environment_names(&self) -> Vec<String> {
        let names = self.environment.entries().iter();
        names
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect()
    }

    fn environment_bytes(&self) -> usize {
        let entries = self.environment.entries().iter();
        entries
            .map(|(name, value)| name.len() + value.len() + 1)
            .sum()
    }

    fn path(&self, path: &Path) -> Result<String, (&'static str, String)> {
        let resolved = self
            .host
            .resolve(path)
            .map_err(|error| (error.code(), error.to_string()))?;
        resolved.to_str().map(str::to_owned).ok_or((
            "shell.path_not_utf8",
            "an argument path is not valid UTF-8".to_owned(),
        ))
    }

    fn secret(&self, name: &str) -> Option<String> {
        let value = secrets::secret_argument(&self.environment, name).ok()?;
        String::from_utf8(value.expose().to_vec()).ok()
    }

    fn resolve(&self, program: &str) -> Result<ExecutableFacts, String> {
        self.lookup(program).map(|found| executable_facts(&found))
    }

    fn describe(&self, program: &str) -> ResolutionDetails {
        let Ok(found) = self.lookup(program) else {
            return ResolutionDetails::default();
        };
        let folder = found.located().parent();
        let searched = !found.is_alias() && !program.contains('/');
        let search = folder.filter(|_| searched).map(|folder| SearchTrace {
            dir: folder.display().to_string(),
            found: true,
        });
        ResolutionDetails {
            alias: found.is_alias().then(|| program.to_owned()),
            search: search.into_iter().collect(),
            class: Some(self.class(&found).to_owned()),
            trust: Some(trust(&found)),
            sha256: Some(found.fingerprint().sha256.to_string()),
            interpreter: found
                .interpreter()
                .map(|it| it.file().path().as_path().display().to_string()),
        }
    }

    fn backend(&self, argv: &[String]) -> Option<BackendTrace> {
        let chosen = self.backend?;
        let wrapper = chosen.wrapper.as_ref().map(|wrapper| wrapper.path.clone());
        let argv = match (chosen.kind, wrapper) {
            ("bubblewrap", Some(wrapper)) => {
                let mut words = vec![wrapper];
                words.extend(self.bubblewrap(argv).unwrap_or_else(|why| vec![why]));
                words
            }
            ("direct", _) => argv.to_vec(),
            _ => Vec::new(),
        };
        Some(BackendTrace {
            id: chosen.id.clone(),
            kind: chosen.kind.to_owned(),
            confinement: chosen.confinement.to_owned(),
            argv,
        })
    }

    fn assumptions(&self) -> Vec<String> {
        let mut found: Vec<String> = self
            .obstacles
            .iter()
            .map(|obstacle| format!("the runtime would not start here: {obstacle}"))
            .collect();
        let bubblewrap = self.backend.is_some_and(|it| it.kind == "bubblewrap");
        if bubblewrap && self.known_features().is_none() {
            found.push("bubblewrap has every option that a plan can use".to_owned());
        }
        found
    }
}

impl LiveEvaluation<'_> {
    /// Class of spec 12 section 2.5, as this machine has it.
    fn class(&self, found: &ResolvedExecutable) -> &'static str {
        let path = found.canonical();
        let local = self
            .host
            .session_directories()
            .iter()
            .chain(&self.roots.write)
            .any(|folder| folder.contains(path));
        if local { "local" } else { "system" }
    }
}

fn trust(found: &ResolvedExecutable) -> TrustTrace {
    let known = |holds| if holds { Known::Yes } else { Known::No };
    let conditions = found.trust_conditions();
    TrustTrace {
        t1: known(conditions.named),
        t2: known(conditions.owner_writes),
        t3: known(conditions.owned),
        t4: known(conditions.plain),
        t5: known(conditions.fixed),
        t6: Known::Yes,
    }
}

/// Values that a trace must not show, longest first: those of declared secrets, and of variables
/// that stand in arguments. A secret that can not be read hides nothing and is reported by a start.
pub fn secret_values(
    host: &Host,
    runtime: &manifest::Runtime,
    environment: &BuiltEnvironment,
    tools: &[manifest::Tool],
) -> Vec<String> {
    let loaded = secrets::load(host, environment, &runtime.secrets, |_| None);
    let mut values: Vec<String> = loaded
        .into_iter()
        .flat_map(|loaded| loaded.values)
        .filter_map(|value| String::from_utf8(value.expose().to_vec()).ok())
        .collect();
    for tool in tools.iter().filter(|tool| tool.runtime == runtime.id) {
        if let manifest::Mode::Fixed { arguments, .. } = &tool.mode {
            for argument in arguments {
                if let manifest::FixedArg::SecretEnv { name, .. } = argument
                    && let Ok(value) = secrets::secret_argument(environment, name)
                    && let Ok(text) = String::from_utf8(value.expose().to_vec())
                {
                    values.push(text);
                }
            }
        }
    }
    values.retain(|value| !value.is_empty());
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values.dedup();
    values
}
