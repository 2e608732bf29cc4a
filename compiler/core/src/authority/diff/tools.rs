//! Tools: rows "tool …".

use super::class::Class;
use super::lists::pair;
use super::record::{Record, Scope};
use crate::manifest::{Mode, ModelArguments, Presence, Tool};

pub(super) fn compare(old: &[Tool], new: &[Tool], record: &mut Record) {
    let pairs = pair(old, new, |tool| tool.name.clone());
    for (name, tool) in pairs.removed {
        let mut scope = record.tool(&name, &tool.runtime);
        scope.removed("", tool, Class::Narrowing);
    }
    for (name, tool) in pairs.added {
        let mut scope = record.tool(&name, &tool.runtime);
        scope.added("", tool, Class::Widening);
    }
    for (name, old, new) in pairs.kept {
        one(old, new, &mut record.tool(&name, &new.runtime));
    }
}

fn one(old: &Tool, new: &Tool, scope: &mut Scope<'_>) {
    let Tool {
        name: _,
        description,
        runtime,
        source,
        stdin,
        rationale,
        result,
        stream,
        nonzero,
        mode,
    } = old;
    scope.changed("description", description, &new.description, Class::Neutral);
    scope.changed("runtime", runtime, &new.runtime, Class::Mixed);
    scope.changed("source", source, &new.source, Class::Neutral);
    scope.stepped("stdin", stdin, &new.stdin, |stdin| supply(*stdin));
    scope.stepped(
        "rationale",
        rationale,
        &new.rationale,
        |rationale| match rationale {
            Presence::Required => 0,
            Presence::Optional => 1,
            Presence::None => 2,
        },
    );
    scope.changed("result", result, &new.result, Class::Neutral);
    let sanitized = crate::manifest::Stream::Sanitized;
    let class = if new.stream == sanitized {
        Class::Widening
    } else {
        Class::Neutral
    };
    scope.changed("stream", stream, &new.stream, class);
    scope.changed("nonzero", nonzero, &new.nonzero, Class::Neutral);
    self::mode(mode, &new.mode, &mut scope.at("mode"));
}

/// What a model may supply: nothing, one thing always, or what it likes.
fn supply(presence: Presence) -> u8 {
    match presence {
        Presence::None => 0,
        Presence::Required => 1,
        Presence::Optional => 2,
    }
}

/// What a model may have run in that mode: more is wider.
fn reach(mode: &Mode) -> u8 {
    match mode {
        Mode::Fixed { .. } => 0,
        Mode::Script { .. } => 1,
        Mode::Structured {} => 2,
        Mode::Chain {} => 3,
        Mode::Raw { .. } => 4,
    }
}

fn mode(old: &Mode, new: &Mode, scope: &mut Scope<'_>) {
    match (old, new) {
        (
            Mode::Fixed {
                program,
                executable_ref,
                arguments,
                model_arguments,
            },
            Mode::Fixed {
                program: new_program,
                executable_ref: new_ref,
                arguments: new_arguments,
                model_arguments: new_model,
            },
        ) => {
            scope.changed("program", program, new_program, Class::Mixed);
            scope.changed("executable_ref", executable_ref, new_ref, Class::Mixed);
            scope.changed("arguments", arguments, new_arguments, Class::Mixed);
            self::model_arguments(model_arguments, new_model, scope);
        }
        (
            Mode::Raw {
                executable,
                arguments_before_script,
            },
            Mode::Raw {
                executable: new_executable,
                arguments_before_script: new_arguments,
            },
        ) => {
            scope.changed("executable", executable, new_executable, Class::Mixed);
            scope.changed(
                "arguments_before_script",
                arguments_before_script,
                new_arguments,
                Class::Mixed,
            );
        }
        (
            Mode::Script {
                script,
                interpreter,
                fixed_arguments,
                verification,
                max_source_bytes,
            },
            Mode::Script {
                script: new_script,
                interpreter: new_interpreter,
                fixed_arguments: new_arguments,
                verification: new_verification,
                max_source_bytes: new_max,
            },
        ) => {
            scope.changed("script", script, new_script, Class::Mixed);
            scope.changed("interpreter", interpreter, new_interpreter, Class::Mixed);
            scope.changed(
                "fixed_arguments",
                fixed_arguments,
                new_arguments,
                Class::Mixed,
            );
            scope.changed("verification", verification, new_verification, Class::Mixed);
            scope.stepped("max_source_bytes", max_source_bytes, new_max, |max| *max);
        }
        (Mode::Structured {}, Mode::Structured {}) | (Mode::Chain {}, Mode::Chain {}) => {}
        _ => scope.stepped("", old, new, reach),
    }
}

fn model_arguments(old: &ModelArguments, new: &ModelArguments, scope: &mut Scope<'_>) {
    let mut scope = scope.at("model_arguments");
    if (old.mode == Presence::None) != (new.mode == Presence::None) {
        scope.stepped("", old, new, |arguments| supply(arguments.mode));
        return;
    }
    let ModelArguments {
        mode,
        min_count,
        max_count,
        max_item_bytes,
    } = old;
    scope.stepped("mode", mode, &new.mode, |mode| supply(*mode));
    scope.stepped("min_count", min_count, &new.min_count, |count| {
        std::cmp::Reverse(*count)
    });
    scope.stepped("max_count", max_count, &new.max_count, |count| *count);
    scope.stepped(
        "max_item_bytes",
        max_item_bytes,
        &new.max_item_bytes,
        |bytes| *bytes,
    );
}
