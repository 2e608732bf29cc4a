//! Which runtimes and shell tools a document declares, for the targets of tests.

use std::collections::HashMap;

use crate::decl::{Decl, Field, ToolForm};
use crate::diagnostics::nearest;
use crate::expand::Expansion;
use crate::resolve::reference::{candidates, qualify};

/// Most names that are compared to find the one that was meant.
const MOST_COMPARED: usize = 2_000;

/// Declared names. A declaration that is broken keeps its name, so that a test of it causes no
/// second error.
pub(super) struct Names<'a> {
    runtimes: HashMap<String, bool>,
    tools: HashMap<&'a str, bool>,
    runtime_order: Vec<String>,
    tool_order: Vec<&'a str>,
    /// Something is missing that may declare any name.
    incomplete: bool,
}

/// A name that can be used; `None` when its declaration is broken. Otherwise the nearest name.
pub(super) type Found = Result<Option<String>, Option<String>>;

impl<'a> Names<'a> {
    pub(super) fn new(expansion: &'a Expansion) -> Self {
        let mut names = Self {
            runtimes: HashMap::new(),
            tools: HashMap::new(),
            runtime_order: Vec::new(),
            tool_order: Vec::new(),
            incomplete: !expansion.document.missing.is_empty(),
        };
        for item in &expansion.document.items {
            match &item.decl.decl {
                Some(Decl::Runtime(runtime)) => match written(&runtime.id) {
                    Some(id) => {
                        let id = qualify(item.namespace.as_deref(), id);
                        names.runtime_order.push(id.clone());
                        names.runtimes.insert(id, !item.decl.broken);
                    }
                    None => names.incomplete = true,
                },
                Some(Decl::Tool(tool)) => match written(&tool.name) {
                    Some(name) => {
                        let shell = matches!(tool.form, ToolForm::Shell(_) | ToolForm::Legacy(_));
                        if shell || tool.form == ToolForm::Invalid {
                            names.tool_order.push(name);
                            names.tools.insert(name, shell && !item.decl.broken);
                        }
                    }
                    None => names.incomplete = true,
                },
                None if item.decl.broken => names.incomplete = true,
                _ => {}
            }
        }
        names
    }

    pub(super) fn runtime(&self, namespace: Option<&str>, name: &str) -> Found {
        for candidate in candidates(namespace, name) {
            if let Some(usable) = self.runtimes.get(&candidate) {
                return Ok(usable.then_some(candidate));
            }
        }
        if self.incomplete {
            return Ok(None);
        }
        let known = self.runtime_order.iter().take(MOST_COMPARED);
        Err(nearest(name, known.map(String::as_str)).map(str::to_owned))
    }

    pub(super) fn tool(&self, name: &str) -> Found {
        match self.tools.get(name) {
            Some(usable) => Ok(usable.then(|| name.to_owned())),
            None if self.incomplete => Ok(None),
            None => {
                let known = self.tool_order.iter().take(MOST_COMPARED).copied();
                Err(nearest(name, known).map(str::to_owned))
            }
        }
    }
}

fn written(field: &Field<String>) -> Option<&str> {
    match field {
        Field::Value(value) => Some(&value.value),
        Field::Poisoned { raw, .. } => raw.as_deref(),
        Field::Absent => None,
    }
}
