//! What the host should tell its operator, once each.

use std::sync::{Mutex, PoisonError};

/// Most warnings that are kept.
const CAPACITY: usize = 256;

/// Warnings with their codes. They never hold secret values; their text may come from the host's
/// file system and is escaped where it is shown.
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<(&'static str, String)>>);

impl Warnings {
    /// Adds a warning unless it is already there.
    pub fn add(&self, code: &'static str, message: &str) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = list.iter().any(|(c, m)| *c == code && m == message);
        if !known && list.len() < CAPACITY {
            list.push((code, message.to_owned()));
        }
    }

    /// Takes all warnings.
    pub fn take(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
