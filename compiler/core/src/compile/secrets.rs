//! Where a document holds literal secrets, so that no excerpt of its source shows one.
//!
//! This reads the text, not the tree: a secret must stay hidden in a document that is broken
//! exactly there, and when `literal` itself is misspelt. It may hide too much, never too little.

use chatmd_syntax::Span;

/// Values to hide, in ascending order: those of every `<literal …>` anywhere, and within
/// `<secrets>` those of every element that is not known to hold a name or a path. Text there is
/// hidden too: somebody may have written the secret between the tags.
pub(super) fn literal_values(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let (mut in_secrets, mut in_literal) = (false, false);
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let next = rest.find('<');
        if in_secrets || in_literal {
            let gap = rest.get(..next.unwrap_or(rest.len())).unwrap_or_default();
            between_tags(gap, at, &mut found);
        }
        let Some(next) = next else {
            return found;
        };
        let open = at + next + 1;
        at = open;
        let rest = text.get(open..).unwrap_or_default();
        let name_length = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '/' | '-')))
            .unwrap_or(rest.len());
        let name = rest.get(..name_length).unwrap_or_default();
        in_literal = name.eq_ignore_ascii_case("literal");
        match name {
            "secrets" => {
                let tag = rest.split(['<', '>']).next().unwrap_or_default();
                in_secrets = !tag.ends_with('/');
            }
            "/secrets" | "/shell_access" => in_secrets = false,
            "from_env" | "from_file" | "shell_access" => {}
            _ if in_literal || (in_secrets && !name.starts_with('/')) => {
                at = values(text, open + name_length, &mut found);
            }
            _ => {}
        }
    }
}

/// Hides the text behind the end of a tag, without the layout around it. `base` is the offset of
/// `gap`, which begins within the tag.
fn between_tags(gap: &str, base: usize, found: &mut Vec<Span>) {
    let Some((tag, text)) = gap.split_once('>') else {
        return;
    };
    let shown = text.trim();
    let start = base + tag.len() + 1 + (text.len() - text.trim_start().len());
    push(found, start, start + shown.len());
}

/// Collects the attribute values of a tag that goes on at `at`; gives where it ends. What follows
/// the first value is hidden with it: behind a quote within a secret stands the rest of the secret,
/// which then looks like names.
fn values(text: &str, at: usize, found: &mut Vec<Span>) -> usize {
    let before = found.len();
    let end = each_value(text, at, found);
    if let Some(first) = found.get(before).copied() {
        let end = end.min(text.len());
        let rest = text.get(first.end as usize..end).unwrap_or_default();
        let rest = rest.trim_start_matches(['"', '\'']).trim();
        if !rest.is_empty() && rest != "/" {
            found.truncate(before);
            push(found, first.start as usize, end);
        }
    }
    end
}

fn each_value(text: &str, mut at: usize, found: &mut Vec<Span>) -> usize {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' | b'<' => return at,
            quote @ (b'"' | b'\'') => {
                let start = at + 1;
                let end = quoted_end(bytes, start, *quote);
                push(found, start, end);
                at = end + 1;
            }
            b'=' => {
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if matches!(bytes.get(at), Some(b'"' | b'\'')) {
                    continue;
                }
                let length = bytes
                    .get(at..)
                    .unwrap_or_default()
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                let end = length.map_or(bytes.len(), |length| at + length);
                push(found, at, end);
                at = end;
            }
            _ => at += 1,
        }
    }
    at
}

/// End of a quoted value; a backslash keeps the quote behind it inside (spec 01 section 2.4).
fn quoted_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start;
    let mut backslashes = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == quote && backslashes % 2 == 0 {
            return at;
        }
        backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
        at += 1;
    }
    // Never closed. Hiding the rest of the line is what the parser takes for the value at most,
    // but a secret of several lines must not show either.
    bytes.len()
}

fn push(found: &mut Vec<Span>, start: usize, end: usize) {
    if start < end {
        found.push(Span::new(start as u32, end as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_every_form_of_a_literal() {
        for text in [
            "<literal value=\"S3CR3T\"/>",
            "<literal value='S3CR3T'/>",
            "<literal value=S3CR3T/>",
            "<literal valeu = \"S3CR3T\"",
            "<literal value=\"S3CR3T\n<x>",
            "<literal value=\"a\\\"S3CR3T\"/>",
            "<literal 'S3CR3T'>",
            "<secrets><litteral value=\"S3CR3T\"/></secrets>",
            "<secrets merge=\"append\">\n<x y=\"S3CR3T\"",
            "<Literal value=\"S3CR3T\"/>",
            "<literal>S3CR3T</literal>",
            "<literal value=\"a\">\n S3CR3T <x/>",
            "<literal>S3CR3T",
            "<literal value=\"say \"S3CR3T\"\"/>",
            "<literal value='it's S3CR3T'/>",
            "<secrets><litteral value=\"a\" S3CR3T=\"b\"/></secrets>",
            "<secrets>S3CR3T</secrets>",
            "<secrets><from_env name=\"a\"/> S3CR3T\n<x/>",
            "<secrets><from_env>S3CR3T</from_env></secrets>",
        ] {
            let mut shown = text.to_owned();
            for span in literal_values(text).iter().rev() {
                shown.replace_range(span.range(), "…");
            }
            assert!(!shown.contains("S3CR3T"), "{text}: {shown}");
        }
    }

    #[test]
    fn shows_what_is_no_secret() {
        for text in [
            "<secrets><from_env name=\"TOKEN\"/><from_file path=\"x\"/></secrets>",
            "<secrets/>\n<shell_access id=\"r\"></shell_access><tool name=\"x\"/>",
            "<user literal=\"x\"> literal \"x\" </user>",
            "<secrets>\n  <from_env name=\"TOKEN\"/>\n</secrets> text",
        ] {
            assert_eq!(literal_values(text), []);
        }
    }
}
