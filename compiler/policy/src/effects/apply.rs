//! Reads the arguments of one command with the tables and reports what they name.

use std::collections::HashSet;

use crate::effect::Effect;

use super::collector::Collector;
use super::options::{Item, Role, positionals, seen};
use super::precise::{Positionals, Program};
use super::sensitive::{Arguments, Sensitive};
use super::tables::{Row, Tables};

const RULE: &str = "precise";
const OPTION: &str = "argument";

/// A program of the precise table.
pub(super) fn precise(c: &mut Collector<'_>, name: &str, row: &Row<Program>, arguments: &[String]) {
    if row.row.positionals == Positionals::Ignored {
        return;
    }
    let items = row.options.read(arguments);
    for item in &items {
        match item {
            Item::Unknown(option) => {
                c.unknown(
                    format!("unrecognised option {} of {name}", shown(option)),
                    RULE,
                );
            }
            Item::Option { id, role, value } => option(c, name, id, *role, *value, RULE),
            Item::Positional(..) => {}
        }
    }
    let recurses = items.iter().any(|item| {
        matches!(item, Item::Option { id: "-d" | "--directories", value: Some(value), .. }
            if value.starts_with('r'))
    });
    Positional {
        c,
        name,
        seen: seen(&items),
        words: positionals(&items),
        recurses,
    }
    .apply(row.row.positionals);
}

/// Cuts an option text for a reason.
fn shown(option: &str) -> &str {
    option
        .get(..option.floor_char_boundary(40))
        .unwrap_or(option)
}

fn option(
    c: &mut Collector<'_>,
    name: &str,
    id: &str,
    role: Role,
    value: Option<&str>,
    rule: &'static str,
) {
    match (role, value) {
        (Role::Plain, _) | (Role::Read | Role::Write | Role::List, None) => {}
        (Role::Read, Some(path)) => c.read_operand(path, rule),
        (Role::Write, Some(path)) => c.write(path, rule),
        (Role::List, Some(path)) => {
            c.read_operand(path, rule);
            c.unknown("file list", rule);
        }
        (Role::Exec, _) => c.runs_program(name, id, rule),
    }
    if role == Role::List && value.is_none() {
        c.unknown("file list", rule);
    }
}

struct Positional<'c, 'h, 'a> {
    c: &'c mut Collector<'h>,
    name: &'a str,
    seen: HashSet<&'static str>,
    words: Vec<&'a str>,
    /// `--directories=recurse` in some spelling.
    recurses: bool,
}

impl Positional<'_, '_, '_> {
    fn any_seen(&self, ids: &[&str]) -> bool {
        ids.iter().any(|id| self.seen.contains(id))
    }

    fn read_from(&mut self, first: usize) {
        for word in self.words.iter().skip(first) {
            self.c.read_operand(word, RULE);
        }
    }

    fn apply(mut self, kind: Positionals) {
        match kind {
            Positionals::Ignored => {}
            Positionals::Read => self.read_from(0),
            Positionals::ReadTail => {
                self.words.retain(|word| !is_plus_number(word));
                self.read_from(0);
            }
            Positionals::ReadOrCwd if self.words.is_empty() => self.c.read("", RULE),
            Positionals::ReadOrCwd => self.read_from(0),
            Positionals::Write => {
                for word in &self.words {
                    self.c.write(word, RULE);
                }
            }
            Positionals::WriteAncestors => self.write_ancestors(),
            Positionals::GrepFiles => self.grep(),
            Positionals::RipgrepFiles => self.ripgrep(),
            Positionals::Copy => self.transfer(false),
            Positionals::Move => self.transfer(true),
            Positionals::Uniq => self.uniq(),
            Positionals::Cmp => {
                self.words.truncate(2);
                self.read_from(0);
            }
            Positionals::Date => {
                if self.any_seen(&["-s", "--set"])
                    || self.words.iter().any(|word| !word.starts_with('+'))
                {
                    self.c.effect(Effect::PrivilegeChange, RULE);
                }
            }
            Positionals::Checksum => {
                self.read_from(0);
                if self.any_seen(&["-c", "--check"]) {
                    self.c.unknown("file list", RULE);
                }
            }
        }
    }

    fn write_ancestors(&mut self) {
        let ancestors = self.any_seen(&["-p", "--parents"]);
        for word in &self.words {
            self.c.write(word, RULE);
            let mut rest = word.trim_end_matches('/');
            while ancestors && let Some((parent, _)) = rest.rsplit_once('/') {
                rest = parent.trim_end_matches('/');
                if rest.is_empty() {
                    break;
                }
                self.c.write(rest, RULE);
            }
        }
    }

    fn grep(&mut self) {
        let given = self.any_seen(&["-e", "--regexp", "-f", "--file"]);
        let first = usize::from(!given);
        self.read_from(first);
        let recursive =
            self.recurses || self.any_seen(&["-r", "-R", "--recursive", "--dereference-recursive"]);
        if recursive && self.words.len() <= first {
            self.c.read("", RULE);
        }
    }

    fn ripgrep(&mut self) {
        let given = self.any_seen(&["-e", "--regexp", "-f", "--file", "--files", "--type-list"]);
        let first = usize::from(!given);
        self.read_from(first);
        if self.words.len() <= first {
            self.c.read("", RULE);
        }
        if self.c.environment.contains_key("RIPGREP_CONFIG_PATH")
            && !self.any_seen(&["--no-config"])
        {
            self.c.runs_program(self.name, "RIPGREP_CONFIG_PATH", RULE);
        }
    }

    /// `cp` and `mv`.
    fn transfer(&mut self, removes: bool) {
        let target = self.any_seen(&["-t", "--target-directory"]);
        let least = if target { 1 } else { 2 };
        if self.words.len() < least {
            for word in &self.words {
                self.c.write(word, RULE);
            }
            self.c.unknown("missing source and destination", RULE);
            return;
        }
        let sources = self.words.len() - usize::from(!target);
        for (index, word) in self.words.iter().enumerate() {
            if index < sources {
                self.c.read(word, RULE);
            }
            if index >= sources || removes {
                self.c.write(word, RULE);
            }
        }
    }

    fn uniq(&mut self) {
        if let Some(input) = self.words.first() {
            self.c.read_operand(input, RULE);
        }
        if let Some(output) = self.words.get(1) {
            self.c.write(output, RULE);
        }
        if self.words.len() > 2 {
            self.c.unknown("too many operands of uniq", RULE);
        }
    }
}

fn is_plus_number(word: &str) -> bool {
    word.strip_prefix('+')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Argument-sensitive additions of a group program.
pub(super) fn sensitive(
    c: &mut Collector<'_>,
    name: &str,
    row: &Row<Sensitive>,
    arguments: &[String],
) {
    let items = row.options.read(arguments);
    let curl = row.row.arguments == Arguments::Curl;
    for item in &items {
        if let Item::Option { id, role, value } = item {
            match (curl, *role, value) {
                // `-` is standard output here.
                (_, Role::Write, Some("-")) => {}
                (true, Role::Plain, Some(value)) => curl_value(c, id, value),
                (true, Role::Exec, Some(config)) => {
                    c.read_operand(config, OPTION);
                    c.runs_program(name, id, OPTION);
                }
                _ => option(c, name, id, *role, *value, OPTION),
            }
        }
    }
    let seen = seen(&items);
    let words = positionals(&items);
    let has = |ids: &[&str]| ids.iter().any(|id| seen.contains(id));
    match row.row.arguments {
        Arguments::Nothing => {}
        Arguments::Curl => {
            for path in words.iter().filter_map(|word| file_url(word)) {
                c.read(path, OPTION);
            }
        }
        Arguments::RemoteCopy => remote_copy(c, &words),
        Arguments::Sed => {
            let scripted = has(&["-e", "--expression", "-f", "--file"]);
            let in_place = has(&["-i", "-I", "--in-place"]);
            for word in words.iter().skip(usize::from(!scripted)) {
                c.read_operand(word, OPTION);
                if in_place {
                    c.write(word, OPTION);
                }
            }
        }
        Arguments::Awk => {
            let scripted = has(&["-f", "--file", "-E", "--exec", "-e", "--source"]);
            // `var=value` operands are assignments.
            for word in words.iter().skip(usize::from(!scripted)) {
                if !is_assignment(word) {
                    c.read_operand(word, OPTION);
                }
            }
        }
        Arguments::Dd => {
            for word in arguments {
                if let Some(path) = word.strip_prefix("of=") {
                    c.write(path, "dd");
                } else if let Some(path) = word.strip_prefix("if=") {
                    c.read(path, "dd");
                }
            }
        }
        Arguments::Link | Arguments::Install => {
            let last = words.len() - usize::from(!words.is_empty());
            let target = has(&["-t", "--target-directory"]);
            for (index, word) in words.iter().enumerate() {
                if index == last && !target {
                    c.write(word, OPTION);
                } else {
                    c.read(word, OPTION);
                }
            }
        }
        Arguments::Write => {
            for word in &words {
                c.write(word, OPTION);
            }
        }
        Arguments::Mode => {
            // `chmod -x f`: the mode looks like options and is no positional.
            let dashed = name == "chmod" && arguments.iter().any(|word| is_dashed_mode(word));
            let skip = usize::from(!(dashed || has(&["--reference"])));
            for word in words.iter().skip(skip) {
                c.write(word, OPTION);
            }
        }
        Arguments::NetworkSub(list) => {
            // `cargo +nightly fetch`, `uv pip install`.
            let mut subs = words.iter().filter(|word| !word.starts_with('+'));
            let depth = if name == "uv" { 2 } else { 1 };
            let listed = |sub: &&str| list.split_whitespace().any(|known| known == *sub);
            if subs.by_ref().take(depth).any(listed) {
                c.effect(Effect::Network, OPTION);
            }
        }
    }
}

/// A symbolic mode that removes permissions, such as `-x` or `-rw,o+r`.
fn is_dashed_mode(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|mode| {
        !mode.is_empty() && mode.chars().all(|c| "rwxXstugoa,+=-01234567".contains(c))
    }) && word != "--"
}

/// `NAME=VALUE` as awk and env read it.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn file_url(word: &str) -> Option<&str> {
    let scheme = word.get(..7)?;
    if !scheme.eq_ignore_ascii_case("file://") {
        return None;
    }
    let rest = word.get(7..)?;
    rest.find('/').and_then(|slash| rest.get(slash..))
}

fn curl_value(c: &mut Collector<'_>, id: &str, value: &str) {
    match id {
        "-d" | "--data" | "--data-ascii" | "--data-binary" | "--data-raw" | "--json" => {
            if let Some(path) = value.strip_prefix('@') {
                c.read_operand(path, OPTION);
            }
        }
        "--data-urlencode" => {
            if let Some((name, path)) = value.split_once('@')
                && !name.contains('=')
            {
                c.read_operand(path, OPTION);
            }
        }
        "-F" | "--form" => {
            if let Some((_, content)) = value.split_once('=')
                && let Some(path) = content.strip_prefix(['@', '<'])
            {
                let path = path
                    .split([';', ','])
                    .next()
                    .unwrap_or(path)
                    .trim_matches('"');
                c.read_operand(path, OPTION);
            }
        }
        // Without `=` it names a file of cookies.
        "-b" | "--cookie" if !value.contains('=') => c.read_operand(value, OPTION),
        "-H" | "--header" => {
            if let Some(path) = value.strip_prefix('@') {
                c.read_operand(path, OPTION);
            }
        }
        "--url" => {
            if let Some(path) = file_url(value) {
                c.read(path, OPTION);
            }
        }
        _ => {}
    }
}

fn remote_copy(c: &mut Collector<'_>, words: &[&str]) {
    let last = words.len() - usize::from(!words.is_empty());
    for (index, word) in words.iter().enumerate() {
        let before_slash = word.split('/').next().unwrap_or(word);
        if before_slash.contains(':') {
            continue;
        }
        if index == last {
            c.write(word, "remote_copy");
        } else {
            c.read(word, "remote_copy");
        }
    }
}

/// Options that name the directory a build tool works in.
pub(super) fn directories(c: &mut Collector<'_>, name: &str, arguments: &[String]) {
    let Some(row) = Tables::get().directories.get(name) else {
        return;
    };
    for item in row.options.read(arguments) {
        let Item::Option {
            id,
            value: Some(value),
            ..
        } = item
        else {
            continue;
        };
        let directory = if row.row.directory.contains(&id) {
            value
        } else if row.row.file.contains(&id) {
            crate::paths::parent(value)
        } else {
            continue;
        };
        c.read(directory, "directory");
        c.write(directory, "directory");
    }
}
