//! Shell tools: runtime, command and what only the effective runtime shows (spec 03).

use super::context::{Context, Referrer};
use super::convert::{Local, path};
use super::effective::Effective;
use super::input::ExpandedItem;
use super::profiles::LEGACY_ID;
use super::registry::is_shell;
use super::report::{Fill, error, list, nearest, place, quote, warning};
use super::taint::Taint;
use crate::decl::{CommandDecl, FixedArgDecl, ModeDecl, ShellToolDecl, Sp, ToolForm};
use crate::diagnostics::Place;
use crate::manifest::{EnvOp, FixedArg, Inherit, Mode, Phase, Presence, Scope, Stream, Tool};
use std::sync::Arc;

/// Tools in manifest form with their declarations' places.
#[derive(Default)]
pub(crate) struct Tools {
    pub(crate) tools: Vec<(Tool, Place)>,
    /// Compact command texts by tool name.
    pub(crate) commands: Vec<(String, String)>,
    /// File of the first legacy tool, and its place.
    pub(crate) legacy: Option<(String, Place)>,
}

/// A model reviewer may name an agent of the host or an agent tool, never a shell tool.
pub(crate) fn reviewer_agent(
    local: &mut Local<'_, '_>,
    reviewer: &str,
    agent: &Sp<String>,
) -> bool {
    let Some(index) = local.cx.registry.tool_names.get(&agent.value) else {
        return true;
    };
    let tool = &local.cx.registry.tools[*index];
    if !is_shell(tool.decl) {
        return true;
    }
    let declared = tool
        .decl
        .model_names
        .iter()
        .find(|name| name.value == agent.value)
        .map(|name| place(tool.item, name.span));
    let message = format!(
        "reviewer {} asks {}, which is a shell tool and no agent",
        quote(reviewer),
        quote(&agent.value)
    );
    let at = local.place(agent.span);
    local.cx.sink.push(
        error("shell.reviewer_agent_is_shell_tool", at, message)
            .label("names a shell tool")
            .also(declared, "the shell tool")
            .hint("name an agent of the host or a `<tool … agent=\"…\">` of this document")
            .path([
                "shell_access",
                local.written,
                "reviewers",
                "reviewer",
                reviewer,
                "agent",
            ]),
    );
    false
}

/// Resolves every shell tool.
pub(crate) fn resolve(cx: &mut Context<'_>) -> Tools {
    let mut tools = Tools::default();
    for index in 0..cx.registry.tools.len() {
        let node = &cx.registry.tools[index];
        let (item, decl) = (node.item, node.decl);
        let name = decl.name.value().map(|name| name.value.as_str());
        let written = super::inherit::written(&decl.name);
        let (shell, legacy) = match &decl.form {
            ToolForm::Shell(shell) => (shell, false),
            ToolForm::Legacy(shell) => (shell, true),
            _ => continue,
        };
        if legacy && tools.legacy.is_none() {
            let file = cx.file(item).to_owned();
            tools.legacy = Some((file, place(item, item.decl.name)));
        }
        let runtime = if legacy {
            None
        } else {
            tool_runtime(cx, item, shell, written)
        };
        if let Some(runtime) = runtime {
            Check {
                item,
                written,
                shell,
                runtime,
            }
            .run(cx);
        }
        let id = match runtime {
            Some(runtime) => cx.registry.runtimes[runtime].id.clone(),
            None if legacy => LEGACY_ID.to_owned(),
            None => continue,
        };
        let (Some(name), Some(mode)) = (name, &shell.mode) else {
            continue;
        };
        let file = cx.file(item);
        tools.tools.push((
            tool(file, name, id, shell, mode),
            place(item, item.decl.name),
        ));
        if let Some(text) = &shell.compact_command {
            tools.commands.push((name.to_owned(), text.clone()));
        }
    }
    tools
}

fn tool_runtime(
    cx: &mut Context<'_>,
    item: &ExpandedItem,
    shell: &ShellToolDecl,
    written: &str,
) -> Option<usize> {
    let reference = shell.runtime.value()?;
    let runtime = cx.runtime(
        item,
        reference,
        Referrer::Runtime,
        &["tool", written, "runtime"],
    )?;
    cx.registry.runtimes[runtime].used = true;
    Some(runtime)
}

fn tool(file: &str, name: &str, runtime: String, shell: &ShellToolDecl, mode: &ModeDecl) -> Tool {
    Tool {
        name: name.to_owned(),
        description: shell.description.clone(),
        runtime,
        source: file.to_owned(),
        stdin: shell.stdin,
        rationale: shell.rationale,
        result: shell.result,
        stream: shell.stream.value,
        nonzero: shell.nonzero,
        mode: manifest_mode(file, mode),
    }
}

fn manifest_mode(file: &str, mode: &ModeDecl) -> Mode {
    match mode {
        ModeDecl::Fixed {
            command,
            arguments,
            model_arguments,
        } => {
            let (program, executable_ref) = match command {
                CommandDecl::Program(program) => (Some(program.value.clone()), None),
                CommandDecl::ExecutableRef(id) => (None, Some(id.value.clone())),
            };
            let arguments = arguments.iter().map(|argument| match argument {
                FixedArgDecl::Literal(value) => FixedArg::Literal {
                    value: value.clone(),
                },
                FixedArgDecl::SecretEnv { name, prefix } => FixedArg::SecretEnv {
                    name: name.value.clone(),
                    prefix: prefix.clone(),
                },
                FixedArgDecl::Path(expression) => FixedArg::Path {
                    path: path(file, &expression.value),
                },
            });
            let mut model_arguments = *model_arguments;
            if model_arguments.mode == Presence::None {
                model_arguments.min_count = 0;
                model_arguments.max_count = 0;
                model_arguments.max_item_bytes = 0;
            }
            Mode::Fixed {
                program,
                executable_ref,
                arguments: arguments.collect(),
                model_arguments,
            }
        }
        ModeDecl::Structured => Mode::Structured {},
        ModeDecl::Chain => Mode::Chain {},
        ModeDecl::Raw {
            executable,
            arguments_before_script,
        } => Mode::Raw {
            executable: path(file, &executable.value),
            arguments_before_script: arguments_before_script.clone(),
        },
        ModeDecl::Script {
            script,
            interpreter,
            fixed_arguments,
            max_source_bytes,
        } => Mode::Script {
            script: path(file, &script.value),
            interpreter: interpreter.as_ref().map(|value| path(file, &value.value)),
            fixed_arguments: fixed_arguments.clone(),
            verification: "sha256".to_owned(),
            max_source_bytes: *max_source_bytes,
        },
    }
}

/// Checks of one tool against its effective runtime.
struct Check<'a> {
    item: &'a ExpandedItem,
    written: &'a str,
    shell: &'a ShellToolDecl,
    runtime: usize,
}

impl Check<'_> {
    fn run(&self, cx: &mut Context<'_>) {
        let node = &cx.registry.runtimes[self.runtime];
        let Some(effective) = node.effective.clone() else {
            return;
        };
        let (id, taint) = (node.id.clone(), node.taint);
        if !taint.touches(Taint::INTERCEPTORS) {
            self.stream(cx, &effective, &id);
        }
        match &self.shell.mode {
            Some(ModeDecl::Fixed {
                command, arguments, ..
            }) => {
                if let CommandDecl::ExecutableRef(reference) = command
                    && !taint.touches(Taint::RESOLVER)
                {
                    self.executable(cx, &effective, &id, reference);
                }
                for argument in arguments {
                    if let FixedArgDecl::SecretEnv { name, .. } = argument
                        && !taint.touches(Taint::ENVIRONMENT)
                    {
                        self.secret(cx, &effective, &id, name);
                    }
                }
            }
            Some(ModeDecl::Raw { .. })
                if !taint.touches(Taint::CAPABILITIES.and(Taint::APPROVALS)) =>
            {
                self.raw(cx, &effective, &id);
            }
            _ => {}
        }
    }

    fn at(&self, span: chatmd_syntax::Span) -> Place {
        place(self.item, span)
    }

    fn executable(
        &self,
        cx: &mut Context<'_>,
        effective: &Arc<Effective>,
        runtime: &str,
        reference: &Sp<String>,
    ) {
        let ids = || {
            effective
                .executables
                .iter()
                .filter_map(|entry| entry.id.as_deref())
        };
        let known = cx.executables.entry(self.runtime).or_insert_with(|| {
            effective
                .executables
                .iter()
                .filter_map(|entry| entry.id.clone())
                .collect()
        });
        if known.contains(reference.value.as_str()) {
            return;
        }
        let message = format!(
            "runtime {} has no executable {}",
            quote(runtime),
            quote(&reference.value)
        );
        let at = self.at(reference.span);
        let mut finding = error("shell.unknown_executable", at, message).label("not declared");
        if let Some(near) = nearest(&reference.value, ids()) {
            finding = finding.hint(format!("did you mean {}?", quote(near))).fix(
                format!("refer to {}", quote(near)),
                at,
                near,
            );
        } else if ids().next().is_some() {
            finding = finding.hint(format!("declared: {}", list(ids().take(50))));
        }
        let finding = finding
            .hint("declare `<executable id=\"…\" path=\"…\"/>` in the `resolver` of the runtime")
            .path(["tool", self.written, "executable_ref"])
            .runtime(runtime);
        cx.sink.push(finding);
    }

    fn stream(&self, cx: &mut Context<'_>, effective: &Arc<Effective>, runtime: &str) {
        if self.shell.stream.value != Stream::Sanitized {
            return;
        }
        let after: Vec<&str> = effective
            .interceptors
            .iter()
            .filter_map(|entry| entry.value.as_deref())
            .filter(|interceptor| interceptor.phase == Phase::After)
            .map(|interceptor| interceptor.id.as_str())
            .collect();
        if after.is_empty() {
            return;
        }
        let message = format!(
            "output can not be streamed while runtime {} rewrites it afterwards: interceptors {}",
            quote(runtime),
            list(after.iter().copied())
        );
        let first = effective
            .interceptors
            .iter()
            .find(|entry| {
                entry
                    .value
                    .as_deref()
                    .is_some_and(|entry| entry.phase == Phase::After)
            })
            .and_then(|entry| entry.at);
        let at = self.at(self.shell.stream.span);
        cx.sink.push(
            error("shell.tool_stream_unsupported", at, message)
                .label("needs `finalized`")
                .also(first, "rewrites finished output")
                .hint("use `stream=\"finalized\"`, or a runtime without after-interceptors")
                .path(["tool", self.written, "stream"])
                .runtime(runtime),
        );
    }

    fn raw(&self, cx: &mut Context<'_>, effective: &Arc<Effective>, runtime: &str) {
        let at = self.at(self.item.decl.name);
        let mut lacking = Vec::new();
        if !effective.arbitrary_code {
            lacking.push("arbitrary_code");
        }
        if !effective.child_processes {
            lacking.push("child_processes");
        }
        if !lacking.is_empty() {
            let message = format!(
                "every call of this raw tool will be refused: runtime {} lacks {}",
                quote(runtime),
                list(lacking)
            );
            cx.sink.push(
                warning("shell.tool_never_permitted", at, message)
                    .label("can never run")
                    .hint("grant the capability in the runtime, or use another mode")
                    .path(["tool", self.written])
                    .runtime(runtime),
            );
        }
        if effective.scopes.value.contains(&Scope::PrefixSession) {
            let message = format!(
                "runtime {} offers `prefix_session`, which for a raw tool would cover any script",
                quote(runtime)
            );
            cx.sink.push(
                warning("shell.raw_prefix_scope", at, message)
                    .label("raw tool")
                    .also(effective.scopes.at, "scopes declared here")
                    .hint("drop `prefix_session` from the `scopes` of the runtime")
                    .path(["tool", self.written])
                    .runtime(runtime),
            );
        }
    }

    fn secret(
        &self,
        cx: &mut Context<'_>,
        effective: &Arc<Effective>,
        runtime: &str,
        name: &Sp<String>,
    ) {
        if may_have(effective, &name.value) {
            return;
        }
        let message = format!(
            "the environment of runtime {} never holds {}",
            quote(runtime),
            quote(&name.value)
        );
        cx.sink.push(
            warning("shell.tool_secret_unavailable", self.at(name.span), message)
                .label("not set, passed or inherited")
                .hint(
                    "add `<pass name=\"…\" secret=\"true\"/>` to the `environment` of the runtime",
                )
                .path(["tool", self.written, "command", "secret_arg", "env"])
                .runtime(runtime),
        );
    }
}

/// Names of the `safe` allow-list (spec 06 section 2.5); `LC_*` belongs to it too.
const SAFE: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
    "COLUMNS", "LINES",
];

/// Whether the environment of a runtime can hold a variable.
fn may_have(effective: &Effective, variable: &str) -> bool {
    let mut present = match effective.inherit {
        Inherit::None | Inherit::Selected => false,
        Inherit::Safe => SAFE.contains(&variable) || variable.starts_with("LC_"),
        Inherit::AllSanitized | Inherit::Raw => true,
    };
    for operation in &effective.operations {
        match operation.as_ref() {
            EnvOp::Set { name, .. } | EnvOp::Pass { name, .. } if name == variable => {
                present = true;
            }
            EnvOp::Unset { name } if name == variable => present = false,
            EnvOp::UnsetPrefix { prefix } if variable.starts_with(prefix.as_str()) => {
                present = false;
            }
            EnvOp::Path { .. } | EnvOp::PathEnv { .. } if variable == "PATH" => present = true,
            _ => {}
        }
    }
    present
}
