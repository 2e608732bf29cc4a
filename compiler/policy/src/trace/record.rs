//! Records every rule with its matcher tree.

use serde_json::{Map, Value as Json, json};

use crate::decide::{Decision, Observer, Outcome, RuleEvaluation, Why};
use crate::policy::{Node, Op, Tree};
use crate::regex::RegexTable;
use crate::value::Value;

use super::{MatchTrace, PolicyTrace, RuleTrace};

/// Observer that keeps every rule.
pub struct RuleRecorder<'a> {
    regexes: &'a RegexTable,
    rules: Vec<RuleTrace>,
}

impl<'a> RuleRecorder<'a> {
    /// A recorder for one decision under `policy`.
    pub fn new(policy: &'a crate::CompiledPolicy) -> Self {
        Self {
            regexes: &policy.regexes,
            rules: Vec::new(),
        }
    }

    /// The policy part of a stage, once `decision` is known.
    pub fn finish(mut self, decision: &Decision) -> PolicyTrace {
        for rule in &mut self.rules {
            // A script that denies decides alone.
            rule.deciding = decision.refused_by_script.is_none()
                && rule.fired
                && rule.action == decision.action;
        }
        PolicyTrace {
            evaluated: true,
            action: Some(decision.action),
            default_used: decision.default_used,
            deciding: decision.deciding.clone(),
            rules: self.rules,
            unmatched: None,
        }
    }
}

impl Observer for RuleRecorder<'_> {
    fn wants_rules(&self) -> bool {
        true
    }

    fn rule(&mut self, evaluation: RuleEvaluation<'_>) {
        let on = match evaluation.inner {
            Some(number) => format!("inner:{number}"),
            None => "outer".to_owned(),
        };
        let mut tree = tree(
            &evaluation.rule.tree,
            evaluation.outcomes,
            &on,
            self.regexes,
        );
        if let (Some(root), Some(_)) = (&mut tree, evaluation.inner) {
            root.why = Some(Why::InnerRaised.to_string());
        }
        self.rules.push(RuleTrace {
            id: evaluation.rule.id().to_owned(),
            action: evaluation.rule.action(),
            value: evaluation.value,
            fired: evaluation.fired,
            deciding: false,
            declared_in: None,
            tree,
        });
    }
}

/// Builds the tree from its last node back: the children of a node are ready before it.
fn tree(tree: &Tree, outcomes: &[Outcome], on: &str, regexes: &RegexTable) -> Option<MatchTrace> {
    let decisive = decisive(tree, outcomes);
    let mut done: Vec<(usize, MatchTrace)> = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let mut children = Vec::new();
        while done.last().is_some_and(|(start, _)| *start < node.end) {
            children.extend(done.pop().map(|(_, child)| child));
        }
        let outcome = outcomes.get(index)?;
        let (kind, attributes) = describe(&node.op, regexes);
        done.push((
            index,
            MatchTrace {
                kind,
                attributes,
                value: outcome.value,
                on: on.to_owned(),
                why: outcome.why.map(|why| why.to_string()),
                span: None,
                decisive: decisive.get(index).copied().unwrap_or(false),
                children,
            },
        ));
    }
    done.pop().map(|(_, root)| root)
}

/// Marks the minimal explanation (spec 12 section 3.3).
fn decisive(tree: &Tree, outcomes: &[Outcome]) -> Vec<bool> {
    let mut marks = vec![false; tree.nodes.len()];
    if let Some(root) = marks.first_mut() {
        *root = true;
    }
    for (index, node) in tree.nodes.iter().enumerate() {
        if !marks.get(index).copied().unwrap_or(false) {
            continue;
        }
        let value = |index: usize| {
            outcomes
                .get(index)
                .map_or(Value::Maybe, |outcome| outcome.value)
        };
        let own = value(index);
        let children = children(&tree.nodes, index, node);
        let chosen: Vec<usize> = match (&node.op, own) {
            // The value that one child alone forces: the first child that has it.
            (Op::All, Value::No) | (Op::Any, Value::Yes) => children
                .into_iter()
                .find(|child| value(*child) == own)
                .into_iter()
                .collect(),
            (Op::All | Op::Any, Value::Maybe) => children
                .into_iter()
                .filter(|child| value(*child) == Value::Maybe)
                .collect(),
            _ => children,
        };
        for child in chosen {
            if let Some(mark) = marks.get_mut(child) {
                *mark = true;
            }
        }
    }
    marks
}

fn children(nodes: &[Node], index: usize, node: &Node) -> Vec<usize> {
    let mut children = Vec::new();
    let mut next = index + 1;
    while next < node.end {
        children.push(next);
        next = nodes.get(next).map_or(node.end, |child| child.end);
    }
    children
}

fn describe(op: &Op, regexes: &RegexTable) -> (&'static str, Map<String, Json>) {
    let one = |name: &str, value: Json| Map::from_iter([(name.to_owned(), value)]);
    match op {
        Op::AnyCommand => ("any_command", Map::new()),
        Op::Program(value) => ("program", one("value", json!(value))),
        Op::Basename(value) => ("basename", one("value", json!(value))),
        Op::ResolvedPath(path) => ("resolved_path", one("value", json!(path.as_str()))),
        Op::TrustedExecutable => ("trusted_executable", Map::new()),
        Op::ProgramRegex(index) => (
            "program_regex",
            one("value", json!(regexes.patterns().get(*index))),
        ),
        Op::ArgvPrefix(values) => ("argv_prefix", one("values", json!(values))),
        Op::Argument(value) => ("argument", one("value", json!(value))),
        Op::ArgumentContains(value) => ("argument_contains", one("value", json!(value))),
        Op::Effect { kind, under } => {
            let mut attributes = one("name", json!(kind.as_str()));
            if let Some(root) = under {
                attributes.insert("under".to_owned(), json!(root.as_str()));
            }
            ("effect", attributes)
        }
        Op::NoUnknownEffects => ("no_unknown_effects", Map::new()),
        Op::RawShell => ("raw_shell", Map::new()),
        Op::Dynamic(dynamic) => {
            let mut attributes = one("script", json!(dynamic.script));
            attributes.insert("function".to_owned(), json!(dynamic.function));
            ("chatml_match", attributes)
        }
        Op::All => ("all", Map::new()),
        Op::Any => ("any", Map::new()),
        Op::Not => ("not", Map::new()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::collections::BTreeMap;

    use super::*;
    use crate::facts::StdinKind;
    use crate::symbolic::{SymbolicFacts, SymbolicHost, SymbolicResolver};
    use crate::{
        Action, Capabilities, CommandFacts, CompiledPolicy, Matcher, PolicySource, RequestKind,
        RuleSource, ScriptsNotRun, decide, infer_effects,
    };

    fn record(matcher: Matcher, argv: &[&str]) -> PolicyTrace {
        let policy = CompiledPolicy::compile(PolicySource {
            default: Action::Ask,
            rules: vec![RuleSource {
                id: "r".to_owned(),
                action: Action::Deny,
                matcher,
            }],
            capabilities: Capabilities::default(),
            direct: false,
        })
        .unwrap();
        let host = SymbolicHost::new(SymbolicFacts::default(), SymbolicResolver::default());
        let facts = CommandFacts {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            cwd: "/ws".to_owned(),
            kind: RequestKind::Structured,
            script: None,
            stdin: StdinKind::Empty,
            stdin_bytes: 0,
            executable: host.resolve(argv[0], "/ws"),
            environment: BTreeMap::new(),
        };
        let effects = infer_effects(&facts, &host, false);
        let mut recorder = RuleRecorder::new(&policy);
        let decision = decide(
            &policy,
            &facts,
            &effects,
            &host,
            &mut ScriptsNotRun,
            &mut recorder,
        );
        recorder.finish(&decision)
    }

    fn leaf(value: &str) -> Matcher {
        Matcher::Argument(value.to_owned())
    }

    fn shape(node: &MatchTrace) -> String {
        let mark = if node.decisive { "*" } else { "" };
        let why = node.why.as_deref().unwrap_or("");
        let children: Vec<String> = node.children.iter().map(shape).collect();
        format!(
            "{mark}{}:{:?}:{why}[{}]",
            node.kind,
            node.value,
            children.join(" ")
        )
    }

    #[test]
    fn minimal_explanations() {
        let git = || Matcher::Basename("git".to_owned());
        for (matcher, argv, expected) in [
            (
                Matcher::All(vec![git(), leaf("push")]),
                &["git", "-C", ".", "push"][..],
                "*all:Yes:[*basename:Yes:equal[] *argument:Yes:found_at:3[]]",
            ),
            (
                Matcher::All(vec![git(), leaf("push"), leaf("x")]),
                &["git", "x"],
                "*all:No:[basename:Yes:equal[] *argument:No:not_found[] argument:Yes:found_at:1[]]",
            ),
            (
                Matcher::Any(vec![leaf("a"), git(), leaf("x")]),
                &["git", "x"],
                "*any:Yes:[argument:No:not_found[] *basename:Yes:equal[] argument:Yes:found_at:1[]]",
            ),
            (
                Matcher::Not(Box::new(Matcher::All(vec![git(), leaf("x")]))),
                &["/tmp/git", "x"],
                "*not:Maybe:[*all:Maybe:[*basename:Maybe:unstable_name[] argument:Yes:found_at:1[]]]",
            ),
            (
                Matcher::All(vec![git(), leaf("push")]),
                &["env", "git", "push"],
                "*all:Yes:inner_raised[*basename:Yes:equal[] *argument:Yes:found_at:1[]]",
            ),
        ] {
            let trace = record(matcher, argv);
            assert_eq!(
                shape(trace.rules[0].tree.as_ref().unwrap()),
                expected,
                "{argv:?}"
            );
        }
    }

    #[test]
    fn members_stand_in_the_published_order() {
        let trace = record(Matcher::AnyCommand, &["ls"]);
        let text = serde_json::to_string(&trace).unwrap();
        assert_eq!(
            text,
            r#"{"evaluated":true,"action":"deny","default_used":false,"deciding":["r"],"rules":[{"id":"r","action":"deny","value":"yes","fired":true,"deciding":true,"declared_in":null,"tree":{"kind":"any_command","attributes":{},"value":"yes","on":"outer","why":"equal","span":null,"decisive":true,"children":[]}}]}"#
        );
    }
}
