//! State on its way to storage and back (spec 05 section 8.4, spec 08 section 2.5).

mod conform;
mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub use conform::{Mismatch, check, project};
pub use decode::decode;
pub use encode::encode;

use crate::limits::{self, Limits};
use crate::types::TypeGraph;
use crate::value::data::Data;

/// Why a stored state is refused. The outer code is `shell.chatml_restore`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreError {
    /// What is wrong and where.
    pub message: String,
}

impl std::fmt::Display for RestoreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for RestoreError {}

/// A stored state that fits the limits and the state type of a script.
///
/// # Errors
/// In this order: the text is no tagged value, the value exceeds a limit, the value is of another
/// type. There is no silent reset.
pub fn restore(text: &str, limits: &Limits, state: &TypeGraph) -> Result<Data, RestoreError> {
    let data = decode(text, limits.max_depth)?;
    limits::check(&data, limits, "root").map_err(|excess| RestoreError {
        message: excess.to_string(),
    })?;
    check(&data, state).map_err(|mismatch| RestoreError {
        message: mismatch.to_string(),
    })?;
    Ok(data)
}
