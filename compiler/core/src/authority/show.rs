//! Values of a manifest as people read them.

use std::collections::HashMap;

use crate::manifest::{Binding, Manifest, Path, PathBase, Root, Runtime, SecretSource};
use crate::safe_text::SafeText;

/// Longest string of a document that is shown, in characters.
const MAX_TEXT: usize = 256;

/// Most entries of a list that is shown.
const MAX_LIST: usize = 20;

/// One string of a document: safe for a terminal, at most [`MAX_TEXT`] characters.
pub(crate) fn safe(text: &str) -> String {
    let safe = SafeText::line(text).into_string();
    match safe.char_indices().nth(MAX_TEXT) {
        Some(_) => {
            let mut cut: String = safe.chars().take(MAX_TEXT - 1).collect();
            cut.push('…');
            cut
        }
        None => safe,
    }
}

/// A list for text: at most [`MAX_LIST`] entries and the count of the rest, `none` when empty.
pub(crate) fn list<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> String {
    let (mut shown, mut more) = (Vec::new(), 0_usize);
    for entry in entries {
        if shown.len() < MAX_LIST {
            shown.push(safe(entry.as_ref()));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    if shown.is_empty() {
        "none".to_owned()
    } else {
        shown.join(", ")
    }
}

/// Paths and roots of one manifest: resolved when it is bound, symbolic otherwise.
pub(crate) struct Places<'a> {
    binding: Option<&'a Binding>,
    home: Option<&'a str>,
    roots: HashMap<&'a str, (&'a [String], &'a [String])>,
}

impl<'a> Places<'a> {
    /// `home` is the host's home directory, where it is known.
    pub(crate) fn new(manifest: &'a Manifest, home: Option<&'a str>) -> Self {
        let binding = manifest.binding.as_ref();
        let roots = binding.iter().flat_map(|binding| &binding.roots);
        let bound = binding.and_then(|it| it.variables.get(PathBase::Home.as_str()));
        Self {
            binding,
            home: bound.map(String::as_str).or(home),
            roots: roots
                .map(|roots| {
                    (
                        roots.runtime.as_str(),
                        (roots.read.as_slice(), roots.write.as_slice()),
                    )
                })
                .collect(),
        }
    }

    /// The path, `${variable}/rest` unless its variable is bound.
    pub(crate) fn path(&self, path: &Path) -> String {
        let base = match path.base {
            PathBase::Absolute => return path.path.clone(),
            PathBase::SourceDir => self.binding.and_then(|binding| {
                binding
                    .source_dirs
                    .get(path.source.as_deref().unwrap_or_default())
            }),
            base => self
                .binding
                .and_then(|binding| binding.variables.get(base.as_str())),
        };
        let base = match base {
            Some(directory) => directory.trim_end_matches('/').to_owned(),
            None => format!("${{{}}}", path.base.as_str()),
        };
        match (base.is_empty(), path.path.is_empty()) {
            (true, true) => "/".to_owned(),
            (_, true) => base,
            _ => format!("{base}/{}", path.path),
        }
    }

    fn root(&self, root: &Root) -> String {
        match root {
            Root::Path { path } => self.path(path),
            Root::PathEnv {
                name,
                optional: false,
            } => format!("value of {name}"),
            Root::PathEnv {
                name,
                optional: true,
            } => format!("value of {name}, if set"),
        }
    }

    /// Read and write roots of a runtime.
    pub(crate) fn roots(&self, runtime: &Runtime) -> (Vec<String>, Vec<String>) {
        if let Some((read, write)) = self.roots.get(runtime.id.as_str()) {
            return (read.to_vec(), write.to_vec());
        }
        let all = |roots: &[Root]| roots.iter().map(|root| self.root(root)).collect();
        (
            all(&runtime.capabilities.read),
            all(&runtime.capabilities.write),
        )
    }

    /// Whether a write root is the whole file system, the home directory, or a folder around it.
    pub(crate) fn writes_everything(&self, runtime: &Runtime) -> bool {
        let symbolic = runtime.capabilities.write.iter().any(|root| match root {
            Root::Path { path } => {
                (path.base == PathBase::Absolute && path.path == "/")
                    || (path.base == PathBase::Home && path.path.is_empty())
            }
            Root::PathEnv { .. } => false,
        });
        let holds_home = |root: &str| {
            let home = self.home.and_then(|home| home.strip_prefix(root));
            home.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let bound = self
            .roots
            .get(runtime.id.as_str())
            .is_some_and(|(_, write)| write.iter().any(|root| root == "/" || holds_home(root)));
        symbolic || bound
    }

    /// A secret by its source, never by its value.
    pub(crate) fn secret(&self, secret: &SecretSource) -> String {
        match secret {
            SecretSource::FromEnv { name, .. } => format!("env {name}"),
            SecretSource::FromFile { path, .. } => format!("file {}", self.path(path)),
            SecretSource::Literal { index } => format!("literal {index}"),
        }
    }
}
