//! `git`: additions of spec 06 section 6.5. The group effects (arbitrary code, child processes,
//! unknown) always stand beside them: configuration, aliases, hooks and pagers run programs.

use crate::effect::Effect;
use crate::paths;

use super::collector::Collector;
use super::options::{Columns, Item, OptionTable, Role, positionals};

const RULE: &str = "git.option";

/// Options before the sub-command.
const GLOBAL: Columns = Columns {
    flags: "* *= --exec-path[=]",
    values: "-c --namespace --super-prefix --config-env --attr-source --list-cmds",
    reads: "-C --git-dir --work-tree",
    ..Columns::NONE
};

/// Sub-commands that use the network whatever follows.
const NETWORK: &[&str] = &[
    "clone",
    "fetch",
    "pull",
    "push",
    "ls-remote",
    "svn",
    "send-email",
    "lfs",
    "fetch-pack",
    "send-pack",
    "http-fetch",
    "http-push",
    "imap-send",
    "request-pull",
    "p4",
    "cvsimport",
    "daemon",
];

/// Options of sub-commands that take the next word; the others are read as flags.
const SUB: Columns = Columns {
    flags: "* *=",
    values: "-b -B --branch -u --upload-pack --origin --depth --reference --template --config \
             --jobs -j --filter --separate-git-dir --initial-branch --object-format \
             --shallow-since --shallow-exclude --server-option",
    ..Columns::NONE
};

/// Subcommands that change nothing in the git directory, or do without.
const READING: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "grep",
    "ls-files",
    "ls-tree",
    "cat-file",
    "rev-parse",
    "describe",
    "shortlog",
    "for-each-ref",
    "diff-tree",
    "diff-files",
    "rev-list",
    "version",
    "help",
];

/// A worktree and a submodule keep their git directory elsewhere: without it git works as little as
/// a program without its data, so it counts.
fn linked_directories(c: &mut Collector<'_>, arguments: &[String], sub: Option<&str>) {
    let mut folder = c.cwd.clone();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match (word.as_str(), word.strip_prefix("-C")) {
            ("-C", _) => {
                if let Some(next) = words.next() {
                    folder = paths::join(&folder, next);
                }
            }
            (_, Some(attached)) => folder = paths::join(&folder, attached),
            _ => {}
        }
    }
    let writes = sub.is_none_or(|sub| !READING.contains(&sub));
    for directory in c.host.linked_git_directories(&folder) {
        c.read(&directory, "git.directory");
        if writes {
            c.write(&directory, "git.directory");
        }
    }
}

pub(super) fn analyse(c: &mut Collector<'_>, arguments: &[String]) {
    let (items, start) = OptionTable::new(&GLOBAL).read_leading(arguments);
    let leading = arguments.get(..start).unwrap_or_default();
    linked_directories(c, leading, arguments.get(start).map(String::as_str));
    for item in items {
        if let Item::Option {
            role: Role::Read,
            value: Some(path),
            ..
        } = item
        {
            c.read(path, RULE);
            c.write(path, RULE);
        }
    }
    let Some((sub, arguments)) = arguments.get(start..).and_then(<[String]>::split_first) else {
        return;
    };
    subcommand(c, sub, arguments);
}

fn subcommand(c: &mut Collector<'_>, sub: &str, arguments: &[String]) {
    let first = arguments
        .iter()
        .find(|word| !word.starts_with('-'))
        .map(String::as_str);
    let has = |names: &[&str]| {
        arguments.iter().any(|word| {
            let word = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            names.contains(&word)
        })
    };
    let network = NETWORK.contains(&sub)
        || match (sub, first) {
            ("remote", Some("update" | "show" | "prune" | "set-head")) => true,
            ("remote", Some("add")) => has(&["-f", "--fetch"]),
            ("submodule", Some("add" | "update")) => true,
            ("archive", _) => has(&["--remote"]),
            _ => false,
        };
    if network {
        c.effect(Effect::Network, format!("git.{sub}"));
    }
    for path in values(arguments, &["--output"], &[]) {
        c.write(path, RULE);
    }
    match (sub, first) {
        ("clone", _) => clone(c, arguments),
        ("init", _) => {
            for path in operands(arguments) {
                c.write(path, "git.init");
            }
        }
        ("worktree", Some("add")) => {
            if let Some(path) = operands(arguments).get(1) {
                c.write(path, "git.worktree");
            }
        }
        ("format-patch", _) => {
            for path in values(arguments, &["--output-directory"], &["-o"]) {
                c.write(path, "git.format-patch");
            }
        }
        ("bundle", Some("create")) => {
            if let Some(path) = operands(arguments).get(1) {
                c.write(path, "git.bundle");
            }
        }
        ("apply" | "am", _) => {
            for path in operands(arguments) {
                c.read_operand(path, "git.apply");
            }
        }
        ("config", _) => config(c, arguments),
        _ => {}
    }
}

fn operands(arguments: &[String]) -> Vec<&str> {
    positionals(&OptionTable::new(&SUB).read(arguments))
}

/// Values of an option in every spelling: `--long V`, `--long=V`, `-s V`, `-sV`.
fn values<'a>(arguments: &'a [String], long: &[&str], short: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if long.contains(&word) || short.contains(&word) {
            found.extend(words.next());
        } else if let Some((name, value)) = word.split_once('=')
            && long.contains(&name)
        {
            found.push(value);
        } else if let Some(value) = short.iter().find_map(|short| word.strip_prefix(short)) {
            found.push(value);
        }
    }
    found
}

fn clone(c: &mut Collector<'_>, arguments: &[String]) {
    let words = operands(arguments);
    let target = match (words.first(), words.get(1)) {
        (_, Some(target)) => *target,
        (Some(url), None) => {
            let url = url.trim_end_matches('/');
            let url = url.strip_suffix("/.git").unwrap_or(url);
            let last = url.rsplit(['/', ':']).next().unwrap_or(url);
            last.strip_suffix(".git").unwrap_or(last)
        }
        (None, None) => return,
    };
    c.write(target, "git.clone");
}

fn config(c: &mut Collector<'_>, arguments: &[String]) {
    for path in values(arguments, &["--file"], &["-f"]) {
        c.read_operand(path, "git.config");
        c.write(path, "git.config");
    }
    let has = |name: &str| arguments.iter().any(|word| word == name);
    if has("--global") {
        match c.environment.get("HOME").cloned() {
            Some(home) => c.write(&format!("{home}/.gitconfig"), "git.config"),
            None => c.unknown("home directory is not known", "git.config"),
        }
    }
    if has("--system") {
        c.write("/etc/gitconfig", "git.config");
        c.effect(Effect::PrivilegeChange, "git.config");
    }
}
