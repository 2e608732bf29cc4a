#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn every_type_text_parses_to_a_function() {
    for builtin in builtins() {
        let root = builtin.ty.root().map(|node| &node.kind);
        assert!(
            matches!(root, Some(NodeKind::Function { .. })),
            "{}: {} gives {root:?}",
            builtin.qualified,
            builtin.type_text
        );
        assert!(
            !builtin.doc.is_empty(),
            "{} has no documentation",
            builtin.qualified
        );
    }
    for alias in aliases() {
        assert!(alias.graph().root().is_some(), "{}", alias.name);
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = builtins()
        .iter()
        .map(|builtin| builtin.qualified.as_str())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let mut modules: Vec<&str> = modules().iter().map(|module| module.name).collect();
    let count = modules.len();
    modules.sort_unstable();
    modules.dedup();
    assert_eq!(modules.len(), count);
}

/// Spec 05b section 3: nothing of one shell kind is reachable from another.
#[test]
fn each_kind_has_exactly_its_modules() {
    let core = ["String", "Array", "Option", "Hashtbl", "Task", "Json"];
    for (kind, own, own_aliases) in [
        (Kind::Core, vec![], vec!["json"]),
        (
            Kind::ShellMatcher,
            vec!["Shell", "Match"],
            vec!["json", "shell_context", "shell_policy"],
        ),
        (
            Kind::ShellReviewer,
            vec!["Shell", "Review"],
            vec!["json", "shell_context", "shell_policy"],
        ),
        (
            Kind::ShellBeforeInterceptor,
            vec!["Shell", "Intercept"],
            vec!["json", "shell_context", "shell_policy"],
        ),
        (
            Kind::ShellAfterInterceptor,
            vec!["Result"],
            vec!["json", "shell_result"],
        ),
        (
            Kind::ShellEffectAnalyzer,
            vec!["Shell", "Effect"],
            vec!["json", "shell_context", "shell_policy"],
        ),
        (
            Kind::ShellAuditFilter,
            vec!["Audit"],
            vec!["json", "shell_audit"],
        ),
        (
            Kind::Moderator,
            vec![
                "Log",
                "Item",
                "Tool_call",
                "Context",
                "Turn",
                "Tool",
                "Model",
                "Process",
                "Schedule",
                "Runtime",
                "Ui",
                "Approval",
            ],
            vec![
                "json",
                "item",
                "tool_desc",
                "tool_call",
                "tool_result",
                "context",
            ],
        ),
    ] {
        let mut want: Vec<&str> = core.iter().copied().chain(own).collect();
        want.sort_unstable();
        let mut got: Vec<&str> = modules()
            .iter()
            .filter(|m| m.kinds.contains(kind))
            .map(|m| m.name)
            .collect();
        got.sort_unstable();
        assert_eq!(got, want, "{}", kind.as_str());
        let mut want = own_aliases;
        want.sort_unstable();
        let mut got: Vec<&str> = aliases()
            .iter()
            .filter(|a| a.kinds.contains(kind))
            .map(|a| a.name)
            .collect();
        got.sort_unstable();
        assert_eq!(got, want, "{}", kind.as_str());
        let has_print = global("print").unwrap().kinds.contains(kind);
        assert_eq!(has_print, matches!(kind, Kind::Core | Kind::Moderator));
        if let Some(contract) = kind.contract() {
            assert!(module(contract.actions).unwrap().kinds.contains(kind));
            assert!(alias(contract.event).unwrap().kinds.contains(kind));
        }
    }
}

#[test]
fn arity_counts_parameters_and_unit_arrow_has_none() {
    let arity =
        |module_name: &str, name: &str| module(module_name).unwrap().function(name).unwrap().arity;
    assert_eq!(arity("Array", "fold"), 3);
    assert_eq!(arity("Option", "none"), 0);
    assert_eq!(arity("Review", "approve"), 0);
    assert_eq!(arity("Intercept", "respond"), 2);
    assert_eq!(global("swap_ref").unwrap().arity, 2);
}

#[test]
fn printed_types_are_those_of_the_tables() {
    let text = |module_name: &str, name: &str| {
        module(module_name)
            .unwrap()
            .function(name)
            .unwrap()
            .ty
            .to_string()
    };
    assert_eq!(
        text("Array", "find"),
        "'a array -> ('a -> bool) -> [ `None | `Some('a) ]"
    );
    assert_eq!(
        text("Json", "get_field"),
        "json -> string -> [ `None | `Some(json) ]"
    );
    assert_eq!(
        text("Task", "bind"),
        "'a task -> ('a -> 'b task) -> 'b task"
    );
    assert_eq!(text("Effect", "network"), "unit -> unit task");
}

/// The reference in `docs` is what the table says.
#[test]
fn the_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/chatml-library.md");
    let text = super::reference();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == text,
        "docs/chatml-library.md is out of date; UPDATE_REFERENCE=1 writes it"
    );
    for builtin in builtins() {
        assert!(text.contains(&builtin.qualified), "{}", builtin.qualified);
    }
}
