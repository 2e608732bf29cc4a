//! Source text in messages.

/// At most 40 characters of `text` in backquotes, control characters escaped, `…` when cut.
pub fn quote(text: &str) -> String {
    format!("`{}`", clip(text))
}

/// [`quote`] without the backquotes.
pub fn clip(text: &str) -> String {
    const MOST: usize = 40;
    let mut out = String::new();
    let mut count = 0;
    for c in text.chars() {
        let escaped: String = match c {
            '\n' => "\\n".into(),
            '\r' => "\\r".into(),
            '\t' => "\\t".into(),
            c if c.is_control() || is_invisible(c) => format!("\\u{{{:x}}}", u32::from(c)),
            c => c.into(),
        };
        let width = escaped.chars().count();
        if count + width > MOST {
            out.push('…');
            return out;
        }
        count += width;
        out.push_str(&escaped);
    }
    out
}

/// Characters that would hide or reorder the text around them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn cuts_and_escapes() {
        assert_eq!(quote("a"), "`a`");
        assert_eq!(quote("a\nb"), "`a\\nb`");
        assert_eq!(quote("\u{202e}x"), "`\\u{202e}x`");
        assert_eq!(quote(&"é".repeat(41)), format!("`{}…`", "é".repeat(40)));
        assert_eq!(quote(&"é".repeat(40)), format!("`{}`", "é".repeat(40)));
    }
}
