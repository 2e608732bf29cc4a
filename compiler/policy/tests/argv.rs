//! `corpus/argv`: families of commands with what they really do, harmless look-alikes among them.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use std::collections::BTreeSet;

use chatmd_policy::symbolic::SymbolicHost;
use chatmd_policy::{
    Action, Capabilities, CompiledPolicy, Effect, EffectKind, Effects, Matcher, PolicySource,
    RuleSource, chain,
};
use common::{command, decision, effects_of, host};

const FACTS: &str = "link /usr/bin/g -> /usr/bin/git; link /opt/tools/vcs -> git; \
    link /usr/bin/applet -> /usr/bin/busybox; program nosuchprogram = missing";

struct Row {
    family: String,
    text: String,
    expected: String,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/argv/README.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut rows = Vec::new();
    let mut family = String::new();
    let mut open = false;
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            family = title.to_owned();
        } else if line.starts_with("```") {
            open = !open;
        } else if open {
            let (text, expected) = line.rsplit_once('|').expect(line);
            rows.push(Row {
                family: family.clone(),
                text: text.trim().to_owned(),
                expected: expected.trim().to_owned(),
            });
        }
    }
    rows
}

/// A command line as a shell splits it; the operators of `find` need no quotes here.
fn argv(text: &str) -> Vec<String> {
    if let Ok(chain) = chain::parse(text)
        && let Some(argv) = chain.single()
    {
        return argv.to_vec();
    }
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        words.push(word.trim_matches('\'').to_owned());
    }
    words
}

/// Effects as the page names them.
fn named(effects: &Effects) -> BTreeSet<String> {
    let names = effects.iter().map(|effect| match effect {
        Effect::Read(path) => format!("R:{path}"),
        Effect::Write(path) => format!("W:{path}"),
        Effect::Network => "N".to_owned(),
        Effect::ChildProcesses => "C".to_owned(),
        Effect::ArbitraryCode => "A".to_owned(),
        Effect::PrivilegeChange => "P".to_owned(),
        Effect::Unknown(_) => "U".to_owned(),
    });
    names.collect()
}

/// What is wrong with the effects of a row, or nothing.
fn fault(expected: &str, found: &BTreeSet<String>) -> Option<String> {
    let anything = ["A", "C", "U"].iter().all(|kind| found.contains(*kind));
    let has = |kind: &str| {
        let writes = found.iter().any(|effect| effect.starts_with("W:"));
        found.contains(kind) || (kind == "W" && (writes || anything))
    };
    for word in expected.split(' ') {
        if word == "harmless" {
            if let Some(effect) = found.iter().find(|effect| !effect.starts_with("R:")) {
                return Some(format!("is harmless, not {effect}"));
            }
        } else if let Some(kind) = word.strip_prefix('!') {
            if has(kind) {
                return Some(format!("does not have {kind}"));
            }
        } else if !has(word) {
            return Some(format!("lacks {word}"));
        }
    }
    None
}

#[test]
fn every_command_has_at_least_its_effects_and_harmless_ones_have_none() {
    let host = host(FACTS);
    let rows = rows();
    let families: BTreeSet<&str> = rows.iter().map(|row| row.family.as_str()).collect();
    let tame = rows
        .iter()
        .filter(|row| row.expected.contains("harmless") || row.expected.starts_with('!'));
    let tame = tame.count();
    assert!(
        rows.len() >= 600 && families.len() >= 40,
        "{} in {}",
        rows.len(),
        families.len()
    );
    assert!(tame * 2 >= rows.len() - 60, "{tame} of {}", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let effects = named(&effects_of(&host, argv(&row.text)));
        if let Some(fault) = fault(&row.expected, &effects) {
            wrong.push(format!(
                "{}: `{}` {fault} ({effects:?})",
                row.family, row.text
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// The policy of the page: refuse the network and other rights, allow what only reads, ask else.
fn policy() -> CompiledPolicy {
    let effect = |kind| Matcher::Effect { kind, under: None };
    let not = |matcher| Matcher::Not(Box::new(matcher));
    let rule = |id: &str, action, matcher| RuleSource {
        id: id.to_owned(),
        action,
        matcher,
    };
    let quiet = [
        EffectKind::Network,
        EffectKind::ChildProcesses,
        EffectKind::ArbitraryCode,
        EffectKind::PrivilegeChange,
        EffectKind::WritePath,
        EffectKind::Unknown,
    ];
    CompiledPolicy::compile(PolicySource {
        default: Action::Ask,
        rules: vec![
            rule("network", Action::Deny, effect(EffectKind::Network)),
            rule("rights", Action::Deny, effect(EffectKind::PrivilegeChange)),
            rule(
                "readers",
                Action::Allow,
                Matcher::All(quiet.map(|kind| not(effect(kind))).to_vec()),
            ),
        ],
        capabilities: Capabilities::default(),
        direct: false,
    })
    .unwrap()
}

fn decided(host: &SymbolicHost, policy: &CompiledPolicy, text: &str) -> Action {
    decision(policy, host, &command(host, argv(text))).action
}

#[test]
fn every_command_is_decided_about_as_the_page_says() {
    let (host, policy) = (host(FACTS), policy());
    let mut wrong = Vec::new();
    for row in rows() {
        let found = decided(&host, &policy, &row.text);
        let words: Vec<&str> = row.expected.split(' ').collect();
        let right = match &words[..] {
            ["harmless"] => found == Action::Allow,
            words if words.iter().any(|word| matches!(*word, "N" | "P")) => found == Action::Deny,
            words
                if words
                    .iter()
                    .all(|word| word.starts_with("R:") || word.starts_with('!')) =>
            {
                true
            }
            _ => found != Action::Allow,
        };
        if !right {
            wrong.push(format!(
                "{}: `{}` {} gives {found:?}",
                row.family, row.text, row.expected
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
