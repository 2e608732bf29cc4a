//! The bounds on values that cross the boundary: size, strings, items, depth (spec 07 section 2.5).

use std::fmt::{self, Write as _};

use super::Limits;
use crate::value::data::Data;

/// Which bound a value exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExcessKind {
    /// `max_value`.
    Size,
    /// `max_output`.
    String,
    /// `max_array_items`.
    Items,
    /// `max_depth`.
    Depth,
}

/// A value over a bound and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// The place, starting at the name of the value.
    pub path: String,
    /// The bound.
    pub kind: ExcessKind,
    /// The bound's number.
    pub limit: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind, limit } = self;
        match kind {
            ExcessKind::Size => write!(out, "{path}: the value is larger than {limit} bytes"),
            ExcessKind::String => write!(out, "{path}: a string is longer than {limit} bytes"),
            ExcessKind::Items => {
                write!(
                    out,
                    "{path}: an array or record has more than {limit} items"
                )
            }
            ExcessKind::Depth => write!(out, "{path}: values nest deeper than {limit}"),
        }
    }
}

/// One step of a path.
#[derive(Debug, Clone)]
pub(crate) enum Segment<'a> {
    Label(&'a str),
    Index(usize),
    Argument(&'a str, usize),
}

/// The place of a part inside a value.
#[derive(Debug, Clone)]
pub(crate) struct Path<'a> {
    pub(crate) root: &'a str,
    pub(crate) segments: Vec<Segment<'a>>,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Steps shown; what lies deeper is left out.
        const SHOWN: usize = 40;
        out.write_str(self.root)?;
        for segment in self.segments.iter().take(SHOWN) {
            match segment {
                Segment::Label(label) => write!(out, ".{label}")?,
                Segment::Index(index) => write!(out, "[{index}]")?,
                Segment::Argument(tag, index) => write!(out, ".{tag}[{index}]")?,
            }
        }
        if self.segments.len() > SHOWN {
            out.write_char('…')?;
        }
        Ok(())
    }
}

/// Adds up the measure of a value while it is walked.
pub(crate) struct Meter<'l> {
    limits: &'l Limits,
    size: u64,
    parts: u64,
}

impl<'l> Meter<'l> {
    pub(crate) fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            size: 0,
            parts: 0,
        }
    }

    /// Counts a part at a depth. Parts of no size count as well, against the same bound, so that
    /// values which share their parts can not be walked for ever.
    pub(crate) fn part(&mut self, depth: u32) -> Result<(), (ExcessKind, u64)> {
        /// Parts that any script may have, however small its bound on bytes.
        const FREE: u64 = 64 * 1024;
        if depth > self.limits.max_depth {
            return Err((ExcessKind::Depth, u64::from(self.limits.max_depth)));
        }
        self.parts = self.parts.saturating_add(1);
        if self.parts > self.limits.max_value.max(FREE) {
            return Err((ExcessKind::Size, self.limits.max_value));
        }
        Ok(())
    }

    pub(crate) fn bytes(&mut self, count: u64) -> Result<(), (ExcessKind, u64)> {
        self.size = self.size.saturating_add(count);
        if self.size > self.limits.max_value {
            return Err((ExcessKind::Size, self.limits.max_value));
        }
        Ok(())
    }

    pub(crate) fn string(&mut self, len: usize) -> Result<(), (ExcessKind, u64)> {
        let len = len as u64;
        if len > self.limits.max_output {
            return Err((ExcessKind::String, self.limits.max_output));
        }
        self.bytes(len)
    }

    pub(crate) fn items(&self, count: usize) -> Result<(), (ExcessKind, u64)> {
        if count as u64 > self.limits.max_array_items {
            return Err((ExcessKind::Items, self.limits.max_array_items));
        }
        Ok(())
    }
}

/// Whether a value stays within the limits; `root` names it in the path of the finding. Walks with a
/// stack of its own.
pub fn check(data: &Data, limits: &Limits, root: &str) -> Result<(), Excess> {
    let mut meter = Meter::new(limits);
    let mut walk = Walk::new(root, data, 0);
    while let Some((data, depth)) = walk.next() {
        measure(data, depth, &mut meter).map_err(|(kind, limit)| Excess {
            path: walk.path.to_string(),
            kind,
            limit,
        })?;
        let inner = depth.saturating_add(1);
        walk.parts(data, |_, _| Some(inner));
    }
    Ok(())
}

fn measure(data: &Data, depth: u32, meter: &mut Meter<'_>) -> Result<(), (ExcessKind, u64)> {
    meter.part(depth)?;
    match data {
        Data::Unit => Ok(()),
        Data::Bool(_) => meter.bytes(1),
        Data::Int(_) | Data::Float(_) => meter.bytes(8),
        Data::String(text) => meter.string(text.len()),
        Data::Array(items) => meter.items(items.len()),
        Data::Record(fields) => {
            meter.items(fields.len())?;
            let labels: u64 = fields.keys().map(|label| label.len() as u64).sum();
            meter.bytes(labels)
        }
        Data::Variant { tag, .. } => meter.bytes(tag.len() as u64),
    }
}

enum Step<'a, T> {
    Visit(&'a Data, T),
    Enter(Segment<'a>),
    Leave,
}

/// Visits the parts of a value in order and knows where it is. Each visit carries a note of the
/// caller's, such as its depth or its type.
pub(crate) struct Walk<'a, T> {
    steps: Vec<Step<'a, T>>,
    pub(crate) path: Path<'a>,
}

impl<'a, T> Walk<'a, T> {
    pub(crate) fn new(root: &'a str, data: &'a Data, note: T) -> Self {
        Self {
            steps: vec![Step::Visit(data, note)],
            path: Path {
                root,
                segments: Vec::new(),
            },
        }
    }

    pub(crate) fn next(&mut self) -> Option<(&'a Data, T)> {
        loop {
            match self.steps.pop()? {
                Step::Visit(data, note) => return Some((data, note)),
                Step::Enter(segment) => self.path.segments.push(segment),
                Step::Leave => {
                    self.path.segments.pop();
                }
            }
        }
    }

    /// Visits the parts of a value next; those without a note are left out.
    pub(crate) fn parts(
        &mut self,
        data: &'a Data,
        mut note: impl FnMut(&Segment<'a>, &'a Data) -> Option<T>,
    ) {
        let first = self.steps.len();
        let mut add = |segment: Segment<'a>, part: &'a Data| {
            if let Some(note) = note(&segment, part) {
                // In the order in which they are taken; the whole run is reversed below.
                self.steps.push(Step::Enter(segment));
                self.steps.push(Step::Visit(part, note));
                self.steps.push(Step::Leave);
            }
        };
        match data {
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    add(Segment::Index(index), item);
                }
            }
            Data::Record(fields) => {
                for (label, value) in fields {
                    add(Segment::Label(label), value);
                }
            }
            Data::Variant { tag, arguments } => {
                for (index, argument) in arguments.iter().enumerate() {
                    add(Segment::Argument(tag, index), argument);
                }
            }
            _ => {}
        }
        if let Some(added) = self.steps.get_mut(first..) {
            added.reverse();
        }
    }
}
