#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::CompileOptions;
use crate::db::{Database, MemoryFileSystem};
use crate::manifest::Platform;

fn graph(files: &[(&str, &str)]) -> (Graph, bool) {
    let system: MemoryFileSystem = files
        .iter()
        .map(|(name, text)| (format!("/d/{name}"), text.as_bytes()))
        .collect();
    let mut db = Database::new(system);
    let root = db.root_from_path("a.chatmd".into(), "/d".into()).unwrap();
    let options = CompileOptions::for_platform(Platform::Linux);
    let compilation = crate::compile(&db, root, &options);
    let graph = of_document(&db, root, compilation.manifest.as_deref());
    (graph, compilation.succeeded())
}

fn edges(graph: &Graph) -> Vec<String> {
    let edges = graph.edges.iter();
    let edges = edges.filter(|edge| edge.kind != "backend");
    edges
        .map(|edge| {
            let mark = if edge.in_cycle { " !" } else { "" };
            format!("{} -> {} ({}){mark}", edge.from, edge.to, edge.label)
        })
        .collect()
}

const WORKER: &str = "<shell_access id=\"w\" extends=\"builtin:hook-worker\"/>\n";

#[test]
fn a_document_that_compiles_shows_what_is_inherited() {
    let main = "<import src=\"b.chatmd\" namespace=\"lib\"/>\n\
        <shell_access id=\"base\" extends=\"builtin:workspace-development\">\
        <resolver><executable id=\"x\" path=\"/bin/ls\"/></resolver><interceptors>\
        <interceptor id=\"tidy\" phase=\"before\" executable=\"h\" runtime=\"lib:w\"/>\
        </interceptors></shell_access>\n\
        <shell_access id=\"r\" extends=\"base\"/>\n\
        <tool name=\"t\" type=\"shell\" runtime=\"r\" mode=\"fixed\"><command executable_ref=\"x\"/></tool>\n\
        <moderator_runtime shell_runtime=\"r\"/>\n";
    let (graph, compiled) = graph(&[("a.chatmd", main), ("b.chatmd", WORKER)]);
    assert!(compiled || graph.cycles.is_empty());
    let edges = edges(&graph);
    for expected in [
        "file:a.chatmd -> file:b.chatmd (imports b.chatmd)",
        "runtime:base -> profile:builtin:workspace-development@1 (extends builtin:workspace-development@1)",
        "runtime:base -> hook:base/interceptor tidy (interceptor tidy)",
        "hook:base/interceptor tidy -> runtime:lib:w (worker lib:w)",
        "runtime:r -> runtime:base (extends base)",
        "moderator -> runtime:r (moderator_runtime r)",
        "tool:t -> runtime:r (runtime r)",
    ] {
        assert!(
            edges.iter().any(|edge| edge == expected),
            "{expected}: {edges:#?}"
        );
    }
    assert_eq!(
        graph.workers().into_iter().collect::<Vec<_>>(),
        ["runtime:lib:w"]
    );
    assert_eq!(graph.cycles, Vec::<Vec<String>>::new());
    let runtimes = graph.only(|node| node.kind == NodeKind::Runtime);
    let shown = self::edges(&runtimes);
    assert!(
        shown.contains(&"runtime:base -> runtime:lib:w (interceptor tidy)".to_owned()),
        "{shown:#?}"
    );
}

#[test]
fn cycles_are_marked_and_listed_once() {
    let main = "<import src=\"b.chatmd\"/>\n\
        <shell_access id=\"a\" extends=\"b\"/>\n<shell_access id=\"b\" extends=\"a\"/>\n\
        <shell_access id=\"m\"><interceptors>\
        <interceptor id=\"i\" phase=\"before\" executable=\"h\" runtime=\"n\"/>\
        </interceptors></shell_access>\n<shell_access id=\"n\" extends=\"m\"/>\n\
        <tool name=\"t\" runtime=\"a\" command=\"ls\"/>\n";
    let (graph, compiled) = graph(&[
        ("a.chatmd", main),
        ("b.chatmd", "<import src=\"a.chatmd\"/>\n"),
    ]);
    assert!(!compiled);
    assert_eq!(
        graph.cycles,
        [
            vec!["file:a.chatmd", "file:b.chatmd"],
            vec!["runtime:a", "runtime:b"],
            vec!["hook:m/interceptor i", "runtime:n", "runtime:m"],
        ]
    );
    let edges = edges(&graph);
    assert!(
        edges.contains(&"runtime:a -> runtime:b (extends b) !".to_owned()),
        "{edges:#?}"
    );
    assert!(edges.contains(&"tool:t -> runtime:a (runtime a)".to_owned()));
    assert!(edges.contains(&"file:b.chatmd -> file:a.chatmd (imports a.chatmd) !".to_owned()));
    let marked = edges.iter().filter(|edge| edge.ends_with('!')).count();
    assert_eq!(marked, 7, "{edges:#?}");
}

#[test]
fn a_manifest_alone_has_its_sources_as_nodes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(entry.unwrap().path().join("expect.json")).unwrap();
        let mut expect: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let manifest = crate::manifest::from_value(expect["payload"].take()).unwrap();
        let graph = of_manifest(&manifest);
        let ids: BTreeSet<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
        for edge in &graph.edges {
            assert!(ids.contains(edge.from.as_str()) && ids.contains(edge.to.as_str()));
        }
        for edge in &manifest.dependencies {
            assert!(ids.contains(edge.from.as_str()), "{}", edge.from);
            assert!(ids.contains(edge.to.as_str()), "{}", edge.to);
        }
        assert!(graph.cycles.is_empty());
        assert!(ids.contains(format!("file:{}", manifest.sources[0].path).as_str()));
    }
}
