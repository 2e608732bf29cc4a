//! Results with their places, and the findings that belong to them.

use std::collections::HashSet;

use chatmd_compiler::Compilation;
use chatmd_compiler::compile::{Location, Secrets};
use chatmd_compiler::diagnostics::Place;
use chatmd_compiler::expectations::{Case, CaseResult, Status};
use serde::Serialize;

use super::Tested;
use super::filter::Filter;
use crate::report::Findings;

/// One result.
pub(super) struct Selected<'a> {
    pub(super) case: &'a Case,
    pub(super) result: &'a CaseResult,
    pub(super) at: Location<'a>,
    secrets: &'a Secrets,
}

impl Selected<'_> {
    pub(super) fn failed(&self) -> bool {
        self.result.status == Status::Failed
    }

    /// Where it is: `FILE:LINE`.
    pub(super) fn location(&self) -> String {
        format!("{}:{}", self.at.file.display, self.at.start.line)
    }

    /// Everything that a filter looks at.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![
            self.location(),
            self.result.runtime.clone(),
            self.case.text.shown(),
            self.case.name(),
        ];
        names.extend(self.result.tool.clone());
        names.extend(self.case.rule.clone());
        names.extend(self.case.options.rules.iter().cloned());
        names.extend(self.case.id.clone());
        names
    }

    /// What people call it: its id in a file of tests, else its name.
    pub(super) fn title(&self) -> String {
        self.secrets.redact(&self.called())
    }

    fn called(&self) -> String {
        match (&self.case.options.name, &self.case.id) {
            (None, Some(id)) => format!("{id}: {}", self.case.text.shown()),
            _ => self.case.name(),
        }
    }
}

/// All results of a compilation, in order.
pub(super) fn results(compilation: &Compilation) -> Vec<Selected<'_>> {
    let tested = &compilation.tested;
    let results = tested.run.results.iter();
    results
        .filter_map(|result| {
            let case = tested.suite.cases.get(result.case)?;
            let at = compilation.locate(case.at)?;
            Some(Selected {
                case,
                result,
                at,
                secrets: &tested.secrets,
            })
        })
        .collect()
}

/// The findings without those of tests that are not selected.
pub(super) fn findings<'a>(
    compilation: &'a Compilation,
    selected: &[Selected<'_>],
    filter: &Filter,
) -> Findings<'a> {
    let kept: HashSet<Place> = selected.iter().map(|result| result.case.at).collect();
    let of_a_result = [
        "chatmd.test_failed",
        "chatmd.test_indeterminate",
        "chatmd.test_needs_scripts",
        "chatmd.test_contradiction",
    ];
    let shown = compilation.diagnostics.iter().filter(|found| {
        filter.is_empty()
            || !of_a_result.contains(&found.code)
            || kept.contains(&found.primary.place)
    });
    Findings {
        compilation,
        shown: shown.cloned().collect(),
    }
}

/// How many results there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    passed: usize,
    failed: usize,
    not_run: usize,
    not_applicable: usize,
}

impl Counts {
    pub(super) fn of(documents: &[Tested<'_>]) -> Self {
        let mut counts = Self::default();
        for result in documents.iter().flat_map(|document| &document.selected) {
            match result.result.status {
                Status::Passed => counts.passed += 1,
                Status::Failed => counts.failed += 1,
                Status::NotRun => counts.not_run += 1,
                Status::NotApplicable => counts.not_applicable += 1,
            }
        }
        counts
    }

    /// The last line of the report, without the time.
    pub(super) fn line(self) -> String {
        format!(
            "{} passed, {} failed, {} not run, {} not applicable",
            self.passed, self.failed, self.not_run, self.not_applicable
        )
    }
}
