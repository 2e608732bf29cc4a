//! The one module that talks to the kernel without a safe wrapper.
//!
//! Everything that needs `unsafe` in the product is here, each block with its proof: creating
//! processes ([`launch`]), the code that runs between `fork` and `exec` (`child`), and descriptors
//! that no safe wrapper offers ([`descriptor`]).
#![allow(unsafe_code)]

mod child;
pub mod descriptor;
pub mod launch;
mod proc_walk;
pub mod reaper;

pub use launch::{Guarded, Launch, LaunchError, LaunchStep, Limit, launcher};
