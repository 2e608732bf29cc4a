//! `<backends>` (spec 02 section 10).

use chatmd_syntax::Element;

use super::context::Context;
use super::reader::{self, Attributes};
use super::runtime::{Ids, merge, placeholder};
use crate::decl::{BackendDecl, BackendKindDecl, BackendsDecl};
use crate::diagnostics::Diagnostic;
use crate::manifest::{Atom, Confinement, DevMode, When};
use crate::schema::{self, Element as Schema};

/// Lowers the section.
pub(super) fn section<'t>(context: &mut Context<'t>, element: &'t Element) -> BackendsDecl {
    let schema = &schema::backends::BACKENDS;
    let attributes = reader::attributes(context, element, schema);
    let mut section = BackendsDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        accept_declared_confinement: attributes.boolean("accept_declared_confinement"),
        entries: Vec::new(),
    };
    let mut ids = Ids::new("backends");
    for (child, schema) in reader::children(context, element, schema) {
        context.within(&[schema.name], |context| {
            let backend = backend(context, child, schema);
            if backend.id.as_ref().is_none_or(|id| ids.is_new(context, id)) {
                section.entries.push(backend);
            }
        });
    }
    section
}

fn backend<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> BackendDecl {
    context.named_by(element, "id");
    let attributes = reader::attributes(context, element, schema);
    let id = attributes.text("id");
    let home = match schema.name {
        "seatbelt" => When::Macos,
        "bubblewrap" => When::Linux,
        _ => When::Any,
    };
    let when = platform(context, &attributes, home, schema.name);
    let executable = attributes.path("executable");
    let kind = match schema.name {
        "seatbelt" => {
            reader::children(context, element, schema);
            BackendKindDecl::Seatbelt {
                executable,
                allow_system_reads: attributes.boolean_or("allow_system_reads", true),
            }
        }
        "bubblewrap" => {
            reader::children(context, element, schema);
            BackendKindDecl::Bubblewrap {
                executable,
                private_tmp: attributes.boolean_or("private_tmp", true),
                proc: attributes.boolean_or("proc", true),
                dev: attributes
                    .word("dev", DevMode::from_word)
                    .map_or(DevMode::Minimal, |dev| dev.value),
            }
        }
        "direct" => {
            reader::children(context, element, schema);
            BackendKindDecl::Direct
        }
        _ => external(context, element, schema, &attributes),
    };
    BackendDecl {
        name: context.relative(element.name_span),
        id,
        when,
        kind,
    }
}

/// Effective `when`: an own platform is implied, a foreign one is an error.
fn platform(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
    home: When,
    name: &str,
) -> When {
    let Some(written) = attributes.word("when", When::from_word) else {
        return home;
    };
    if home == When::Any {
        return written.value;
    }
    if written.value != home && written.value != When::Any {
        let finding = Diagnostic::new(
            "shell.backend_platform",
            context.place_of(written.span),
            format!(
                "`<{name}>` exists on {} only, never on {}",
                home.as_str(),
                written.value.as_str()
            ),
        )
        .hint(format!(
            "write `when=\"{}\"` or leave it out",
            home.as_str()
        ))
        .fix(
            format!("change to `{}`", home.as_str()),
            context.place_of(written.span),
            home.as_str(),
        );
        context.report_below(finding, &["when"]);
    }
    home
}

fn external<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    attributes: &Attributes<'t>,
) -> BackendKindDecl {
    let confinement = attributes.word("confinement", Confinement::from_word);
    if let Some(claim) = confinement
        .as_ref()
        .filter(|claim| claim.value == Confinement::Verified)
    {
        let finding = Diagnostic::new(
            "shell.external_backend_unverifiable",
            context.place_of(claim.span),
            "nothing can verify the confinement of an external wrapper",
        )
        .hint("write `declared`, and accept it with `accept_declared_confinement=\"true\"`")
        .fix(
            "change to `declared`",
            context.place_of(claim.span),
            "declared",
        );
        context.report_below(finding, &["confinement"]);
    }
    let mut children: Vec<(&'static str, Option<Atom>, &'t Element)> = Vec::new();
    for (child, schema) in reader::children(context, element, schema) {
        let atom = context.within(&[schema.name], |context| atom(context, child, schema));
        children.push((schema.name, atom, child));
    }
    template(context, element, &children);
    let passes_roots = children
        .iter()
        .any(|(name, _, _)| matches!(*name, "read_roots" | "write_roots"));
    if confinement
        .as_ref()
        .is_some_and(|claim| claim.value == Confinement::Declared)
        && !passes_roots
    {
        let finding = context
            .finding(
                "shell.external_backend_roots_unused",
                element.name_span,
                "the wrapper claims to confine but is never told the roots",
            )
            .hint("add `<read_roots flag=\"…\"/>` and `<write_roots flag=\"…\"/>`");
        context.report(finding);
    }
    let span = context.relative(element.name_span);
    BackendKindDecl::External {
        executable: attributes
            .path("executable")
            .unwrap_or_else(|| placeholder(span)),
        sha256: attributes.text("sha256"),
        confinement: confinement.map_or(Confinement::None, |claim| claim.value),
        atoms: children
            .into_iter()
            .filter_map(|(_, atom, _)| atom)
            .collect(),
    }
}

fn atom<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Option<Atom> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    match schema.name {
        "arg" => attributes
            .text("value")
            .map(|value| Atom::Arg { value: value.value }),
        "cwd_value" => Some(Atom::CwdValue {}),
        "target_executable" => Some(Atom::TargetExecutable {}),
        "command_argv" => Some(Atom::CommandArgv {}),
        "resource_limit_args" => Some(Atom::ResourceLimitArgs {}),
        "read_roots" => attributes
            .text("flag")
            .map(|flag| Atom::ReadRoots { flag: flag.value }),
        "write_roots" => attributes
            .text("flag")
            .map(|flag| Atom::WriteRoots { flag: flag.value }),
        _ => attributes
            .text("value")
            .map(|value| Atom::NetworkFlag { value: value.value }),
    }
}

/// Arity and order of the atoms.
fn template(
    context: &mut Context<'_>,
    element: &Element,
    children: &[(&'static str, Option<Atom>, &Element)],
) {
    let argv: Vec<usize> = (0..children.len())
        .filter(|at| children.get(*at).is_some_and(|c| c.0 == "command_argv"))
        .collect();
    let wrong = match argv.as_slice() {
        [only] if only + 1 == children.len() => None,
        [_] => Some("`<command_argv/>` must be the last part: what follows would lengthen the approved command".to_owned()),
        [] => Some("the wrapper never gets the command: `<command_argv/>` is missing".to_owned()),
        many => Some(format!("`<command_argv/>` is written {} times; exactly one is needed", many.len())),
    };
    if let Some(message) = wrong {
        let mut finding = context
            .finding(
                "shell.external_backend_command_argv",
                element.name_span,
                message,
            )
            .hint("end the template with exactly one `<command_argv/>`");
        for at in &argv {
            if let Some((_, _, child)) = children.get(*at) {
                finding = finding.related(context.place(child.start_tag), "`command_argv` here");
            }
        }
        context.report(finding);
    }
    let mut seen: Vec<(&str, &Element)> = Vec::new();
    for (name, _, child) in children
        .iter()
        .filter(|c| !matches!(c.0, "arg" | "command_argv"))
    {
        match seen.iter().find(|(known, _)| known == name) {
            Some((_, first)) => {
                let finding = context
                    .finding(
                        "shell.external_backend_atom_arity",
                        child.start_tag,
                        format!("`<{name}>` may occur only once"),
                    )
                    .related(context.place(first.start_tag), "first here")
                    .hint("keep one");
                context.report(finding);
            }
            None => seen.push((name, child)),
        }
    }
}
