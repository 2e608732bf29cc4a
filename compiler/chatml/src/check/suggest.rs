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

/// Insertions, deletions, replacements and swaps of neighbours; anything over [`MAX_DISTANCE`]
/// counts as one more than that. Only cells near the diagonal can stay within the limit.
fn distance(a: &[u8], b: &[u8]) -> usize {
    const FAR: usize = MAX_DISTANCE + 1;
    const WIDTH: usize = 2 * MAX_DISTANCE + 1;
    // Cell k of row i stands for column i + k - MAX_DISTANCE.
    let mut before_last = [FAR; WIDTH];
    let mut last = [FAR; WIDTH];
    for (k, cell) in last.iter_mut().enumerate().skip(MAX_DISTANCE) {
        *cell = k - MAX_DISTANCE;
    }
    for (i, x) in a.iter().enumerate() {
        let mut row = [FAR; WIDTH];
        for k in 0..WIDTH {
            let Some(column) = (i + 1 + k).checked_sub(MAX_DISTANCE) else {
                continue;
            };
            let left = k
                .checked_sub(1)
                .and_then(|k| row.get(k))
                .copied()
                .unwrap_or(FAR);
            let above = last.get(k + 1).copied().unwrap_or(FAR);
            let mut cost = (left.min(above) + 1).min(FAR);
            match column.checked_sub(1) {
                None => cost = i + 1,
                Some(j) => {
                    let Some(y) = b.get(j) else { continue };
                    cost = cost.min(last.get(k).copied().unwrap_or(FAR) + usize::from(x != y));
                    let swapped =
                        i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
                    if swapped {
                        cost = cost.min(before_last.get(k).copied().unwrap_or(FAR) + 1);
                    }
                }
            }
            if let Some(cell) = row.get_mut(k) {
                *cell = cost.min(FAR);
            }
        }
        if row.iter().all(|cell| *cell == FAR) && last.iter().all(|cell| *cell == FAR) {
            return FAR;
        }
        before_last = last;
        last = row;
    }
    (b.len() + MAX_DISTANCE)
        .checked_sub(a.len())
        .and_then(|k| last.get(k))
        .copied()
        .unwrap_or(FAR)
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
    #![allow(clippy::unwrap_used)]
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
        assert_eq!(distance(b"ab", b"ba"), 1);
    }

    /// The band gives what the whole table would.
    #[test]
    fn near_distances_are_exact() {
        fn full(a: &[u8], b: &[u8]) -> usize {
            let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
            for i in 0..=a.len() {
                for j in 0..=b.len() {
                    d[i][j] = match (i, j) {
                        (0, _) => j,
                        (_, 0) => i,
                        _ => {
                            let swap =
                                i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                            let plain = (d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]))
                                .min(d[i - 1][j] + 1)
                                .min(d[i][j - 1] + 1);
                            if swap {
                                plain.min(d[i - 2][j - 2] + 1)
                            } else {
                                plain
                            }
                        }
                    };
                }
            }
            d[a.len()][b.len()]
        }
        let words: Vec<Vec<u8>> = (0..3usize.pow(6))
            .map(|n| {
                (0..n % 7)
                    .map(|at| {
                        b'a' + u8::try_from(n / 3usize.pow(u32::try_from(at % 6).unwrap()) % 3)
                            .unwrap()
                    })
                    .collect()
            })
            .collect();
        for a in words.iter().step_by(5) {
            for b in &words {
                assert_eq!(
                    distance(a, b),
                    full(a, b).min(MAX_DISTANCE + 1),
                    "{a:?} {b:?}"
                );
            }
        }
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
