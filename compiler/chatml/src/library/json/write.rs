//! Values to JSON text.

use super::{MAX_DEPTH, parts};
use crate::eval::Trouble;
use crate::json::write_string;
use crate::library::{Context, known, unexpected};
use crate::limits::Stop;
use crate::value::{Items, Text, Value};

/// The text of a JSON value, compact or with one item a line.
pub(super) fn text(
    context: &mut Context<'_, '_>,
    function: &'static str,
    json: Value,
    pretty: bool,
) -> Result<Value, Trouble> {
    let mut writer = Writer {
        context,
        function,
        pretty,
        out: String::new(),
    };
    writer.value(json, 0)?;
    let out = writer.out;
    Ok(context.heap.string(&out)?)
}

struct Writer<'c, 'a, 'b> {
    context: &'c mut Context<'a, 'b>,
    function: &'static str,
    pretty: bool,
    out: String,
}

impl Writer<'_, '_, '_> {
    fn no_form(&self, reason: &str) -> Trouble {
        Trouble::run("chatml.run.json", format!("{}: {reason}", self.function))
    }

    /// Recursion ends at [`MAX_DEPTH`], the nesting that can be read back.
    fn value(&mut self, json: Value, depth: u32) -> Result<(), Trouble> {
        self.context.budget.step()?;
        if self.out.len() as u64 > self.context.heap.allowance() {
            return Err(Stop::Memory.into());
        }
        let (case, at) = parts(json)?;
        let content = self.context.heap.get(at);
        match (case, content) {
            (known::JSON_NULL, _) => self.out.push_str("null"),
            (known::JSON_BOOL, Some(Value::Bool(value))) => {
                self.out.push_str(if value { "true" } else { "false" });
            }
            (known::JSON_NUMBER, Some(Value::Float(number))) => {
                let text =
                    number_text(number).ok_or_else(|| self.no_form("a number is not finite"))?;
                self.out.push_str(&text);
            }
            (known::JSON_STRING, Some(Value::String(text))) => self.string(text)?,
            (known::JSON_ARRAY, Some(Value::Array(items))) => {
                self.list(items, depth, ['[', ']'], |writer, item| {
                    writer.value(item, depth + 1)
                })?;
            }
            (known::JSON_OBJECT, Some(Value::Array(items))) => {
                self.list(items, depth, ['{', '}'], |writer, member| {
                    writer.member(member, depth + 1)
                })?;
            }
            _ => return Err(unexpected("a JSON value", json)),
        }
        Ok(())
    }

    fn list(
        &mut self,
        items: Items,
        depth: u32,
        brackets: [char; 2],
        mut write: impl FnMut(&mut Self, Value) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        if depth >= MAX_DEPTH {
            return Err(self.no_form("values nest deeper than 128"));
        }
        self.out.push(brackets[0]);
        for offset in 0..items.len {
            if offset > 0 {
                self.out.push(',');
            }
            self.line(depth + 1);
            let item = self.context.heap.get(items.start + offset);
            write(self, item.unwrap_or(Value::Unit))?;
        }
        if items.len > 0 {
            self.line(depth);
        }
        self.out.push(brackets[1]);
        Ok(())
    }

    fn line(&mut self, depth: u32) {
        if self.pretty {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str("  ");
            }
        }
    }

    fn member(&mut self, member: Value, depth: u32) -> Result<(), Trouble> {
        let key = self.context.field(member, known::KEY)?;
        let value = self.context.field(member, known::VALUE)?;
        let Value::String(key) = key else {
            return Err(unexpected("a string", key));
        };
        self.string(key)?;
        self.out.push_str(if self.pretty { ": " } else { ":" });
        self.value(value, depth)
    }

    fn string(&mut self, text: Text) -> Result<(), Trouble> {
        self.context.budget.data(u64::from(text.len))?;
        write_string(&mut self.out, self.context.heap.str(text));
        Ok(())
    }
}

/// Integral numbers below 2^53 without a fraction, others as the shortest text that reads back.
fn number_text(number: f64) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_finite() {
        return None;
    }
    if number == 0.0 || (1e-6..EXACT).contains(&number.abs()) {
        return Some(format!("{number}"));
    }
    Some(format!("{number:e}"))
}

#[cfg(test)]
mod tests {
    use super::number_text;

    #[test]
    fn numbers_are_json() {
        for (number, text) in [
            (1.0, Some("1")),
            (-3.0, Some("-3")),
            (2.5, Some("2.5")),
            (0.1, Some("0.1")),
            (9_007_199_254_740_991.0, Some("9007199254740991")),
            (1e300, Some("1e300")),
            (1e-7, Some("1e-7")),
            (-0.0, Some("-0")),
            (5e-324, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            let printed = number_text(number);
            if number.is_finite() {
                let printed = printed.unwrap_or_default();
                assert_eq!(printed.parse::<f64>(), Ok(number));
                if let Some(text) = text {
                    assert_eq!(printed, text);
                }
            } else {
                assert_eq!(printed, None);
            }
        }
    }
}
