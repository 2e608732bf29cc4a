#![allow(clippy::unwrap_used)]

mod dump;
mod errors;
mod grammar;
mod hostile;
