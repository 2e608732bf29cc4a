//! What the host should tell its operator, once each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shortest time between two warnings of one kind about one file.
const PAUSE: Duration = Duration::from_secs(60);

/// Most warnings that are kept.
const CAPACITY: usize = 256;

/// Warnings with their codes. They never hold secret values; their text may come from the host's
/// file system and is escaped where it is shown.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Mutex<Vec<(&'static str, String)>>,
    /// When a warning of a kind about a file was added last.
    recent: Mutex<HashMap<(&'static str, Option<PathBuf>), Instant>>,
}

impl Warnings {
    /// Adds a warning unless it is already there.
    pub fn add(&self, code: &'static str, message: &str) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let known = list.iter().any(|(c, m)| *c == code && m == message);
        if !known && list.len() < CAPACITY {
            list.push((code, message.to_owned()));
        }
    }

    /// Adds a warning unless one of the same code about the same file was added less than a minute
    /// ago (spec 08 section 7.5).
    pub fn add_each_minute(&self, code: &'static str, file: Option<&Path>, message: &str) {
        let now = Instant::now();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (code, file.map(Path::to_path_buf));
        if recent.get(&key).is_some_and(|last| now - *last < PAUSE) {
            return;
        }
        recent.insert(key, now);
        drop(recent);
        self.add(code, message);
    }

    /// Takes all warnings.
    pub fn take(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut self.list.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_lasts_is_told_once_a_minute() {
        let warnings = Warnings::default();
        let (one, two) = (Path::new("/one"), Path::new("/two"));
        for message in ["first", "second", "third"] {
            warnings.add_each_minute("c", Some(one), message);
            warnings.add_each_minute("c", Some(two), message);
            warnings.add_each_minute("d", Some(one), message);
        }
        let told = warnings.take();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|(_, message)| message == "first"));
    }
}
