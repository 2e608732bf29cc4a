//! Durations on the command line, in the form of documents (spec 02 section 2).

use std::time::Duration;

/// Parses `500ms`, `20s`, `10m`, `2h`: a positive whole number and a unit.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "`{text}` is no duration; write a whole number and a unit, such as 500ms, 20s, 10m or 2h"
        )
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    match number.checked_mul(factor) {
        Some(0) | None => Err(wrong()),
        Some(ms) => Ok(Duration::from_millis(ms)),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn forms() {
        for (text, ms) in [
            ("1ms", 1),
            ("20s", 20_000),
            ("10m", 600_000),
            ("2h", 7_200_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)));
        }
        for text in [
            "",
            "0s",
            "s",
            "5",
            "5 s",
            "-1s",
            "1.5s",
            "1d",
            "99999999999999999999s",
            "5124095576030432h",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
