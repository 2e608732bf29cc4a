//! What two manifests permit differently (spec 04 section 11.2).
//!
//! One function per group of fields, each taking every member of its type apart, so that a member
//! that is added to the manifest does not compile until someone has said what a change of it means.
//! Where a change has no clear direction it is [`Class::Mixed`], which counts as widening: this
//! comparison may ask for a review too many, never for one too few.

mod backends;
mod binding;
mod class;
mod environment;
mod extensions;
mod lists;
mod policy;
mod record;
mod roots;
mod runtime;
mod safeguards;
mod shared;
mod text;
mod tools;

use serde::Serialize;
use serde_json::Value;

pub use class::{Class, Verdict};
pub use record::Subject;
pub use text::{line, text};

use crate::manifest::{ManifestError, Platform, digest, requested_sha256};
use record::Record;

/// Payloads come from [`crate::manifest`].
pub use crate::manifest::Manifest;

/// How an entry differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only the new manifest has it.
    Added,
    /// Only the old manifest has it.
    Removed,
    /// Both have it with different values.
    Changed,
}

/// One difference. Members are those of the object form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Members of the payload joined with dots; entries of lists by id, name or content.
    pub path: String,
    /// How it differs.
    pub change: ChangeKind,
    /// The old value; null when added.
    pub old: Value,
    /// The new value; null when removed.
    pub new: Value,
    /// What it means for authority.
    pub class: Class,
    /// The runtime that it concerns, if it concerns one.
    pub runtime: Option<String>,
    /// What it belongs to, for grouping.
    #[serde(skip)]
    pub subject: Subject,
}

/// The difference of two manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The whole in one word.
    pub verdict: Verdict,
    /// Every difference, by path.
    pub changes: Vec<Change>,
}

/// Compares two payloads. Bindings count when both have one; otherwise the requested forms are
/// compared.
///
/// # Errors
/// When a payload cannot be encoded (see [`crate::manifest::to_bytes`]).
pub fn diff(old: &Manifest, new: &Manifest) -> Result<Diff, ManifestError> {
    let bound = old.binding.is_some() && new.binding.is_some();
    let digest_of = |manifest: &Manifest| {
        if bound {
            digest(manifest)
        } else {
            requested_sha256(manifest)
        }
    };
    let digests = (digest_of(old)?, digest_of(new)?);
    if digests.0 == digests.1 {
        return Ok(Diff {
            verdict: Verdict::Equal,
            changes: Vec::new(),
        });
    }
    let mut record = Record::default();
    shared::compare(old, new, &mut record);
    runtime::compare(old, new, bound, &mut record);
    tools::compare(&old.tools, &new.tools, &mut record);
    if bound {
        binding::compare(old, new, &mut record);
    }
    let mut changes = record.changes;
    if changes.is_empty() {
        // Not reachable while every member is taken apart; silence would be the worst answer.
        let mut rest = Record::default();
        rest.document("payload")
            .changed("sha256", &digests.0, &digests.1, Class::Mixed);
        changes = rest.changes;
    }
    changes.sort_by(|left, right| {
        (&left.path, left.change, left.class).cmp(&(&right.path, right.change, right.class))
    });
    Ok(Diff {
        verdict: Verdict::of(&changes),
        changes,
    })
}

/// The payload of a document that does not exist: it permits nothing. Compared with it, everything
/// is added.
pub fn nothing(platform: Platform) -> Manifest {
    Manifest {
        encoding: crate::manifest::ENCODING.to_owned(),
        platform,
        sources: Vec::new(),
        runtimes: Vec::new(),
        tools: Vec::new(),
        moderator_runtime: None,
        scripts: Vec::new(),
        dependencies: Vec::new(),
        features: Vec::new(),
        binding: None,
    }
}

// One line a row of the table: formatting would make five of it.
#[cfg(test)]
#[rustfmt::skip]
mod tests;
