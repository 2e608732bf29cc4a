//! The attributes of one element after the generic checks, by name and type.

use chatmd_syntax::{Attribute as Written, Span};

use super::context::Context;
use super::value::Value;
use crate::decl::{Field, PathExpr, Sp};

/// What became of one written attribute.
#[derive(Debug)]
pub(super) enum State {
    Valid(Value),
    /// Written but unusable; already reported.
    Poisoned(Option<String>),
}

/// One written attribute.
#[derive(Debug)]
pub(super) struct Slot<'t> {
    pub(super) name: &'t str,
    /// The attribute as written.
    written: &'t Written,
    /// Value inside its quotes, or the name of a bare attribute; relative to the item.
    span: Span,
    pub(super) state: State,
}

/// Attributes of one element after all generic checks.
#[derive(Debug)]
pub(super) struct Attributes<'t> {
    slots: Vec<Slot<'t>>,
}

impl<'t> Attributes<'t> {
    /// Room for so many attributes.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self {
            slots: Vec::with_capacity(count),
        }
    }

    pub(super) fn push(
        &mut self,
        context: &Context<'t>,
        name: &'t str,
        written: &'t Written,
        state: State,
    ) {
        let span = context.relative(written.value.unwrap_or(written.name));
        self.slots.push(Slot {
            name,
            written,
            span,
            state,
        });
    }

    pub(super) fn poison(&mut self, context: &Context<'t>, name: &'t str, written: &'t Written) {
        // A value that the parser refused may name anything.
        let raw = match written.poisoned {
            true => None,
            false => context.tree.value(written).map(|text| text.into_owned()),
        };
        self.push(context, name, written, State::Poisoned(raw));
    }

    pub(super) fn slot(&self, name: &str) -> Option<&Slot<'t>> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// Whether the attribute is written, usable or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.slot(name).is_some()
    }

    /// Whether the attribute is written but unusable.
    pub(super) fn is_poisoned(&self, name: &str) -> bool {
        self.slot(name)
            .is_some_and(|slot| matches!(slot.state, State::Poisoned(_)))
    }

    /// The attribute as written.
    pub(super) fn written(&self, name: &str) -> Option<&'t Written> {
        self.slot(name).map(|slot| slot.written)
    }

    fn valid(&self, name: &str) -> Option<(&Value, Span)> {
        match self.slot(name)? {
            Slot {
                state: State::Valid(value),
                span,
                ..
            } => Some((value, *span)),
            _ => None,
        }
    }

    pub(super) fn word_text(&self, name: &str) -> Option<&'static str> {
        match self.valid(name)? {
            (Value::Word(word), _) => Some(word),
            _ => None,
        }
    }

    /// A valid boolean or flag.
    pub(super) fn boolean(&self, name: &str) -> Option<Sp<bool>> {
        match self.valid(name)? {
            (Value::Bool(value), span) => Some(Sp {
                value: *value,
                span,
            }),
            _ => None,
        }
    }

    /// A valid boolean, or `default`.
    pub(super) fn boolean_or(&self, name: &str, default: bool) -> bool {
        self.boolean(name).map_or(default, |sp| sp.value)
    }

    /// A valid word as a value of its enumeration.
    pub(super) fn word<T>(&self, name: &str, from: impl Fn(&str) -> Option<T>) -> Option<Sp<T>> {
        match self.valid(name)? {
            (Value::Word(word), span) => from(word).map(|value| Sp { value, span }),
            _ => None,
        }
    }

    /// A valid list of words.
    pub(super) fn words(&self, name: &str) -> Option<Sp<Vec<&'static str>>> {
        match self.valid(name)? {
            (Value::Words(words), span) => Some(Sp {
                value: words.clone(),
                span,
            }),
            _ => None,
        }
    }

    /// A valid number that cannot be `none`.
    pub(super) fn number(&self, name: &str) -> Option<Sp<u64>> {
        match self.valid(name)? {
            (Value::Number(value), span) => Some(Sp {
                value: *value,
                span,
            }),
            _ => None,
        }
    }

    /// A valid number or `none`.
    pub(super) fn limit(&self, name: &str) -> Option<Sp<Option<u64>>> {
        match self.valid(name)? {
            (Value::Number(value), span) => Some(Sp {
                value: Some(*value),
                span,
            }),
            (Value::Unlimited, span) => Some(Sp { value: None, span }),
            _ => None,
        }
    }

    /// A valid text.
    pub(super) fn text(&self, name: &str) -> Option<Sp<String>> {
        match self.valid(name)? {
            (Value::Text(text), span) => Some(Sp {
                value: text.clone(),
                span,
            }),
            _ => None,
        }
    }

    /// A valid list of strings.
    pub(super) fn items(&self, name: &str) -> Option<Sp<Vec<String>>> {
        match self.valid(name)? {
            (Value::Items(items), span) => Some(Sp {
                value: items.clone(),
                span,
            }),
            _ => None,
        }
    }

    /// A valid path.
    pub(super) fn path(&self, name: &str) -> Option<Sp<PathExpr>> {
        match self.valid(name)? {
            (Value::Path(path), span) => Some(Sp {
                value: path.clone(),
                span,
            }),
            _ => None,
        }
    }

    /// An attribute that names something.
    pub(super) fn field(&self, name: &str) -> Field<String> {
        match self.slot(name) {
            None => Field::Absent,
            Some(Slot {
                state: State::Valid(Value::Text(text)),
                span,
                ..
            }) => Field::Value(Sp {
                value: text.clone(),
                span: *span,
            }),
            Some(Slot {
                state: State::Poisoned(raw),
                span,
                ..
            }) => Field::Poisoned {
                raw: raw.clone(),
                span: *span,
            },
            Some(slot) => Field::Poisoned {
                raw: None,
                span: slot.span,
            },
        }
    }
}
