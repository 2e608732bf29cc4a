//! Type names a surface defines (spec 05b sections 2.6, 4 and 6).

use std::sync::LazyLock;

use super::{Kind, KindSet};
use crate::types::{TypeGraph, parse_type};

/// A type name of a surface.
#[derive(Debug)]
pub struct Alias {
    /// Its name.
    pub name: &'static str,
    /// Its definition, in the notation of spec 05b.
    pub definition: &'static str,
    /// What it is, in Markdown.
    pub doc: &'static str,
    /// The kinds that have it.
    pub kinds: KindSet,
}

const WITH_CONTEXT: KindSet = KindSet::of(&[
    Kind::ShellMatcher,
    Kind::ShellReviewer,
    Kind::ShellBeforeInterceptor,
    Kind::ShellEffectAnalyzer,
]);
const MODERATOR: KindSet = KindSet::of(&[Kind::Moderator]);

static ALIASES: &[Alias] = &[
    Alias {
        name: "json",
        definition: "[ `Null | `Bool(bool) | `Number(float) | `String(string) | `Array(json array) \
                     | `Object({ key : string; value : json } array) ]",
        doc: "Any JSON value. Members of an object keep their order.",
        kinds: KindSet::ALL,
    },
    Alias {
        name: "shell_context",
        definition: "{ version : string; phase : string; request_id : string; runtime_id : string; \
                     manifest_sha256 : string; argv : string array; \
                     executable : { canonical_path : string; path : string; requested : string; sha256 : string; trusted : bool }; \
                     cwd : string; origin : string; request_kind : string; stdin_kind : string; \
                     stdin_sha256 : option string; stdin_bytes : int; script_sha256 : option string; \
                     script_preview : option string; effects : string array; \
                     capabilities : { arbitrary_code : bool; child_processes : bool; network : bool; privilege_change : bool; \
                     read_roots : string array; sandbox : string; write_roots : string array }; \
                     session_id : option string; policy : option shell_policy }",
        doc: "One command as planned: what would run, where, with which effects and capabilities.",
        kinds: WITH_CONTEXT,
    },
    Alias {
        name: "shell_policy",
        definition: "{ action : string; matches : { action : string; reason : option string; rule_id : string } array; \
                     reason : string; version : string }",
        doc: "What the policy decided about a command, and every rule that matched.",
        kinds: WITH_CONTEXT,
    },
    Alias {
        name: "shell_result",
        definition: "{ argv : string array; intercepted_by : option string; phase : string; status_code : int; \
                     status_kind : string; stderr : string; stderr_truncated : bool; stdout : string; \
                     stdout_truncated : bool; untrusted_output : bool; version : string }",
        doc: "A finished command: its exit status and its output after redaction.",
        kinds: KindSet::of(&[Kind::ShellAfterInterceptor]),
    },
    Alias {
        name: "shell_audit",
        definition: "{ event : string; fields : { name : string; value : string } array; manifest_sha256 : string; \
                     phase : string; plan_id : option string; request_id : string; runtime_id : string; \
                     sequence : string; session_id : option string; timestamp : float; version : string }",
        doc: "One audit event before it is written.",
        kinds: KindSet::of(&[Kind::ShellAuditFilter]),
    },
    Alias {
        name: "item",
        definition: "{ id : string; value : json }",
        doc: "One item of the conversation.",
        kinds: MODERATOR,
    },
    Alias {
        name: "tool_desc",
        definition: "{ name : string; description : string; input_schema : json }",
        doc: "A tool the model can call.",
        kinds: MODERATOR,
    },
    Alias {
        name: "tool_call",
        definition: "{ id : string; name : string; args : json }",
        doc: "A call the model made.",
        kinds: MODERATOR,
    },
    Alias {
        name: "tool_result",
        definition: "{ call_id : string; name : string; result : json }",
        doc: "What a tool call returned.",
        kinds: MODERATOR,
    },
    Alias {
        name: "context",
        definition: "{ session_id : string; now_ms : int; phase : string; items : item array; \
                     available_tools : tool_desc array; session_meta : json }",
        doc: "The conversation as the moderator sees it.",
        kinds: MODERATOR,
    },
];

static GRAPHS: LazyLock<Vec<TypeGraph>> = LazyLock::new(|| {
    ALIASES
        .iter()
        .map(|entry| {
            parse_type(entry.name, &|name| {
                alias(name).map(|alias| alias.definition)
            })
            .unwrap_or(TypeGraph {
                nodes: Vec::new(),
                root: crate::types::NodeId(0),
            })
        })
        .collect()
});

/// All type names of all kinds.
pub fn aliases() -> &'static [Alias] {
    ALIASES
}

/// The type name `name`, of whatever kind.
pub fn alias(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name == name)
}

impl Alias {
    /// The type it stands for.
    pub fn graph(&self) -> &'static TypeGraph {
        static EMPTY: TypeGraph = TypeGraph {
            nodes: Vec::new(),
            root: crate::types::NodeId(0),
        };
        ALIASES
            .iter()
            .position(|alias| alias.name == self.name)
            .and_then(|at| GRAPHS.get(at))
            .unwrap_or(&EMPTY)
    }
}
