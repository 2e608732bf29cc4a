//! `<policy>`, rules and matchers (spec 02 section 11).

use chatmd_syntax::{Element, Node, Span};

use super::context::Context;
use super::reader;
use super::runtime::{Ids, merge};
use crate::decl::{MatcherDecl, MatcherKindDecl, PolicyDecl, RuleDecl, Sp};
use crate::diagnostics::Diagnostic;
use crate::manifest::{Action, EffectName, MatcherFailure};
use crate::schema::{self, Element as Schema};

/// Deepest nesting of matchers.
const DEEPEST: usize = 64;
/// Most matcher elements of one runtime.
const MOST: usize = 4096;

/// What surrounds a matcher; decides how its failure word reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Below a rule whose restriction a `no_match` could seem to lift.
    Restricting,
    /// Below any other rule.
    Plain,
}

/// Lowers the section.
pub(super) fn section<'t>(context: &mut Context<'t>, element: &'t Element) -> PolicyDecl {
    let schema = &schema::policy::POLICY;
    let attributes = reader::attributes(context, element, schema);
    let mut section = PolicyDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        default: attributes.word("default", Action::from_word),
        rules: Vec::new(),
    };
    let default = section.default.as_ref().map(|default| default.value);
    let mut ids = Ids::new("policy");
    for (child, _) in reader::children(context, element, schema) {
        context.within(&["rule"], |context| {
            if let Some(rule) = rule(context, child, default)
                && ids.is_new(context, &rule.id)
            {
                section.rules.push(rule);
            }
        });
    }
    section
}

fn rule<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    default: Option<Action>,
) -> Option<RuleDecl> {
    context.named_by(element, "id");
    let attributes = reader::attributes(context, element, &schema::policy::RULE);
    let id = attributes.text("id");
    let action = attributes
        .word("action", Action::from_word)
        .map(|action| action.value);
    let position = match (action, default) {
        (Some(Action::Deny), _) | (Some(Action::Ask), Some(Action::Allow)) => Position::Restricting,
        _ => Position::Plain,
    };
    let matcher = single(context, element, &schema::policy::RULE, position, 1);
    if let (Some(action), Some(matcher)) = (action, &matcher) {
        deny_by_text(context, element, action, matcher);
    }
    Some(RuleDecl {
        name: context.relative(element.name_span),
        id: id?,
        action: action.unwrap_or(Action::Deny),
        overrides: attributes.boolean_or("override", false),
        matcher,
    })
}

/// The one matcher of `rule`, `match` or `not`; another count is reported.
pub(super) fn single<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    position: Position,
    depth: usize,
) -> Option<MatcherDecl> {
    let errors = context.error_count();
    let children = reader::children(context, element, schema);
    let strangers = context.error_count() > errors;
    let elements = element
        .children
        .iter()
        .filter(|id| matches!(context.tree.node(**id), Node::Element(_)))
        .count();
    let mut matchers = Vec::new();
    for (child, schema) in &children {
        matchers.extend(matcher(context, child, schema, position, depth));
    }
    if elements != 1 && !(strangers && children.len() <= 1) {
        let code = if schema.name == "rule" {
            "shell.rule_matcher_arity"
        } else {
            "shell.matcher_arity"
        };
        let mut finding = context
            .finding(
                code,
                element.name_span,
                format!(
                    "`<{}>` needs exactly one matcher, but has {elements}",
                    schema.name
                ),
            )
            .hint(if elements == 0 {
                "add a matcher, for example `<basename value=\"…\"/>`"
            } else {
                "wrap them in `<all>` or `<any>`"
            });
        for (child, _) in children.iter().skip(1).take(4) {
            finding = finding.related(context.place(child.start_tag), "one more");
        }
        context.report(finding);
        return None;
    }
    if children.len() == 1 {
        matchers.pop()
    } else {
        None
    }
}

/// Lowers one matcher. Recursion is bounded: below depth 64 nothing is visited.
fn matcher<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    position: Position,
    depth: usize,
) -> Option<MatcherDecl> {
    context.matcher_nodes += 1;
    if depth > DEEPEST || context.matcher_nodes > MOST {
        if depth > DEEPEST || context.matcher_nodes == MOST + 1 {
            let message = if depth > DEEPEST {
                format!("matchers are nested more than {DEEPEST} deep")
            } else {
                format!("the runtime has more than {MOST} matchers")
            };
            let finding = context
                .finding("shell.matcher_too_deep", element.start_tag, message)
                .hint("simplify the rules");
            context.report(finding);
        }
        return None;
    }
    context.within(&[schema.name], |context| {
        let kind = match schema.name {
            "all" | "any" => group(context, element, schema, position, depth)?,
            "not" => {
                reader::attributes(context, element, schema);
                MatcherKindDecl::Not(Box::new(single(
                    context,
                    element,
                    schema,
                    position,
                    depth + 1,
                )?))
            }
            _ => leaf(context, element, schema, position)?,
        };
        Some(MatcherDecl {
            name: context.relative(element.name_span),
            element: context.relative(element.span),
            kind,
        })
    })
}

fn group<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    position: Position,
    depth: usize,
) -> Option<MatcherKindDecl> {
    reader::attributes(context, element, schema);
    let errors = context.error_count();
    let children = reader::children(context, element, schema);
    if children.is_empty() && context.error_count() == errors {
        let finding = context
            .finding(
                "shell.empty_matcher",
                element.name_span,
                format!("`<{}>` is empty", schema.name),
            )
            .hint("add a matcher; `<any_command/>` matches everything");
        context.report(finding);
        return None;
    }
    let mut of = Vec::with_capacity(children.len());
    let mut complete = context.error_count() == errors;
    for (child, schema) in children {
        match matcher(context, child, schema, position, depth + 1) {
            Some(matcher) => of.push(matcher),
            None => complete = false,
        }
    }
    // A group that lost a child would match other commands than its author wrote.
    if !complete {
        return None;
    }
    Some(if schema.name == "all" {
        MatcherKindDecl::All(of)
    } else {
        MatcherKindDecl::Any(of)
    })
}

fn leaf<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    position: Position,
) -> Option<MatcherKindDecl> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    let value = attributes.text("value");
    Some(match schema.name {
        "any_command" => MatcherKindDecl::AnyCommand,
        "trusted_executable" => MatcherKindDecl::TrustedExecutable,
        "no_unknown_effects" => MatcherKindDecl::NoUnknownEffects,
        "raw_shell" => MatcherKindDecl::RawShell,
        "program" => MatcherKindDecl::Program(value?),
        "basename" => MatcherKindDecl::Basename(basename(context, value?)?),
        "argument" => MatcherKindDecl::Argument(value?),
        "argument_contains" => MatcherKindDecl::ArgumentContains(value?),
        "program_regex" => MatcherKindDecl::ProgramRegex(value?),
        "resolved_path" => MatcherKindDecl::ResolvedPath(attributes.path("value")?),
        "argv_prefix" => MatcherKindDecl::ArgvPrefix(attributes.items("values")?),
        "effect" => MatcherKindDecl::Effect {
            effect: attributes.word("name", EffectName::from_word)?.value,
            under: match attributes.has("under") {
                true => Some(attributes.path("under")?),
                false => None,
            },
        },
        _ => MatcherKindDecl::ChatmlMatch {
            script: attributes.text("script")?,
            function: attributes.text("function"),
            failure: failure(context, &attributes, position)?,
        },
    })
}

fn basename(context: &mut Context<'_>, value: Sp<String>) -> Option<Sp<String>> {
    let Some(at) = value.value.find('/') else {
        return Some(value);
    };
    let last = value
        .value
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    let exact = if value.span.len() as usize == value.value.len() {
        Span::new(
            value.span.start + at as u32,
            value.span.start + at as u32 + 1,
        )
    } else {
        value.span
    };
    let mut finding = Diagnostic::new(
        "shell.invalid_attribute",
        context.place_of(exact),
        "`basename` compares file names, which contain no `/`",
    )
    .hint("use `<resolved_path value=\"…\"/>` to match one file");
    if !last.is_empty() {
        finding = finding.fix(
            format!("keep `{}`", crate::diagnostics::clip(&last)),
            context.place_of(value.span),
            reader::escape(&last),
        );
    }
    context.report_below(finding, &["value"]);
    None
}

fn failure(
    context: &mut Context<'_>,
    attributes: &reader::Attributes<'_>,
    position: Position,
) -> Option<MatcherFailure> {
    if !attributes.has("failure") {
        return Some(MatcherFailure::Conservative);
    }
    let word = attributes.word("failure", |word| Some(word.to_owned()))?;
    let legal = ["no_match", "deny", "error"];
    let Some(failure) =
        MatcherFailure::from_word(&word.value).filter(|_| legal.contains(&word.value.as_str()))
    else {
        super::extensions::illegal_failure(context, &word, "a script matcher", &legal);
        return None;
    };
    if failure == MatcherFailure::NoMatch && position == Position::Restricting {
        let finding = Diagnostic::new(
            "shell.matcher_failure_clamped",
            context.place_of(word.span),
            "a failing script cannot lift a restriction: `no_match` is read as maybe, so the restriction holds",
        )
        .hint("drop `failure`");
        context.report_below(finding, &["failure"]);
    }
    Some(failure)
}

/// Warns about a restriction that only looks at the text of the program.
fn deny_by_text(
    context: &mut Context<'_>,
    element: &Element,
    action: Action,
    matcher: &MatcherDecl,
) {
    if action == Action::Allow {
        return;
    }
    let mut positive = Vec::new();
    let mut queue = vec![matcher];
    while let Some(next) = queue.pop() {
        match &next.kind {
            MatcherKindDecl::All(of) | MatcherKindDecl::Any(of) => queue.extend(of),
            MatcherKindDecl::Not(_) => {}
            _ => positive.push(next),
        }
    }
    let textual = |matcher: &&MatcherDecl| {
        matches!(
            matcher.kind,
            MatcherKindDecl::Program(_)
                | MatcherKindDecl::ProgramRegex(_)
                | MatcherKindDecl::ArgvPrefix(_)
        )
    };
    if positive.is_empty() || !positive.iter().all(textual) {
        return;
    }
    let mut finding = context
        .finding("shell.deny_by_text", element.name_span, format!("this rule to {} a command looks only at how its program is spelt", action.as_str()))
        .hint("add a `<basename value=\"…\"/>` rule: another path to the same program evades a match by text");
    if let Some(first) = positive.last() {
        finding = finding.related(context.place_of(first.name), "matches text");
    }
    context.report(finding);
}
