//! Evaluates tests on the symbolic host.

use std::collections::HashMap;
use std::rc::Rc;

use chatmd_policy::symbolic::{ProgramFact, SymbolicFacts};
use chatmd_policy::trace::Outcome;

use super::case::{Case, CaseText, Target};
use super::verdict::{self, Expectation, Verdict};
use crate::evaluation::{
    Detail, Evaluation, EvaluationHost, FormFault, MAX_COMBINED_SCRIPTS, Origin, Request,
    RequestText, Scope, SymbolicEvaluation, evaluate, evaluate_without_scripts,
};
use crate::manifest::{Manifest, Mode, Path, Runtime, Tool};
use crate::resolve::manifest_path;

/// Hosts that are kept; a document that needs more than that pays for each again.
const MOST_HOSTS: usize = 64;

/// As tests see a call: extensions let it pass (spec 12 section 2.4).
const DETAIL: Detail = Detail {
    rules: false,
    extensions_pass: true,
    granted: false,
};

/// A test with its target found in the manifest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<'a> {
    pub case: &'a Case,
    pub runtime: &'a Runtime,
    pub tool: Option<&'a Tool>,
}

/// What came of one test.
pub(super) struct Judged {
    pub verdict: Verdict,
    pub evaluation: Evaluation,
    /// The first script on which the verdict hangs.
    pub hangs_on: Option<String>,
}

/// Why there is no verdict.
pub(super) enum Unjudged {
    /// The text has a form that the target does not take.
    Form(FormFault),
    /// The policy cannot be compiled.
    Policy(String),
}

/// What a host depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct HostKey {
    runtime: String,
    facts: usize,
    program: Option<(String, String)>,
    env: Vec<(String, String)>,
    cwd: Option<Path>,
}

type Host = Rc<SymbolicEvaluation>;

/// Evaluates the tests of one manifest.
pub(super) struct Judge<'a> {
    manifest: &'a Manifest,
    facts: &'a [SymbolicFacts],
    hosts: HashMap<HostKey, Result<Host, String>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(manifest: &'a Manifest, facts: &'a [SymbolicFacts]) -> Self {
        Self {
            manifest,
            facts,
            hosts: HashMap::new(),
        }
    }

    /// Evaluates one test.
    pub(super) fn judge(&mut self, bound: Bound<'_>) -> Result<Judged, Unjudged> {
        let host = self.host_of(bound, None)?;
        self.on_host(bound, &host)
    }

    /// The same with the program of the first stage at a given path.
    pub(super) fn with_program_at(
        &mut self,
        bound: Bound<'_>,
        path: &str,
    ) -> Result<Judged, Unjudged> {
        let host = self.host_of(bound, Some(&format!("path:{path}")))?;
        self.on_host(bound, &host)
    }

    fn on_host(&self, bound: Bound<'_>, host: &Host) -> Result<Judged, Unjudged> {
        let scope = scope(bound, &**host);
        let request = request(bound);
        let result = evaluate_without_scripts(&scope, &request, DETAIL).map_err(Unjudged::Form)?;
        let paths = effect_paths(bound.case);
        let expected = expectation(bound.case, &paths);
        let verdict = |evaluation: &Evaluation| verdict::judge(&expected, evaluation, &**host);
        let first = verdict(&result.evaluation);
        let mut hangs_on = None;
        // More scripts than can be combined count as maybe.
        if result.scripts.len() <= MAX_COMBINED_SCRIPTS
            && result
                .variants
                .iter()
                .any(|variant| verdict(variant).passed != first.passed)
        {
            hangs_on = result.scripts.first().map(|script| script.script.clone());
        }
        Ok(Judged {
            verdict: first,
            evaluation: result.evaluation,
            hangs_on,
        })
    }

    /// Evaluates once more with every rule, and gives the trace with the result.
    pub(super) fn explain<T>(
        &mut self,
        bound: Bound<'_>,
        with: impl FnOnce(&Evaluation, &Scope<'_>) -> T,
    ) -> Option<T> {
        let host = self.host_of(bound, None).ok()?;
        let scope = scope(bound, &*host);
        let detail = Detail {
            rules: true,
            ..DETAIL
        };
        let mut scripts = chatmd_policy::ScriptsNotRun;
        let evaluation = evaluate(&scope, request(bound), &mut scripts, detail).ok()?;
        Some(with(&evaluation, &scope))
    }

    /// The host of a test. `program` overrides how the program of its first stage resolves.
    fn host_of(&mut self, bound: Bound<'_>, program: Option<&str>) -> Result<Host, Unjudged> {
        let options = &bound.case.options;
        let mut key = HostKey {
            runtime: bound.runtime.id.clone(),
            facts: bound.case.facts,
            program: None,
            env: options.env.clone(),
            cwd: options
                .cwd
                .as_ref()
                .map(|path| manifest_path(&bound.case.source, path)),
        };
        let host = self.host(&key, bound.runtime)?;
        let Some(fact) = program.or(options.program.as_deref()) else {
            return Ok(host);
        };
        // Which program that is only the request says.
        let mut scripts = chatmd_policy::ScriptsNotRun;
        let evaluation = evaluate(&scope(bound, &*host), request(bound), &mut scripts, DETAIL)
            .map_err(Unjudged::Form)?;
        let first = evaluation.commands.first();
        let Some(name) = first.and_then(|command| command.argv.first()) else {
            return Ok(host);
        };
        key.program = Some((name.clone(), fact.to_owned()));
        self.host(&key, bound.runtime)
    }

    fn host(&mut self, key: &HostKey, runtime: &Runtime) -> Result<Host, Unjudged> {
        if !self.hosts.contains_key(key) {
            if self.hosts.len() >= MOST_HOSTS {
                self.hosts.clear();
            }
            let made = self.make(key, runtime);
            self.hosts.insert(key.clone(), made);
        }
        match self.hosts.get(key) {
            Some(Ok(host)) => Ok(Rc::clone(host)),
            Some(Err(why)) => Err(Unjudged::Policy(why.clone())),
            None => Err(Unjudged::Policy("no host".to_owned())),
        }
    }

    fn make(&self, key: &HostKey, runtime: &Runtime) -> Result<Host, String> {
        let mut facts = self.facts.get(key.facts).cloned().unwrap_or_default();
        for (name, value) in &key.env {
            facts.set_variable(name, value);
        }
        if let Some((name, fact)) = &key.program
            && let Some(fact) = ProgramFact::parse(fact)
        {
            facts.set_program(name, fact);
        }
        let host = SymbolicEvaluation::new(self.manifest, runtime, facts, key.cwd.as_ref());
        host.map(Rc::new).map_err(|fault| fault.to_string())
    }
}

fn scope<'a>(bound: Bound<'a>, host: &'a dyn EvaluationHost) -> Scope<'a> {
    Scope {
        manifest_sha256: "",
        runtime: bound.runtime,
        tool: bound.tool,
        host,
        compilation: None,
    }
}

fn request(bound: Bound<'_>) -> Request {
    let raw = matches!(bound.tool.map(|tool| &tool.mode), Some(Mode::Raw { .. }));
    let options = &bound.case.options;
    Request {
        text: match &bound.case.text {
            CaseText::Plain(text) if raw => RequestText::Script(text.clone()),
            CaseText::Plain(text) | CaseText::Command(text) => RequestText::Command(text.clone()),
            CaseText::Argv(words) => RequestText::Argv(words.clone()),
            CaseText::Script(text) => RequestText::Script(text.clone()),
            CaseText::Json(text) => RequestText::Json(text.clone()),
        },
        origin: match options.moderator {
            true => Origin::Moderator,
            false => Origin::Tool,
        },
        stdin_bytes: options.stdin,
    }
}

fn effect_paths(case: &Case) -> Vec<Option<Path>> {
    let paths = case.options.effects.iter().map(|effect| &effect.path);
    paths
        .map(|path| path.as_ref().map(|path| manifest_path(&case.source, path)))
        .collect()
}

fn expectation<'a>(case: &'a Case, effect_paths: &'a [Option<Path>]) -> Expectation<'a> {
    Expectation {
        verb: case.verb,
        options: &case.options,
        rule: case.verb.needs_rule().then(|| case.asked_rule()).flatten(),
        effect_paths,
    }
}

/// Finds the target of a test in a manifest; `None` when it is not there, which was reported.
pub(super) fn bind<'a>(manifest: &'a Manifest, case: &'a Case) -> Option<Bound<'a>> {
    let (id, tool) = match &case.target {
        Target::Runtime(id) => (id, None),
        Target::Tool(name) => {
            let tool = manifest.tools.iter().find(|tool| tool.name == *name)?;
            (&tool.runtime, Some(tool))
        }
    };
    let runtime = manifest.runtimes.iter().find(|it| it.id == *id)?;
    Some(Bound {
        case,
        runtime,
        tool,
    })
}

/// Whether the outcome cannot be computed.
pub(super) fn is_open(judged: &Judged) -> bool {
    judged.verdict.outcome == Outcome::Indeterminate
}
