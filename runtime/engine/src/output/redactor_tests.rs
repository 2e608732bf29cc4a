#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use super::*;

fn secret(text: &str) -> SecretBytes {
    SecretBytes::new(text.as_bytes().to_vec())
}

fn redactor(secrets: &[&str]) -> Redactor {
    let mut builder = RedactorBuilder::new(DEFAULT_REPLACEMENT);
    for text in secrets {
        builder.register("test", &secret(text)).unwrap();
    }
    builder.build().unwrap().0
}

#[test]
fn empty_and_short_values_warn() {
    let mut builder = RedactorBuilder::new(DEFAULT_REPLACEMENT);
    for (origin, text) in [
        ("variable E", ""),
        ("variable S", "abc"),
        ("file F", "abcd"),
    ] {
        builder.register(origin, &secret(text)).unwrap();
    }
    let (redactor, warnings) = builder.build().unwrap();
    let seen: Vec<_> = warnings
        .iter()
        .map(|w| (w.code, w.origin.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("shell.secret_empty", "variable E"),
            ("shell.secret_short", "variable S")
        ]
    );
    assert_eq!(
        redactor.finalise(b"x abc abcd y", 99).text.as_str(),
        "x [REDACTED] [REDACTED] y"
    );
}

#[test]
fn an_empty_value_changes_nothing() {
    assert_eq!(
        redactor(&[""]).finalise(b"SECRET", 99).text.as_str(),
        "SECRET"
    );
}

#[test]
fn the_values_are_bounded() {
    let mut builder = RedactorBuilder::new(DEFAULT_REPLACEMENT);
    let half = SecretBytes::new(vec![b'x'; MAX_SECRET_BYTES / 2]);
    assert_eq!(builder.register("a", &half), Ok(()));
    assert_eq!(builder.register("b", &half), Ok(()));
    assert_eq!(
        builder.register("c", &secret("y")),
        Err(RedactorError::TooLarge)
    );
}

#[test]
fn a_secret_file_of_the_largest_size_is_found() {
    let value: Vec<u8> = (0..64 * 1024u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let mut builder = RedactorBuilder::new(DEFAULT_REPLACEMENT);
    builder
        .register("file", &SecretBytes::new(value.clone()))
        .unwrap();
    let redactor = builder.build().unwrap().0;
    let raw = [b"<".as_slice(), &value, b">"].concat();
    assert_eq!(redactor.finalise(&raw, 99).text.as_str(), "<[REDACTED]>");
}

#[test]
fn an_unusable_replacement_is_refused() {
    for replacement in ["", "a\u{202e}b", "x\ty"] {
        let error = RedactorBuilder::new(replacement).build().unwrap_err();
        assert_eq!(
            (error.clone(), error.code()),
            (RedactorError::ReplacementUnsafe, "shell.secret_load_failed")
        );
    }
}

/// The encodings of a value with characters that every encoding changes.
#[test]
fn every_encoded_form_is_hidden() {
    let redactor = redactor(&["k~>?w+/\"Zq"]);
    for shown in [
        "a34+P3crLyJacQ==",
        "a34+P3crLyJacQ",
        "a34-P3crLyJacQ==",
        "a34-P3crLyJacQ",
        "k~%3E%3Fw%2B%2F%22Zq",
        "k~%3e%3fw%2b%2f%22Zq",
        "k~>?w+/\\\"Zq",
        "k~>?w+/\"Zq",
        "6b7e3e3f772b2f225a71",
        "6B7E3E3F772B2F225A71",
    ] {
        assert_eq!(
            redactor.finalise(shown.as_bytes(), 99).text.as_str(),
            "[REDACTED]",
            "{shown}"
        );
    }
    // Inside a longer encoding, at each alignment, the characters of the value alone.
    for (shown, hidden) in [
        ("eHl6a34+P3crLyJacQ==", "eHl6[REDACTED]"),
        ("eHlrfj4/dysvIlpx", "eHl[REDACTED]"),
        ("eGt+Pj93Ky8iWnE=", "eG[REDACTED]"),
    ] {
        assert_eq!(
            redactor.finalise(shown.as_bytes(), 99).text.as_str(),
            hidden,
            "{shown}"
        );
    }
}

#[test]
fn debug_shows_nothing() {
    let value = secret("hunter2hunter2");
    let shown = format!(
        "{value:?} {:?} {:?}",
        super::super::Redacted::new("hunter2"),
        redactor(&["hunter2hunter2"])
    );
    assert!(
        !shown.contains("hunter") && !shown.contains("14"),
        "{shown}"
    );
}

#[test]
fn extensions_cannot_bring_a_secret_back() {
    let redactor = redactor(&["tok-4f9a77c1"]);
    let again = |text: &str| redactor.finalise_again(text, 99, true).text.into_string();
    assert_eq!(
        again("[REDACTED] tok-4f9a77c1 \u{1b}[1mx"),
        "[REDACTED] [REDACTED] x"
    );
    assert_eq!(again("tok-\u{8}4f9a77c1"), "[REDACTED]");
    // A match that overlaps an existing token is dropped.
    let odd = {
        let mut builder = RedactorBuilder::new("***");
        builder.register("a", &secret("word")).unwrap();
        builder.register("b", &secret("***x")).unwrap();
        builder.build().unwrap().0
    };
    assert_eq!(
        odd.finalise_again("*** ***x word", 99, true).text.as_str(),
        "*** ***x ***"
    );
    // The guard of a cut capture still holds for what an extension returns.
    assert_eq!(
        redactor.finalise_again("x tok-4f", 99, false).text.as_str(),
        "x [REDACTED]"
    );
    assert_eq!(
        redactor.finalise_again("x tok-4f", 99, true).text.as_str(),
        "x tok-4f"
    );
}

/// Half an escape sequence or half a character at the cut must not hide a begun secret.
#[test]
fn the_cut_of_a_capture_discloses_nothing() {
    let redactor = {
        let mut builder = RedactorBuilder::new(DEFAULT_REPLACEMENT);
        builder.register("a", &secret("tok-4f9a77c1")).unwrap();
        builder
            .register("b", &secret("ünsägliches-wörtchen"))
            .unwrap();
        builder.register("c", &secret("ctl\u{1}secret")).unwrap();
        builder.build().unwrap().0
    };
    let begins = [
        "tok-4f9a\u{1b}[3".as_bytes(),
        "tok-4f9a\u{1b}]0;title".as_bytes(),
        "tok-4f9a\u{1b}".as_bytes(),
        b"\xc3\xbcns\xc3\xa4gliches-w\xc3",
        "ctl\u{1}sec".as_bytes(),
    ];
    for begin in begins {
        let limit = 100;
        let capture = limit + redactor.max_pattern_len() + 64;
        // Sanitising shrinks the padding, so that the end of the capture is inside the limit.
        let mut raw = b"\x1b[0m".repeat(capture);
        raw.truncate((capture - begin.len()) / 4 * 4);
        raw.resize(capture - begin.len(), b'-');
        raw.extend_from_slice(begin);
        raw.extend_from_slice(b"more");
        let mut finaliser = redactor.finaliser(limit);
        finaliser.push(&raw);
        let end = finaliser.finish();
        let text = end.text.as_str().trim_start_matches('-');
        assert_eq!((text, end.truncated), ("[REDACTED]", true), "{begin:?}");
    }
}

#[test]
fn escapes_do_not_make_a_secret_visible() {
    let redactor = redactor(&["x\\ny", "zz"]);
    let json = |text: &str| {
        let mut out = Vec::new();
        redactor.json_string_into(text, &mut out);
        String::from_utf8(out).unwrap()
    };
    // Only the escaped text holds the four characters x \ n y.
    assert_eq!(json("ax\nyb"), "a[REDACTED]b");
    assert_eq!(json("a\"[REDACTED]\\"), "a\\\"[REDACTED]\\\\");
    // A match never tears an escape apart.
    let tearing = super::RedactorBuilder::new("#");
    let mut tearing = tearing;
    tearing.register("t", &secret("nb")).unwrap();
    let tearing = tearing.build().unwrap().0;
    let mut out = Vec::new();
    tearing.json_string_into("a\nbc", &mut out);
    assert_eq!(out, b"a#c");
}

/// Introducers without terminators, and text that is one long match: a quadratic pass would take
/// minutes here.
#[test]
fn every_pass_is_linear() {
    let size = 1 << 20;
    let start = Instant::now();
    let redactor = redactor(&[
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
        "aaaa",
        "aaaaaa",
        "aaaaaaaaaa",
    ]);
    for piece in [
        "\u{1b}]",
        "\u{1b}P",
        "\u{9d}",
        "\u{1b}[1",
        "\u{1b}]\u{1b}P",
        "a",
        "\r",
        "aaab",
    ] {
        let raw = piece.repeat(size / piece.len());
        let mut finaliser = redactor.finaliser(size);
        for chunk in raw.as_bytes().chunks(4096) {
            finaliser.push(chunk);
            let _ = finaliser.ready();
        }
        let _ = finaliser.finish();
    }
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}
