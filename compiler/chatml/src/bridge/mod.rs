//! Values between host and script: versioned records with exact fields, actions with their bounds, and
//! the JSON that stands for values (spec 05b sections 4 and 5, spec 07 sections 3 and 4).

mod action;
mod codec;
mod event;
mod json;
mod response;
mod schema;

#[cfg(test)]
mod tests;

pub use action::{Action, Effect, decode_action};
pub use codec::{CodecError, decode};
pub use event::{
    AuditEvent, AuditField, Capabilities, CommandResult, Executable, Policy, PolicyMatch,
    ShellContext,
};
pub use json::{JsonMismatch, data_to_json, event_from_json, json_to_data};
pub use response::{Approval, AuditResponse, EffectResponse, Interception, ResultResponse};
pub use schema::Record;
