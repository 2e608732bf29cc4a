//! Parts of a stage from the values of this crate.

use crate::capability::CapabilityFailure;
use crate::effect::{Effects, InnerText};

use super::{CapabilityFailureTrace, CapabilityTrace, EffectTrace, InnerTrace};

/// Effects with their origin.
pub fn effects_trace(effects: &Effects) -> Vec<EffectTrace> {
    effects
        .records()
        .iter()
        .map(|record| EffectTrace {
            effect: match &record.effect {
                crate::Effect::Unknown(_) => record.effect.to_string(),
                other => other.kind().as_str().to_owned(),
            },
            path: record.effect.path().map(str::to_owned),
            source: record.source.to_string(),
            rule: record.rule.to_string(),
        })
        .collect()
}

/// Inner commands; opaque text is only counted.
pub fn inner_trace(effects: &Effects) -> Vec<InnerTrace> {
    effects
        .inner()
        .iter()
        .map(|inner| {
            let (argv, opaque_bytes) = match &inner.text {
                InnerText::Argv(argv) => (Some(argv.clone()), None),
                InnerText::Opaque(text) => (None, Some(text.len())),
            };
            InnerTrace {
                argv,
                opaque_bytes,
                via: inner.via.clone(),
                depth: inner.depth,
            }
        })
        .collect()
}

/// The capability check with all its failures.
pub fn capability_trace(failures: &[CapabilityFailure]) -> CapabilityTrace {
    CapabilityTrace {
        ok: failures.is_empty(),
        failures: failures
            .iter()
            .map(|failure| CapabilityFailureTrace {
                kind: failure.kind.as_str().to_owned(),
                path: failure.path.clone(),
                reason: failure.to_string(),
                nearest_root: failure.nearest_root.clone(),
                span: None,
            })
            .collect(),
    }
}
