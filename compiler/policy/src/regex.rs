//! `program_regex` patterns: dialect, bounds, and one set for all patterns of a policy
//! (spec 02 section 11.1, 06 section 8.3).

use std::fmt;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternID, PatternSet};

/// Longest pattern in bytes.
pub const MAX_PATTERN_BYTES: usize = 4096;
/// Deepest group nesting.
pub const MAX_NESTING: u32 = 64;
/// Largest compiled size of one pattern in bytes.
pub const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Largest compiled size of all patterns of one policy together, in bytes.
pub const MAX_POLICY_BYTES: usize = 16 << 20;

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexFault {
    /// `shell.empty_regex`.
    Empty,
    /// Longer than [`MAX_PATTERN_BYTES`].
    TooLong,
    /// Not in the dialect; byte offset of the offending part, if known.
    Syntax {
        /// Byte range in the pattern.
        span: Option<(usize, usize)>,
        /// What is wrong.
        message: String,
    },
    /// Compiles to more than [`MAX_COMPILED_BYTES`], or the set to more than
    /// [`MAX_POLICY_BYTES`].
    TooLarge,
}

impl fmt::Display for RegexFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("the pattern is empty"),
            Self::TooLong => write!(out, "the pattern is longer than {MAX_PATTERN_BYTES} bytes"),
            Self::Syntax { message, .. } => out.write_str(message),
            Self::TooLarge => out.write_str("the pattern is too large when compiled"),
        }
    }
}

impl std::error::Error for RegexFault {}

/// Checks one pattern against the dialect and its bounds.
pub fn check_pattern(pattern: &str) -> Result<(), RegexFault> {
    parse(pattern)?;
    build(&[pattern], MAX_COMPILED_BYTES).map(|_| ())
}

fn parse(pattern: &str) -> Result<(), RegexFault> {
    if pattern.is_empty() {
        return Err(RegexFault::Empty);
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(RegexFault::TooLong);
    }
    match regex_syntax::ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern)
    {
        Ok(_) => Ok(()),
        Err(regex_syntax::Error::Parse(error)) => Err(RegexFault::Syntax {
            span: Some((error.span().start.offset, error.span().end.offset)),
            message: error.kind().to_string(),
        }),
        Err(regex_syntax::Error::Translate(error)) => Err(RegexFault::Syntax {
            span: Some((error.span().start.offset, error.span().end.offset)),
            message: error.kind().to_string(),
        }),
        Err(error) => Err(RegexFault::Syntax {
            span: None,
            message: error.to_string(),
        }),
    }
}

fn build(patterns: &[&str], limit: usize) -> Result<Regex, RegexFault> {
    Regex::builder()
        .configure(
            Regex::config()
                .match_kind(MatchKind::All)
                .nfa_size_limit(Some(limit))
                .onepass(false)
                .hybrid_cache_capacity(1 << 20),
        )
        .syntax(syntax::Config::new().nest_limit(MAX_NESTING))
        .build_many(patterns)
        .map_err(|_| RegexFault::TooLarge)
}

/// All distinct patterns of a policy, searched together.
#[derive(Debug)]
pub struct RegexTable {
    regex: Option<Regex>,
    patterns: Vec<String>,
}

/// Which patterns were found.
#[derive(Clone, Debug)]
pub struct Found(Option<PatternSet>);

impl Found {
    /// Whether pattern `index` was found.
    pub fn has(&self, index: usize) -> bool {
        match (&self.0, PatternID::new(index)) {
            (Some(set), Ok(id)) => set.contains(id),
            _ => false,
        }
    }

    /// Indices of the patterns that were found.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .flat_map(|set| set.iter().map(|id| id.as_usize()))
    }
}

impl RegexTable {
    /// Compiles the patterns; on error also says which one (the last, when the set is too large).
    pub fn new(patterns: Vec<String>) -> Result<Self, (usize, RegexFault)> {
        for (index, pattern) in patterns.iter().enumerate() {
            check_pattern(pattern).map_err(|fault| (index, fault))?;
        }
        let regex = if patterns.is_empty() {
            None
        } else {
            let texts: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let last = patterns.len() - 1;
            Some(build(&texts, MAX_POLICY_BYTES).map_err(|fault| (last, fault))?)
        };
        Ok(Self { regex, patterns })
    }

    /// The patterns in order.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Patterns found anywhere in one of the texts.
    pub fn search<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Found {
        Found(self.regex.as_ref().map(|regex| {
            let mut all = PatternSet::new(regex.pattern_len());
            for text in texts {
                let mut set = PatternSet::new(regex.pattern_len());
                regex.which_overlapping_matches(&Input::new(text), &mut set);
                for id in set.iter() {
                    all.insert(id);
                }
                if all.is_full() {
                    break;
                }
            }
            all
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn refused_patterns() {
        assert_eq!(check_pattern(""), Err(RegexFault::Empty));
        assert_eq!(check_pattern(&"a".repeat(4097)), Err(RegexFault::TooLong));
        assert_eq!(check_pattern(r"\w{200}{200}"), Err(RegexFault::TooLarge));
        let deep = format!("{}a{}", "(".repeat(65), ")".repeat(65));
        for bad in [r"(a)\1", "(?=a)", "(", "[z-a]", "*", deep.as_str()] {
            assert!(
                matches!(check_pattern(bad), Err(RegexFault::Syntax { .. })),
                "{bad}"
            );
        }
        assert_eq!(
            check_pattern(&format!("{}a{}", "(".repeat(30), ")".repeat(30))),
            Ok(())
        );
    }

    #[test]
    fn a_set_finds_what_each_pattern_finds() {
        let table = RegexTable::new(
            ["^git$", "python[0-9.]*$", "a.c", r"\p{Greek}"]
                .map(str::to_owned)
                .to_vec(),
        )
        .unwrap();
        let found = |text: &str| table.search([text]).iter().collect::<Vec<_>>();
        assert_eq!(found("git"), [0]);
        assert_eq!(found("/usr/bin/python3.11"), [1]);
        assert_eq!(found("pythonic"), Vec::<usize>::new());
        assert_eq!(found("a\nc"), Vec::<usize>::new());
        assert_eq!(found("abcπpython"), [1, 2, 3]);
        assert_eq!(found("Git"), Vec::<usize>::new());
    }
}
