//! Bounded capture of one channel.

/// Bytes of the start and of the end that are kept apart from the captured text, for judging a
/// sandbox that never started its command.
pub const EDGE_BYTES: usize = 4096;

/// What was read from one channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to the bound.
    pub bytes: Vec<u8>,
    /// More bytes than the bound were read.
    pub truncated: bool,
    /// Bytes read in all.
    pub total: u64,
    /// The first [`EDGE_BYTES`].
    pub first: Vec<u8>,
    /// The last [`EDGE_BYTES`].
    pub last: Vec<u8>,
}

impl Captured {
    pub(super) fn add(&mut self, data: &[u8], bound: usize) {
        self.total += data.len() as u64;
        let room = bound.saturating_sub(self.bytes.len());
        let kept = data.get(..room.min(data.len())).unwrap_or_default();
        self.bytes.extend_from_slice(kept);
        self.truncated |= kept.len() < data.len();
        let room = EDGE_BYTES.saturating_sub(self.first.len());
        self.first
            .extend_from_slice(data.get(..room.min(data.len())).unwrap_or_default());
        let tail = data
            .get(data.len().saturating_sub(EDGE_BYTES)..)
            .unwrap_or_default();
        let excess = (self.last.len() + tail.len()).saturating_sub(EDGE_BYTES);
        self.last.drain(..excess.min(self.last.len()));
        self.last.extend_from_slice(tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_bytes_and_both_edges() {
        let mut captured = Captured::default();
        for chunk in [&b"abc"[..], b"", b"defg"] {
            captured.add(chunk, 5);
        }
        assert_eq!(captured.bytes, b"abcde");
        assert!(captured.truncated);
        assert_eq!(
            (captured.total, &captured.first[..], &captured.last[..]),
            (7, &b"abcdefg"[..], &b"abcdefg"[..])
        );
        captured.add(&[b'x'; EDGE_BYTES - 1], 5);
        assert_eq!(captured.last.len(), EDGE_BYTES);
        assert!(captured.last.starts_with(b"gx"));
    }

    #[test]
    fn exactly_the_bound_is_not_truncated() {
        let mut captured = Captured::default();
        captured.add(b"abc", 3);
        assert!(!captured.truncated);
        captured.add(b"d", 3);
        assert!(captured.truncated);
    }
}
