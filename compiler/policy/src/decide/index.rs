//! Which rules can have a value above no, found by hash and by one multi-pattern automaton.
//!
//! A rule is keyed when some constant of it must occur in the command for the rule to be anything
//! but no. Rules without such a constant, and rules with scripts, are always candidates.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::paths::basename;
use crate::policy::{CompiledRule, Op, Tree};

use super::subject::Subject;

/// Most bytes of constants that go into the automaton; rules beyond it are always candidates.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;

/// Index over the rules of one policy.
#[derive(Debug, Default)]
pub(crate) struct Index {
    always: Vec<usize>,
    texts: HashMap<String, Vec<usize>>,
    names: HashMap<String, Vec<usize>>,
    paths: HashMap<String, Vec<usize>>,
    arguments: HashMap<String, Vec<usize>>,
    patterns: HashMap<usize, Vec<usize>>,
    needles: Option<Needles>,
}

/// Constants that are looked for inside texts.
#[derive(Debug)]
struct Needles {
    automaton: AhoCorasick,
    /// Per constant: rules keyed by `argument_contains`.
    contained: Vec<Vec<usize>>,
    /// Per constant: rules keyed by it in any way, for opaque text.
    opaque: Vec<Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Name(String),
    TextOrName(String),
    Path(String),
    Argument(String),
    Needle(String),
    Pattern(usize),
}

/// Set of rule numbers.
pub(crate) struct Candidates {
    bits: Vec<u64>,
}

impl Candidates {
    fn new(rules: usize) -> Self {
        Self {
            bits: vec![0; rules.div_ceil(64)],
        }
    }

    fn add(&mut self, rule: usize) {
        if let Some(word) = self.bits.get_mut(rule / 64) {
            *word |= 1 << (rule % 64);
        }
    }

    fn add_all(&mut self, rules: Option<&Vec<usize>>) {
        for &rule in rules.into_iter().flatten() {
            self.add(rule);
        }
    }

    /// Rule numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.bits.iter().enumerate().flat_map(|(word, &bits)| {
            std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)))
                .take_while(|bits| *bits != 0)
                .map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}

impl Index {
    pub(crate) fn new(rules: &[CompiledRule]) -> Self {
        let mut index = Self::default();
        let mut constants: HashMap<String, usize> = HashMap::new();
        let mut contained: Vec<Vec<usize>> = Vec::new();
        let mut opaque: Vec<Vec<usize>> = Vec::new();
        let mut bytes = 0;
        for (number, rule) in rules.iter().enumerate() {
            let Some(keys) = keys(&rule.tree) else {
                index.always.push(number);
                continue;
            };
            let added: usize = keys.iter().filter_map(Key::constant).map(str::len).sum();
            // An empty constant occurs everywhere; the automaton cannot say that.
            if bytes + added > MAX_AUTOMATON_BYTES
                || keys.iter().filter_map(Key::constant).any(str::is_empty)
            {
                index.always.push(number);
                continue;
            }
            bytes += added;
            for key in keys {
                if let Some(constant) = key.constant() {
                    let next = constants.len();
                    let slot = *constants.entry(constant.to_owned()).or_insert(next);
                    if slot == next {
                        contained.push(Vec::new());
                        opaque.push(Vec::new());
                    }
                    if let Some(rules) = opaque.get_mut(slot) {
                        rules.push(number);
                    }
                    if matches!(key, Key::Needle(_))
                        && let Some(rules) = contained.get_mut(slot)
                    {
                        rules.push(number);
                    }
                }
                index.insert(key, number);
            }
        }
        let mut texts = vec![String::new(); constants.len()];
        for (constant, slot) in constants {
            if let Some(text) = texts.get_mut(slot) {
                *text = constant;
            }
        }
        match AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&texts)
        {
            Ok(automaton) if !texts.is_empty() => {
                index.needles = Some(Needles {
                    automaton,
                    contained,
                    opaque,
                });
            }
            Ok(_) => {}
            // Too large for the automaton: correct without it, only slower.
            Err(_) => {
                index = Self {
                    always: (0..rules.len()).collect(),
                    ..Self::default()
                };
            }
        }
        index
    }

    fn insert(&mut self, key: Key, rule: usize) {
        match key {
            Key::Text(text) => self.texts.entry(text).or_default().push(rule),
            Key::Name(name) => self.names.entry(name).or_default().push(rule),
            Key::TextOrName(text) => {
                self.texts.entry(text.clone()).or_default().push(rule);
                self.names.entry(text).or_default().push(rule);
            }
            Key::Path(path) => self.paths.entry(path).or_default().push(rule),
            Key::Argument(text) => self.arguments.entry(text).or_default().push(rule),
            Key::Pattern(pattern) => self.patterns.entry(pattern).or_default().push(rule),
            Key::Needle(_) => {}
        }
    }

    /// Rules that are always candidates.
    pub(crate) fn start(&self, rules: usize) -> Candidates {
        let mut candidates = Candidates::new(rules);
        candidates.add_all(Some(&self.always));
        candidates
    }

    /// Adds the rules that `subject` may fire.
    pub(crate) fn add(&self, subject: &Subject<'_>, candidates: &mut Candidates) {
        for pattern in subject.found_patterns() {
            candidates.add_all(self.patterns.get(&pattern));
        }
        if let Subject::Opaque(opaque) = subject {
            for view in opaque.views() {
                self.scan(view, candidates, |needles| &needles.opaque);
            }
            return;
        }
        let argv = subject.argv();
        if let Some(program) = argv.first() {
            candidates.add_all(self.texts.get(program));
            candidates.add_all(self.names.get(basename(program)));
        }
        for name in subject.path_names().into_iter().flatten() {
            candidates.add_all(self.names.get(name));
        }
        let (located, canonical) = match subject {
            Subject::Outer(outer) => match &outer.facts.executable {
                Some(found) => (Some(&found.located), Some(&found.canonical)),
                None => (None, None),
            },
            Subject::Inner(inner) => match &inner.located {
                Some(found) => (Some(&found.located), Some(&found.canonical)),
                None => (None, None),
            },
            Subject::Opaque(_) => (None, None),
        };
        for path in [located, canonical].into_iter().flatten() {
            candidates.add_all(self.paths.get(path));
        }
        for argument in argv.iter().skip(1) {
            candidates.add_all(self.arguments.get(argument));
            self.scan(argument, candidates, |needles| &needles.contained);
        }
    }

    fn scan(
        &self,
        text: &str,
        candidates: &mut Candidates,
        rules: impl Fn(&Needles) -> &Vec<Vec<usize>>,
    ) {
        let Some(needles) = &self.needles else { return };
        let rules = rules(needles);
        let mut seen = vec![false; rules.len()];
        for found in needles.automaton.find_overlapping_iter(text) {
            let slot = found.pattern().as_usize();
            if let Some(seen) = seen.get_mut(slot)
                && !std::mem::replace(seen, true)
            {
                candidates.add_all(rules.get(slot));
            }
        }
    }
}

impl Key {
    /// Text whose occurrence in opaque program text makes the leaf maybe.
    fn constant(&self) -> Option<&str> {
        match self {
            Self::Text(text)
            | Self::Name(text)
            | Self::TextOrName(text)
            | Self::Argument(text)
            | Self::Needle(text) => Some(text),
            Self::Path(_) | Self::Pattern(_) => None,
        }
    }
}

/// Keys of which one must be present, or `None` when the tree can be above no without any.
/// Works from the last node back: the keys of a subtree are known before its parent.
fn keys(tree: &Tree) -> Option<Vec<Key>> {
    if tree.has_dynamic {
        return None;
    }
    // Keys of the finished subtrees to the right of the current node, nearest last.
    let mut done: Vec<(usize, Option<Vec<Key>>)> = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let keys = match &node.op {
            Op::All | Op::Any | Op::Not => {
                let mut children = Vec::new();
                while done.last().is_some_and(|(start, _)| *start < node.end) {
                    children.extend(done.pop().map(|(_, keys)| keys));
                }
                match node.op {
                    Op::All => children.into_iter().flatten().min_by_key(|keys| cost(keys)),
                    Op::Any => children
                        .into_iter()
                        .collect::<Option<Vec<_>>>()
                        .map(|all| all.concat()),
                    _ => None,
                }
            }
            leaf => leaf_key(leaf).map(|key| vec![key]),
        };
        done.push((index, keys));
    }
    done.pop().and_then(|(_, keys)| keys)
}

fn leaf_key(op: &Op) -> Option<Key> {
    Some(match op {
        Op::Program(value) => Key::Text(value.clone()),
        Op::Basename(value) => Key::Name(value.clone()),
        Op::ResolvedPath(path) => Key::Path(path.as_str().to_owned()),
        Op::ProgramRegex(pattern) => Key::Pattern(*pattern),
        Op::ArgvPrefix(values) => Key::TextOrName(values.first()?.clone()),
        Op::Argument(value) => Key::Argument(value.clone()),
        Op::ArgumentContains(value) => Key::Needle(value.clone()),
        _ => return None,
    })
}

/// Few and selective keys first: names are rarer in requests than argument texts.
fn cost(keys: &[Key]) -> usize {
    let worst = keys
        .iter()
        .map(|key| match key {
            Key::Path(_) | Key::Text(_) | Key::Name(_) | Key::TextOrName(_) => 0,
            Key::Argument(_) => 1,
            Key::Pattern(_) => 2,
            Key::Needle(_) => 3,
        })
        .max()
        .unwrap_or(0);
    worst * 10_000 + keys.len()
}
