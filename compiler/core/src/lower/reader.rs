//! The generic checks of attributes against the schema row of their element: unknown, bare, missing
//! and misfitting names, and values by type.

use chatmd_syntax::{Attribute as Written, Element, MAX_ATTRIBUTES};

use super::absent::{bare, empty, missing};
pub(super) use super::attributes::Attributes;
use super::attributes::{Slot, State};
pub(super) use super::children::children;

use super::context::{Context, is_layout, trim};
use super::value::{self, Fault, Value};
use crate::diagnostics::{Severity, nearest, quote};
use crate::schema::{Attribute, Element as Schema, Type, When};

/// Outcome of asking whether a conditional row applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Applies {
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
    let mut found = Attributes::with_capacity(element.attributes.len());
    let mut later: Vec<(&'t str, &'t Written)> = Vec::new();
    for (index, written) in element.attributes.iter().enumerate() {
        let name = context.tree.slice(written.name);
        if index >= MAX_ATTRIBUTES {
            // The parser has reported that there are too many. Each look at one of them costs a
            // look at all, so only names of the table are taken note of: they are not missing.
            if schema.rows(name).next().is_some() && !found.has(name) {
                found.poison(context, name, written);
            }
        } else if written.poisoned {
            // Reported by the parser: repeated, unterminated or without a value.
            if !found.has(name) {
                found.poison(context, name, written);
            }
        } else if schema.rows(name).next().is_none() {
            if !unlisted(context, name, written) {
                // What it was meant to be is not missing as well.
                if let Some(meant) = unknown(context, element, schema, name, written) {
                    found.poison(context, meant, written);
                }
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

/// Reports an attribute that the element does not have. Where the misspelling is an error, returns
/// the attribute that was meant.
fn unknown(
    context: &mut Context<'_>,
    element: &Element,
    schema: &'static Schema,
    name: &str,
    written: &Written,
) -> Option<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for row in schema.attributes {
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    let severity = match schema.codes.unknown_attribute_warns {
        true => Severity::Warning,
        false => Severity::Error,
    };
    let message = format!("`<{}>` has no attribute {}", schema.name, quote(name));
    let finding = context
        .finding(schema.codes.unknown_attribute, written.name, message)
        .with_severity(severity);
    let written_names: Vec<&str> = element
        .attributes
        .iter()
        .take(MAX_ATTRIBUTES)
        .map(|written| context.tree.slice(written.name))
        .collect();
    let free = |name: &&str| !written_names.contains(name);
    let habit = super::habits::rename(schema.name, name)
        .filter(|meant| names.contains(meant) && free(meant));
    let meant = habit.or_else(|| nearest(name, names.iter().copied().filter(free)));
    let finding = if let Some(meant) = meant.filter(|_| name.ends_with(':')) {
        // As in YAML: the value behind it is no value yet, so a new name alone repairs nothing.
        finding
            .label(format!("did you mean `{meant}=`?"))
            .hint(format!("write `{meant}=\"…\"`, with an equals sign"))
    } else if let Some(meant) = meant {
        finding
            .label(format!("did you mean `{meant}`?"))
            .hint(format!("did you mean `{meant}`?"))
            .fix(
                format!("rename to `{meant}`"),
                context.place(written.name),
                meant,
            )
    } else if let Some(meant) = nearest(name, names.iter().copied()) {
        finding.label(format!("`{meant}` is already written")).fix(
            format!("remove `{}`", crate::diagnostics::clip(name)),
            context.place(written.span),
            "",
        )
    } else {
        finding.label("not an attribute of this element")
    };
    if meant.is_none()
        && let Some(hint) = super::habits::attribute(schema.name, name)
    {
        context.report(finding.hint(hint));
        return None;
    }
    // With a suggestion the list of all names would only push it out of sight.
    let finding = match finding.fixes.is_empty() {
        true => finding.hint(listed(schema)),
        false => finding,
    };
    context.report(finding);
    meant.filter(|_| severity == Severity::Error)
}

/// The attributes that an element takes, those that it needs first.
fn listed(schema: &'static Schema) -> String {
    let names = |required: bool| {
        let rows = schema.attributes.iter();
        let needed = |name| {
            schema
                .rows(name)
                .any(|row| row.required && row.when.is_none())
        };
        let mut names: Vec<String> = Vec::new();
        for row in rows.filter(|row| needed(row.name) == required) {
            let name = format!("`{}`", row.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    };
    match (names(true), names(false)) {
        (needed, free) if needed.is_empty() && free.is_empty() => {
            format!("`<{}>` takes no attributes", schema.name)
        }
        (needed, free) if needed.is_empty() => format!("its attributes are {free}"),
        (needed, free) if free.is_empty() => format!("its attributes are {needed}"),
        (needed, free) => format!("it needs {needed} and takes {free}"),
    }
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

pub(super) fn applies(schema: &'static Schema, found: &Attributes<'_>, when: When) -> Applies {
    let word = match found.slot(when.attribute) {
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
            bare(context, schema, found, row, written);
            found.poison(context, name, written);
        }
        return;
    };
    let whole: &str = &decoded;
    if context.tree.slice(written.span).contains('\0') {
        // The parser has reported the byte; what is around it is not judged.
        found.poison(context, name, written);
        return;
    }
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
            empty(context, schema, found, row, written);
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

pub(super) fn in_range(row: &'static Attribute, value: &Value) -> Result<(), Fault> {
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
            n => format!("{n}B"),
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

/// Whether the element holds a secret, of which nothing may be shown.
pub(super) fn is_secret(schema: &'static Schema) -> bool {
    core::ptr::eq(schema, &crate::schema::sections::LITERAL_SECRET)
}

/// Text as it must be written inside a quoted value.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}
