//! Tests that say the same, or the opposite, of the same request (spec 12 section 2.8).

use std::collections::HashMap;

use super::case::{Case, CaseText, Target};
use super::options::Options;
use super::verb::Verb;
use crate::diagnostics::Diagnostic;

/// What was found.
pub(super) struct Pairs {
    /// Tests that another one contradicts, with the reason: neither is run.
    pub contradicted: HashMap<usize, String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// What makes two tests tests of the same thing.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    target: &'a Target,
    text: &'a CaseText,
    options: Options,
    facts: usize,
    /// Only `match` and `no_match` depend on the rule around them.
    rule: Option<&'a str>,
}

/// Looks at all tests.
pub(super) fn find(cases: &[Case]) -> Pairs {
    let mut found = Pairs {
        contradicted: HashMap::new(),
        diagnostics: Vec::new(),
    };
    let mut seen: HashMap<Key<'_>, Vec<(Verb, usize)>> = HashMap::new();
    for (index, case) in cases.iter().enumerate() {
        // What is not run contradicts nothing.
        if case.options.skip.is_some() {
            continue;
        }
        let key = Key {
            target: &case.target,
            text: &case.text,
            options: case.options.same_request(),
            facts: case.facts,
            rule: case.verb.needs_rule().then(|| case.asked_rule()).flatten(),
        };
        // At most one test of each verb is kept.
        let earlier = seen.entry(key).or_default();
        if let Some((_, first)) = earlier.iter().find(|(verb, _)| *verb == case.verb) {
            if let Some(first) = cases.get(*first) {
                duplicate(case, first, &mut found);
            }
            continue;
        }
        let opposite = earlier.iter().find(|(verb, _)| verb.excludes(case.verb));
        if let Some((verb, first)) = opposite
            && let Some(other) = cases.get(*first)
        {
            contradiction(case, other, *verb, &mut found);
            let reason = |verb: Verb| format!("another test expects {}", verb.as_str());
            found.contradicted.insert(index, reason(*verb));
            found.contradicted.insert(*first, reason(case.verb));
        }
        earlier.push((case.verb, index));
    }
    found
}

fn duplicate(case: &Case, first: &Case, found: &mut Pairs) {
    if case.at == first.at {
        return;
    }
    found.diagnostics.push(
        Diagnostic::new(
            "chatmd.test_duplicate",
            case.at,
            "this test is there already",
        )
        .label("once more")
        .related(first.at, "the first one")
        .hint("remove one of them"),
    );
}

fn contradiction(case: &Case, other: &Case, verb: Verb, found: &mut Pairs) {
    let message = format!(
        "this test expects {}, another one of the same request expects {}",
        case.verb.as_str(),
        verb.as_str()
    );
    found.diagnostics.push(
        Diagnostic::new("chatmd.test_contradiction", case.at, message)
            .label(format!("expects {}", case.verb.as_str()))
            .related(other.at, format!("expects {}", verb.as_str()))
            .hint("remove the one that is wrong; neither was run"),
    );
}
