//! GNU-style option reading driven by the tables (spec 06 section 6.4).
//!
//! A table row writes its options as they are typed: `-a`, `--all`; `--color[=]` and `-I[]` take an
//! optional attached value; a trailing `=` (`--pre=`, `-f=`) a required one. In the value, read,
//! write and list columns a value is required without saying so. `-<num>` stands for `-5` and the
//! like; `*` for every option that is not listed.

use std::collections::{HashMap, HashSet};

/// What an option or its value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing of interest.
    Plain,
    /// The value is a path that is read.
    Read,
    /// The value is a path that is written.
    Write,
    /// The value is a file that lists further files.
    List,
    /// The option makes the program run another program.
    Exec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    Optional,
    Required,
}

/// Options of one program, as written in the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) flags: &'static str,
    pub(super) values: &'static str,
    pub(super) reads: &'static str,
    pub(super) writes: &'static str,
    pub(super) lists: &'static str,
    pub(super) execs: &'static str,
}

impl Columns {
    pub(super) const NONE: Self = Self {
        flags: "",
        values: "",
        reads: "",
        writes: "",
        lists: "",
        execs: "",
    };
}

#[derive(Clone, Copy, Debug)]
struct Known {
    takes: Takes,
    role: Role,
    /// The option as written in the table.
    id: &'static str,
}

/// Columns ready for look-up.
#[derive(Debug, Default)]
pub(super) struct OptionTable {
    short: HashMap<char, Known>,
    long: Vec<(&'static str, Known)>,
    numeric: bool,
    any: bool,
    /// Unlisted `--name=value` is fine as well.
    any_value: bool,
}

/// What reading an argument list yields, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// A known option: its table name, its role and its value.
    Option {
        id: &'static str,
        role: Role,
        value: Option<&'a str>,
    },
    /// An option that is in no column.
    Unknown(&'a str),
    /// A positional argument and its index in the argument list.
    Positional(&'a str, usize),
}

impl OptionTable {
    pub(super) fn new(columns: &Columns) -> Self {
        let mut table = Self::default();
        for (text, role, takes) in [
            (columns.flags, Role::Plain, Takes::Nothing),
            (columns.values, Role::Plain, Takes::Required),
            (columns.reads, Role::Read, Takes::Required),
            (columns.writes, Role::Write, Takes::Required),
            (columns.lists, Role::List, Takes::Required),
            (columns.execs, Role::Exec, Takes::Nothing),
        ] {
            for word in text.split_whitespace() {
                table.add(word, role, takes);
            }
        }
        for word in ["--help", "--version"] {
            if !table
                .long
                .iter()
                .any(|(name, _)| *name == word.trim_start_matches('-'))
            {
                table.add(word, Role::Plain, Takes::Nothing);
            }
        }
        table.long.sort_unstable_by_key(|(name, _)| *name);
        table
    }

    fn add(&mut self, word: &'static str, role: Role, takes: Takes) {
        let (id, takes) = if let Some(id) = word.strip_suffix("[=]").or(word.strip_suffix("[]")) {
            (id, Takes::Optional)
        } else if let Some(id) = word.strip_suffix('=') {
            (id, Takes::Required)
        } else {
            (word, takes)
        };
        let known = Known { takes, role, id };
        match id {
            "*" => self.any = true,
            "*=" => self.any_value = true,
            "-<num>" => self.numeric = true,
            _ => {
                if let Some(name) = id.strip_prefix("--") {
                    self.long.push((name, known));
                } else if let Some(letter) = id.chars().nth(1) {
                    self.short.insert(letter, known);
                }
            }
        }
    }

    /// Reads a whole argument list: options may follow positionals, `--` ends them.
    pub(super) fn read<'a>(&self, arguments: &'a [String]) -> Vec<Item<'a>> {
        let mut reader = Reader {
            table: self,
            arguments,
            next: 0,
            items: Vec::new(),
        };
        while reader.next < arguments.len() {
            reader.one();
        }
        reader.items
    }

    /// Reads options up to the first positional argument; returns the items and the index of that
    /// argument (the length when there is none). `--` is skipped.
    pub(super) fn read_leading<'a>(&self, arguments: &'a [String]) -> (Vec<Item<'a>>, usize) {
        let mut reader = Reader {
            table: self,
            arguments,
            next: 0,
            items: Vec::new(),
        };
        while let Some(argument) = arguments.get(reader.next) {
            if argument == "--" {
                reader.next += 1;
                break;
            }
            if !argument.starts_with('-') || argument == "-" {
                break;
            }
            reader.one();
        }
        (reader.items, reader.next)
    }

    /// Options that the name stands for: the exact one, else all it abbreviates.
    fn long_matches(&self, name: &str) -> &[(&'static str, Known)] {
        if let Ok(exact) = self.long.binary_search_by_key(&name, |(known, _)| known) {
            return self.long.get(exact..=exact).unwrap_or_default();
        }
        let start = self.long.partition_point(|(known, _)| *known < name);
        let rest = self.long.get(start..).unwrap_or_default();
        let count = rest
            .iter()
            .take_while(|(known, _)| known.starts_with(name))
            .count();
        rest.get(..count).unwrap_or_default()
    }
}

struct Reader<'t, 'a> {
    table: &'t OptionTable,
    arguments: &'a [String],
    next: usize,
    items: Vec<Item<'a>>,
}

impl<'a> Reader<'_, 'a> {
    fn one(&mut self) {
        let index = self.next;
        let Some(argument) = self.arguments.get(index) else {
            return;
        };
        self.next += 1;
        if argument == "--" {
            for (index, argument) in self.arguments.iter().enumerate().skip(self.next) {
                self.items.push(Item::Positional(argument, index));
            }
            self.next = self.arguments.len();
        } else if let Some(long) = argument.strip_prefix("--") {
            self.long(argument, long);
        } else if argument.len() > 1 && argument.starts_with('-') {
            self.cluster(argument);
        } else {
            self.items.push(Item::Positional(argument, index));
        }
    }

    fn long(&mut self, argument: &'a str, long: &'a str) {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let matches = self.table.long_matches(name);
        if matches.is_empty() {
            if !(self.table.any && (attached.is_none() || self.table.any_value)) {
                self.items.push(Item::Unknown(argument));
            }
            return;
        }
        let wants_next = attached.is_none()
            && matches
                .iter()
                .any(|(_, known)| known.takes == Takes::Required);
        // An abbreviation that may or may not take the next word: it is judged as both.
        let ambiguous = matches
            .iter()
            .any(|(_, known)| known.takes != Takes::Required);
        let next = if wants_next {
            self.arguments.get(self.next).map(String::as_str)
        } else {
            None
        };
        if next.is_some() && !ambiguous {
            self.next += 1;
        }
        for (_, known) in matches {
            let value = match known.takes {
                Takes::Required => attached.or(next),
                Takes::Optional => attached,
                Takes::Nothing if attached.is_some() && !self.table.any_value => {
                    self.items.push(Item::Unknown(argument));
                    continue;
                }
                Takes::Nothing => None,
            };
            self.items.push(Item::Option {
                id: known.id,
                role: known.role,
                value,
            });
        }
    }

    fn cluster(&mut self, argument: &'a str) {
        let mut reported = false;
        for (at, letter) in argument.char_indices().skip(1) {
            if let Some(known) = self.table.short.get(&letter) {
                let rest = argument
                    .get(at + letter.len_utf8()..)
                    .filter(|rest| !rest.is_empty());
                let value = match known.takes {
                    Takes::Nothing => None,
                    Takes::Optional => rest,
                    Takes::Required => rest.or_else(|| {
                        let next = self.arguments.get(self.next).map(String::as_str);
                        self.next += usize::from(next.is_some());
                        next
                    }),
                };
                self.items.push(Item::Option {
                    id: known.id,
                    role: known.role,
                    value,
                });
                if known.takes != Takes::Nothing && rest.is_some() || known.takes == Takes::Required
                {
                    return;
                }
            } else if !(reported || self.table.any || self.table.numeric && letter.is_ascii_digit())
            {
                // What follows an unknown letter is read on: it may be options as well.
                self.items.push(Item::Unknown(argument));
                reported = true;
            }
        }
    }
}

/// Table names of the options that occur.
pub(super) fn seen(items: &[Item<'_>]) -> HashSet<&'static str> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Option { id, .. } => Some(*id),
            _ => None,
        })
        .collect()
}

/// Positional arguments in order.
pub(super) fn positionals<'a>(items: &[Item<'a>]) -> Vec<&'a str> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Positional(text, _) => Some(*text),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns = Columns {
        flags: "-a -b --all --color[=] -I[] -<num>",
        values: "-n --number",
        reads: "-f --file",
        writes: "-o --output",
        lists: "",
        execs: "--pre= -z",
    };

    fn read(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let table = OptionTable::new(&COLUMNS);
        table
            .read(&words)
            .iter()
            .map(|item| match item {
                Item::Option {
                    id,
                    value: Some(value),
                    ..
                } => format!("{id}={value}"),
                Item::Option {
                    id, value: None, ..
                } => (*id).to_owned(),
                Item::Unknown(text) => format!("?{text}"),
                Item::Positional(text, _) => format!("+{text}"),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn spellings() {
        for (words, expected) in [
            (&["-ab", "x"][..], "-a -b +x"),
            (&["-n", "5", "x"], "-n=5 +x"),
            (&["-n5", "x"], "-n=5 +x"),
            (&["-abn5"], "-a -b -n=5"),
            (&["-5a"], "-a"),
            (&["-I", "x"], "-I +x"),
            (&["-Ix"], "-I=x"),
            (&["--color", "x"], "--color +x"),
            (&["--color=y", "x"], "--color=y +x"),
            (&["--file", "p"], "--file=p"),
            (&["--file=p"], "--file=p"),
            (&["--fi=p"], "--file=p"),
            (&["--all=p"], "?--all=p"),
            (&["x", "-a", "--", "-b"], "+x -a +-b"),
            (&["-"], "+-"),
            (&["-q"], "?-q"),
            (&["-qz"], "?-qz -z"),
            (&["--bogus"], "?--bogus"),
            (&["--pre", "./x", "p"], "--pre=./x +p"),
            (&["-o"], "-o"),
        ] {
            assert_eq!(read(words), expected, "{words:?}");
        }
    }

    #[test]
    fn an_ambiguous_abbreviation_is_every_option_it_may_be() {
        // `--` plus nothing would match all; `--ve` only the version flag; `--o` is --output.
        assert_eq!(read(&["--o", "p"]), "--output=p");
        assert_eq!(read(&["--a"]), "--all");
    }
}
