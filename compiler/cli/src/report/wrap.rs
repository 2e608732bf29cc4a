//! Words broken into lines of the terminal's width.

/// Width where none is known, in columns.
pub const DEFAULT_WIDTH: usize = 80;
/// Narrower terminals break the lines themselves.
pub const MIN_WIDTH: usize = 40;

/// `text` in lines of at most `width` columns, of which the first `used` are taken on the first
/// line; later lines begin with `indent` spaces. What stands between backticks stays together where
/// it fits on a line, so that it can be copied.
pub fn wrapped(text: &str, used: usize, indent: usize, width: usize) -> String {
    let mut lines = String::with_capacity(text.len() + 16);
    let (mut column, mut starts_line) = (used, true);
    for piece in pieces(text, width.saturating_sub(indent)) {
        let length = piece.chars().count();
        let gap = usize::from(!starts_line);
        if column + gap + length > width && column > indent {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            (column, starts_line) = (indent, true);
        }
        if !starts_line {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(piece);
        column += length;
        starts_line = false;
    }
    lines
}

/// What must not be broken: words, and quoted text of at most `most` columns with what touches it.
fn pieces(text: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        let end = match whole(rest) {
            end if rest[..end].chars().count() <= most => end,
            _ => rest.find(' ').unwrap_or(rest.len()),
        };
        pieces.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(' ');
    }
    pieces
}

/// Where the first space outside of backticks is.
fn whole(text: &str) -> usize {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '`' => quoted = !quoted,
            ' ' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_hang_below_their_first_word() {
        let text = "its attributes are `wall_time`, `idle_time`, `max_stdin` and `stdout`";
        let lines = wrapped(text, 9, 9, 40);
        let want = "its attributes are `wall_time`,\n         `idle_time`, `max_stdin` and\n         `stdout`";
        assert_eq!(lines, want);
        for (at, line) in lines.lines().enumerate() {
            let used = if at == 0 { 9 } else { 0 };
            assert!(line.chars().count() + used <= 40, "{line}");
        }
    }

    #[test]
    fn what_is_quoted_stays_together_where_it_fits() {
        let text = "write `<read path=\"x\"/>` there";
        assert_eq!(
            wrapped(text, 0, 2, 22),
            "write\n  `<read path=\"x\"/>`\n  there"
        );
        // It can not: then it is broken at its spaces.
        let text = "`a b c d e f g h i j k l m n o`";
        let lines = wrapped(text, 0, 2, 12);
        assert!(
            lines.lines().all(|line| line.chars().count() <= 12),
            "{lines}"
        );
        // A word without spaces is not cut.
        assert_eq!(wrapped("aaaaaaaaaaaaaaa b", 0, 1, 5), "aaaaaaaaaaaaaaa\n b");
        assert_eq!(wrapped("", 0, 1, 5), "");
        assert_eq!(wrapped("an `open quote", 0, 1, 8), "an `open\n quote");
    }
}
