//! What `chatmdc explain` shows of a code, made from its registry row, its sentences in
//! `registry/explanations.txt` and its fixtures in `corpus/spec`.

mod block;
pub mod suite;

pub use block::{Expectation, File, Where};
