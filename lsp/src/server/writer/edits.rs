//! Documents that are opened, edited, saved and closed, and files that change below them.

use camino::Utf8Path;
use chatmd_compiler::db::Database;
use tower_lsp::ls_types::Uri;

use super::Writer;
use crate::ide::recognise::{Class, classify};
use crate::server::documents::{Document, path_of};
use crate::server::publish::Publication;
use crate::server::text::{self, Change};

impl Writer {
    pub(super) fn open(&mut self, uri: Uri, language: String, version: i32, mut text: String) {
        if self.documents.contains_key(&uri) {
            self.log.warn("a document was opened that is open already");
            self.leave(&uri);
        }
        text::strip_bom(&mut text);
        let path = path_of(&uri);
        self.serial += 1;
        let mut document = Document {
            class: Class::Other,
            key: path.clone(),
            file: None,
            root: None,
            dirty: false,
            skip: false,
            bom: self.disk_has_bom(&path),
            serial: self.serial,
            uri: uri.clone(),
            version,
            language,
            text,
            path,
        };
        document.class = classify(&document.language, document.file_name(), &document.text);
        document.key = self.overlay.set(&document.path, document.bytes());
        let path = document.path.clone();
        self.write(|db| {
            db.refresh(&path);
            document.enter(db);
        });
        self.sent.remove(&uri);
        self.documents.insert(uri, document);
    }

    /// The digest of an unchanged document is that of its file, mark included.
    fn disk_has_bom(&self, path: &Utf8Path) -> bool {
        use chatmd_compiler::db::FileSystem as _;
        use std::io::Read as _;
        let Ok(located) = self.confined.locate(path) else {
            return false;
        };
        let mut start = [0; 3];
        std::fs::File::open(&located.canonical)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
            && start == *b"\xef\xbb\xbf"
    }

    pub(super) fn edit(&mut self, uri: &Uri, version: i32, changes: Vec<Change>) {
        let encoding = self.configuration.encoding;
        let Some(document) = self.documents.get_mut(uri) else {
            self.log.warn("a document was edited that is not open");
            return;
        };
        if version <= document.version {
            self.log.warn("a document version did not grow");
        }
        let was_empty = document.text.is_empty();
        text::apply(&mut document.text, changes, encoding);
        self.serial += 1;
        document.serial = self.serial;
        document.version = version;
        document.dirty = true;
        if self.outbox.discard(uri)
            && let Some(sent) = self.sent.get_mut(uri)
        {
            sent.set = None;
        }
        #[allow(clippy::panic)]
        if std::mem::take(&mut self.panic_at_next_edit) {
            panic!("a test asked for this panic");
        }
        if was_empty && document.class == Class::Other {
            self.classify_again(uri);
        }
        for document in self.documents.values_mut() {
            document.skip = false;
        }
    }

    /// Looks again at what a document is; its root comes and goes with that.
    fn classify_again(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else {
            return;
        };
        let class = classify(&document.language, document.file_name(), &document.text);
        if class == document.class {
            return;
        }
        document.class = class;
        document.find_root(&mut self.db);
        if class == Class::Other {
            self.clear(uri.clone());
        }
        self.generation += 1;
        self.check_due = true;
    }

    pub(super) fn saved(&mut self, uri: &Uri) {
        self.flush();
        self.classify_again(uri);
        if !self.configuration.watches_files {
            self.write(Database::reload);
        }
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        if self.documents.contains_key(uri) {
            self.leave(uri);
            self.clear(uri.clone());
        } else {
            self.log.warn("a document was closed that is not open");
        }
    }

    /// Back to the content on disk.
    fn leave(&mut self, uri: &Uri) {
        let Some(document) = self.documents.remove(uri) else {
            return;
        };
        self.outbox.discard(uri);
        // A second URI of the same file keeps the buffer that was set last.
        let shared = self
            .documents
            .values()
            .find(|other| other.key == document.key);
        match &shared {
            Some(other) => {
                self.overlay.set(&other.path, other.bytes());
            }
            None => self.overlay.remove(&document.key),
        }
        let last = shared.is_none();
        self.write(|db| {
            if let (Some(file), true) = (document.file, last) {
                db.expect_edits(file, false);
            }
            db.refresh(&document.key);
            db.refresh(&document.path);
        });
    }

    /// Takes back what the client shows for a document.
    fn clear(&mut self, uri: Uri) {
        if self.sent.remove(&uri).is_some() {
            self.outbox.push(Publication {
                version: self.documents.get(&uri).map(|document| document.version),
                uri,
                diagnostics: Vec::new(),
            });
        }
    }

    pub(super) fn files_changed(&mut self, uris: &[Uri]) {
        let paths: Vec<_> = uris.iter().map(path_of).collect();
        self.write(|db| {
            for path in &paths {
                db.refresh(path);
            }
        });
    }
}
