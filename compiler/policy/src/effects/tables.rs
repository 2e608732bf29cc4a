//! The tables indexed by name, built once.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::groups::{GROUPS, Group};
use super::options::OptionTable;
use super::precise::{PROGRAMS, Program};
use super::sensitive::{DIRECTORY_OPTIONS, DirectoryOption, SENSITIVE, Sensitive};
use super::wrappers::{WRAPPERS, Wrapper};

/// A row with its options ready for reading.
pub(super) struct Row<T: 'static> {
    pub(super) row: &'static T,
    pub(super) options: OptionTable,
}

/// Rows by program name.
pub(super) struct ByName<T: 'static> {
    rows: Vec<Row<T>>,
    index: HashMap<&'static str, usize>,
}

impl<T> ByName<T> {
    fn new(
        table: &'static [T],
        names: fn(&T) -> &'static str,
        options: fn(&T) -> OptionTable,
    ) -> Self {
        let mut index = HashMap::new();
        let mut rows = Vec::with_capacity(table.len());
        for row in table {
            for name in names(row).split_whitespace() {
                index.insert(name, rows.len());
            }
            rows.push(Row {
                row,
                options: options(row),
            });
        }
        Self { rows, index }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Row<T>> {
        self.rows.get(*self.index.get(name)?)
    }
}

/// All tables.
pub(super) struct Tables {
    pub(super) programs: ByName<Program>,
    pub(super) sensitive: ByName<Sensitive>,
    pub(super) wrappers: ByName<Wrapper>,
    pub(super) directories: ByName<DirectoryOption>,
    groups: HashMap<&'static str, Vec<&'static Group>>,
    prefixes: Vec<(&'static str, &'static Group)>,
}

impl Tables {
    pub(super) fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut groups: HashMap<&'static str, Vec<&'static Group>> = HashMap::new();
        let mut prefixes = Vec::new();
        for group in GROUPS {
            for name in group.names.split_whitespace() {
                match name.strip_suffix('*') {
                    Some(prefix) => prefixes.push((prefix, group)),
                    None => groups.entry(name).or_default().push(group),
                }
            }
        }
        Self {
            programs: ByName::new(
                PROGRAMS,
                |row| row.names,
                |row| OptionTable::new(&row.columns),
            ),
            sensitive: ByName::new(
                SENSITIVE,
                |row| row.names,
                |row| OptionTable::new(&row.columns),
            ),
            wrappers: ByName::new(
                WRAPPERS,
                |row| row.names,
                |row| OptionTable::new(&row.columns),
            ),
            directories: ByName::new(
                DIRECTORY_OPTIONS,
                |row| row.names,
                |row| OptionTable::new(&row.columns),
            ),
            groups,
            prefixes,
        }
    }

    pub(super) fn groups(&self, name: &str) -> impl Iterator<Item = &'static Group> {
        let prefixed = self
            .prefixes
            .iter()
            .filter(move |(prefix, _)| name.starts_with(prefix))
            .map(|(_, group)| *group);
        self.groups
            .get(name)
            .into_iter()
            .flatten()
            .copied()
            .chain(prefixed)
    }

    /// Whether some table has the name.
    fn knows(&self, name: &str) -> bool {
        name == "find"
            || super::groups::MULTI_CALL.contains(&name)
            || self.programs.get(name).is_some()
            || self.wrappers.get(name).is_some()
            || self.groups(name).next().is_some()
    }

    /// The table name for a program name: the exact one, else its stem.
    pub(super) fn key<'n>(&self, name: &'n str) -> Option<&'n str> {
        [name, stem(name)].into_iter().find(|name| self.knows(name))
    }
}

/// Lower-cased basename without a trailing `.exe` (spec 06 section 6.3 rule 2).
pub(super) fn considered_name(program: &str) -> String {
    let name = crate::paths::basename(program).to_lowercase();
    match name.strip_suffix(".exe") {
        Some(stripped) => stripped.to_owned(),
        None => name,
    }
}

/// The name without a trailing version `[-.]?[0-9]+(\.[0-9]+)*`; the name itself when nothing
/// else would remain.
pub(super) fn stem(name: &str) -> &str {
    let bytes = name.as_bytes();
    let mut best = name.len();
    let mut at = name.len();
    // Groups of digits from the right, joined by single dots.
    loop {
        let digits = bytes
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits == 0 {
            break;
        }
        best = at - digits;
        match best.checked_sub(1).and_then(|before| bytes.get(before)) {
            Some(b'.') => at = best - 1,
            _ => break,
        }
    }
    if best < name.len()
        && let Some(b'-' | b'.') = best.checked_sub(1).and_then(|before| bytes.get(before))
    {
        best -= 1;
    }
    match name.get(..best) {
        Some("") | None => name,
        Some(stem) => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems() {
        for (name, expected) in [
            ("python3.11", "python"),
            ("python3", "python"),
            ("perl5.36", "perl"),
            ("gcc-12", "gcc"),
            ("clang-format-14", "clang-format"),
            ("lua.5", "lua"),
            ("foo1.2-3", "foo1.2"),
            ("x..1", "x."),
            ("42", "42"),
            ("1.2", "1.2"),
            ("git", "git"),
            ("7z", "7z"),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }

    #[test]
    fn names() {
        assert_eq!(considered_name("/usr/bin/Git.EXE"), "git");
        let tables = Tables::get();
        for (name, key) in [
            ("bzip2", Some("bzip2")),
            ("python3.11", Some("python")),
            ("mkfs.ext4", Some("mkfs.ext4")),
            ("nothing9", None),
            ("grep", Some("grep")),
        ] {
            assert_eq!(tables.key(name), key);
        }
    }

    #[test]
    fn every_name_stands_once_per_table() {
        fn check(table: &str, names: impl Iterator<Item = &'static str>) {
            let mut seen = std::collections::HashSet::new();
            for name in names.flat_map(str::split_whitespace) {
                assert!(seen.insert(name), "{table}: {name} twice");
            }
        }
        check("precise", PROGRAMS.iter().map(|row| row.names));
        check("sensitive", SENSITIVE.iter().map(|row| row.names));
        check("wrappers", WRAPPERS.iter().map(|row| row.names));
    }
}
