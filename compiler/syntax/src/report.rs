//! Findings of the parser: one function for each code of spec 01 sections 16 and 17.1.

use crate::encoding::NotText;
use crate::tree::{SyntaxDiagnostic, SyntaxSeverity};
use crate::{Span, Tag};

/// Longest piece of source quoted in a message, in characters (spec 01 section 15.3).
const MAX_QUOTE: usize = 40;

/// Source text as it may stand in a message: cut to 40 characters.
pub(crate) fn quote(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_QUOTE).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

fn new(
    code: &'static str,
    severity: SyntaxSeverity,
    primary: Span,
    label: &str,
    message: String,
) -> SyntaxDiagnostic {
    SyntaxDiagnostic {
        code,
        severity,
        message,
        primary,
        label: label.to_owned(),
        secondary: Vec::new(),
        help: None,
        fix: None,
        path: Vec::new(),
    }
}

fn error(
    code: &'static str,
    primary: Span,
    label: &str,
    message: impl Into<String>,
) -> SyntaxDiagnostic {
    new(code, SyntaxSeverity::Error, primary, label, message.into())
}

fn warning(
    code: &'static str,
    primary: Span,
    label: &str,
    message: impl Into<String>,
) -> SyntaxDiagnostic {
    new(
        code,
        SyntaxSeverity::Warning,
        primary,
        label,
        message.into(),
    )
}

/// Builder steps.
trait With: Sized {
    fn second(self, span: Span, text: impl Into<String>) -> Self;
    fn help(self, text: impl Into<String>) -> Self;
    fn fix(self, title: impl Into<String>, edits: Vec<(Span, String)>) -> Self;
}

impl With for SyntaxDiagnostic {
    fn second(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push((span, text.into()));
        self
    }

    fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    fn fix(mut self, title: impl Into<String>, edits: Vec<(Span, String)>) -> Self {
        self.fix = Some((title.into(), edits));
        self
    }
}

fn insert(at: u32, text: impl Into<String>) -> Vec<(Span, String)> {
    vec![(Span::empty(at), text.into())]
}

fn delete(span: Span) -> Vec<(Span, String)> {
    vec![(span, String::new())]
}

pub(crate) fn document_too_large(bytes: usize) -> SyntaxDiagnostic {
    let megabytes = bytes.div_ceil(1024 * 1024);
    error(
        "chatmd.document_too_large",
        Span::empty(0),
        "this file is too large",
        format!("the document has {megabytes} MiB; at most 64 MiB are read"),
    )
    .help("move long material into files of their own and refer to them with `<doc src=\"…\" local/>`")
}

pub(crate) fn invalid_utf8(span: Span, bytes: u32) -> SyntaxDiagnostic {
    let what = if bytes == 1 {
        "1 byte here is".to_owned()
    } else {
        format!("{bytes} bytes here are")
    };
    error(
        "chatmd.invalid_utf8",
        span,
        "not UTF-8",
        format!("{what} not valid UTF-8"),
    )
    .help("save the file as UTF-8; nothing in it is declared until then")
}

/// A file that is UTF-16 or binary, reported once.
pub(crate) fn not_text(why: NotText) -> SyntaxDiagnostic {
    let code = match why.nul {
        true => "chatmd.nul_byte",
        false => "chatmd.invalid_utf8",
    };
    let (what, help) = match why.utf16 {
        true => (
            "the file is in UTF-16, not in UTF-8",
            "save it as UTF-8; editors call that an encoding",
        ),
        false => (
            "the file is not text",
            "a document is plain text in UTF-8; is this the right file?",
        ),
    };
    error(code, why.at, "not UTF-8 text", what).help(help)
}

pub(crate) fn nul_byte(span: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.nul_byte",
        span,
        "NUL byte",
        "the file contains the character U+0000",
    )
    .help("remove it; a document is plain text")
    .fix("remove the NUL byte", delete(span))
}

pub(crate) fn unterminated_comment(opener: Span, line_end: u32) -> SyntaxDiagnostic {
    error(
        "chatmd.unterminated_comment",
        opener,
        "comment starts here",
        "this comment is never closed by `-->`",
    )
    .help("it is taken to end with its line; put `-->` where the comment ends")
    .fix(
        "close the comment at the end of its line",
        insert(line_end, " -->"),
    )
}

pub(crate) fn meta_refine(comment: Span) -> SyntaxDiagnostic {
    warning(
        "chatmd.meta_refine_ignored",
        comment,
        "has no effect",
        "the meta-refine marker is ignored: a document is compiled exactly as it is written",
    )
    .fix("remove the marker", delete(comment))
}

pub(crate) fn unterminated_raw(
    marker: Span,
    parent: Option<(&str, Span)>,
    end: Option<u32>,
) -> SyntaxDiagnostic {
    let mut found = error(
        "chatmd.unterminated_raw",
        marker,
        "RAW block starts here",
        "this RAW block is never closed by `|RAW`",
    )
    .help("write `|RAW` where the block ends; if `RAW|` is meant as words, put a letter before it or write it inside another block");
    if let Some((name, tag)) = parent {
        found = found.second(tag, format!("inside this `<{name}>`"));
    }
    match end {
        Some(end) => found.fix("close the RAW block", insert(end, "|RAW")),
        None => found,
    }
}

pub(crate) fn unterminated_attribute(
    element: &str,
    name: &str,
    quote: char,
    primary: Span,
    name_span: Span,
) -> SyntaxDiagnostic {
    error(
        "chatmd.unterminated_attribute",
        primary,
        "this quote is never closed",
        format!(
            "the value of `{}` on `<{element}>` has no closing `{quote}`",
            self::quote(name)
        ),
    )
    .second(name_span, "value of this attribute")
    .help("close the quote; inside a value of several lines write `&lt;` for `<`")
}

pub(crate) fn unterminated_tag(
    tag: &str,
    primary: Span,
    offending: Option<Span>,
    insert_text: &str,
) -> SyntaxDiagnostic {
    let found = error(
        "chatmd.unterminated_tag",
        primary,
        "this tag is not closed",
        format!("the tag `{tag}` has no `>`"),
    )
    .fix(
        format!("insert `{insert_text}`"),
        insert(primary.end, insert_text),
    );
    match offending {
        Some(span) => found.second(span, "expected `>` before this"),
        None => found.second(Span::empty(primary.end), "the file ends here"),
    }
}

pub(crate) fn malformed_end_tag(name: &str, junk: Span, tag: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.malformed_end_tag",
        junk,
        "does not belong here",
        format!("an end tag holds only its name: `</{name}>`"),
    )
    .fix(
        format!("write `</{name}>`"),
        vec![(tag, format!("</{name}>"))],
    )
}

pub(crate) fn value_missing(element: &str, name: &str, span: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.attribute_value_missing",
        span,
        "no value after `=`",
        format!(
            "attribute `{}` of `<{element}>` has `=` but no value",
            quote(name)
        ),
    )
    .help(format!("write `{}=\"…\"`", quote(name)))
}

pub(crate) fn junk(element: &str, tag: Tag, text: &str, span: Span) -> SyntaxDiagnostic {
    let severity = if crate::context::is_conversation(tag) {
        SyntaxSeverity::Warning
    } else {
        SyntaxSeverity::Error
    };
    new(
        "chatmd.invalid_attribute",
        severity,
        span,
        "not an attribute",
        format!("`{}` in the tag `<{element}>` is no attribute", quote(text)),
    )
    .help("attributes are written `name=\"value\"`, separated by spaces")
    .fix("remove it", delete(span))
}

pub(crate) fn name_too_long(element: &str, tag: Tag, span: Span) -> SyntaxDiagnostic {
    let severity = if crate::context::is_conversation(tag) {
        SyntaxSeverity::Warning
    } else {
        SyntaxSeverity::Error
    };
    new(
        "chatmd.invalid_attribute",
        severity,
        span,
        "name too long",
        format!("an attribute name of `<{element}>` is longer than 128 bytes"),
    )
}

pub(crate) fn missing_space(element: &str, span: Span) -> SyntaxDiagnostic {
    warning(
        "chatmd.invalid_attribute",
        span,
        "no space before this",
        format!("attributes of `<{element}>` are not separated by a space"),
    )
    .fix("insert a space", insert(span.start, " "))
}

pub(crate) fn unquoted(name: &str, value: &str, span: Span) -> SyntaxDiagnostic {
    warning(
        "chatmd.unquoted_attribute",
        span,
        "no quotes",
        format!(
            "the value of `{}` is not in quotes; entities in it are not decoded",
            quote(name)
        ),
    )
    .fix(
        "put the value in quotes",
        vec![(span, crate::write::attribute_value(value))],
    )
}

pub(crate) fn unknown_entity(text: &str, span: Span) -> SyntaxDiagnostic {
    warning(
        "chatmd.unknown_entity",
        span,
        "kept as written",
        format!(
            "`{}` is not one of the entities `&amp; &lt; &gt; &quot; &apos;`",
            quote(text)
        ),
    )
    .fix(
        "write `&amp;` for a literal `&`",
        vec![(Span::new(span.start, span.start + 1), "&amp;".to_owned())],
    )
}

/// The same for the value of `<literal>`: neither words nor place show a part of it.
pub(crate) fn unknown_entity_in_secret(name: Span) -> SyntaxDiagnostic {
    warning(
        "chatmd.unknown_entity",
        name,
        "kept as written",
        "the value has an `&` that begins none of the entities `&amp; &lt; &gt; &quot; &apos;`"
            .to_owned(),
    )
}

pub(crate) fn too_many_attributes(element: &str, span: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.attribute_too_large",
        span,
        "attribute number 129",
        format!("the tag `<{element}>` has more than 128 attributes"),
    )
}

pub(crate) fn value_too_large(name: &str, span: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.attribute_too_large",
        span,
        "value over 1 MiB",
        format!("the value of `{}` is longer than 1 MiB", quote(name)),
    )
}

pub(crate) fn duplicate_attribute(
    code: &'static str,
    element: &str,
    name: &str,
    later: Span,
    first: Span,
) -> SyntaxDiagnostic {
    error(
        code,
        later,
        "written again here",
        format!(
            "attribute `{}` is written more than once on `<{element}>`; neither value is used",
            quote(name)
        ),
    )
    .second(first, "first written here")
    .help("keep one of them")
}

/// Where an unclosed element was taken to end.
#[derive(Clone, Copy)]
pub(crate) enum ClosedBy {
    /// The end tag of an element around it.
    EndTag(Span),
    /// A fence.
    Fence(Span),
    /// The end of the file.
    EndOfFile(u32),
}

impl ClosedBy {
    /// Where that is.
    pub(crate) fn start(self) -> u32 {
        match self {
            ClosedBy::EndTag(span) | ClosedBy::Fence(span) => span.start,
            ClosedBy::EndOfFile(at) => at,
        }
    }
}

/// An unclosed element whose end tag is there, with a slip in its name.
pub(crate) fn misspelt_end_tag(
    name: &str,
    start_tag: Span,
    end_tag: Span,
    written: &str,
) -> SyntaxDiagnostic {
    error(
        "chatmd.unclosed_element",
        start_tag,
        "never closed",
        format!("`<{name}>` has no end tag `</{name}>`"),
    )
    .second(end_tag, format!("did you mean `</{name}>`?"))
    .help(format!(
        "`</{}>` is no end tag here but words of the text",
        quote(written)
    ))
    .fix(
        format!("write `</{name}>`"),
        vec![(end_tag, format!("</{name}>"))],
    )
}

/// An element whose end tag stands right behind that of the element around it.
pub(crate) fn crossed_end_tags(
    name: &str,
    start_tag: Span,
    outer_end: Span,
    end_tag: Span,
) -> SyntaxDiagnostic {
    error(
        "chatmd.unclosed_element",
        start_tag,
        "closed too late",
        format!("`</{name}>` stands behind the end tag of the element around `<{name}>`"),
    )
    .second(outer_end, "this closes the element around it")
    .second(end_tag, "this comes too late")
    .fix(
        format!("move `</{name}>` to the front"),
        vec![
            (Span::empty(outer_end.start), format!("</{name}>")),
            (end_tag, String::new()),
        ],
    )
}

pub(crate) fn unclosed_element(
    name: &str,
    start_tag: Span,
    by: ClosedBy,
    prose: bool,
) -> SyntaxDiagnostic {
    let (place, text) = match by {
        ClosedBy::EndTag(span) => (span, "this closes the element around it"),
        ClosedBy::Fence(span) => (span, "it is taken to end before this"),
        ClosedBy::EndOfFile(at) => (Span::empty(at), "the file ends here"),
    };
    let line_end = if matches!(by, ClosedBy::Fence(_)) {
        "\n"
    } else {
        ""
    };
    let found = error(
        "chatmd.unclosed_element",
        start_tag,
        "never closed",
        format!("`<{name}>` has no end tag `</{name}>`"),
    )
    .second(place, text)
    .fix(
        format!("insert `</{name}>`"),
        insert(place.start, format!("</{name}>{line_end}")),
    );
    if prose {
        found.help(format!(
            "if `<{name}>` is meant as words, write it in a RAW block: `RAW|<{name}>|RAW`"
        ))
    } else {
        found
    }
}

pub(crate) fn mismatched_tag(
    found: &str,
    expected: &str,
    end_tag: Span,
    open: Span,
    closes_later: bool,
) -> SyntaxDiagnostic {
    let label = match closes_later {
        true => "closes nothing".to_owned(),
        false => format!("expected `</{expected}>`"),
    };
    let found = error(
        "chatmd.mismatched_tag",
        end_tag,
        &label,
        format!(
            "`</{}>` does not match the open element `<{expected}>`",
            quote(found)
        ),
    )
    .second(open, "opened here");
    // An element that is closed further down must not be closed twice.
    if closes_later {
        return found.fix("remove the end tag", delete(end_tag));
    }
    found.fix(
        format!("write `</{expected}>`"),
        vec![(end_tag, format!("</{expected}>"))],
    )
}

pub(crate) fn unexpected_end_tag(
    name: &str,
    end_tag: Span,
    last: Option<Span>,
) -> SyntaxDiagnostic {
    let found = error(
        "chatmd.unexpected_end_tag",
        end_tag,
        "nothing is open here",
        format!("`</{}>` closes nothing: no element is open", quote(name)),
    )
    .fix("remove the end tag", delete(end_tag));
    match last {
        Some(span) => found.second(span, "the last one was already closed here"),
        None => found,
    }
}

pub(crate) fn nesting_too_deep(name: &str, start_tag: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.nesting_too_deep",
        start_tag,
        "level 257",
        format!(
            "`<{name}>` is nested more than 256 elements deep; it is skipped with all its content"
        ),
    )
}

pub(crate) fn top_level_text(text: &str, span: Span) -> SyntaxDiagnostic {
    let found = error(
        "chatmd.top_level_text",
        span,
        "outside of any element",
        "text at the top level belongs to no message",
    );
    let foreign = (text.starts_with("<?") || text.starts_with("<!")) && text.ends_with('>');
    if foreign {
        return found
            .help("a document is neither XML nor HTML and needs no declaration: remove this")
            .fix("remove it", delete(span));
    }
    if text.starts_with("---") {
        return found.help(
            "a document has no front matter: settings are written `<config model=\"…\"/>`, \
             instructions `<system>…</system>`",
        );
    }
    found.help("put it into a message such as `<user>…</user>`, or into a comment `<!-- … -->`")
}

pub(crate) fn unknown_element(
    name: &str,
    tag: Span,
    names: &[Span],
    known: Option<&str>,
) -> SyntaxDiagnostic {
    let found = error(
        "chatmd.unknown_element",
        tag,
        "unknown element",
        format!("there is no element `<{}>`", quote(name)),
    );
    match known {
        Some(known) if known.eq_ignore_ascii_case(name) => found
            .help(format!("element names are lowercase: `<{known}>`"))
            .rename(names, known),
        Some(known) => found
            .help(format!("did you mean `<{known}>`?"))
            .rename(names, known),
        None => {
            found.help("text that is no element belongs into a message such as `<user>…</user>`")
        }
    }
}

pub(crate) fn shell_element_at_top(name: &str, tag: Span) -> SyntaxDiagnostic {
    error(
        "shell.unknown_element",
        tag,
        "not at the top level",
        format!("`<{name}>` means nothing at the top level"),
    )
    .help(format!(
        "`<{name}>` is recognised only inside `<shell_access>` or a shell or `read_file` tool"
    ))
}

pub(crate) fn misplaced_element(name: &str, tag: Span) -> SyntaxDiagnostic {
    let home = if name == "summary" {
        "<reasoning>"
    } else {
        "a message such as <user>"
    };
    error(
        "chatmd.misplaced_element",
        tag,
        "not at the top level",
        format!("`<{name}>` is content and cannot stand at the top level"),
    )
    .help(format!("move it into {home}"))
}

pub(crate) fn script_trailing_text(span: Span) -> SyntaxDiagnostic {
    error(
        "chatmd.script_trailing_text",
        span,
        "not part of the program",
        "text stands between the end of the script's RAW block and `</script>`",
    )
    .help("the program is the content of the RAW block alone")
    .fix("remove it", delete(span))
}

pub(crate) fn format_syntax_error(first: &SyntaxDiagnostic) -> SyntaxDiagnostic {
    error(
        "chatmd.format_syntax_error",
        first.primary,
        "not formatted because of this",
        format!(
            "the file was left as it is: it has a syntax error ({})",
            first.code
        ),
    )
    .help(format!("first of them: {}", first.message))
}

pub(crate) fn format_changed_meaning() -> SyntaxDiagnostic {
    error(
        "chatmd.format_syntax_error",
        Span::empty(0),
        "this file",
        "the file was left as it is: its formatted text would not read back as the same document",
    )
    .help("this is a defect of the formatter; please report it with the file")
}

/// A rename that only `unknown_element` needs.
trait Rename {
    fn rename(self, names: &[Span], to: &str) -> Self;
}

impl Rename for SyntaxDiagnostic {
    fn rename(mut self, names: &[Span], to: &str) -> Self {
        let edits = names.iter().map(|name| (*name, to.to_owned())).collect();
        self.fix = Some((format!("rename to `{to}`"), edits));
        self
    }
}
