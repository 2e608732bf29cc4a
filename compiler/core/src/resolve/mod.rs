//! From the expanded document to one manifest (spec 04 sections 2 to 8 and 10).
//!
//! Pure: equal input gives equal bytes. Every error of every declaration is reported; a
//! declaration that another pass already reported causes no further error.

pub mod features;
pub mod input;
#[allow(dead_code)] // used as soon as resolution itself is in
mod reference;
#[allow(dead_code)]
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use features::Features;
pub use input::{Expanded, ExpandedItem, LoadedScript, SourceFile, SourceUse};

use crate::decl::LiteralSecret;
use crate::diagnostics::Diagnostic;
use crate::manifest::{Manifest, Platform};

/// What resolution gives back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// The requested manifest (`binding` is `None`). `None` when resolution found an error or an
    /// item of the input is [`crate::decl::Item::broken`]. Errors of import expansion are not known
    /// here: the caller must drop the manifest when there are any.
    pub manifest: Option<Manifest>,
    /// Findings of resolution alone, in order of discovery; the diagnostics of the items are not
    /// repeated. Places name real files.
    pub diagnostics: Vec<Diagnostic>,
    /// What a run needs beside the manifest.
    pub material: Material,
}

/// Texts and values that never enter the manifest themselves. Empty when there is no manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
    /// Program text by qualified script id, for the scripts of the manifest.
    pub scripts: BTreeMap<String, Arc<str>>,
    /// Source text of compact `command` attributes by tool name (spec 03 section 5).
    pub commands: BTreeMap<String, String>,
    /// Literal secrets by runtime id and `index` (spec 04 section 8.6).
    pub literals: BTreeMap<(String, u64), LiteralSecret>,
}

/// Resolves a document for one platform (spec 04 section 1, steps 3 to 8).
///
/// `supported` is the set of features that the consumer of the manifest has; a document that needs
/// another one is refused with `shell.unsupported_feature`.
pub fn resolve(expanded: &Expanded, platform: Platform, supported: &Features) -> Resolution {
    let _ = (expanded, platform, supported);
    Resolution::default()
}
