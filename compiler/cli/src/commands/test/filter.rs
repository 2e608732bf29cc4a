//! `--filter`: patterns with `*` and `?` over what a test is called.

use super::selection::Selected;

/// Patterns, any of which may match; none at all takes everything.
pub(super) struct Filter {
    patterns: Vec<Vec<char>>,
}

impl Filter {
    pub(super) fn new(patterns: &[String]) -> Self {
        let patterns = patterns.iter().map(|pattern| pattern.chars().collect());
        Self {
            patterns: patterns.collect(),
        }
    }

    /// Whether everything is taken.
    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a test is taken.
    pub(super) fn takes(&self, result: &Selected<'_>) -> bool {
        self.is_empty()
            || result.names().iter().any(|name| {
                let name: Vec<char> = name.chars().collect();
                self.patterns.iter().any(|pattern| matches(pattern, &name))
            })
    }
}

/// Whether the whole text matches: `*` is any text, `?` one character.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last `*` stood, and how far its text reaches.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, reached)) => {
                    star = Some((at, reached + 1));
                    p = at + 1;
                    t = reached + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("git *", "git push", true),
            ("git *", "env git push", false),
            ("*push*", "git push origin", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b", "xaxxab", true),
            ("*a*b", "xaxxac", false),
            ("a.chatmd:7", "a.chatmd:7", true),
            ("a.chatmd:7", "a.chatmd:71", false),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(
                matches(&chars(pattern), &chars(text)),
                expected,
                "{pattern} {text}"
            );
        }
    }
}
