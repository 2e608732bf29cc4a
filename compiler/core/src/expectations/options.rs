//! Options of tests (spec 12 section 2.3), read alike from directives and from sidecar files.

use std::ops::Range;

use chatmd_policy::EffectKind;
use chatmd_policy::symbolic::ProgramFact;

use super::fault::{Fault, list};
use crate::decl::PathExpr;
use crate::diagnostics::quote;
use crate::diagnostics::registry::{self, Level};
use crate::evaluation::Form;
use crate::lower::path_expression;
use crate::manifest::Platform;

/// Keys that take a value.
const KEYS: &[&str] = &[
    "as",
    "tool",
    "runtime",
    "rule",
    "stage",
    "layer",
    "code",
    "capability",
    "effects",
    "only_effects",
    "cwd",
    "stdin",
    "program",
    "env",
    "origin",
    "platform",
    "name",
    "skip",
];

/// Keys that stand alone.
const FLAGS: &[&str] = &["default", "scripts", "inherited"];

/// Every key.
pub(super) fn keys() -> Vec<&'static str> {
    KEYS.iter().chain(FLAGS).copied().collect()
}

/// Whether a key is one of the flags.
pub(super) fn is_flag(key: &str) -> bool {
    FLAGS.contains(&key)
}

/// Whether the value of a key is a list.
pub(super) fn is_list(key: &str) -> bool {
    matches!(key, "rule" | "effects" | "only_effects" | "platform")
}

/// An expected effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExpectedEffect {
    /// Its kind.
    pub kind: EffectKind,
    /// Its path, when that matters.
    pub path: Option<PathExpr>,
}

/// Everything that the options of a test say. Equal options are the same test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// How the text is read; absent: by the target.
    pub form: Option<Form>,
    /// Names the tool, as written.
    pub tool: Option<String>,
    /// Names the runtime, as written.
    pub runtime: Option<String>,
    /// Rules that must be among the deciding ones; for `match` and `no_match` the rule.
    pub rules: Vec<String>,
    /// No rule may have fired.
    pub default: bool,
    /// The one simple command that counts, from 1.
    pub stage: Option<usize>,
    /// Only the action of the policy counts.
    pub policy_only: bool,
    /// Code that the refusal must carry.
    pub code: Option<String>,
    /// Kind that the failing capability must have.
    pub capability: Option<EffectKind>,
    /// Effects that must be present.
    pub effects: Vec<ExpectedEffect>,
    /// The whole set of kinds, sorted.
    pub only_effects: Option<Vec<EffectKind>>,
    /// Working directory.
    pub cwd: Option<PathExpr>,
    /// Bytes of standard input; 0 is none.
    pub stdin: u64,
    /// How the program of the first stage resolves: a word of [`ProgramFact::parse`].
    pub program: Option<String>,
    /// Host variables.
    pub env: Vec<(String, String)>,
    /// Comes from the moderator.
    pub moderator: bool,
    /// Targets on which it runs.
    pub platforms: Vec<Platform>,
    /// The result depends on scripts by intent.
    pub scripts: bool,
    /// Repeated for every runtime that extends this one.
    pub inherited: bool,
    /// Shown instead of the text.
    pub name: Option<String>,
    /// Why it is not run.
    pub skip: Option<String>,
}

/// Where the keys of a set of options were written, in order.
pub(super) type Written = Vec<(String, Range<usize>)>;

impl Options {
    /// Whether two tests ask the same of the same target, whatever they are called.
    pub(super) fn same_request(&self) -> Self {
        Self {
            name: None,
            ..self.clone()
        }
    }

    /// Sets one option from its value; `at` is where the value stands.
    pub(super) fn set(&mut self, key: &str, value: &str, at: Range<usize>) -> Result<(), Fault> {
        let word = |words: &[&str]| {
            Fault::new(at.clone(), format!("`{key}` cannot be {}", quote(value)))
                .suggest(value, words)
        };
        match key {
            "as" => {
                let form = Form::ALL.into_iter().find(|form| form.as_str() == value);
                self.form = Some(form.ok_or_else(|| word(&Form::ALL.map(Form::as_str)))?);
            }
            "tool" => self.tool = Some(name(key, value, at)?),
            "runtime" => self.runtime = Some(name(key, value, at)?),
            "rule" => self.rules = names(key, value, at)?,
            "stage" => self.stage = Some(stage(value, at)?),
            "layer" => {
                self.policy_only = match value {
                    "final" => false,
                    "policy" => true,
                    _ => return Err(word(&["final", "policy"])),
                }
            }
            "code" => self.code = Some(code(value, at)?),
            "capability" => self.capability = Some(kind(key, value, at)?),
            "effects" => self.effects = effects(value, at)?,
            "only_effects" => {
                let mut kinds = Vec::new();
                for part in parts(value) {
                    kinds.push(kind(key, part, at.clone())?);
                }
                kinds.sort_unstable();
                kinds.dedup();
                self.only_effects = Some(kinds);
            }
            "cwd" => self.cwd = Some(path(value, at)?),
            "stdin" => {
                self.stdin = value.parse().map_err(|_| {
                    let message = format!("`stdin` is a number of bytes, not {}", quote(value));
                    Fault::new(at, message)
                })?;
            }
            "program" => {
                if ProgramFact::parse(value).is_none() {
                    return Err(program(value, at));
                }
                self.program = Some(value.to_owned());
            }
            "env" => self.env.push(variable(value, at)?),
            "origin" => {
                self.moderator = match value {
                    "tool" => false,
                    "moderator" => true,
                    _ => return Err(word(&["tool", "moderator"])),
                }
            }
            "platform" => {
                for part in parts(value) {
                    let platform = Platform::from_word(part).ok_or_else(|| {
                        let message = format!("{} is no platform", quote(part));
                        Fault::new(at.clone(), message).suggest(part, Platform::WORDS)
                    })?;
                    self.platforms.push(platform);
                }
                self.platforms.sort_unstable();
                self.platforms.dedup();
                if self.platforms.is_empty() {
                    return Err(Fault::new(at, "`platform` names no platform")
                        .hint(format!("known are {}", list(Platform::WORDS))));
                }
            }
            "name" => self.name = Some(name(key, value, at)?),
            "skip" => {
                if value.trim().is_empty() {
                    return Err(Fault::new(at, "`skip` needs a reason")
                        .hint("say why the test is not run, for example `skip='needs git 3'`"));
                }
                self.skip = Some(value.to_owned());
            }
            _ => return Err(unknown(key, at)),
        }
        Ok(())
    }

    /// Sets a flag.
    pub(super) fn set_flag(&mut self, key: &str) {
        match key {
            "default" => self.default = true,
            "scripts" => self.scripts = true,
            "inherited" => self.inherited = true,
            _ => {}
        }
    }
}

/// A key that does not exist.
pub(super) fn unknown(key: &str, at: Range<usize>) -> Fault {
    let keys = keys();
    Fault::new(at, format!("there is no option {}", quote(key))).suggest(key, &keys)
}

fn parts(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|p| !p.is_empty())
}

fn name(key: &str, value: &str, at: Range<usize>) -> Result<String, Fault> {
    match value.trim() {
        "" => Err(Fault::new(at, format!("`{key}` is empty"))),
        value => Ok(value.to_owned()),
    }
}

fn names(key: &str, value: &str, at: Range<usize>) -> Result<Vec<String>, Fault> {
    let mut found: Vec<String> = Vec::new();
    for part in parts(value) {
        if !found.iter().any(|known| known == part) {
            found.push(part.to_owned());
        }
    }
    match found.is_empty() {
        true => Err(Fault::new(at, format!("`{key}` is empty"))),
        false => Ok(found),
    }
}

fn stage(value: &str, at: Range<usize>) -> Result<usize, Fault> {
    match value.parse() {
        Ok(stage) if stage > 0 => Ok(stage),
        _ => {
            let message = format!("`stage` is a number from 1, not {}", quote(value));
            Err(Fault::new(at, message).hint("`stage=1` is the first simple command of a chain"))
        }
    }
}

fn code(value: &str, at: Range<usize>) -> Result<String, Fault> {
    let known = registry::entries().filter(|entry| entry.level == Level::Invocation);
    let words: Vec<&str> = known.map(|entry| entry.code).collect();
    if words.contains(&value) {
        return Ok(value.to_owned());
    }
    let fault = Fault::new(at, format!("no refusal has the code {}", quote(value)));
    let fault = fault.suggest(value, &words);
    Err(match fault.replace {
        Some(_) => fault,
        None => fault.hint("for example `capability_violation` or `shell.tool_chain_parse`"),
    })
}

fn kind(key: &str, value: &str, at: Range<usize>) -> Result<EffectKind, Fault> {
    let words = EffectKind::ALL.map(EffectKind::as_str);
    let found = EffectKind::ALL.into_iter().find(|k| k.as_str() == value);
    found.ok_or_else(|| {
        let message = format!("`{key}` names {}, which is no kind of effect", quote(value));
        Fault::new(at, message).suggest(value, &words)
    })
}

fn effects(value: &str, at: Range<usize>) -> Result<Vec<ExpectedEffect>, Fault> {
    let mut found = Vec::new();
    for part in parts(value) {
        let (word, written) = match part.split_once(':') {
            Some((word, written)) => (word, Some(written)),
            None => (part, None),
        };
        let kind = kind("effects", word, at.clone())?;
        let path = match written {
            Some(_) if !matches!(kind, EffectKind::ReadPath | EffectKind::WritePath) => {
                let message = format!("an effect `{word}` has no path");
                return Err(Fault::new(at, message).hint("only `read_path` and `write_path` do"));
            }
            Some(written) => Some(path(written, at.clone())?),
            None => None,
        };
        found.push(ExpectedEffect { kind, path });
    }
    match found.is_empty() {
        true => Err(Fault::new(at, "`effects` is empty")
            .hint("`only_effects=''` says that there is no effect at all")),
        false => Ok(found),
    }
}

fn path(value: &str, at: Range<usize>) -> Result<PathExpr, Fault> {
    path_expression(value).map_err(|message| Fault::new(at, message))
}

fn program(value: &str, at: Range<usize>) -> Fault {
    let words = [
        "trusted", "system", "local", "script", "setuid", "missing", "path:", "link:",
    ];
    let message = format!("`program` cannot be {}", quote(value));
    let fault = Fault::new(at, message).suggest(value, &words);
    match value.split_once(':') {
        Some(("path" | "link", _)) => fault.hint("the path must be absolute"),
        _ => fault,
    }
}

fn variable(value: &str, at: Range<usize>) -> Result<(String, String), Fault> {
    match value.split_once('=') {
        Some((name, value)) if !name.is_empty() && !name.contains(char::is_whitespace) => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(Fault::new(at, format!("`env` cannot be {}", quote(value)))
            .hint("write `env=NAME=VALUE`")),
    }
}
