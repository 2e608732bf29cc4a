//! Any bytes give a tree that covers them, without a panic.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::{parse, parse_content};
use common::check_cover;

const DOCUMENTS: [&[u8]; 5] = [
    include_bytes!("documents/review.chatmd"),
    include_bytes!("documents/scripts.chatmd"),
    include_bytes!("documents/transcript.chatmd"),
    include_bytes!("documents/crlf.chatmd"),
    include_bytes!("documents/broken.chatmd"),
];

/// xorshift64*: the same mutations on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

#[test]
fn every_truncation() {
    for document in DOCUMENTS {
        for end in 0..=document.len() {
            check_cover(&parse(&document[..end]));
        }
        check_cover(&parse_content(document, false));
    }
}

/// Pieces that change how everything behind them reads.
const PIECES: [&[u8]; 30] = [
    b"<",
    b">",
    b"/>",
    b"\"",
    b"'",
    b"=",
    b"\\",
    b"\n",
    b"\r",
    b"RAW|",
    b"|RAW",
    b"<!--",
    b"-->",
    b"</",
    b"</user>",
    b"<user>",
    b"\n<user>",
    b"<script>",
    b"</script>",
    b"<shell_access>",
    b"</shell_access>",
    b"<read ",
    b"<all>",
    b"<wat>",
    b"</wat>",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"&x;",
    b"\n</user>",
];

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    match random.below(5) {
        0 if at < bytes.len() => bytes[at] = random.next() as u8,
        1 if at < bytes.len() => {
            bytes.remove(at);
        }
        2 => {
            let end = (at + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        3 => {
            let end = (at + random.below(60)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        _ => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
    }
}

#[test]
fn random_mutations() {
    let count: usize = std::env::var("CHATMD_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100_000);
    let seed = std::env::var("CHATMD_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0x9E37_79B9_7F4A_7C15);
    let mut random = Random(seed);
    for round in 0..count {
        let document = DOCUMENTS[round % DOCUMENTS.len()];
        // A stretch of the document: small enough for a hundred thousand rounds without optimisation.
        let start = random.below(document.len());
        let end = (start + 40 + random.below(260)).min(document.len());
        let mut bytes = document[start..end].to_vec();
        for _ in 0..=random.below(4) {
            mutate(&mut random, &mut bytes);
        }
        let outcome = std::panic::catch_unwind(|| check_cover(&parse(&bytes)));
        assert!(
            outcome.is_ok(),
            "round {round}: {:?}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn parsing_is_deterministic() {
    for document in DOCUMENTS {
        assert_eq!(parse(document), parse(document));
    }
}

#[test]
fn mutated_whole_documents() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for round in 0..3_000 {
        let mut bytes = DOCUMENTS[round % DOCUMENTS.len()].to_vec();
        for _ in 0..=random.below(6) {
            mutate(&mut random, &mut bytes);
        }
        let outcome = std::panic::catch_unwind(|| {
            check_cover(&parse(&bytes));
            check_cover(&parse_content(&bytes, round % 2 == 0));
        });
        assert!(
            outcome.is_ok(),
            "round {round}: {:?}",
            String::from_utf8_lossy(&bytes)
        );
    }
}
