//! The bytes of an audit line (spec 08 sections 6.1 and 7.2).

use sha2::{Digest, Sha256};

use super::schema::{COMMAND, Level, event_schema};
use super::value::{Member, Value};
use crate::identity::hex;
use crate::output::Redactor;

/// The schema string of lines that are written.
pub(crate) const SCHEMA: &str = "chatmd-shell-audit-v1";

/// Longest line, in bytes.
const LINE_MAX: usize = 1024 * 1024;

/// What stands before the digest of a chained line.
pub(crate) const DIGEST_PREFIX: &[u8] = b",\"event_sha256\":\"";

/// The members 2 to 8 and the name.
#[derive(Clone, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) sequence: u64,
    /// Microseconds since the Unix epoch.
    pub(crate) micros: u64,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) runtime_id: &'a str,
    pub(crate) manifest_sha256: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) plan_id: Option<&'a str>,
    pub(crate) event: &'a str,
}

/// The last two members of a line in a chained file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chain<'a> {
    Unchained,
    After(Option<&'a str>),
}

/// A line with its LF, and its digest when chained.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    pub(crate) event_sha256: Option<String>,
}

/// Writes a line. Members are brought into the order of the specification, members with an unknown
/// name come last, sorted by name.
pub(crate) fn encode(
    envelope: &Envelope<'_>,
    members: &mut Vec<Member>,
    level: Level,
    chain: Chain<'_>,
    redactor: &Redactor,
) -> Line {
    order(envelope.event, members, level);
    redact(members, redactor);
    let mut body = write_body(envelope, members, chain, redactor);
    // The last suffix is 83 bytes long.
    while body.len() + 96 > LINE_MAX && shorten_longest(members) {
        body = write_body(envelope, members, chain, redactor);
    }
    let Chain::After(_) = chain else {
        body.extend_from_slice(b"}\n");
        return Line {
            bytes: body,
            event_sha256: None,
        };
    };
    let mut hash = Sha256::new();
    hash.update(&body);
    hash.update(b"}");
    let digest = hex(&hash.finalize());
    body.extend_from_slice(DIGEST_PREFIX);
    body.extend_from_slice(digest.as_bytes());
    body.extend_from_slice(b"\"}\n");
    Line {
        bytes: body,
        event_sha256: Some(digest),
    }
}

/// Position of a member; unknown ones behind all others.
fn rank(event: &str, name: &str) -> (usize, Option<Level>) {
    let own = event_schema(event).map_or(&[][..], |schema| schema.fields);
    let all = COMMAND
        .iter()
        .chain(own)
        .chain(&[("filter_failed", Level::Metadata)]);
    let mut count = 0;
    for (known, level) in all {
        if *known == name {
            return (count, Some(*level));
        }
        count += 1;
    }
    (count, None)
}

fn order(event: &str, members: &mut Vec<Member>, level: Level) {
    members.retain(|member| {
        rank(event, &member.name)
            .1
            .is_none_or(|wanted| wanted <= level)
    });
    members.sort_by(|a, b| {
        let ranks = rank(event, &a.name).0.cmp(&rank(event, &b.name).0);
        ranks.then_with(|| a.name.as_bytes().cmp(b.name.as_bytes()))
    });
}

/// Redacts and sanitises every text. Tokens that are there already are known by their text.
fn redact(members: &mut [Member], redactor: &Redactor) {
    let clean = |text: &mut String| {
        *text = redactor
            .finalise_again(text, usize::MAX, true)
            .text
            .into_string();
    };
    for member in members {
        match &mut member.value {
            Value::Text(text) => clean(text),
            Value::Texts(list) => list.iter_mut().for_each(clean),
            Value::Outcomes(list) => list.iter_mut().for_each(|(id, outcome)| {
                clean(id);
                clean(outcome);
            }),
            _ => {}
        }
    }
}

/// Replaces the longest text by its length; false when none is worth replacing.
fn shorten_longest(members: &mut [Member]) -> bool {
    const WORTH: usize = 64;
    let longest = members
        .iter_mut()
        .max_by_key(|member| member.value.text_len());
    let Some(member) = longest.filter(|member| member.value.text_len() > WORTH) else {
        return false;
    };
    let marker = format!("<truncated {} bytes>", member.value.text_len());
    member.value = match &member.value {
        Value::Text(_) => Value::word(marker),
        _ => Value::Words(vec![marker.into()]),
    };
    true
}

/// The object without its closing brace.
fn write_body(
    envelope: &Envelope<'_>,
    members: &[Member],
    chain: Chain<'_>,
    redactor: &Redactor,
) -> Vec<u8> {
    let mut out = Writer {
        bytes: Vec::with_capacity(512),
        redactor,
    };
    out.bytes.extend_from_slice(b"{\"schema_version\":\"");
    out.bytes.extend_from_slice(SCHEMA.as_bytes());
    out.bytes.extend_from_slice(b"\"");
    out.member("sequence", &Value::Int(envelope.sequence));
    out.member("timestamp", &Value::Micros(envelope.micros));
    out.member("session_id", &Value::optional_word(envelope.session_id));
    out.member("runtime_id", &Value::word(envelope.runtime_id.to_owned()));
    out.member(
        "manifest_sha256",
        &Value::word(envelope.manifest_sha256.to_owned()),
    );
    out.member("request_id", &Value::word(envelope.request_id.to_owned()));
    out.member("plan_id", &Value::optional_word(envelope.plan_id));
    out.member("event", &Value::word(envelope.event.to_owned()));
    for member in members {
        out.member(&member.name, &member.value);
    }
    if let Chain::After(previous) = chain {
        out.member("previous_event_sha256", &Value::optional_word(previous));
    }
    out.bytes
}

struct Writer<'a> {
    bytes: Vec<u8>,
    redactor: &'a Redactor,
}

impl Writer<'_> {
    fn member(&mut self, name: &str, value: &Value) {
        self.bytes.push(b',');
        self.word(name);
        self.bytes.push(b':');
        self.value(value);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.raw("null"),
            Value::Bool(true) => self.raw("true"),
            Value::Bool(false) => self.raw("false"),
            Value::Int(number) => self.raw(&number.to_string()),
            Value::Signed(number) => self.raw(&number.to_string()),
            Value::Micros(micros) => {
                self.raw(&format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000));
            }
            Value::Seconds(ms) if ms % 1000 == 0 => self.raw(&(ms / 1000).to_string()),
            Value::Seconds(ms) => self.raw(&format!("{}.{:03}", ms / 1000, ms % 1000)),
            Value::Word(word) => self.word(word),
            Value::Text(text) => self.text(text),
            Value::Words(list) => self.list(list, |out, word| out.word(word)),
            Value::Texts(list) => self.list(list, |out, text| out.text(text)),
            Value::Outcomes(list) => self.list(list, |out, (id, outcome)| {
                out.raw("{\"id\":");
                out.text(id);
                out.raw(",\"outcome\":");
                out.text(outcome);
                out.raw("}");
            }),
        }
    }

    fn list<T>(&mut self, list: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.raw("[");
        for (index, value) in list.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            item(self, value);
        }
        self.raw("]");
    }

    fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn word(&mut self, word: &str) {
        self.raw("\"");
        crate::output::json_escape_into(word.as_bytes(), &mut self.bytes);
        self.raw("\"");
    }

    /// A text, with the redaction of section 6.4 over the serialized value.
    fn text(&mut self, text: &str) {
        self.raw("\"");
        self.redactor.json_string_into(text, &mut self.bytes);
        self.raw("\"");
    }
}
