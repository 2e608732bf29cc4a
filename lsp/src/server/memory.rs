//! How much memory the process holds (spec 11 section 2.3).

/// Resident memory at which all caches are dropped, in bytes.
const LIMIT: u64 = 1 << 30;
/// How much more than after the last time, before they are dropped again: what remains may be the
/// documents themselves.
const STEP: u64 = 256 << 20;

/// Watches over the memory.
pub struct Watch {
    limit: u64,
    next: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl Watch {
    /// With another limit, for tests.
    pub fn with_limit(limit: u64) -> Self {
        Self { limit, next: limit }
    }

    /// Whether it is time to drop what can be computed again.
    pub fn is_over(&self) -> bool {
        resident().is_some_and(|bytes| bytes >= self.next)
    }

    /// Call it after dropping.
    pub fn dropped(&mut self) {
        let left = resident().unwrap_or_default();
        self.next = self.limit.max(left.saturating_add(STEP));
    }
}

/// Resident memory in bytes; `None` where the system does not say.
#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1 << 10)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn caches_are_not_dropped_again_and_again() {
        let mut watch = Watch::with_limit(1);
        assert!(watch.is_over());
        watch.dropped();
        assert!(!watch.is_over(), "nothing grew since");
        assert!(!Watch::default().is_over(), "tests need far less");
    }
}
