//! Attributes without a value: missing, bare or empty. The repair writes a value where one is right
//! in any document; where only the author can know, the help shows what to write.

use chatmd_syntax::{Attribute as Written, Element, Span};

use super::attributes::Attributes;
use super::context::Context;
use super::reader::{Applies, applies, escape, in_range};
use super::value;
use crate::schema::samples::{Sample, sample};
use crate::schema::{Attribute, Element as Schema, Type};

/// What an attribute is for and what to write, as a hint.
fn explained(schema: &'static Schema, row: &'static Attribute) -> String {
    let mut doc = row.doc.trim_end_matches('.').chars();
    let first = doc.next().map(|c| c.to_ascii_lowercase());
    let doc: String = first.into_iter().chain(doc).collect();
    let write = match row.ty {
        Type::Words([_, _, ..]) | Type::Bool => {
            let words = match row.ty {
                Type::Words(words) => words,
                _ => &["true", "false"],
            };
            format!("write {}", value::one_of(words))
        }
        _ => {
            let text = sample(schema, row).text();
            let verb = if text == "…" {
                "write"
            } else {
                "for example"
            };
            format!("{verb} `{}=\"{}\"`", row.name, escape(text))
        }
    };
    format!("`{}`: {doc}; {write}", row.name)
}

/// The value that a repair may write: one that reads without a finding and goes with what else the
/// element says.
fn repair(
    context: &mut Context<'_>,
    schema: &'static Schema,
    found: &Attributes<'_>,
    row: &'static Attribute,
) -> Option<&'static str> {
    let Sample::Value(text) = sample(schema, row) else {
        return None;
    };
    let selects = |attribute: &&Attribute| {
        attribute
            .when
            .is_some_and(|when| when.attribute == row.name)
    };
    let fits = |word: &str| {
        schema.attributes.iter().filter(selects).all(|attribute| {
            let rows = || schema.rows(attribute.name).filter_map(|row| row.when);
            match found.has(attribute.name) {
                true => rows().any(|when| when.words.contains(&word)),
                false => !attribute.required || !rows().any(|when| when.words.contains(&word)),
            }
        })
    };
    let text = match row.ty {
        Type::Words(words) if !fits(text) => words.iter().copied().find(|word| fits(word))?,
        _ => text,
    };
    let (read, warnings) = value::read(row, text, &mut context.budget.patterns).ok()?;
    (warnings.is_empty() && in_range(row, &read).is_ok()).then_some(text)
}

/// An attribute without `=`.
pub(super) fn bare(
    context: &mut Context<'_>,
    schema: &'static Schema,
    found: &Attributes<'_>,
    row: &'static Attribute,
    written: &Written,
) {
    let code = if row.bare_is_missing && row.required {
        row.missing.unwrap_or(schema.codes.missing)
    } else {
        schema.codes.bare
    };
    let at = Span::empty(written.span.end);
    let mut finding = context
        .finding(code, written.name, format!("`{}` needs a value", row.name))
        .label("no value")
        .hint(explained(schema, row));
    if let Some(text) = repair(context, schema, found, row) {
        let text = format!("=\"{}\"", escape(text));
        finding = finding.fix(
            format!("write `{}{text}`", row.name),
            context.place(at),
            text,
        );
    }
    context.report_below(finding, &[row.name]);
}

/// `name=""`.
pub(super) fn empty(
    context: &mut Context<'_>,
    schema: &'static Schema,
    found: &Attributes<'_>,
    row: &'static Attribute,
    written: &Written,
) {
    let code = match (row.empty, row.required) {
        (Some(code), _) => code,
        (None, true) => row.missing.unwrap_or(schema.codes.missing),
        (None, false) => row.invalid.unwrap_or_else(|| value::code_of(row.ty)),
    };
    let at = written.value.unwrap_or(written.name);
    let mut finding = context
        .finding(
            code,
            at,
            format!("`{}` of `<{}>` must not be empty", row.name, schema.name),
        )
        .label("empty")
        .hint(explained(schema, row));
    // What somebody means who wrote nothing is not always what a bare name says.
    let certain = row.required && written.value.is_some();
    if let Some(text) = repair(context, schema, found, row).filter(|_| certain) {
        finding = finding.fix(
            format!("write `{}=\"{text}\"`", row.name),
            context.place(at),
            escape(text),
        );
    }
    context.report_below(finding, &[row.name]);
}

/// Required attributes that are not written.
pub(super) fn missing(
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
        let mut finding = context
            .finding(
                code,
                element.name_span,
                format!("`<{}>` needs the attribute `{}`", schema.name, row.name),
            )
            .label(format!("`{}` is missing", row.name))
            .hint(explained(schema, row));
        if let Some(text) = repair(context, schema, found, row) {
            let text = format!("{}=\"{}\"", row.name, escape(text));
            finding = finding.fix(
                format!("add `{text}`"),
                context.place(at),
                format!(" {text}"),
            );
        }
        context.report_below(finding, &[row.name]);
    }
}
