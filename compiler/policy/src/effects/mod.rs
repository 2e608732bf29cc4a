//! Effect inference (spec 06 section 6).

use std::borrow::Cow;

use crate::effect::{Effect, EffectRecord, EffectSource, Effects};
use crate::facts::{CommandFacts, PolicyHost};
use crate::paths;

/// Effects and inner commands of one command. `direct`: it may start without confinement.
pub fn infer_effects(facts: &CommandFacts, _host: &dyn PolicyHost, _direct: bool) -> Effects {
    let mut effects = Effects::new();
    let name = paths::basename(facts.program());
    for effect in [
        Effect::ArbitraryCode,
        Effect::ChildProcesses,
        Effect::Unknown(format!("no effect specification for {name}")),
    ] {
        effects.push(EffectRecord {
            effect,
            source: EffectSource::Builtin,
            rule: Cow::Borrowed("fallback"),
        });
    }
    effects
}

/// An effect of an extension with its path resolved as built-in ones are; the second effect, if
/// any, says that the path cannot be resolved.
pub fn canonical_effect(effect: Effect, host: &dyn PolicyHost) -> (Effect, Option<Effect>) {
    let resolve = |path: String| {
        if paths::is_pseudo_device(&path) {
            return (path, None);
        }
        match host.canonical_or_parent(&path) {
            Ok(path) => (path, None),
            Err(_) => (path, Some(Effect::Unknown("unresolvable path".to_owned()))),
        }
    };
    match effect {
        Effect::Read(path) => {
            let (path, unknown) = resolve(path);
            (Effect::Read(path), unknown)
        }
        Effect::Write(path) => {
            let (path, unknown) = resolve(path);
            (Effect::Write(path), unknown)
        }
        other => (other, None),
    }
}
