//! How a session begins and ends: L3.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, command};

const PROMPT: Duration = Duration::from_millis(100);
/// Machines that build at the same time are late now and then.
const TRIES: usize = 5;

/// The best time of some tries, each with that exit code.
fn ends(code: i32, end: impl Fn(&mut Client)) {
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let mut client = Client::plain();
        let start = Instant::now();
        end(&mut client);
        let (at, found) = client.timed_exit();
        let log = client.log();
        assert_eq!(found, code, "{log}");
        assert!(!log.contains("internal error"), "{log}");
        best = best.min(at.saturating_duration_since(start));
        if best <= PROMPT {
            return;
        }
    }
    panic!("the server needs {best:?} to end");
}

#[test]
fn l3_exit_after_shutdown() {
    ends(0, |client| {
        let id = client.request("shutdown", Value::Null);
        client.answer(id);
        client.notify("exit", Value::Null);
    });
}

#[test]
fn l3_exit_right_behind_shutdown_still_answers() {
    let mut client = Client::plain();
    let id = client.request("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 0);
    assert_eq!(client.answer(id)["result"], Value::Null);
}

#[test]
fn l3_exit_alone() {
    ends(1, |client| client.notify("exit", Value::Null));
}

#[test]
fn l3_exit_while_requests_run() {
    ends(1, |client| {
        for _ in 0..50 {
            client.request("chatmd/test/slow", json!({"milliseconds": 60_000}));
        }
        client.notify("exit", Value::Null);
    });
}

#[test]
fn l3_exit_while_nobody_reads() {
    ends(1, |client| {
        client.gate().set_closed(true);
        let uri = "file:///nowhere/x.chatmd";
        client.open(uri, &"<nothing/>\n".repeat(900));
        client.notify("exit", Value::Null);
    });
}

#[test]
fn l3_input_closed() {
    ends(1, |client| drop(client.input.take()));
}

#[cfg(unix)]
#[test]
fn l3_signals() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        ends(1, |client| {
            kill(Pid::from_raw(client.server.id() as i32), signal).unwrap();
        });
    }
}

#[test]
fn l3_output_closed() {
    let mut server = command().spawn().unwrap();
    drop(server.stdout.take());
    let mut input = server.stdin.take().unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"processId": null, "capabilities": {}}});
    use std::io::Write as _;
    input
        .write_all(&super::client::frame(&serde_json::to_vec(&body).unwrap()))
        .unwrap();
    let finished = server.wait_with_output().unwrap();
    assert_eq!(finished.status.code(), Some(1));
    let log = String::from_utf8_lossy(&finished.stderr);
    assert!(
        !log.contains("panic") && !log.contains("internal error"),
        "{log}"
    );
    drop(input);
}

#[cfg(unix)]
fn ends_with_parent(start: impl Fn(u32) -> Client) {
    let mut parent = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut client = start(parent.id());
    std::thread::sleep(Duration::from_millis(100));
    assert!(
        client.server.try_wait().unwrap().is_none(),
        "the parent lives"
    );
    parent.kill().unwrap();
    parent.wait().unwrap();
    let start = Instant::now();
    let (at, code) = client.timed_exit();
    assert_eq!(code, 1);
    assert!(at.saturating_duration_since(start) <= Duration::from_secs(4));
}

#[cfg(unix)]
#[test]
fn l3_killed_parent() {
    ends_with_parent(|parent| Client::ready(json!({"processId": parent, "capabilities": {}})));
}

#[cfg(unix)]
#[test]
fn l3_killed_parent_of_the_command_line() {
    ends_with_parent(|parent| {
        let id = parent.to_string();
        Client::of(command().args(["--clientProcessId", &id]).spawn().unwrap())
    });
}

#[cfg(unix)]
#[test]
fn a_person_gets_a_hint() {
    let terminal = nix::pty::openpty(None, None).unwrap();
    let finished = command()
        .stdin(Stdio::from(terminal.slave))
        .output()
        .unwrap();
    assert_eq!(finished.status.code(), Some(2));
    assert!(finished.stdout.is_empty());
    let hint = String::from_utf8(finished.stderr).unwrap();
    assert!(hint.contains("chatmdc check"), "{hint}");
}

#[test]
fn order_of_a_session() {
    let mut client = Client::start();
    let id = client.syntax_tree("file:///x.chatmd");
    assert_eq!(client.answer(id)["error"]["code"], -32002);
    client.open(
        "file:///x.chatmd",
        "dropped: nothing is open before initialize",
    );
    let id = client.request("initialize", json!({"processId": null, "capabilities": {}}));
    let answer = client.answer(id);
    let capabilities = &answer["result"]["capabilities"];
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(capabilities["textDocumentSync"]["openClose"], true);
    assert_eq!(capabilities["textDocumentSync"]["change"], 2);
    assert_eq!(answer["result"]["serverInfo"]["name"], "chatmd-lsp");
    let id = client.syntax_tree("file:///x.chatmd");
    assert_eq!(client.answer(id)["result"], Value::Null);
    let id = client.request("initialize", json!({"processId": null, "capabilities": {}}));
    assert_eq!(client.answer(id)["error"]["code"], -32600);
    let id = client.request("shutdown", Value::Null);
    client.answer(id);
    let id = client.syntax_tree("file:///x.chatmd");
    assert_eq!(client.answer(id)["error"]["code"], -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 0);
}

#[test]
fn a_local_socket_serves_as_well() {
    #[cfg(unix)]
    {
        use std::io::{Read as _, Write as _};
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let mut server = command().arg("--pipe").arg(&path).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize",
            "params": {"processId": null, "capabilities": {}}});
        let body = serde_json::to_vec(&body).unwrap();
        stream.write_all(&super::client::frame(&body)).unwrap();
        let mut start = [0; 16];
        stream.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"Content-Length: ");
        drop(stream);
        assert_eq!(server.wait().unwrap().code(), Some(1));
    }
}
