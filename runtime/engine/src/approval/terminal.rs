//! Approval at the controlling terminal.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Answer, Answering, ApprovalProvider, ApprovalRequest};
use crate::terminal::{Reply, Terminal};

/// Effects shown before the rest is counted.
const SHOWN_EFFECTS: usize = 20;

/// Asks on `/dev/tty`, one question at a time.
#[derive(Debug, Default)]
pub struct TerminalApprovals {
    one_at_a_time: tokio::sync::Mutex<()>,
}

impl ApprovalProvider for TerminalApprovals {
    fn available(&self) -> bool {
        Terminal::open().is_some()
    }

    fn ask(&self, request: ApprovalRequest, bound: Duration) -> Answering<'_> {
        Box::pin(async move {
            let _turn = self.one_at_a_time.lock().await;
            // When the invocation is cancelled, the thread that reads the terminal must end too:
            // it would hold up the program, and eat the keys of whoever asks next.
            let withdrawn = Withdrawn::default();
            let flag = Arc::clone(&withdrawn.0);
            let question = tokio::task::spawn_blocking(move || question(&request, bound, flag));
            question.await.unwrap_or(Answer::Deny)
        })
    }
}

/// Dropping it withdraws the question.
#[derive(Default)]
struct Withdrawn(Arc<AtomicBool>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn question(request: &ApprovalRequest, bound: Duration, withdrawn: Arc<AtomicBool>) -> Answer {
    let Some(terminal) = Terminal::open() else {
        return Answer::Deny;
    };
    put(terminal.withdrawn_by(withdrawn), request, bound)
}

fn put(mut terminal: Terminal, request: &ApprovalRequest, bound: Duration) -> Answer {
    let deadline = Instant::now() + bound;
    let mut whole = false;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match terminal.ask(&text(request, whole), Some(left)) {
            Ok(Reply::Line(line)) if wants_all(&line) => whole = true,
            Ok(Reply::Line(line)) => return answer(&line, request),
            Ok(Reply::TimedOut) => return Answer::TimedOut,
            Ok(Reply::End | Reply::Withdrawn) | Err(_) => return Answer::Deny,
        }
    }
}

fn wants_all(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "v" | "view")
}

/// Everything that is no clear yes is a no.
fn answer(line: &str, request: &ApprovalRequest) -> Answer {
    let offered = |scope: &str| request.scopes.contains(&scope);
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if offered("once") => Answer::Once,
        "s" | "session" if offered("exact_session") => Answer::ExactSession,
        _ => Answer::Deny,
    }
}

/// The question. Its parts are safe text, so no line of it can be forged. `whole` shows every element
/// of the command and every effect on a line of its own.
fn text(request: &ApprovalRequest, whole: bool) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11}{value}");
    };
    if whole {
        for (index, word) in request.argv.iter().enumerate() {
            let name = if index == 0 { "command" } else { "" };
            row(name, &format!("[{index}] {word}"));
        }
    } else {
        row("command", request.command.as_str());
    }
    let trust = if request.trusted {
        "trusted"
    } else {
        "not trusted"
    };
    row(
        "program",
        &format!("{} ({trust})", request.executable.as_str()),
    );
    row("", &format!("sha256 {}", request.executable_sha256));
    row("directory", request.cwd.as_str());
    let shown = if whole { usize::MAX } else { SHOWN_EFFECTS };
    for (index, effect) in request.effects.iter().take(shown).enumerate() {
        row(if index == 0 { "effects" } else { "" }, effect.as_str());
    }
    let more = request.effects.len().saturating_sub(shown);
    if more > 0 {
        row("", &format!("… and {more} more (v shows all)"));
    }
    row("asked by", request.reason.as_str());
    if let Some(rationale) = &request.rationale {
        row("rationale", rationale.as_str());
    }
    if let Some(digest) = &request.stdin_sha256 {
        row(
            "stdin",
            &format!("{} bytes, sha256 {digest}", request.stdin_bytes),
        );
    }
    row("backend", &request.backend);
    if request.unconfined_fallback {
        row(
            "WARNING",
            "no sandbox works here; the command would run without one",
        );
    }
    row(
        "runtime",
        &format!(
            "{} of manifest {}",
            request.runtime_id, request.manifest_sha256
        ),
    );
    row(
        "request",
        &format!(
            "{} ({}, from a {}), {}",
            request.request_id, request.kind, request.origin, request.approval_id
        ),
    );
    let mut keys = Vec::new();
    if request.scopes.contains(&"once") {
        keys.push("y = once");
    }
    if request.scopes.contains(&"exact_session") {
        keys.push("s = this exact command for the session");
    }
    keys.push("v = view all of it");
    format!(
        "\nThe tool {} asks to run:\n{text}Allow? [{}, anything else = no] ",
        request.tool,
        keys.join(", ")
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::output::{Redactor, RedactorBuilder};

    fn redactor() -> Redactor {
        RedactorBuilder::new("[REDACTED]").build().unwrap().0
    }

    /// Else a thread would go on reading the terminal, and take the keys of the next question.
    #[test]
    fn an_abandoned_question_is_withdrawn() {
        let withdrawn = Withdrawn::default();
        let flag = Arc::clone(&withdrawn.0);
        assert!(!flag.load(Ordering::Relaxed));
        drop(withdrawn);
        assert!(flag.load(Ordering::Relaxed));
    }

    fn request(command: &str, scopes: Vec<&'static str>) -> ApprovalRequest {
        let redactor = redactor();
        let line = |text: &str| redactor.line(text.as_bytes());
        ApprovalRequest {
            request_id: "shell-0".into(),
            runtime_id: "r".into(),
            approval_id: "shell-approval-7".into(),
            manifest_sha256: "ab".into(),
            origin: "tool",
            tool: "t".into(),
            kind: "structured",
            command: crate::output::display_command(&redactor, [command]),
            argv: crate::output::display_words(&redactor, [command]),
            executable: line("/usr/bin/x"),
            executable_sha256: "cd".into(),
            trusted: false,
            cwd: line("/w"),
            effects: (0..25).map(|n| line(&format!("read:/w/{n}"))).collect(),
            reason: line("rule"),
            rationale: Some(line("because")),
            stdin_bytes: 3,
            stdin_sha256: Some("ef".into()),
            backend: "linux-bubblewrap (verified)".into(),
            unconfined_fallback: false,
            scopes,
        }
    }

    #[test]
    fn a_command_can_not_forge_a_line_or_move_the_cursor() {
        let shown = text(
            &request("x \u{1b}[2J\n  command    ls", vec!["once"]),
            false,
        );
        assert!(!shown.contains('\u{1b}'));
        assert_eq!(shown.matches("\n  command").count(), 1, "{shown}");
        assert!(
            shown.contains("not trusted") && shown.contains("… and 5 more"),
            "{shown}"
        );
        assert!(
            shown.contains(r"  command    $'x \x1b[2J\n  command    ls'"),
            "{shown}"
        );
        for part in ["shell-0", "structured", "from a tool", "shell-approval-7"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        let whole = text(&request("x", vec!["once"]), true);
        assert!(whole.contains("  command    [0] x\n"), "{whole}");
        assert!(
            whole.contains("read:/w/24") && !whole.contains("more"),
            "{whole}"
        );
    }

    /// What a person types, and what is drawn until the question has an answer.
    fn typed(keys: &'static [&'static [u8]], command: &str) -> (Answer, String) {
        use std::fs::File;
        use std::io::{Read, Write};

        let pty = nix::pty::openpty(None, None).unwrap();
        let terminal = Terminal::on(File::from(pty.slave));
        let request = request(command, vec!["once"]);
        let asked = std::thread::spawn(move || put(terminal, &request, Duration::from_secs(20)));
        let mut master = File::from(pty.master);
        let mut drawn = Vec::new();
        for key in keys {
            let before = drawn.len();
            while !drawn[before..].ends_with(b"= no] ") {
                let mut bytes = [0_u8; 4096];
                let read = master.read(&mut bytes).unwrap();
                drawn.extend_from_slice(&bytes[..read]);
            }
            master.write_all(key).unwrap();
        }
        let answer = asked.join().unwrap();
        (answer, String::from_utf8(drawn).unwrap())
    }

    #[test]
    fn a_long_command_can_be_seen_whole_before_the_answer() {
        let command = format!("{}END", "x ".repeat(4000));
        let (answer, drawn) = typed(&[b"v\n", b"y\n"], &command);
        assert_eq!(answer, Answer::Once);
        let (cut, whole) = drawn.split_once("v = view").unwrap();
        assert!(cut.contains("sha256") && !cut.contains("END"));
        assert!(whole.contains("x END'"));
    }

    #[test]
    fn the_end_of_input_is_a_no_and_no_timeout() {
        assert_eq!(typed(&[b"\x04"], "x").0, Answer::Deny);
    }

    #[test]
    fn only_a_clear_and_offered_yes_allows() {
        let both = request("x", vec!["once", "exact_session"]);
        for (line, expected) in [
            ("y", Answer::Once),
            (" Yes ", Answer::Once),
            ("s", Answer::ExactSession),
            ("", Answer::Deny),
            ("n", Answer::Deny),
            ("yy", Answer::Deny),
            ("sure", Answer::Deny),
        ] {
            assert_eq!(answer(line, &both), expected, "{line:?}");
        }
        assert_eq!(answer("s", &request("x", vec!["once"])), Answer::Deny);
        assert_eq!(
            answer("y", &request("x", vec!["exact_session"])),
            Answer::Deny
        );
    }
}
