//! Interned names, record shapes and variant cases of one instance.
//!
//! A shape is the sorted list of labels of a record, a case a tag together with its argument count
//! (spec 05 section 5.1: the count is part of the case). Comparing either is comparing a number.

use std::collections::HashMap;
use std::sync::Arc;

/// An interned label or tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// An interned list of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShapeId(pub u32);

/// An interned tag with its argument count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CaseId(pub u32);

/// The labels of a record in byte order.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    labels: Box<[Name]>,
    /// Labels sorted by number with their position, for look-ups.
    index: Box<[(Name, u32)]>,
}

impl Shape {
    /// Labels in byte order.
    pub(crate) fn labels(&self) -> &[Name] {
        &self.labels
    }

    /// Position of a label.
    pub(crate) fn position(&self, label: Name) -> Option<u32> {
        if self.index.len() <= 8 {
            return self
                .index
                .iter()
                .find(|(name, _)| *name == label)
                .map(|(_, position)| *position);
        }
        let found = self
            .index
            .binary_search_by_key(&label, |(name, _)| *name)
            .ok()?;
        self.index.get(found).map(|(_, position)| *position)
    }
}

#[derive(Debug, Clone, Copy)]
struct Case {
    tag: Name,
    arguments: u32,
}

/// The interned names of one instance.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    names: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, Name>,
    shapes: Vec<Arc<Shape>>,
    by_labels: HashMap<Box<[Name]>, ShapeId>,
    cases: Vec<Case>,
    by_case: HashMap<(Name, u32), CaseId>,
}

impl Symbols {
    /// The number of a name.
    pub fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.by_text.get(text) {
            return *name;
        }
        let shared: Arc<str> = Arc::from(text);
        let name = Name(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(Arc::clone(&shared));
        self.by_text.insert(shared, name);
        name
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.names.get(name.0 as usize).map_or("", |text| text)
    }

    /// The shape with these labels, in any order and without repetition, and whether it is new.
    pub(crate) fn shape(&mut self, labels: &[Name]) -> (ShapeId, bool) {
        let mut sorted: Vec<Name> = labels.to_vec();
        sorted.sort_by(|left, right| self.text(*left).cmp(self.text(*right)));
        if let Some(shape) = self.by_labels.get(sorted.as_slice()) {
            return (*shape, false);
        }
        let mut index: Vec<(Name, u32)> = sorted.iter().copied().zip(0u32..).collect();
        index.sort_by_key(|(name, _)| *name);
        let id = ShapeId(u32::try_from(self.shapes.len()).unwrap_or(u32::MAX));
        self.by_labels.insert(sorted.clone().into(), id);
        self.shapes.push(Arc::new(Shape {
            labels: sorted.into(),
            index: index.into(),
        }));
        (id, true)
    }

    /// The labels behind a shape.
    pub(crate) fn shape_of(&self, id: ShapeId) -> Option<&Arc<Shape>> {
        self.shapes.get(id.0 as usize)
    }

    /// Number of labels of a shape.
    pub(crate) fn width(&self, id: ShapeId) -> u32 {
        self.shape_of(id).map_or(0, |shape| {
            u32::try_from(shape.labels.len()).unwrap_or(u32::MAX)
        })
    }

    /// The case of a tag with that many arguments.
    pub fn case(&mut self, tag: &str, arguments: u32) -> CaseId {
        let tag = self.name(tag);
        if let Some(case) = self.by_case.get(&(tag, arguments)) {
            return *case;
        }
        let id = CaseId(u32::try_from(self.cases.len()).unwrap_or(u32::MAX));
        self.cases.push(Case { tag, arguments });
        self.by_case.insert((tag, arguments), id);
        id
    }

    /// The tag of a case.
    pub fn tag(&self, case: CaseId) -> &str {
        self.cases
            .get(case.0 as usize)
            .map_or("", |case| self.text(case.tag))
    }

    /// The argument count of a case.
    pub fn arguments(&self, case: CaseId) -> u32 {
        self.cases
            .get(case.0 as usize)
            .map_or(0, |case| case.arguments)
    }
}
