#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use chatmd_syntax::{Span, Tag};

use super::*;
use crate::decl::{Decl, Field, Item, RuntimeDecl, Sp};
use crate::diagnostics::FileIndex;
use crate::manifest::{Binding, BoundRoots, SourceRole, digest, requested_sha256, to_bytes};

const VECTOR: &[u8] = b"<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n";

fn vector() -> Expanded {
    let value = |text: &str| {
        Field::Value(Sp {
            value: text.to_owned(),
            span: Span::default(),
        })
    };
    let decl = RuntimeDecl {
        id: value("r"),
        extends: value("builtin:workspace-readonly@1"),
        ..RuntimeDecl::default()
    };
    let item = Item {
        tag: Some(Tag::ShellAccess),
        start_tag: Span::default(),
        name: Span::default(),
        decl: Some(Decl::Runtime(Box::new(decl))),
        broken: false,
        diagnostics: Vec::new(),
    };
    Expanded {
        files: vec![SourceFile {
            path: "agent.chatmd".to_owned(),
            sha256: crate::manifest::sha256_hex(VECTOR),
            uses: vec![SourceUse {
                namespace: None,
                role: SourceRole::Root,
            }],
        }],
        items: vec![ExpandedItem {
            file: FileIndex(0),
            item: 0,
            namespace: None,
            decl: Arc::new(item),
        }],
        ..Expanded::default()
    }
}

/// Spec 04 section 8.11, both digests and both lengths.
#[test]
fn the_vector_of_the_specification() {
    let resolution = resolve(&vector(), Platform::Linux, &Features::all());
    let mut manifest = Arc::unwrap_or_clone(resolution.manifest.unwrap());
    assert_eq!(
        manifest.sources[0].sha256,
        "818a8e2f2ee907f260f664b734a374642971b303bd02440ca95535f8f4b637dc"
    );
    assert_eq!(to_bytes(&manifest).unwrap().len(), 2911);
    let requested = "a77732854455c02fd3fa42019de694c2028be66fee09c09fb49000695d5202c0";
    assert_eq!(digest(&manifest).unwrap(), requested);

    manifest.binding = Some(Binding {
        variables: [("workspace".to_owned(), "/srv/demo".to_owned())].into(),
        roots: vec![BoundRoots {
            runtime: "r".to_owned(),
            read: vec!["/srv/demo".to_owned()],
            write: Vec::new(),
        }],
        ..Binding::default()
    });
    assert_eq!(to_bytes(&manifest).unwrap().len(), 3046);
    assert_eq!(
        digest(&manifest).unwrap(),
        "b98b0843ecd6eefd00cfacccc5745c19ca6143a340a5cec25d7ccd5d299c70ea"
    );
    assert_eq!(requested_sha256(&manifest).unwrap(), requested);
}

#[test]
fn a_feature_that_is_not_supported_is_refused_where_it_is_needed() {
    let resolution = resolve(
        &vector(),
        Platform::Linux,
        &Features::of(["shell.tool.fixed.v1"]),
    );
    assert!(resolution.manifest.is_none());
    let codes: Vec<&str> = resolution
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect();
    assert_eq!(codes, ["shell.unused_runtime", "shell.unsupported_feature"]);
    assert!(
        resolution.diagnostics[1]
            .message
            .contains("shell.backend.bubblewrap.v1")
    );
}
