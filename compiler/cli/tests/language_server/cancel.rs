//! Cancellation, and edits while the server is busy: L2, L4, L5, L6.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PATIENCE};

const URI: &str = "file:///nowhere/cancel.chatmd";
const CANCELLED: i64 = -32800;
const BUSY: i64 = -32803;

fn slow(client: &mut Client) -> i64 {
    client.request("chatmd/test/slow", json!({"milliseconds": 60_000}))
}

fn cancel(client: &mut Client, id: i64) -> Duration {
    let start = Instant::now();
    client.notify("$/cancelRequest", json!({"id": id}));
    let (at, answer) = client.timed_answer(id);
    assert_eq!(answer["error"]["code"], CANCELLED, "{answer}");
    at.saturating_duration_since(start)
}

/// How late an answer to a cancellation or an edit may be.
const LATE: Duration = Duration::from_millis(20);
/// Machines that build at the same time have bad moments.
const ROUNDS: usize = 5;

/// The median of some times is short in one round at least.
fn in_time(mut round: impl FnMut() -> Vec<Duration>) {
    let mut medians = Vec::new();
    for _ in 0..ROUNDS {
        let mut times = round();
        times.sort();
        let median = times[times.len() / 2];
        if median <= LATE {
            return;
        }
        medians.push(median);
    }
    panic!("always late: {medians:?}");
}

/// L2 for one number of requests in flight.
fn in_flight(count: usize) {
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    client.published(URI, 1);
    let mut ids: Vec<i64> = (0..count).map(|_| slow(&mut client)).collect();
    // One that runs, one that waits, and some between.
    in_time(|| {
        let places = [0, ids.len() - 2, ids.len() / 2, 1, 0];
        let each = places.map(|at| {
            let id = std::mem::replace(&mut ids[at], slow(&mut client));
            cancel(&mut client, id)
        });
        each.to_vec()
    });
    let start = Instant::now();
    for id in &ids {
        client.notify("$/cancelRequest", json!({"id": id}));
    }
    for id in ids {
        assert_eq!(client.answer(id)["error"]["code"], CANCELLED);
    }
    client.replace(URI, 2, "letters");
    assert_eq!(client.text(URI), "letters");
    assert_eq!(client.published(URI, 2)[0]["code"], "chatmd.top_level_text");
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    client.finish();
}

#[test]
fn l2_eight_requests_in_flight() {
    in_flight(8);
}

#[test]
fn l2_sixty_four_requests_in_flight() {
    in_flight(64);
}

#[test]
fn l2_two_hundred_fifty_six_requests_in_flight() {
    in_flight(256);
}

#[test]
fn edits_are_checked_while_requests_fill_every_thread() {
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    for _ in 0..100 {
        slow(&mut client);
    }
    for version in 2..20 {
        client.replace(URI, version, &"x".repeat(version as usize));
        let set = client.published(URI, version);
        assert_eq!(set[0]["range"]["end"]["character"], version);
    }
    let id = client.request("shutdown", Value::Null);
    client.answer(id);
    let mut answers = client.rest();
    answers.retain(|message| message.get("id").is_some());
    while answers.len() < 100 {
        answers.push(
            client
                .wait("a cancelled request", |m| m.get("error").is_some())
                .1,
        );
    }
    for answer in answers {
        assert_eq!(
            answer["error"]["code"], CANCELLED,
            "shutdown cancels what runs"
        );
    }
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 0);
}

#[test]
fn more_requests_than_the_server_promises_are_refused_and_edits_are_not() {
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    let ids: Vec<i64> = (0..1_400).map(|_| slow(&mut client)).collect();
    client.replace(URI, 2, "letters");
    assert_eq!(client.published(URI, 2).len(), 1);
    for id in ids.get(1_280..).unwrap() {
        assert_eq!(client.answer(*id)["error"]["code"], -32803);
    }
    cancel(&mut client, ids[0]);
    assert!(
        client
            .rest()
            .iter()
            .all(|message| message.get("error").is_none())
    );
    let again = slow(&mut client);
    cancel(&mut client, again);
    client.finish();
}

/// What nobody waits for makes room for what somebody does.
#[test]
fn background_requests_are_refused_first() {
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    let background = |client: &mut Client| {
        client.request(
            "chatmd/test/slow",
            json!({"milliseconds": 60_000, "background": true}),
        )
    };
    let normal: Vec<i64> = (0..1_270).map(|_| slow(&mut client)).collect();
    let waiting: Vec<i64> = (0..10).map(|_| background(&mut client)).collect();
    // Full: one more of the kind is refused itself.
    let one_more = background(&mut client);
    assert_eq!(client.answer(one_more)["error"]["code"], BUSY);
    for _ in 0..10 {
        slow(&mut client);
    }
    for id in waiting {
        let answer = client.answer(id);
        assert_eq!(answer["error"]["code"], BUSY);
        assert_eq!(answer["error"]["message"], "server busy");
    }
    let refused = slow(&mut client);
    assert_eq!(client.answer(refused)["error"]["code"], BUSY);
    // One that is cancelled makes room as well.
    cancel(&mut client, normal[700]);
    let last = slow(&mut client);
    cancel(&mut client, last);
    client.finish();
}

/// Section 2.2: what a request about a document makes of changes elsewhere.
#[test]
fn requests_about_a_document_start_again_until_too_much_changes() {
    const OTHER: &str = "file:///nowhere/other.chatmd";
    const CONTENT_MODIFIED: i64 = -32801;
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    client.open(OTHER, "<user>b</user>");
    client.published(OTHER, 1);
    let start = |client: &mut Client| {
        let document = json!({"textDocument": {"uri": URI}, "milliseconds": 400});
        client.request("chatmd/test/slow", document)
    };
    let pause = || std::thread::sleep(Duration::from_millis(40));
    // Settings: as often as they change.
    let id = start(&mut client);
    for platform in ["linux", "macos", "windows", "linux", "macos", "windows"] {
        pause();
        let settings = json!({"settings": {"chatmd": {"platform": platform}}});
        client.notify("workspace/didChangeConfiguration", settings);
    }
    assert_eq!(client.answer(id)["result"], Value::Null);
    // Another file: three times.
    let id = start(&mut client);
    for version in 2..5 {
        pause();
        client.replace(OTHER, version, "<user>c</user> ");
    }
    assert_eq!(client.answer(id)["result"], Value::Null);
    let id = start(&mut client);
    for version in 5..12 {
        pause();
        client.replace(OTHER, version, &"<user>d</user>".repeat(version as usize));
    }
    assert_eq!(client.answer(id)["error"]["code"], CONTENT_MODIFIED);
    // The document itself: never.
    let id = start(&mut client);
    pause();
    client.replace(URI, 2, "<user>e</user>");
    assert_eq!(client.answer(id)["error"]["code"], CONTENT_MODIFIED);
    client.finish();
}

/// L4: a client that does not answer, with 300 questions outstanding.
#[test]
fn l4_a_client_that_never_answers_stalls_nothing() {
    let mut client = Client::ready(json!({"processId": null, "capabilities": {
        "workspace": {
            "configuration": true,
            "didChangeConfiguration": {"dynamicRegistration": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true}}}}));
    client.asked("client/registerCapability");
    for _ in 0..100 {
        client.notify("initialized", json!({}));
    }
    for _ in 0..300 {
        client.asked_any();
    }
    client.open(URI, "");
    for version in 2..50 {
        client.replace(URI, version, &format!("<user>{version}</user>"));
        assert_eq!(client.text(URI), format!("<user>{version}</user>"));
    }
    client.finish();
}

/// L5: a client that does not read for a while.
#[cfg(target_os = "linux")]
#[test]
fn l5_a_client_that_stops_reading_loses_nothing() {
    let mut client = Client::plain();
    // Many findings, so that sets are long.
    let text = "<nothing/>\n".repeat(400);
    client.open(URI, &text);
    client.published(URI, 1);
    let gate = client.gate();
    gate.set_closed(true);
    let closed = Instant::now();
    let mut asked = Vec::new();
    for version in 2..400 {
        client.change(
            URI,
            version,
            json!([{"range": {"start": {"line": 0, "character": 0},
                "end": {"line": 0, "character": 0}}, "text": "<nothing/>"}]),
        );
        if version % 20 == 0 {
            asked.push(client.syntax_tree(URI));
            std::thread::sleep(Duration::from_millis(60));
        }
    }
    let resident = super::order::resident_kib(client.server.id());
    assert!(resident < 400 << 10, "{resident} KiB");
    std::thread::sleep(Duration::from_secs(5).saturating_sub(closed.elapsed()));
    gate.set_closed(false);
    for id in asked {
        client.answer(id);
    }
    client.published(URI, 399);
    client.finish();
}

/// L6: an edit while something long runs.
#[test]
fn l6_a_write_does_not_wait_for_a_long_query() {
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    client.published(URI, 1);
    let long = client.request(
        "chatmd/test/slow",
        json!({"milliseconds": 2_000, "background": true}),
    );
    let mut version = 1;
    // A write that waited for the query would be late by two seconds each time.
    in_time(|| {
        let mut times = Vec::new();
        for _ in 0..10 {
            version += 1;
            std::thread::sleep(Duration::from_millis(20));
            let start = Instant::now();
            client.replace(URI, version, &format!("<user>{version}</user>"));
            let id = client.syntax_tree(URI);
            let (at, answer) = client.timed_answer(id);
            let tree = answer["result"].as_str().unwrap();
            assert!(tree.contains(&format!("<user>{version}")));
            times.push(at.saturating_duration_since(start));
        }
        times
    });
    // How long the writer itself waited for the query to give its snapshot back.
    let mut waits = Vec::new();
    let prompt = (0..ROUNDS).any(|_| {
        let id = client.request("chatmd/test/waited", json!({}));
        client.answer(id);
        for _ in 0..5 {
            version += 1;
            client.replace(URI, version, &format!("<user>{version}</user>"));
            client.published(URI, version);
        }
        let id = client.request("chatmd/test/waited", json!({}));
        let waited = client.answer(id)["result"].as_u64().unwrap();
        waits.push(waited);
        waited <= 5_000
    });
    assert!(prompt, "writes always wait: {waits:?} µs");
    // Interrupted and begun again, never lost.
    let start = Instant::now();
    assert_eq!(client.answer(long)["result"], Value::Null);
    assert!(start.elapsed() < PATIENCE);
    client.finish();
}
