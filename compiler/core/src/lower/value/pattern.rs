//! `program_regex` patterns (spec 02 section 11.1).

use regex_automata::nfa::thompson;
use regex_syntax::ParserBuilder;

use super::{Fault, Value};

/// Longest pattern in bytes.
const LONGEST: usize = 4096;
/// Largest compiled pattern in bytes.
const LARGEST: usize = 1 << 20;
/// Deepest nesting.
const DEEPEST: u32 = 64;

/// Compiles the pattern once, within its own bound and what is left for the whole file.
pub(super) fn read(text: &str, budget: &mut usize) -> Result<Value, Fault> {
    if text.len() > LONGEST {
        return Err(Fault::new(format!(
            "the pattern is {} bytes long; at most {LONGEST} are permitted",
            text.len()
        )));
    }
    let parsed = ParserBuilder::new().nest_limit(DEEPEST).build().parse(text);
    let hir = parsed.map_err(|error| syntax_fault(&error))?;
    let limit = LARGEST.min(*budget);
    let config = thompson::Config::new().nfa_size_limit(Some(limit));
    let nfa = thompson::Compiler::new()
        .configure(config)
        .build_from_hir(&hir)
        .map_err(|error| {
            if error.size_limit().is_some() && limit < LARGEST {
                Fault::new("the patterns of this file are too large together")
                    .hint("use fewer or simpler patterns")
            } else if error.size_limit().is_some() {
                Fault::new("the pattern is too large when compiled").hint(
                    "reduce counted repetitions and large character classes such as `\\w{50}`",
                )
            } else {
                Fault::new(format!("the pattern is not accepted: {error}"))
            }
        })?;
    *budget = budget.saturating_sub(nfa.memory_usage());
    Ok(Value::Text(text.to_owned()))
}

fn syntax_fault(error: &regex_syntax::Error) -> Fault {
    let (reason, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(*error.span())),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(*error.span())),
        _ => ("unknown reason".to_owned(), None),
    };
    let fault = Fault::new(format!("the pattern is not accepted: {reason}"))
        .hint("patterns run in linear time: no backreferences and no look-around");
    match span {
        Some(span) => fault.at(span.start.offset..span.end.offset.max(span.start.offset)),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn accepts_linear_patterns_only() {
        let mut budget = 8 << 20;
        for text in ["^(git|hg)\\d*$", "\\p{Greek}", "(?i)rm", "a{3}"] {
            assert!(read(text, &mut budget).is_ok(), "{text}");
        }
        assert_eq!(read("(a)\\1", &mut budget).unwrap_err().range, Some(3..5));
        assert!(read("(?=a)", &mut budget).is_err());
        assert!(read("(", &mut budget).is_err());
        assert!(read(&"(".repeat(200), &mut budget).is_err());
        assert!(
            read("\\w{100}", &mut budget)
                .unwrap_err()
                .message
                .contains("too large")
        );
        assert!(read(&"a".repeat(4097), &mut budget).is_err());
    }

    #[test]
    fn the_budget_of_the_file_is_shared() {
        let mut budget = 300_000;
        let results: Vec<bool> = (0..50)
            .map(|_| read("\\w{2}", &mut budget).is_ok())
            .collect();
        assert!(results[0] && !results[49]);
    }
}
