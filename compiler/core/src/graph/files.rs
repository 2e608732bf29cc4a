//! Which file imports which, cycles included.

use std::collections::HashMap;

use super::NodeKind;
use super::collect::Facts;
use crate::db::{Db, FileInput, content_declarations, normalize};
use crate::decl::{Decl, ImportDecl, ScriptSourceDecl};
use crate::expand::{Expansion, Reading};

pub(super) fn collect(db: &dyn Db, expansion: &Expansion, facts: &mut Facts) {
    let mut walk = Walk {
        db,
        expansion,
        by_input: HashMap::new(),
        facts,
    };
    for (index, file) in expansion.files.iter().enumerate() {
        walk.by_input.entry(file.input).or_insert(index);
        walk.facts.node(NodeKind::File, &file.display);
    }
    for item in &expansion.document.items {
        let from = item.file.0 as usize;
        match &item.decl.decl {
            Some(Decl::Import(import)) => walk.import(from, import),
            Some(Decl::Message(message)) => {
                for import in &message.content_imports {
                    walk.import(from, import);
                }
            }
            Some(Decl::Script(script)) => {
                if let Some(ScriptSourceDecl::File(src)) = &script.source {
                    walk.edge(from, &src.value, "script");
                }
            }
            _ => {}
        }
    }
    for (from, file) in expansion.files.iter().enumerate() {
        if file.readings.contains(&Reading::Content) {
            for import in &content_declarations(db, file.input).imports {
                walk.import(from, import);
            }
        }
    }
    facts.finish();
}

struct Walk<'a> {
    db: &'a dyn Db,
    expansion: &'a Expansion,
    by_input: HashMap<FileInput, usize>,
    facts: &'a mut Facts,
}

impl Walk<'_> {
    fn import(&mut self, from: usize, import: &ImportDecl) {
        if let Some(src) = import.src.value() {
            self.edge(from, &src.value, "imports");
        }
    }

    /// An edge to the file behind `src`, if expansion got to know it.
    fn edge(&mut self, from: usize, src: &str, word: &str) {
        let Some(file) = self.expansion.files.get(from) else {
            return;
        };
        let directory = file.path.parent().unwrap_or(&file.path);
        let path = normalize(&directory.join(src));
        let Ok(target) = self.db.path_input(&path).target(self.db) else {
            return;
        };
        let found = self.by_input.get(&target.file);
        if let Some(to) = found.and_then(|index| self.expansion.files.get(*index)) {
            let label = format!("{word} {}", to.display);
            self.facts.file(&file.display, &to.display, label);
        }
    }
}
