//! `tar`: paths and hosts named on the command line (spec 06 section 6.5). The fallback always
//! stands beside them: options such as `--to-command` run programs.

use crate::effect::Effect;

use super::collector::Collector;
use super::options::{Columns, Item, OptionTable, positionals, seen};

const RULE: &str = "tar";

const COLUMNS: Columns = Columns {
    flags: "* *= -c -r -u -A -x -t -d --create --append --update --catenate --concatenate \
            --extract --get --list --diff --compare --force-local",
    values: "-b -C -F -f -g -H -I -K -L -N -T -V -X --file --directory --exclude --transform \
             --xform --strip-components --use-compress-program --to-command --checkpoint-action \
             --rsh-command --info-script --rmt-command --owner --group --mode --mtime --format \
             --label --files-from --exclude-from --listed-incremental --newer --starting-file \
             --record-size --blocking-factor --tape-length --sort --suffix",
    ..Columns::NONE
};

pub(super) fn analyse(c: &mut Collector<'_>, arguments: &[String]) {
    let arguments = with_dashes(arguments);
    let items = OptionTable::new(&COLUMNS).read(&arguments);
    let seen = seen(&items);
    let has = |ids: &[&str]| ids.iter().any(|id| seen.contains(id));
    let update = has(&[
        "-r",
        "-u",
        "-A",
        "--append",
        "--update",
        "--catenate",
        "--concatenate",
    ]);
    let create = update || has(&["-c", "--create"]);
    let extract = has(&["-x", "--extract", "--get"]);
    let list = extract || has(&["-t", "-d", "--list", "--diff", "--compare"]);
    let mut directory: Option<&str> = None;
    for item in &items {
        match item {
            Item::Option {
                id: "-f" | "--file",
                value: Some(file),
                ..
            } => {
                if file.contains(':') && !has(&["--force-local"]) {
                    c.effect(Effect::Network, RULE);
                } else if *file != "-" {
                    if create {
                        c.write(file, RULE);
                    }
                    if list || update {
                        c.read(file, RULE);
                    }
                }
            }
            Item::Option {
                id: "-C" | "--directory",
                value: Some(path),
                ..
            } => {
                directory = Some(path);
                if extract {
                    c.write(path, RULE);
                } else {
                    c.read(path, RULE);
                }
            }
            Item::Option {
                id: "-T" | "--files-from" | "-X" | "--exclude-from",
                value: Some(file),
                ..
            } => {
                c.read_operand(file, RULE);
            }
            _ => {}
        }
    }
    if extract && directory.is_none() {
        c.write("", RULE);
    }
    if create {
        for word in positionals(&items) {
            c.read(word, RULE);
        }
    }
}

/// The first argument may hold option letters without a dash; their values then follow in order.
fn with_dashes(arguments: &[String]) -> Vec<String> {
    let Some((first, rest)) = arguments.split_first() else {
        return Vec::new();
    };
    if first.starts_with('-') || first.is_empty() {
        return arguments.to_vec();
    }
    let mut out = Vec::with_capacity(arguments.len() + first.len());
    let mut rest = rest.iter();
    for letter in first.chars() {
        out.push(format!("-{letter}"));
        if "bCFfgHIKLNTVX".contains(letter) {
            out.extend(rest.next().cloned());
        }
    }
    out.extend(rest.cloned());
    out
}
