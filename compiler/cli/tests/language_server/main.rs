//! The real language server over pipes (spec 11 sections 1, 2 and 2.6).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cancel;
mod client;
mod equality;
mod faults;
mod files;
mod hostile;
mod large;
mod life;
mod model;
mod neovim;
mod order;
mod positions;
mod settings;
