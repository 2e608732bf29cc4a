//! Durations, sizes, counts and digests.

use super::{Fault, Value};
use crate::diagnostics::quote;
use crate::schema::sections::MAX_DURATION_MS;

/// Largest integer that canonical JSON carries exactly.
const MAX_EXACT: u128 = (1 << 53) - 1;

/// `digit+ ("." digit+)? (ms|s|m|h)`, fractions of a millisecond rounded up.
pub(super) fn duration(text: &str, none: bool) -> Result<Value, Fault> {
    if none && text == "none" {
        return Ok(Value::Unlimited);
    }
    let Some(total) = milliseconds(text) else {
        return Err(bad_duration(text, none));
    };
    if total == 0 {
        return Err(Fault::new("a duration must be longer than zero"));
    }
    match u64::try_from(total) {
        Ok(total) if total <= MAX_DURATION_MS => Ok(Value::Number(total)),
        _ => Err(Fault::new(format!(
            "{} is longer than 8760h, one year",
            quote(text)
        ))),
    }
}

/// Milliseconds of a well-formed duration, whatever its bounds.
fn milliseconds(text: &str) -> Option<u128> {
    let (whole, fraction, unit) = split_duration(text)?;
    let per: u128 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let whole = saturating(whole).saturating_mul(per);
    Some(whole.saturating_add(fraction_up(fraction, per)))
}

fn split_duration(text: &str) -> Option<(&str, &str, &str)> {
    let (whole, rest) = digits(text);
    if whole.is_empty() {
        return None;
    }
    match rest.strip_prefix('.') {
        Some(rest) => {
            let (fraction, unit) = digits(rest);
            (!fraction.is_empty()).then_some((whole, fraction, unit))
        }
        None => Some((whole, "", rest)),
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// Decimal digits, saturating far above every bound.
fn saturating(digits: &str) -> u128 {
    digits.bytes().fold(0u128, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(u128::from(digit - b'0'))
            .min(u128::from(u64::MAX))
    })
}

/// `0.digits * per`, rounded up to a whole number.
fn fraction_up(digits: &str, per: u128) -> u128 {
    let kept = digits.len().min(18);
    let (head, tail) = digits.split_at(kept);
    let scale = 10u128.pow(kept as u32);
    let product = saturating(head) * per;
    let inexact = !product.is_multiple_of(scale) || tail.bytes().any(|digit| digit != b'0');
    product / scale + u128::from(inexact)
}

fn bad_duration(text: &str, none: bool) -> Fault {
    let also = if none { ", or `none`" } else { "" };
    let fault = Fault::new(format!("{} is not a duration", quote(text))).hint(format!(
        "write a number and a unit, for example `250ms`, `30s`, `5m` or `2h`{also}"
    ));
    let trimmed = text.trim();
    let end = trimmed
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let (number, unit) = trimmed.split_at(end);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "ms" | "msec" | "millis" | "milliseconds" => "ms",
        "d" | "day" | "days" => {
            return match number.parse::<u64>() {
                Ok(days) if days <= 365 => fault.replace(format!("{}h", days * 24)),
                _ => fault,
            };
        }
        _ => return fault,
    };
    let meant = format!("{number}{unit}");
    if milliseconds(&meant).is_some() {
        fault.replace(meant)
    } else {
        fault
    }
}

/// `digit+ (B|KiB|MiB|GiB)?`.
pub(super) fn bytes(text: &str, none: bool) -> Result<Value, Fault> {
    if none && text == "none" {
        return Ok(Value::Unlimited);
    }
    let (number, unit) = digits(text);
    let per: u128 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(bad_bytes(text, none)),
    };
    if number.is_empty() {
        return Err(bad_bytes(text, none));
    }
    let total = saturating(number).saturating_mul(per);
    match u64::try_from(total) {
        Ok(exact) if total <= MAX_EXACT => Ok(Value::Number(exact)),
        _ => Err(Fault::new(format!(
            "{} is larger than any size that can be stated",
            quote(text)
        ))),
    }
}

fn bad_bytes(text: &str, none: bool) -> Fault {
    let also = if none { ", or `none`" } else { "" };
    let fault = Fault::new(format!("{} is not a size", quote(text))).hint(format!(
        "write bytes or a unit of 1024, for example `4096`, `512KiB` or `1GiB`{also}"
    ));
    let trimmed = text.trim();
    let (number, unit) = digits(trimmed);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => "B",
        "k" | "kb" | "kib" | "ki" => "KiB",
        "m" | "mb" | "mib" | "mi" => "MiB",
        "g" | "gb" | "gib" | "gi" => "GiB",
        "" if trimmed != text => "",
        _ => return fault,
    };
    if number.is_empty() {
        fault
    } else {
        fault.replace(format!("{number}{unit}"))
    }
}

/// Decimal digits below 2^31.
pub(super) fn uint(text: &str, none: bool) -> Result<Value, Fault> {
    if none && text == "none" {
        return Ok(Value::Unlimited);
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        let also = if none { ", or `none`" } else { "" };
        let fault = Fault::new(format!("{} is not a whole number", quote(text)))
            .hint(format!("write decimal digits only{also}"));
        let grouping = |c: char| matches!(c, '_' | ',' | '\'' | ' ');
        let plain = text.replace(grouping, "");
        let sound = !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_digit());
        return Err(if sound { fault.replace(plain) } else { fault });
    }
    match u64::try_from(saturating(text)) {
        Ok(value) if value < 1 << 31 => Ok(Value::Number(value)),
        _ => Err(Fault::new(format!(
            "{} is larger than 2147483647",
            quote(text)
        ))),
    }
}

/// `digit+ ("." digit+)?` from 0 to 2.
pub(super) fn temperature(text: &str) -> Result<Value, Fault> {
    let well_formed = split_duration(text).is_some_and(|(_, _, rest)| rest.is_empty());
    // By digits: a float would round what is a little more than 2 to 2.
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let in_range = match whole.trim_start_matches('0') {
        "" | "1" => true,
        "2" => fraction.bytes().all(|digit| digit == b'0'),
        _ => false,
    };
    if well_formed && in_range {
        return Ok(Value::Text(text.to_owned()));
    }
    Err(
        Fault::new(format!("{} is not a number from 0 to 2", quote(text)))
            .hint("write a decimal number such as `0.7`"),
    )
}

/// 64 hexadecimal digits; the normal form is lower case.
pub(super) fn sha256(text: &str) -> Result<Value, Fault> {
    if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(Value::Text(text.to_ascii_lowercase()));
    }
    if text == "..." || text == "…" || !text.bytes().any(|b| b.is_ascii_hexdigit()) {
        return Err(Fault::new(format!(
            "{} stands where a SHA-256 digest belongs",
            quote(text)
        ))
        .hint("replace the placeholder by the output of `sha256sum FILE`"));
    }
    let length = text.chars().count();
    let message = match text.char_indices().find(|(_, c)| !c.is_ascii_hexdigit()) {
        Some((_, c)) => {
            format!(
                "a SHA-256 digest has hexadecimal digits only, but {} is none",
                quote(&c.to_string())
            )
        }
        None => format!("a SHA-256 digest has 64 hexadecimal digits; here are {length}"),
    };
    Err(Fault::new(message).hint("paste the digest that `sha256sum FILE` prints"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn number(value: Result<Value, Fault>) -> Option<u64> {
        match value.ok()? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn durations() {
        let table: &[(&str, Option<u64>)] = &[
            ("250ms", Some(250)),
            ("2.5m", Some(150_000)),
            ("0.1ms", Some(1)),
            ("1.0001s", Some(1001)),
            ("1.00000000000000000000000001s", Some(1001)),
            ("5ms", Some(5)),
            ("8760h", Some(MAX_DURATION_MS)),
            ("8760.1h", None),
            ("99999999999999999999999999999999999999999h", None),
            ("0s", None),
            ("0.0h", None),
            ("5", None),
            ("+5s", None),
            ("1e3s", None),
            ("1_000s", None),
            ("5 s", None),
            (".5s", None),
            ("5.s", None),
            ("5S", None),
            ("none", None),
        ];
        for (text, expected) in table {
            assert_eq!(number(duration(text, false)), *expected, "{text}");
        }
        assert_eq!(duration("none", true).unwrap(), Value::Unlimited);
    }

    #[test]
    fn offers_the_intended_unit() {
        let table = [
            ("30sec", "30s"),
            ("5 min", "5m"),
            ("1d", "24h"),
            ("30", "30s"),
            ("2H", "2h"),
        ];
        for (text, meant) in table {
            assert_eq!(
                duration(text, false).unwrap_err().replacement.as_deref(),
                Some(meant),
                "{text}"
            );
        }
        let table = [
            ("64KB", "64KiB"),
            ("1g", "1GiB"),
            ("5 MiB", "5MiB"),
            ("9mb", "9MiB"),
        ];
        for (text, meant) in table {
            assert_eq!(
                bytes(text, false).unwrap_err().replacement.as_deref(),
                Some(meant),
                "{text}"
            );
        }
    }

    #[test]
    fn sizes() {
        let table: &[(&str, Option<u64>)] = &[
            ("0", Some(0)),
            ("10B", Some(10)),
            ("1KiB", Some(1024)),
            ("2GiB", Some(2 << 30)),
            ("9007199254740991", Some((1 << 53) - 1)),
            ("9007199254740992", None),
            ("8388608GiB", None),
            ("KB", None),
            ("-1", None),
            ("1.5KiB", None),
            ("0x10", None),
        ];
        for (text, expected) in table {
            assert_eq!(number(bytes(text, false)), *expected, "{text}");
        }
    }

    #[test]
    fn counts_and_digests() {
        assert_eq!(number(uint("2147483647", false)), Some((1 << 31) - 1));
        assert_eq!(number(uint("2147483648", false)), None);
        assert_eq!(number(uint("007", false)), Some(7));
        assert!(uint("0x1", false).is_err());
        assert_eq!(
            sha256(&"A".repeat(64)).unwrap(),
            Value::Text("a".repeat(64))
        );
        assert!(
            sha256("...")
                .unwrap_err()
                .hint
                .unwrap()
                .contains("placeholder")
        );
        assert!(sha256(&"a".repeat(63)).unwrap_err().message.contains("63"));
        for (text, ok) in [
            ("0", true),
            ("2", true),
            ("2.0", true),
            ("007", false),
            ("01.99999999999999999999", true),
            ("2.1", false),
            ("2.00000000000000000001", false),
            ("-1", false),
            ("1e0", false),
            ("1.", false),
        ] {
            assert_eq!(temperature(text).is_ok(), ok, "{text}");
        }
    }
}
