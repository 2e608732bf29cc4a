//! Codes that stand close to a code: their names share words that mean something.

use crate::diagnostics::registry::{self, Entry};

/// Most related codes of a page.
const MOST: usize = 4;

/// Words that half of all codes share.
const COMMON: &[&str] = &[
    "invalid",
    "unknown",
    "missing",
    "tool",
    "script",
    "shell",
    "import",
    "failed",
    "denied",
    "unused",
    "required",
    "too",
    "in",
    "without",
    "admin",
    "unavailable",
    "approval",
];

/// The codes related to one, closest first.
pub(super) fn to(entry: Entry) -> Vec<&'static str> {
    let mut scored: Vec<(usize, Entry)> = registry::entries()
        .filter(|other| other.code != entry.code)
        .map(|other| (closeness(entry, other), other))
        .filter(|(score, _)| *score > 1)
        .collect();
    // The sort is stable: ties keep the order of the registry.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored
        .iter()
        .take(MOST)
        .map(|(_, other)| other.code)
        .collect()
}

fn closeness(one: Entry, other: Entry) -> usize {
    let (space, name) = split(one.code);
    let (other_space, other_name) = split(other.code);
    if name == other_name {
        return 100;
    }
    let shared = name
        .split('_')
        .filter(|word| !COMMON.contains(word) && other_name.split('_').any(|w| w == *word))
        .count();
    let near = usize::from(one.owner == other.owner) + usize::from(space == other_space);
    if shared == 0 { 0 } else { 2 * shared + near }
}

fn split(code: &str) -> (&str, &str) {
    code.rsplit_once('.').unwrap_or(("", code))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn names_that_share_words_are_related() {
        let related = |code| to(registry::entry(code).unwrap());
        assert_eq!(
            related("chatmd.duplicate_attribute").first(),
            Some(&"shell.duplicate_attribute")
        );
        assert!(related("shell.worker_network").contains(&"shell.worker_unsandboxed"));
        for entry in registry::entries() {
            let related = to(entry);
            assert!(related.len() <= MOST && !related.contains(&entry.code));
        }
    }
}
