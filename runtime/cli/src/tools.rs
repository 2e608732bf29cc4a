//! `chatmd tools`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use chatmd_compiler::manifest::Capabilities;
use chatmd_compiler::published::{PublishedTool, publish};
use chatmd_compiler::{Compilation, SafeText};
use chatmd_runtime::approval::Nobody;
use chatmd_runtime::authorise::BoundDocument;
use chatmd_runtime::materialise::{HostSettings, Registry};
use chatmd_runtime::warnings::Warnings;
use chatmdc::args::Common;
use chatmdc::report::json::JsonDiagnostic;
use chatmdc::report::{self, Findings, Summary};
use serde::Serialize;

use crate::args::{Tools, ToolsFormat};
use crate::document::{Document, open_session};
use crate::exit::{self, Stop};
use crate::run::{async_runtime, authorized, interruptible, live};
use crate::{admin, show};

/// Lists the tools. With `--format json` a failure is part of the answer.
pub fn tools(args: &Tools, common: Common) -> Result<u8, Stop> {
    if args.format != ToolsFormat::Json {
        let document = Document::compile(&args.document, &args.reading, common)?;
        return list(args, common, &document);
    }
    let document = match Document::read(&args.document, &args.reading) {
        Ok(document) => document,
        Err(failed) => return answer_failure(&failed.stop, failed.compilation.as_deref()),
    };
    match list(args, common, &document) {
        // Whoever reads the answer went away, or it can not be written.
        Err(stop) if matches!(stop.code(), exit::BROKEN_PIPE | exit::INTERNAL) => Err(stop),
        Err(stop) => answer_failure(&stop, Some(document.compiled())),
        Ok(code) => Ok(code),
    }
}

fn list(args: &Tools, common: Common, document: &Document) -> Result<u8, Stop> {
    let commands = &document.material().commands;
    let published: Vec<PublishedTool> = document
        .manifest()
        .tools
        .iter()
        .map(|tool| publish(tool, commands.get(&tool.name).map(String::as_str)))
        .collect();
    let backends = if args.live {
        Some(backends(args, common, document)?)
    } else {
        None
    };
    let text = match args.format {
        ToolsFormat::Human => human(&published, backends.as_deref()),
        ToolsFormat::Json => {
            let host = document.host(&args.reading, None)?;
            // Shown when it can be had; a list of tools needs no authority.
            let bound = BoundDocument::new(
                &host,
                document.manifest(),
                document.material().clone(),
                &Warnings::default(),
            );
            let shown = [findings(document.compiled())];
            json(&Listing {
                version: 1,
                command: "tools",
                ok: true,
                requested_sha256: document.requested_sha256(),
                manifest_sha256: bound.ok().map(|bound| bound.bound_sha256),
                tools: &published,
                backends: backends.as_deref(),
                diagnostics: report::json::diagnostics(&shown),
                summary: Summary::of(&shown),
            })?
        }
        ToolsFormat::Openai => json(&published.iter().map(openai).collect::<Vec<_>>())?,
        ToolsFormat::Anthropic => json(&published.iter().map(anthropic).collect::<Vec<_>>())?,
        ToolsFormat::Mcp => {
            let list = published.iter().map(|tool| mcp(tool, document)).collect();
            json(&McpList { tools: list })?
        }
    };
    show::result(text.as_bytes())?;
    Ok(exit::OK)
}

fn findings(compilation: &Compilation) -> Findings<'_> {
    let shown = compilation.diagnostics.clone();
    Findings { compilation, shown }
}

/// The answer of spec 10 section 1.3 where there is no list.
fn answer_failure(stop: &Stop, compilation: Option<&Compilation>) -> Result<u8, Stop> {
    #[derive(Serialize)]
    struct Failure<'a> {
        code: Option<&'a str>,
        message: String,
    }
    #[derive(Serialize)]
    struct Answer<'a> {
        version: u32,
        command: &'static str,
        ok: bool,
        error: Failure<'a>,
        diagnostics: Vec<JsonDiagnostic>,
        summary: Summary,
    }
    let (code, message) = stop.parts();
    let shown: Vec<Findings<'_>> = compilation.into_iter().map(findings).collect();
    let answer = Answer {
        version: 1,
        command: "tools",
        ok: false,
        error: Failure {
            code,
            message: SafeText::lines(message).into_string(),
        },
        diagnostics: report::json::diagnostics(&shown),
        summary: Summary::of(&shown),
    };
    show::result(json(&answer)?.as_bytes())?;
    Ok(stop.code())
}

#[derive(Serialize)]
struct Listing<'a> {
    version: u32,
    command: &'static str,
    ok: bool,
    requested_sha256: &'a str,
    manifest_sha256: Option<String>,
    tools: &'a [PublishedTool],
    #[serde(skip_serializing_if = "Option::is_none")]
    backends: Option<&'a [LiveBackend]>,
    diagnostics: Vec<JsonDiagnostic>,
    summary: Summary,
}

#[derive(Serialize)]
struct LiveBackend {
    runtime: String,
    id: String,
    kind: &'static str,
    confinement: &'static str,
    usable: bool,
    reason: Option<String>,
    /// Commands of the runtime run in this one.
    selected: bool,
    /// What is weaker here than one would expect; of the selected one.
    warnings: Vec<String>,
}

fn backends(args: &Tools, common: Common, document: &Document) -> Result<Vec<LiveBackend>, Stop> {
    admin::refuse_if_configured()?;
    let warnings = Arc::new(Warnings::default());
    let (state, session) = open_session(&args.reading)?;
    let host = document.host(&args.reading, Some(&session))?;
    let authorized = authorized(
        document,
        &host,
        args.authorize_manifest.as_deref(),
        &warnings,
    )?;
    let settings = HostSettings {
        state,
        session_dir: session.directory().to_path_buf(),
        approvals: Arc::new(Nobody),
        approval_timeout: Duration::ZERO,
        timeout: None,
        sources: document.sources(),
        warnings: Arc::clone(&warnings),
    };
    let runtime = async_runtime()?;
    let registry = runtime.block_on(interruptible(live(authorized, &host, settings)))??;
    registry.close("listed");
    let quiet = common.quiet || args.format == ToolsFormat::Json;
    show::warnings(&warnings, Common { quiet, ..common });
    Ok(live_backends(&registry))
}

fn live_backends(registry: &Registry) -> Vec<LiveBackend> {
    let mut backends = Vec::new();
    for runtime in registry.runtimes() {
        let mut warnings = runtime.warnings();
        for examined in &runtime.backend.examined {
            backends.push(LiveBackend {
                runtime: runtime.id().to_owned(),
                id: examined.id.clone(),
                kind: examined.kind,
                confinement: examined.confinement,
                usable: examined.reason.is_none(),
                reason: examined.reason.clone(),
                selected: examined.selected,
                warnings: if examined.selected {
                    std::mem::take(&mut warnings)
                } else {
                    Vec::new()
                },
            });
        }
    }
    backends
}

fn json(value: &impl Serialize) -> Result<String, Stop> {
    let text = serde_json::to_string(value);
    let text = text.map_err(|error| Stop::new(exit::INTERNAL, format!("chatmd: {error}")))?;
    Ok(text + "\n")
}

fn human(tools: &[PublishedTool], backends: Option<&[LiveBackend]>) -> String {
    let mut text = String::new();
    if tools.is_empty() {
        text.push_str("no shell tools\n");
    }
    for (index, tool) in tools.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let schema = serde_json::to_string(&tool.input_schema).unwrap_or_default();
        let _ = writeln!(
            text,
            "{}  ({}, runtime {})",
            tool.name, tool.mode, tool.runtime
        );
        for line in tool.description.lines() {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "  input {schema}");
    }
    let mut shown = None;
    for backend in backends.unwrap_or_default() {
        if shown != Some(&backend.runtime) {
            let _ = writeln!(text, "\nruntime {}", backend.runtime);
            shown = Some(&backend.runtime);
        }
        let _ = writeln!(text, "  {}", backend_line(backend));
        for warning in &backend.warnings {
            let _ = writeln!(text, "    warning: {warning}");
        }
    }
    SafeText::lines(&text).into_string()
}

fn backend_line(backend: &LiveBackend) -> String {
    let (id, kind, confinement) = (&backend.id, backend.kind, backend.confinement);
    let name = format!("backend {id} ({kind}, confinement {confinement})");
    match (&backend.reason, backend.selected) {
        (Some(reason), _) => format!("{name}: can not be used: {reason}"),
        (None, true) => format!("{name}: used"),
        (None, false) => format!("{name}: usable, not needed"),
    }
}

#[derive(Serialize)]
struct OpenAi<'a> {
    r#type: &'static str,
    function: OpenAiFunction<'a>,
}

#[derive(Serialize)]
struct OpenAiFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a chatmd_compiler::published::InputSchema,
}

fn openai(tool: &PublishedTool) -> OpenAi<'_> {
    let function = OpenAiFunction {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.input_schema,
    };
    OpenAi {
        r#type: "function",
        function,
    }
}

#[derive(Serialize)]
struct Anthropic<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a chatmd_compiler::published::InputSchema,
}

fn anthropic(tool: &PublishedTool) -> Anthropic<'_> {
    Anthropic {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
    }
}

#[derive(Serialize)]
struct McpList<'a> {
    tools: Vec<Mcp<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mcp<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    input_schema: &'a chatmd_compiler::published::InputSchema,
    annotations: McpAnnotations,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct McpAnnotations {
    read_only_hint: bool,
    destructive_hint: bool,
    open_world_hint: bool,
}

fn mcp<'a>(tool: &'a PublishedTool, document: &Document) -> Mcp<'a> {
    let runtimes = &document.manifest().runtimes;
    let declared = runtimes.iter().find(|runtime| runtime.id == tool.runtime);
    Mcp {
        name: &tool.name,
        title: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
        annotations: annotations(declared.map(|runtime| &runtime.capabilities)),
    }
}

/// Hints from the ceilings: what the runtime could do, not what a call will do.
fn annotations(capabilities: Option<&Capabilities>) -> McpAnnotations {
    let writes = capabilities.is_none_or(|c| !c.write.is_empty() || c.privilege_change);
    let reaches_out = capabilities.is_none_or(|c| c.network);
    McpAnnotations {
        read_only_hint: !writes && !reaches_out,
        destructive_hint: writes,
        open_world_hint: reaches_out,
    }
}
