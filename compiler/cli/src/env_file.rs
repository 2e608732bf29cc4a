//! `--env-file`: variables to use instead of the process environment.

use std::ffi::OsString;

use camino::Utf8Path;
use chatmd_facts::Snapshot;

/// Largest file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads `KEY=VALUE` lines. Blank lines and lines that begin with `#` are left out; `export` in
/// front of a name and one pair of quotes around a value are dropped; nothing is expanded.
///
/// # Errors
/// One sentence with the line number; never a value.
pub fn read(path: &Utf8Path) -> Result<Snapshot, String> {
    use std::io::Read as _;
    let cannot = |error: std::io::Error| format!("cannot read `{path}`: {error}");
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(cannot)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!(
            "cannot read `{path}`: it is larger than {MAX_BYTES} bytes"
        ));
    }
    parse(&text).map_err(|line| format!("`{path}` line {line} is not of the form KEY=VALUE"))
}

fn parse(text: &str) -> Result<Snapshot, usize> {
    let mut entries: Vec<OsString> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(at + 1)?;
        let name = name.trim_end();
        let named = !name.is_empty() && !name.contains(char::is_whitespace);
        if !named || value.contains('\0') {
            return Err(at + 1);
        }
        entries.push(format!("{name}={}", unquoted(value.trim_start())).into());
    }
    Ok(Snapshot::from_entries(entries))
}

fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn reads_names_and_values() {
        let text = "# comment\n\nA=1\nexport B = \"two words\"\nC='x=y'\nD=$HOME\r\nA=2\nE=\n";
        let found = parse(text).unwrap();
        let pairs: Vec<_> = found
            .iter()
            .map(|(n, v)| format!("{}={}", n.display(), v.display()))
            .collect();
        assert_eq!(pairs, ["A=2", "B=two words", "C=x=y", "D=$HOME", "E="]);
    }

    #[test]
    fn says_which_line_is_wrong() {
        for (text, line) in [("A=1\nB\n", 2), ("=x", 1), ("a b=c", 1), ("\n\nA=\0", 3)] {
            assert_eq!(parse(text), Err(line), "{text:?}");
        }
    }
}
