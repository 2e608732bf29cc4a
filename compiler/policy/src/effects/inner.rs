//! Extraction of inner commands (spec 06 section 6.6).

use std::collections::VecDeque;

use crate::effect::Effect;
use crate::paths;

use super::apply::is_assignment;
use super::collector::Collector;
use super::options::{Item, Role};
use super::tables::Row;
use super::wrappers::{Form, Wrapper};

const RULE: &str = "wrapper";

/// Reports what a wrapper adds and queues what it starts.
pub(super) fn wrapper(c: &mut Collector<'_>, name: &str, row: &Row<Wrapper>, arguments: &[String]) {
    if row.row.adds_effects {
        let rule = format!("wrapper.{name}");
        c.effect(Effect::ArbitraryCode, rule.clone());
        c.effect(Effect::ChildProcesses, rule.clone());
        c.unknown(format!("{name} starts another program"), rule);
    }
    match row.row.form {
        Form::Env => env(c, name, row, arguments),
        Form::Shell => shell(c, name, arguments),
        Form::Su => su(c, name, row, arguments),
        Form::Opaque => opaque(c, name, arguments),
        Form::GdbArgs => {
            let start = arguments
                .iter()
                .position(|word| word.trim_start_matches('-') == "args");
            if let Some(start) = start {
                c.inner(
                    name,
                    arguments.get(start + 1..).unwrap_or_default().to_vec(),
                );
            }
        }
        Form::Argv | Form::Xargs | Form::Sudo | Form::Joined | Form::ArgvOrShell => {
            plain(c, name, row, arguments);
        }
    }
}

/// Wrappers with options, a fixed number of operands, then the command.
fn plain(c: &mut Collector<'_>, name: &str, row: &Row<Wrapper>, arguments: &[String]) {
    let (items, start) = row.options.read_leading(arguments);
    paths_of(c, &items);
    let mut rest = arguments.get(start..).unwrap_or_default();
    rest = rest.get(row.row.operands..).unwrap_or_default();
    let certain = !items.iter().any(|item| matches!(item, Item::Unknown(_)));
    if !certain {
        // An unlisted option may have taken the next word: both readings count.
        opaque(c, name, arguments);
    }
    let seen = |ids: &[&str]| {
        items
            .iter()
            .any(|item| matches!(item, Item::Option { id, .. } if ids.contains(id)))
    };
    match row.row.form {
        Form::Xargs if rest.is_empty() => c.inner(name, vec!["echo".to_owned()]),
        Form::Joined if seen(&["-x", "--exec"]) => c.inner(name, rest.to_vec()),
        Form::Joined => c.shell_text(name, &rest.join(" "), &[]),
        Form::ArgvOrShell => match rest.split_first() {
            Some((first, after)) if first == "-c" => {
                let (text, after) = after
                    .split_first()
                    .map_or(("", after), |(text, after)| (text.as_str(), after));
                c.shell_text(name, text, after);
            }
            _ if name == "entr" && seen(&["-s"]) => c.shell_text(name, &rest.join(" "), &[]),
            _ => c.inner(name, rest.to_vec()),
        },
        Form::Sudo => sudo(c, name, &items, rest),
        _ => c.inner(name, rest.to_vec()),
    }
}

fn sudo(c: &mut Collector<'_>, name: &str, items: &[Item<'_>], rest: &[String]) {
    let seen = |ids: &[&str]| {
        items
            .iter()
            .any(|item| matches!(item, Item::Option { id, .. } if ids.contains(id)))
    };
    if name == "sudoedit" || seen(&["-e", "--edit"]) {
        for file in rest {
            c.write(file, "wrapper.sudoedit");
        }
        return;
    }
    let skip = rest.iter().take_while(|word| is_assignment(word)).count();
    let rest = rest.get(skip..).unwrap_or_default();
    if seen(&["-s", "-i", "--shell", "--login"]) {
        c.inner(name, vec!["sh".to_owned()]);
        c.shell_text(name, &rest.join(" "), &[]);
    }
    c.inner(name, rest.to_vec());
}

/// Paths that wrapper options name themselves.
fn paths_of(c: &mut Collector<'_>, items: &[Item<'_>]) {
    for item in items {
        match item {
            Item::Option {
                role: Role::Read,
                value: Some(path),
                ..
            } => c.read_operand(path, RULE),
            Item::Option {
                role: Role::Write,
                value: Some(path),
                ..
            } => c.write(path, RULE),
            _ => {}
        }
    }
}

fn opaque(c: &mut Collector<'_>, name: &str, arguments: &[String]) {
    c.opaque(name, arguments.join(" "));
}

/// `env`: options, assignments and `-S` strings may alternate.
fn env(c: &mut Collector<'_>, name: &str, row: &Row<Wrapper>, arguments: &[String]) {
    let mut words: VecDeque<String> = arguments.iter().cloned().collect();
    let mut cwd = c.cwd.clone();
    let mut certain = true;
    while let Some(word) = words.front() {
        if word == "-" || is_assignment_operand(word) {
            words.pop_front();
            continue;
        }
        if !word.starts_with('-') {
            break;
        }
        // One option at a time, with the word that it may take.
        let two: Vec<String> = words.iter().take(2).cloned().collect();
        let (items, used) = row.options.read_leading(&two);
        let used = used.max(1);
        let only_flags = used == 2 && items.len() > 1 && !takes_value(&items);
        let used = if only_flags { 1 } else { used };
        let items = if only_flags {
            row.options.read_leading(two.get(..1).unwrap_or_default()).0
        } else {
            items
        };
        let mut split: Option<String> = None;
        for item in &items {
            match item {
                Item::Option {
                    id: "-S" | "--split-string",
                    value: Some(text),
                    ..
                } => {
                    split = Some((*text).to_owned());
                }
                Item::Option {
                    id: "-C" | "--chdir",
                    value: Some(path),
                    ..
                } => {
                    cwd = paths::join(&cwd, path);
                }
                Item::Unknown(_) => certain = false,
                _ => {}
            }
        }
        let ended = word == "--";
        words.drain(..used.min(words.len()));
        if let Some(text) = split {
            let (pieces, exact) = split_string(&text);
            certain &= exact;
            for piece in pieces.into_iter().rev() {
                words.push_front(piece);
            }
        }
        if ended {
            while words
                .front()
                .is_some_and(|word| is_assignment_operand(word))
            {
                words.pop_front();
            }
            break;
        }
    }
    if !certain {
        opaque(c, name, arguments);
    }
    let effective = c.effective;
    c.inner_in(name, words.into_iter().collect(), cwd, effective);
}

fn takes_value(items: &[Item<'_>]) -> bool {
    items
        .iter()
        .any(|item| matches!(item, Item::Option { value: Some(_), .. }))
}

/// Anything with a `=` after its first character: env accepts every such name.
fn is_assignment_operand(word: &str) -> bool {
    !word.starts_with('-') && word.find('=').is_some_and(|at| at > 0)
}

/// Splits as `env -S` does; the flag is false when it holds something that env would replace.
fn split_string(text: &str) -> (Vec<String>, bool) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut exact = true;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            (quoted, Some(open)) if quoted == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            ('\\', open) if open != Some('\'') => match characters.next() {
                Some('_') if open.is_none() => words.extend(word.take()),
                Some('_') => word.get_or_insert_default().push(' '),
                Some('c') => break,
                Some(escaped) => {
                    exact &= !escaped.is_ascii_alphanumeric();
                    word.get_or_insert_default().push(escaped);
                }
                None => exact = false,
            },
            ('$', open) if open != Some('\'') => {
                exact = false;
                word.get_or_insert_default().push('$');
            }
            (blank, None) if blank.is_ascii_whitespace() || blank == '\u{b}' => {
                words.extend(word.take());
            }
            ('#', None) if word.is_none() => break,
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word.take());
    (words, exact && quote.is_none())
}

/// `sh -c TEXT NAME ARG…`, with any options around `-c`.
fn shell(c: &mut Collector<'_>, name: &str, arguments: &[String]) {
    let mut rest = arguments;
    let mut command = false;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" || word == "-" {
            rest = after;
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            let takes = matches!(long, "rcfile" | "init-file" | "init-command" | "profile");
            command |= long == "command" || long.starts_with("command=");
            rest = after.get(usize::from(takes)..).unwrap_or_default();
            if let Some(text) = long.strip_prefix("command=") {
                c.shell_text(name, text, rest);
            }
            continue;
        }
        let Some(letters) = word
            .strip_prefix(['-', '+'])
            .filter(|letters| !letters.is_empty())
        else {
            break;
        };
        command |= word.starts_with('-') && letters.contains('c');
        let values = letters
            .chars()
            .filter(|letter| matches!(letter, 'o' | 'O'))
            .count();
        rest = after.get(values.min(after.len())..).unwrap_or_default();
    }
    if command && let Some((text, parameters)) = rest.split_first() {
        c.shell_text(name, text, parameters);
    }
}

/// `su` and `runuser`: `-c TEXT` anywhere; without it a shell, or (`runuser -u`) an argv.
fn su(c: &mut Collector<'_>, name: &str, row: &Row<Wrapper>, arguments: &[String]) {
    let mut shell = true;
    for item in row.options.read(arguments) {
        match item {
            Item::Option {
                id: "-c" | "--command" | "--session-command",
                value: Some(text),
                ..
            } => {
                c.inner(
                    name,
                    vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()],
                );
                shell = false;
            }
            Item::Option {
                id: "-u" | "--user",
                ..
            } => {
                let (_, start) = row.options.read_leading(arguments);
                c.inner(name, arguments.get(start..).unwrap_or_default().to_vec());
                shell = false;
            }
            _ => {}
        }
    }
    if shell {
        c.inner(name, vec!["sh".to_owned()]);
        // Words after the user go to the shell: `su user -- -c TEXT`.
        if let Some(at) = arguments.iter().position(|word| word == "--") {
            let mut argv = vec!["sh".to_owned()];
            argv.extend(arguments.iter().skip(at + 1).cloned());
            c.inner(name, argv);
        }
    }
}
