//! Digests of stable executables, remembered between commands (spec 06 section 3.3).

use std::collections::HashMap;
use std::sync::Mutex;

use super::fingerprint::{Sha256Digest, StatKey};

/// Most digests remembered; beyond it the cache starts anew.
const CAPACITY: usize = 4096;

/// Digest by device, inode, size, modification and change time. Only files that nobody but root or
/// the runtime's owner can write are looked up here.
#[derive(Debug, Default)]
pub struct DigestCache(Mutex<HashMap<StatKey, Sha256Digest>>);

impl DigestCache {
    pub(crate) fn get(&self, key: &StatKey) -> Option<Sha256Digest> {
        // A poisoned lock only means that another thread ended in the middle of an insertion of
        // plain data: treat it as a miss.
        self.0.lock().ok()?.get(key).copied()
    }

    pub(crate) fn put(&self, key: StatKey, digest: Sha256Digest) {
        if let Ok(mut map) = self.0.lock() {
            if map.len() >= CAPACITY {
                map.clear();
            }
            map.insert(key, digest);
        }
    }
}
