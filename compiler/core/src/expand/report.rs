//! Wording of the findings of expansion (spec 01 sections 8.4, 10.3 and 17.3).

use chatmd_syntax::Span;

use super::{MAX_IMPORT_DEPTH, MAX_IMPORTS, MAX_SOURCE_BYTES};
use crate::db::LoadError;
use crate::diagnostics::quote::clip;
use crate::diagnostics::{Diagnostic, Edit, FileIndex, Fix, Label, Place, Severity};

fn error(code: &'static str, message: String, at: Place, label: &str, path: &[&str]) -> Diagnostic {
    Diagnostic {
        code,
        detail: None,
        severity: Severity::Error,
        message,
        path: path.iter().map(|part| (*part).to_owned()).collect(),
        primary: Label {
            place: at,
            text: label.to_owned(),
        },
        secondary: Vec::new(),
        hints: Vec::new(),
        notes: Vec::new(),
        fixes: Vec::new(),
        runtime_id: None,
    }
}

fn label(place: Place, text: &str) -> Label {
    Label {
        place,
        text: text.to_owned(),
    }
}

pub(super) fn root_unreadable(why: LoadError) -> Diagnostic {
    let at = Place {
        file: FileIndex(0),
        item: None,
        span: Span::empty(0),
    };
    let message = match why {
        LoadError::TooLarge { limit } => {
            format!(
                "the document is larger than {}, the most that is read here",
                mib(limit)
            )
        }
        other => format!("the document cannot be read: {other}"),
    };
    error("chatmd.document_too_large", message, at, "", &[])
}

fn mib(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}

/// What was not looked for is not missing. It is an error all the same, so that no manifest is made
/// without it; editors show it as a note.
fn unavailable_code(code: &'static str, why: LoadError) -> &'static str {
    match why {
        LoadError::Restricted => "chatmd.lsp.restricted",
        _ => code,
    }
}

pub(super) fn unavailable(at: Place, src: &str, why: LoadError) -> Diagnostic {
    let message = format!("cannot import `{}`: {why}", clip(src));
    let mut found = error(
        unavailable_code("chatmd.import_unavailable", why),
        message,
        at,
        "not readable",
        &["import", "src"],
    );
    if why == LoadError::NotFound {
        found.hints.push(
            "a relative path starts at the directory of the file that holds this import".to_owned(),
        );
    }
    found
}

pub(super) fn namespace_collision(at: Place, first: Place, effective: &str) -> Diagnostic {
    let message = format!(
        "namespace `{}` is already used by another import",
        clip(effective)
    );
    let mut found = error(
        "chatmd.import_namespace_collision",
        message,
        at,
        "used a second time here",
        &["import", "namespace"],
    );
    found.secondary.push(label(first, "first used here"));
    found
        .hints
        .push("give each import a namespace of its own".to_owned());
    found
}

pub(super) fn cycle(at: Place, imports: &[Place], names: &[String]) -> Diagnostic {
    let names: Vec<String> = shorten(names);
    let message = format!("import cycle: {}", names.join(" -> "));
    let mut found = error(
        "chatmd.import_cycle",
        message,
        at,
        "this import closes the cycle",
        &["import"],
    );
    found.secondary = imports
        .iter()
        .map(|place| label(*place, "imports the next file"))
        .collect();
    found.hints.push("remove one of these imports".to_owned());
    found
}

/// The first and last names of a long chain.
fn shorten(names: &[String]) -> Vec<String> {
    const SHOWN: usize = 16;
    if names.len() <= SHOWN {
        return names.iter().map(|name| clip(name)).collect();
    }
    let (head, tail) = (&names[..SHOWN / 2], &names[names.len() - SHOWN / 2..]);
    let left_out = format!("({} more)", names.len() - SHOWN);
    let quoted = |name: &String| clip(name);
    head.iter()
        .map(quoted)
        .chain([left_out])
        .chain(tail.iter().map(quoted))
        .collect()
}

pub(super) fn too_deep(at: Place) -> Diagnostic {
    let message = format!("imports are nested deeper than {MAX_IMPORT_DEPTH}");
    error(
        "chatmd.import_depth",
        message,
        at,
        "not expanded",
        &["import"],
    )
}

pub(super) fn too_many_imports(at: Place) -> Diagnostic {
    let message = format!(
        "the document expands more than {MAX_IMPORTS} imports; this one and all later ones are \
         left out"
    );
    error(
        "chatmd.import_limit",
        message,
        at,
        "not expanded",
        &["import"],
    )
}

pub(super) fn too_many_bytes(at: Place) -> Diagnostic {
    let message = format!(
        "the document and what it imports are larger than {} in total; this file is left out",
        mib(MAX_SOURCE_BYTES)
    );
    error("chatmd.import_limit", message, at, "not read", &["import"])
}

/// Declaration path of the `src` of a script.
fn script_path(id: Option<&str>) -> Vec<&str> {
    ["script"].into_iter().chain(id).chain(["src"]).collect()
}

pub(super) fn script_unavailable(
    at: Place,
    id: Option<&str>,
    src: &str,
    why: LoadError,
) -> Diagnostic {
    let message = format!("cannot read the script `{}`: {why}", clip(src));
    let mut found = error(
        unavailable_code("chatmd.script_source_unavailable", why),
        message,
        at,
        "not readable",
        &script_path(id),
    );
    if why == LoadError::NotFound {
        found.hints.push(
            "a relative path starts at the directory of the file that declares the script"
                .to_owned(),
        );
    }
    found
}

pub(super) fn script_path_unusable(
    at: Place,
    id: Option<&str>,
    src: &str,
    why: &str,
) -> Diagnostic {
    let message = format!("cannot read the script `{}`: {why}", clip(src));
    let mut found = error(
        "chatmd.script_source_unavailable",
        message,
        at,
        "not a path",
        &script_path(id),
    );
    found
        .hints
        .push("write the path of a local file; variables are not expanded here".to_owned());
    found
}

pub(super) fn script_too_large(at: Place, id: Option<&str>, src: &str, limit: usize) -> Diagnostic {
    let message = format!(
        "the script `{}` is larger than {}",
        clip(src),
        mib(limit as u64)
    );
    error(
        "chatmd.script_source_too_large",
        message,
        at,
        "too large",
        &script_path(id),
    )
}

pub(super) fn script_encoding(at: Place, id: Option<&str>, src: &str, nul: bool) -> Diagnostic {
    let what = if nul {
        "contains a NUL byte"
    } else {
        "is not valid UTF-8"
    };
    let message = format!("the script `{}` {what}", clip(src));
    error(
        "chatmd.script_invalid_encoding",
        message,
        at,
        what,
        &script_path(id),
    )
}

pub(super) fn qualified_declaration(at: Place, element: &str, id: &str) -> Diagnostic {
    let message = format!(
        "the id `{}` contains `:`, which namespaces are for",
        clip(id)
    );
    let path = [element, id, "id"];
    let mut found = error(
        "shell.qualified_declaration",
        message,
        at,
        "written out",
        &path,
    );
    found.severity = Severity::Warning;
    found
        .hints
        .push("import the file that declares it with `namespace` instead".to_owned());
    found
}

pub(super) fn qualified_in_import(
    at: Place,
    element: &str,
    code: &'static str,
    id: &str,
) -> Diagnostic {
    let message = format!(
        "the id `{}` of an imported file must not contain `:`",
        clip(id)
    );
    let mut found = error(code, message, at, "contains `:`", &[element, id, "id"]);
    if let Some(last) = id.rsplit(':').next() {
        found.fixes.push(Fix {
            title: format!("leave the namespace to the import: `{}`", clip(last)),
            edits: vec![Edit {
                place: at,
                text: last.to_owned(),
            }],
        });
    }
    found
}
