//! What to write for an attribute that has no value yet: a repair where one value is right in every
//! document, an example where only the author can know.

use super::{Attribute, Element, Type};

/// A value for an attribute that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Right wherever the attribute is missing, so a repair may write it.
    Value(&'static str),
    /// Shows the form of a value; which one is right, only the author knows.
    Form(&'static str),
}

impl Sample {
    /// The text.
    pub const fn text(self) -> &'static str {
        match self {
            Sample::Value(text) | Sample::Form(text) => text,
        }
    }
}

/// The value to offer for an attribute of `element`.
pub fn sample(element: &Element, row: &Attribute) -> Sample {
    if let Some(default) = row.default.filter(|text| !text.is_empty()) {
        return Sample::Value(default);
    }
    chosen(element.name, row.name).unwrap_or_else(|| of_type(row))
}

/// Where the element decides.
fn chosen(element: &str, name: &str) -> Option<Sample> {
    use Sample::{Form, Value};
    Some(match (element, name) {
        ("msg", "role") => Value("user"),
        // The answer that allows nothing by itself and stops nothing for good.
        ("rule", "action") => Value("ask"),
        ("audit", "format") => Value("session"),
        ("arguments", "mode") => Value("optional"),
        ("reviewer", "kind") => Value("ui"),
        // What these say decides how the program or the rule reads.
        ("script", "kind") => Form("shell_matcher"),
        ("interceptor", "phase") => Form("before"),
        ("effect", "name") => Form("network"),
        ("shell_access", "id") => Form("dev"),
        ("script", "id") => Form("check"),
        ("rule", "id") => Form("no-rm"),
        ("reviewer", "id") => Form("human"),
        ("interceptor", "id") => Form("log"),
        ("analyzer", "id") => Form("effects"),
        ("read", "id") => Form("src"),
        ("reasoning", "id") => Form("rs_1"),
        ("executable", "path") => Form("/opt/tools/lint"),
        ("search_path", "path") => Form("/usr/bin"),
        ("trusted_root", "path") => Form("/usr"),
        ("from_file", "path") => Form("/run/secrets/token"),
        ("path_arg", "path") => Form("src"),
        ("audit", "path") => Form("${source_dir}/audit.jsonl"),
        ("resolved_path", "value") => Form("/usr/bin/git"),
        ("external_backend", "executable") => Form("/usr/bin/jail"),
        ("interceptor" | "reviewer" | "analyzer" | "filter", "executable") => {
            Form("${source_dir}/hook")
        }
        ("tool", "script") => Form("${tool_dir}/run.sh"),
        ("tool", "executable") => Form("/bin/sh"),
        ("tool", "agent") => Form("reviewer.chatmd"),
        ("tool", "mcp_server") => Form("https://mcp.example.com"),
        ("tool", "name") => Form("list_files"),
        (
            "tool" | "moderator_runtime" | "interceptor" | "reviewer" | "analyzer" | "filter",
            "runtime" | "shell_runtime",
        ) => Form("dev"),
        (_, "script") => Form("check"),
        ("reviewer", "agent") => Form("reviewer"),
        ("import", "src") => Form("shared.chatmd"),
        ("agent", "src") => Form("helper.chatmd"),
        ("doc", "src") => Form("notes.md"),
        ("img", "src") => Form("picture.png"),
        (_, "tool_call_id") => Form("call_1"),
        ("tool_call", "function_name") => Form("read_file"),
        ("basename" | "program", "value") => Form("git"),
        ("argument", "value") => Form("--force"),
        ("argument_contains", "value") => Form("://"),
        ("arg", "value") => Form("status"),
        ("set", "name") => Form("LANG"),
        ("set", "value") => Form("C.UTF-8"),
        ("unset_prefix", "value") => Form("AWS_"),
        ("read_roots", "flag") => Form("--read"),
        ("write_roots", "flag") => Form("--write"),
        ("network_flag", "value") => Form("--network"),
        ("config", "model") => Form("gpt-5"),
        _ => return None,
    })
}

fn of_type(row: &Attribute) -> Sample {
    use Sample::{Form, Value};
    match row.ty {
        // A bare name says yes in the formats that people come from.
        Type::Flag | Type::Bool => Value("true"),
        Type::Words([only]) => Value(only),
        Type::Words(words) | Type::WordList(words) => Form(words.first().copied().unwrap_or("…")),
        Type::Duration | Type::DurationOrNone => Form("30s"),
        Type::Bytes | Type::BytesOrNone => Form("1MiB"),
        Type::Uint | Type::UintOrNone => Form("64"),
        Type::Temperature => Form("0.2"),
        Type::Sha256 => Form("0000000000000000000000000000000000000000000000000000000000000000"),
        Type::Path | Type::ToolPath => Form("${workspace}"),
        Type::Suffix => Form("bin"),
        Type::Variable => Form("workspace"),
        Type::Env => Form("API_TOKEN"),
        Type::RuntimeId | Type::Reference => Form("dev"),
        Type::ScriptId | Type::EntryId | Type::ExecutableId | Type::EntryRef => Form("main"),
        Type::ParentReference => Form("builtin:workspace-readonly@1"),
        Type::ArgvPrefix => Form("git, status"),
        Type::JsonArray => Form("[]"),
        Type::Regex => Form("^git"),
        Type::Function => Form("main"),
        Type::ToolName => Form("list_files"),
        Type::FixedCommand => Form("git status"),
        Type::Namespace => Form("shared"),
        Type::Text(_) | Type::Literal(_) | Type::Any => Form("…"),
    }
}
