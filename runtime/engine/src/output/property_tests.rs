#![allow(clippy::unwrap_used, clippy::expect_used)]

//! Laws of the finaliser: it equals a plain implementation of the passes, in every chunking, and no
//! secret survives it.

use proptest::prelude::*;

use super::finalise::{Finalised, Finaliser};
use super::redactor::{Redactor, RedactorBuilder};
use super::secret::SecretBytes;
use chatmd_facts::secret_forms::needles;

/// A character, or a replacement token.
type Item = Option<char>;

const ESC: char = '\u{1b}';

fn redactor(secrets: &[Vec<u8>]) -> Redactor {
    let mut builder = RedactorBuilder::new("[#]");
    for secret in secrets {
        builder
            .register("test", &SecretBytes::new(secret.clone()))
            .unwrap();
    }
    builder.build().unwrap().0
}

fn patterns(secrets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    secrets
        .iter()
        .filter(|s| !s.is_empty())
        .flat_map(|s| needles(s))
        .map(|n| n.to_vec())
        .collect()
}

/// Pass 2 and 5 by definition: every occurrence of every pattern, merged with what it touches.
fn covered(text: &[u8], patterns: &[Vec<u8>]) -> Vec<(usize, usize)> {
    let mut intervals: Vec<(usize, usize)> = Vec::new();
    for start in 0..text.len() {
        for pattern in patterns
            .iter()
            .filter(|pattern| text[start..].starts_with(pattern))
        {
            intervals.push((start, start + pattern.len()));
        }
    }
    intervals.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in intervals {
        match merged.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn redact_bytes(raw: &[u8], patterns: &[Vec<u8>]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    let text = |from: usize, to: usize, items: &mut Vec<Item>| {
        items.extend(String::from_utf8_lossy(&raw[from..to]).chars().map(Some));
    };
    for (start, end) in covered(raw, patterns) {
        text(at, start, &mut items);
        items.push(None);
        at = end;
    }
    text(at, raw.len(), &mut items);
    items
}

/// Pass 4 by definition, scanning ahead at every introducer.
fn sanitise(items: &[Item]) -> Vec<Item> {
    let mut out = Vec::new();
    let mut at = 0;
    let get = |at: usize| items.get(at).copied().flatten();
    while at < items.len() {
        let Some(c) = items[at] else {
            out.push(None);
            at += 1;
            continue;
        };
        let (kind, width) = match (c, get(at + 1)) {
            ('\u{1b}', Some('[')) => ("csi", 2),
            ('\u{1b}', Some(']')) => ("osc", 2),
            ('\u{1b}', Some('P' | 'X' | '^' | '_')) => ("string", 2),
            ('\u{1b}', _) => ("escape", 1),
            ('\u{9b}', _) => ("csi", 1),
            ('\u{9d}', _) => ("osc", 1),
            ('\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}', _) => ("string", 1),
            _ => ("", 1),
        };
        let start = at + width;
        let end = match kind {
            "csi" => {
                let count = (start..)
                    .take_while(|i| get(*i).is_some_and(|c| (' '..='?').contains(&c)))
                    .count();
                let last = get(start + count).filter(|c| ('@'..='~').contains(c));
                (count <= 256 && last.is_some()).then_some(start + count + 1)
            }
            "escape" => {
                let count = (start..)
                    .take_while(|i| get(*i).is_some_and(|c| (' '..='/').contains(&c)))
                    .count();
                let last = get(start + count).filter(|c| ('0'..='~').contains(c));
                (count <= 256 && last.is_some()).then_some(start + count + 1)
            }
            "osc" | "string" => {
                let mut length = 0;
                let mut i = start;
                loop {
                    match (get(i), get(i + 1)) {
                        (Some('\u{7}'), _) if kind == "osc" => break Some(i + 1),
                        (Some('\u{1b}'), Some('\\')) => break Some(i + 2),
                        (Some('\u{9c}'), _) => break Some(i + 1),
                        (Some(c), _) => length += c.len_utf8(),
                        (None, _) => break None,
                    }
                    if length > 4096 {
                        break None;
                    }
                    i += 1;
                }
            }
            _ => {
                match c {
                    '\r' if get(at + 1) == Some('\n') => out.push(Some('\r')),
                    '\r' | '\u{2028}' | '\u{2029}' => out.push(Some('\n')),
                    '\t' | '\n' => out.push(Some(c)),
                    _ if c.is_control() || removed(c) => {}
                    _ => out.push(Some(c)),
                }
                at += 1;
                continue;
            }
        };
        at = end.unwrap_or(start);
    }
    out
}

fn removed(c: char) -> bool {
    let code = c as u32;
    matches!(code, 0x61C | 0x200B | 0x200E | 0x200F | 0x202A..=0x202E | 0x2060..=0x2064
        | 0x2066..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F | 0x180E | 0xFDD0..=0xFDEF)
        || code & 0xFFFF >= 0xFFFE
}

/// Pass 5 by definition: matches are widened to characters and never cross a token.
fn redact_text(items: &[Item], patterns: &[Vec<u8>]) -> Vec<Item> {
    let mut out = Vec::new();
    for (index, segment) in items.split(Option::is_none).enumerate() {
        if index > 0 {
            out.push(None);
        }
        let text: String = segment.iter().flatten().collect();
        let widened = covered(text.as_bytes(), patterns)
            .into_iter()
            .map(|(mut start, mut end)| {
                while !text.is_char_boundary(start) {
                    start -= 1;
                }
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                (start, end)
            });
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (start, end) in widened {
            match merged.last_mut() {
                Some(last) if last.1 >= start => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        let mut at = 0;
        for (start, end) in merged {
            out.extend(text[at..start].chars().map(Some));
            out.push(None);
            at = end;
        }
        out.extend(text[at..].chars().map(Some));
    }
    out
}

fn bound(items: &[Item], limit: usize) -> (String, bool) {
    let mut text = String::new();
    for item in items {
        let piece = item.map_or_else(|| "[#]".to_owned(), String::from);
        if text.len() + piece.len() > limit {
            return (text, true);
        }
        text.push_str(&piece);
    }
    (text, false)
}

fn in_chunks(mut finaliser: Finaliser, raw: &[u8], cuts: &[usize], read: bool) -> Finalised {
    let mut seen = String::new();
    let mut at = 0;
    let mut cuts = cuts.iter().copied().cycle();
    while at < raw.len() {
        let end = raw
            .len()
            .min(at + 1 + cuts.next().unwrap_or(usize::MAX - 1));
        finaliser.push(&raw[at..end]);
        at = end;
        if read {
            seen.push_str(finaliser.ready().as_str());
        }
    }
    let end = finaliser.finish();
    seen.push_str(end.rest());
    assert_eq!(seen, end.text.as_str());
    end
}

/// Pieces that make sequences, broken characters and parts of secrets likely.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![&b"a"[..], b"b", b"c", b"ab", b"abc", b"abab", b"x"]),
        2 => prop::sample::select(vec![&b"\x1b"[..], b"[", b"]", b"\\", b"\x07", b"P", b"(", b"1;2", b"m"]),
        1 => prop::sample::select(vec![&b"\xc2\x9b"[..], b"\xc2\x9c", b"\xc2\x9d", b"\xc2\x90", b"\r", b"\n", b"\r\n", b"\t", b"\0"]),
        1 => prop::sample::select(vec![&b"\xc3\xa9"[..], b"\xc3", b"\xa9", b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\xe2\x80\x8b", b"\xe2\x80\xa8", b"\xff"]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn secrets() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let letter = prop::sample::select(vec![b'a', b'b', b'c', b'\n', 0xC3, 0xA9, 1]);
    prop::collection::vec(prop::collection::vec(letter, 1..12), 0..4)
}

fn cases() -> u32 {
    std::env::var("CHATMD_PROPERTY_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn equals_the_plain_passes_in_any_chunking(
        raw in output(), secrets in secrets(), cuts in prop::collection::vec(0usize..6, 1..8),
    ) {
        let redactor = redactor(&secrets);
        let patterns = patterns(&secrets);
        let items = redact_text(&sanitise(&redact_bytes(&raw, &patterns)), &patterns);
        for limit in [usize::MAX, raw.len() / 2 + 1] {
            // Only the bound, no cut capture: raw output is shorter than the slack of the capture.
            prop_assume!(raw.len() <= limit.saturating_add(64));
            let expected = bound(&items, limit);
            for read in [false, true] {
                let end = in_chunks(redactor.finaliser(limit), &raw, &cuts, read);
                prop_assert_eq!((end.text.as_str(), end.truncated), (expected.0.as_str(), expected.1));
            }
        }
    }

    #[test]
    fn a_cut_capture_is_the_same_in_any_chunking(
        raw in output(), secrets in secrets(), limit in 0usize..40, cuts in prop::collection::vec(0usize..6, 1..8),
    ) {
        let redactor = redactor(&secrets);
        let padded = [b"\x1b[0m".repeat(40).as_slice(), &raw, &raw, &raw].concat();
        let whole = in_chunks(redactor.finaliser(limit), &padded, &[usize::MAX - 1], false);
        for read in [false, true] {
            let end = in_chunks(redactor.finaliser(limit), &padded, &cuts, read);
            prop_assert_eq!(end.text.as_str(), whole.text.as_str());
            prop_assert_eq!(end.truncated, whole.truncated);
        }
    }

    #[test]
    fn no_secret_survives(
        core in "[a-z0-9~?/+ \"\\\\]{4,20}",
        around in prop::collection::vec("[A-Z ]{0,5}", 4),
        form in 0usize..64, noise in prop::sample::select(vec!["", "\u{8}", "\u{1b}[1m", "\u{200b}", "\u{1b}]0;t\u{7}"]),
        split in 0usize..20, cuts in prop::collection::vec(0usize..6, 1..8), limit in 0usize..400,
    ) {
        let secret = core.into_bytes();
        let redactor = redactor(std::slice::from_ref(&secret));
        let forms = needles(&secret);
        let shown = String::from_utf8(forms[form % forms.len()].to_vec()).unwrap();
        let at = split.min(shown.len());
        let broken = format!("{}{noise}{}", &shown[..at], &shown[at..]);
        let raw = format!("{}{shown}{}{broken}{}{shown}{}", around[0], around[1], around[2], around[3]);
        let end = in_chunks(redactor.finaliser(limit), raw.as_bytes(), &cuts, true);
        let text = end.text.as_str();
        prop_assert!(!text.contains(ESC));
        for needle in forms.iter().filter(|needle| needle.len() >= 4) {
            let needle = std::str::from_utf8(needle).unwrap();
            prop_assert!(!text.contains(needle), "{needle:?} in {text:?}");
        }
    }

    #[test]
    fn any_bytes_any_limit(raw in prop::collection::vec(any::<u8>(), 0..300), limit in 0usize..320) {
        let redactor = redactor(&[b"\x80\x81\x82\x83".to_vec(), b"abc".to_vec()]);
        let end = in_chunks(redactor.finaliser(limit), &raw, &[3, 0, 1], true);
        prop_assert!(end.text.len() <= limit);
        prop_assert!(!end.text.as_str().contains(ESC));
        let line = redactor.line(&raw);
        prop_assert!(!line.as_str().contains(['\n', '\r', '\t', ESC]));
    }
}
