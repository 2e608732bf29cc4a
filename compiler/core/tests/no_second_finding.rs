//! One fault is one finding: what it makes unreadable or unknown is not reported again.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{CompileOptions, compile};

fn codes(document: &str) -> Vec<&'static str> {
    let library = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\"/>";
    let files: MemoryFileSystem = [("/w/a.chatmd", document), ("/w/b", library)]
        .map(|(path, text)| (path, text.as_bytes()))
        .into_iter()
        .collect();
    let mut db = Database::new(files);
    let root = db
        .root_from_path("/w/a.chatmd".into(), "/w".into())
        .unwrap();
    let compilation = compile(&db, root, &CompileOptions::for_platform(Platform::Linux));
    let found = compilation.diagnostics.iter();
    found.map(|found| found.code).collect()
}

#[test]
fn each_document_has_exactly_these_findings() {
    for (document, expected) in [
        // A byte that no value may hold: the value around it is not judged.
        ("<user name=\"a\0b\">x</user>", &["chatmd.nul_byte"][..]),
        ("<user><doc src=\"a\0\"/></user>", &["chatmd.nul_byte"]),
        (
            "<config model=\"m\" temperature=\"1\0\"/>",
            &["chatmd.nul_byte"],
        ),
        (
            "<shell_access id=\"r\" cwd=\"${workspace}/a\0b\"/>\n<tool name=\"t\" runtime=\"r\" command=\"true\"/>",
            &["chatmd.nul_byte"],
        ),
        // Nobody can tell under which name the declarations of such an import stand.
        (
            "<import src=\"b\" namespace=\"9\"/>\n<tool name=\"t\" runtime=\"r\" command=\"x\"/>",
            &["chatmd.import_invalid_namespace"],
        ),
        (
            "<import src=\"b\" namespace=\"x\" namespace=\"y\"/>\n<tool name=\"t\" runtime=\"x:r\" command=\"x\"/>",
            &["chatmd.duplicate_attribute"],
        ),
        // An attribute without a value.
        (
            "<tool name=\"t\" agent/>",
            &["chatmd.attribute_value_missing"],
        ),
        ("<tool mcp_server/>", &["chatmd.attribute_value_missing"]),
        (
            "<tool name=\"t\" command/>",
            &["shell.legacy_tool", "shell.attribute_value_required"],
        ),
    ] {
        let found = codes(document);
        assert_eq!(found, expected, "{document:?}");
    }
}
