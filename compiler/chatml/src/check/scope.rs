//! Names in scope (spec 05 section 4).

use std::cell::RefCell;
use std::rc::Rc;

use std::collections::HashMap;

use super::graph::Ty;
use crate::ast::Name;
use crate::span::Span;
use crate::surface::{self, Builtin, Kind};

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Meaning {
    /// A value of this type; quantified variables are instantiated at each use.
    Value(Ty),
    /// A function of the library.
    Builtin(&'static Builtin),
    /// A module of the script.
    Module(Exports),
    /// A module of the library.
    BuiltinModule(&'static surface::Module),
    /// Something with an error of its own: whatever is done with it is not reported again.
    Failed,
}

/// What a module exports. While the module is being checked, what it has exported so far.
pub(super) type Exports = Rc<RefCell<HashMap<Name, Definition>>>;

/// A name's meaning and where it comes from.
#[derive(Clone)]
pub(super) struct Definition {
    pub(super) meaning: Meaning,
    /// Nothing for names of the library.
    pub(super) span: Option<Span>,
    /// Number of the local binding, for the lint of unused ones.
    pub(super) local: Option<usize>,
}

/// A local binding that should be used.
pub(super) struct Local {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) used: bool,
}

pub(super) struct Scope {
    kind: Kind,
    names: HashMap<Name, Vec<Definition>>,
    /// Names in the order they were defined.
    order: Vec<Name>,
    pub(super) locals: Vec<Local>,
    /// Set once an `open` failed: any unknown name may be one it would have brought.
    pub(super) open_failed: bool,
}

impl Scope {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            names: HashMap::default(),
            order: Vec::new(),
            locals: Vec::new(),
            open_failed: false,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn define(&mut self, name: Name, definition: Definition) {
        self.names.entry(name.clone()).or_default().push(definition);
        self.order.push(name);
    }

    /// Where the scope stands now, for [`Scope::leave`].
    pub(super) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets everything defined since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        while self.order.len() > mark {
            if let Some(name) = self.order.pop()
                && let Some(definitions) = self.names.get_mut(&name)
            {
                definitions.pop();
            }
        }
    }

    /// The meaning of a name, without counting as a use.
    pub(super) fn peek(&self, name: &str) -> Option<Definition> {
        if let Some(definition) = self
            .names
            .get(name)
            .and_then(|definitions| definitions.last())
        {
            return Some(definition.clone());
        }
        let library = |meaning| Definition {
            meaning,
            span: None,
            local: None,
        };
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let module = surface::module(name).filter(|module| module.kinds.contains(self.kind))?;
            return Some(library(Meaning::BuiltinModule(module)));
        }
        let builtin = surface::global(name).filter(|builtin| builtin.kinds.contains(self.kind))?;
        Some(library(Meaning::Builtin(builtin)))
    }

    /// The meaning of a name at a use of it.
    pub(super) fn look_up(&mut self, name: &str) -> Option<Definition> {
        let found = self.peek(name)?;
        if let Some(local) = found.local.and_then(|local| self.locals.get_mut(local)) {
            local.used = true;
        }
        Some(found)
    }

    /// All names that can be reached without a module, for suggestions.
    pub(super) fn visible(&self) -> impl Iterator<Item = &str> {
        let own = self
            .names
            .iter()
            .filter(|(_, definitions)| !definitions.is_empty())
            .map(|(name, _)| &**name);
        let globals = surface::globals_of(self.kind).map(|builtin| builtin.name);
        let modules = surface::modules_of(self.kind).map(|module| module.name);
        own.chain(globals).chain(modules)
    }
}
