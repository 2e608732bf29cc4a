//! One call of an entry function with values given as JSON.

use chatml::EntryRequest;
use chatml::bridge::{Record, decode, decode_action, event_from_json, json_to_data};
use chatml::instance::{CallError, Instance, Lifecycle, Outcome, Script};
use chatml::limits::{Limits, Monotonic};
use chatml::snapshot;
use chatml::surface::Kind;
use chatml::value::data::Data;

use super::eval::{Failure, faulted, refused};
use super::source::Source;

const CODEC: &str = "shell.chatml_codec";
const STATE: &str = "chatml.task.invalid_state";

/// Calls the default entry function of a kind once, as a host does.
pub fn call(
    source: &Source,
    kind: Kind,
    event: &str,
    state: Option<&str>,
) -> Result<Outcome, Failure> {
    let limits = Limits::default();
    let script = Script::prepare(&source.text, kind, EntryRequest::Default, limits)
        .map_err(|found| refused(source, &found))?;
    let event = self::event(event, kind, &script.limits)?;
    let failed = |error: CallError| faulted(source, error.fault);
    let mut instance =
        Instance::start(script, Lifecycle::Session, &Monotonic::start()).map_err(failed)?;
    if let Some(state) = state {
        set_state(&mut instance, state)?;
    }
    let outcome = instance.call(&event, &Monotonic::start()).map_err(failed)?;
    decode_action(&outcome.action).map_err(|fault| faulted(source, fault))?;
    Ok(outcome)
}

fn event(json: &str, kind: Kind, limits: &Limits) -> Result<Data, Failure> {
    let outside = |code, message| Failure::Outside { code, message };
    let event = event_from_json(json, kind).map_err(|why| outside(CODEC, why.to_string()))?;
    if let Some(record) = Record::event_of(kind) {
        decode(record, &event, limits).map_err(|why| outside(why.code, why.to_string()))?;
    }
    Ok(event)
}

/// A state of the command line is checked like a stored one.
fn set_state(instance: &mut Instance, json: &str) -> Result<(), Failure> {
    let outside = |message| Failure::Outside {
        code: STATE,
        message,
    };
    let Some(ty) = instance.script().state.clone() else {
        return Err(outside("the type of the state is not known".to_owned()));
    };
    let state = json_to_data(json, &ty, "state").map_err(|why| outside(why.to_string()))?;
    instance
        .restore(&snapshot::encode(&state))
        .map_err(|why| outside(why.to_string()))
}
