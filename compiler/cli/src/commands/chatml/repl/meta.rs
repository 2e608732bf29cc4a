//! What begins with a colon: commands to the session itself.

use std::fmt::Write as _;

use chatmd_compiler::diagnostics::nearest::nearest;
use chatml::limits::Limits;
use chatml::session::Session;
use chatml::surface::{self, Builtin, Module};

use super::{Next, refuse};
use crate::commands::complain;
use crate::output::Output;

/// A command, its arguments and what it does.
type Row = (&'static str, &'static str, &'static str);

/// Every command.
pub const COMMANDS: [Row; 6] = [
    (
        ":type",
        "EXPR",
        "the type of an expression, which is not evaluated",
    ),
    (
        ":surface",
        "[NAME]",
        "what scripts of this kind can use, or what NAME is",
    ),
    (":names", "", "what this session has defined"),
    (":reset", "", "forget every input"),
    (":help", "", "this list"),
    (":quit", "", "end (Ctrl-D too)"),
];

/// Whether an input is a command.
pub fn is_command(input: &str) -> bool {
    input.trim_start().starts_with(':')
}

/// Runs one.
pub fn run(session: &mut Session, input: &str, output: &mut Output) -> Next {
    let (command, argument) = match input.split_once(char::is_whitespace) {
        Some((command, argument)) => (command, argument.trim()),
        None => (input, ""),
    };
    match (command, argument) {
        (":quit" | ":q", "") => return Next::Quit,
        (":type" | ":t", "") => {
            complain(
                output,
                ":type needs an expression, such as `:type String.trim`",
            );
            return Next::Failed;
        }
        (":type" | ":t", expression) => return type_of(session, expression, output),
        (":surface", "") => output.result(all(session)),
        (":surface", name) => return describe(session, name, output),
        (":names", "") => output.result(names(session)),
        (":reset", "") => *session = Session::new(session.kind(), Limits::default()),
        (":help" | ":h" | ":?", "") => output.result(help()),
        (known, _) if COMMANDS.iter().any(|(name, ..)| *name == known) => {
            complain(output, &format!("{known} takes no argument"));
            return Next::Failed;
        }
        (unknown, _) => {
            let near = nearest(unknown, COMMANDS.iter().map(|(name, ..)| *name));
            let advice = near.unwrap_or(":help");
            complain(
                output,
                &format!("there is no command `{unknown}`; try `{advice}`"),
            );
            return Next::Failed;
        }
    }
    Next::Done
}

fn type_of(session: &Session, expression: &str, output: &mut Output) -> Next {
    match session.type_of(expression) {
        Ok(Some(ty)) => {
            output.result(format!("{ty}\n"));
            Next::Done
        }
        Ok(None) => {
            complain(output, "this has no type");
            Next::Failed
        }
        Err(refusal) => {
            refuse(session, expression, &refusal, output);
            Next::Failed
        }
    }
}

fn help() -> String {
    let mut text = String::new();
    for (name, argument, does) in COMMANDS {
        let _ = writeln!(text, "{:16}  {does}", format!("{name} {argument}"));
    }
    text.push_str(
        "\nAnything else is ChatML: an expression, or a definition (`let`, `type`, `module`, `open`).\n\
         A line goes on while something is open; an empty line ends it. Names complete with Tab.\n",
    );
    text
}

fn names(session: &Session) -> String {
    let mut text = String::new();
    let defined = session.names();
    for (at, name) in defined.iter().enumerate() {
        let later = defined.get(at + 1..).unwrap_or_default();
        if later
            .iter()
            .any(|other| other.name == name.name && other.kind == name.kind)
        {
            continue;
        }
        super::write_name(name, None, &mut text);
    }
    text
}

/// Globals, modules with their functions, and types of the kind.
fn all(session: &Session) -> String {
    let kind = session.kind();
    let mut text = String::new();
    for global in surface::globals_of(kind) {
        let _ = writeln!(text, "{} : {}", global.name, global.type_text);
    }
    for module in surface::modules_of(kind) {
        let _ = writeln!(text, "\n{}: {}", module.name, module.doc);
        functions(module, &mut text);
    }
    text.push('\n');
    for alias in surface::aliases_of(kind) {
        let _ = writeln!(text, "type {}: {}", alias.name, alias.doc);
    }
    text
}

fn functions(module: &Module, text: &mut String) {
    let all = module.functions.iter();
    for function in all.filter_map(|id| surface::builtin_at(*id)) {
        let _ = writeln!(text, "  {} : {}", function.qualified, function.type_text);
    }
}

fn describe(session: &Session, name: &str, output: &mut Output) -> Next {
    let kind = session.kind();
    let function = |function: &Builtin| {
        let Builtin {
            qualified,
            type_text,
            doc,
            ..
        } = function;
        format!("{qualified} : {type_text}\n  {doc}\n")
    };
    let text = if let Some(global) = surface::globals_of(kind).find(|found| found.name == name) {
        function(global)
    } else if let Some(module) = surface::modules_of(kind).find(|found| found.name == name) {
        let mut text = format!("{}: {}\n", module.name, module.doc);
        functions(module, &mut text);
        text
    } else if let Some(alias) = surface::aliases_of(kind).find(|found| found.name == name) {
        format!(
            "type {} = {}\n  {}\n",
            alias.name, alias.definition, alias.doc
        )
    } else {
        let member = name.split_once('.').and_then(|(module, member)| {
            let module = surface::modules_of(kind).find(|found| found.name == module)?;
            module.function(member)
        });
        match member {
            Some(member) => function(member),
            None => {
                let kind = kind.as_str();
                complain(output, &format!("the surface of `{kind}` has no `{name}`"));
                return Next::Failed;
            }
        }
    };
    output.result(text);
    Next::Done
}
