//! Where changes are collected.

use serde::Serialize;
use serde_json::Value;

use super::class::Class;
use super::{Change, ChangeKind};
use crate::manifest::{Path, PathBase, Root};

/// What a change belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A runtime, by id.
    Runtime(String),
    /// A tool, by name.
    Tool(String),
    /// The document as a whole.
    Document,
}

/// All changes so far.
#[derive(Default)]
pub(super) struct Record {
    pub(super) changes: Vec<Change>,
}

impl Record {
    /// Changes of a runtime below `runtimes.ID`.
    pub(super) fn runtime(&mut self, id: &str) -> Scope<'_> {
        Scope {
            prefix: format!("runtimes.{id}"),
            runtime: Some(id.to_owned()),
            subject: Subject::Runtime(id.to_owned()),
            out: &mut self.changes,
        }
    }

    /// Changes of a tool below `tools.NAME`.
    pub(super) fn tool(&mut self, name: &str, runtime: &str) -> Scope<'_> {
        Scope {
            prefix: format!("tools.{name}"),
            runtime: Some(runtime.to_owned()),
            subject: Subject::Tool(name.to_owned()),
            out: &mut self.changes,
        }
    }

    /// Changes of the document below a member of the payload.
    pub(super) fn document(&mut self, member: &str) -> Scope<'_> {
        Scope {
            prefix: member.to_owned(),
            runtime: None,
            subject: Subject::Document,
            out: &mut self.changes,
        }
    }
}

/// A part of the payload.
pub(super) struct Scope<'r> {
    prefix: String,
    runtime: Option<String>,
    subject: Subject,
    out: &'r mut Vec<Change>,
}

impl Scope<'_> {
    /// A part of this part.
    pub(super) fn at(&mut self, member: &str) -> Scope<'_> {
        Scope {
            prefix: join(&self.prefix, member),
            runtime: self.runtime.clone(),
            subject: self.subject.clone(),
            out: &mut *self.out,
        }
    }

    /// A member, if it differs. An empty name is this part itself.
    pub(super) fn changed<T: Serialize + PartialEq + ?Sized>(
        &mut self,
        member: &str,
        old: &T,
        new: &T,
        class: Class,
    ) {
        if old != new {
            self.push(member, ChangeKind::Changed, value(old), value(new), class);
        }
    }

    /// A member on a scale on which more is wider, if it differs.
    pub(super) fn stepped<T, R>(&mut self, member: &str, old: &T, new: &T, rank: impl Fn(&T) -> R)
    where
        T: Serialize + PartialEq + ?Sized,
        R: Ord,
    {
        self.changed(member, old, new, Class::step(rank(old), rank(new)));
    }

    /// An entry that only the new manifest has.
    pub(super) fn added(&mut self, member: &str, new: &impl Serialize, class: Class) {
        self.push(member, ChangeKind::Added, Value::Null, value(new), class);
    }

    /// An entry that only the old manifest has.
    pub(super) fn removed(&mut self, member: &str, old: &impl Serialize, class: Class) {
        self.push(member, ChangeKind::Removed, value(old), Value::Null, class);
    }

    fn push(&mut self, member: &str, change: ChangeKind, old: Value, new: Value, class: Class) {
        self.out.push(Change {
            path: join(&self.prefix, member),
            change,
            old,
            new,
            class,
            runtime: self.runtime.clone(),
            subject: self.subject.clone(),
        });
    }
}

fn join(prefix: &str, member: &str) -> String {
    if member.is_empty() {
        prefix.to_owned()
    } else {
        format!("{prefix}.{member}")
    }
}

/// Parts of a manifest are plain data, which always has a JSON form.
pub(super) fn value<T: Serialize + ?Sized>(part: &T) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

/// A path by content, unique for each value.
pub(super) fn path_text(path: &Path) -> String {
    if path.base == PathBase::Absolute {
        return path.path.clone();
    }
    let mut text = format!("${{{}}}", path.base.as_str());
    if !path.path.is_empty() {
        text.push('/');
        text.push_str(&path.path);
    }
    if let Some(source) = &path.source {
        text.push_str(" of ");
        text.push_str(source);
    }
    text
}

/// A root by content, without `optional`.
pub(super) fn root_text(root: &Root) -> String {
    match root {
        Root::Path { path } => path_text(path),
        Root::PathEnv { name, .. } => format!("value of {name}"),
    }
}
