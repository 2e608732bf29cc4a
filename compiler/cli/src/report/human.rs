//! The full report, drawn by ariadne. No other file knows of ariadne.
//!
//! Ariadne passes text on as it is, so everything is escaped before it gets there. It also counts
//! columns in the text it is given, that is after escaping: the `FILE:LINE:COL` of a report is put
//! in afterwards, in place of a mark that no escaped text can hold.

use std::collections::HashMap;
use std::fmt::Write as _;

use ariadne::{CharSet, Color, Config, IndexType, LabelAttach, Report, ReportKind, Source};
use chatmd_compiler::diagnostics::{Diagnostic, FileIndex, IMPORTED_HERE, Label, Severity};
use chatmd_compiler::{Compilation, SafeText};

use super::excerpt::{self, Excerpt, Frame, Labelled};
use super::view::View;
use super::wrap::wrapped;
use super::{Findings, heading, repair};

/// Indent of the further lines of a heading.
const HANG: usize = 3;
/// Columns of `   help: `.
const HELP: usize = 9;
/// Most imports of a chain that are shown with their source.
const MAX_CHAIN_LABELS: usize = 4;
/// Last line of a file with long lines that is drawn: cutting a file costs its line count.
const MAX_CUT_LINE: u32 = 200_000;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Use colour.
    pub color: bool,
    /// Draw with box characters instead of ASCII.
    pub unicode: bool,
    /// Columns of a line. Source text may take more.
    pub width: usize,
}

/// Renders the findings of one document.
pub fn render(findings: &Findings<'_>, style: Style) -> String {
    let mut cache = Cache {
        compilation: findings.compilation,
        files: HashMap::new(),
        cut: HashMap::new(),
    };
    let mut text = String::new();
    for found in &findings.shown {
        one(&mut cache, found, style, &mut text);
        text.push('\n');
    }
    text
}

type FileSpan = (FileIndex, std::ops::Range<usize>);

/// A file as it may be shown.
struct Drawn {
    view: View,
    source: Source<String>,
}

struct Cache<'a> {
    compilation: &'a Compilation,
    files: HashMap<FileIndex, Drawn>,
    /// Files of the report at hand that have to be cut, because a labelled line is too long.
    cut: HashMap<FileIndex, (Excerpt, Source<String>)>,
}

impl Cache<'_> {
    fn drawn(&mut self, file: FileIndex) -> &Drawn {
        self.files.entry(file).or_insert_with(|| {
            let file = self.compilation.file(file);
            let text = file.map(|file| &*file.text).unwrap_or_default();
            let secrets = file.map(|file| file.secrets()).unwrap_or_default();
            let view = View::new(text, secrets);
            let source = Source::from(view.text().to_owned());
            Drawn { view, source }
        })
    }

    /// Prepares the files of a report: cuts those in which a line and what is said beside it do not
    /// fit.
    fn prepare(&mut self, labels: &[(&Label, bool)], width: usize) {
        self.cut.clear();
        let frame = Frame::new(width);
        let mut labelled: HashMap<FileIndex, Vec<Labelled>> = HashMap::new();
        for (label, _) in labels {
            let span = self.shown_span(label);
            let file = label.place.file;
            let words = SafeText::line(&label.text).as_str().chars().count();
            let cut = frame.cuts(self.drawn(file).view.text(), &span, words);
            labelled.entry(file).or_default().push((span, cut));
        }
        for (file, mut labels) in labelled {
            if !labels.iter().any(|(_, cut)| *cut) {
                continue;
            }
            let drawn = self.drawn(file);
            let text = drawn.view.text();
            excerpt::cut_together(text, &mut labels);
            let line_of = |at| {
                drawn
                    .source
                    .get_byte_line(at)
                    .map_or(0, |(_, line, _)| line)
            };
            let excerpt = Excerpt::new(text, &labels, frame, line_of);
            let source = Source::from(excerpt.text.clone());
            self.cut.insert(file, (excerpt, source));
        }
    }

    /// Whether the report can be drawn without rebuilding very many lines.
    fn is_drawable(&self, labels: &[(&Label, bool)]) -> bool {
        labels.iter().all(|(label, _)| {
            let at = self.compilation.locate(label.place);
            !self.cut.contains_key(&label.place.file)
                || at.is_some_and(|at| at.end.line < MAX_CUT_LINE)
        })
    }

    /// Bytes of a label in the escaped text.
    fn shown_span(&mut self, label: &Label) -> std::ops::Range<usize> {
        let at = self
            .compilation
            .locate(label.place)
            .map(|at| at.span)
            .unwrap_or_default();
        let view = &self.drawn(label.place.file).view;
        view.offset(at.start)..view.offset(at.end)
    }

    /// Bytes of a label in what is drawn.
    fn span(&mut self, label: &Label) -> FileSpan {
        let span = self.shown_span(label);
        let file = label.place.file;
        match self.cut.get(&file) {
            Some((excerpt, _)) => (file, excerpt.offset(span.start)..excerpt.offset(span.end)),
            None => (file, span),
        }
    }
}

impl ariadne::Cache<FileIndex> for &mut Cache<'_> {
    type Storage = String;

    fn fetch(&mut self, file: &FileIndex) -> Result<&Source<Self::Storage>, impl std::fmt::Debug> {
        self.drawn(*file);
        let whole = self.files.get(file).map(|drawn| &drawn.source);
        let cut = self.cut.get(file).map(|(_, source)| source);
        cut.or(whole).ok_or("no such file")
    }

    fn display<'b>(&self, file: &'b FileIndex) -> Option<impl std::fmt::Display + 'b> {
        Some(mark(*file))
    }
}

/// Stands for the location in a file until the report is drawn. Escaped text has no such character.
fn mark(file: FileIndex) -> String {
    format!("\u{1}{}\u{2}", file.0)
}

fn one(cache: &mut Cache<'_>, found: &Diagnostic, style: Style, text: &mut String) {
    write_heading(found, style, text);
    let labels = labels(cache.compilation, found);
    cache.prepare(&labels, style.width);
    if cache.is_drawable(&labels) {
        draw(cache, found, &labels, style, text);
    } else {
        let _ = writeln!(
            text,
            "   at {}",
            location(cache.compilation, &found.primary)
        );
    }
    advice(cache.compilation, found, style, text);
}

fn draw(
    cache: &mut Cache<'_>,
    found: &Diagnostic,
    labels: &[(&Label, bool)],
    style: Style,
    text: &mut String,
) {
    let config = Config::default()
        .with_index_type(IndexType::Byte)
        .with_char_set(if style.unicode {
            CharSet::Unicode
        } else {
            CharSet::Ascii
        })
        .with_color(style.color)
        .with_label_attach(LabelAttach::Start)
        .with_tab_width(4);
    let color = color(found.severity);
    let primary = cache.span(&found.primary);
    // The heading is ours: ariadne's would be coloured whatever the configuration says.
    let mut report = Report::build(ReportKind::Custom("", color), primary).with_config(config);
    let mut locations: HashMap<FileIndex, String> = HashMap::new();
    for (order, (label, is_primary)) in labels.iter().enumerate() {
        let file = label.place.file;
        if *is_primary || !locations.contains_key(&file) && file != found.primary.place.file {
            locations.insert(file, location(cache.compilation, label));
        }
        let mut drawn = ariadne::Label::new(cache.span(label))
            .with_order(i32::try_from(order).unwrap_or(i32::MAX))
            .with_priority(i32::from(*is_primary))
            .with_color(if *is_primary { color } else { Color::Blue });
        // Ariadne underlines nothing that has no text.
        let text = if label.text.is_empty() {
            "here"
        } else {
            &label.text
        };
        drawn = drawn.with_message(SafeText::line(text));
        report = report.with_label(drawn);
    }
    let mut drawing = Vec::new();
    // Writing to memory does not fail.
    let _ = report.finish().write(&mut *cache, &mut drawing);
    let drawing = String::from_utf8_lossy(&drawing);
    let drawing = drawing
        .split_once('\n')
        .map_or("", |(_heading, drawing)| drawing);
    let mut located = String::with_capacity(drawing.len());
    put_locations(drawing, &locations, &mut located);
    for line in located.lines() {
        text.push_str(merge_colors(line.trim_end()).trim_end());
        text.push('\n');
    }
}

fn write_heading(found: &Diagnostic, style: Style, text: &mut String) {
    let start = match found.severity {
        _ if !style.color => "",
        Severity::Error => "\u{1b}[1;31m",
        Severity::Warning => "\u{1b}[1;33m",
        Severity::Note => "\u{1b}[1;36m",
    };
    let end = if style.color { "\u{1b}[0m" } else { "" };
    let heading = SafeText::line(&heading(found));
    let message = SafeText::line(&found.message);
    let used = heading.as_str().chars().count() + 2;
    let message = wrapped(message.as_str(), used, HANG, style.width);
    let gap = if message.starts_with('\n') { "" } else { " " };
    let _ = writeln!(text, "{start}{heading}{end}:{gap}{message}");
}

/// Ariadne colours every character on its own: joins neighbours of one colour.
fn merge_colors(line: &str) -> String {
    const RESET: &str = "\u{1b}[0m";
    let mut merged = String::with_capacity(line.len());
    let mut current = "";
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, sequence) = rest.split_at(at);
        merged.push_str(before);
        let end = sequence.find('m').map_or(sequence.len(), |end| end + 1);
        let (code, tail) = sequence.split_at(end);
        if code == RESET && !current.is_empty() && tail.starts_with(current) {
            rest = &tail[current.len()..];
            continue;
        }
        merged.push_str(code);
        current = if code == RESET { "" } else { code };
        rest = tail;
    }
    merged.push_str(rest);
    merged
}

fn color(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Note => Color::Cyan,
    }
}

/// The labels in the order in which they are drawn: the file of the primary label first, in every
/// file by position, so that each file is one block.
fn labels<'d>(compilation: &Compilation, found: &'d Diagnostic) -> Vec<(&'d Label, bool)> {
    let mut chain = 0;
    let secondary = found.secondary.iter().filter(|label| {
        chain += usize::from(label.text == IMPORTED_HERE);
        label.text != IMPORTED_HERE || chain <= MAX_CHAIN_LABELS
    });
    let mut labels: Vec<_> = std::iter::once((&found.primary, true))
        .chain(secondary.map(|label| (label, false)))
        .filter(|(label, _)| compilation.locate(label.place).is_some())
        .collect();
    let primary_file = found.primary.place.file;
    let mut files: Vec<FileIndex> = Vec::new();
    for (label, _) in &labels {
        if !files.contains(&label.place.file) {
            files.push(label.place.file);
        }
    }
    labels.sort_by_key(|(label, _)| {
        let file = label.place.file;
        let rank = files.iter().position(|known| *known == file);
        let at = compilation
            .locate(label.place)
            .map(|at| (at.end.line, at.span.start));
        (file != primary_file, rank, at)
    });
    labels
}

fn location(compilation: &Compilation, label: &Label) -> String {
    match compilation.locate(label.place) {
        Some(at) => {
            let name = SafeText::line(&at.file.display);
            format!("{name}:{}:{}", at.start.line, at.start.column)
        }
        None => String::new(),
    }
}

/// Replaces `MARK:LINE:COL`, with columns of the escaped text, by the real locations.
fn put_locations(drawing: &str, locations: &HashMap<FileIndex, String>, text: &mut String) {
    let mut rest = drawing;
    while let Some((before, after)) = rest.split_once('\u{1}') {
        text.push_str(before);
        let Some((index, tail)) = after.split_once('\u{2}') else {
            break;
        };
        let file = FileIndex(index.parse().unwrap_or(u32::MAX));
        text.push_str(locations.get(&file).map_or("", String::as_str));
        rest = tail.trim_start_matches(|c: char| c == ':' || c == '?' || c.is_ascii_digit());
    }
    text.push_str(rest);
}

/// `note:` and `help:` lines, with the repaired source where there is a fix.
fn advice(compilation: &Compilation, found: &Diagnostic, style: Style, text: &mut String) {
    let (bold, green, reset) = if style.color {
        ("\u{1b}[1m", "\u{1b}[32m", "\u{1b}[0m")
    } else {
        ("", "", "")
    };
    let chain = found
        .secondary
        .iter()
        .filter(|label| label.text == IMPORTED_HERE)
        .count();
    if chain > MAX_CHAIN_LABELS {
        let more = chain - MAX_CHAIN_LABELS;
        let _ = writeln!(text, "   {bold}note:{reset} through {more} more imports");
    }
    // A fix says the same with the repaired line, a label at the place itself.
    let said = |hint: &str| {
        hint == found.primary.text || hint.starts_with("did you mean") && !found.fixes.is_empty()
    };
    for hint in found.hints.iter().filter(|hint| !said(hint)) {
        let hint = SafeText::line(hint);
        let hint = wrapped(hint.as_str(), HELP, HELP, style.width);
        let _ = writeln!(text, "   {bold}help:{reset} {hint}");
    }
    for note in &found.notes {
        let _ = writeln!(text, "   {bold}note:{reset}");
        for line in note.lines() {
            let _ = writeln!(text, "      {}", SafeText::line(line));
        }
    }
    for fix in &found.fixes {
        let title = SafeText::line(&fix.title);
        let lines = repair::lines(compilation, fix);
        let colon = if lines.is_empty() { "" } else { ":" };
        let title = wrapped(&format!("{title}{colon}"), HELP, HELP, style.width);
        let _ = writeln!(text, "   {bold}help:{reset} {title}");
        let width = lines
            .iter()
            .map(|(number, _)| number.to_string().len())
            .max()
            .unwrap_or(0);
        for (number, line) in lines {
            let line = SafeText::lines(&line);
            let _ = writeln!(text, "      {number:>width$} {green}+ {line}{reset}");
        }
    }
}
