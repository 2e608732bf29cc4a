//! Tests inside the document, facts, and rationales (spec 12 sections 1 and 2).
//!
//! A comment directive or a line of a sidecar file says what should become of a request. Nothing
//! here adds to the manifest, and nothing looks at the machine.

mod annotations;
mod case;
mod collect;
mod coverage;
mod directive;
mod fault;
mod grammar;
mod judge;
mod mutate;
mod names;
mod options;
mod pairs;
mod run;
mod sidecar;
mod verb;
mod verdict;

use std::sync::Arc;

pub use chatmd_policy::trace::Trace;

pub use annotations::{Annotation, Annotations, MAX_ANNOTATION_BYTES};
pub use case::{Case, CaseText, Target};
pub use collect::{MAX_INLINE_CASES, Suite};
pub use coverage::{CoverageRow, Covered, coverage};
pub use directive::{Anchor, Directive, FileDirectives, Head, MAX_DIRECTIVE_BYTES, Stray};
pub use mutate::{Mutation, MutationReport, Survivor, mutate};
pub use options::{ExpectedEffect, Options};
pub use run::{CaseResult, Status, TestRun, trace};
pub use sidecar::{MAX_SIDECAR_CASES, MAX_SIDECAR_LINE};
pub use verb::Verb;

pub(crate) use directive::{of_content, of_document, starts_between_items};
pub(crate) use run::run as run_all;

use crate::db::{self, Db, Root};
use crate::expand::{Reading, expand};

/// The tests that stand in a document and what it imports. Equal after an edit that only moves
/// them.
#[salsa::tracked(returns(clone))]
pub fn inline(db: &dyn Db, root: Root) -> Arc<Suite> {
    let expansion = expand(db, root);
    Arc::new(collect::collect(
        &expansion,
        |index, reading| match expansion.file(index) {
            Some(file) if reading == Reading::Document => db::directives(db, file.input),
            Some(file) => db::content_directives(db, file.input),
            None => Arc::default(),
        },
    ))
}
