//! The canonical manifest (spec 04).

pub mod bundle;
pub mod canonical;
pub mod digest;
pub mod json;
pub mod model;
pub(crate) mod order;
mod paths;
pub mod policy;
mod possible;
pub mod words;
mod writer;

pub use canonical::{
    ENCODING, ManifestError, comparison_form, digest, from_bytes, from_value, requested_sha256,
    to_bytes, to_value,
};
pub use digest::{hex, sha256_hex};
pub use model::*;
pub use policy::*;
pub use words::*;
