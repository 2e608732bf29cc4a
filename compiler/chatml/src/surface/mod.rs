//! The complete initial scope of each kind of script, as data (spec 05b).
//!
//! One table of names, types and documentation. The checker takes schemes from it, the evaluator
//! arities and names, the editor completion and hover, the reference its text.
//!
//! [`builtins`] numbers all functions; the number is stable within one build only.

mod aliases;
mod core_library;
mod kind;
mod moderator;
mod reference;
mod shell;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub use aliases::{Alias, alias, aliases};
pub use kind::{EntryContract, Kind, KindSet};
pub use reference::reference;

use crate::types::{NodeKind, TypeGraph, parse_type};

/// What calling a built-in function means for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: a computation.
    Pure,
    /// Builds a task that performs the operation of that name.
    Perform,
    /// Builds a task that starts an asynchronous operation; moderator only.
    Spawn,
}

/// One row of a module's table.
struct Function {
    name: &'static str,
    ty: &'static str,
    doc: &'static str,
    operation: Operation,
}

const fn pure(name: &'static str, ty: &'static str, doc: &'static str) -> Function {
    Function {
        name,
        ty,
        doc,
        operation: Operation::Pure,
    }
}

const fn perform(name: &'static str, ty: &'static str, doc: &'static str) -> Function {
    Function {
        name,
        ty,
        doc,
        operation: Operation::Perform,
    }
}

const fn spawn(name: &'static str, ty: &'static str, doc: &'static str) -> Function {
    Function {
        name,
        ty,
        doc,
        operation: Operation::Spawn,
    }
}

struct ModuleTable {
    /// Empty for global functions.
    name: &'static str,
    doc: &'static str,
    kinds: KindSet,
    functions: &'static [Function],
}

/// Number of a built-in function in [`builtins`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuiltinId(pub u16);

/// A built-in function.
#[derive(Debug)]
pub struct Builtin {
    /// Its number.
    pub id: BuiltinId,
    /// Its module; nothing for a global function.
    pub module: Option<&'static str>,
    /// Its name within the module.
    pub name: &'static str,
    /// `Module.name`, or the name alone for a global function. Also the operation name.
    pub qualified: String,
    /// Its type, in the notation of spec 05b.
    pub type_text: &'static str,
    /// Its type.
    pub ty: TypeGraph,
    /// Number of parameters.
    pub arity: usize,
    /// What it does, in Markdown.
    pub doc: &'static str,
    /// The kinds that have it.
    pub kinds: KindSet,
    /// Whether calling it builds an action.
    pub operation: Operation,
}

/// A built-in module.
#[derive(Debug)]
pub struct Module {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in Markdown.
    pub doc: &'static str,
    /// The kinds that have it.
    pub kinds: KindSet,
    /// Its functions, in the order of the tables.
    pub functions: Vec<BuiltinId>,
}

struct Tables {
    builtins: Vec<Builtin>,
    modules: Vec<Module>,
    by_name: FxHashMap<&'static str, BuiltinId>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut builtins: Vec<Builtin> = Vec::new();
    let mut modules = Vec::new();
    for table in core_library::MODULES
        .iter()
        .chain(shell::MODULES)
        .chain(moderator::MODULES)
    {
        let mut ids = Vec::new();
        for function in table.functions {
            let id = BuiltinId(u16::try_from(builtins.len()).unwrap_or(u16::MAX));
            ids.push(id);
            builtins.push(builtin(id, table, function));
        }
        if !table.name.is_empty() {
            modules.push(Module {
                name: table.name,
                doc: table.doc,
                kinds: table.kinds,
                functions: ids,
            });
        }
    }
    Tables {
        builtins,
        modules,
        by_name: FxHashMap::default(),
    }
    .with_names()
});

impl Tables {
    fn with_names(mut self) -> Self {
        // The strings live as long as the table, which is never dropped; the keys are the
        // literals of global functions, members are looked up through their module.
        self.by_name = self
            .builtins
            .iter()
            .filter(|builtin| builtin.module.is_none())
            .map(|builtin| (builtin.name, builtin.id))
            .collect();
        self
    }
}

fn builtin(id: BuiltinId, table: &ModuleTable, function: &Function) -> Builtin {
    // A text that does not parse would give a function no one can call; a test parses them all.
    let ty = parse_type(function.ty, &|name| {
        alias(name).map(|alias| alias.definition)
    })
    .unwrap_or(TypeGraph {
        nodes: Vec::new(),
        root: crate::types::NodeId(0),
    });
    let arity = match ty.root().map(|node| &node.kind) {
        Some(NodeKind::Function { params, .. }) => params.len(),
        _ => 0,
    };
    let module = (!table.name.is_empty()).then_some(table.name);
    Builtin {
        id,
        module,
        name: function.name,
        qualified: match module {
            Some(module) => format!("{module}.{}", function.name),
            None => function.name.to_owned(),
        },
        type_text: function.ty,
        ty,
        arity,
        doc: function.doc,
        kinds: if function.name == "print" && module.is_none() {
            KindSet::of(&[Kind::Core, Kind::Moderator])
        } else {
            table.kinds
        },
        operation: function.operation,
    }
}

/// All built-in functions of all kinds; the index is the [`BuiltinId`].
pub fn builtins() -> &'static [Builtin] {
    &TABLES.builtins
}

/// All built-in modules of all kinds.
pub fn modules() -> &'static [Module] {
    &TABLES.modules
}

/// The global functions of a kind.
pub fn globals_of(kind: Kind) -> impl Iterator<Item = &'static Builtin> {
    let all = builtins().iter();
    all.filter(move |builtin| builtin.module.is_none() && builtin.kinds.contains(kind))
}

/// The modules of a kind.
pub fn modules_of(kind: Kind) -> impl Iterator<Item = &'static Module> {
    let all = modules().iter();
    all.filter(move |module| module.kinds.contains(kind))
}

/// The type names of a kind.
pub fn aliases_of(kind: Kind) -> impl Iterator<Item = &'static Alias> {
    let all = aliases().iter();
    all.filter(move |alias| alias.kinds.contains(kind))
}

/// The function with that number.
pub fn builtin_at(id: BuiltinId) -> Option<&'static Builtin> {
    TABLES.builtins.get(usize::from(id.0))
}

/// A global function of any kind by name.
pub fn global(name: &str) -> Option<&'static Builtin> {
    TABLES.by_name.get(name).and_then(|id| builtin_at(*id))
}

/// A module of any kind by name.
pub fn module(name: &str) -> Option<&'static Module> {
    TABLES.modules.iter().find(|module| module.name == name)
}

impl Module {
    /// A function of this module by name.
    pub fn function(&self, name: &str) -> Option<&'static Builtin> {
        self.functions
            .iter()
            .filter_map(|id| builtin_at(*id))
            .find(|builtin| builtin.name == name)
    }
}

#[cfg(test)]
mod tests;
