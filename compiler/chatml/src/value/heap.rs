//! The storage of one instance: slots for compound values, text for strings.
//!
//! Nothing is freed while a call runs; the allocation limit of spec 05 section 8.3 bounds what a call
//! may build. At the end of a call the heap is cut back to its mark, the size it had when top-level
//! evaluation ended. Writes below the mark are recorded so that a failed call can be undone.

use std::collections::HashMap;

use super::symbols::{CaseId, ShapeId};
use super::{Items, TaskNode, Text, Value};
use crate::eval::{Part, Source, captured};
use crate::limits::Stop;

/// Bytes one slot counts against the allocation limit.
const SLOT: u64 = size_of::<Value>() as u64;

/// Index of the texts that are short or parts of others.
const SHORT: usize = 0;

/// Index of the texts that grow.
const GROWN: usize = 1;

/// Set in the offset of a text that grows.
const GROWN_BIT: u32 = 1 << 31;

/// Bytes from which the left side of a concatenation is taken for a text that grows.
const GROWING: u32 = 256;

/// Where a text is stored.
#[inline]
fn place(text: Text) -> (usize, std::ops::Range<usize>) {
    let start = (text.start & !GROWN_BIT) as usize;
    let texts = if text.start & GROWN_BIT == 0 {
        SHORT
    } else {
        GROWN
    };
    (texts, start..start + text.len as usize)
}

/// Slots and text of one instance.
#[derive(Debug, Clone)]
pub struct Heap {
    slots: Vec<Value>,
    /// Short texts and parts of texts; and texts that grow by concatenation. They are apart so that a
    /// text to which short ones are appended again and again stays the last of its kind and can be
    /// extended in place.
    texts: [String; 2],
    /// Bytes that may still be built.
    allowance: u64,
    mark: Mark,
    /// What slots below the mark held before this call wrote to them.
    undo: HashMap<u32, Value>,
}

/// A size of the heap to return to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    slots: usize,
    texts: [usize; 2],
}

impl Default for Heap {
    fn default() -> Self {
        Self::new()
    }
}

impl Heap {
    /// An empty heap that may not allocate yet.
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            texts: [String::new(), String::new()],
            allowance: 0,
            mark: Mark::default(),
            undo: HashMap::new(),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        for text in &mut self.texts {
            text.clear();
        }
        self.undo.clear();
        self.mark = Mark::default();
    }

    /// Sets how many bytes may be built from now on.
    pub(crate) fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
    }

    /// Bytes that may still be built.
    pub(crate) fn allowance(&self) -> u64 {
        self.allowance
    }

    /// Takes from the allowance without storing anything.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), Stop> {
        self.allowance = self.allowance.checked_sub(bytes).ok_or(Stop::Memory)?;
        Ok(())
    }

    fn reserve(&mut self, count: usize) -> Result<u32, Stop> {
        self.charge((count as u64).saturating_mul(SLOT))?;
        let start = u32::try_from(self.slots.len()).map_err(|_| Stop::Memory)?;
        // Offsets stay below 2^32: the sum is checked once here for every slot that is pushed.
        u32::try_from(self.slots.len().saturating_add(count)).map_err(|_| Stop::Memory)?;
        Ok(start)
    }

    /// Stores copies of values and returns where they begin.
    pub(crate) fn store(&mut self, values: &[Value]) -> Result<u32, Stop> {
        let start = self.reserve(values.len())?;
        self.slots.extend_from_slice(values);
        Ok(start)
    }

    /// Stores `count` copies of one value.
    pub(crate) fn store_repeated(&mut self, value: Value, count: u32) -> Result<u32, Stop> {
        let start = self.reserve(count as usize)?;
        self.slots.resize(start as usize + count as usize, value);
        Ok(start)
    }

    /// Stores a copy of a stored run.
    pub(crate) fn store_copy(&mut self, items: Items) -> Result<u32, Stop> {
        let start = self.reserve(items.len as usize)?;
        let from = items.start as usize;
        let to = from.saturating_add(items.len as usize);
        if to <= self.slots.len() {
            self.slots.extend_from_within(from..to);
        }
        Ok(start)
    }

    /// Stores `count` values that are made one by one.
    #[inline]
    pub(crate) fn store_from(
        &mut self,
        count: usize,
        value: impl Fn(usize) -> Value,
    ) -> Result<u32, Stop> {
        let start = self.reserve(count)?;
        self.slots.extend((0..count).map(value));
        Ok(start)
    }

    /// Stores a copy of the record from `old` with some fields from `new`.
    #[inline]
    pub(crate) fn store_parts(
        &mut self,
        old: u32,
        new: &[Value],
        parts: &[Part],
    ) -> Result<u32, Stop> {
        let start = self.reserve(parts.len())?;
        for part in parts {
            let value = match part {
                Part::Old(position) => self.get(old.saturating_add(*position)),
                Part::New(change) => new.get(*change as usize).copied(),
            };
            self.slots.push(value.unwrap_or(Value::Unit));
        }
        Ok(start)
    }

    /// Stores what a closure captures.
    pub(crate) fn store_captures(
        &mut self,
        captures: u32,
        registers: &[Value],
        sources: &[Source],
    ) -> Result<u32, Stop> {
        let start = self.reserve(sources.len())?;
        for source in sources {
            let value = captured(&self.slots, captures, registers, *source);
            self.slots.push(value);
        }
        Ok(start)
    }

    /// An array of these items.
    pub(crate) fn array(&mut self, items: &[Value]) -> Result<Value, Stop> {
        let start = self.store(items)?;
        Ok(Value::Array(Items {
            start,
            len: u32::try_from(items.len()).map_err(|_| Stop::Memory)?,
        }))
    }

    /// A record whose values are in the order of the shape's labels.
    pub(crate) fn record(&mut self, shape: ShapeId, values: &[Value]) -> Result<Value, Stop> {
        let at = self.store(values)?;
        Ok(Value::Record { shape, at })
    }

    /// A variant.
    pub(crate) fn variant(&mut self, case: CaseId, arguments: &[Value]) -> Result<Value, Stop> {
        let at = if arguments.is_empty() {
            0
        } else {
            self.store(arguments)?
        };
        Ok(Value::Variant { case, at })
    }

    /// A task node with its operands.
    pub(crate) fn task(&mut self, node: TaskNode, operands: &[Value]) -> Result<Value, Stop> {
        let at = self.store(operands)?;
        Ok(Value::Task { node, at })
    }

    /// A stored value.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<Value> {
        self.slots.get(at as usize).copied()
    }

    /// A run of stored values.
    #[inline]
    pub(crate) fn run(&self, start: u32, len: u32) -> &[Value] {
        let from = start as usize;
        self.slots
            .get(from..from.saturating_add(len as usize))
            .unwrap_or_default()
    }

    /// The items of an array.
    #[inline]
    pub(crate) fn items(&self, items: Items) -> &[Value] {
        self.run(items.start, items.len)
    }

    /// Changes a stored value; remembers the old one when it belongs to the instance.
    #[inline]
    pub(crate) fn set(&mut self, at: u32, value: Value) {
        let index = at as usize;
        if let Some(slot) = self.slots.get_mut(index) {
            if index < self.mark.slots {
                self.undo.entry(at).or_insert(*slot);
            }
            *slot = value;
        }
    }

    /// Stores a string.
    pub(crate) fn string(&mut self, text: &str) -> Result<Value, Stop> {
        self.charge(text.len() as u64)?;
        let len = u32::try_from(text.len()).map_err(|_| Stop::Memory)?;
        let start = self.end_of(SHORT, len)?;
        self.texts[SHORT].push_str(text);
        Ok(Value::String(Text { start, len }))
    }

    /// The offset at which a text of this length would begin.
    fn end_of(&self, texts: usize, len: u32) -> Result<u32, Stop> {
        let end = u32::try_from(self.texts[texts].len()).map_err(|_| Stop::Memory)?;
        match end.checked_add(len) {
            Some(total) if total < GROWN_BIT => {
                Ok(if texts == GROWN { end | GROWN_BIT } else { end })
            }
            _ => Err(Stop::Memory),
        }
    }

    /// The text of a string.
    #[inline]
    pub(crate) fn str(&self, text: Text) -> &str {
        let (texts, range) = place(text);
        self.texts[texts].get(range).unwrap_or_default()
    }

    /// Two strings as one. The whole result is charged, although a left side that is the last of its
    /// texts is extended in place.
    pub(crate) fn concat(&mut self, left: Text, right: Text) -> Result<Value, Stop> {
        let len = left.len.checked_add(right.len).ok_or(Stop::Memory)?;
        self.charge(u64::from(len))?;
        let (texts, range) = place(left);
        let is_last = range.end == self.texts[texts].len() && range.end > self.mark.texts[texts];
        if is_last {
            self.end_of(texts, right.len)?;
            self.append(texts, right);
            let start = left.start;
            return Ok(Value::String(Text { start, len }));
        }
        let texts = if left.len < GROWING { SHORT } else { GROWN };
        let start = self.end_of(texts, len)?;
        self.append(texts, left);
        self.append(texts, right);
        Ok(Value::String(Text { start, len }))
    }

    /// Copies a stored text behind others.
    fn append(&mut self, to: usize, text: Text) {
        let (from, range) = place(text);
        if from == to {
            self.texts[to].extend_from_within(range);
            return;
        }
        let [short, grown] = &mut self.texts;
        let (target, source) = if to == SHORT {
            (short, grown)
        } else {
            (grown, short)
        };
        target.push_str(source.get(range).unwrap_or_default());
    }

    /// Part of a string; the offsets are character boundaries inside it.
    pub(crate) fn substring(&mut self, text: Text, from: u32, len: u32) -> Result<Value, Stop> {
        self.charge(u64::from(len))?;
        Ok(Value::String(Text {
            start: text.start.saturating_add(from),
            len,
        }))
    }

    /// Makes everything stored so far part of the instance.
    pub(crate) fn set_mark(&mut self) {
        self.mark = Mark {
            slots: self.slots.len(),
            texts: [self.texts[SHORT].len(), self.texts[GROWN].len()],
        };
        self.undo.clear();
    }

    /// Forgets everything a call stored and undoes its writes to the instance.
    pub(crate) fn roll_back(&mut self) {
        for (at, value) in std::mem::take(&mut self.undo) {
            if let Some(slot) = self.slots.get_mut(at as usize) {
                *slot = value;
            }
        }
        self.cut();
    }

    /// Whether a write of this call left the instance pointing at something the call stored.
    pub(crate) fn escaped(&self) -> bool {
        self.undo
            .keys()
            .any(|at| self.get(*at).is_some_and(|value| self.is_above(value)))
    }

    /// Keeps the writes of a call and forgets what it stored; only when nothing [`Self::escaped`].
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
        self.cut();
    }

    fn cut(&mut self) {
        self.slots.truncate(self.mark.slots);
        for (text, mark) in self.texts.iter_mut().zip(self.mark.texts) {
            text.truncate(mark);
        }
    }

    fn is_above(&self, value: Value) -> bool {
        let slots = self.mark.slots;
        match value {
            Value::Unit | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Builtin(_) => {
                false
            }
            Value::String(text) => {
                let (texts, range) = place(text);
                text.len > 0 && range.end > self.mark.texts[texts]
            }
            Value::Array(items) => items.len > 0 && items.start as usize >= slots,
            Value::Record { at, .. }
            | Value::Variant { at, .. }
            | Value::Ref(at)
            | Value::Closure { at, .. }
            | Value::Task { at, .. } => at as usize >= slots,
        }
    }
}
