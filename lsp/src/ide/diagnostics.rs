//! The findings of a document and of the files it imports, as plain data (spec 11 section 3.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::compile::{CompiledFile, Span, syntax_only};
use chatmd_compiler::db::{self, Db, Root};
use chatmd_compiler::diagnostics::{Diagnostic, FileIndex, Fix, IMPORTED_HERE, Place, Severity};
use chatmd_compiler::expand::expand;
use chatmd_compiler::{Compilation, CompileOptions, SafeText, compile};

/// Most related places of one finding.
const MAX_RELATED: usize = 20;
/// Hints that are added to a message.
const MAX_HINTS: usize = 2;
/// Largest document of which more is looked at than its syntax, in bytes (spec 11 section 2.4).
const MAX_ANALYSED: u64 = 8 << 20;

/// A compiled document and which file each of its files is.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The compilation.
    pub compilation: Arc<Compilation>,
    /// Canonical path of each file of the compilation, root first.
    pub canonical: Arc<[Utf8PathBuf]>,
    /// The document is so large that only its syntax was looked at.
    pub reduced: bool,
}

/// Extra meaning of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It can be removed.
    Unnecessary,
    /// It works, and there is a better way.
    Deprecated,
}

/// A place with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The file.
    pub file: FileIndex,
    /// Bytes of its text.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub file: FileIndex,
    /// Replaced bytes.
    pub span: Span,
    /// New text, exact.
    pub text: String,
}

/// A mechanical repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Imperative.
    pub title: String,
    /// Edits that do not overlap.
    pub edits: Vec<Edit>,
}

/// A finding. All texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file it is about.
    pub file: FileIndex,
    /// Bytes of that file's text.
    pub span: Span,
    /// Stable code.
    pub code: &'static str,
    /// Inner code, for what the checker of programs finds.
    pub detail: Option<&'static str>,
    /// Error, warning or note.
    pub severity: Severity,
    /// Whether a script is to blame.
    pub in_script: bool,
    /// The message with its first hints, each on a line of its own.
    pub message: String,
    /// Extra meaning.
    pub tag: Option<Tag>,
    /// Other places, the import chain among them.
    pub related: Vec<Related>,
    /// Repairs, preferred one first.
    pub repairs: Vec<Repair>,
}

/// Compiles a document.
pub fn analyse(db: &dyn Db, root: Root, options: &CompileOptions) -> Analysis {
    if db::size(db, root.file(db)) > MAX_ANALYSED {
        return Analysis {
            compilation: syntax_only(db, root),
            canonical: Arc::from([root.file(db).path(db).clone()]),
            reduced: true,
        };
    }
    let compilation = compile(db, root, options);
    Analysis {
        compilation,
        canonical: canonical_paths(db, root),
        reduced: false,
    }
}

/// A query, so that a check of many documents copies no paths.
#[salsa::tracked(returns(clone))]
fn canonical_paths(db: &dyn Db, root: Root) -> Arc<[Utf8PathBuf]> {
    let expansion = expand(db, root);
    let files = expansion.files.iter();
    files.map(|file| file.input.path(db).clone()).collect()
}

impl Analysis {
    /// A file of the compilation.
    pub fn file(&self, index: FileIndex) -> Option<&CompiledFile> {
        self.compilation.file(index)
    }

    /// Every finding in the compiler's order.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let all = self.compilation.diagnostics.iter();
        let note = self.reduced.then(|| self.reduced_note());
        note.into_iter()
            .chain(all.filter_map(|found| self.finding(found)))
    }

    /// On the first line, what is missing.
    fn reduced_note(&self) -> Finding {
        let first = self.file(FileIndex(0)).map(|file| file.lines().line(0));
        Finding {
            file: FileIndex(0),
            span: first.unwrap_or_default(),
            code: "chatmd.lsp.analysis_reduced",
            detail: None,
            severity: Severity::Note,
            in_script: false,
            message: "the document is larger than 8 MiB, so only its syntax is checked here; \
                      `chatmdc check` checks everything"
                .to_owned(),
            tag: None,
            related: Vec::new(),
            repairs: Vec::new(),
        }
    }

    /// Notes on the imports that lead to files with errors, for files that `shown` does not hold:
    /// their own findings are not to be seen anywhere.
    pub fn hidden_errors(&self, shown: &dyn Fn(&Utf8Path) -> bool) -> Vec<Finding> {
        let mut by_import: BTreeMap<(Span, FileIndex), Vec<&Diagnostic>> = BTreeMap::new();
        for found in &self.compilation.diagnostics {
            let file = found.primary.place.file;
            let path = self.canonical.get(file.0 as usize);
            if found.severity != Severity::Error || path.is_none_or(|path| shown(path)) {
                continue;
            }
            let in_root = found
                .secondary
                .iter()
                .find(|label| label.place.file == FileIndex(0) && label.text == IMPORTED_HERE);
            let import = in_root.and_then(|label| self.compilation.locate(label.place));
            if let Some(import) = import {
                by_import
                    .entry((import.span, file))
                    .or_default()
                    .push(found);
            }
        }
        let notes = by_import.into_iter();
        notes
            .filter_map(|((span, file), errors)| self.hidden(span, file, &errors))
            .collect()
    }

    fn hidden(&self, span: Span, file: FileIndex, errors: &[&Diagnostic]) -> Option<Finding> {
        let name = SafeText::line(&self.file(file)?.display).into_string();
        let message = match errors.len() {
            1 => format!("the imported file `{name}` has an error"),
            count => format!("the imported file `{name}` has {count} errors"),
        };
        let related = errors.iter().take(MAX_RELATED);
        Some(Finding {
            file: FileIndex(0),
            span,
            code: "chatmd.lsp.import_has_errors",
            detail: None,
            severity: Severity::Note,
            in_script: false,
            message,
            tag: None,
            related: related
                .filter_map(|found| self.related(found.primary.place, &found.message))
                .collect(),
            repairs: Vec::new(),
        })
    }

    fn finding(&self, found: &Diagnostic) -> Option<Finding> {
        let at = self.compilation.locate(found.primary.place)?;
        let mut message = SafeText::line(&found.message).into_string();
        for hint in found.hints.iter().take(MAX_HINTS) {
            message.push_str("\nhint: ");
            message.push_str(SafeText::line(hint).as_str());
        }
        let secondary = found.secondary.iter().take(MAX_RELATED);
        Some(Finding {
            file: at.index,
            span: at.span,
            code: found.code,
            detail: found.detail,
            severity: match found.code {
                // No manifest is made without what was not read, but nobody did anything wrong.
                RESTRICTED => Severity::Note,
                _ => found.severity,
            },
            in_script: found.detail.is_some() || found.code.starts_with("chatml."),
            message,
            tag: tag(found.detail.unwrap_or(found.code)),
            related: secondary
                .filter_map(|label| self.related(label.place, &label.text))
                .collect(),
            repairs: found
                .fixes
                .iter()
                .filter_map(|fix| self.repair(fix))
                .collect(),
        })
    }

    fn related(&self, place: Place, text: &str) -> Option<Related> {
        let at = self.compilation.locate(place)?;
        Some(Related {
            file: at.index,
            span: at.span,
            text: SafeText::line(text).into_string(),
        })
    }

    /// The repair, unless it rewrites a literal secret: its text would show the secret.
    fn repair(&self, fix: &Fix) -> Option<Repair> {
        let mut edits = Vec::with_capacity(fix.edits.len());
        for edit in &fix.edits {
            let at = self.compilation.locate(edit.place)?;
            if at.file.holds_secret(at.span) {
                return None;
            }
            edits.push(Edit {
                file: at.index,
                span: at.span,
                text: edit.text.clone(),
            });
        }
        Some(Repair {
            title: SafeText::line(&fix.title).into_string(),
            edits,
        })
    }
}

/// The code for what a workspace that is not trusted may not read.
const RESTRICTED: &str = "chatmd.lsp.restricted";

fn tag(code: &str) -> Option<Tag> {
    match code {
        "shell.unused_runtime"
        | "chatmd.unused_script"
        | "chatmd.unused_moderator_runtime"
        | "chatmd.duplicate_config"
        | "chatml.lint.unused_binding"
        | "chatml.type.redundant_arm"
        | "chatmd.lint.rule_shadowed"
        | "chatmd.lint.rule_redundant"
        | "chatmd.lint.rule_duplicate"
        | "chatmd.lint.rule_never_matches"
        | "chatmd.lint.executable_unused"
        | "chatmd.lint.suppression_unused" => Some(Tag::Unnecessary),
        "shell.legacy_tool" | "chatmd.lint.legacy_import" | "chatmd.deprecated_attribute" => {
            Some(Tag::Deprecated)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use chatmd_compiler::db::{Database, MemoryFileSystem};

    use super::*;

    /// The tag belongs to the inner code: the outer one is that of every mistake in a program.
    #[test]
    fn programs_are_tagged_by_their_inner_codes() {
        let text = "<script id=\"s\" language=\"chatml\" kind=\"moderator\">\n\
                    let initial_state = ()\n\
                    let on_event c s e = Task.pure(s)\n\
                    let f x = match x with | _ -> 1 | y -> 2\n\
                    let a = let b = 1 in 2\n</script>\n";
        let system: MemoryFileSystem = [("/w/a.chatmd", text.as_bytes())].into_iter().collect();
        let mut db = Database::new(system);
        let root = db.root_from_path("a.chatmd".into(), "/w".into()).unwrap();
        let analysis = analyse(&db, root, &CompileOptions::for_this_machine());
        let findings: Vec<_> = analysis
            .findings()
            .map(|found| (found.code, found.detail, found.tag, found.in_script))
            .collect();
        let unnecessary = Some(Tag::Unnecessary);
        assert_eq!(
            findings,
            [
                (
                    "shell.chatml_compile",
                    Some("chatml.type.redundant_arm"),
                    unnecessary,
                    true
                ),
                ("chatml.lint.unused_binding", None, unnecessary, true),
            ]
        );
    }
}
