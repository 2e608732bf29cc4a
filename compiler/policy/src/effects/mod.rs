//! Effect inference: what a command may do, read from its words (spec 06 section 6).
//!
//! The tables are data: `precise` (6.4), `find` (6.4.1), `groups` and `sensitive` (6.5),
//! `git` and `tar` (rows of 6.5 with syntax of their own), `wrappers` (6.6). `select`
//! chooses between them (6.3). Whatever no table knows is arbitrary code.

mod apply;
mod collector;
mod find;
mod git;
mod global_options;
mod groups;
mod inner;
mod options;
mod precise;
#[cfg(test)]
mod reference;
mod select;
mod sensitive;
mod tables;
mod tar;
mod wrappers;

pub use global_options::global_options;

use crate::effect::{Effect, Effects};
use crate::facts::{CommandFacts, PolicyHost};
use crate::paths;

/// Effects and inner commands of one command, before any analyzer.
///
/// `direct`: the command may start without confinement, so links that `find` follows are not
/// judged by a sandbox. Costs time linear in the command text.
pub fn infer_effects(facts: &CommandFacts, host: &dyn PolicyHost, direct: bool) -> Effects {
    select::infer(facts, host, direct)
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
