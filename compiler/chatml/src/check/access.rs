//! Names, modules, records and their fields.

use super::conflict::{Reason, listed};
use super::graph::{Fields, Graph, Shape, Slot, Ty};
use super::scope::{Exports, Meaning};
use super::{Check, Checker, annotation, fail, suggest};
use crate::ast::{Expr, Field, Ident, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;
use crate::surface;

/// What a module path leads to.
enum Target {
    Own(Exports),
    Library(&'static surface::Module),
    Failed,
}

impl Checker {
    pub(super) fn variable(&mut self, name: &Name, span: Span) -> Check<Ty> {
        match self.scope.look_up(name) {
            Some(found) => Ok(self.meaning_type(&found.meaning)),
            None if self.scope.open_failed => Ok(self.fresh()),
            None => fail(self.unknown_name(name, span)),
        }
    }

    fn meaning_type(&mut self, meaning: &Meaning) -> Ty {
        let scheme = match meaning {
            Meaning::Value(ty) => *ty,
            Meaning::Builtin(builtin) => self.builtin_scheme(builtin),
            // Values have lowercase names, so a module is no meaning of one.
            Meaning::Module(_) | Meaning::BuiltinModule(_) | Meaning::Failed => {
                return self.fresh();
            }
        };
        let level = self.level;
        self.graph.instantiate(scheme, level)
    }

    pub(super) fn unknown_name(&self, name: &str, span: Span) -> Diagnostic {
        let is_module = name.starts_with(|c: char| c.is_ascii_uppercase());
        let what = if is_module { "module" } else { "value" };
        let found = Diagnostic::new(
            Code::UnknownVariable,
            span,
            format!("there is no {what} `{name}` here"),
        );
        if let Some(note) = suggest::elsewhere(name, self.scope.kind()) {
            return found.note(note);
        }
        if name == "not" {
            return found.help("there is no `not`: write `e == false`");
        }
        let same_case = self.scope.visible().filter(|candidate| {
            candidate.starts_with(|c: char| c.is_ascii_uppercase()) == is_module
        });
        match suggest::nearest(name, same_case) {
            Some(near) => {
                let near = near.to_owned();
                found.help(format!("did you mean `{near}`?")).fix(
                    format!("Replace by `{near}`"),
                    span,
                    near,
                )
            }
            None => found,
        }
    }

    /// `M` where a value is expected.
    pub(super) fn module_as_value(&mut self, path: &[Ident], span: Span) -> Diagnostic {
        if let Err(unknown) = self.target(path) {
            return *unknown;
        }
        let name = path
            .iter()
            .map(|ident| &*ident.name)
            .collect::<Vec<_>>()
            .join(".");
        Diagnostic::new(
            Code::ModuleValue,
            span,
            format!("the module `{name}` is no value"),
        )
        .help(format!(
            "use one of its members, as in `{name}.x`; `record_keys({name})` lists them"
        ))
    }

    /// Whether a path leads to a module.
    pub(super) fn check_module(&mut self, path: &[Ident]) -> Check<()> {
        self.target(path).map(|_| ())
    }

    fn target(&mut self, path: &[Ident]) -> Check<Target> {
        let Some((first, inner)) = path.split_first() else {
            return Ok(Target::Failed);
        };
        let mut target = match self.scope.look_up(&first.name).map(|found| found.meaning) {
            Some(Meaning::Module(exports)) => Target::Own(exports),
            Some(Meaning::BuiltinModule(module)) => Target::Library(module),
            Some(_) => Target::Failed,
            None if self.scope.open_failed => Target::Failed,
            None => return fail(self.unknown_name(&first.name, first.span)),
        };
        let mut module = first;
        for ident in inner {
            target = match target {
                Target::Failed => return Ok(Target::Failed),
                Target::Library(library) => {
                    return fail(unknown_member(module, ident, &library_names(library)));
                }
                Target::Own(exports) => {
                    let found = exports
                        .borrow()
                        .get(&ident.name)
                        .map(|found| found.meaning.clone());
                    match found {
                        Some(Meaning::Module(inner)) => Target::Own(inner),
                        Some(_) => Target::Failed,
                        None => return fail(unknown_member(module, ident, &own_names(&exports))),
                    }
                }
            };
            module = ident;
        }
        Ok(target)
    }

    /// `M.x`
    pub(super) fn member(&mut self, path: &[Ident], name: &Ident) -> Check<Ty> {
        let target = self.target(path)?;
        let module = path.last().unwrap_or(name);
        let meaning = match target {
            Target::Failed => return Ok(self.fresh()),
            Target::Library(library) => match library.function(&name.name) {
                Some(builtin) => Meaning::Builtin(builtin),
                None => return fail(unknown_member(module, name, &library_names(library))),
            },
            Target::Own(exports) => {
                let found = exports
                    .borrow()
                    .get(&name.name)
                    .map(|found| found.meaning.clone());
                match found {
                    Some(meaning) => meaning,
                    None => return fail(unknown_member(module, name, &own_names(&exports))),
                }
            }
        };
        Ok(self.meaning_type(&meaning))
    }

    /// Whether a name is the library function of that name, not one of the script.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        matches!(
            self.scope.peek(name).map(|found| found.meaning),
            Some(Meaning::Builtin(_))
        )
    }

    pub(super) fn record(&mut self, fields: &[Field]) -> Check<Ty> {
        annotation::unique(fields.iter().map(|field| &field.label), "label")?;
        let row = self.field_types(fields)?;
        Ok(self.graph.record(row, Graph::ROW_EMPTY))
    }

    fn field_types(&mut self, fields: &[Field]) -> Check<Fields> {
        let mut row: Fields = Vec::with_capacity(fields.len());
        for field in fields {
            let ty = self.infer(&field.value)?;
            let label = self.graph.label(&field.label.name);
            row.push((label, Slot::Types(Box::new([ty]))));
        }
        Ok(row)
    }

    /// `{ base with … }`
    pub(super) fn update(&mut self, base: &Expr, fields: &[Field], span: Span) -> Check<Ty> {
        let base_type = self.infer(base)?;
        annotation::unique(fields.iter().map(|field| &field.label), "label")?;
        let changed = self.field_types(fields)?;
        let row = match self.graph.shape(base_type) {
            Shape::Record(row) => *row,
            _ => {
                let row = self.fresh_row();
                let record = self.graph.record(Vec::new(), row);
                self.expect(base_type, record, span, Reason::Record)?;
                row
            }
        };
        // The new fields stand in front of the old row and hide its own of the same names.
        let (mut all, tail) = self.graph.collect_row(row);
        for (label, slot) in changed {
            match all.iter_mut().find(|(own, _)| *own == label) {
                Some(old) => old.1 = slot,
                None => all.push((label, slot)),
            }
        }
        Ok(self.graph.record(all, tail))
    }

    /// `base.label`
    pub(super) fn field(&mut self, base: Ty, label: &Ident, span: Span) -> Check<Ty> {
        let name = self.graph.label(&label.name);
        if let Some(ty) = self.known_field(base, name) {
            return Ok(ty);
        }
        let field = self.fresh();
        let tail = self.fresh_row();
        let expected = self
            .graph
            .record(vec![(name, Slot::Types(Box::new([field])))], tail);
        self.expect(base, expected, span, Reason::Record)?;
        Ok(field)
    }

    /// The type of a field the record is known to have: the common case, without new nodes.
    fn known_field(&self, record: Ty, label: super::graph::Label) -> Option<Ty> {
        let Shape::Record(row) = self.graph.shape(record) else {
            return None;
        };
        let mut at = self.graph.find(*row);
        while let Shape::Row(fields, tail) = &self.graph.node(at).shape {
            if let Ok(index) = fields.binary_search_by_key(&label, |(own, _)| *own) {
                return match fields.get(index) {
                    Some((_, Slot::Types(types))) => types.first().copied(),
                    _ => None,
                };
            }
            at = self.graph.find(*tail);
        }
        None
    }
}

fn unknown_member(module: &Ident, name: &Ident, members: &[String]) -> Diagnostic {
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let message = match members.is_empty() {
        true => format!(
            "the module `{}` has no `{}`: it is empty so far",
            module.name, name.name
        ),
        false => format!(
            "the module `{}` has no `{}`: it has {}",
            module.name,
            name.name,
            listed(&members, "")
        ),
    };
    let found = Diagnostic::new(Code::UnknownField, module.span.to(name.span), message);
    match suggest::nearest(&name.name, members.into_iter()) {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(
            format!("Replace by `{near}`"),
            name.span,
            near,
        ),
        None => found,
    }
}

fn own_names(exports: &Exports) -> Vec<String> {
    let mut names: Vec<String> = exports
        .borrow()
        .keys()
        .map(|name| name.to_string())
        .collect();
    names.sort_unstable();
    names
}

fn library_names(module: &'static surface::Module) -> Vec<String> {
    let functions = module
        .functions
        .iter()
        .filter_map(|id| surface::builtin_at(*id));
    functions.map(|builtin| builtin.name.to_owned()).collect()
}
