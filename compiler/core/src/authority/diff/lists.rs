//! Matching the entries of two lists.

use std::collections::HashMap;

/// Two lists, entry by entry.
pub(super) struct Pairs<'a, T> {
    /// Entries of the old list alone, with their keys.
    pub(super) removed: Vec<(String, &'a T)>,
    /// Entries of the new list alone, with their keys.
    pub(super) added: Vec<(String, &'a T)>,
    /// Entries of both.
    pub(super) kept: Vec<(String, &'a T, &'a T)>,
    /// The entries of both stand in another order.
    pub(super) reordered: bool,
}

/// Matches entries by key. Of equal keys in one list the first keeps the key and the others are
/// numbered, so nothing is lost. Takes time linear in both lists.
pub(super) fn pair<'a, T>(old: &'a [T], new: &'a [T], key: impl Fn(&T) -> String) -> Pairs<'a, T> {
    let old = keyed(old, &key);
    let new = keyed(new, &key);
    let positions: HashMap<&str, usize> = new
        .iter()
        .enumerate()
        .map(|(position, (key, _))| (key.as_str(), position))
        .collect();
    let mut taken = vec![false; new.len()];
    let mut pairs = Pairs {
        removed: Vec::new(),
        added: Vec::new(),
        kept: Vec::new(),
        reordered: false,
    };
    let mut furthest = 0;
    for (key, entry) in old {
        match positions.get(key.as_str()).copied() {
            Some(position) => {
                pairs.reordered |= position < furthest;
                furthest = furthest.max(position);
                if let (Some(slot), Some((_, other))) = (taken.get_mut(position), new.get(position))
                {
                    *slot = true;
                    pairs.kept.push((key, entry, other));
                }
            }
            None => pairs.removed.push((key, entry)),
        }
    }
    let rest = new.into_iter().zip(taken);
    pairs.added = rest
        .filter_map(|(entry, taken)| (!taken).then_some(entry))
        .collect();
    pairs
}

fn keyed<'a, T>(list: &'a [T], key: &impl Fn(&T) -> String) -> Vec<(String, &'a T)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    list.iter()
        .map(|entry| {
            let key = key(entry);
            let count = seen.entry(key.clone()).or_insert(0);
            *count += 1;
            match *count {
                1 => (key, entry),
                more => (format!("{key}#{more}"), entry),
            }
        })
        .collect()
}
