//! Suggestions for misspelt names.

/// The matcher that matches everything: a repair must never end there by a shared word, since
/// `<command value="git"/>` then became "allow every command".
const MATCHES_ALL: &str = "any_command";

/// The candidate that a misspelt `name` most likely meant: one that differs in case alone, else
/// the nearest by bounded Damerau-Levenshtein distance, else the only one with `name`
/// among its words, so that an ambiguous word is never turned into the stronger meaning.
/// Ties go to the earlier candidate, so the answer is deterministic.
pub fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let folded = candidates
        .clone()
        .into_iter()
        .find(|candidate| candidate.eq_ignore_ascii_case(name));
    folded
        .or_else(|| chatmd_syntax::nearest::nearest(name, candidates.clone()))
        .or_else(|| {
            let part = |candidate: &&str| {
                *candidate != MATCHES_ALL && candidate.split('_').any(|part| part == name)
            };
            let mut found = candidates.into_iter().filter(part);
            found
                .next()
                .filter(|_| name.len() >= 3 && found.next().is_none())
        })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn offers_the_likely_word() {
        let words = ["wall_time", "idle_time", "stdout", "stderr", "memory"];
        let table: &[(&str, Option<&str>)] = &[
            ("walltime", Some("wall_time")),
            ("wall_tiem", Some("wall_time")),
            ("STDOUT", Some("stdout")),
            ("sdtout", Some("stdout")),
            ("memroy", Some("memory")),
            ("zzz", None),
        ];
        for (name, expected) in table {
            assert_eq!(nearest(name, words), *expected, "{name}");
        }
        let kinds = [
            "shell_matcher",
            "shell_before_interceptor",
            "shell_after_interceptor",
        ];
        assert_eq!(nearest("matcher", kinds), Some("shell_matcher"));
        assert_eq!(nearest("interceptor", kinds), None);
        let matchers = ["any_command", "basename", "program"];
        assert_eq!(nearest("command", matchers), None);
        assert_eq!(nearest("any_comand", matchers), Some("any_command"));
        assert_eq!(nearest(&"x".repeat(100_000), words), None);
    }
}
