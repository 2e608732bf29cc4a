//! Approval at the controlling terminal.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Answer, Answering, ApprovalProvider, ApprovalRequest};
use crate::terminal::Terminal;

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
    let mut terminal = terminal.withdrawn_by(withdrawn);
    match terminal.ask(&text(request), Some(bound)) {
        Ok(Some(line)) => answer(&line, request),
        Ok(None) => Answer::TimedOut,
        Err(_) => Answer::Deny,
    }
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

/// The question. Its parts are safe text, so no line of it can be forged.
fn text(request: &ApprovalRequest) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11}{value}");
    };
    row("command", request.command.as_str());
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
    for (index, effect) in request.effects.iter().take(SHOWN_EFFECTS).enumerate() {
        row(if index == 0 { "effects" } else { "" }, effect.as_str());
    }
    if request.effects.len() > SHOWN_EFFECTS {
        row(
            "",
            &format!("… and {} more", request.effects.len() - SHOWN_EFFECTS),
        );
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
    let mut keys = Vec::new();
    if request.scopes.contains(&"once") {
        keys.push("y = once");
    }
    if request.scopes.contains(&"exact_session") {
        keys.push("s = this exact command for the session");
    }
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
            manifest_sha256: "ab".into(),
            tool: "t".into(),
            kind: "structured",
            command: line(command),
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
        let shown = text(&request("x \u{1b}[2J\n  command    ls", vec!["once"]));
        assert!(!shown.contains('\u{1b}'));
        assert_eq!(shown.matches("\n  command").count(), 1, "{shown}");
        assert!(
            shown.contains("not trusted") && shown.contains("… and 5 more"),
            "{shown}"
        );
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
