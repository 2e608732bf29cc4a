//! Every path expression of a payload.

use super::{
    Backend, EnvOp, Extension, FixedArg, Manifest, Matcher, Mode, Path, Reviewer, Root, Runtime,
    SecretSource, Tool,
};

impl Manifest {
    /// Every path of runtimes and tools, repetitions included, in no particular order.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        for runtime in &self.runtimes {
            of_runtime(runtime, &mut paths);
        }
        for tool in &self.tools {
            of_tool(tool, &mut paths);
        }
        paths
    }
}

fn of_runtime<'a>(runtime: &'a Runtime, paths: &mut Vec<&'a Path>) {
    paths.push(&runtime.cwd);
    let capabilities = &runtime.capabilities;
    for root in capabilities.read.iter().chain(&capabilities.write) {
        if let Root::Path { path } = root {
            paths.push(path);
        }
    }
    let resolver = &runtime.resolver;
    paths.extend(resolver.search_path.iter().chain(&resolver.trusted_roots));
    paths.extend(
        resolver
            .executables
            .iter()
            .map(|executable| &executable.path),
    );
    for operation in &runtime.environment.operations {
        if let EnvOp::Path { path, .. } = operation {
            paths.push(path);
        }
    }
    for backend in &runtime.backends.entries {
        match backend {
            Backend::Seatbelt { executable, .. } | Backend::Bubblewrap { executable, .. } => {
                paths.extend(executable);
            }
            Backend::External { executable, .. } => paths.push(executable),
            Backend::Direct { .. } => {}
        }
    }
    for rule in &runtime.policy.rules {
        of_matcher(&rule.matcher, paths);
    }
    for reviewer in &runtime.reviewers.entries {
        if let Reviewer::Executable { hook, .. } = reviewer {
            paths.push(&hook.executable);
        }
    }
    for interceptor in &runtime.interceptors {
        if let Some(matcher) = &interceptor.matcher {
            of_matcher(matcher, paths);
        }
        of_extension(&interceptor.extension, paths);
    }
    for analyzer in &runtime.effect_analyzers {
        of_extension(&analyzer.extension, paths);
    }
    for secret in &runtime.secrets.sources {
        if let SecretSource::FromFile { path, .. } = secret {
            paths.push(path);
        }
    }
    paths.extend(&runtime.audit.path);
    if let Some(filter) = &runtime.audit.filter {
        of_extension(filter, paths);
    }
}

fn of_extension<'a>(extension: &'a Extension, paths: &mut Vec<&'a Path>) {
    if let Extension::Executable { hook } = extension {
        paths.push(&hook.executable);
    }
}

fn of_matcher<'a>(matcher: &'a Matcher, paths: &mut Vec<&'a Path>) {
    let mut open = vec![matcher];
    while let Some(matcher) = open.pop() {
        match matcher {
            Matcher::ResolvedPath { path } => paths.push(path),
            Matcher::Effect { under, .. } => paths.extend(under),
            Matcher::All { of } | Matcher::Any { of } => open.extend(of),
            Matcher::Not { of } => open.push(of),
            _ => {}
        }
    }
}

fn of_tool<'a>(tool: &'a Tool, paths: &mut Vec<&'a Path>) {
    match &tool.mode {
        Mode::Fixed { arguments, .. } => {
            for argument in arguments {
                if let FixedArg::Path { path } = argument {
                    paths.push(path);
                }
            }
        }
        Mode::Raw { executable, .. } => paths.push(executable),
        Mode::Script {
            script,
            interpreter,
            ..
        } => {
            paths.push(script);
            paths.extend(interpreter);
        }
        Mode::Structured {} | Mode::Chain {} => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;
    use crate::manifest::from_value;

    /// A path is the only object with a member `base`.
    fn count(value: &Value) -> usize {
        match value {
            Value::Object(members) if members.contains_key("base") => 1,
            Value::Object(members) => members.values().map(count).sum(),
            Value::Array(items) => items.iter().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn no_path_is_forgotten() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read(path.join("expect.json")).unwrap();
            let mut expect: Value = serde_json::from_slice(&text).unwrap();
            let payload = expect["payload"].take();
            let expected = count(&payload);
            let manifest: Manifest = from_value(payload).unwrap();
            assert_eq!(manifest.paths().len(), expected, "{}", path.display());
        }
    }
}
