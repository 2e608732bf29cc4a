//! Moves what an instance still uses into a fresh heap when a call left new values in it.

use std::collections::HashMap;

use super::heap::Heap;
use super::symbols::Symbols;
use super::{Items, Text, Value};
use crate::limits::Stop;

/// How many values a function captures.
pub(crate) type Captures<'a> = &'a dyn Fn(u32) -> u32;

/// A heap with exactly what the roots reach. The first `pinned` bytes of text keep their place:
/// instructions name them. Fails when more than `limit` bytes would be kept.
pub(crate) fn keep_only(
    heap: &Heap,
    symbols: &Symbols,
    captures: Captures<'_>,
    pinned: u32,
    limit: u64,
    roots: &mut [Value],
) -> Result<Heap, Stop> {
    let mut move_to = Mover {
        old: heap,
        new: Heap::new(),
        symbols,
        captures,
        pinned,
        runs: HashMap::new(),
        texts: HashMap::new(),
    };
    move_to.new.allow(limit.saturating_add(u64::from(pinned)));
    move_to.new.string(heap.str(Text {
        start: 0,
        len: pinned,
    }))?;
    for root in roots.iter_mut() {
        *root = move_to.forward(*root)?;
    }
    // What is copied is looked at in the order of the copies: no stack, whatever the depth.
    let mut next = 0u32;
    while let Some(value) = move_to.new.get(next) {
        let moved = move_to.forward(value)?;
        move_to.new.set(next, moved);
        next += 1;
    }
    Ok(move_to.new)
}

struct Mover<'a> {
    old: &'a Heap,
    new: Heap,
    symbols: &'a Symbols,
    captures: Captures<'a>,
    pinned: u32,
    /// New start of each run that was copied, by its old start.
    runs: HashMap<u32, u32>,
    texts: HashMap<Text, Text>,
}

impl Mover<'_> {
    fn forward(&mut self, value: Value) -> Result<Value, Stop> {
        Ok(match value {
            Value::Unit | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Builtin(_) => {
                value
            }
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => Value::Array(Items {
                start: self.run(items.start, items.len)?,
                len: items.len,
            }),
            Value::Record { shape, at } => Value::Record {
                shape,
                at: self.run(at, self.symbols.width(shape))?,
            },
            Value::Variant { case, at } => Value::Variant {
                case,
                at: self.run(at, self.symbols.arguments(case))?,
            },
            Value::Ref(at) => Value::Ref(self.run(at, 1)?),
            Value::Closure { function, at } => Value::Closure {
                function,
                at: self.run(at, (self.captures)(function))?,
            },
            Value::Task { node, at } => Value::Task {
                node,
                at: self.run(at, node.operands())?,
            },
        })
    }

    fn run(&mut self, start: u32, len: u32) -> Result<u32, Stop> {
        if len == 0 {
            return Ok(0);
        }
        if let Some(moved) = self.runs.get(&start) {
            return Ok(*moved);
        }
        let moved = self.new.store(self.old.run(start, len))?;
        self.runs.insert(start, moved);
        Ok(moved)
    }

    fn text(&mut self, text: Text) -> Result<Text, Stop> {
        if text.start.saturating_add(text.len) <= self.pinned {
            return Ok(text);
        }
        if let Some(moved) = self.texts.get(&text) {
            return Ok(*moved);
        }
        let moved = match self.new.string(self.old.str(text))? {
            Value::String(moved) => moved,
            _ => text,
        };
        self.texts.insert(text, moved);
        Ok(moved)
    }
}
