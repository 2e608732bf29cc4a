//! The generic checks of an element against its schema row: unknown, repeated, bare, missing and
//! misfitting attributes, values by type, and children.

use chatmd_syntax::{Attribute as Written, Element, Name, Node, NodeId, Span};

use super::context::{Context, is_layout, trim};
use super::value::{self, Fault, Value};
use crate::decl::{Field, PathExpr, Sp};
use crate::diagnostics::{Diagnostic, Severity, nearest, quote};
use crate::schema::{Attribute, Child, Children, Element as Schema, Type, When, policy};

/// What became of one written attribute.
#[derive(Debug)]
enum State {
    Valid(Value),
    /// Written but unusable; already reported.
    Poisoned(Option<String>),
}

#[derive(Debug)]
struct Slot<'t> {
    name: &'t str,
    /// The attribute as written.
    written: &'t Written,
    /// Value inside its quotes, or the name of a bare attribute; relative to the item.
    span: Span,
    state: State,
}

/// Attributes of one element after all generic checks.
#[derive(Debug)]
pub(super) struct Attributes<'t> {
    slots: Vec<Slot<'t>>,
}

/// Outcome of asking whether a conditional row applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applies {
    Yes,
    No,
    /// The selector is missing or wrong.
    Unknown,
}

/// An attribute that the table does not know; `true` when the caller has dealt with it.
pub(super) type Unlisted<'a, 't> = &'a mut dyn FnMut(&mut Context<'t>, &str, &'t Written) -> bool;

/// Checks the attributes of `element` against `schema`.
pub(super) fn attributes<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Attributes<'t> {
    attributes_with(context, element, schema, &mut |_, _, _| false)
}

/// [`attributes`] with a say about names outside the table.
pub(super) fn attributes_with<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    unlisted: Unlisted<'_, 't>,
) -> Attributes<'t> {
    let mut found = Attributes {
        slots: Vec::with_capacity(element.attributes.len()),
    };
    let mut later: Vec<(&'t str, &'t Written)> = Vec::new();
    for written in &element.attributes {
        let name = context.tree.slice(written.name);
        if written.poisoned {
            // Reported by the parser: repeated, unterminated or without a value.
            if !found.has(name) {
                found.poison(context, name, written);
            }
        } else if schema.rows(name).next().is_none() {
            if !unlisted(context, name, written) {
                unknown(context, schema, name, written);
            }
            found.poison(context, name, written);
        } else if schema.rows(name).any(|row| row.when.is_some()) {
            later.push((name, written));
        } else if let Some(row) = schema.rows(name).next() {
            accept(context, schema, &mut found, row, written);
        }
    }
    for (name, written) in later {
        conditional(context, schema, &mut found, name, written);
    }
    missing(context, element, schema, &found);
    found
}

fn unknown(context: &mut Context<'_>, schema: &'static Schema, name: &str, written: &Written) {
    let mut names: Vec<&'static str> = Vec::new();
    for row in schema.attributes {
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    let mut finding = context.finding(
        schema.codes.unknown_attribute,
        written.name,
        format!("`<{}>` has no attribute {}", schema.name, quote(name)),
    );
    if schema.codes.unknown_attribute_warns {
        finding = finding.with_severity(Severity::Warning);
    } else {
        finding = finding.with_severity(Severity::Error);
    }
    finding = match nearest(name, names.iter().copied()) {
        Some(meant) => finding
            .label(format!("did you mean `{meant}`?"))
            .hint(format!("did you mean `{meant}`?"))
            .fix(
                format!("rename to `{meant}`"),
                context.place(written.name),
                meant,
            ),
        None => finding.label("not an attribute of this element"),
    };
    finding = finding.hint(if names.is_empty() {
        format!("`<{}>` takes no attributes", schema.name)
    } else {
        format!(
            "its attributes are {}",
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        )
    });
    context.report(finding);
}

/// Decides which row of a conditional attribute holds, then checks the value.
fn conditional<'t>(
    context: &mut Context<'t>,
    schema: &'static Schema,
    found: &mut Attributes<'t>,
    name: &'t str,
    written: &'t Written,
) {
    let rows: Vec<&'static Attribute> = schema.rows(name).collect();
    let verdicts: Vec<Applies> = rows
        .iter()
        .map(|row| {
            row.when
                .map_or(Applies::Yes, |when| applies(schema, found, when))
        })
        .collect();
    if let Some(row) = rows
        .iter()
        .zip(&verdicts)
        .find(|(_, verdict)| **verdict == Applies::Yes)
    {
        accept(context, schema, found, row.0, written);
    } else if verdicts.contains(&Applies::Unknown) {
        // Without a selector only a row whose type does not depend on it can be checked.
        match rows.as_slice() {
            [first, rest @ ..] if rest.iter().all(|row| row.ty == first.ty) => {
                accept(context, schema, found, first, written);
            }
            _ => found.poison(context, name, written),
        }
    } else {
        incompatible(context, schema, found, &rows, written);
        found.poison(context, name, written);
    }
}

fn applies(schema: &'static Schema, found: &Attributes<'_>, when: When) -> Applies {
    let word = match found.slots.iter().find(|slot| slot.name == when.attribute) {
        Some(Slot {
            state: State::Valid(Value::Word(word)),
            ..
        }) => Some(*word),
        Some(_) => None,
        None => schema
            .rows(when.attribute)
            .next()
            .and_then(|row| row.default),
    };
    match word {
        Some(word) if when.words.contains(&word) => Applies::Yes,
        Some(_) => Applies::No,
        None => Applies::Unknown,
    }
}

fn incompatible<'t>(
    context: &mut Context<'t>,
    schema: &'static Schema,
    found: &Attributes<'t>,
    rows: &[&'static Attribute],
    written: &'t Written,
) {
    let Some(when) = rows.first().and_then(|row| row.when) else {
        return;
    };
    let words: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.when)
        .flat_map(|when| when.words)
        .copied()
        .collect();
    let selected = found
        .word_text(when.attribute)
        .or_else(|| {
            schema
                .rows(when.attribute)
                .next()
                .and_then(|row| row.default)
        })
        .unwrap_or_default();
    let name = context.tree.slice(written.name);
    let finding = context
        .finding(
            schema.codes.incompatible,
            written.name,
            format!(
                "`{name}` does not go with {}=\"{selected}\"",
                when.attribute
            ),
        )
        .label(format!(
            "only with {} {}",
            when.attribute,
            value::one_of(&words)
        ))
        .hint(format!(
            "remove `{name}`, or set `{}` to {}",
            when.attribute,
            value::one_of(&words)
        ));
    context.report(finding);
}

/// Reads the value of a listed attribute that applies.
fn accept<'t>(
    context: &mut Context<'t>,
    schema: &'static Schema,
    found: &mut Attributes<'t>,
    row: &'static Attribute,
    written: &'t Written,
) {
    let name = context.tree.slice(written.name);
    let Some(decoded) = context.tree.value(written) else {
        if row.ty == Type::Flag {
            found.push(context, name, written, State::Valid(Value::Bool(true)));
        } else {
            bare(context, schema, row, written);
            found.poison(context, name, written);
        }
        return;
    };
    let whole: &str = &decoded;
    let text = if row.trimmed { trim(whole) } else { whole };
    let lead = if row.trimmed {
        whole.len() - whole.trim_start_matches(is_layout).len()
    } else {
        0
    };
    if text.is_empty() {
        if row.may_be_empty {
            found.push(
                context,
                name,
                written,
                State::Valid(Value::Text(String::new())),
            );
        } else {
            empty(context, schema, row, written);
            found.poison(context, name, written);
        }
        return;
    }
    let outcome = if text == "none"
        && let Some(code) = row.none
    {
        Err(Fault::new(format!("`{}` must be finite", row.name))
            .code(code)
            .hint("give a finite value"))
    } else {
        value::read(row, text, &mut context.budget.patterns)
            .and_then(|(value, warnings)| in_range(row, &value).map(|()| (value, warnings)))
    };
    match outcome {
        Ok((value, warnings)) => {
            for fault in warnings {
                report_fault(context, schema, row, written, lead, fault);
            }
            found.push(context, name, written, State::Valid(value));
        }
        Err(fault) => {
            report_fault(context, schema, row, written, lead, fault);
            found.push(
                context,
                name,
                written,
                State::Poisoned(Some(text.to_owned())),
            );
        }
    }
}

fn in_range(row: &'static Attribute, value: &Value) -> Result<(), Fault> {
    let (Some((low, high)), Value::Number(number)) = (row.range, value) else {
        return Ok(());
    };
    if (low..=high).contains(number) {
        return Ok(());
    }
    let show = |number: u64| shown(row.ty, number);
    let bounds = match high {
        u64::MAX => format!("at least {}", show(low)),
        _ => format!("from {} to {}", show(low), show(high)),
    };
    Err(Fault::new(format!("`{}` must be {bounds}", row.name))
        .code(row.out_of_range.unwrap_or("shell.limit_out_of_range"))
        .hint(format!("choose a value {bounds}")))
}

/// A number in the unit of its type.
fn shown(ty: Type, number: u64) -> String {
    match ty {
        Type::Duration | Type::DurationOrNone => match number {
            n if n.is_multiple_of(3_600_000) && n > 0 => format!("{}h", n / 3_600_000),
            n => format!("{n}ms"),
        },
        Type::Bytes | Type::BytesOrNone => match number {
            n if n > 0 && n.is_multiple_of(1 << 30) => format!("{}GiB", n >> 30),
            n if n > 0 && n.is_multiple_of(1 << 20) => format!("{}MiB", n >> 20),
            n => format!("{n} bytes"),
        },
        _ => number.to_string(),
    }
}

fn report_fault(
    context: &mut Context<'_>,
    schema: &'static Schema,
    row: &'static Attribute,
    written: &Written,
    lead: usize,
    fault: Fault,
) {
    let code = fault
        .code
        .or(row.invalid)
        .unwrap_or_else(|| value::code_of(row.ty));
    if is_secret(schema) {
        // Nothing of the value may be shown, not even by pointing at it.
        let message = match code {
            "shell.unexpanded_variable" => {
                "the secret contains a path variable, which is not expanded"
            }
            _ => "the value of this literal secret cannot be used",
        };
        let finding = context.finding(code, written.name, message);
        return context.report_below(finding, &[row.name]);
    }
    let exact = match &fault.range {
        Some(range) => context.inside(written, &(range.start + lead..range.end + lead)),
        None => written.value.unwrap_or(written.name),
    };
    let mut finding = context.finding(code, exact, fault.message);
    if let Some(hint) = fault.hint {
        finding = finding.hint(hint);
    }
    if let Some(text) = fault.replacement {
        let shown = crate::diagnostics::clip(&text);
        finding = finding.label(format!("did you mean `{shown}`?")).fix(
            format!("change to `{shown}`"),
            context.place(exact),
            escape(&text),
        );
    }
    context.report_below(finding, &[row.name]);
}

fn is_secret(schema: &'static Schema) -> bool {
    core::ptr::eq(schema, &crate::schema::sections::LITERAL_SECRET)
}

/// Text as it must be written inside a quoted value.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

fn bare(
    context: &mut Context<'_>,
    schema: &'static Schema,
    row: &'static Attribute,
    written: &Written,
) {
    let code = if row.bare_is_missing && row.required {
        row.missing.unwrap_or(schema.codes.missing)
    } else {
        schema.codes.bare
    };
    let at = Span::empty(written.span.end);
    let finding = context
        .finding(code, written.name, format!("`{}` needs a value", row.name))
        .label("no value")
        .hint(format!("write `{}=\"…\"`", row.name))
        .fix(
            format!("add a value to `{}`", row.name),
            context.place(at),
            "=\"\"",
        );
    context.report_below(finding, &[row.name]);
}

fn empty(
    context: &mut Context<'_>,
    schema: &'static Schema,
    row: &'static Attribute,
    written: &Written,
) {
    let code = match (row.empty, row.required) {
        (Some(code), _) => code,
        (None, true) => row.missing.unwrap_or(schema.codes.missing),
        (None, false) => row.invalid.unwrap_or_else(|| value::code_of(row.ty)),
    };
    let at = written.value.unwrap_or(written.name);
    let finding = context
        .finding(
            code,
            at,
            format!("`{}` of `<{}>` must not be empty", row.name, schema.name),
        )
        .label("empty")
        .hint(row.doc);
    context.report_below(finding, &[row.name]);
}

fn missing(
    context: &mut Context<'_>,
    element: &Element,
    schema: &'static Schema,
    found: &Attributes<'_>,
) {
    for row in schema.attributes.iter().filter(|row| row.required) {
        if found.has(row.name) {
            continue;
        }
        if row
            .when
            .is_some_and(|when| applies(schema, found, when) != Applies::Yes)
        {
            continue;
        }
        let code = row.missing.unwrap_or(schema.codes.missing);
        let at = Span::empty(element.name_span.end);
        let finding = context
            .finding(
                code,
                element.name_span,
                format!("`<{}>` needs the attribute `{}`", schema.name, row.name),
            )
            .label(format!("`{}` is missing", row.name))
            .hint(row.doc)
            .fix(
                format!("add `{}`", row.name),
                context.place(at),
                format!(" {}=\"\"", row.name),
            );
        context.report_below(finding, &[row.name]);
    }
}

impl<'t> Attributes<'t> {
    fn push(&mut self, context: &Context<'t>, name: &'t str, written: &'t Written, state: State) {
        let span = context.relative(written.value.unwrap_or(written.name));
        self.slots.push(Slot {
            name,
            written,
            span,
            state,
        });
    }

    fn poison(&mut self, context: &Context<'t>, name: &'t str, written: &'t Written) {
        // A value that the parser refused may name anything.
        let raw = match written.poisoned {
            true => None,
            false => context.tree.value(written).map(|text| text.into_owned()),
        };
        self.push(context, name, written, State::Poisoned(raw));
    }

    fn slot(&self, name: &str) -> Option<&Slot<'t>> {
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

    fn word_text(&self, name: &str) -> Option<&'static str> {
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

/// Children of `element` that its schema permits, in source order; everything else is reported.
pub(super) fn children<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Vec<(&'t Element, &'static Schema)> {
    let listed: Vec<Child> = match schema.children {
        Children::List(list) => list.to_vec(),
        Children::Matchers { .. } => policy::MATCHERS
            .iter()
            .map(|element| Child {
                element,
                once: false,
            })
            .collect(),
        Children::Empty => Vec::new(),
        Children::Body(_) | Children::Script => return Vec::new(),
    };
    let mut permitted = Vec::new();
    let mut firsts: Vec<(&'static str, Span)> = Vec::new();
    for id in &element.children {
        let Some(child) = element_or_text(context, *id, element, schema) else {
            continue;
        };
        let name = context.name_of(child);
        let entry = match child.name {
            Name::Known(_) => listed.iter().find(|entry| entry.element.name == name),
            Name::Unknown => None,
        };
        let Some(entry) = entry else {
            stranger(context, schema, &listed, child, name);
            continue;
        };
        if entry.once {
            if let Some((_, first)) = firsts
                .iter()
                .find(|(known, _)| *known == entry.element.name)
            {
                let finding = context
                    .finding(
                        "shell.duplicate_section",
                        child.start_tag,
                        format!("`<{name}>` may occur only once below `<{}>`", schema.name),
                    )
                    .label("second occurrence")
                    .related(context.place(*first), "first here")
                    .hint("merge the two");
                context.report_below(finding, &[name]);
                continue;
            }
            firsts.push((entry.element.name, child.start_tag));
        }
        if !child.broken_start {
            permitted.push((child, entry.element));
        }
    }
    permitted
}

/// The child element; text and RAW are reported, layout is skipped.
fn element_or_text<'t>(
    context: &mut Context<'t>,
    id: NodeId,
    parent: &Element,
    schema: &'static Schema,
) -> Option<&'t Element> {
    let node = context.tree.node(id);
    match node {
        Node::Element(element) => Some(element),
        Node::Text { span } if context.tree.slice(*span).chars().all(is_layout) => None,
        Node::Text { .. } | Node::Raw { .. } => {
            let place = context.text_place(node);
            let text = match is_secret(schema) {
                true => String::new(),
                false => quote(context.tree.slice(place)),
            };
            let finding = context
                .finding(
                    schema.codes.text,
                    place,
                    format!("unexpected text {text} in `<{}>`", schema.name),
                )
                .label("text has no meaning here")
                .related(context.place(parent.start_tag), "in this element")
                .hint("write attributes or elements; put remarks in `<!-- … -->`");
            context.report(finding);
            None
        }
        _ => None,
    }
}

/// Reports a child element that is not permitted.
fn stranger(
    context: &mut Context<'_>,
    schema: &'static Schema,
    listed: &[Child],
    child: &Element,
    name: &str,
) {
    let names: Vec<&'static str> = listed.iter().map(|entry| entry.element.name).collect();
    let must_be_empty = matches!(schema.children, Children::Empty);
    let code = if must_be_empty {
        schema.codes.child_of_empty
    } else {
        schema.codes.unknown_child
    };
    let message = if must_be_empty {
        format!(
            "`<{}>` must be empty, but contains `<{}>`",
            schema.name,
            crate::diagnostics::clip(name)
        )
    } else if matches!(schema.children, Children::Matchers { .. }) {
        format!("`<{}>` is not a matcher", crate::diagnostics::clip(name))
    } else {
        format!(
            "`<{}>` is not permitted in `<{}>`",
            crate::diagnostics::clip(name),
            schema.name
        )
    };
    let mut finding: Diagnostic = context
        .finding(code, child.start_tag, message)
        .label("not permitted here");
    if let Some(meant) = nearest(name, names.iter().copied()) {
        finding = finding.hint(format!("did you mean `<{meant}>`?")).fix(
            format!("rename to `{meant}`"),
            context.place(child.name_span),
            meant,
        );
        if let (Some(end), Some(fix)) = (child.end_tag, finding.fixes.first_mut()) {
            let start = end.start + 2;
            let span = Span::new(start, start + child.name_span.len());
            fix.edits.push(crate::diagnostics::Edit {
                place: context.place(span),
                text: meant.to_owned(),
            });
        }
    }
    if !names.is_empty() {
        let list = names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        finding = finding.hint(format!("`<{}>` may contain {list}", schema.name));
    }
    context.report(finding);
}
