//! The reference of the library as Markdown, from the same table as everything else.

use std::fmt::Write as _;

use super::{Builtin, Kind, KindSet, aliases, builtin_at, builtins, modules};

/// The whole reference, all kinds together.
pub fn reference() -> String {
    let mut text = String::from(
        "# The ChatML library\n\n\
         Everything that a script can reach, by kind. `chatmdc chatml repl --kind KIND` lists the names of one\n\
         kind with `:surface` and explains one with `:surface NAME`.\n\n\
         <!-- Written from compiler/chatml/src/surface; UPDATE_REFERENCE=1 cargo test -p chatml --lib reference -->\n\n\
         `a -> b -> r` is a function of two parameters, called `f(x, y)`; `unit -> r` takes none. `option t` is\n\
         ``[ `None | `Some(t) ]`` and `tbl t` is `{ key : string; value : t } array ref`.\n",
    );
    kinds(&mut text);
    text.push_str("\n## Global functions\n\n");
    table(
        builtins().iter().filter(|found| found.module.is_none()),
        &mut text,
    );
    for module in modules() {
        let _ = write!(text, "\n## `{}`\n\n{}", module.name, module.doc);
        let _ = write!(text, " {}\n\n", reach(module.kinds));
        let functions = module.functions.iter().filter_map(|id| builtin_at(*id));
        table(functions, &mut text);
    }
    text.push_str("\n## Types\n");
    for alias in aliases() {
        let _ = write!(
            text,
            "\n### `{}`\n\n{} {}\n\n",
            alias.name,
            alias.doc,
            reach(alias.kinds)
        );
        let _ = write!(text, "```text\n{}\n```\n", layout(alias.definition));
    }
    text
}

fn kinds(text: &mut String) {
    text.push_str("\n## Kinds\n\n| Kind | Function | Event | Actions |\n|---|---|---|---|\n");
    for kind in Kind::ALL {
        if let Some(contract) = kind.contract() {
            let _ = writeln!(
                text,
                "| `{}` | `{}` | `{}` | `{}` |",
                kind.as_str(),
                contract.default_name,
                contract.event,
                contract.actions
            );
        }
    }
    text.push_str(
        "\nA script of these kinds defines `initial_state` and its function, of type `EVENT -> STATE -> STATE task`.\n",
    );
}

fn reach(kinds: KindSet) -> String {
    if kinds == KindSet::ALL {
        return "In every kind.".to_owned();
    }
    let names: Vec<String> = kinds
        .iter()
        .map(|kind| format!("`{}`", kind.as_str()))
        .collect();
    format!("In {}.", names.join(", "))
}

fn table<'b>(functions: impl Iterator<Item = &'b Builtin>, text: &mut String) {
    text.push_str("| Name | Type | |\n|---|---|---|\n");
    for function in functions {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            code(&function.qualified),
            code(function.type_text),
            function.doc.replace('|', "\\|").replace('\n', " ")
        );
    }
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}

/// A definition with one field of its outermost record a line.
fn layout(definition: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for (at, c) in definition.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        let ends = (c == '}' && depth == 0) && at + 1 == definition.len();
        if ends && text.ends_with(' ') {
            text.pop();
            text.push('\n');
        }
        text.push(c);
        let begins = c == '{' && depth == 1 && at == 0;
        if begins || c == ';' && depth == 1 {
            text.push_str("\n ");
        }
    }
    text
}
