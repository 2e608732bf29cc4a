//! "Did you mean" and where else a name exists (spec 05 section 5.8).

use crate::surface::{self, Kind};

/// Largest edit distance of a suggestion.
const MAX_DISTANCE: usize = 2;
/// Longer names get no suggestion.
const MAX_NAME_BYTES: usize = 64;

/// The candidate nearest to `name`, within two edits and fewer than the name has letters; of
/// equals the first in byte order.
pub(super) fn nearest<'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let limit = MAX_DISTANCE.min(name.len().saturating_sub(1));
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit && *candidate != name)
        .filter_map(|candidate| {
            let distance = distance(name.as_bytes(), candidate.as_bytes());
            (distance <= limit).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), (0..=b.len()).collect()];
    let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
    for (i, x) in a.iter().enumerate() {
        rows.rotate_left(1);
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (at(&rows[1], j) + usize::from(x != y))
                .min(at(&rows[1], j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                cost = cost.min(at(&rows[0], j - 1) + 1);
            }
            row.push(cost);
        }
        rows[2] = row;
    }
    at(&rows[2], b.len())
}

/// A note on which kinds of scripts have a library name this kind lacks.
pub(super) fn elsewhere(name: &str, kind: Kind) -> Option<String> {
    let kinds = match surface::module(name) {
        Some(module) => module.kinds,
        None => surface::global(name)?.kinds,
    };
    if kinds.contains(kind) {
        return None;
    }
    Some(only_in(name, kinds))
}

/// The same for names of types.
pub(super) fn type_elsewhere(name: &str, kind: Kind) -> Option<String> {
    let alias = surface::alias(name).filter(|alias| !alias.kinds.contains(kind))?;
    Some(only_in(name, alias.kinds))
}

fn only_in(name: &str, kinds: surface::KindSet) -> String {
    let kinds: Vec<String> = kinds
        .iter()
        .map(|kind| format!("`{}`", kind.as_str()))
        .collect();
    format!(
        "`{name}` exists in scripts of kind {} only",
        kinds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_edits_are_near() {
        let near = |name| nearest(name, ["length", "fold", "map", "mapi"].into_iter());
        assert_eq!(near("lenght"), Some("length"));
        assert_eq!(near("fodl"), Some("fold"));
        assert_eq!(near("maps"), Some("map"));
        assert_eq!(near("len"), None);
        assert_eq!(near("x"), None);
        assert_eq!(near("length"), None);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"ab", b"ba"), 1);
    }

    #[test]
    fn kinds_that_have_a_name() {
        assert_eq!(elsewhere("String", Kind::ShellMatcher), None);
        let note = elsewhere("Review", Kind::ShellMatcher).unwrap_or_default();
        assert!(note.contains("`shell_reviewer`"), "{note}");
        let note = elsewhere("print", Kind::ShellMatcher).unwrap_or_default();
        assert!(note.contains("`moderator`"), "{note}");
        let note = type_elsewhere("shell_result", Kind::ShellMatcher).unwrap_or_default();
        assert!(note.contains("`shell_after_interceptor`"), "{note}");
    }
}
