//! The manifest of a document without errors: dependencies, features, scripts, sources (spec 04
//! sections 8 and 10).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::Context;
use super::effective::Effective;
use super::features::Features;
use super::graph;
use super::places::Places;
use super::profiles::{LEGACY, LEGACY_ID};
use super::registry::{Parent, ScriptNode, field_place};
use super::report::{Sink, error, quote};
use super::tools::Tools;
use super::{Material, Resolution};
use crate::decl::{ScriptSourceDecl, ToolForm};
use crate::diagnostics::Place;
use crate::manifest::{
    Backend, Dependency, DependencyKind, Extension, Interceptor, Manifest, Matcher, Mode, Reviewer,
    Runtime, Script, ScriptKind, ScriptSource, SecretSource, Source, order, sha256_hex,
};

/// Surface of shell scripts of version 1.
const SURFACE: &str = "chatmd.shell.chatml.surface.v1";

/// Builds the manifest and checks its features.
pub(crate) fn build(
    cx: Context<'_>,
    tools: Tools,
    moderator: Option<usize>,
    supported: &Features,
) -> Resolution {
    let mut runtimes: Vec<(Runtime, Place)> = Vec::new();
    let mut material = Material::default();
    for node in &cx.registry.runtimes {
        let Some(effective) = &node.effective else {
            continue;
        };
        let at = field_place(node.item, &node.decl.id);
        let source = cx.file(node.item);
        let (runtime, literals) = effective.finish(&node.id, source, cx.platform);
        for (index, literal) in literals.into_iter().enumerate() {
            material
                .literals
                .insert((node.id.clone(), index as u64), literal);
        }
        runtimes.push((runtime, at));
    }
    if let Some((file, at)) = &tools.legacy {
        let effective = Effective::builtin(&LEGACY, file);
        runtimes.push((effective.finish(LEGACY_ID, file, cx.platform).0, *at));
    }
    let places = Arc::new(Places::collect(&cx, &tools));
    let dependencies = dependencies(&cx, &runtimes, &tools, moderator);
    let scripts: Vec<Script> = cx
        .registry
        .scripts
        .iter()
        .filter(|script| !script.entrypoints.is_empty())
        .filter_map(|node| {
            if let Some(text) = &node.text {
                material.scripts.insert(node.id.clone(), text.clone());
            }
            script(&cx, node)
        })
        .collect();
    material.commands = tools.commands.iter().cloned().collect();

    let platform = cx.platform;
    let features = features(&runtimes, &tools, &cx);
    let sources = sources(&cx);
    let moderator_runtime = moderator.map(|index| cx.registry.runtimes[index].id.clone());
    let mut sink = cx.sink;
    unsupported(&features, supported, &mut sink);
    let mut manifest = Manifest {
        encoding: crate::manifest::ENCODING.to_owned(),
        platform,
        sources,
        runtimes: runtimes.into_iter().map(|(runtime, _)| runtime).collect(),
        tools: tools.tools.into_iter().map(|(tool, _)| tool).collect(),
        moderator_runtime,
        scripts,
        dependencies,
        features: features.into_keys().map(str::to_owned).collect(),
        binding: None,
    };
    order::normalise(&mut manifest);
    if sink.failed {
        return Resolution {
            diagnostics: sink.diagnostics,
            ..Resolution::default()
        };
    }
    Resolution {
        manifest: Some(Arc::new(manifest)),
        diagnostics: sink.diagnostics,
        material: Arc::new(material),
        places,
        programs: Vec::new(),
    }
}

fn sources(cx: &Context<'_>) -> Vec<Source> {
    let files = cx.expanded.files.iter();
    files
        .flat_map(|file| {
            file.uses.iter().map(|used| Source {
                path: file.path.clone(),
                namespace: used.namespace.clone(),
                role: used.role,
                sha256: file.sha256.clone(),
            })
        })
        .collect()
}

fn script(cx: &Context<'_>, node: &ScriptNode<'_>) -> Option<Script> {
    let text = node.text.as_ref()?;
    let source = match node.decl.source.as_ref()? {
        ScriptSourceDecl::Inline(_) => ScriptSource::Inline {
            file: cx.file(node.item).to_owned(),
        },
        ScriptSourceDecl::File(_) => {
            let loaded = cx.expanded.scripts.get(&(node.item.file, node.item.item))?;
            let file = cx.expanded.files.get(loaded.file.0 as usize)?;
            ScriptSource::File {
                file: file.path.clone(),
            }
        }
    };
    Some(Script {
        id: node.id.clone(),
        kind: node.decl.kind?,
        language: "chatml".to_owned(),
        source,
        sha256: sha256_hex(text.as_bytes()),
        surface: SURFACE.to_owned(),
        entrypoints: node.entrypoints.iter().cloned().collect(),
        limits: node.decl.limits,
    })
}

fn edge(
    from: impl Into<String>,
    to: impl Into<String>,
    kind: DependencyKind,
    via: Option<String>,
) -> Dependency {
    Dependency {
        from: from.into(),
        to: to.into(),
        kind,
        via,
    }
}

fn dependencies(
    cx: &Context<'_>,
    runtimes: &[(Runtime, Place)],
    tools: &Tools,
    moderator: Option<usize>,
) -> Vec<Dependency> {
    let mut edges = Vec::new();
    for node in &cx.registry.runtimes {
        let from = format!("runtime:{}", node.id);
        match node.parent {
            Parent::Runtime(parent) => {
                let to = format!("runtime:{}", cx.registry.runtimes[parent].id);
                edges.push(edge(&from, to, DependencyKind::Extends, None));
            }
            Parent::Profile(profile) => {
                let to = format!("profile:{}", profile.versioned);
                edges.push(edge(&from, to, DependencyKind::Extends, None));
            }
            Parent::Defaults | Parent::Unavailable => {}
        }
        for (via, hook, _) in node
            .effective
            .iter()
            .flat_map(|effective| graph::hooks(effective))
        {
            let to = format!("runtime:{}", hook.runtime);
            edges.push(edge(&from, to, DependencyKind::WorkerRuntime, Some(via)));
        }
    }
    for (runtime, _) in runtimes {
        runtime_edges(cx, runtime, &mut edges);
    }
    for (tool, _) in &tools.tools {
        let from = format!("tool:{}", tool.name);
        let to = format!("runtime:{}", tool.runtime);
        edges.push(edge(&from, to, DependencyKind::ToolRuntime, None));
        if let Mode::Fixed {
            executable_ref: Some(id),
            ..
        } = &tool.mode
        {
            let to = format!("executable:{}/{id}", tool.runtime);
            edges.push(edge(&from, to, DependencyKind::ExecutableRef, None));
        }
    }
    if let Some(index) = moderator {
        let to = format!("runtime:{}", cx.registry.runtimes[index].id);
        edges.push(edge(
            "moderator",
            to,
            DependencyKind::ModeratorRuntime,
            None,
        ));
    }
    edges
}

/// Edges to scripts and agents.
fn runtime_edges(cx: &Context<'_>, runtime: &Runtime, edges: &mut Vec<Dependency>) {
    let from = format!("runtime:{}", runtime.id);
    let mut script = |id: &str, via: String| {
        let to = format!("script:{id}");
        edges.push(edge(&from, to, DependencyKind::ChatmlExtension, Some(via)));
    };
    for rule in &runtime.policy.rules {
        for id in rule.matcher.scripts() {
            script(id, format!("rule {}", rule.id));
        }
    }
    for Interceptor {
        id,
        matcher,
        extension,
        ..
    } in &runtime.interceptors
    {
        let matched = matcher.iter().flat_map(Matcher::scripts);
        let own = extension.script();
        for used in matched.chain(own) {
            script(used, format!("interceptor {id}"));
        }
    }
    for analyzer in &runtime.effect_analyzers {
        if let Some(used) = analyzer.extension.script() {
            script(used, format!("analyzer {}", analyzer.id));
        }
    }
    if let Some(used) = runtime.audit.filter.as_ref().and_then(Extension::script) {
        script(used, "audit filter".to_owned());
    }
    let mut agents = Vec::new();
    for reviewer in &runtime.reviewers.entries {
        match reviewer {
            Reviewer::Chatml {
                id, script: used, ..
            } => script(used, format!("reviewer {id}")),
            Reviewer::Model { id, agent, .. } => agents.push((agent, id)),
            Reviewer::Ui { .. } | Reviewer::Executable { .. } => {}
        }
    }
    for (agent, id) in agents {
        let node = format!("agent:{agent}");
        let via = Some(format!("reviewer {id}"));
        edges.push(edge(&from, &node, DependencyKind::ModelReviewer, via));
        let tool = cx
            .registry
            .tool_names
            .get(agent)
            .map(|index| &cx.registry.tools[*index]);
        if tool.is_some_and(|tool| matches!(tool.decl.form, ToolForm::Agent)) {
            edges.push(edge(
                node,
                format!("tool:{agent}"),
                DependencyKind::AgentTool,
                None,
            ));
        }
    }
}

/// Required features, each with the first declaration that needs it.
fn features(
    runtimes: &[(Runtime, Place)],
    tools: &Tools,
    cx: &Context<'_>,
) -> BTreeMap<&'static str, Place> {
    let mut features = BTreeMap::new();
    for (runtime, at) in runtimes {
        for id in runtime_features(runtime) {
            features.entry(id).or_insert(*at);
        }
    }
    for (tool, at) in &tools.tools {
        let id = match tool.mode {
            Mode::Fixed { .. } => "shell.tool.fixed.v1",
            Mode::Structured {} => "shell.tool.structured.v1",
            Mode::Chain {} => "shell.tool.chain.v1",
            Mode::Raw { .. } => "shell.tool.raw.v1",
            Mode::Script { .. } => "shell.tool.script.v1",
        };
        features.entry(id).or_insert(*at);
    }
    for node in cx
        .registry
        .scripts
        .iter()
        .filter(|node| !node.entrypoints.is_empty())
    {
        let id = match node.decl.kind {
            Some(ScriptKind::Matcher) => "shell.chatml.matcher.v1",
            Some(ScriptKind::Reviewer) => "shell.chatml.reviewer.v1",
            Some(ScriptKind::BeforeInterceptor) => "shell.chatml.before_interceptor.v1",
            Some(ScriptKind::AfterInterceptor) => "shell.chatml.after_interceptor.v1",
            Some(ScriptKind::EffectAnalyzer) => "shell.chatml.effect_analyzer.v1",
            Some(ScriptKind::AuditFilter) => "shell.chatml.audit_filter.v1",
            Some(ScriptKind::Moderator) | None => continue,
        };
        features
            .entry(id)
            .or_insert_with(|| field_place(node.item, &node.decl.id));
    }
    features
}

fn runtime_features(runtime: &Runtime) -> Vec<&'static str> {
    let mut ids = Vec::new();
    for backend in &runtime.backends.entries {
        ids.push(match backend {
            Backend::Seatbelt { .. } => "shell.backend.seatbelt.v1",
            Backend::Bubblewrap { .. } => "shell.backend.bubblewrap.v1",
            Backend::Direct { .. } => "shell.backend.direct.v1",
            Backend::External { .. } => "shell.external_backend.v1",
        });
    }
    let limits = &runtime.limits;
    let finite = [
        limits.cpu_time_ms,
        limits.memory_bytes,
        limits.file_size_bytes,
        limits.open_files,
    ];
    if finite.iter().any(Option::is_some) {
        ids.push("shell.resource_limits.v1");
    }
    if runtime
        .secrets
        .sources
        .iter()
        .any(|source| matches!(source, SecretSource::Literal { .. }))
    {
        ids.push("shell.secret.literal.v1");
    }
    let reviewers = &runtime.reviewers.entries;
    if reviewers
        .iter()
        .any(|reviewer| matches!(reviewer, Reviewer::Model { .. }))
    {
        ids.push("shell.model_reviewer.v1");
    }
    let hook = |extension: &Extension| matches!(extension, Extension::Executable { .. });
    let hooked = reviewers
        .iter()
        .any(|reviewer| matches!(reviewer, Reviewer::Executable { .. }))
        || runtime
            .interceptors
            .iter()
            .any(|interceptor| hook(&interceptor.extension))
        || runtime
            .effect_analyzers
            .iter()
            .any(|analyzer| hook(&analyzer.extension))
        || runtime.audit.filter.as_ref().is_some_and(hook);
    if hooked {
        ids.push("shell.executable_hooks.v1");
    }
    ids
}

fn unsupported(required: &BTreeMap<&'static str, Place>, supported: &Features, sink: &mut Sink) {
    for (id, at) in required {
        if supported.contains(id) {
            continue;
        }
        let message = format!(
            "this declaration needs feature {}, which is not supported",
            quote(id)
        );
        sink.push(
            error("shell.unsupported_feature", *at, message)
                .label("needs an unsupported feature")
                .hint("remove what needs it, or use a newer version"),
        );
    }
}
