//! Programs of `<script src=…>` (spec 01 section 10.3).

use std::sync::Arc;

use super::walk::Walk;
use super::{Reading, report};
use crate::db::{LoadError, digest};
use crate::decl::{ScriptDecl, ScriptSourceDecl};
use crate::diagnostics::{FileIndex, Place};
use crate::manifest::SourceRole;
use crate::resolve::LoadedScript;

/// Largest program, in bytes (spec 01 section 20).
const MAX_SCRIPT_BYTES: usize = 1 << 20;

/// Reads the program of a script declared in a file, once for each declaration.
pub(super) fn load(
    walk: &mut Walk<'_>,
    file: FileIndex,
    item: u32,
    namespace: Option<&str>,
    script: &ScriptDecl,
) {
    let Some(ScriptSourceDecl::File(src)) = &script.source else {
        return;
    };
    let id = script.id.value().map(|id| id.value.as_str());
    let at = Place {
        file,
        item: Some(item),
        span: src.span,
    };
    let key = (file, item);
    if let Some(loaded) = walk.out.document.scripts.get(&key) {
        let index = loaded.file;
        walk.add_use(index, namespace.map(str::to_owned), SourceRole::Script);
        return;
    }
    if let Some(why) = unusable(&src.value) {
        walk.out
            .diagnostics
            .push(report::script_path_unusable(at, id, &src.value, why));
        return;
    }
    let (path, target) = walk.target(file, &src.value);
    let db = walk.db;
    let content = target.and_then(|t| t.file.content(db).clone().map(|bytes| (t.file, bytes)));
    let (input, bytes) = match content {
        Ok(found) => found,
        Err(LoadError::TooLarge { .. }) => {
            walk.out.diagnostics.push(report::script_too_large(
                at,
                id,
                &src.value,
                MAX_SCRIPT_BYTES,
            ));
            return;
        }
        Err(why) => {
            walk.out
                .diagnostics
                .push(report::script_unavailable(at, id, &src.value, why));
            return;
        }
    };
    if bytes.len() > MAX_SCRIPT_BYTES {
        walk.out.diagnostics.push(report::script_too_large(
            at,
            id,
            &src.value,
            MAX_SCRIPT_BYTES,
        ));
        return;
    }
    if !walk.count_script(at, input) {
        return;
    }
    let index = walk.add_file(at, path, input, &src.value, Reading::Script);
    walk.add_use(index, namespace.map(str::to_owned), SourceRole::Script);
    if let Some(entry) = walk.out.document.files.get_mut(index.0 as usize) {
        entry.sha256 = digest(db, input).to_string();
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') => {
            let text: Arc<str> = text.into();
            walk.out
                .document
                .scripts
                .insert(key, LoadedScript { file: index, text });
        }
        Ok(_) => walk
            .out
            .diagnostics
            .push(report::script_encoding(at, id, &src.value, true)),
        Err(_) => walk
            .out
            .diagnostics
            .push(report::script_encoding(at, id, &src.value, false)),
    }
}

/// Why a `src` can not name a file, whatever exists.
fn unusable(src: &str) -> Option<&'static str> {
    let scheme = src.split_once("://").is_some_and(|(scheme, _)| {
        let mut chars = scheme.chars();
        chars
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
    });
    if src.contains('\0') {
        Some("the path contains NUL")
    } else if scheme {
        Some("it is a URL")
    } else if src.starts_with("${") {
        Some("it starts with a variable")
    } else {
        None
    }
}
