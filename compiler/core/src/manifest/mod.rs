//! The canonical manifest (spec 04).

pub mod model;

pub use model::*;
