//! The JSON input of a tool from the command line.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use crate::args::Run;
use crate::exit::{self, Stop};

/// Most bytes that are read for an input: the largest `max_stdin` of a document, its escapes, and
/// the rest of the object. The tool's own bound applies afterwards.
const MAX_INPUT: u64 = 512 << 20;

/// The payload for the tool.
pub fn payload(run: &Run) -> Result<Vec<u8>, Stop> {
    standard_input_is_read_once(run)?;
    let given = match (&run.positional_input, &run.input, &run.input_file) {
        (Some(text), _, _) | (None, Some(text), _) => text.clone().into_bytes(),
        (None, None, Some(file)) => read(file)?,
        (None, None, None) => b"{}".to_vec(),
    };
    let mut members = Vec::new();
    if let Some(file) = &run.stdin_file {
        let text = String::from_utf8(read(file)?).map_err(|_| {
            let shown = file.display();
            Stop::new(exit::FAILED, format!("chatmd: {shown} is not UTF-8 text"))
        })?;
        members.push(("stdin", "--stdin-file", text));
    }
    if let Some(text) = &run.rationale {
        members.push(("rationale", "--rationale", text.clone()));
    }
    with_members(given, &members)
}

/// The document, the input and the command's standard input may each be `-`, but only one of them.
fn standard_input_is_read_once(run: &Run) -> Result<(), Stop> {
    let readers = [
        (Some(run.document.as_path()), "the document"),
        (run.input_file.as_deref(), "--input-file"),
        (run.stdin_file.as_deref(), "--stdin-file"),
    ];
    let dash = |path: Option<&Path>| path == Some(Path::new("-"));
    let mut readers = readers.into_iter().filter(|(path, _)| dash(*path));
    match (readers.next(), readers.next()) {
        (Some((_, one)), Some((_, other))) => Err(Stop::usage(format!(
            "chatmd: standard input can not be read for both {one} and {other}"
        ))),
        _ => Ok(()),
    }
}

/// Adds members to the object as text, so that everything the caller wrote is validated as written.
fn with_members(given: Vec<u8>, members: &[(&str, &str, String)]) -> Result<Vec<u8>, Stop> {
    // What is no object is refused by the validation of the tool, in its own words.
    let Ok(object) = serde_json::from_slice::<Map<String, Value>>(&given) else {
        return Ok(given);
    };
    let Some(open) = given.iter().position(|byte| *byte == b'{') else {
        return Ok(given);
    };
    let (before, rest) = given.split_at(open + 1);
    let mut payload = before.to_vec();
    for (index, (name, option, value)) in members.iter().enumerate() {
        if object.contains_key(*name) {
            return Err(Stop::usage(format!(
                "chatmd: {option} and a member `{name}` of the input exclude each other"
            )));
        }
        if index > 0 {
            payload.push(b',');
        }
        let value = Value::String(value.clone());
        payload.extend_from_slice(format!("\"{name}\":{value}").as_bytes());
    }
    if !members.is_empty() && !object.is_empty() {
        payload.push(b',');
    }
    payload.extend_from_slice(rest);
    Ok(payload)
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let failed = |error: std::io::Error| {
        Stop::new(
            exit::IO,
            format!("chatmd: cannot read {}: {error}", path.display()),
        )
    };
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT + 1)
            .read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MAX_INPUT + 1).read_to_end(&mut bytes)
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > MAX_INPUT {
        let shown = path.display();
        return Err(Stop::new(
            exit::FAILED,
            format!("chatmd: {shown} is larger than any input"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn add(given: &str, members: &[(&str, &str, String)]) -> Result<String, Stop> {
        with_members(given.into(), members).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn members_are_added_and_the_rest_stays_as_written() {
        let stdin = ("stdin", "--stdin-file", "a\"b\n".to_owned());
        let why = ("rationale", "--rationale", "x".to_owned());
        let both = [stdin.clone(), why.clone()];
        assert_eq!(add("{}", &[]).unwrap(), "{}");
        assert_eq!(
            add("{}", &both).unwrap(),
            r#"{"stdin":"a\"b\n","rationale":"x"}"#
        );
        assert_eq!(
            add(r#" {"a":1, "a":2} "#, std::slice::from_ref(&why)).unwrap(),
            r#" {"rationale":"x","a":1, "a":2} "#
        );
        // Left for the validation.
        assert_eq!(add("[1]", &both).unwrap(), "[1]");
        assert_eq!(add("{", &both).unwrap(), "{");
        assert!(add(r#"{"rationale":""}"#, &[why]).is_err());
    }
}
