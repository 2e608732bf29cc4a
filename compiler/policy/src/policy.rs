//! A policy ready for deciding: flat matcher trees, one regex set, one index.

use std::collections::HashMap;
use std::fmt;

use crate::capability::Capabilities;
use crate::decide::index::Index;
use crate::effect::EffectKind;
use crate::matcher::{DynamicMatch, MAX_MATCHER_DEPTH, MAX_MATCHER_NODES, Matcher, MatcherPath};
use crate::regex::{RegexFault, RegexTable};
use crate::value::Action;

/// A policy as the compiler hands it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySource {
    /// Action when no rule fires.
    pub default: Action,
    /// Rules in declaration order.
    pub rules: Vec<RuleSource>,
    /// Lowered capabilities of the runtime.
    pub capabilities: Capabilities,
    /// The runtime may start commands without confinement.
    pub direct: bool,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSource {
    /// Rule id.
    pub id: String,
    /// Action of the rule.
    pub action: Action,
    /// Its only matcher.
    pub matcher: Matcher,
}

/// Why a policy cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyFault {
    /// Nesting deeper than [`MAX_MATCHER_DEPTH`], or more than [`MAX_MATCHER_NODES`] nodes.
    MatcherTooDeep {
        /// Rule at which the bound was exceeded.
        rule: String,
    },
    /// `all` or `any` without a child.
    EmptyMatcher {
        /// Rule that holds it.
        rule: String,
    },
    /// A pattern is refused.
    Regex {
        /// Rule that holds it.
        rule: String,
        /// The pattern.
        pattern: String,
        /// What is wrong.
        fault: RegexFault,
    },
}

impl PolicyFault {
    /// Diagnostic code of the fault.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MatcherTooDeep { .. } => "shell.matcher_too_deep",
            Self::EmptyMatcher { .. } => "shell.empty_matcher",
            Self::Regex {
                fault: RegexFault::Empty,
                ..
            } => "shell.empty_regex",
            Self::Regex { .. } => "shell.invalid_program_regex",
        }
    }
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MatcherTooDeep { rule } => write!(
                out,
                "rule {rule}: matchers nest deeper than {MAX_MATCHER_DEPTH} or a policy has more than {MAX_MATCHER_NODES} of them"
            ),
            Self::EmptyMatcher { rule } => write!(out, "rule {rule}: all or any has no matcher"),
            Self::Regex {
                rule,
                pattern,
                fault,
            } => {
                let shown: String = pattern.chars().take(40).collect();
                write!(out, "rule {rule}: pattern {shown:?}: {fault}")
            }
        }
    }
}

impl std::error::Error for PolicyFault {}

/// A compiled policy. Immutable; share it.
#[derive(Debug)]
pub struct CompiledPolicy {
    pub(crate) default: Action,
    pub(crate) rules: Vec<CompiledRule>,
    pub(crate) regexes: RegexTable,
    pub(crate) index: Index,
    capabilities: Capabilities,
    direct: bool,
}

/// A rule with its flat matcher.
#[derive(Debug)]
pub struct CompiledRule {
    pub(crate) id: String,
    pub(crate) action: Action,
    pub(crate) tree: Tree,
}

impl CompiledRule {
    /// Rule id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Action of the rule.
    pub fn action(&self) -> Action {
        self.action
    }
}

/// A matcher tree in document order (preorder).
#[derive(Debug)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) has_dynamic: bool,
}

/// A node and where its subtree ends.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) end: usize,
}

/// Flat matcher operation; regexes are indices of the policy's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    AnyCommand,
    Program(String),
    Basename(String),
    ResolvedPath(MatcherPath),
    TrustedExecutable,
    ProgramRegex(usize),
    ArgvPrefix(Vec<String>),
    Argument(String),
    ArgumentContains(String),
    Effect {
        kind: EffectKind,
        under: Option<MatcherPath>,
    },
    NoUnknownEffects,
    RawShell,
    Dynamic(DynamicMatch),
    All,
    Any,
    Not,
}

impl CompiledPolicy {
    /// Compiles a policy.
    pub fn compile(source: PolicySource) -> Result<Self, PolicyFault> {
        let mut flattener = Flattener::default();
        let mut rules = Vec::with_capacity(source.rules.len());
        for rule in source.rules {
            let tree = flattener.flatten(&rule.id, &rule.matcher)?;
            rules.push(CompiledRule {
                id: rule.id,
                action: rule.action,
                tree,
            });
        }
        let owners = flattener.pattern_owner;
        let regexes = RegexTable::new(flattener.patterns.clone()).map_err(|(index, fault)| {
            PolicyFault::Regex {
                rule: owners.get(index).cloned().unwrap_or_default(),
                pattern: flattener.patterns.get(index).cloned().unwrap_or_default(),
                fault,
            }
        })?;
        let index = Index::new(&rules);
        Ok(Self {
            default: source.default,
            rules,
            regexes,
            index,
            capabilities: source.capabilities,
            direct: source.direct,
        })
    }

    /// Rules in declaration order.
    pub fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    /// Action when no rule fires.
    pub fn default_action(&self) -> Action {
        self.default
    }

    /// Capabilities of the runtime.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Whether commands may start without confinement.
    pub fn direct(&self) -> bool {
        self.direct
    }
}

#[derive(Default)]
struct Flattener {
    patterns: Vec<String>,
    pattern_owner: Vec<String>,
    pattern_index: HashMap<String, usize>,
    nodes: usize,
}

enum Visit<'m> {
    Enter(&'m Matcher, usize),
    Leave(usize),
}

impl Flattener {
    fn flatten(&mut self, rule: &str, matcher: &Matcher) -> Result<Tree, PolicyFault> {
        let too_deep = || PolicyFault::MatcherTooDeep {
            rule: rule.to_owned(),
        };
        let mut nodes: Vec<Node> = Vec::new();
        let mut has_dynamic = false;
        let mut work = vec![Visit::Enter(matcher, 1)];
        while let Some(visit) = work.pop() {
            let (matcher, depth) = match visit {
                Visit::Leave(index) => {
                    let end = nodes.len();
                    if let Some(node) = nodes.get_mut(index) {
                        node.end = end;
                    }
                    continue;
                }
                Visit::Enter(matcher, depth) => (matcher, depth),
            };
            self.nodes += 1;
            if depth > MAX_MATCHER_DEPTH || self.nodes > MAX_MATCHER_NODES {
                return Err(too_deep());
            }
            let index = nodes.len();
            let op = self.op(rule, matcher);
            has_dynamic |= matches!(op, Op::Dynamic(_));
            nodes.push(Node { op, end: index + 1 });
            let children: &[Matcher] = match matcher {
                Matcher::All(children) | Matcher::Any(children) if children.is_empty() => {
                    return Err(PolicyFault::EmptyMatcher {
                        rule: rule.to_owned(),
                    });
                }
                Matcher::All(children) | Matcher::Any(children) => children,
                Matcher::Not(child) => std::slice::from_ref(child),
                _ => continue,
            };
            work.push(Visit::Leave(index));
            work.extend(
                children
                    .iter()
                    .rev()
                    .map(|child| Visit::Enter(child, depth + 1)),
            );
        }
        Ok(Tree { nodes, has_dynamic })
    }

    fn op(&mut self, rule: &str, matcher: &Matcher) -> Op {
        match matcher {
            Matcher::AnyCommand => Op::AnyCommand,
            Matcher::Program(value) => Op::Program(value.clone()),
            Matcher::Basename(value) => Op::Basename(value.clone()),
            Matcher::ResolvedPath(path) => Op::ResolvedPath(path.clone()),
            Matcher::TrustedExecutable => Op::TrustedExecutable,
            Matcher::ProgramRegex(pattern) => Op::ProgramRegex(self.pattern(rule, pattern)),
            Matcher::ArgvPrefix(values) => Op::ArgvPrefix(values.clone()),
            Matcher::Argument(value) => Op::Argument(value.clone()),
            Matcher::ArgumentContains(value) => Op::ArgumentContains(value.clone()),
            Matcher::Effect { kind, under } => Op::Effect {
                kind: *kind,
                under: under.clone(),
            },
            Matcher::NoUnknownEffects => Op::NoUnknownEffects,
            Matcher::RawShell => Op::RawShell,
            Matcher::Dynamic(dynamic) => Op::Dynamic(dynamic.clone()),
            Matcher::All(_) => Op::All,
            Matcher::Any(_) => Op::Any,
            Matcher::Not(_) => Op::Not,
        }
    }

    fn pattern(&mut self, rule: &str, pattern: &str) -> usize {
        if let Some(&index) = self.pattern_index.get(pattern) {
            return index;
        }
        let index = self.patterns.len();
        self.patterns.push(pattern.to_owned());
        self.pattern_owner.push(rule.to_owned());
        self.pattern_index.insert(pattern.to_owned(), index);
        index
    }
}
