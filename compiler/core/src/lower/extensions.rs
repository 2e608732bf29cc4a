//! Reviewers, interceptors, analyzers and filters (spec 02 sections 12 to 15).

use chatmd_syntax::{Element, Span};

use super::context::Context;
use super::policy::{self, Position};
use super::reader::{self, Attributes};
use super::runtime::{Ids, merge, placeholder};
use crate::decl::{
    AnalyzerDecl, AnalyzersDecl, ExtensionDecl, Field, HookDecl, InterceptorDecl, InterceptorsDecl,
    MatcherDecl, ReviewerDecl, ReviewerKindDecl, ReviewersDecl, Sp,
};
use crate::diagnostics::Diagnostic;
use crate::manifest::{Failure, Lifecycle, Phase, Strategy};
use crate::schema::{self, extensions::HOOK_ONLY};

const MAX_INPUT: u64 = 1 << 20;
const MAX_OUTPUT: u64 = 256 << 10;

/// Lowers `<reviewers>`.
pub(super) fn reviewers<'t>(context: &mut Context<'t>, element: &'t Element) -> ReviewersDecl {
    let schema = &schema::extensions::REVIEWERS;
    let attributes = reader::attributes(context, element, schema);
    let mut section = ReviewersDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        strategy: attributes.word("strategy", Strategy::from_word),
        entries: Vec::new(),
    };
    let mut ids = Ids::new("reviewers");
    for (child, _) in reader::children(context, element, schema) {
        context.within(&["reviewer"], |context| {
            if let Some(reviewer) = reviewer(context, child, &mut ids) {
                section.entries.push(reviewer);
            }
        });
    }
    section
}

fn reviewer<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    ids: &mut Ids,
) -> Option<ReviewerDecl> {
    let schema = &schema::extensions::REVIEWER;
    context.named_by(element, "id");
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    let id = attributes.text("id");
    let fresh = id.as_ref().is_none_or(|id| ids.is_new(context, id));
    let failure = failure(
        context,
        &attributes,
        "a reviewer",
        &["deny", "error"],
        Failure::Deny,
    );
    let kind = match attributes
        .word("kind", |word| Some(word.to_owned()))?
        .value
        .as_str()
    {
        "ui" => ReviewerKindDecl::Ui,
        "chatml" => ReviewerKindDecl::Chatml {
            script: attributes.text("script")?,
            lifecycle: lifecycle(&attributes, Lifecycle::Session),
            failure,
        },
        "model" => ReviewerKindDecl::Model {
            agent: attributes.text("agent")?,
            model: attributes.text("model").map(|model| model.value),
            failure,
        },
        _ => ReviewerKindDecl::Executable {
            hook: hook(context, element, &attributes),
            failure,
        },
    };
    fresh.then_some(ReviewerDecl {
        name: context.relative(element.name_span),
        id: id?,
        kind,
    })
}

/// Lowers `<interceptors>`.
pub(super) fn interceptors<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
) -> InterceptorsDecl {
    let schema = &schema::extensions::INTERCEPTORS;
    let attributes = reader::attributes(context, element, schema);
    let mut section = InterceptorsDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        entries: Vec::new(),
    };
    let mut ids = Ids::new("interceptors");
    for (child, _) in reader::children(context, element, schema) {
        context.within(&["interceptor"], |context| {
            if let Some(interceptor) = interceptor(context, child, &mut ids) {
                section.entries.push(interceptor);
            }
        });
    }
    section
}

fn interceptor<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    ids: &mut Ids,
) -> Option<InterceptorDecl> {
    context.named_by(element, "id");
    let attributes = reader::attributes(context, element, &schema::extensions::INTERCEPTOR);
    let id = attributes.text("id");
    let fresh = id.as_ref().is_none_or(|id| ids.is_new(context, id));
    let phase = attributes
        .word("phase", Phase::from_word)
        .map(|phase| phase.value);
    let failure = failure(
        context,
        &attributes,
        "an interceptor",
        &["deny", "error"],
        Failure::Deny,
    );
    let matcher = condition(context, element, phase);
    let extension = extension(context, element, &attributes, Lifecycle::Session)?;
    fresh.then_some(InterceptorDecl {
        name: context.relative(element.name_span),
        id: id?,
        phase: phase?,
        matcher,
        failure,
        extension,
    })
}

/// The `<match>` of an interceptor.
fn condition<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    phase: Option<Phase>,
) -> Option<MatcherDecl> {
    let mut found = None;
    let mut first: Option<Span> = None;
    for (child, schema) in reader::children(context, element, &schema::extensions::INTERCEPTOR) {
        if phase == Some(Phase::After) {
            let finding = context
                .finding("shell.after_interceptor_match", child.start_tag, "an interceptor with phase=\"after\" sees every result; it cannot have a `<match>`")
                .hint("remove `<match>`");
            context.report(finding);
            continue;
        }
        if let Some(first) = first {
            let finding = context
                .finding(
                    "shell.matcher_arity",
                    child.start_tag,
                    "an interceptor takes one `<match>`",
                )
                .related(context.place(first), "first here")
                .hint("put both matchers into one `<match>` with `<all>` or `<any>`");
            context.report(finding);
            continue;
        }
        first = Some(child.start_tag);
        context.within(&["match"], |context| {
            reader::attributes(context, child, schema);
            found = policy::single(context, child, schema, Position::Restricting, 1);
        });
    }
    found
}

/// Lowers `<effect_analysis>`.
pub(super) fn analyzers<'t>(context: &mut Context<'t>, element: &'t Element) -> AnalyzersDecl {
    let schema = &schema::extensions::EFFECT_ANALYSIS;
    let attributes = reader::attributes(context, element, schema);
    let mut section = AnalyzersDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        entries: Vec::new(),
    };
    let mut ids = Ids::new("effect_analysis");
    for (child, _) in reader::children(context, element, schema) {
        context.within(&["analyzer"], |context| {
            if let Some(analyzer) = analyzer(context, child, &mut ids) {
                section.entries.push(analyzer);
            }
        });
    }
    section
}

fn analyzer<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    ids: &mut Ids,
) -> Option<AnalyzerDecl> {
    let schema = &schema::extensions::ANALYZER;
    context.named_by(element, "id");
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    let id = attributes.text("id");
    let fresh = id.as_ref().is_none_or(|id| ids.is_new(context, id));
    let replace = attributes.boolean_or("replace", false);
    let legal: &[&str] = if replace {
        &["unknown", "deny", "error"]
    } else {
        &["unknown", "deny", "error", "keep"]
    };
    let point = if replace {
        "an analyzer that may replace effects"
    } else {
        "an analyzer"
    };
    let failure = failure(context, &attributes, point, legal, Failure::Unknown);
    if failure == Failure::Keep
        && let Some(word) = attributes.word("failure", |word| Some(word.to_owned()))
    {
        let finding = Diagnostic::new(
            "shell.analyzer_keep",
            context.place_of(word.span),
            "after a failure the effect `unknown` is added whatever this says",
        )
        .hint("use `unknown`, which says what happens")
        .fix(
            "change to `unknown`",
            context.place_of(word.span),
            "unknown",
        );
        context.report_below(finding, &["failure"]);
    }
    let executable = match attributes.word("kind", |word| Some(word == "executable")) {
        Some(kind) => kind.value,
        None if attributes.has("kind") => return None,
        None => false,
    };
    let extension = if executable {
        ExtensionDecl::Executable(hook(context, element, &attributes))
    } else {
        ExtensionDecl::Chatml {
            script: attributes.text("script")?,
            lifecycle: lifecycle(&attributes, Lifecycle::Invocation),
        }
    };
    fresh.then_some(AnalyzerDecl {
        name: context.relative(element.name_span),
        id: id?,
        replace,
        failure,
        extension,
    })
}

/// Lowers the `<filter>` of an audit section.
pub(super) fn filter<'t>(context: &mut Context<'t>, element: &'t Element) -> Option<ExtensionDecl> {
    let schema = &schema::extensions::FILTER;
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    extension(context, element, &attributes, Lifecycle::Session)
}

/// Exactly one of `script` and `executable`, with the attributes that go with it.
fn extension<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    attributes: &Attributes<'t>,
    default: Lifecycle,
) -> Option<ExtensionDecl> {
    let (script, executable) = (attributes.has("script"), attributes.has("executable"));
    if script == executable {
        let name = context.name_of(element);
        let message = if script {
            format!("`<{name}>` has both `script` and `executable`")
        } else {
            format!("`<{name}>` has neither `script` nor `executable`")
        };
        let finding = context
            .finding("shell.invalid_extension", element.name_span, message)
            .hint("write exactly one of the two");
        context.report(finding);
        return None;
    }
    if executable {
        misfit(context, attributes, "lifecycle", "executable", "script");
        return Some(ExtensionDecl::Executable(required_hook(
            context, element, attributes,
        )));
    }
    for name in HOOK_ONLY {
        misfit(context, attributes, name, "script", "executable");
    }
    Some(ExtensionDecl::Chatml {
        script: attributes.text("script")?,
        lifecycle: lifecycle(attributes, default),
    })
}

fn misfit(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
    name: &str,
    chosen: &str,
    needed: &str,
) {
    // One report per attribute: a bad value was reported already.
    if attributes.is_poisoned(name) {
        return;
    }
    let Some(written) = attributes.written(name) else {
        return;
    };
    let finding = context
        .finding(
            "shell.incompatible_attribute",
            written.name,
            format!("`{name}` does not go with `{chosen}`"),
        )
        .label(format!("only with `{needed}`"))
        .hint(format!("remove `{name}`"));
    context.report(finding);
}

/// The hook of an element whose table does not already demand `runtime`.
fn required_hook<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    attributes: &Attributes<'t>,
) -> HookDecl {
    if !attributes.has("runtime") {
        let finding = context
            .finding(
                "shell.missing_attribute",
                element.name_span,
                "an executable extension needs the attribute `runtime`",
            )
            .label("`runtime` is missing")
            .hint("name the declared runtime that runs the executable");
        context.report_below(finding, &["runtime"]);
    }
    hook(context, element, attributes)
}

fn hook<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    attributes: &Attributes<'t>,
) -> HookDecl {
    if !attributes.has("sha256") {
        let finding = context
            .finding(
                "shell.unpinned_hook",
                element.name_span,
                "the executable is not pinned: whoever can change the file decides",
            )
            .hint("add `sha256=\"…\"` with the output of `sha256sum FILE`");
        context.report_below(finding, &["sha256"]);
    }
    let span = context.relative(element.name_span);
    let max_input = attributes.number("max_input");
    HookDecl {
        executable: attributes
            .path("executable")
            .unwrap_or_else(|| placeholder(span)),
        sha256: attributes.text("sha256"),
        runtime: match attributes.field("runtime") {
            Field::Absent => Field::Poisoned { raw: None, span },
            field => field,
        },
        timeout_ms: attributes.number("timeout"),
        max_input_bytes: max_input.as_ref().map_or(MAX_INPUT, |bytes| bytes.value),
        max_input_span: max_input.map(|bytes| bytes.span),
        max_output_bytes: attributes
            .number("max_output")
            .map_or(MAX_OUTPUT, |bytes| bytes.value),
    }
}

fn lifecycle(attributes: &Attributes<'_>, default: Lifecycle) -> Lifecycle {
    attributes
        .word("lifecycle", Lifecycle::from_word)
        .map_or(default, |word| word.value)
}

/// The failure word, if it is legal at this extension point.
fn failure(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
    point: &str,
    legal: &[&str],
    default: Failure,
) -> Failure {
    let Some(word) = attributes.word("failure", |word| Some(word.to_owned())) else {
        return default;
    };
    match Failure::from_word(&word.value).filter(|_| legal.contains(&word.value.as_str())) {
        Some(failure) => failure,
        None => {
            illegal_failure(context, &word, point, legal);
            default
        }
    }
}

/// Reports a failure word that would weaken an extension point.
pub(super) fn illegal_failure(
    context: &mut Context<'_>,
    word: &Sp<String>,
    point: &str,
    legal: &[&str],
) {
    let legal = super::value::one_of(legal);
    let finding = Diagnostic::new(
        "shell.invalid_failure_mode",
        context.place_of(word.span),
        format!("{point} cannot fail with `{}`", word.value),
    )
    .label(format!("expected {legal}"))
    .hint(format!("use {legal}, or leave `failure` out"));
    context.report_below(finding, &["failure"]);
}
