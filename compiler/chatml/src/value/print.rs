//! `to_string` (spec 05 section 6.2).

use std::fmt::Write as _;

use super::data::Data;
use super::heap::Heap;
use super::symbols::Symbols;
use super::{Value, import};
use crate::limits::{Budget, Limits, Stop, Unlimited};

/// Nesting from which `...` stands for a value. It also ends cyclic data.
const MAX_DEPTH: u32 = 64;

/// What printing needs to see.
pub(crate) struct Printer<'a, 'b> {
    pub(crate) heap: &'a Heap,
    pub(crate) symbols: &'a Symbols,
    pub(crate) budget: &'a mut Budget<'b>,
    /// Whether a function belongs to the library.
    pub(crate) is_library: &'a dyn Fn(u32) -> bool,
    /// Bytes the text may have.
    pub(crate) allowance: u64,
}

/// The text of a value.
pub(crate) fn to_string(printer: &mut Printer<'_, '_>, value: Value) -> Result<String, Stop> {
    let mut out = String::new();
    write(printer, value, 0, &mut out)?;
    Ok(out)
}

/// The text of data as `to_string` gives it.
pub(crate) fn data_to_string(data: &Data) -> String {
    let (mut heap, mut symbols) = (Heap::new(), Symbols::default());
    heap.allow(u64::MAX);
    let limits = Limits {
        fuel: u64::MAX,
        ..Limits::default()
    };
    let text = import(&mut heap, &mut symbols, data).and_then(|value| {
        let mut printer = Printer {
            heap: &heap,
            symbols: &symbols,
            budget: &mut Budget::new(&limits, &Unlimited),
            is_library: &|_| false,
            allowance: u64::MAX,
        };
        to_string(&mut printer, value)
    });
    // Nothing bounds it here: data is within the limits of a script.
    text.unwrap_or_default()
}

/// Recursion ends at [`MAX_DEPTH`].
fn write(
    printer: &mut Printer<'_, '_>,
    value: Value,
    depth: u32,
    out: &mut String,
) -> Result<(), Stop> {
    if out.len() as u64 > printer.allowance {
        return Err(Stop::Memory);
    }
    let heap = printer.heap;
    match value {
        Value::Unit => out.push_str("()"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Int(value) => {
            let _ = write!(out, "{value}");
        }
        Value::Float(value) => out.push_str(&float(value)),
        Value::String(text) => {
            printer.budget.data(u64::from(text.len))?;
            out.push_str(heap.str(text));
        }
        Value::Closure { function, .. } => out.push_str(if (printer.is_library)(function) {
            "<builtin>"
        } else {
            "<closure>"
        }),
        Value::Builtin(_) => out.push_str("<builtin>"),
        Value::Task { .. } => out.push_str("<task>"),
        Value::Array(items) if items.len == 0 => out.push_str("[||]"),
        Value::Variant { case, .. } if printer.symbols.arguments(case) == 0 => {
            out.push('`');
            out.push_str(printer.symbols.tag(case));
        }
        _ if depth >= MAX_DEPTH => out.push_str("..."),
        Value::Array(items) => {
            printer.budget.steps(u64::from(items.len))?;
            out.push_str("[|");
            list(printer, heap.items(items), depth, out)?;
            out.push_str("|]");
        }
        Value::Variant { case, at } => {
            let symbols = printer.symbols;
            let _ = write!(out, "`{}(", symbols.tag(case));
            list(printer, heap.run(at, symbols.arguments(case)), depth, out)?;
            out.push(')');
        }
        Value::Ref(at) => {
            out.push_str("ref(");
            if let Some(content) = heap.get(at) {
                write(printer, content, depth + 1, out)?;
            }
            out.push(')');
        }
        Value::Record { shape, at } => {
            let symbols = printer.symbols;
            out.push('{');
            if let Some(shape) = symbols.shape_of(shape) {
                let values = heap.run(at, u32::try_from(shape.labels().len()).unwrap_or(0));
                for (index, (label, value)) in shape.labels().iter().zip(values).enumerate() {
                    out.push_str(if index == 0 { " " } else { "; " });
                    out.push_str(symbols.text(*label));
                    out.push_str(" = ");
                    write(printer, *value, depth + 1, out)?;
                }
            }
            out.push_str(" }");
        }
    }
    Ok(())
}

fn list(
    printer: &mut Printer<'_, '_>,
    values: &[Value],
    depth: u32,
    out: &mut String,
) -> Result<(), Stop> {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(printer, *value, depth + 1, out)?;
    }
    Ok(())
}

/// The shorter of the forms with 15 and 17 significant digits that reads back as the same number.
pub(crate) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let short = general(value, 15);
    let mut text = if short.parse::<f64>() == Ok(value) {
        short
    } else {
        general(value, 17)
    };
    if text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        text.push('.');
    }
    text
}

/// A finite number with that many significant digits, trailing zeros removed, and an exponent where
/// the plain form would be long: the `%g` of C.
fn general(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let significant = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= significant {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!(
            "{}e{sign}{:02}",
            trim_zeros(mantissa),
            exponent.unsigned_abs()
        );
    }
    let places = usize::try_from(significant - 1 - exponent).unwrap_or(0);
    trim_zeros(&format!("{value:.places$}")).to_owned()
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn floats_print_as_the_spec_says() {
        for (value, text) in [
            (7.0, "7."),
            (3.75, "3.75"),
            (-0.0, "-0."),
            (1e20, "1e+20"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345."),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        ] {
            assert_eq!(float(value), text);
        }
    }
}
