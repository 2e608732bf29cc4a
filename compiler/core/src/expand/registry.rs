//! Checks that need the whole expanded document but no resolution.

use std::collections::HashMap;

use super::{Expansion, report};
use crate::decl::Decl;
use crate::diagnostics::Place;

/// Repeated history ids (spec 01 section 6.3) and `config` elements (section 7).
pub(super) fn check(expansion: &mut Expansion) {
    let mut history: HashMap<&str, Place> = HashMap::new();
    let mut config: Option<Place> = None;
    let mut found = Vec::new();
    for item in &expansion.document.items {
        let place = |span| Place {
            file: item.file,
            item: Some(item.item),
            span,
        };
        match &item.decl.decl {
            Some(Decl::Message(message)) => {
                let Some(id) = &message.history_id else {
                    continue;
                };
                let at = place(id.span);
                match history.get(id.value.as_str()) {
                    Some(first) => {
                        found.push(report::duplicate_history_id(at, *first, &id.value));
                    }
                    None => {
                        history.insert(&id.value, at);
                    }
                }
            }
            Some(Decl::Config) => {
                let at = place(item.decl.start_tag);
                match config {
                    Some(first) => found.push(report::duplicate_config(at, first)),
                    None => config = Some(at),
                }
            }
            _ => {}
        }
    }
    expansion.diagnostics.extend(found);
}
