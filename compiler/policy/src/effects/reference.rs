//! The effect tables as a page for people (`docs/effects.md`).

use std::fmt::Write as _;

use super::groups::{Basic, GROUPS};
use super::options::Columns;
use super::precise::{PROGRAMS, Positionals};
use super::sensitive::{Arguments, DIRECTORY_OPTIONS, SENSITIVE};
use super::wrappers::{Form, WRAPPERS};

const HEAD: &str = "\
# What programs are taken to do

Made from the tables in `compiler/policy/src/effects/`; `UPDATE_EFFECTS=1 cargo test -p chatmd-policy
reference` writes it anew. Every command gets its effects from here, before any rule is asked:
`chatmdc eval --effects-only` shows those of one command with the row that they come from.

A program that no table names, and an option that its row does not list, may do anything: the
command has `arbitrary_code`, `child_processes` and an `unknown` effect. So do known programs at a place
where somebody could have put another one.

Options are written as they are typed. `--x=` needs its value attached, `--x[=]` may have one, and
`*` stands for every option that is not listed. Clusters (`-abc`), attached values (`-ofile`) and
unambiguous abbreviations are understood.
";

/// The page.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    precise(&mut page);
    sensitive(&mut page);
    groups(&mut page);
    wrappers(&mut page);
    page
}

fn precise(page: &mut String) {
    page.push_str(
        "\n## Programs with exactly these effects\n\n`git` and `tar` have grammars of their own, and \
         `find` one for its expression (`git.rs`, `tar.rs`, `find.rs`).\n",
    );
    for row in PROGRAMS {
        heading(page, row.names);
        let _ = writeln!(page, "\n{}", positionals(row.positionals));
        columns(page, &row.columns);
    }
}

fn sensitive(page: &mut String) {
    page.push_str(
        "\n## Programs of a group whose arguments name paths\n\nBeside the effects of their group (below).\n",
    );
    for row in SENSITIVE {
        heading(page, row.names);
        let _ = writeln!(page, "\n{}", arguments(row.arguments));
        columns(page, &row.columns);
    }
    page.push_str(
        "\n## Options that name the directory to work in\n\n| Programs | Directory | File in it |\n|---|---|---|\n",
    );
    for row in DIRECTORY_OPTIONS {
        let (directory, file) = (row.directory.join(" "), row.file.join(" "));
        let _ = writeln!(
            page,
            "| {} | {} | {} |",
            words(row.names),
            words(&directory),
            words(&file)
        );
    }
}

fn groups(page: &mut String) {
    page.push_str("\n## Groups\n\nWhat every program of a group may do. `*` at the end of a name stands for any rest.\n\n");
    page.push_str("| Group | Programs | Effects |\n|---|---|---|\n");
    for row in GROUPS {
        let effects: Vec<String> = row.effects.iter().map(|effect| basic(*effect)).collect();
        let rule = row.rule.strip_prefix("group.").unwrap_or(row.rule);
        let _ = writeln!(
            page,
            "| {rule} | {} | {} |",
            words(row.names),
            effects.join(", ")
        );
    }
}

fn wrappers(page: &mut String) {
    page.push_str("\n## Programs that start another one\n\nThe inner command counts too, for the effects and for every rule that asks or denies.\n\n");
    page.push_str("| Programs | The inner command is | Options before it |\n|---|---|---|\n");
    for row in WRAPPERS {
        let options = [row.columns.flags, row.columns.values, row.columns.reads];
        let operands = match row.operands {
            0 => String::new(),
            1 => ", after one word".to_owned(),
            count => format!(", after {count} words"),
        };
        let _ = writeln!(
            page,
            "| {} | {}{operands} | {} |",
            words(row.names),
            form(row.form),
            words(&options.join(" "))
        );
    }
}

fn heading(page: &mut String, names: &str) {
    let _ = writeln!(page, "\n### {}", words(names));
}

fn columns(page: &mut String, columns: &Columns) {
    let rows = [
        ("no effect", columns.flags),
        ("takes a value without effect", columns.values),
        ("reads its value", columns.reads),
        ("writes its value", columns.writes),
        ("reads the files that its value lists", columns.lists),
        ("runs another program", columns.execs),
    ];
    if rows.iter().all(|(_, options)| options.is_empty()) {
        return;
    }
    page.push_str("\n| Options | |\n|---|---|\n");
    for (meaning, options) in rows.iter().filter(|(_, options)| !options.is_empty()) {
        let _ = writeln!(page, "| {} | {meaning} |", words(options));
    }
}

/// Words of a table as code.
fn words(text: &str) -> String {
    let quoted = text.split_whitespace().map(|word| {
        let word = word.replace('|', "\\|");
        format!("`{word}`")
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn positionals(meaning: Positionals) -> &'static str {
    match meaning {
        Positionals::Ignored => "Nothing on their command line has an effect.",
        Positionals::Read => "Each argument is read; `-` is standard input.",
        Positionals::ReadTail => "Each argument is read, except `+N`.",
        Positionals::ReadOrCwd => "Each argument is read; without one the current directory is.",
        Positionals::Write => "Each argument is written.",
        Positionals::WriteAncestors => {
            "Each argument is written; with `-p` so is every folder above it that is named."
        }
        Positionals::GrepFiles => {
            "The first argument is a pattern unless an option gives one; the others are read."
        }
        Positionals::RipgrepFiles => {
            "The first argument is a pattern unless an option gives one; the others are read, without one the current directory is."
        }
        Positionals::Copy => "The last argument, or that of `-t`, is written; the others are read.",
        Positionals::Move => {
            "The last argument, or that of `-t`, is written; the others are read and removed."
        }
        Positionals::Uniq => "The first argument is read, the second written; more are unknown.",
        Positionals::Cmp => "The first two arguments are read; the others are numbers.",
        Positionals::Date => "An argument that does not begin with `+` sets the clock.",
        Positionals::Checksum => "Each argument is read; with `-c` so are the files that it lists.",
    }
}

fn arguments(meaning: Arguments) -> String {
    let text = match meaning {
        Arguments::Nothing => "Other arguments have no effect of their own.",
        Arguments::Curl => "`file://` addresses and values `@FILE` are read.",
        Arguments::RemoteCopy => {
            "Arguments without a host are paths: the last is written, the others are read."
        }
        Arguments::Sed => {
            "The first argument is a script unless an option gives one; the others are read, with `-i` written."
        }
        Arguments::Awk => {
            "The first argument is a program unless `-f` gives one; the others are read."
        }
        Arguments::Dd => "`of=` is written, `if=` read.",
        Arguments::Link => "The last argument is written, the others are read.",
        Arguments::Install => {
            "The last argument, or that of `-t`, is written; the others are read."
        }
        Arguments::Write => "Each argument is written.",
        Arguments::Mode => {
            "The first argument is a mode or owner unless `--reference` gives one; the others are written."
        }
        Arguments::NetworkSub(list) => {
            return format!("These subcommands use the network: {}.", words(list));
        }
    };
    text.to_owned()
}

fn basic(effect: Basic) -> String {
    match effect {
        Basic::Code => "arbitrary_code".to_owned(),
        Basic::Children => "child_processes".to_owned(),
        Basic::Network => "network".to_owned(),
        Basic::Privilege => "privilege_change".to_owned(),
        Basic::ReadCwd => "reads the current directory".to_owned(),
        Basic::WriteCwd => "writes the current directory".to_owned(),
        Basic::Unknown(reason) => format!("unknown ({reason})"),
        Basic::Fallback => "arbitrary_code, child_processes, unknown".to_owned(),
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Argv => "the rest of the words",
        Form::Env => {
            "the rest after `NAME=VALUE` words; `-S` splits a text, `-C` changes the directory"
        }
        Form::Xargs => "the rest of the words, or `echo`",
        Form::Sudo => "the rest of the words, or a shell; `-e` edits files",
        Form::Su => "the shell text of `-c`, wherever it stands",
        Form::Joined => "the rest, joined to shell text",
        Form::ArgvOrShell => "the rest of the words, or the shell text of `-c`",
        Form::Shell => "the shell text of `-c`",
        Form::GdbArgs => "what follows `--args`",
        Form::Opaque => "somewhere among the words: all of them count as text",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    /// People review the tables on this page.
    #[test]
    fn the_reference_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/effects.md");
        if std::env::var_os("UPDATE_EFFECTS").is_some() {
            std::fs::write(path, reference()).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(
            kept == reference(),
            "run UPDATE_EFFECTS=1 cargo test -p chatmd-policy reference"
        );
    }
}
