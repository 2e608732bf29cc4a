//! Runs all tests of a document and reports what fails.

use chatmd_policy::Value;
use chatmd_policy::trace::{MatchTrace, Outcome, Trace};

use super::case::{Case, CaseText, Target};
use super::collect::Suite;
use super::judge::{Bound, Judge, Judged, Unjudged, bind, is_open};
use super::pairs;
use crate::compile::Compilation;
use crate::diagnostics::{Diagnostic, Place, nearest, quote};
use crate::evaluation::Scope;
use crate::manifest::{Manifest, Mode, Platform};
use crate::resolve::{Places, RulePlace};

/// Failures that show the trace of their decision; the bytes of thousands would help nobody.
const MOST_TRACES: usize = 100;
/// Programs that are tried to explain a failure.
const MOST_PROGRAMS: usize = 8;

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// As expected.
    Passed,
    /// Not as expected, or not to be decided.
    Failed,
    /// Skipped, or it hangs on a script.
    NotRun,
    /// Meant for other platforms.
    NotApplicable,
}

impl Status {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotRun => "not_run",
            Self::NotApplicable => "not_applicable",
        }
    }
}

/// The result of one test under one runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// Which test: an index into [`Suite::cases`].
    pub case: usize,
    /// Qualified id of the runtime.
    pub runtime: String,
    /// The tool.
    pub tool: Option<String>,
    /// What became of it.
    pub status: Status,
    /// Outcome of the request, or `match` and `no_match`; absent when it was not evaluated.
    pub outcome: Option<&'static str>,
    /// Why.
    pub reason: Option<String>,
    /// Rules that decided.
    pub deciding: Vec<String>,
    /// Kinds of the ceilings that refused.
    pub ceilings: Vec<&'static str>,
}

/// The results of all tests of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestRun {
    /// In the order of the tests.
    pub results: Vec<CaseResult>,
    /// What they found.
    pub diagnostics: Vec<Diagnostic>,
}

/// Runs the tests of `suite` against a manifest of `platform`.
pub(crate) fn run(
    manifest: &Manifest,
    places: &Places,
    suite: &Suite,
    platform: Platform,
) -> TestRun {
    let pairs = pairs::find(&suite.cases);
    let mut runner = Runner {
        manifest,
        places,
        platform,
        judge: Judge::new(manifest, &suite.facts),
        out: TestRun {
            results: Vec::new(),
            diagnostics: pairs.diagnostics,
        },
        traces: 0,
    };
    for (index, case) in suite.cases.iter().enumerate() {
        if let Some(why) = pairs.contradicted.get(&index) {
            runner.contradicted(index, case, why);
        } else {
            runner.case(index, case);
        }
    }
    runner.out
}

/// The full trace of one result, with the places of a compilation.
pub fn trace(
    manifest: &Manifest,
    suite: &Suite,
    result: &CaseResult,
    compilation: &Compilation,
) -> Option<Trace> {
    let case = suite.cases.get(result.case)?;
    let bound = bind(manifest, case)?;
    let runtime = manifest
        .runtimes
        .iter()
        .find(|it| it.id == result.runtime)?;
    let bound = Bound { runtime, ..bound };
    let digest = compilation.requested_sha256.as_deref().unwrap_or_default();
    Judge::new(manifest, &suite.facts).explain(bound, |evaluation, scope| {
        evaluation.trace(&Scope {
            manifest_sha256: digest,
            compilation: Some(compilation),
            ..*scope
        })
    })
}

struct Runner<'a> {
    manifest: &'a Manifest,
    places: &'a Places,
    platform: Platform,
    judge: Judge<'a>,
    out: TestRun,
    traces: usize,
}

impl<'a> Runner<'a> {
    fn report(&mut self, finding: Diagnostic) {
        self.out.diagnostics.push(finding);
    }

    fn contradicted(&mut self, index: usize, case: &Case, why: &str) {
        if let Some(bound) = bind(self.manifest, case) {
            let result = result(index, bound, Status::Failed, why);
            self.out.results.push(result);
        }
    }

    fn case(&mut self, index: usize, case: &'a Case) {
        let manifest = self.manifest;
        let Some(bound) = bind(manifest, case) else {
            return;
        };
        if !self.is_sound(bound) {
            let result = result(index, bound, Status::Failed, "the test cannot be read");
            self.out.results.push(result);
            return;
        }
        let own = std::iter::once(bound);
        if !case.options.inherited {
            own.for_each(|bound| self.one(index, bound));
            return;
        }
        let id = &bound.runtime.id;
        let heirs = manifest.runtimes.iter();
        let heirs = heirs.filter(|heir| heir.id != *id && heir.extends.contains(id));
        let heirs = heirs.map(|runtime| Bound { runtime, ..bound });
        for bound in own.chain(heirs) {
            self.one(index, bound);
        }
    }

    /// Whether the options fit the target; what does not is reported.
    fn is_sound(&mut self, bound: Bound<'_>) -> bool {
        let case = bound.case;
        if case.options.inherited && matches!(case.target, Target::Tool(_)) {
            self.report(
                Diagnostic::new(
                    "chatmd.test_syntax",
                    case.option_at("inherited"),
                    "`inherited` repeats a test of a runtime, this one is about a tool",
                )
                .hint("attach the test to the runtime of the tool"),
            );
            return false;
        }
        if is_empty(bound) {
            let finding =
                Diagnostic::new("chatmd.test_syntax", case.at, "there is nothing to test");
            self.report(finding.hint("write a command behind the colon, or one on each line"));
            return false;
        }
        if case.verb.needs_rule() && case.asked_rule().is_none() {
            let verb = case.verb.as_str();
            self.report(
                Diagnostic::new(
                    "chatmd.test_syntax",
                    case.verb_at,
                    format!("`{verb}` speaks of one rule, and none is named"),
                )
                .hint("put the test into a `<rule>`, or name one with `[rule=ID]`"),
            );
            return false;
        }
        let rules = || {
            bound
                .runtime
                .policy
                .rules
                .iter()
                .map(|rule| rule.id.as_str())
        };
        for id in &case.options.rules {
            if rules().any(|known| known == id) {
                continue;
            }
            let at = case.option_at("rule");
            let message = format!(
                "the runtime {} has no rule {}",
                quote(&bound.runtime.id),
                quote(id)
            );
            let finding = Diagnostic::new("chatmd.test_unknown_target", at, message);
            let finding = match nearest(id, rules().take(2_000).collect::<Vec<_>>()) {
                Some(near) => finding.hint(format!("did you mean {}?", quote(near))),
                None => finding.hint("only rules that are in force there can be named"),
            };
            self.report(finding);
            return false;
        }
        true
    }

    fn one(&mut self, index: usize, bound: Bound<'a>) {
        let case = bound.case;
        let options = &case.options;
        if !options.platforms.is_empty() && !options.platforms.contains(&self.platform) {
            let reason = format!("not meant for {}", self.platform.as_str());
            let result = result(index, bound, Status::NotApplicable, &reason);
            return self.out.results.push(result);
        }
        if let Some(reason) = &options.skip {
            let result = result(index, bound, Status::NotRun, reason);
            return self.out.results.push(result);
        }
        match self.judge.judge(bound) {
            Ok(judged) => self.judged(index, bound, &judged),
            Err(Unjudged::Form(fault)) => {
                let result = result(index, bound, Status::Failed, &fault.to_string());
                self.out.results.push(result);
                let finding = Diagnostic::new("chatmd.test_syntax", case.at, fault.to_string());
                self.report(finding.hint("option `as` says how the text is read"));
            }
            Err(Unjudged::Policy(why)) => self.open(index, bound, &why),
        }
    }

    fn open(&mut self, index: usize, bound: Bound<'_>, why: &str) {
        let mut result = result(index, bound, Status::Failed, why);
        result.outcome = Some(Outcome::Indeterminate.as_str());
        self.out.results.push(result);
        let message = format!("what would become of this cannot be found out: {why}");
        let finding = Diagnostic::new("chatmd.test_indeterminate", bound.case.at, message);
        self.report(about(finding, bound));
    }

    fn judged(&mut self, index: usize, bound: Bound<'a>, judged: &Judged) {
        let verdict = &judged.verdict;
        let mut result = result(index, bound, Status::Passed, &verdict.reason);
        result.outcome = Some(verdict.got);
        let commands = || judged.evaluation.commands.iter();
        for decision in commands().map(|command| &command.decision) {
            result.deciding.extend(decision.deciding.iter().cloned());
        }
        for failure in commands().flat_map(|command| &command.failures) {
            result.ceilings.push(failure.kind.as_str());
        }
        if let Some(script) = &judged.hangs_on {
            result.status = Status::NotRun;
            result.reason = Some(format!("hangs on script {}", quote(script)));
            self.out.results.push(result);
            if !bound.case.options.scripts {
                let message = format!("the result hangs on the script {}", quote(script));
                let finding = Diagnostic::new("chatmd.test_needs_scripts", bound.case.at, message);
                let finding = finding
                    .label("not run")
                    .hint("no script is run here; option `scripts` says that this is known");
                self.report(about(finding, bound));
            }
            return;
        }
        if is_open(judged) {
            return self.open(index, bound, &verdict.reason);
        }
        if !verdict.passed {
            result.status = Status::Failed;
            self.failed(bound, judged);
        }
        self.out.results.push(result);
    }

    fn failed(&mut self, bound: Bound<'a>, judged: &Judged) {
        let case = bound.case;
        let verdict = &judged.verdict;
        let expected = case.verb.as_str();
        let mut message = format!(
            "expected {expected}, got {}: {}",
            verdict.got, verdict.reason
        );
        let heir = matches!(&case.target, Target::Runtime(id) if *id != bound.runtime.id);
        if heir {
            message = format!("in {}: {message}", quote(&bound.runtime.id));
        }
        let mut finding = Diagnostic::new("chatmd.test_failed", case.at, message)
            .label(format!("got {}", verdict.got));
        finding = about(finding, bound);
        if heir && let Some(place) = self.places.extends(&bound.runtime.id) {
            finding = finding.related(place, "inherited here");
        }
        for (place, text) in self.deciding(bound, judged) {
            finding = finding.related(place, text);
        }
        if let Some(hint) = self.other_program(bound) {
            finding = finding.hint(hint);
        }
        if self.traces < MOST_TRACES {
            self.traces += 1;
            let trace = self.judge.explain(bound, |evaluation, scope| {
                evaluation.trace(scope).to_string()
            });
            if let Some(trace) = trace {
                finding = finding.note(trace.trim_end());
            }
        }
        self.report(finding);
    }

    /// The places of what decided: rules, ceilings, or the tool whose input was refused.
    fn deciding(&self, bound: Bound<'_>, judged: &Judged) -> Vec<(Place, String)> {
        let mut found: Vec<(Place, String)> = Vec::new();
        let mut add = |place: Option<Place>, text: String| {
            if let Some(place) = place
                && found.len() < 8
                && !found.iter().any(|(known, _)| *known == place)
            {
                found.push((place, text));
            }
        };
        let runtime = &bound.runtime.id;
        if judged.evaluation.refused.is_some()
            && let Some(tool) = bound.tool
        {
            let place = self.places.tool(&tool.name);
            add(place, "this tool refuses the input".to_owned());
        }
        for command in &judged.evaluation.commands {
            for failure in &command.failures {
                let place = self.places.ceiling(runtime, failure.kind);
                add(place, failure.to_string());
            }
            for rule in &command.decision.deciding {
                if let Some(RulePlace::Document { at, .. }) = self.places.rule(runtime, rule) {
                    let action = command.decision.action.as_str();
                    add(Some(at), format!("decides `{action}`"));
                }
            }
        }
        if let Some(rule) = bound
            .case
            .asked_rule()
            .filter(|_| bound.case.verb.needs_rule())
            && let Some(RulePlace::Document { at, .. }) = self.places.rule(runtime, rule)
        {
            add(Some(at), "the rule".to_owned());
        }
        found
    }

    /// A failure that only the place of the program causes.
    fn other_program(&mut self, bound: Bound<'a>) -> Option<String> {
        let paths = self.judge.explain(bound, |evaluation, _| {
            let rules = evaluation
                .commands
                .iter()
                .filter_map(|it| it.rules.as_ref());
            let trees = rules
                .flat_map(|rules| &rules.rules)
                .filter_map(|rule| rule.tree.as_ref());
            let mut paths = Vec::new();
            trees.for_each(|tree| unmet_paths(tree, &mut paths));
            let first = evaluation.commands.first();
            let name = first.and_then(|command| command.argv.first().cloned());
            (name.unwrap_or_default(), paths)
        });
        let (name, paths) = paths?;
        let passes = |runner: &mut Self, path: &String| {
            let judged = runner.judge.with_program_at(bound, path);
            judged.is_ok_and(|judged| judged.verdict.passed)
        };
        let path = paths.iter().find(|path| passes(self, path))?;
        Some(format!(
            "it passes with `{name}` at that path: `expect-given: program {name} = {path}`"
        ))
    }
}

/// Whether a command is missing; tools with commands of their own can do without.
fn is_empty(bound: Bound<'_>) -> bool {
    let takes_none = matches!(
        bound.tool.map(|tool| &tool.mode),
        None | Some(Mode::Structured {})
    );
    let text = match &bound.case.text {
        CaseText::Plain(text) | CaseText::Command(text) => text,
        _ => return false,
    };
    takes_none && text.is_empty()
}

/// Paths of the `resolved_path` leaves that are not met, in order, at most [`MOST_PROGRAMS`].
fn unmet_paths(tree: &MatchTrace, found: &mut Vec<String>) {
    let mut open = vec![tree];
    while let Some(node) = open.pop() {
        open.extend(node.children.iter().rev());
        if node.kind == "resolved_path"
            && node.value == Value::No
            && found.len() < MOST_PROGRAMS
            && let Some(path) = node.attributes.get("value").and_then(|v| v.as_str())
            && !found.iter().any(|known| known == path)
        {
            found.push(path.to_owned());
        }
    }
}

fn result(index: usize, bound: Bound<'_>, status: Status, reason: &str) -> CaseResult {
    CaseResult {
        case: index,
        runtime: bound.runtime.id.clone(),
        tool: bound.tool.map(|tool| tool.name.clone()),
        status,
        outcome: None,
        reason: Some(reason.to_owned()),
        deciding: Vec::new(),
        ceilings: Vec::new(),
    }
}

/// Says which runtime a finding is about.
fn about(mut finding: Diagnostic, bound: Bound<'_>) -> Diagnostic {
    finding.runtime_id = Some(bound.runtime.id.clone());
    finding
}
