//! A client that never waits unless a test says so.

use std::io::{BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than any test waits for anything that works.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub struct Client {
    pub server: Child,
    pub input: Option<ChildStdin>,
    messages: Receiver<(Instant, Value)>,
    /// Read, but not asked for yet.
    kept: Vec<(Instant, Value)>,
    next_id: i64,
    gate: Arc<Gate>,
}

/// Stops the reading of the server's output.
#[derive(Default)]
pub struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn set_closed(&self, closed: bool) {
        *self.closed.lock().unwrap() = closed;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let mut closed = self.closed.lock().unwrap();
        while *closed {
            closed = self.opened.wait(closed).unwrap();
        }
    }
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chatmdc"));
    command
        .args(["lsp", "--test-requests"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

impl Client {
    /// A server that was told nothing yet.
    pub fn start() -> Self {
        Self::of(command().spawn().unwrap())
    }

    pub fn of(mut server: Child) -> Self {
        let input = server.stdin.take();
        let output = server.stdout.take().unwrap();
        let gate = Arc::new(Gate::default());
        let (sender, messages) = channel();
        let reader_gate = Arc::clone(&gate);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send((Instant::now(), message)).is_err() {
                    return;
                }
                reader_gate.pass();
            }
        });
        Self {
            server,
            input,
            messages,
            kept: Vec::new(),
            next_id: 1,
            gate,
        }
    }

    /// An initialised server.
    pub fn ready(parameters: Value) -> Self {
        let mut client = Self::start();
        let id = client.request("initialize", parameters);
        client.answer(id);
        client.notify("initialized", json!({}));
        client
    }

    /// An initialised server for a client with the least capabilities.
    pub fn plain() -> Self {
        Self::ready(json!({"processId": null, "capabilities": {}}))
    }

    pub fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.send_bytes(&frame(&serde_json::to_vec(message).unwrap()));
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        self.notify(
            "textDocument/didOpen",
            json!({"textDocument":
                {"uri": uri, "languageId": "chatmd", "version": 1, "text": text}}),
        );
    }

    pub fn change(&mut self, uri: &str, version: i64, changes: Value) {
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}),
        );
    }

    pub fn replace(&mut self, uri: &str, version: i64, text: &str) {
        self.change(uri, version, json!([{"text": text}]));
    }

    pub fn close(&mut self, uri: &str) {
        self.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        );
    }

    pub fn syntax_tree(&mut self, uri: &str) -> i64 {
        self.request(
            "chatmd/syntaxTree",
            json!({"textDocument": {"uri": uri}, "format": "text"}),
        )
    }

    /// The text that the server has for a document.
    pub fn text(&mut self, uri: &str) -> String {
        let id = self.syntax_tree(uri);
        let answer = self.answer(id);
        text_of(&answer).unwrap_or_else(|| panic!("no tree: {answer}"))
    }

    /// The first message that fits, with the time of its arrival; others are kept.
    pub fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> (Instant, Value) {
        if let Some(at) = self.kept.iter().position(|(_, message)| fits(message)) {
            return self.kept.remove(at);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok((at, message)) if fits(&message) => return (at, message),
                Ok(other) => self.kept.push(other),
                Err(RecvTimeoutError::Timeout) => panic!("waited in vain for {what}"),
                Err(RecvTimeoutError::Disconnected) => {
                    let mut log = String::new();
                    let _ = self.server.stderr.take().unwrap().read_to_string(&mut log);
                    panic!("the server ended before {what}: {log}")
                }
            }
        }
    }

    pub fn answer(&mut self, id: i64) -> Value {
        self.timed_answer(id).1
    }

    pub fn timed_answer(&mut self, id: i64) -> (Instant, Value) {
        self.wait(&format!("answer {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// The published set of a version of a document.
    pub fn published(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let (_, message) = self.wait(&format!("diagnostics of {uri} version {version}"), |m| {
            m["method"] == "textDocument/publishDiagnostics"
                && m["params"]["uri"] == uri
                && m["params"]["version"] == version
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// The next set of a document, whatever its version.
    pub fn next_set(&mut self, uri: &str) -> Vec<Value> {
        let (_, message) = self.wait(&format!("diagnostics of {uri}"), |m| {
            m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// What came so far and was not asked for, oldest first.
    pub fn rest(&mut self) -> Vec<Value> {
        self.kept.extend(self.messages.try_iter());
        self.kept.drain(..).map(|(_, message)| message).collect()
    }

    /// Ends the session properly.
    pub fn finish(mut self) {
        let id = self.request("shutdown", Value::Null);
        assert_eq!(self.answer(id)["result"], Value::Null);
        self.notify("exit", Value::Null);
        assert_eq!(self.exit_code(), 0);
    }

    /// Ends the session properly and gives what was logged.
    pub fn finish_with_log(mut self) -> String {
        let id = self.request("shutdown", Value::Null);
        assert_eq!(self.answer(id)["result"], Value::Null);
        self.notify("exit", Value::Null);
        assert_eq!(self.exit_code(), 0);
        self.log()
    }

    /// The next request of the server with that method.
    pub fn asked(&mut self, method: &str) -> Value {
        let asks = |m: &Value| m["method"] == method && m.get("id").is_some();
        self.wait(method, asks).1
    }

    /// The next request of the server.
    pub fn asked_any(&mut self) -> Value {
        let asks = |m: &Value| m.get("method").is_some() && m.get("id").is_some();
        self.wait("a request", asks).1
    }

    /// Answers a request of the server.
    pub fn respond(&mut self, request: &Value, result: Value) {
        let id = &request["id"];
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub fn exit_code(&mut self) -> i32 {
        self.timed_exit().1
    }

    pub fn timed_exit(&mut self) -> (Instant, i32) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.server.try_wait().unwrap() {
                return (Instant::now(), status.code().unwrap_or(-1));
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn log(&mut self) -> String {
        let mut log = String::new();
        let _ = self.server.stderr.take().unwrap().read_to_string(&mut log);
        log
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.gate.set_closed(false);
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The text at the end of an answer of `chatmd/syntaxTree`.
pub fn text_of(answer: &Value) -> Option<String> {
    let tree = answer["result"].as_str()?;
    let (_, text) = tree.split_once("--- text ---\n")?;
    Some(text.to_owned())
}

fn read(output: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.by_ref().read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => {
                let value = line
                    .strip_prefix("Content-Length: ")
                    .expect("only our header");
                length = Some(value.parse().unwrap());
            }
        }
    }
    let mut body = vec![0; length.expect("a length")];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("JSON"))
}
