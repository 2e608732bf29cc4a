//! What a command is, what it would do, and whether it may: pure functions over data.
//!
//! The way of one command: [`chain`] or [`input`] turn text into argv; the caller resolves the
//! program and fills [`facts::CommandFacts`]; [`effects::infer_effects`] says what it would do;
//! [`capability::check_capabilities`] compares that with the ceilings; [`decide::decide`] applies
//! the rules. Nothing here opens a file or knows the machine: the caller answers questions about
//! paths through [`facts::PolicyHost`].

pub mod bounds;
pub mod capability;
pub mod chain;
pub mod decide;
pub mod effect;
pub mod effects;
pub mod facts;
pub mod input;
pub mod matcher;
pub mod paths;
pub mod policy;
pub mod regex;
pub mod strict_json;
pub mod symbolic;
pub mod trace;
pub mod value;

pub use capability::{Capabilities, CapabilityFailure, check_capabilities};
pub use decide::{Decision, NoObserver, Observer, RuleEvaluation, decide};
pub use effect::{
    Effect, EffectKind, EffectRecord, EffectSource, Effects, InnerCommand, InnerText,
};
pub use effects::{global_options, infer_effects};
pub use facts::{CommandFacts, ExecutableFacts, Located, PathFault, PolicyHost, RequestKind};
pub use matcher::{
    DynamicMatch, DynamicMatchers, DynamicOutcome, Matcher, MatcherFailure, MatcherPath,
    ScriptsNotRun,
};
pub use policy::{CompiledPolicy, PolicyFault, PolicySource, RuleSource};
pub use value::{Action, Value};
