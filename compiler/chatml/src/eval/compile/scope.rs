//! What each name means at the place that is being compiled (spec 05 section 4).

use std::collections::HashMap;

use super::{CompileError, Compiled, Compiler};
use crate::ast;
use crate::eval::Reg;
use crate::span::Span;
use crate::surface;

/// Number of a module of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ModuleId(usize);

/// What a name means.
#[derive(Debug, Clone, Copy)]
pub(super) enum Binding {
    /// A top-level value; the function when it is one that captures nothing.
    Global { index: u32, function: Option<u32> },
    /// A register of the function at that level.
    Local { level: usize, register: Reg },
    /// A function that captures nothing, whatever its level.
    Function(u32),
    /// A module of the script.
    Module(ModuleId),
    /// A function of the library.
    Builtin(u16),
    /// A module of the library.
    Library(&'static surface::Module),
}

/// The names in scope. Leaving a scope removes what was bound since it began.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: HashMap<ast::Name, Vec<Binding>>,
    trail: Vec<ast::Name>,
    modules: Vec<HashMap<ast::Name, Binding>>,
}

/// The size of a scope to return to.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScopeMark(usize);

impl Scope {
    pub(super) fn mark(&self) -> ScopeMark {
        ScopeMark(self.trail.len())
    }

    pub(super) fn leave(&mut self, mark: ScopeMark) {
        while self.trail.len() > mark.0 {
            let Some(name) = self.trail.pop() else { break };
            if let Some(bindings) = self.names.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    pub(super) fn bind(&mut self, name: &ast::Name, binding: Binding) {
        self.trail.push(name.clone());
        self.names.entry(name.clone()).or_default().push(binding);
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Binding> {
        if let Some(binding) = self.names.get(name).and_then(|bindings| bindings.last()) {
            return Some(*binding);
        }
        if let Some(builtin) = surface::global(name) {
            return Some(Binding::Builtin(builtin.id.0));
        }
        surface::module(name).map(Binding::Library)
    }

    pub(super) fn new_module(&mut self) -> ModuleId {
        self.modules.push(HashMap::new());
        ModuleId(self.modules.len() - 1)
    }

    pub(super) fn export(&mut self, module: ModuleId, name: &ast::Name, binding: Binding) {
        if let Some(exports) = self.modules.get_mut(module.0) {
            exports.insert(name.clone(), binding);
        }
    }

    /// The exports of a module in byte order.
    pub(super) fn exports(&self, module: ModuleId) -> Vec<(ast::Name, Binding)> {
        let mut exports: Vec<_> = self
            .modules
            .get(module.0)
            .into_iter()
            .flatten()
            .map(|(name, binding)| (name.clone(), *binding))
            .collect();
        exports.sort_by(|left, right| left.0.cmp(&right.0));
        exports
    }

    fn member(&self, module: ModuleId, name: &str) -> Option<Binding> {
        self.modules.get(module.0)?.get(name).copied()
    }
}

impl Compiler {
    /// What a path of module names means.
    pub(super) fn module_path(&self, path: &[ast::Ident], span: Span) -> Compiled<Binding> {
        let mut names = path.iter();
        let mut found = names
            .next()
            .and_then(|first| self.scope.lookup(&first.name));
        for ident in names {
            found = match found {
                Some(Binding::Module(module)) => self.scope.member(module, &ident.name),
                _ => None,
            };
        }
        match found {
            Some(found @ (Binding::Module(_) | Binding::Library(_))) => Ok(found),
            _ => Err(CompileError::unchecked(span, "the module is not defined")),
        }
    }

    /// What `M.x` means.
    pub(super) fn member(
        &self,
        path: &[ast::Ident],
        name: &ast::Ident,
        span: Span,
    ) -> Compiled<Binding> {
        let found = match self.module_path(path, span)? {
            Binding::Module(module) => self.scope.member(module, &name.name),
            Binding::Library(module) => module
                .function(&name.name)
                .map(|builtin| Binding::Builtin(builtin.id.0)),
            _ => None,
        };
        found.ok_or_else(|| CompileError::unchecked(span, "the member is not defined"))
    }

    /// The names of a module in byte order.
    pub(super) fn module_names(&self, path: &[ast::Ident], span: Span) -> Compiled<Vec<ast::Name>> {
        let mut names: Vec<ast::Name> = match self.module_path(path, span)? {
            Binding::Module(module) => self
                .scope
                .exports(module)
                .into_iter()
                .map(|(name, _)| name)
                .collect(),
            Binding::Library(module) => module
                .functions
                .iter()
                .filter_map(|id| surface::builtin_at(*id))
                .map(|builtin| ast::Name::from(builtin.name))
                .collect(),
            _ => Vec::new(),
        };
        names.sort();
        Ok(names)
    }
}
