//! The walk over documents and their imports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_syntax::Span;

use super::budget::Budget;
use super::{
    ExpandedFile, Expansion, FileTable, MAX_IMPORT_DEPTH, MAX_IMPORTS, Reading, report, scripts,
};
use crate::db::{
    Db, FileIdentity, FileInput, LoadError, Root, Target, content_declarations, declarations,
    load_error, normalize, relative_to,
};
use crate::decl::{Decl, Field, FileDeclarations, ImportDecl, Item};
use crate::diagnostics::{FileIndex, Place};
use crate::manifest::SourceRole;
use crate::resolve::{ExpandedItem, SourceFile, SourceUse};

/// A file that is being expanded.
struct Frame {
    index: FileIndex,
    file: FileInput,
    identity: Option<FileIdentity>,
    namespace: Option<String>,
    /// The `import` that led here; the root has none.
    import: Option<Place>,
    work: Work,
}

/// What is left to do in a file.
enum Work {
    Document {
        declarations: Arc<FileDeclarations>,
        next: usize,
    },
    /// Content imports, last one first.
    Content { left: Vec<(Place, ImportDecl)> },
}

/// One step of the walk.
enum Step {
    Item(u32, Arc<Item>),
    Content(Place, ImportDecl),
    Done,
}

impl Frame {
    fn step(&mut self) -> Step {
        match &mut self.work {
            Work::Document { declarations, next } => match declarations.items.get(*next) {
                Some(item) => {
                    *next += 1;
                    Step::Item((*next - 1) as u32, Arc::clone(item))
                }
                None => Step::Done,
            },
            Work::Content { left } => match left.pop() {
                Some((place, import)) => Step::Content(place, import),
                None => Step::Done,
            },
        }
    }
}

/// State of one expansion.
pub(super) struct Walk<'db> {
    pub(super) db: &'db dyn Db,
    root_directory: Utf8PathBuf,
    pub(super) out: Expansion,
    table: FileTable,
    stack: Vec<Frame>,
    /// Effective namespace to the attribute that made it and the file behind that import.
    namespaces: BTreeMap<String, (Place, Option<FileInput>)>,
    /// Cycles that were reported, as their `import` elements.
    cycles: BTreeSet<Vec<Place>>,
    imports: usize,
    limit_reported: bool,
    budget: Budget,
}

pub(super) fn walk(db: &dyn Db, root: Root) -> Expansion {
    let mut walk = Walk {
        db,
        root_directory: root.directory(db).clone(),
        out: Expansion::default(),
        table: FileTable::new(),
        stack: Vec::new(),
        namespaces: BTreeMap::new(),
        cycles: BTreeSet::new(),
        imports: 0,
        limit_reported: false,
        budget: Budget::default(),
    };
    walk.start(root);
    while let Some(frame) = walk.stack.last_mut() {
        match frame.step() {
            Step::Item(index, item) => walk.item(index, &item),
            Step::Content(place, import) => walk.import(place, &import, Reading::Content),
            Step::Done => {
                walk.stack.pop();
            }
        }
    }
    walk.out
}

impl Walk<'_> {
    fn start(&mut self, root: Root) {
        let db = self.db;
        let file = root.file(db);
        let path = root.directory(db).join(root.manifest_name(db));
        self.out.files.push(ExpandedFile {
            input: file,
            path: path.clone(),
            display: root.name(db).clone(),
            absolute: false,
            readings: vec![Reading::Document],
            chain: Vec::new(),
        });
        self.out.document.files.push(SourceFile {
            path: root.manifest_name(db).clone(),
            sha256: String::new(),
            uses: vec![SourceUse {
                namespace: None,
                role: SourceRole::Root,
            }],
        });
        // An import that names the root is a cycle, so this entry serves scripts alone.
        self.table.insert(path, FileIndex(0));
        if let Some(error) = load_error(db, file) {
            self.out.diagnostics.push(report::root_unreadable(error));
        }
        self.budget.add(db, file);
        self.stack.push(Frame {
            index: FileIndex(0),
            file,
            identity: root.identity(db),
            namespace: None,
            import: None,
            work: Work::Document {
                declarations: declarations(db, file),
                next: 0,
            },
        });
    }

    fn item(&mut self, index: u32, item: &Arc<Item>) {
        let Some(frame) = self.stack.last() else {
            return;
        };
        let (file, namespace) = (frame.index, frame.namespace.clone());
        let place = |span: Span| Place {
            file,
            item: Some(index),
            span,
        };
        self.out.document.items.push(ExpandedItem {
            file,
            item: index,
            namespace: namespace.clone(),
            decl: Arc::clone(item),
        });
        match &item.decl {
            Some(Decl::Import(import)) => {
                self.import(place(import.start_tag), import, Reading::Document);
            }
            Some(Decl::Message(message)) if !message.content_imports.is_empty() => {
                let imports = message.content_imports.iter();
                let left = imports
                    .rev()
                    .map(|i| (place(i.start_tag), i.clone()))
                    .collect();
                // A second frame of the same file: the document goes on when it is done.
                let (input, identity) = (frame.file, frame.identity);
                self.stack.push(Frame {
                    index: file,
                    file: input,
                    identity,
                    namespace,
                    import: None,
                    work: Work::Content { left },
                });
            }
            Some(Decl::Script(script)) => {
                scripts::load(self, file, index, namespace.as_deref(), script);
            }
            _ => {}
        }
    }

    /// Expands one `import`; `at` is its start tag.
    fn import(&mut self, at: Place, import: &ImportDecl, reading: Reading) {
        let src = import.src.value();
        let found = src.map(|src| (src, self.target(at.file, &src.value)));
        let file = found
            .as_ref()
            .and_then(|(_, (_, found))| found.as_ref().ok())
            .map(|t| t.file);
        let namespace = match reading {
            Reading::Content => self.stack.last().map(|frame| frame.namespace.clone()),
            _ => self.claim_namespace(at, import, file),
        };
        let Some((src, (path, found))) = found else {
            self.unread(import, reading);
            return;
        };
        let target = match found {
            Ok(target) => target,
            Err(error) => {
                let place = Place {
                    span: src.span,
                    ..at
                };
                self.out
                    .diagnostics
                    .push(report::unavailable(place, &src.value, error));
                self.unread(import, reading);
                return;
            }
        };
        let Some(namespace) = namespace else {
            if matches!(import.namespace, Field::Poisoned { .. }) {
                // Its declarations stand under a name that nobody can tell.
                self.unread(import, reading);
            }
            return;
        };
        if self.closes_cycle(at, target.file, target.identity) {
            return;
        }
        if !self.within_limits(at, target.file) {
            self.unread(import, reading);
            return;
        }
        let index = self.add_file(at, path, target.file, &src.value, reading);
        self.add_use(index, namespace.clone(), SourceRole::Import);
        let work = self.work(index, target.file, reading);
        self.stack.push(Frame {
            index,
            file: target.file,
            identity: target.identity,
            namespace,
            import: Some(at),
            work,
        });
    }

    /// Notes that whatever a document import would have declared is not known.
    fn unread(&mut self, import: &ImportDecl, reading: Reading) {
        if reading == Reading::Content {
            return;
        }
        let outer = self.stack.last().and_then(|frame| frame.namespace.clone());
        let written = match &import.namespace {
            Field::Value(written) => Some(written.value.clone()),
            Field::Poisoned { raw, .. } => raw.clone(),
            Field::Absent => None,
        };
        let within = match (&outer, written) {
            (Some(outer), Some(written)) => Some(format!("{outer}:{written}")),
            (outer, written) => written.or_else(|| outer.clone()),
        };
        let unusable = matches!(import.namespace, Field::Poisoned { .. });
        let missing = &mut self.out.document.missing;
        for namespace in std::iter::once(within).chain(unusable.then_some(outer)) {
            if !missing.contains(&namespace) {
                missing.push(namespace);
            }
        }
    }

    fn work(&self, index: FileIndex, file: FileInput, reading: Reading) -> Work {
        if reading != Reading::Content {
            return Work::Document {
                declarations: declarations(self.db, file),
                next: 0,
            };
        }
        let content = content_declarations(self.db, file);
        let place = |span| Place {
            file: index,
            item: None,
            span,
        };
        let imports = content.imports.iter();
        Work::Content {
            left: imports
                .rev()
                .map(|i| (place(i.start_tag), i.clone()))
                .collect(),
        }
    }

    /// What a `src` written in a file leads to: the absolute path and the file behind it.
    pub(super) fn target(
        &self,
        from: FileIndex,
        src: &str,
    ) -> (Utf8PathBuf, Result<Target, LoadError>) {
        let directory = self.out.file(from).and_then(|file| file.path.parent());
        let path = normalize(&directory.unwrap_or(&self.root_directory).join(src));
        let target = *self.db.path_input(&path).target(self.db);
        let target = target.and_then(|target| match load_error(self.db, target.file) {
            None => Ok(target),
            Some(error) => Err(error),
        });
        (path, target)
    }

    /// The effective namespace of a document import, or `None` when it must not be expanded
    /// (spec 01 sections 8.3 and 8.4).
    fn claim_namespace(
        &mut self,
        at: Place,
        import: &ImportDecl,
        file: Option<FileInput>,
    ) -> Option<Option<String>> {
        let outer = self.stack.last().and_then(|frame| frame.namespace.clone());
        let written = match &import.namespace {
            Field::Absent => return Some(outer),
            Field::Poisoned { .. } => return None,
            Field::Value(written) => written,
        };
        let effective = match &outer {
            Some(outer) => format!("{outer}:{}", written.value),
            None => written.value.clone(),
        };
        let span = import.namespace_name.unwrap_or(written.span);
        let place = Place { span, ..at };
        match self.namespaces.get(&effective) {
            Some((first, first_file)) if *first != place => {
                self.out
                    .diagnostics
                    .push(report::namespace_collision(place, *first, &effective));
                // The same file once more would only repeat every declaration.
                if file.is_some() && file == *first_file {
                    return None;
                }
            }
            Some(_) => {}
            None => {
                self.namespaces.insert(effective.clone(), (place, file));
            }
        }
        Some(Some(effective))
    }

    fn closes_cycle(&mut self, at: Place, file: FileInput, identity: Option<FileIdentity>) -> bool {
        let same = |frame: &Frame| {
            frame.file == file
                || (identity.is_some() && frame.identity == identity)
                || frame.file.path(self.db) == file.path(self.db)
        };
        let Some(start) = self.stack.iter().position(same) else {
            return false;
        };
        let mut imports = Vec::new();
        let mut names = vec![self.display(self.stack[start].index)];
        for frame in &self.stack[start + 1..] {
            if let Some(import) = frame.import {
                imports.push(import);
                names.push(self.display(frame.index));
            }
        }
        names.push(names[0].clone());
        let mut key = imports.clone();
        key.push(at);
        key.sort_unstable();
        if self.cycles.insert(key) {
            self.out
                .diagnostics
                .push(report::cycle(at, &imports, &names));
        }
        true
    }

    fn display(&self, index: FileIndex) -> String {
        self.out
            .file(index)
            .map(|file| file.display.clone())
            .unwrap_or_default()
    }

    /// Counts one more import; reports and refuses when a limit is passed.
    fn within_limits(&mut self, at: Place, file: FileInput) -> bool {
        let depth = self
            .stack
            .iter()
            .filter(|frame| frame.import.is_some())
            .count();
        if depth >= MAX_IMPORT_DEPTH {
            self.out.diagnostics.push(report::too_deep(at));
            return false;
        }
        let problem = if self.imports >= MAX_IMPORTS {
            report::too_many_imports(at)
        } else if !self.budget.add(self.db, file) {
            report::too_many_bytes(at)
        } else {
            self.imports += 1;
            return true;
        };
        if !std::mem::replace(&mut self.limit_reported, true) {
            self.out.diagnostics.push(problem);
        }
        false
    }

    /// Counts the bytes of a script file; reports and refuses when the total limit is passed.
    pub(super) fn count_script(&mut self, at: Place, file: FileInput) -> bool {
        if self.budget.add(self.db, file) {
            return true;
        }
        if !std::mem::replace(&mut self.limit_reported, true) {
            self.out.diagnostics.push(report::too_many_bytes(at));
        }
        false
    }

    /// The index of a file that `at` names by `src`, listed now if it is new.
    pub(super) fn add_file(
        &mut self,
        at: Place,
        path: Utf8PathBuf,
        input: FileInput,
        src: &str,
        reading: Reading,
    ) -> FileIndex {
        if let Some(index) = self.table.get(&path) {
            if let Some(file) = self.out.files.get_mut(index.0 as usize)
                && !file.readings.contains(&reading)
            {
                file.readings.push(reading);
            }
            return *index;
        }
        let index = FileIndex(self.out.files.len() as u32);
        let from_absolute = self.out.file(at.file).is_some_and(|file| file.absolute);
        let absolute = from_absolute || Utf8Path::new(src).is_absolute();
        let display = if absolute {
            path.as_str().to_owned()
        } else {
            relative_to(&path, &self.root_directory)
        };
        let mut chain: Vec<Place> = self.stack.iter().filter_map(|frame| frame.import).collect();
        if reading != Reading::Script {
            chain.push(at);
        }
        self.out.files.push(ExpandedFile {
            input,
            path: path.clone(),
            display: display.clone(),
            absolute,
            readings: vec![reading],
            chain,
        });
        self.out.document.files.push(SourceFile {
            path: display,
            sha256: String::new(),
            uses: Vec::new(),
        });
        self.table.insert(path, index);
        index
    }

    pub(super) fn add_use(
        &mut self,
        index: FileIndex,
        namespace: Option<String>,
        role: SourceRole,
    ) {
        let wanted = SourceUse { namespace, role };
        if let Some(file) = self.out.document.files.get_mut(index.0 as usize)
            && !file.uses.contains(&wanted)
        {
            file.uses.push(wanted);
        }
    }
}
