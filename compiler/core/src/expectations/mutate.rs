//! Mutations of policies that no test notices (spec 12 section 2.7).

use std::sync::Arc;

use chatmd_policy::Action as Decided;
use chatmd_policy::trace::Outcome;

use super::case::{Case, CaseText, Target};
use super::collect::Suite;
use super::judge::{Bound, Judge, bind};
use super::options::Options;
use super::run::{Status, TestRun};
use super::verb::Verb;
use crate::evaluation::Evaluation;
use crate::manifest::{Action, Manifest, Matcher, Path, PathBase, Root, Runtime};

/// Requests that are tried to tell a mutant apart.
const MOST_WITNESSES: usize = 256;

/// One change of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Qualified id of the runtime.
    pub runtime: String,
    /// The rule that is changed.
    pub rule: Option<String>,
    /// What is done, as a phrase: `without rule a`.
    pub what: String,
    /// Whether it takes away a deny rule.
    pub removes_deny: bool,
    change: Change,
}

/// A mutation that no test notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// The mutation.
    pub mutation: Mutation,
    /// A test that would notice it, ready to be written: only when a request of the tests at hand
    /// tells the two apart.
    pub witness: Option<String>,
}

/// What was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutationReport {
    /// How many mutations there are.
    pub tried: usize,
    /// Those that no test notices, in the order of runtimes and rules.
    pub survivors: Vec<Survivor>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    DropRule(usize),
    Lower(usize, Action),
    /// Rule, number of the node in document order.
    Leaf(usize, usize),
    Child(usize, usize),
    Power(Power),
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    Network,
    ChildProcesses,
    ArbitraryCode,
    PrivilegeChange,
}

/// Applies every mutation and runs the passed tests of its runtime, until one fails.
pub fn mutate(manifest: &Manifest, suite: &Suite, run: &TestRun) -> MutationReport {
    let mut report = MutationReport::default();
    for (number, runtime) in manifest.runtimes.iter().enumerate() {
        let cases: Vec<&Case> = run
            .results
            .iter()
            .filter(|result| result.status == Status::Passed && result.runtime == runtime.id)
            .filter_map(|result| suite.cases.get(result.case))
            .collect();
        let mut original = Judge::new(manifest, &suite.facts);
        for mutation in mutations(runtime) {
            report.tried += 1;
            let mut mutant = manifest.clone();
            if let Some(runtime) = mutant.runtimes.get_mut(number) {
                apply(runtime, &mutation.change);
            }
            let mut judge = Judge::new(&mutant, &suite.facts);
            if cases
                .iter()
                .any(|case| notices(&mut judge, &mutant, number, case))
            {
                continue;
            }
            let witness = witness(
                suite,
                &mut original,
                manifest,
                &mut judge,
                &mutant,
                number,
                &mutation,
            );
            report.survivors.push(Survivor { mutation, witness });
        }
    }
    report
}

/// The test under the runtime of that number, which may be an heir of its own one.
fn under<'a>(manifest: &'a Manifest, number: usize, case: &'a Case) -> Option<Bound<'a>> {
    let bound = bind(manifest, case)?;
    let runtime = manifest.runtimes.get(number)?;
    Some(Bound { runtime, ..bound })
}

fn notices(judge: &mut Judge<'_>, mutant: &Manifest, number: usize, case: &Case) -> bool {
    let Some(bound) = under(mutant, number, case) else {
        return false;
    };
    match judge.judge(bound) {
        Ok(judged) => !judged.verdict.passed || judged.hangs_on.is_some(),
        Err(_) => true,
    }
}

/// All mutations of a runtime.
fn mutations(runtime: &Runtime) -> Vec<Mutation> {
    let mut found = Vec::new();
    let mut add = |rule: Option<&str>, what: String, removes_deny, change| {
        found.push(Mutation {
            runtime: runtime.id.clone(),
            rule: rule.map(str::to_owned),
            what,
            removes_deny,
            change,
        });
    };
    for (number, rule) in runtime.policy.rules.iter().enumerate() {
        let id = rule.id.as_str();
        let deny = rule.action == Action::Deny;
        add(
            Some(id),
            format!("without rule {id}"),
            deny,
            Change::DropRule(number),
        );
        let lower = match rule.action {
            Action::Deny => Some(Action::Ask),
            Action::Ask => Some(Action::Allow),
            Action::Allow => None,
        };
        if let Some(lower) = lower {
            let what = format!("rule {id} with action {}", lower.as_str());
            add(Some(id), what, false, Change::Lower(number, lower));
        }
        let always = if rule.action == Action::Allow {
            "yes"
        } else {
            "no"
        };
        for (at, node) in nodes(&rule.matcher).into_iter().enumerate() {
            match node {
                Matcher::All { of } | Matcher::Any { of } => {
                    let word = if matches!(node, Matcher::All { .. }) {
                        "all"
                    } else {
                        "any"
                    };
                    // The last child cannot be taken away: an empty group is no matcher.
                    if of.len() > 1 {
                        let mut child = at + 1;
                        for (position, matcher) in of.iter().enumerate() {
                            let what = format!(
                                "rule {id} without child {} of <{word}>, {}",
                                position + 1,
                                describe(matcher)
                            );
                            add(Some(id), what, false, Change::Child(number, child));
                            child += nodes(matcher).len();
                        }
                    }
                }
                Matcher::Not { .. } => {}
                leaf => {
                    let what = format!("rule {id} with {} always {always}", describe(leaf));
                    add(Some(id), what, false, Change::Leaf(number, at));
                }
            }
        }
    }
    let powers = &runtime.capabilities;
    for (held, power, name) in [
        (powers.network, Power::Network, "network"),
        (
            powers.child_processes,
            Power::ChildProcesses,
            "child_processes",
        ),
        (
            powers.arbitrary_code,
            Power::ArbitraryCode,
            "arbitrary_code",
        ),
        (
            powers.privilege_change,
            Power::PrivilegeChange,
            "privilege_change",
        ),
    ] {
        if !held {
            add(
                None,
                format!("with {name} granted"),
                false,
                Change::Power(power),
            );
        }
    }
    add(
        None,
        "with / as a read root".to_owned(),
        false,
        Change::Read,
    );
    add(
        None,
        "with / as a write root".to_owned(),
        false,
        Change::Write,
    );
    found
}

/// All nodes in document order. Matchers are at most 64 deep.
fn nodes(matcher: &Matcher) -> Vec<&Matcher> {
    let mut found = Vec::new();
    let mut open = vec![matcher];
    while let Some(node) = open.pop() {
        found.push(node);
        match node {
            Matcher::All { of } | Matcher::Any { of } => open.extend(of.iter().rev()),
            Matcher::Not { of } => open.push(of),
            _ => {}
        }
    }
    found
}

/// A matcher in a phrase.
fn describe(matcher: &Matcher) -> String {
    let valued = |name: &str, value: &str| format!("<{name} {}>", crate::diagnostics::clip(value));
    match matcher {
        Matcher::AnyCommand {} => "<any_command>".to_owned(),
        Matcher::TrustedExecutable {} => "<trusted_executable>".to_owned(),
        Matcher::NoUnknownEffects {} => "<no_unknown_effects>".to_owned(),
        Matcher::RawShell {} => "<raw_shell>".to_owned(),
        Matcher::Program { value } => valued("program", value),
        Matcher::Basename { value } => valued("basename", value),
        Matcher::Argument { value } => valued("argument", value),
        Matcher::ArgumentContains { value } => valued("argument_contains", value),
        Matcher::ProgramRegex { pattern } => valued("program_regex", pattern),
        Matcher::ResolvedPath { path } => valued("resolved_path", &path.path),
        Matcher::ArgvPrefix { values } => valued("argv_prefix", &values.join(",")),
        Matcher::Effect { effect, .. } => valued("effect", effect.as_str()),
        Matcher::ChatmlMatch { script, .. } => valued("chatml_match", script),
        Matcher::All { .. } => "<all>".to_owned(),
        Matcher::Any { .. } => "<any>".to_owned(),
        Matcher::Not { .. } => "<not>".to_owned(),
    }
}

fn apply(runtime: &mut Runtime, change: &Change) {
    let rules = &mut runtime.policy.rules;
    let root = || Root::Path {
        path: Path {
            base: PathBase::Absolute,
            path: "/".to_owned(),
            source: None,
        },
    };
    match *change {
        Change::DropRule(rule) => {
            if rule < rules.len() {
                rules.remove(rule);
            }
        }
        Change::Lower(rule, action) => {
            if let Some(rule) = rules.get_mut(rule) {
                Arc::make_mut(rule).action = action;
            }
        }
        Change::Leaf(rule, node) => {
            if let Some(rule) = rules.get_mut(rule) {
                let rule = Arc::make_mut(rule);
                let yes = Matcher::AnyCommand {};
                let always = match rule.action {
                    Action::Allow => yes,
                    Action::Ask | Action::Deny => Matcher::Not { of: Box::new(yes) },
                };
                if let Some(leaf) = node_mut(&mut rule.matcher, node) {
                    *leaf = always;
                }
            }
        }
        Change::Child(rule, node) => {
            if let Some(rule) = rules.get_mut(rule) {
                remove(&mut Arc::make_mut(rule).matcher, node);
            }
        }
        Change::Power(power) => {
            let powers = &mut runtime.capabilities;
            match power {
                Power::Network => powers.network = true,
                Power::ChildProcesses => powers.child_processes = true,
                Power::ArbitraryCode => powers.arbitrary_code = true,
                Power::PrivilegeChange => powers.privilege_change = true,
            }
        }
        Change::Read => runtime.capabilities.read.push(root()),
        Change::Write => runtime.capabilities.write.push(root()),
    }
}

/// The node of a number in document order.
fn node_mut(matcher: &mut Matcher, number: usize) -> Option<&mut Matcher> {
    let mut open = vec![matcher];
    let mut left = number;
    while let Some(node) = open.pop() {
        if left == 0 {
            return Some(node);
        }
        left -= 1;
        match node {
            Matcher::All { of } | Matcher::Any { of } => open.extend(of.iter_mut().rev()),
            Matcher::Not { of } => open.push(of),
            _ => {}
        }
    }
    None
}

/// Takes the node of a number out of the group around it.
fn remove(matcher: &mut Matcher, number: usize) {
    let mut open = vec![(matcher, 0)];
    while let Some((node, at)) = open.pop() {
        match node {
            Matcher::All { of } | Matcher::Any { of } => {
                let mut child = at + 1;
                let mut position = None;
                for (index, matcher) in of.iter().enumerate() {
                    if child == number {
                        position = Some(index);
                    }
                    child += nodes(matcher).len();
                }
                if let Some(position) = position {
                    of.remove(position);
                    return;
                }
                let mut child = at + 1;
                for matcher in of {
                    let size = nodes(matcher).len();
                    open.push((matcher, child));
                    child += size;
                }
            }
            Matcher::Not { of } => open.push((of, at + 1)),
            _ => {}
        }
    }
}

/// A test that the mutant fails, from the requests of the tests at hand.
fn witness(
    suite: &Suite,
    original: &mut Judge<'_>,
    manifest: &Manifest,
    judge: &mut Judge<'_>,
    mutant: &Manifest,
    number: usize,
    mutation: &Mutation,
) -> Option<String> {
    let runtime = &mutation.runtime;
    let mut tried: Vec<&CaseText> = Vec::new();
    for case in &suite.cases {
        if !matches!(
            case.text,
            CaseText::Plain(_) | CaseText::Command(_) | CaseText::Argv(_)
        ) || tried.contains(&&case.text)
        {
            continue;
        }
        if tried.len() >= MOST_WITNESSES {
            break;
        }
        tried.push(&case.text);
        let plain = plain(case, runtime);
        let before = under(manifest, number, &plain).map(|bound| original.judge(bound));
        let after = under(mutant, number, &plain).map(|bound| judge.judge(bound));
        let (Some(Ok(before)), Some(Ok(after))) = (before, after) else {
            continue;
        };
        let test = difference(
            &before.evaluation,
            &after.evaluation,
            mutation.rule.as_deref(),
        );
        if let Some((verb, options)) = test {
            return Some(written(runtime, verb, options, &case.text));
        }
    }
    None
}

/// The request of a test, asked of a runtime without options.
fn plain(case: &Case, runtime: &str) -> Case {
    Case {
        target: Target::Runtime(runtime.to_owned()),
        options: Arc::new(Options::default()),
        verb: Verb::Guarded,
        rule: None,
        facts: 0,
        ..case.clone()
    }
}

/// A verb, with the options that make it tell apart.
fn difference(
    before: &Evaluation,
    after: &Evaluation,
    rule: Option<&str>,
) -> Option<(Verb, Option<String>)> {
    if before.outcome != after.outcome {
        let verb = match before.outcome {
            Outcome::WouldRun => Verb::Allow,
            Outcome::WouldAsk => Verb::Ask,
            Outcome::WouldReject | Outcome::Unresolvable => Verb::Reject,
            Outcome::WouldDeny if strongest(before) == Some(Decided::Deny) => Verb::Deny,
            Outcome::WouldDeny => Verb::Guarded,
            Outcome::Indeterminate => return None,
        };
        return Some((verb, None));
    }
    let (old, new) = (strongest(before)?, strongest(after)?);
    if old != new {
        let policy = Some("layer=policy".to_owned());
        return Some(match old {
            Decided::Allow => (Verb::Allow, policy),
            Decided::Ask => (Verb::Ask, policy),
            Decided::Deny => (Verb::Deny, None),
        });
    }
    let rule = rule?;
    let fires = |evaluation: &Evaluation| evaluation.commands.iter().any(|it| it.fired(rule));
    let option = Some(format!("rule={rule}"));
    match (fires(before), fires(after)) {
        (true, false) => Some((Verb::Match, option)),
        (false, true) => Some((Verb::NoMatch, option)),
        _ => None,
    }
}

/// The strongest action of the policy for any command.
fn strongest(evaluation: &Evaluation) -> Option<Decided> {
    let actions = evaluation
        .commands
        .iter()
        .map(|command| command.decision.action);
    actions.max_by_key(|action| match action {
        Decided::Allow => 0,
        Decided::Ask => 1,
        Decided::Deny => 2,
    })
}

/// A directive.
fn written(runtime: &str, verb: Verb, options: Option<String>, text: &CaseText) -> String {
    let form = matches!(text, CaseText::Argv(_)).then(|| "as=argv".to_owned());
    let all = [Some(format!("runtime={runtime}")), form, options];
    let all: Vec<String> = all.into_iter().flatten().collect();
    format!(
        "<!-- expect {} [{}]: {} -->",
        verb.as_str(),
        all.join(" "),
        text.shown()
    )
}
