//! Which tables apply to a command (spec 06 section 6.3).

use std::borrow::Cow;

use crate::effect::{Effect, Effects};
use crate::facts::{CommandFacts, ExecutableFacts, PolicyHost, RequestKind};
use crate::paths::basename;

use super::collector::{Collector, Pending};
use super::groups::MULTI_CALL;
use super::tables::{Tables, considered_name, stem};
use super::{apply, find, git, inner, tar};

/// Reason of a raw shell request.
const OPAQUE_PROGRAM: &str = "opaque shell program";

pub(super) fn infer(facts: &CommandFacts, host: &dyn PolicyHost, direct: bool) -> Effects {
    let mut c = Collector::new(host, direct, &facts.environment, &facts.cwd);
    if facts.kind == RequestKind::RawShell {
        raw_shell(&mut c, facts);
    } else {
        outer(&mut c, facts);
    }
    while let Some(pending) = c.next_inner() {
        inner_command(&mut c, pending);
    }
    let mut effects = c.finish(|| match &facts.script {
        Some(script) => script.clone(),
        None => facts.argv.join(" "),
    });
    let unstable = facts.executable.as_ref().is_none_or(is_unstable);
    effects.pin(|record| match &record.effect {
        Effect::PrivilegeChange => true,
        Effect::Unknown(reason) if reason == OPAQUE_PROGRAM => true,
        _ => unstable && record.rule == "fallback",
    });
    effects
}

fn is_unstable(executable: &ExecutableFacts) -> bool {
    !executable.stable || executable.interpreted
}

fn raw_shell(c: &mut Collector<'_>, facts: &CommandFacts) {
    c.effect(Effect::ArbitraryCode, "raw_shell");
    c.effect(Effect::ChildProcesses, "raw_shell");
    c.unknown(OPAQUE_PROGRAM, "raw_shell");
    c.effective = false;
    let script = facts
        .script
        .as_deref()
        .or(facts.argv.last().map(String::as_str));
    c.shell_text("raw_shell", script.unwrap_or_default(), &[]);
}

fn outer(c: &mut Collector<'_>, facts: &CommandFacts) {
    let arguments = facts.arguments();
    let Some(executable) = &facts.executable else {
        let name = considered_name(facts.program());
        unstable(c, std::slice::from_ref(&name), arguments);
        return;
    };
    // An alias stands for its declared path: that name says what the program is.
    let requested = if executable.alias {
        considered_name(&executable.located)
    } else {
        considered_name(facts.program())
    };
    let located = considered_name(&executable.located);
    let canonical = considered_name(&executable.canonical);
    if is_unstable(executable) {
        unstable(c, &[requested.clone(), located, canonical], arguments);
    } else {
        stable(
            c,
            &requested,
            &canonical,
            executable.in_trusted_root,
            arguments,
        );
    }
    if executable.set_id {
        c.effect(Effect::PrivilegeChange, "set_id");
        c.fallback(&requested);
    }
}

fn unstable(c: &mut Collector<'_>, names: &[String], arguments: &[String]) {
    c.fallback(names.first().map_or("", String::as_str));
    let mut done: Vec<&str> = Vec::new();
    for name in names {
        if !done.contains(&name.as_str()) {
            done.push(name);
            analyse(c, name, arguments, Extent::Everything);
        }
    }
}

fn stable(
    c: &mut Collector<'_>,
    requested: &str,
    canonical: &str,
    in_trusted_root: bool,
    arguments: &[String],
) {
    let one = |c: &mut Collector<'_>, name: &str| {
        if !analyse(c, name, arguments, Extent::Everything) {
            c.fallback(name);
        }
    };
    one(c, requested);
    let same = requested == canonical
        || MULTI_CALL.contains(&canonical)
        || stem(requested) == stem(canonical);
    if same {
        return;
    }
    if in_trusted_root {
        analyse(c, canonical, arguments, Extent::GroupsOnly);
    } else {
        one(c, canonical);
    }
}

/// An inner command is looked up again when it starts, so it is never stable.
fn inner_command(c: &mut Collector<'_>, pending: Pending) {
    let Some((program, arguments)) = pending.argv.split_first() else {
        return;
    };
    c.cwd = pending.cwd;
    c.depth = pending.depth;
    c.effective = pending.effective;
    let mut names = vec![considered_name(program)];
    if let Some(found) = c.host.search(program, &c.cwd) {
        names.push(considered_name(&found.located));
        names.push(considered_name(&found.canonical));
    }
    unstable(c, &names, arguments);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Everything,
    /// Not the precise table.
    GroupsOnly,
}

/// Applies every table that has the name; false when none has.
fn analyse(c: &mut Collector<'_>, name: &str, arguments: &[String], extent: Extent) -> bool {
    let mut name = Cow::Borrowed(name);
    let mut arguments = arguments;
    let mut multi_call = false;
    // `busybox busybox wget`: the applet is the first argument, as often as it takes.
    while MULTI_CALL.contains(&name.as_ref()) {
        let Some((first, rest)) = arguments.split_first() else {
            return true;
        };
        let applet = first.strip_prefix("--coreutils-prog=").unwrap_or(first);
        match applet {
            "--list" | "--list-full" | "--help" | "--version" => return true,
            "--install" => {
                c.write("", "multi_call.install");
                c.fallback(&name);
                return true;
            }
            _ => {}
        }
        if !multi_call {
            let mut argv = vec![applet.to_owned()];
            argv.extend(rest.iter().cloned());
            // The applet takes part in matching; its effects follow below.
            let cwd = c.cwd.clone();
            c.inner_in(&name, argv, cwd, false);
        }
        multi_call = true;
        name = Cow::Owned(basename(applet).to_lowercase());
        arguments = rest;
    }
    let tables = Tables::get();
    let Some(key) = tables.key(&name) else {
        if multi_call {
            c.fallback(&name);
        }
        return multi_call;
    };
    if extent == Extent::Everything {
        if key == "find" {
            find::analyse(c, arguments);
        }
        if let Some(row) = tables.programs.get(key) {
            apply::precise(c, key, row, arguments);
        }
    }
    for group in tables.groups(key) {
        for &effect in group.effects {
            c.basic(effect, key, group.rule);
        }
    }
    if let Some(row) = tables.sensitive.get(key) {
        apply::sensitive(c, key, row, arguments);
    }
    apply::directories(c, key, arguments);
    match key {
        "git" => git::analyse(c, arguments),
        "tar" => tar::analyse(c, arguments),
        _ => {}
    }
    if let Some(row) = tables.wrappers.get(key) {
        inner::wrapper(c, key, row, arguments);
    }
    true
}
