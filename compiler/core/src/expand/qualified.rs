//! Ids with `:` (spec 01 section 9.1): accepted in the root, so that a flattened document compiles
//! again; refused in an imported file, where they would escape its namespace.

use super::{Expansion, report};
use crate::decl::{Decl, Field, Sp};
use crate::diagnostics::{FileIndex, Place};

pub(super) fn check(expansion: &mut Expansion) {
    let mut found = Vec::new();
    for item in &expansion.document.items {
        let (element, code, id) = match &item.decl.decl {
            Some(Decl::Runtime(runtime)) => {
                ("shell_access", "shell.invalid_runtime_id", &runtime.id)
            }
            Some(Decl::Script(script)) => ("script", "chatmd.script_invalid_id", &script.id),
            _ => continue,
        };
        let Field::Value(Sp { value, span }) = id else {
            continue;
        };
        if !value.contains(':') {
            continue;
        }
        let at = Place {
            file: item.file,
            item: Some(item.item),
            span: *span,
        };
        found.push(if item.file == FileIndex(0) {
            report::qualified_declaration(at, element, value)
        } else {
            report::qualified_in_import(at, element, code, value)
        });
    }
    expansion.diagnostics.extend(found);
}
