//! `chatmdc graph` (spec 10 section 2.6).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use chatmd_compiler::SafeText;
use chatmd_compiler::graph::{self, Edge, Graph, Node, NodeKind};
use chatmd_compiler::manifest::bundle::{self, Content};
use serde::Serialize;

use super::{JsonError, complain, findings, print_human, refuse, to_json};
use crate::args::{Common, GraphArgs, GraphFormat, GraphKind};
use crate::documents::{Documents, compilation};
use crate::exit;
use crate::output::Output;
use crate::report::Summary;
use crate::report::json::{self, JsonDiagnostic};

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    command: &'static str,
    ok: bool,
    #[serde(flatten)]
    graph: &'a Graph,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<JsonDiagnostic>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
}

/// Runs the command.
pub fn run(args: &GraphArgs, common: Common, output: &mut Output) -> u8 {
    let opened = Documents::new(&args.reading).and_then(|mut documents| {
        let root = documents.open(&args.document, &args.reading, None)?;
        Ok((documents, root))
    });
    let (documents, root) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            complain(output, &why.to_string());
            return exit::IO;
        }
    };
    let db = &documents.db;
    let compilation = match compilation(db, root, &args.reading, documents.cwd()) {
        Ok(compilation) => compilation,
        Err(why) if args.format == GraphFormat::Json => {
            output.result(super::refused("graph", &why));
            return exit::FAILED;
        }
        Err(why) => return refuse(&args.document, &why, output),
    };
    let bytes = root.file(db).content(db).clone().unwrap_or_default();
    let whole = match (&compilation.manifest, bundle::recognise(&bytes)) {
        (Some(manifest), Content::Bundle) => graph::of_manifest(manifest),
        (manifest, _) => graph::of_document(db, root, manifest.as_deref()),
    };
    let graph = selected(&whole, &args.only);
    let ok = compilation.succeeded() && whole.cycles.is_empty();
    let shown = findings(&compilation, common.quiet);
    match args.format {
        GraphFormat::Human => output.result(human(&graph)),
        GraphFormat::Dot => output.result(dot(&graph)),
        GraphFormat::Mermaid => output.result(mermaid(&graph)),
        GraphFormat::Json => {
            let shown = [findings(&compilation, false)];
            let failed = !ok;
            output.result(to_json(&Answer {
                version: 1,
                command: "graph",
                ok,
                graph: &graph,
                error: failed.then(|| JsonError {
                    code: None,
                    message: "the document has errors; the graph shows it as written".to_owned(),
                }),
                diagnostics: failed.then(|| json::diagnostics(&shown)),
                summary: failed.then(|| Summary::of(&shown)),
            }));
        }
    }
    if args.format != GraphFormat::Json && !ok {
        print_human(&shown, output);
        if !common.quiet {
            output.message(Summary::of(&[shown]).line());
        }
    }
    if ok { exit::OK } else { exit::FAILED }
}

fn selected(graph: &Graph, only: &[GraphKind]) -> Graph {
    if only.is_empty() {
        return graph.clone();
    }
    let workers = graph.workers();
    graph.only(|node| {
        only.iter().any(|kind| match kind {
            GraphKind::Worker => workers.contains(node.id.as_str()),
            kind => Some(node.kind) == node_kind(*kind),
        })
    })
}

fn node_kind(kind: GraphKind) -> Option<NodeKind> {
    Some(match kind {
        GraphKind::File => NodeKind::File,
        GraphKind::Runtime => NodeKind::Runtime,
        GraphKind::Profile => NodeKind::Profile,
        GraphKind::Tool => NodeKind::Tool,
        GraphKind::Script => NodeKind::Script,
        GraphKind::Hook => NodeKind::Hook,
        GraphKind::Agent => NodeKind::Agent,
        GraphKind::Executable => NodeKind::Executable,
        GraphKind::Backend => NodeKind::Backend,
        GraphKind::Moderator => NodeKind::Moderator,
        // A role of runtimes.
        GraphKind::Worker => return None,
    })
}

/// `KIND NAME` for people; the moderator has no other name.
fn title(node: &Node) -> String {
    let title = match node.kind {
        NodeKind::Moderator => "moderator".to_owned(),
        kind => format!("{} {}", kind.as_str(), node.label),
    };
    SafeText::line(&title).into_string()
}

fn human(graph: &Graph) -> String {
    let names: HashMap<&str, String> = graph
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), title(node)))
        .collect();
    let mut out: BTreeMap<&str, Vec<&Edge>> = BTreeMap::new();
    for edge in &graph.edges {
        out.entry(&edge.from).or_default().push(edge);
    }
    let mut text = String::new();
    for node in &graph.nodes {
        let _ = writeln!(text, "{}", title(node));
        for edge in out.get(node.id.as_str()).into_iter().flatten() {
            let label = SafeText::line(&edge.label).into_string();
            let to = names.get(edge.to.as_str()).cloned().unwrap_or_default();
            // `runtime main` says all of `runtime main -> runtime main`.
            let arrow = if label == to {
                to
            } else {
                format!("{label} -> {to}")
            };
            let mark = if edge.in_cycle { "  [cycle]" } else { "" };
            let _ = writeln!(text, "  {arrow}{mark}");
        }
    }
    for cycle in &graph.cycles {
        let steps = cycle.iter().chain(cycle.first());
        let steps: Vec<&str> = steps.map(String::as_str).collect();
        let _ = writeln!(text, "cycle: {}", SafeText::line(&steps.join(" -> ")));
    }
    text
}

/// A string of the DOT language. A backslash would start an escape in labels.
fn dot_string(text: &str) -> String {
    let safe = SafeText::line(text).into_string();
    format!("\"{}\"", safe.replace('\\', "\\\\").replace('"', "\\\""))
}

fn dot(graph: &Graph) -> String {
    let mut text = "digraph chatmd {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for node in &graph.nodes {
        let (id, label) = (dot_string(&node.id), dot_string(&title(node)));
        let _ = writeln!(text, "  {id} [label={label}];");
    }
    for edge in &graph.edges {
        let (from, to) = (dot_string(&edge.from), dot_string(&edge.to));
        let label = dot_string(&edge.label);
        let mark = if edge.in_cycle {
            ", color=red, fontcolor=red"
        } else {
            ""
        };
        let _ = writeln!(text, "  {from} -> {to} [label={label}{mark}];");
    }
    text.push_str("}\n");
    text
}

/// A quoted string of Mermaid, in which markup means something: it is written as entities.
fn mermaid_string(text: &str) -> String {
    let safe = SafeText::line(text).into_string();
    let mut quoted = String::from("\"");
    for c in safe.chars() {
        match c {
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' | '|' | ';' | '*' | '_' | '[' | ']' | '{'
            | '}' | '(' | ')' => {
                let _ = write!(quoted, "#{};", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn mermaid(graph: &Graph) -> String {
    let number: HashMap<&str, usize> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(number, node)| (node.id.as_str(), number))
        .collect();
    let mut text = "flowchart LR\n".to_owned();
    for (index, node) in graph.nodes.iter().enumerate() {
        let _ = writeln!(text, "  n{index}[{}]", mermaid_string(&title(node)));
    }
    let mut marked = Vec::new();
    let mut written = 0_usize;
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (number.get(edge.from.as_str()), number.get(edge.to.as_str()))
        else {
            continue;
        };
        let label = mermaid_string(&edge.label);
        let _ = writeln!(text, "  n{from} -->|{label}| n{to}");
        if edge.in_cycle {
            marked.push(written.to_string());
        }
        written += 1;
    }
    if !marked.is_empty() {
        let _ = writeln!(text, "  linkStyle {} stroke:red", marked.join(","));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_ends() {
        assert_eq!(dot_string("a\\"), "\"a\\\\\"");
        assert_eq!(dot_string("\\n\"\n"), "\"\\\\n\\\"\\\\u{a}\"");
        assert_eq!(mermaid_string("a\"b"), "\"a#34;b\"");
        let hostile = mermaid_string("<script>\n`x`|[y](z)#59;");
        let inner = hostile.trim_matches('"');
        assert!(
            !inner.contains(['"', '<', '>', '`', '|', '[', '(', '\n']),
            "{hostile}"
        );
    }
}
