//! Where the analyses put what they find: effects with resolved paths, and a queue of inner
//! commands, all bounded.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::chain;
use crate::effect::{Effect, EffectRecord, EffectSource, Effects, InnerCommand, InnerText};
use crate::facts::PolicyHost;
use crate::paths;

use super::groups::Basic;

/// Deepest nesting of inner commands (spec 06 section 6.6).
const MAX_DEPTH: u8 = 4;
/// Most inner commands of one command. What lies beyond is matched as opaque text.
const MAX_INNER: usize = 256;

/// An inner command that waits for its analysis.
pub(super) struct Pending {
    pub(super) argv: Vec<String>,
    pub(super) cwd: String,
    pub(super) depth: u8,
    /// Its effects count; otherwise it only takes part in matching.
    pub(super) effective: bool,
}

pub(super) struct Collector<'a> {
    pub(super) host: &'a dyn PolicyHost,
    pub(super) direct: bool,
    pub(super) environment: &'a BTreeMap<String, String>,
    /// Directory of the command under analysis.
    pub(super) cwd: String,
    pub(super) depth: u8,
    /// Effects of the command under analysis count.
    pub(super) effective: bool,
    effects: Effects,
    resolved: HashMap<String, Option<String>>,
    queue: VecDeque<Pending>,
    known: HashSet<(Vec<String>, String, bool)>,
    overflow: bool,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        host: &'a dyn PolicyHost,
        direct: bool,
        environment: &'a BTreeMap<String, String>,
        cwd: &str,
    ) -> Self {
        Self {
            host,
            direct,
            environment,
            cwd: cwd.to_owned(),
            depth: 0,
            effective: true,
            effects: Effects::new(),
            resolved: HashMap::new(),
            queue: VecDeque::new(),
            known: HashSet::new(),
            overflow: false,
        }
    }

    pub(super) fn effect(&mut self, effect: Effect, rule: impl Into<Cow<'static, str>>) {
        if self.effective {
            let source = if self.depth == 0 {
                EffectSource::Builtin
            } else {
                EffectSource::Inner
            };
            self.effects.push(EffectRecord {
                effect,
                source,
                rule: rule.into(),
            });
        }
    }

    pub(super) fn basic(&mut self, basic: Basic, name: &str, rule: &'static str) {
        match basic {
            Basic::Code => self.effect(Effect::ArbitraryCode, rule),
            Basic::Children => self.effect(Effect::ChildProcesses, rule),
            Basic::Network => self.effect(Effect::Network, rule),
            Basic::Privilege => self.effect(Effect::PrivilegeChange, rule),
            Basic::ReadCwd => self.read("", rule),
            Basic::WriteCwd => self.write("", rule),
            Basic::Unknown(reason) => self.unknown(reason, rule),
            Basic::Fallback => self.fallback(name),
        }
    }

    /// F of spec 06 section 6.2.
    pub(super) fn fallback(&mut self, name: &str) {
        self.effect(Effect::ArbitraryCode, "fallback");
        self.effect(Effect::ChildProcesses, "fallback");
        self.unknown(format!("no effect specification for {name}"), "fallback");
    }

    /// An option that makes the program run another one.
    pub(super) fn runs_program(&mut self, name: &str, option: &str, rule: &'static str) {
        self.effect(Effect::ArbitraryCode, rule);
        self.effect(Effect::ChildProcesses, rule);
        self.unknown(format!("{name} {option} runs a program"), rule);
    }

    pub(super) fn unknown(
        &mut self,
        reason: impl Into<String>,
        rule: impl Into<Cow<'static, str>>,
    ) {
        self.effect(Effect::Unknown(reason.into()), rule);
    }

    /// Reads `path`, taken relative to the current directory.
    pub(super) fn read(&mut self, path: &str, rule: &'static str) {
        if let Some(path) = self.resolve(path, rule) {
            self.effect(Effect::Read(path), rule);
        }
    }

    /// The same for a reader's operand: `-` is standard input.
    pub(super) fn read_operand(&mut self, path: &str, rule: &'static str) {
        if path != "-" {
            self.read(path, rule);
        }
    }

    /// Writes `path`, taken relative to the current directory.
    pub(super) fn write(&mut self, path: &str, rule: &'static str) {
        if let Some(path) = self.resolve(path, rule) {
            self.effect(Effect::Write(path), rule);
        }
    }

    fn resolve(&mut self, path: &str, rule: &'static str) -> Option<String> {
        if !self.effective {
            return None;
        }
        let path = paths::join(&self.cwd, path);
        if paths::is_pseudo_device(&path) {
            return Some(path);
        }
        let resolved = match self.resolved.get(&path) {
            Some(known) => known.clone(),
            None => {
                let resolved = self.host.canonical_or_parent(&path).ok();
                self.resolved.insert(path.clone(), resolved.clone());
                resolved
            }
        };
        if resolved.is_none() {
            self.unknown("unresolvable path", rule);
        }
        Some(resolved.unwrap_or(path))
    }

    /// Queues an inner argv of the command under analysis.
    pub(super) fn inner(&mut self, via: &str, argv: Vec<String>) {
        let cwd = self.cwd.clone();
        self.inner_in(via, argv, cwd, self.effective);
    }

    /// Queues an inner argv that starts in `cwd`.
    pub(super) fn inner_in(&mut self, via: &str, argv: Vec<String>, cwd: String, effective: bool) {
        if argv.first().is_none_or(String::is_empty) {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.unknown("nested wrappers", "wrapper.depth");
            self.opaque(via, argv.join(" "));
            return;
        }
        if self.effects.inner().len() >= MAX_INNER {
            self.overflow = true;
            return;
        }
        if !self.known.insert((argv.clone(), cwd.clone(), effective)) {
            return;
        }
        self.effects.push_inner(InnerCommand {
            text: InnerText::Argv(argv.clone()),
            via: via.to_owned(),
            depth: self.depth + 1,
            cwd: cwd.clone(),
        });
        self.queue.push_back(Pending {
            argv,
            cwd,
            depth: self.depth + 1,
            effective,
        });
    }

    /// Adds program text that is not parsed.
    pub(super) fn opaque(&mut self, via: &str, text: String) {
        if text.is_empty() {
            return;
        }
        if self.effects.inner().len() >= MAX_INNER {
            self.overflow = true;
            return;
        }
        self.effects.push_inner(InnerCommand {
            text: InnerText::Opaque(text),
            via: via.to_owned(),
            depth: (self.depth + 1).min(MAX_DEPTH),
            cwd: self.cwd.clone(),
        });
    }

    /// Shell source: each command of the chain, or one opaque inner command. `parameters` are the
    /// words after it, which opaque source may use as `$0`, `$1`, ….
    pub(super) fn shell_text(&mut self, via: &str, text: &str, parameters: &[String]) {
        match chain::parse(text) {
            Ok(chain) => {
                for argv in chain
                    .pipelines
                    .into_iter()
                    .flat_map(|pipeline| pipeline.stages)
                {
                    self.inner(via, argv);
                }
            }
            Err(_) => {
                let mut text = text.to_owned();
                for parameter in parameters {
                    text.push(' ');
                    text.push_str(parameter);
                }
                self.opaque(via, text);
            }
        }
    }

    pub(super) fn next_inner(&mut self) -> Option<Pending> {
        self.queue.pop_front()
    }

    /// Ends the collection. `whole`: text of the outer command, matched as opaque when there were
    /// too many inner commands to look at.
    pub(super) fn finish(mut self, whole: impl FnOnce() -> String) -> Effects {
        if self.overflow {
            self.effective = true;
            self.unknown("too many inner commands", "wrapper.count");
            let text = whole();
            self.effects.push_inner(InnerCommand {
                text: InnerText::Opaque(text),
                via: "overflow".to_owned(),
                depth: 1,
                cwd: self.cwd.clone(),
            });
        }
        self.effects
    }
}
