//! Whether a payload is one that a compiler could have made (spec 04 section 8): a bundle is read as
//! strictly as the document that it stands for. The bounds are those of the schema table.

use std::collections::HashSet;

use super::{
    Atom, Backend, Extension, Hook, Manifest, Matcher, Mode, Reviewer, Runtime, Script, Tool,
};
use crate::diagnostics::quote;
use crate::lower::is_strict;
use crate::schema::{Element, document, extensions, sections, tools};

/// What is impossible, as `member: reason`.
type Check = Result<(), String>;

/// Checks every member that has a bound or a grammar of its own.
///
/// # Errors
/// The first member that no document could have given that value, and why.
pub(super) fn check(manifest: &Manifest) -> Check {
    for (index, source) in manifest.sources.iter().enumerate() {
        digest(&format!("sources[{index}].sha256"), Some(&source.sha256))?;
    }
    for (index, declared) in manifest.runtimes.iter().enumerate() {
        runtime(&format!("runtimes[{index}]"), declared)?;
    }
    for (index, declared) in manifest.tools.iter().enumerate() {
        tool(&format!("tools[{index}]"), declared)?;
    }
    for (index, declared) in manifest.scripts.iter().enumerate() {
        script(&format!("scripts[{index}]"), declared)?;
    }
    Ok(())
}

fn runtime(at: &str, runtime: &Runtime) -> Check {
    qualified(&format!("{at}.id"), &runtime.id)?;
    limits(at, runtime)?;
    let resolver = &runtime.resolver.executables;
    for (index, declared) in resolver.iter().enumerate() {
        let at = format!("{at}.resolver.executables[{index}]");
        id(&format!("{at}.id"), &declared.id)?;
        digest(&format!("{at}.sha256"), declared.sha256.as_deref())?;
    }
    unique(
        &format!("{at}.resolver.executables"),
        resolver.iter().map(|it| it.id.as_str()),
    )?;
    for (index, backend) in runtime.backends.entries.iter().enumerate() {
        external(&format!("{at}.backends.entries[{index}]"), backend)?;
    }
    for (index, rule) in runtime.policy.rules.iter().enumerate() {
        let at = format!("{at}.policy.rules[{index}]");
        id(&format!("{at}.id"), &rule.id)?;
        matcher(&format!("{at}.matcher"), &rule.matcher)?;
    }
    let rules = runtime.policy.rules.iter().map(|rule| rule.id.as_str());
    unique(&format!("{at}.policy.rules"), rules)?;
    for (index, reviewer) in runtime.reviewers.entries.iter().enumerate() {
        if let Reviewer::Executable { hook, .. } = reviewer {
            self::hook(&format!("{at}.reviewers.entries[{index}].hook"), hook)?;
        }
    }
    for (index, interceptor) in runtime.interceptors.iter().enumerate() {
        let at = format!("{at}.interceptors[{index}]");
        id(&format!("{at}.id"), &interceptor.id)?;
        extension(&at, &interceptor.extension)?;
        if let Some(tree) = &interceptor.matcher {
            matcher(&format!("{at}.matcher"), tree)?;
        }
    }
    for (index, analyzer) in runtime.effect_analyzers.iter().enumerate() {
        let at = format!("{at}.effect_analyzers[{index}]");
        id(&format!("{at}.id"), &analyzer.id)?;
        extension(&at, &analyzer.extension)?;
    }
    match &runtime.audit.filter {
        Some(filter) => extension(&format!("{at}.audit.filter"), filter),
        None => Ok(()),
    }
}

fn limits(at: &str, runtime: &Runtime) -> Check {
    let limits = &runtime.limits;
    for (member, attribute, value) in [
        ("wall_time_ms", "wall_time", Some(limits.wall_time_ms)),
        ("idle_time_ms", "idle_time", limits.idle_time_ms),
        ("max_stdin_bytes", "max_stdin", Some(limits.max_stdin_bytes)),
        ("stdout_bytes", "stdout", Some(limits.stdout_bytes)),
        ("stderr_bytes", "stderr", Some(limits.stderr_bytes)),
        (
            "total_output_bytes",
            "total_output",
            Some(limits.total_output_bytes),
        ),
        ("memory_bytes", "memory", limits.memory_bytes),
        ("file_size_bytes", "file_size", limits.file_size_bytes),
        ("open_files", "open_files", limits.open_files),
    ] {
        let at = format!("{at}.limits.{member}");
        number(&at, value, &sections::LIMITS, attribute)?;
    }
    match limits.cpu_time_ms {
        Some(0) => Err(format!("{at}.limits.cpu_time_ms: 0 leaves no time at all")),
        _ => Ok(()),
    }
}

fn external(at: &str, backend: &Backend) -> Check {
    let Backend::External { sha256, atoms, .. } = backend else {
        return Ok(());
    };
    digest(&format!("{at}.sha256"), sha256.as_deref())?;
    let is_command = |atom: &Atom| matches!(atom, Atom::CommandArgv {});
    let commands = atoms.iter().filter(|atom| is_command(atom)).count();
    if commands == 1 && atoms.last().is_some_and(is_command) {
        Ok(())
    } else {
        Err(format!(
            "{at}.atoms: `command_argv` has to be there once, as the last one"
        ))
    }
}

fn matcher(at: &str, matcher: &Matcher) -> Check {
    let mut open = vec![(matcher, 1)];
    let mut nodes = 0;
    while let Some((matcher, depth)) = open.pop() {
        nodes += 1;
        if depth > chatmd_policy::matcher::MAX_MATCHER_DEPTH
            || nodes > chatmd_policy::matcher::MAX_MATCHER_NODES
        {
            return Err(format!(
                "{at}: the matchers are too many, or too deeply nested"
            ));
        }
        match matcher {
            Matcher::All { of } | Matcher::Any { of } if of.is_empty() => {
                return Err(format!("{at}: `all` or `any` holds no matcher"));
            }
            Matcher::All { of } | Matcher::Any { of } => {
                open.extend(of.iter().map(|inner| (inner, depth + 1)));
            }
            Matcher::Not { of } => open.push((of, depth + 1)),
            Matcher::Basename { value } if value.contains('/') || value.is_empty() => {
                return Err(format!("{at}: {} is no name of a program", quote(value)));
            }
            Matcher::ArgvPrefix { values } if values.is_empty() => {
                return Err(format!("{at}: `argv_prefix` has no value"));
            }
            Matcher::ArgumentContains { value } if value.is_empty() => {
                return Err(format!("{at}: every argument contains the empty text"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn extension(at: &str, extension: &Extension) -> Check {
    match extension {
        Extension::Executable { hook } => self::hook(&format!("{at}.hook"), hook),
        Extension::Chatml { .. } => Ok(()),
    }
}

fn hook(at: &str, hook: &Hook) -> Check {
    digest(&format!("{at}.sha256"), hook.sha256.as_deref())?;
    if hook.protocol != "shell-hook-json-v1" {
        let shown = quote(&hook.protocol);
        return Err(format!("{at}.protocol: {shown} is not known"));
    }
    if hook.timeout_ms == Some(0) {
        return Err(format!("{at}.timeout_ms: 0 leaves no time at all"));
    }
    let element = &extensions::REVIEWER;
    number(
        &format!("{at}.max_input_bytes"),
        Some(hook.max_input_bytes),
        element,
        "max_input",
    )?;
    number(
        &format!("{at}.max_output_bytes"),
        Some(hook.max_output_bytes),
        element,
        "max_output",
    )
}

fn tool(at: &str, tool: &Tool) -> Check {
    let name = &tool.name;
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(letter) {
        return Err(format!("{at}.name: {} is no name of a tool", quote(name)));
    }
    match &tool.mode {
        Mode::Fixed {
            program,
            executable_ref,
            model_arguments,
            ..
        } => {
            if program.is_some() == executable_ref.is_some() {
                return Err(format!("{at}.mode: a fixed command has one program"));
            }
            let at = format!("{at}.mode.model_arguments");
            for (attribute, value) in [
                ("min_count", model_arguments.min_count),
                ("max_count", model_arguments.max_count),
                ("max_item_bytes", model_arguments.max_item_bytes),
            ] {
                number(
                    &format!("{at}.{attribute}"),
                    Some(value),
                    &tools::ARGUMENTS,
                    attribute,
                )?;
            }
            if model_arguments.min_count > model_arguments.max_count {
                return Err(format!("{at}: the least number is above the greatest"));
            }
            Ok(())
        }
        Mode::Script {
            verification,
            max_source_bytes,
            ..
        } => {
            if verification != "sha256" {
                let shown = quote(verification);
                return Err(format!("{at}.mode.verification: {shown} is not known"));
            }
            let member = format!("{at}.mode.max_source_bytes");
            number(
                &member,
                Some(*max_source_bytes),
                &tools::SHELL_TOOL,
                "max_source_bytes",
            )
        }
        Mode::Structured {} | Mode::Chain {} | Mode::Raw { .. } => Ok(()),
    }
}

fn script(at: &str, script: &Script) -> Check {
    qualified(&format!("{at}.id"), &script.id)?;
    digest(&format!("{at}.sha256"), Some(&script.sha256))?;
    let limits = &script.limits;
    for (member, attribute, value) in [
        ("fuel", "fuel", limits.fuel),
        ("max_tasks", "max_tasks", limits.max_tasks),
        ("max_value_bytes", "max_value", limits.max_value_bytes),
        ("max_output_bytes", "max_output", limits.max_output_bytes),
        ("max_array_items", "max_array_items", limits.max_array_items),
        ("max_depth", "max_depth", limits.max_depth),
        ("wall_time_ms", "wall_time", limits.wall_time_ms),
    ] {
        let at = format!("{at}.limits.{member}");
        number(&at, Some(value), &document::SCRIPT, attribute)?;
    }
    Ok(())
}

/// A number within the bounds that an attribute of the schema has.
fn number(at: &str, value: Option<u64>, element: &Element, attribute: &str) -> Check {
    let mut attributes = element.attributes.iter();
    let bounds = attributes
        .find(|known| known.name == attribute)
        .and_then(|known| known.range);
    match (value, bounds) {
        (Some(value), Some((low, high))) if value < low || value > high => {
            let high = match high {
                u64::MAX => String::new(),
                high => format!(" and at most {high}"),
            };
            Err(format!("{at}: {value} is not at least {low}{high}"))
        }
        _ => Ok(()),
    }
}

fn digest(at: &str, value: Option<&str>) -> Check {
    let hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    match value {
        Some(text) if text.len() != 64 || !text.bytes().all(hex) => Err(format!(
            "{at}: {} is no digest of 64 lower-case hexadecimal digits",
            quote(text)
        )),
        _ => Ok(()),
    }
}

/// An id of a runtime or script, with the namespaces of its imports.
fn qualified(at: &str, text: &str) -> Check {
    if text.len() <= 512 && text.split(':').all(is_strict) {
        Ok(())
    } else {
        Err(format!("{at}: {} is no id", quote(text)))
    }
}

/// An id of an entry.
fn id(at: &str, text: &str) -> Check {
    let trimmed = text.trim() == text && !text.is_empty();
    if trimmed && text.len() <= 128 && !text.chars().any(char::is_control) {
        Ok(())
    } else {
        Err(format!("{at}: {} is no id", quote(text)))
    }
}

fn unique<'a>(at: &str, names: impl Iterator<Item = &'a str>) -> Check {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("{at}: {} is there twice", quote(name)));
        }
    }
    Ok(())
}
