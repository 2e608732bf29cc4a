//! Declared entries in manifest form: paths with their file, references resolved.

use super::context::{Context, HookUse, Referrer};
use super::entrypoints;
use super::input::ExpandedItem;
use super::report::{Fill, error, place, quote};
use crate::decl::{ExtensionDecl, HookDecl, MatcherDecl, MatcherKindDecl, PathExpr, RootDecl, Sp};
use crate::diagnostics::Place;
use crate::manifest::{Extension, Hook, Matcher, MatcherFailure, Path, PathBase, Root, ScriptKind};

/// The only protocol of version 1.
const PROTOCOL: &str = "shell-hook-json-v1";

/// Deepest matcher (spec 02 section 11.1); lowering reports deeper ones.
const MAX_MATCHER_DEPTH: usize = 64;

/// Conversion of the entries of one runtime.
pub(crate) struct Local<'c, 'a> {
    pub(crate) cx: &'c mut Context<'a>,
    pub(crate) item: &'a ExpandedItem,
    /// Manifest path of the declaring file.
    pub(crate) file: &'a str,
    /// Index of the declaring runtime.
    pub(crate) runtime: usize,
    /// Id as written, for diagnostic paths.
    pub(crate) written: &'a str,
}

/// An executable extension with the place of its worker reference.
type Placed<T> = (T, Option<Place>);

/// A path of a document in manifest form.
pub(crate) fn path(file: &str, expression: &PathExpr) -> Path {
    Path {
        base: expression.base,
        path: expression.path.clone(),
        source: (expression.base == PathBase::SourceDir).then(|| file.to_owned()),
    }
}

impl<'a> Local<'_, 'a> {
    pub(crate) fn place(&self, span: chatmd_syntax::Span) -> Place {
        place(self.item, span)
    }

    pub(crate) fn path(&self, expression: &PathExpr) -> Path {
        path(self.file, expression)
    }

    pub(crate) fn root(&self, root: &RootDecl) -> Root {
        match root {
            RootDecl::Path(expression) => Root::Path {
                path: self.path(expression),
            },
            RootDecl::PathEnv { name, optional } => Root::PathEnv {
                name: name.clone(),
                optional: *optional,
            },
        }
    }

    /// Resolves a script of an extension point and its default entry point.
    pub(crate) fn script(
        &mut self,
        reference: &Sp<String>,
        kind: ScriptKind,
        trail: &[&str],
    ) -> Option<String> {
        self.entry_point(reference, None, kind, trail)
            .map(|(id, _)| id)
    }

    /// Resolves a script and the function that is called in it.
    fn entry_point(
        &mut self,
        reference: &Sp<String>,
        function: Option<&Sp<String>>,
        kind: ScriptKind,
        trail: &[&str],
    ) -> Option<(String, String)> {
        let mut steps = vec!["shell_access", self.written];
        steps.extend_from_slice(trail);
        let index = self.cx.script(self.item, reference, kind, &steps)?;
        let script = self.cx.registry.scripts.get_mut(index)?;
        let name = match function {
            Some(function) => {
                // Without its text nothing is known about the functions of a script.
                if script.text.is_some() && !script.definitions.contains(&function.value) {
                    let message = format!(
                        "script {} defines no function {}",
                        quote(&script.id),
                        quote(&function.value)
                    );
                    let declared = super::registry::field_place(script.item, &script.decl.id);
                    self.cx.sink.push(
                        error(
                            "shell.unknown_entrypoint",
                            place(self.item, function.span),
                            message,
                        )
                        .label("not defined at top level of the script")
                        .also(Some(declared), "the script")
                        .hint("define the function, or leave `function` out to use the default")
                        .path(steps),
                    );
                    return None;
                }
                function.value.clone()
            }
            None => {
                let default = entrypoints::default_name(kind);
                let fallback = !script.definitions.contains(default)
                    && script.definitions.contains(entrypoints::FALLBACK);
                (if fallback {
                    entrypoints::FALLBACK
                } else {
                    default
                })
                .to_owned()
            }
        };
        script.entrypoints.insert(name.clone());
        Some((script.id.clone(), name))
    }

    /// An executable extension (spec 02 section 14).
    pub(crate) fn hook(
        &mut self,
        decl: &HookDecl,
        via: &str,
        trail: &[&str],
    ) -> Option<Placed<Hook>> {
        let reference = decl.runtime.value()?;
        let mut steps = vec!["shell_access", self.written];
        steps.extend_from_slice(trail);
        let worker = self
            .cx
            .runtime(self.item, reference, Referrer::Worker, &steps)?;
        let node = self.cx.registry.runtimes.get_mut(worker)?;
        node.used = true;
        let hook = Hook {
            executable: path(self.file, &decl.executable.value),
            sha256: decl.sha256.as_ref().map(|pin| pin.value.clone()),
            runtime: node.id.clone(),
            protocol: PROTOCOL.to_owned(),
            timeout_ms: decl.timeout_ms.as_ref().map(|timeout| timeout.value),
            max_input_bytes: decl.max_input_bytes,
            max_output_bytes: decl.max_output_bytes,
        };
        let worker_at = self.place(reference.span);
        let timeout_at = decl
            .timeout_ms
            .as_ref()
            .map(|timeout| self.place(timeout.span));
        let max_input_at = decl.max_input_span.map(|span| self.place(span));
        self.cx.hooks.push(HookUse {
            owner: self.runtime,
            via: via.to_owned(),
            worker,
            worker_at,
            timeout_at,
            max_input_at,
            hook: hook.clone(),
        });
        Some((hook, Some(worker_at)))
    }

    /// A script or hook of an extension point.
    pub(crate) fn extension(
        &mut self,
        decl: &ExtensionDecl,
        kind: ScriptKind,
        via: &str,
        trail: &[&str],
    ) -> Option<Placed<Extension>> {
        match decl {
            ExtensionDecl::Chatml { script, lifecycle } => {
                let script = self.script(script, kind, trail)?;
                Some((
                    Extension::Chatml {
                        script,
                        lifecycle: *lifecycle,
                    },
                    None,
                ))
            }
            ExtensionDecl::Executable(decl) => {
                let (hook, at) = self.hook(decl, via, trail)?;
                Some((Extension::Executable { hook }, at))
            }
        }
    }

    /// A matcher; `None` when a reference in it failed. All its references are checked.
    pub(crate) fn matcher(
        &mut self,
        decl: &MatcherDecl,
        depth: usize,
        trail: &[&str],
    ) -> Option<Matcher> {
        if depth > MAX_MATCHER_DEPTH {
            let message = format!("matchers are nested more than {MAX_MATCHER_DEPTH} deep");
            let at = self.place(decl.name);
            self.cx
                .sink
                .push(error("shell.matcher_too_deep", at, message).label("too deep"));
            return None;
        }
        Some(match &decl.kind {
            MatcherKindDecl::AnyCommand => Matcher::AnyCommand {},
            MatcherKindDecl::TrustedExecutable => Matcher::TrustedExecutable {},
            MatcherKindDecl::NoUnknownEffects => Matcher::NoUnknownEffects {},
            MatcherKindDecl::RawShell => Matcher::RawShell {},
            MatcherKindDecl::Program(value) => Matcher::Program {
                value: value.value.clone(),
            },
            MatcherKindDecl::Basename(value) => Matcher::Basename {
                value: value.value.clone(),
            },
            MatcherKindDecl::Argument(value) => Matcher::Argument {
                value: value.value.clone(),
            },
            MatcherKindDecl::ArgumentContains(value) => Matcher::ArgumentContains {
                value: value.value.clone(),
            },
            MatcherKindDecl::ProgramRegex(pattern) => Matcher::ProgramRegex {
                pattern: pattern.value.clone(),
            },
            MatcherKindDecl::ResolvedPath(expression) => Matcher::ResolvedPath {
                path: self.path(&expression.value),
            },
            MatcherKindDecl::ArgvPrefix(values) => Matcher::ArgvPrefix {
                values: values.value.clone(),
            },
            MatcherKindDecl::Effect { effect, under } => Matcher::Effect {
                effect: *effect,
                under: under
                    .as_ref()
                    .map(|expression| self.path(&expression.value)),
            },
            MatcherKindDecl::ChatmlMatch {
                script,
                function,
                failure,
            } => {
                return self.chatml_match(script, function.as_ref(), *failure, trail);
            }
            MatcherKindDecl::All(of) => Matcher::All {
                of: self.matchers(of, depth, trail)?,
            },
            MatcherKindDecl::Any(of) => Matcher::Any {
                of: self.matchers(of, depth, trail)?,
            },
            MatcherKindDecl::Not(of) => Matcher::Not {
                of: Box::new(self.matcher(of, depth + 1, trail)?),
            },
        })
    }

    fn matchers(
        &mut self,
        of: &[MatcherDecl],
        depth: usize,
        trail: &[&str],
    ) -> Option<Vec<Matcher>> {
        let converted: Vec<Option<Matcher>> = of
            .iter()
            .map(|child| self.matcher(child, depth + 1, trail))
            .collect();
        converted.into_iter().collect()
    }

    fn chatml_match(
        &mut self,
        script: &Sp<String>,
        function: Option<&Sp<String>>,
        failure: MatcherFailure,
        trail: &[&str],
    ) -> Option<Matcher> {
        let (script, function) = self.entry_point(script, function, ScriptKind::Matcher, trail)?;
        Some(Matcher::ChatmlMatch {
            script,
            function,
            failure,
        })
    }
}
