//! Shell text that is not parsed, seen as a shell would unquote it.

/// The text without quotes, backslashes and line continuations, with `$'…'` decoded; `None` when
/// nothing changes. Shells join such pieces into one word, so `r\m`, `"r"m` and `$'\x72m'` hide no
/// name from a restrictive rule.
///
/// The result never grants anything and is not what would run: where quotes nest it may hold more
/// than a shell sees.
pub fn dequote(text: &str) -> Option<String> {
    if !text.contains(['\'', '"', '\\']) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '$' if characters.peek() == Some(&'\'') => {
                characters.next();
                ansi_quoted(&mut characters, &mut out);
            }
            // `$"…"` is a plain double quote after translation.
            '$' if characters.peek() == Some(&'"') => {}
            '\'' | '"' => {}
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(escaped) => out.push(escaped),
            },
            other => out.push(other),
        }
    }
    Some(out)
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// The inside of `$'…'`, up to and with the closing quote.
fn ansi_quoted(characters: &mut Characters<'_>, out: &mut String) {
    while let Some(character) = characters.next() {
        match character {
            '\'' => return,
            '\\' => {
                let Some(escape) = characters.next() else {
                    return;
                };
                let decoded = match escape {
                    'a' => Some('\u{7}'),
                    'b' => Some('\u{8}'),
                    'e' | 'E' => Some('\u{1b}'),
                    'f' => Some('\u{c}'),
                    'n' => Some('\n'),
                    'r' => Some('\r'),
                    't' => Some('\t'),
                    'v' => Some('\u{b}'),
                    'x' => number(characters, 16, 2, 0),
                    'u' => number(characters, 16, 4, 0),
                    'U' => number(characters, 16, 8, 0),
                    '0'..='7' => number(characters, 8, 2, escape.to_digit(8).unwrap_or(0)),
                    'c' => {
                        characters.next();
                        None
                    }
                    other => Some(other),
                };
                out.extend(decoded);
            }
            other => out.push(other),
        }
    }
}

fn number(characters: &mut Characters<'_>, radix: u32, digits: usize, start: u32) -> Option<char> {
    let mut value = start;
    for _ in 0..digits {
        let Some(digit) = characters.peek().and_then(|digit| digit.to_digit(radix)) else {
            break;
        };
        characters.next();
        value = value.checked_mul(radix)?.checked_add(digit)?;
    }
    char::from_u32(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_join() {
        for (text, expected) in [
            ("ls a", None),
            ("r\\\nm -rf x", Some("rm -rf x")),
            ("r\\m x", Some("rm x")),
            ("\"r\"'m' x", Some("rm x")),
            ("$'\\x72\\x6d' -rf $'\\x2f'", Some("rm -rf /")),
            ("$'r\\155' x", Some("rm x")),
            ("$\"rm\" x", Some("rm x")),
            ("$'\\u0072m\\'", Some("rm'")),
            ("a\\", Some("a")),
        ] {
            assert_eq!(dequote(text).as_deref(), expected, "{text:?}");
        }
    }
}
