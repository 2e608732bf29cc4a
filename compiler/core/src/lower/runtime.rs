//! `<shell_access>` and its plain sections (spec 02 sections 5 to 9, 12 and 13).

use chatmd_syntax::{Element, Span};

use super::context::Context;
use super::reader::{self, Attributes};
use super::{backends, extensions, policy};
use crate::decl::{
    ApprovalsDecl, AuditDecl, CapabilitiesDecl, EnvOpDecl, EnvironmentDecl, ExecutableDecl,
    LimitsDecl, LiteralSecret, Merge, PathExpr, ResolverDecl, RootDecl, RuntimeDecl, SecretDecl,
    SecretsDecl, Sp,
};
use crate::manifest::{
    ApprovalProvider, AuditContent, AuditFailure, AuditFormat, Inherit, PathBase, Position,
    Sandbox, Scope, Unavailable,
};
use crate::schema::{Element as Schema, environment, sections};

/// Lowers one `<shell_access>`.
pub(super) fn shell_access<'t>(context: &mut Context<'t>, element: &'t Element) -> RuntimeDecl {
    context.within(&["shell_access"], |context| {
        context.named_by(element, "id");
        let attributes = reader::attributes(context, element, &sections::SHELL_ACCESS);
        let mut runtime = RuntimeDecl {
            id: attributes.field("id"),
            extends: attributes.field("extends"),
            cwd: attributes.path("cwd"),
            pipefail: attributes.boolean("pipefail"),
            ..RuntimeDecl::default()
        };
        let id = runtime.id.value().map(|id| id.value.clone());
        context.runtime_id = id;
        for (child, schema) in reader::children(context, element, &sections::SHELL_ACCESS) {
            context.within(&[schema.name], |context| {
                section(context, child, schema, &mut runtime)
            });
        }
        runtime
    })
}

fn section<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
    runtime: &mut RuntimeDecl,
) {
    match schema.name {
        "capabilities" => runtime.capabilities = Some(capabilities(context, element)),
        "resolver" => runtime.resolver = Some(resolver(context, element)),
        "environment" => runtime.environment = Some(environment_section(context, element)),
        "limits" => runtime.limits = Some(limits(context, element)),
        "backends" => runtime.backends = Some(backends::section(context, element)),
        "policy" => runtime.policy = Some(policy::section(context, element)),
        "approvals" => runtime.approvals = Some(approvals(context, element)),
        "reviewers" => runtime.reviewers = Some(extensions::reviewers(context, element)),
        "interceptors" => runtime.interceptors = Some(extensions::interceptors(context, element)),
        "effect_analysis" => {
            runtime.effect_analysis = Some(extensions::analyzers(context, element))
        }
        "secrets" => runtime.secrets = Some(secrets(context, element)),
        "audit" => runtime.audit = Some(audit(context, element)),
        _ => {}
    }
}

/// The `merge` attribute of a section.
pub(super) fn merge(attributes: &Attributes<'_>) -> Merge {
    let word = attributes.word("merge", |word| Some(word == "replace"));
    if word.is_some_and(|replace| replace.value) {
        Merge::Replace
    } else {
        Merge::Append
    }
}

/// Stands for an unusable path in a declaration that is already broken, so that its id stays
/// declared.
pub(super) fn placeholder(span: Span) -> Sp<PathExpr> {
    Sp {
        value: PathExpr {
            base: PathBase::Absolute,
            path: "/".into(),
            relative_literal: false,
        },
        span,
    }
}

fn capabilities<'t>(context: &mut Context<'t>, element: &'t Element) -> CapabilitiesDecl {
    let attributes = reader::attributes(context, element, &sections::CAPABILITIES);
    let mut section = CapabilitiesDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        sandbox: attributes.word("sandbox", Sandbox::from_word),
        network: attributes.boolean("network"),
        child_processes: attributes.boolean("child_processes"),
        arbitrary_code: attributes.boolean("arbitrary_code"),
        privilege_change: attributes.boolean("privilege_change"),
        ..CapabilitiesDecl::default()
    };
    for (child, schema) in reader::children(context, element, &sections::CAPABILITIES) {
        let root = context.within(&[schema.name], |context| root(context, child, schema));
        let list = if schema.name == "read" {
            &mut section.read
        } else {
            &mut section.write
        };
        list.extend(root);
    }
    section
}

fn root<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Option<Sp<RootDecl>> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    if attributes.has("path") == attributes.has("path_env") {
        let message = match attributes.has("path") {
            true => format!("`<{}>` has both `path` and `path_env`", schema.name),
            false => format!("`<{}>` has neither `path` nor `path_env`", schema.name),
        };
        let finding = context
            .finding("shell.invalid_root", element.name_span, message)
            .hint("write exactly one of the two");
        context.report(finding);
        return None;
    }
    if let (true, Some(optional)) = (attributes.has("path"), attributes.written("optional")) {
        let finding = context
            .finding(
                "shell.incompatible_attribute",
                optional.name,
                "`optional` does not go with `path`",
            )
            .label("only with `path_env`")
            .hint("remove `optional`, or name a variable by `path_env`");
        context.report(finding);
        return None;
    }
    if let Some(path) = attributes.path("path") {
        return Some(Sp {
            value: RootDecl::Path(path.value),
            span: path.span,
        });
    }
    let name = attributes.text("path_env")?;
    let optional = attributes.boolean_or("optional", false);
    Some(Sp {
        value: RootDecl::PathEnv {
            name: name.value,
            optional,
        },
        span: name.span,
    })
}

fn resolver<'t>(context: &mut Context<'t>, element: &'t Element) -> ResolverDecl {
    let attributes = reader::attributes(context, element, &sections::RESOLVER);
    let mut section = ResolverDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        allow_relative_search_path: attributes.boolean("allow_relative_search_path"),
        ..ResolverDecl::default()
    };
    let mut ids = Ids::new("resolver");
    for (child, schema) in reader::children(context, element, &sections::RESOLVER) {
        context.within(&[schema.name], |context| match schema.name {
            "search_path" => section
                .search_path
                .extend(only_path(context, child, schema)),
            "trusted_root" => section.trusted_roots.extend(trusted_root(context, child)),
            _ => {
                if let Some(executable) = executable(context, child)
                    && ids.is_new(context, &executable.id)
                {
                    section.executables.push(executable);
                }
            }
        });
    }
    section
}

fn only_path<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Option<Sp<PathExpr>> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    attributes.path("path")
}

fn trusted_root<'t>(context: &mut Context<'t>, element: &'t Element) -> Option<Sp<PathExpr>> {
    let path = only_path(context, element, &sections::TRUSTED_ROOT)?;
    if path.value.relative_literal {
        let finding = crate::diagnostics::Diagnostic::new(
            "shell.relative_search_path",
            context.place_of(path.span),
            format!(
                "the trusted root {} is relative",
                crate::diagnostics::quote(&path.value.path)
            ),
        )
        .hint("start it with `/` or with a variable such as `${workspace}`");
        context.report_below(finding, &["path"]);
        return None;
    }
    Some(path)
}

fn executable<'t>(context: &mut Context<'t>, element: &'t Element) -> Option<ExecutableDecl> {
    context.named_by(element, "id");
    let attributes = reader::attributes(context, element, &sections::EXECUTABLE);
    reader::children(context, element, &sections::EXECUTABLE);
    let id = attributes.text("id")?;
    let span = context.relative(element.name_span);
    Some(ExecutableDecl {
        id,
        path: attributes.path("path").unwrap_or_else(|| placeholder(span)),
        sha256: attributes.text("sha256"),
        trusted: attributes.boolean_or("trusted", false),
        overrides: attributes.boolean_or("override", false),
    })
}

fn environment_section<'t>(context: &mut Context<'t>, element: &'t Element) -> EnvironmentDecl {
    let attributes = reader::attributes(context, element, &sections::ENVIRONMENT);
    let mut section = EnvironmentDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        inherit: attributes.word("inherit", Inherit::from_word),
        operations: Vec::new(),
    };
    for (child, schema) in reader::children(context, element, &sections::ENVIRONMENT) {
        let span = context.relative(child.start_tag);
        let operation = context.within(&[schema.name], |context| operation(context, child, schema));
        section
            .operations
            .extend(operation.map(|value| Sp { value, span }));
    }
    section
}

fn operation<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Option<EnvOpDecl> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    let name = attributes.text("name");
    match schema.name {
        "set" => {
            warn_sensitive(context, &attributes, name.as_ref());
            Some(EnvOpDecl::Set {
                name: name?.value,
                value: attributes.text("value")?.value,
            })
        }
        "pass" => {
            warn_sensitive(context, &attributes, name.as_ref());
            Some(EnvOpDecl::Pass {
                name: name?.value,
                required: attributes.boolean_or("required", false),
                secret: attributes.boolean_or("secret", false),
            })
        }
        "unset" => Some(EnvOpDecl::Unset { name: name?.value }),
        "unset_prefix" => Some(EnvOpDecl::UnsetPrefix {
            prefix: attributes.text("value")?.value,
        }),
        "path" => path_operation(context, element, &attributes),
        _ => Some(EnvOpDecl::PathEnv {
            name: name?.value,
            suffix: attributes.text("suffix").map(|suffix| suffix.value),
            position: attributes
                .word("position", Position::from_word)
                .map_or(Position::Append, |sp| sp.value),
            required: attributes.boolean_or("required", false),
        }),
    }
}

fn warn_sensitive(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
    name: Option<&Sp<String>>,
) {
    let (Some(name), Some(written)) = (name, attributes.written("name")) else {
        return;
    };
    if environment::is_sensitive(&name.value) {
        let finding = context
            .finding(
                "shell.environment_sensitive_name",
                written.value.unwrap_or(written.name),
                format!(
                    "{} can change what programs do",
                    crate::diagnostics::quote(&name.value)
                ),
            )
            .hint("keep it only when that is intended; the sanitised modes remove it otherwise");
        context.report_below(finding, &["name"]);
    }
}

fn path_operation(
    context: &mut Context<'_>,
    element: &Element,
    attributes: &Attributes<'_>,
) -> Option<EnvOpDecl> {
    if attributes.has("prepend") == attributes.has("append") {
        let message = match attributes.has("prepend") {
            true => "`<path>` has both `prepend` and `append`",
            false => "`<path>` has neither `prepend` nor `append`",
        };
        let finding = context
            .finding("shell.invalid_path_operation", element.name_span, message)
            .hint("write exactly one of the two");
        context.report(finding);
        return None;
    }
    if let Some(path) = attributes.path("prepend") {
        return Some(EnvOpDecl::Path {
            position: Position::Prepend,
            path: path.value,
        });
    }
    let path = attributes.path("append")?;
    Some(EnvOpDecl::Path {
        position: Position::Append,
        path: path.value,
    })
}

fn limits<'t>(context: &mut Context<'t>, element: &'t Element) -> LimitsDecl {
    let attributes = reader::attributes(context, element, &sections::LIMITS);
    reader::children(context, element, &sections::LIMITS);
    let limits = LimitsDecl {
        name: context.relative(element.name_span),
        wall_time: attributes.number("wall_time"),
        idle_time: attributes.limit("idle_time"),
        max_stdin: attributes.number("max_stdin"),
        stdout: attributes.number("stdout"),
        stderr: attributes.number("stderr"),
        total_output: attributes.number("total_output"),
        cpu_time: attributes.limit("cpu_time"),
        memory: attributes.limit("memory"),
        file_size: attributes.limit("file_size"),
        open_files: attributes.limit("open_files"),
    };
    ineffective(context, &limits);
    limits
}

fn ineffective(context: &mut Context<'_>, limits: &LimitsDecl) {
    if let (
        Some(Sp {
            value: Some(idle),
            span,
        }),
        Some(wall),
    ) = (&limits.idle_time, &limits.wall_time)
        && *idle > wall.value
    {
        let finding = crate::diagnostics::Diagnostic::new(
            "shell.limit_ineffective",
            context.place_of(*span),
            format!(
                "`idle_time` of {idle} ms never ends a request that `wall_time` ends after {} ms",
                wall.value
            ),
        )
        .related(context.place_of(wall.span), "ends the request first")
        .hint("lower `idle_time`, or write `none`");
        context.report_below(finding, &["idle_time"]);
    }
    if let (Some(total), Some(out), Some(err)) =
        (&limits.total_output, &limits.stdout, &limits.stderr)
        && total.value > out.value.saturating_add(err.value)
    {
        let finding = crate::diagnostics::Diagnostic::new(
            "shell.limit_ineffective",
            context.place_of(total.span),
            format!("`total_output` of {} bytes is more than `stdout` and `stderr` permit together ({} bytes)", total.value, out.value.saturating_add(err.value)),
        )
        .related(context.place_of(out.span), "`stdout`")
        .related(context.place_of(err.span), "`stderr`")
        .hint("lower `total_output`");
        context.report_below(finding, &["total_output"]);
    }
}

fn approvals<'t>(context: &mut Context<'t>, element: &'t Element) -> ApprovalsDecl {
    let attributes = reader::attributes(context, element, &sections::APPROVALS);
    reader::children(context, element, &sections::APPROVALS);
    let scopes = attributes.words("scopes").map(|words| {
        let mut value: Vec<Scope> = words
            .value
            .iter()
            .filter_map(|word| Scope::from_word(word))
            .collect();
        value.sort_unstable();
        Sp {
            value,
            span: words.span,
        }
    });
    ApprovalsDecl {
        name: context.relative(element.name_span),
        provider: attributes.word("provider", ApprovalProvider::from_word),
        unavailable: attributes.word("unavailable", Unavailable::from_word),
        scopes,
        durable: attributes.boolean("durable"),
    }
}

fn secrets<'t>(context: &mut Context<'t>, element: &'t Element) -> SecretsDecl {
    let attributes = reader::attributes(context, element, &sections::SECRETS);
    let mut section = SecretsDecl {
        name: context.relative(element.name_span),
        merge: merge(&attributes),
        replacement: replacement(context, &attributes),
        sources: Vec::new(),
    };
    for (child, schema) in reader::children(context, element, &sections::SECRETS) {
        let source = context.within(&[schema.name], |context| secret(context, child, schema));
        let span = context.relative(child.start_tag);
        section
            .sources
            .extend(source.map(|value| Sp { value, span }));
    }
    section
}

fn replacement(context: &mut Context<'_>, attributes: &Attributes<'_>) -> Option<Sp<String>> {
    let text = attributes.text("replacement")?;
    if text.value.len() <= 64 && !text.value.chars().any(char::is_control) {
        return Some(text);
    }
    let finding = crate::diagnostics::Diagnostic::new(
        "shell.invalid_attribute",
        context.place_of(text.span),
        "the replacement must be 1 to 64 bytes without control characters",
    )
    .hint("use a short text such as `[REDACTED]`");
    context.report_below(finding, &["replacement"]);
    None
}

fn secret<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Option<SecretDecl> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    let optional = attributes.boolean_or("optional", false);
    match schema.name {
        "from_env" => Some(SecretDecl::FromEnv {
            name: attributes.text("name")?.value,
            optional,
        }),
        "from_file" => Some(SecretDecl::FromFile {
            path: attributes.path("path")?.value,
            optional,
            strip: attributes.boolean_or("strip", true),
        }),
        _ => {
            let finding = context
                .finding(
                    "shell.literal_secret_in_source",
                    element.name_span,
                    "a secret is written into the document",
                )
                .label("everyone who reads the file reads the secret")
                .hint("keep it in a variable and use `<from_env name=\"…\"/>`");
            context.report(finding);
            Some(SecretDecl::Literal {
                value: LiteralSecret(attributes.text("value")?.value),
            })
        }
    }
}

fn audit<'t>(context: &mut Context<'t>, element: &'t Element) -> AuditDecl {
    let attributes = reader::attributes(context, element, &sections::AUDIT);
    let mut section = AuditDecl {
        name: context.relative(element.name_span),
        format: attributes.word("format", AuditFormat::from_word),
        path: attributes.path("path"),
        content: attributes.word("content", AuditContent::from_word),
        failure: attributes.word("failure", AuditFailure::from_word),
        filter: None,
    };
    if let Some(Sp {
        value: AuditContent::Full,
        span,
    }) = section.content
    {
        let finding = crate::diagnostics::Diagnostic::new(
            "shell.audit_full_content",
            context.place_of(span),
            "the audit log will hold complete command input and output",
        )
        .hint("prefer `redacted`");
        context.report_below(finding, &["content"]);
    }
    for (child, schema) in reader::children(context, element, &sections::AUDIT) {
        let span = context.relative(child.name_span);
        context.within(&[schema.name], |context| {
            if section
                .format
                .as_ref()
                .is_some_and(|format| format.value == AuditFormat::None)
            {
                let finding = context
                    .finding(
                        "shell.audit_filter_unused",
                        child.name_span,
                        "nothing is recorded, so the filter is never called",
                    )
                    .hint("choose a `format` other than `none`, or remove the filter");
                context.report(finding);
            }
            section.filter = extensions::filter(context, child).map(|value| Sp { value, span });
        });
    }
    section
}

/// Ids of one list, to find repetitions inside one section.
pub(super) struct Ids {
    section: &'static str,
    seen: Vec<Sp<String>>,
    /// The standard hasher: authors of documents must not be able to choose colliding ids.
    known: std::collections::HashMap<String, usize>,
}

impl Ids {
    pub(super) fn new(section: &'static str) -> Self {
        Self {
            section,
            seen: Vec::new(),
            known: std::collections::HashMap::new(),
        }
    }

    /// Records an id; a repetition is reported and refused.
    pub(super) fn is_new(&mut self, context: &mut Context<'_>, id: &Sp<String>) -> bool {
        if let Some(first) = self.known.get(&id.value).and_then(|at| self.seen.get(*at)) {
            let finding = crate::diagnostics::Diagnostic::new(
                "shell.duplicate_named_entry",
                context.place_of(id.span),
                format!(
                    "{} is already the id of another entry of `<{}>`",
                    crate::diagnostics::quote(&id.value),
                    self.section
                ),
            )
            .label("repeated here")
            .related(context.place_of(first.span), "first here")
            .hint("rename one of the two; `override` replaces inherited entries only");
            context.report_below(finding, &["id"]);
            return false;
        }
        self.known.insert(id.value.clone(), self.seen.len());
        self.seen.push(id.clone());
        true
    }
}
