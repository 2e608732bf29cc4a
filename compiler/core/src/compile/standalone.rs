//! Programs that stand in no document, for the commands of script authors (spec 10 section 2.12).

use std::sync::{Arc, OnceLock};

use camino::Utf8PathBuf;
use chatmd_syntax::Span;
use chatml::diagnostic::Diagnostic as Finding;
use chatml::eval::Fault;

use super::findings::{cap, ordered};
use super::{Compilation, CompiledFile, Tested, programs};
use crate::diagnostics::{Diagnostic, FileIndex, Label, Place};
use crate::resolve::Material;

/// One program, or several texts that are one program together.
#[derive(Debug)]
pub struct Standalone {
    files: Vec<CompiledFile>,
    /// Where each text begins in the program.
    starts: Vec<u32>,
}

impl Standalone {
    /// The texts with their names for people and their absolute paths, where they have one. In the
    /// program a line end stands behind each.
    pub fn new(texts: impl IntoIterator<Item = (String, Utf8PathBuf, Arc<str>)>) -> Self {
        let mut program = Self {
            files: Vec::new(),
            starts: Vec::new(),
        };
        let mut start = 0_usize;
        for (display, path, text) in texts {
            program
                .starts
                .push(u32::try_from(start).unwrap_or(u32::MAX));
            start += text.len() + 1;
            program.files.push(CompiledFile {
                manifest_path: display.clone(),
                path,
                display,
                text,
                item_starts: Arc::from([]),
                lines: OnceLock::new(),
                // Secrets are declared in documents alone.
                secrets: OnceLock::from(Vec::new()),
            });
        }
        program
    }

    fn place(&self, span: chatml::span::Span) -> Place {
        let file = self.starts.partition_point(|start| *start <= span.start);
        let file = file.saturating_sub(1);
        let start = self.starts.get(file).copied().unwrap_or(0);
        Place {
            file: FileIndex(u32::try_from(file).unwrap_or(u32::MAX)),
            item: None,
            span: Span::new(
                span.start.saturating_sub(start),
                span.end.max(span.start).saturating_sub(start),
            ),
        }
    }

    /// What the parser and the checker found, under their own codes and sorted by place, in a form
    /// that renderers take.
    pub fn report<'f>(self, found: impl IntoIterator<Item = &'f Finding>) -> Compilation {
        let found = found.into_iter();
        let found = found.map(|found| programs::translated(found, |span| self.place(span)));
        let mut found = ordered(found.collect(), &self.files);
        cap(&mut found);
        self.compilation(found)
    }

    /// An evaluation that failed at a place in the program, with the calls that led there.
    pub fn fault(self, fault: &Fault) -> Compilation {
        let mut found = Diagnostic::new(fault.code, self.place(fault.span), &*fault.message);
        found.secondary = fault
            .calls
            .iter()
            .map(|call| Label {
                place: self.place(*call),
                text: "called from here".to_owned(),
            })
            .collect();
        self.compilation(vec![found])
    }

    /// One finding of that code at a place in the program.
    pub fn finding(
        self,
        code: &'static str,
        span: chatml::span::Span,
        message: &str,
    ) -> Compilation {
        let found = Diagnostic::new(code, self.place(span), message);
        self.compilation(vec![found])
    }

    fn compilation(self, diagnostics: Vec<Diagnostic>) -> Compilation {
        Compilation {
            manifest: None,
            requested_sha256: None,
            material: Arc::new(Material::default()),
            places: Arc::default(),
            tested: Tested::default(),
            diagnostics,
            files: self.files,
            directory: Utf8PathBuf::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatml::diagnostic::Code;

    fn places(compilation: &Compilation) -> Vec<String> {
        let found = compilation.diagnostics.iter().map(|found| {
            let at = compilation.locate(found.primary.place);
            at.map_or_else(String::new, |at| {
                let (start, end) = (at.start, at.end);
                let name = &at.file.display;
                let (line, column) = (start.line, start.column);
                format!("{name}:{line}:{column}-{}:{}", end.line, end.column)
            })
        });
        found.collect()
    }

    #[test]
    fn spans_of_a_program_become_places_of_its_texts() {
        let texts = || {
            let texts = [("one", "é\nab"), ("two", "c"), ("three", "de")];
            Standalone::new(
                texts.map(|(name, text)| (name.to_owned(), Utf8PathBuf::new(), Arc::from(text))),
            )
        };
        // The texts take 5, 1 and 2 bytes, and one more each.
        let found: Vec<Finding> = [(8, 10), (3, 5), (6, 7), (0, 2), (7, 7)]
            .map(|(start, end)| {
                Finding::new(Code::Mismatch, chatml::span::Span::new(start, end), "m")
            })
            .into();
        let compilation = texts().report(&found);
        assert_eq!(
            places(&compilation),
            [
                "one:1:1-1:2",
                "one:2:1-2:3",
                "two:1:1-1:2",
                "two:1:2-1:2",
                "three:1:1-1:3"
            ]
        );
        assert!(
            compilation
                .diagnostics
                .iter()
                .all(|found| found.code == "chatml.type.mismatch"
                    && found.detail.is_none()
                    && found.path.is_empty())
        );
        let compilation = texts().fault(&Fault {
            code: "chatml.run.fail",
            message: "m".to_owned(),
            span: chatml::span::Span::new(9, 10),
            calls: vec![chatml::span::Span::new(6, 7)],
        });
        assert_eq!(places(&compilation), ["three:1:2-1:3"]);
        let call = &compilation.diagnostics[0].secondary[0];
        assert_eq!(call.place.file, FileIndex(1));
    }
}
