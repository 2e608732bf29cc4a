//! Lints of single rules that need no solver (spec 12 section 4.2): `rule_never_matches` and
//! `deny_prefix_global_options`.

use std::ops::ControlFlow;

use chatmd_policy::global_options;
use chatmd_syntax::Span;

use super::effective::{Effective, Entry};
use super::report::{list, quote};
use crate::decl::{MatcherDecl, MatcherKindDecl};
use crate::lower::escape;
use crate::manifest::{Action, EffectName, Matcher, Rule};

/// Most positive matchers of an `all` with which a `not` is compared.
const MAX_COMPARED: usize = 64;

/// Two matchers that no command has both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    pub(super) first: Span,
    pub(super) second: Span,
    /// The second one, as it is written.
    pub(super) shown: String,
    /// A link that gives a program another name could still bring them together.
    pub(super) only_through_link: bool,
}

/// Why a rule can never fire, if it can not.
pub(super) fn never_matches(matcher: &MatcherDecl, action: Action) -> Option<Contradiction> {
    let known = Known {
        restrictive: action != Action::Allow,
        ..Known::default()
    };
    match known.with(matcher, &mut Vec::new()) {
        ControlFlow::Break(found) => Some(found),
        ControlFlow::Continue(_) => None,
    }
}

/// What must hold of a command so far; the first matcher of each kind is enough, since a later one
/// that differs from it is the contradiction.
#[derive(Clone, Copy, Default)]
struct Known<'m> {
    /// The rule fires also when a name may only be that of the program.
    restrictive: bool,
    name: Option<(&'m str, Span)>,
    text: Option<(&'m str, Span)>,
    prefix: Option<(&'m [String], Span)>,
    no_unknown: Option<Span>,
    unknown: Option<Span>,
}

type Found<'m> = ControlFlow<Contradiction, Known<'m>>;

impl<'m> Known<'m> {
    /// What is known with one more matcher. `positive`: the other leaves of the enclosing `all`s.
    fn with(mut self, matcher: &'m MatcherDecl, positive: &mut Vec<&'m MatcherDecl>) -> Found<'m> {
        match &matcher.kind {
            MatcherKindDecl::All(children) => {
                let depth = positive.len();
                let groups = |child: &&MatcherDecl| matches!(child.kind, MatcherKindDecl::Any(_));
                // Alternatives are judged when all else is known.
                for child in children.iter().filter(|child| !groups(child)) {
                    self = self.with(child, positive)?;
                    positive.push(child);
                }
                for child in children.iter().filter(groups) {
                    self = self.with(child, positive)?;
                }
                positive.truncate(depth);
                Found::Continue(self)
            }
            MatcherKindDecl::Any(children) => self.alternatives(children, positive),
            MatcherKindDecl::Not(child) => self.without(child, matcher, positive),
            _ => self.leaf(matcher),
        }
    }

    /// Every alternative has to be impossible.
    fn alternatives(
        self,
        children: &'m [MatcherDecl],
        positive: &mut Vec<&'m MatcherDecl>,
    ) -> Found<'m> {
        let mut first = None;
        for child in children {
            let depth = positive.len();
            let found = self.with(child, positive);
            positive.truncate(depth);
            match found {
                ControlFlow::Continue(_) => return Found::Continue(self),
                ControlFlow::Break(found) => first = first.or(Some(found)),
            }
        }
        match first {
            Some(found) => Found::Break(found),
            None => Found::Continue(self),
        }
    }

    /// `not` of something that always holds, or that the same `all` demands.
    fn without(
        self,
        child: &'m MatcherDecl,
        not: &'m MatcherDecl,
        positive: &[&'m MatcherDecl],
    ) -> Found<'m> {
        let impossible = |first: Span| {
            Found::Break(Contradiction {
                first,
                second: not.name,
                shown: format!("`not {}`", shown(child)),
                only_through_link: false,
            })
        };
        if child.kind == MatcherKindDecl::AnyCommand {
            return impossible(child.name);
        }
        let two_valued = !self.restrictive
            || matches!(
                child.kind,
                MatcherKindDecl::Program(_)
                    | MatcherKindDecl::Argument(_)
                    | MatcherKindDecl::ArgumentContains(_)
                    | MatcherKindDecl::TrustedExecutable
                    | MatcherKindDecl::NoUnknownEffects
                    | MatcherKindDecl::RawShell
            );
        let same = |other: &&&MatcherDecl| same_test(&other.kind, &child.kind);
        match positive.iter().take(MAX_COMPARED).find(same) {
            Some(other) if two_valued => impossible(other.name),
            _ => Found::Continue(self),
        }
    }

    fn leaf(mut self, matcher: &'m MatcherDecl) -> Found<'m> {
        let at = matcher.name;
        match &matcher.kind {
            MatcherKindDecl::Basename(value) => self.name(&value.value, matcher),
            MatcherKindDecl::Program(value) => {
                if let Some((text, first)) = self.text
                    && text != value.value
                {
                    return contradiction(first, matcher, false);
                }
                self.text = self.text.or(Some((&value.value, at)));
                self.name(base_name(&value.value), matcher)
            }
            MatcherKindDecl::ArgvPrefix(values) => {
                if let Some((known, first)) = self.prefix {
                    let mut pairs = known.iter().zip(&values.value).skip(1);
                    if pairs.any(|(a, b)| a != b) {
                        return contradiction(first, matcher, false);
                    }
                }
                let longer = self
                    .prefix
                    .is_none_or(|(known, _)| known.len() < values.value.len());
                if longer {
                    self.prefix = Some((&values.value, at));
                }
                match values.value.first() {
                    Some(program) => self.name(base_name(program), matcher),
                    None => Found::Continue(self),
                }
            }
            MatcherKindDecl::NoUnknownEffects => {
                if let Some(first) = self.unknown {
                    return contradiction(first, matcher, false);
                }
                self.no_unknown = Some(at);
                Found::Continue(self)
            }
            MatcherKindDecl::Effect {
                effect: EffectName::Unknown,
                ..
            } => {
                if let Some(first) = self.no_unknown {
                    return contradiction(first, matcher, false);
                }
                self.unknown = Some(at);
                Found::Continue(self)
            }
            _ => Found::Continue(self),
        }
    }

    /// A command has one name, unless a link gives its program another one.
    fn name(mut self, name: &'m str, matcher: &'m MatcherDecl) -> Found<'m> {
        match self.name {
            Some((known, first)) if known != name => contradiction(first, matcher, true),
            Some(_) => Found::Continue(self),
            None => {
                self.name = Some((name, matcher.name));
                Found::Continue(self)
            }
        }
    }
}

fn contradiction<'m>(first: Span, second: &MatcherDecl, only_through_link: bool) -> Found<'m> {
    Found::Break(Contradiction {
        first,
        second: second.name,
        shown: shown(second),
        only_through_link,
    })
}

/// Whether two matchers test the same, wherever they stand.
fn same_test(a: &MatcherKindDecl, b: &MatcherKindDecl) -> bool {
    use MatcherKindDecl as Kind;
    match (a, b) {
        (Kind::TrustedExecutable, Kind::TrustedExecutable)
        | (Kind::NoUnknownEffects, Kind::NoUnknownEffects)
        | (Kind::RawShell, Kind::RawShell) => true,
        (Kind::Program(a), Kind::Program(b))
        | (Kind::Basename(a), Kind::Basename(b))
        | (Kind::Argument(a), Kind::Argument(b))
        | (Kind::ArgumentContains(a), Kind::ArgumentContains(b))
        | (Kind::ProgramRegex(a), Kind::ProgramRegex(b)) => a.value == b.value,
        (Kind::ArgvPrefix(a), Kind::ArgvPrefix(b)) => a.value == b.value,
        _ => false,
    }
}

/// A matcher as people name it.
fn shown(matcher: &MatcherDecl) -> String {
    use MatcherKindDecl as Kind;
    let named = |word: &str, value: &str| format!("`{word}` {}", quote(value));
    match &matcher.kind {
        Kind::Program(value) => named("program", &value.value),
        Kind::Basename(value) => named("basename", &value.value),
        Kind::Argument(value) => named("argument", &value.value),
        Kind::ArgumentContains(value) => named("argument_contains", &value.value),
        Kind::ProgramRegex(value) => named("program_regex", &value.value),
        Kind::ArgvPrefix(values) => {
            format!(
                "`argv_prefix` {}",
                list(values.value.iter().map(String::as_str))
            )
        }
        Kind::AnyCommand => "`any_command`".to_owned(),
        Kind::NoUnknownEffects => "`no_unknown_effects`".to_owned(),
        Kind::Effect { .. } => "`effect` unknown".to_owned(),
        Kind::TrustedExecutable => "`trusted_executable`".to_owned(),
        Kind::RawShell => "`raw_shell`".to_owned(),
        _ => "this".to_owned(),
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A restriction by the first words of a command, which an option before the subcommand gets past.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Evadable {
    /// The name of the element.
    pub(super) at: Span,
    /// The whole element.
    pub(super) element: Span,
    /// Commands that the rule does not see.
    pub(super) witnesses: Vec<String>,
    /// What to write instead.
    pub(super) instead: String,
}

/// Every such restriction of a rule that no other rule of the runtime makes good.
pub(super) fn evadable(
    matcher: &MatcherDecl,
    action: Action,
    effective: &Effective,
) -> Vec<Evadable> {
    let mut found = Vec::new();
    let mut open = vec![matcher];
    while let Some(matcher) = open.pop() {
        match &matcher.kind {
            MatcherKindDecl::All(of) | MatcherKindDecl::Any(of) => open.extend(of.iter().rev()),
            MatcherKindDecl::ArgvPrefix(values) => {
                let Some((program, rest)) = values.value.split_first() else {
                    continue;
                };
                let name = base_name(program);
                let (Some(options), Some(word)) = (global_options(name), rest.first()) else {
                    continue;
                };
                if word.starts_with('-') || covered(name, word, action, &effective.rules) {
                    continue;
                }
                let tail = rest.join(" ");
                let witnesses = options.iter().take(3);
                let parts = rest
                    .iter()
                    .map(|word| format!("<argument value=\"{}\"/>", escape(word)));
                found.push(Evadable {
                    at: matcher.name,
                    element: matcher.element,
                    witnesses: witnesses
                        .map(|option| format!("{name} {option} {tail}"))
                        .collect(),
                    instead: format!(
                        "<all><basename value=\"{}\"/>{}</all>",
                        escape(name),
                        parts.collect::<String>()
                    ),
                });
            }
            _ => {}
        }
    }
    found
}

/// Whether another rule, at least as strong, restricts the subcommand wherever it stands.
fn covered(name: &str, word: &str, action: Action, rules: &[Entry<Rule>]) -> bool {
    let strong = |rule: &Rule| {
        rule.action == Action::Deny || (action == Action::Ask && rule.action == Action::Ask)
    };
    let rules = rules.iter().filter_map(|entry| entry.value.as_deref());
    rules
        .filter(|rule| strong(rule))
        .any(|rule| restricts(&rule.matcher, name, word))
}

/// Whether a matcher fires on every command of that program with that argument.
fn restricts(matcher: &Matcher, name: &str, word: &str) -> bool {
    match matcher {
        Matcher::AnyCommand {} => true,
        Matcher::Basename { value } => value == name,
        Matcher::Argument { value } => value == word,
        Matcher::ArgumentContains { value } => word.contains(value.as_str()),
        Matcher::All { of } => of.iter().all(|m| restricts(m, name, word)),
        Matcher::Any { of } => of.iter().any(|m| restricts(m, name, word)),
        _ => false,
    }
}
