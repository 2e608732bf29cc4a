#![allow(clippy::unwrap_used, clippy::expect_used)]

use aho_corasick::{AhoCorasick, MatchKind};
use proptest::prelude::*;

use super::{Automaton, ROOT};

fn build(patterns: &[Vec<u8>]) -> Automaton {
    let total = patterns.iter().map(Vec::len).sum();
    Automaton::build(patterns.iter().map(Vec::as_slice), total)
}

/// Longest match that ends at each position, by the library's overlapping search.
fn longest_by_library(patterns: &[Vec<u8>], text: &[u8]) -> Vec<usize> {
    let patterns: Vec<&Vec<u8>> = patterns.iter().filter(|p| !p.is_empty()).collect();
    let library = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(&patterns)
        .unwrap();
    let mut longest = vec![0; text.len()];
    for found in library.find_overlapping_iter(text) {
        let slot = &mut longest[found.end() - 1];
        *slot = (*slot).max(found.len());
    }
    longest
}

/// Longest suffix of each prefix of the text that begins a pattern.
fn depth_by_definition(patterns: &[Vec<u8>], text: &[u8]) -> Vec<usize> {
    (1..=text.len())
        .map(|end| {
            let begins = |count: &usize| {
                patterns
                    .iter()
                    .any(|pattern| pattern.starts_with(&text[end - count..end]))
            };
            (1..=end).rev().find(begins).unwrap_or(0)
        })
        .collect()
}

proptest! {
    #[test]
    fn agrees_with_the_library_and_the_definition(
        patterns in prop::collection::vec(prop::collection::vec(97u8..100, 0..6), 0..8),
        text in prop::collection::vec(97u8..100, 0..40),
    ) {
        let automaton = build(&patterns);
        let mut state = ROOT;
        let (mut longest, mut depth) = (Vec::new(), Vec::new());
        for &byte in &text {
            state = automaton.step(state, byte);
            longest.push(automaton.longest(state));
            depth.push(automaton.depth(state));
        }
        prop_assert_eq!(longest, longest_by_library(&patterns, &text));
        prop_assert_eq!(depth, depth_by_definition(&patterns, &text));
    }
}

#[test]
fn without_patterns_nothing_matches() {
    let automaton = build(&[]);
    assert_eq!(automaton.max_len(), 0);
    assert!(!automaton.occurs_in(b"anything"));
}
