//! Writing ChatMD safely (spec 01 section 18).

/// An attribute value with its quotes: double ones, or single ones when that needs no entity for a
/// double quote. Reading it gives `value` back. NUL is the caller's to refuse.
pub fn attribute_value(value: &str) -> String {
    let single = value.contains('"') && !value.contains('\'');
    let mark = if single { '\'' } else { '"' };
    let mut out = String::with_capacity(value.len() + 2);
    out.push(mark);
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if !single => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    let trailing = value
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'\\')
        .count();
    out.extend(std::iter::repeat_n('\\', trailing));
    out.push(mark);
    out
}

/// Whether text may stand in a body as it is.
pub fn is_plain(text: &str) -> bool {
    !text.contains('<') && !text.contains("RAW|") && !text.contains("|RAW")
}

/// Text as the whole content of a body: as it is when it is plain, else in RAW blocks. Nothing may
/// be written between it and the tags around it. Reading it gives `text` back.
pub fn body_text(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        raw_blocks(text)
    }
}

/// Text in RAW blocks: a `|RAW` in it is split over two.
pub fn raw_blocks(text: &str) -> String {
    format!("RAW|{}|RAW", text.replace("|RAW", "||RAWRAW|RAW"))
}

/// Why a script body cannot be written inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptBodyError {
    /// It needs a RAW block and contains its closer: use `src`.
    NeedsFile,
}

/// The body of a `<script>` whose program is exactly `program`.
pub fn script_body(program: &str) -> Result<String, ScriptBodyError> {
    let start =
        program.trim_start_matches(|c: char| c.is_ascii() && crate::lexer::is_space(c as u8));
    if !program.contains("</script") && !start.starts_with("RAW|") && !start.is_empty() {
        return Ok(program.to_owned());
    }
    if program.contains("|RAW") {
        return Err(ScriptBodyError::NeedsFile);
    }
    Ok(format!("RAW|{program}|RAW"))
}
