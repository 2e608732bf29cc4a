//! What a manifest means on this machine.

use chatmd_compiler::Compilation;
use chatmd_compiler::manifest::Manifest;

use crate::args::Reading;
use crate::documents::Documents;

/// The bound manifest.
///
/// # Errors
/// One sentence that says why it is unavailable.
pub fn bind(
    _reading: &Reading,
    _compilation: &Compilation,
    _documents: &Documents,
) -> Result<Manifest, String> {
    Err("binding is not built into this version".to_owned())
}
