//! From the input stream to whole, well-formed messages.
//!
//! A thread of its own reads frames and hands on only what the framework can decode: a body that
//! is no message is answered here, a broken header ends the session, and `exit` ends it even when
//! nothing else moves any more.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use tokio::sync::mpsc;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

use super::life::{self, End};
use super::log::Log;
use super::output::Output;

/// Longest header of a message, in bytes.
const MAX_HEADER: u64 = 8 << 10;
/// Longest body of a message, in bytes.
const MAX_BODY: u64 = 128 << 20;

/// How long an answer waits for room in the output queue.
const ROOM_LIMIT: Duration = Duration::from_secs(1);

/// Why the stream can not be read on.
#[derive(Debug, PartialEq, Eq)]
enum Broken {
    /// It ended between two messages.
    Closed,
    /// What follows can not be trusted.
    Bad(&'static str),
}

/// Reads until the stream or the session ends, then says how the process ends.
pub fn read(
    input: impl Read,
    frames: &mpsc::Sender<Vec<u8>>,
    output: &Output,
    end: &End,
    log: &Log,
) {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut session = Session::default();
    loop {
        let body = match read_frame(&mut input) {
            Ok(body) => body,
            Err(Broken::Closed) => {
                log.info("the input is closed");
                return end.with(life::FAILED);
            }
            Err(Broken::Bad(why)) => {
                log.error(&format!("the input stream is broken: {why}"));
                return end.with(life::FAILED);
            }
        };
        let next = match inspect(&body) {
            // The framework is silent about these; a request must have an answer all the same.
            Ok(Message::Request(method, Some(id))) if method.starts_with("$/") => {
                respond(output, id, Error::method_not_found(), log);
                continue;
            }
            Ok(Message::Request(method, _)) => session.step(&method),
            Ok(Message::Response) => None,
            Err(error) => {
                log.warn(&format!("a message was not understood: {}", error.message));
                respond(output, Id::Null, error, log);
                continue;
            }
        };
        if frames.blocking_send(framed(&body)).is_err() {
            return end.with(life::FAILED);
        }
        if let Some(code) = next {
            return end.with(code);
        }
    }
}

/// What decides the exit code.
#[derive(Default)]
struct Session {
    initialized: bool,
    shut_down: bool,
}

impl Session {
    /// The exit code, if the message ends the session.
    fn step(&mut self, method: &str) -> Option<u8> {
        match method {
            "initialize" => self.initialized = true,
            "shutdown" => self.shut_down |= self.initialized,
            "exit" if self.shut_down => return Some(life::OK),
            "exit" => return Some(life::FAILED),
            _ => {}
        }
        None
    }
}

/// What a message is.
#[derive(Debug, PartialEq)]
enum Message {
    /// A request or, without an id, a notification.
    Request(String, Option<Id>),
    /// The answer of the client to a request of the server.
    Response,
}

/// What a message is; or why it is none.
fn inspect(body: &[u8]) -> Result<Message, Error> {
    // The types that the framework decodes to: what passes here passes there.
    if let Ok(request) = serde_json::from_slice::<Request>(body)
        && !request.method().is_empty()
    {
        let id = request.id().cloned();
        return Ok(Message::Request(request.method().to_owned(), id));
    }
    if serde_json::from_slice::<Response>(body).is_ok() {
        return Ok(Message::Response);
    }
    Err(
        match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
            Ok(_) if std::str::from_utf8(body).is_ok() => Error::invalid_request(),
            _ => Error::parse_error(),
        },
    )
}

/// Answers past the framework. A client that sends nonsense and does not read is waited for, and not
/// for ever: its `exit` has to be seen.
fn respond(output: &Output, id: Id, error: Error, log: &Log) {
    let response = Response::from_error(id, error);
    if let Ok(body) = serde_json::to_vec(&response)
        && !output.push_within(framed(&body), ROOM_LIMIT)
    {
        log.warn("an answer was dropped: the client does not read");
    }
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

fn read_frame(input: &mut impl BufRead) -> Result<Vec<u8>, Broken> {
    let length = read_header(input)?;
    if length > MAX_BODY {
        return Err(Broken::Bad("a message is longer than 128 MiB"));
    }
    // Grows with what arrives, not with what was announced.
    let mut body = Vec::new();
    match input.take(length).read_to_end(&mut body) {
        Ok(read) if read as u64 == length => Ok(body),
        _ => Err(Broken::Bad("it ends inside a message")),
    }
}

fn read_header(input: &mut impl BufRead) -> Result<u64, Broken> {
    let mut left = MAX_HEADER;
    let mut length = None;
    let mut first = true;
    loop {
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(left)
            .read_until(b'\n', &mut line)
            .map_err(|_| Broken::Bad("it can not be read"))?;
        if read == 0 && first {
            return Err(Broken::Closed);
        }
        if line.last() != Some(&b'\n') {
            return Err(Broken::Bad("a header is too long or incomplete"));
        }
        first = false;
        left -= read as u64;
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return length.ok_or(Broken::Bad("a message has no Content-Length"));
        }
        if let Some(value) = field(line, b"content-length") {
            let value = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
            length = Some(value.ok_or(Broken::Bad("a Content-Length is no number"))?);
        }
    }
}

/// The value of a header field of that name, in any case.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (key, value) = line.split_at_checked(colon)?;
    key.trim_ascii()
        .eq_ignore_ascii_case(name)
        .then(|| value.get(1..).unwrap_or_default().trim_ascii())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn frame(bytes: &[u8]) -> Result<Vec<u8>, Broken> {
        read_frame(&mut BufReader::new(bytes))
    }

    #[test]
    fn frames() {
        assert_eq!(
            frame(b"content-length: 2\r\nX: y\r\n\r\n{}").unwrap(),
            b"{}"
        );
        assert_eq!(frame(b""), Err(Broken::Closed));
        for bad in [
            &b"Content-Length: 5\r\n\r\n{}"[..],
            b"Content-Length: 134217729\r\n\r\n",
            b"Content-Length: 99999999999999999999999\r\n\r\n",
            b"Content-Length: -1\r\n\r\n",
            b"X: y\r\n\r\n{}",
            b"Content-Length: 2",
        ] {
            assert!(matches!(frame(bad), Err(Broken::Bad(_))), "{bad:?}");
        }
        let long = format!("X: {}\r\n\r\n", "y".repeat(9 << 10));
        assert!(matches!(frame(long.as_bytes()), Err(Broken::Bad(_))));
    }

    #[test]
    fn messages() {
        for (body, expected) in [
            (
                &br#"{"jsonrpc":"2.0","method":"a"}"#[..],
                Ok(Message::Request("a".to_owned(), None)),
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"result":null}"#,
                Ok(Message::Response),
            ),
            (b"{", Err(Error::parse_error())),
            (b"", Err(Error::parse_error())),
            (b"\"\xff\"", Err(Error::parse_error())),
            (b"[]", Err(Error::invalid_request())),
            (b"{}", Err(Error::invalid_request())),
            (
                br#"{"jsonrpc":"1.0","method":"a"}"#,
                Err(Error::invalid_request()),
            ),
            (
                br#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
                Err(Error::invalid_request()),
            ),
        ] {
            let text = String::from_utf8_lossy(body);
            assert_eq!(inspect(body), expected, "{text}");
        }
    }

    #[test]
    fn exit_codes() {
        let code = |methods: &[&str]| {
            let mut session = Session::default();
            methods.iter().find_map(|method| session.step(method))
        };
        assert_eq!(code(&["exit"]), Some(life::FAILED));
        assert_eq!(code(&["initialize", "exit"]), Some(life::FAILED));
        assert_eq!(code(&["shutdown", "exit"]), Some(life::FAILED));
        assert_eq!(code(&["initialize", "shutdown", "exit"]), Some(life::OK));
    }
}
