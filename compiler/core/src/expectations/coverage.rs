//! Which rules, ceilings and tools the tests of a document decide by (spec 12 section 2.7).

use std::collections::{HashMap, HashSet};

use super::Status;
use super::run::TestRun;
use crate::manifest::Manifest;

/// What kind of thing a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Covered {
    /// A rule decided.
    Rule,
    /// A ceiling refused.
    Capability,
    /// A tool was asked.
    Tool,
}

impl Covered {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Capability => "capability",
            Self::Tool => "tool",
        }
    }
}

/// How many tests something was decisive in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageRow {
    /// Qualified id of the runtime.
    pub runtime: String,
    /// What is counted.
    pub kind: Covered,
    /// Id of the rule, kind of the effect, or name of the tool.
    pub name: String,
    /// Number of tests.
    pub cases: usize,
}

/// Ceilings, by the kind of effect that they bound.
const CEILINGS: [&str; 6] = [
    "read_path",
    "write_path",
    "network",
    "child_processes",
    "arbitrary_code",
    "privilege_change",
];

/// Counts for every rule, ceiling and tool of a manifest, zeros included, in its order.
pub fn coverage(manifest: &Manifest, run: &TestRun) -> Vec<CoverageRow> {
    let mut counts: HashMap<(&str, Covered, &str), usize> = HashMap::new();
    for result in &run.results {
        if !matches!(result.status, Status::Passed | Status::Failed) {
            continue;
        }
        let mut seen = HashSet::new();
        let rules = result
            .deciding
            .iter()
            .map(|id| (Covered::Rule, id.as_str()));
        let ceilings = result
            .ceilings
            .iter()
            .map(|kind| (Covered::Capability, *kind));
        let tool = result
            .tool
            .iter()
            .map(|tool| (Covered::Tool, tool.as_str()));
        for (kind, name) in rules.chain(ceilings).chain(tool) {
            if seen.insert((kind, name)) {
                *counts.entry((&result.runtime, kind, name)).or_default() += 1;
            }
        }
    }
    let mut rows = Vec::new();
    for runtime in &manifest.runtimes {
        let rules = runtime.policy.rules.iter();
        let rules = rules.map(|rule| (Covered::Rule, rule.id.as_str()));
        let ceilings = CEILINGS.map(|kind| (Covered::Capability, kind));
        let tools = manifest
            .tools
            .iter()
            .filter(|tool| tool.runtime == runtime.id);
        let tools = tools.map(|tool| (Covered::Tool, tool.name.as_str()));
        for (kind, name) in rules.chain(ceilings).chain(tools) {
            let key = (runtime.id.as_str(), kind, name);
            rows.push(CoverageRow {
                runtime: runtime.id.clone(),
                kind,
                name: name.to_owned(),
                cases: counts.get(&key).copied().unwrap_or_default(),
            });
        }
    }
    rows
}
