//! What a command may do: effect values, sets and inner commands (spec 06 sections 6.1, 6.6, 6.7).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::paths::join;

/// Effect kinds under the names that matchers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EffectKind {
    ReadPath,
    WritePath,
    Network,
    ChildProcesses,
    ArbitraryCode,
    PrivilegeChange,
    Unknown,
}

impl EffectKind {
    /// Every kind, in the order of the specification.
    pub const ALL: [Self; 7] = [
        Self::ReadPath,
        Self::WritePath,
        Self::Network,
        Self::ChildProcesses,
        Self::ArbitraryCode,
        Self::PrivilegeChange,
        Self::Unknown,
    ];

    /// Matcher name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadPath => "read_path",
            Self::WritePath => "write_path",
            Self::Network => "network",
            Self::ChildProcesses => "child_processes",
            Self::ArbitraryCode => "arbitrary_code",
            Self::PrivilegeChange => "privilege_change",
            Self::Unknown => "unknown",
        }
    }
}

/// One effect. `Display` prints the string form of spec 06 section 6.1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Reads the absolute path.
    Read(String),
    /// Writes, creates or removes the absolute path.
    Write(String),
    /// Uses the network.
    Network,
    /// Starts other processes.
    ChildProcesses,
    /// Runs code that this analysis does not see.
    ArbitraryCode,
    /// Changes privileges, ownership or system state.
    PrivilegeChange,
    /// Something the analysis cannot name; carries the reason.
    Unknown(String),
}

impl Effect {
    /// Kind of the effect.
    pub const fn kind(&self) -> EffectKind {
        match self {
            Self::Read(_) => EffectKind::ReadPath,
            Self::Write(_) => EffectKind::WritePath,
            Self::Network => EffectKind::Network,
            Self::ChildProcesses => EffectKind::ChildProcesses,
            Self::ArbitraryCode => EffectKind::ArbitraryCode,
            Self::PrivilegeChange => EffectKind::PrivilegeChange,
            Self::Unknown(_) => EffectKind::Unknown,
        }
    }

    /// Path of a path effect.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Read(path) | Self::Write(path) => Some(path),
            _ => None,
        }
    }

    /// Decodes the string form that an extension returned. A relative path is joined with `cwd`
    /// (not canonicalised: see [`Effects::append`]); an empty path is an error.
    pub fn decode(text: &str, cwd: &str) -> Result<Self, EmptyEffectPath> {
        let path = |path: &str| {
            if path.is_empty() {
                Err(EmptyEffectPath)
            } else {
                Ok(join(cwd, path))
            }
        };
        Ok(match text {
            "network" => Self::Network,
            "child_processes" => Self::ChildProcesses,
            "arbitrary_code" => Self::ArbitraryCode,
            "privilege_change" => Self::PrivilegeChange,
            _ => {
                if let Some(rest) = text.strip_prefix("read:") {
                    Self::Read(path(rest)?)
                } else if let Some(rest) = text.strip_prefix("write:") {
                    Self::Write(path(rest)?)
                } else {
                    Self::Unknown(text.strip_prefix("unknown:").unwrap_or(text).to_owned())
                }
            }
        })
    }
}

/// An extension named a path effect without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyEffectPath;

impl fmt::Display for EmptyEffectPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an effect has an empty path")
    }
}

impl std::error::Error for EmptyEffectPath {}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(out, "read:{path}"),
            Self::Write(path) => write!(out, "write:{path}"),
            Self::Unknown(reason) => write!(out, "unknown:{reason}"),
            other => out.write_str(other.kind().as_str()),
        }
    }
}

/// Who found an effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EffectSource {
    /// The tables of this crate, for the command itself.
    Builtin,
    /// The tables of this crate, for a command that the command starts.
    Inner,
    /// The effect analyzer of that id.
    Analyzer(String),
}

impl fmt::Display for EffectSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => out.write_str("builtin"),
            Self::Inner => out.write_str("inner"),
            Self::Analyzer(id) => write!(out, "analyzer:{id}"),
        }
    }
}

/// An effect with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EffectRecord {
    /// The effect.
    pub effect: Effect,
    /// Who found it.
    pub source: EffectSource,
    /// Row of spec 06 section 6, for instance `git.push`, `fallback`, `wrapper.env`.
    pub rule: Cow<'static, str>,
}

/// A command that the outer command will start, as far as it can be read statically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerCommand {
    /// Its words, or the text of an opaque one.
    pub text: InnerText,
    /// Name of the wrapper it was taken from.
    pub via: String,
    /// 1 for a command that the outer command starts itself.
    pub depth: u8,
    /// Directory it starts in (differs from the outer one after `env -C`).
    pub cwd: String,
}

/// Content of an inner command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InnerText {
    /// Program and arguments; never empty.
    Argv(Vec<String>),
    /// Program text in a form that is not parsed.
    Opaque(String),
}

/// Ordered set of effects (first occurrence kept) and the inner commands found on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    records: Vec<EffectRecord>,
    seen: HashSet<Effect>,
    /// Bit per kind that is present.
    kinds: u8,
    inner: Vec<InnerCommand>,
    pinned: Vec<EffectRecord>,
}

impl Effects {
    /// No effect and no inner command.
    pub fn new() -> Self {
        Self::default()
    }

    /// The effects in order.
    pub fn records(&self) -> &[EffectRecord] {
        &self.records
    }

    /// The effects in order, without their origin.
    pub fn iter(&self) -> impl Iterator<Item = &Effect> {
        self.records.iter().map(|record| &record.effect)
    }

    /// Inner commands in the order in which they were found.
    pub fn inner(&self) -> &[InnerCommand] {
        &self.inner
    }

    /// Whether some effect has this kind.
    pub fn has(&self, kind: EffectKind) -> bool {
        self.kinds & (1 << kind as u8) != 0
    }

    /// Distinct kinds, sorted.
    pub fn kinds(&self) -> Vec<EffectKind> {
        let mut kinds: Vec<_> = self.iter().map(Effect::kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Adds an effect unless it is present.
    pub fn push(&mut self, record: EffectRecord) {
        if self.seen.insert(record.effect.clone()) {
            self.kinds |= 1 << record.effect.kind() as u8;
            self.records.push(record);
        }
    }

    pub(crate) fn push_inner(&mut self, inner: InnerCommand) {
        self.inner.push(inner);
    }

    /// Fixes the effects that no analyzer may remove (spec 06 section 6.7): `pinned` chooses.
    pub(crate) fn pin(&mut self, pinned: impl Fn(&EffectRecord) -> bool) {
        self.pinned = self
            .records
            .iter()
            .filter(|record| pinned(record))
            .cloned()
            .collect();
    }

    /// Analyzer outcome `add`: appends. Path effects must be canonical already
    /// ([`crate::effects::canonical_effect`] does it).
    pub fn append(&mut self, analyzer: &str, effects: impl IntoIterator<Item = Effect>) {
        for effect in effects {
            self.push(EffectRecord {
                effect,
                source: EffectSource::Analyzer(analyzer.to_owned()),
                rule: Cow::Borrowed("analyzer"),
            });
        }
    }

    /// Analyzer outcome `replace` of an analyzer that declares `replace="true"`. Pinned effects
    /// come back with [`Effects::finish`].
    pub fn replace(&mut self, analyzer: &str, effects: impl IntoIterator<Item = Effect>) {
        self.records.clear();
        self.seen.clear();
        self.kinds = 0;
        self.append(analyzer, effects);
    }

    /// Analyzer failure: adds an unknown effect that later analyzers cannot remove.
    pub fn fail(&mut self, analyzer: &str, text: &str) {
        let record = EffectRecord {
            effect: Effect::Unknown(format!("analyzer failed: {text}")),
            source: EffectSource::Analyzer(analyzer.to_owned()),
            rule: Cow::Borrowed("analyzer"),
        };
        self.pinned.push(record.clone());
        self.push(record);
    }

    /// After all analyzers: puts back what none of them may remove.
    pub fn finish(&mut self) {
        for record in std::mem::take(&mut self.pinned) {
            self.push(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builtin(effect: Effect, rule: &'static str) -> EffectRecord {
        EffectRecord {
            effect,
            source: EffectSource::Builtin,
            rule: Cow::Borrowed(rule),
        }
    }

    fn texts(effects: &Effects) -> Vec<String> {
        effects.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn decoding_of_extension_strings() {
        for (text, expected) in [
            ("network", Ok(Effect::Network)),
            ("read:a", Ok(Effect::Read("/ws/a".to_owned()))),
            ("write:/a", Ok(Effect::Write("/a".to_owned()))),
            ("read:", Err(EmptyEffectPath)),
            ("unknown:why", Ok(Effect::Unknown("why".to_owned()))),
            ("teleport", Ok(Effect::Unknown("teleport".to_owned()))),
        ] {
            assert_eq!(Effect::decode(text, "/ws"), expected, "{text}");
        }
    }

    #[test]
    fn analyzers_cannot_remove_what_is_pinned() {
        let mut effects = Effects::new();
        effects.push(builtin(Effect::PrivilegeChange, "group"));
        effects.push(builtin(Effect::Network, "group"));
        effects.push(builtin(Effect::Network, "again"));
        effects.pin(|record| record.effect == Effect::PrivilegeChange);
        effects.append("one", [Effect::ChildProcesses]);
        effects.fail("two", "crashed");
        effects.replace("three", [Effect::Read("/a".to_owned())]);
        assert_eq!(texts(&effects), ["read:/a"]);
        assert!(!effects.has(EffectKind::Network));
        effects.finish();
        assert_eq!(
            texts(&effects),
            [
                "read:/a",
                "privilege_change",
                "unknown:analyzer failed: crashed"
            ]
        );
        assert_eq!(effects.records()[0].source.to_string(), "analyzer:three");
        assert!(effects.has(EffectKind::PrivilegeChange));
    }
}
