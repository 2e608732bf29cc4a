//! Which names can stand at a place of a session.

use std::sync::Arc;

use super::Session;
use crate::check::BindingKind;
use crate::lex::keywords;
use crate::surface;
use crate::types::print::print_node;
use crate::types::{NodeKind, TypeGraph};

impl Session {
    /// Names that can stand at the end of `text`, which is an input up to the place where somebody
    /// writes: the byte where the word begins, and the candidates in byte order.
    pub fn complete(&self, text: &str) -> (usize, Vec<Candidate>) {
        let word = text
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(0, |at| at + text.get(at..).map_or(1, first_length));
        let prefix = text.get(word..).unwrap_or("");
        let before = text.get(..word).unwrap_or("");
        let mut found = match before.strip_suffix('.') {
            Some(owner) => self.members(owner),
            None => self.visible(),
        };
        found.retain(|candidate| candidate.name.starts_with(prefix));
        found.sort_by(|a, b| a.name.cmp(&b.name));
        // The last definition of a name counts; sorting has kept their order.
        found.reverse();
        found.dedup_by(|a, b| a.name == b.name);
        found.reverse();
        (word, found)
    }

    /// What may follow `OWNER.`: members of a library module, or fields of a value.
    fn members(&self, owner: &str) -> Vec<Candidate> {
        let owner = owner
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .and_then(|at| owner.get(at + 1..))
            .unwrap_or(owner);
        let own = self.names.iter().rev().find(|known| &*known.name == owner);
        if let Some(ty) = own.and_then(|known| known.ty.as_ref()) {
            let Some(NodeKind::Record { fields, .. }) = ty.root().map(|node| &node.kind) else {
                return Vec::new();
            };
            let field = |(label, id): &(Arc<str>, _)| Candidate {
                name: label.to_string(),
                detail: print_node(ty, *id, &mut Default::default()),
            };
            return fields.iter().map(field).collect();
        }
        let module = surface::modules_of(self.kind).find(|module| module.name == owner);
        let functions = module.iter().flat_map(|module| &module.functions);
        functions
            .filter_map(|id| surface::builtin_at(*id))
            .map(|function| Candidate {
                name: function.name.to_owned(),
                detail: function.type_text.to_owned(),
            })
            .collect()
    }

    fn visible(&self) -> Vec<Candidate> {
        let candidate = |name: &str, detail: String| Candidate {
            name: name.to_owned(),
            detail,
        };
        let mut found: Vec<Candidate> = surface::globals_of(self.kind)
            .map(|global| candidate(global.name, global.type_text.to_owned()))
            .collect();
        found.extend(
            surface::modules_of(self.kind).map(|module| candidate(module.name, "module".into())),
        );
        found.extend(
            surface::aliases_of(self.kind).map(|alias| candidate(alias.name, "type".into())),
        );
        found.extend(keywords().map(|word| candidate(word, String::new())));
        found.extend(self.names.iter().map(|known| {
            let detail = match known.kind {
                BindingKind::Value => known.ty.as_ref().map(TypeGraph::to_string),
                BindingKind::Type => Some("type".to_owned()),
                BindingKind::Module => Some("module".to_owned()),
            };
            candidate(&known.name, detail.unwrap_or_default())
        }));
        found
    }
}

/// Bytes of the first character.
fn first_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// A name that can stand somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// Its type, or what it is; empty for keywords.
    pub detail: String,
}
