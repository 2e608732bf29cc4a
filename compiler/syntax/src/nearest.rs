//! "Did you mean": bounded Damerau-Levenshtein distance over short names.

/// Longest name that is compared, in bytes; longer ones get no suggestion.
const MAX_NAME_BYTES: usize = 64;

/// The candidate nearest to `name`, if one is near enough to be meant: at most a third of the
/// longer length away, and at most three edits. Of several, the first wins, so the answer is deterministic.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let limit = (name.len().max(candidate.len()) / 3).clamp(1, 3);
        if candidate.len() > MAX_NAME_BYTES || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let distance = distance(name.as_bytes(), candidate.as_bytes());
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Edits between two names: insert, delete, replace, swap of neighbours.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_intended_name() {
        let names = ["user", "system", "shell_access", "tool", "doc"];
        for (written, want) in [
            ("usr", Some("user")),
            ("sytsem", Some("system")),
            ("shel_access", Some("shell_access")),
            ("wat", None),
            ("foo", None),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names), want, "{written}");
        }
        assert_eq!(nearest(&"u".repeat(100_000), names), None);
    }
}
