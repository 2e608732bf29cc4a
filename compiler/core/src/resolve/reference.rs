//! Qualified names and references (spec 01 section 9, spec 02 section 4).

use std::collections::HashMap;

/// Prefix of built-in profiles.
pub(crate) const BUILTIN: &str = "builtin:";

/// `x` declared in namespace `a:b` is `a:b:x`.
pub(crate) fn qualify(namespace: Option<&str>, id: &str) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}:{id}"),
        None => id.to_owned(),
    }
}

/// The names that a reference may mean, in the order in which they are tried.
pub(crate) fn candidates(namespace: Option<&str>, reference: &str) -> Vec<String> {
    let relative = qualify(namespace, reference);
    if reference.contains(':') && namespace.is_some() {
        vec![relative, reference.to_owned()]
    } else {
        vec![relative]
    }
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Exactly one declaration.
    Found(usize),
    /// Two: both qualified names with their declarations.
    Ambiguous(usize, usize),
    /// A declaration that is broken, or a file that could not be read: reported already.
    Poisoned,
    /// None of the candidates exists.
    Unknown,
}

/// Declarations of one kind by qualified name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    declared: HashMap<String, Option<usize>>,
    /// In declaration order, for suggestions.
    order: Vec<String>,
}

impl Names {
    /// Registers a name; `None` stands for a declaration whose name is unusable. Returns the
    /// earlier declaration when there is one.
    pub(crate) fn declare(&mut self, name: String, index: Option<usize>) -> Option<usize> {
        match self.declared.get(&name) {
            Some(Some(earlier)) => Some(*earlier),
            Some(None) if index.is_none() => None,
            Some(None) => {
                self.declared.insert(name, index);
                None
            }
            None => {
                self.order.push(name.clone());
                self.declared.insert(name, index);
                None
            }
        }
    }

    /// Resolves a reference of a file with this namespace. `missing` lists the namespaces of files
    /// that could not be read: what is not found there was perhaps declared in one of them.
    pub(crate) fn look_up(
        &self,
        namespace: Option<&str>,
        reference: &str,
        missing: &[Option<String>],
    ) -> Lookup {
        let tried = candidates(namespace, reference);
        let found: Vec<Option<usize>> = tried
            .iter()
            .filter_map(|name| self.declared.get(name).copied())
            .collect();
        match found.as_slice() {
            [] if tried.iter().any(|name| lies_in_any(name, missing)) => Lookup::Poisoned,
            [] => Lookup::Unknown,
            [Some(index)] => Lookup::Found(*index),
            [Some(first), Some(second)] => Lookup::Ambiguous(*first, *second),
            _ => Lookup::Poisoned,
        }
    }

    /// Names that a reference may be corrected to: usable ones, without `apart`.
    pub(crate) fn offered<'a>(&'a self, apart: &'a str) -> impl Iterator<Item = &'a str> + Clone {
        self.all().filter(move |name| {
            *name != apart && self.declared.get(*name).is_some_and(Option::is_some)
        })
    }

    /// Declared names in declaration order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> + Clone {
        self.order.iter().map(String::as_str)
    }
}

fn lies_in_any(name: &str, missing: &[Option<String>]) -> bool {
    missing.iter().any(|namespace| match namespace {
        None => true,
        Some(namespace) => name
            .strip_prefix(namespace.as_str())
            .is_some_and(|rest| rest.starts_with(':')),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Names {
        let mut names = Names::default();
        for (index, name) in list.iter().enumerate() {
            assert_eq!(names.declare((*name).to_owned(), Some(index)), None);
        }
        names
    }

    #[test]
    fn a_name_is_tried_below_the_namespace_first() {
        let names = names(&["base", "a:base", "a:b:base", "b:base", "c:base"]);
        let look = |namespace, reference| names.look_up(namespace, reference, &[]);
        assert_eq!(look(None, "base"), Lookup::Found(0));
        assert_eq!(look(Some("a"), "base"), Lookup::Found(1));
        assert_eq!(look(Some("a"), "c:base"), Lookup::Found(4));
        assert_eq!(look(Some("a"), "b:base"), Lookup::Ambiguous(2, 3));
        assert_eq!(look(Some("c"), "a:base"), Lookup::Found(1));
        // No fallback to an outer namespace without a colon.
        assert_eq!(look(Some("d"), "base"), Lookup::Unknown);
    }

    #[test]
    fn unreadable_files_and_broken_ids_silence_unknown_names() {
        let mut names = names(&["x"]);
        names.declare("bad id".to_owned(), None);
        assert_eq!(names.look_up(None, "bad id", &[]), Lookup::Poisoned);
        let missing = [Some("lib".to_owned())];
        assert_eq!(names.look_up(None, "lib:r", &missing), Lookup::Poisoned);
        assert_eq!(names.look_up(None, "library:r", &missing), Lookup::Unknown);
        assert_eq!(
            names.look_up(Some("z"), "lib:r", &missing),
            Lookup::Poisoned
        );
        assert_eq!(names.look_up(None, "y", &[None]), Lookup::Poisoned);
        assert_eq!(names.look_up(None, "x", &[None]), Lookup::Found(0));
    }
}
