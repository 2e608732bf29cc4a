//! The language server of ChatMD (spec 11).
//!
//! Two layers: [`ide`] turns a database and a document into plain data and knows no protocol;
//! `server` speaks the protocol, keeps the texts of open documents and decides what runs when.
//!
//! ```text
//! stdin ─► front ─► handlers ─► queue ─► writer (owns the database) ─► pool ─► answers
//!                                              ▲                        │
//!                                              └── finished diagnostics ┘
//! ```
//!
//! Handlers do nothing but push into the queue. The writer takes messages in arrival order, applies
//! edits, and gives each request a snapshot of the state that the client had when it asked.

pub mod ide;
mod server;

pub use server::log::Level as LogLevel;
pub use server::{Options, Transport, run};
