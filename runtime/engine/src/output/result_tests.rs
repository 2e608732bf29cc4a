#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::output::redactor::RedactorBuilder;
use crate::output::secret::SecretBytes;
use crate::output::{display_command, finalise::join_channels};

fn redactor() -> Redactor {
    let mut builder = RedactorBuilder::new("[REDACTED]");
    builder
        .register("test", &SecretBytes::new(b"S3cr3tPw".to_vec()))
        .unwrap();
    builder.build().unwrap().0
}

fn result(status: ExitStatus) -> StructuredResult {
    let redactor = redactor();
    let argv = ["curl", "-u", "user:S3cr3tPw", "it\u{202e}em"];
    let stdout = redactor.finalise(b"out\n", 99);
    let stderr = redactor.finalise(b"err S3cr3tPw", 5);
    let ran = Some((b"/usr/bin/curl".as_slice(), "ab12"));
    let command =
        CommandResult::new(&redactor, &argv, ran, status, None).with_channels(&stdout, &stderr);
    StructuredResult {
        request_id: "shell-00".into(),
        status,
        stdout: stdout.text,
        stderr: stderr.text,
        stdout_truncated: stdout.truncated,
        stderr_truncated: stderr.truncated,
        backend: join_backends([vec!["b", "a", "b"], vec!["c"]]),
        runtime_id: "main".into(),
        manifest_sha256: "cd34".into(),
        commands: vec![command],
    }
}

const OBJECT: &str = concat!(
    r#"{"request_id":"shell-00","status":{"exited":3},"stdout":"out\n","stderr":"err ","#,
    r#""stdout_truncated":false,"stderr_truncated":true,"backend":"a+b+c","runtime_id":"main","#,
    r#""manifest_sha256":"cd34","commands":[{"program":"curl","#,
    r#""arguments":["-u","user:[REDACTED]","$'it\\u202eem'"],"#,
    r#""argv":["curl","-u","user:[REDACTED]","$'it\\u202eem'"],"#,
    r#""executable":"/usr/bin/curl","executable_sha256":"ab12","status":{"exited":3},"#,
    r#""stdout_truncated":false,"stderr_truncated":true,"intercepted_by":null}]}"#,
);

#[test]
fn members_are_in_order_and_redacted() {
    let text =
        result(ExitStatus::Exited(3)).render(ResultForm::Structured, Nonzero::Result, 1 << 20);
    assert_eq!(text, OBJECT);
}

/// What a model reads of a command is what a person is asked about and what is on record: nothing
/// that a terminal would act on, and nothing that vanished.
#[test]
fn hidden_characters_of_a_command_are_escaped_and_not_removed() {
    let entry = |argv: &[&[u8]], path: &[u8]| {
        let ran = Some((path, "ab12"));
        let entry = CommandResult::new(&redactor(), argv, ran, ExitStatus::Exited(0), None);
        serde_json::to_value(entry).unwrap()
    };
    let argv: &[&[u8]] = &[
        "l\u{200b}s".as_bytes(),
        b"a b",
        "x\u{202e}y".as_bytes(),
        b"\x1b[2J",
        b"two\nlines",
        b"\xff",
        b"S3cr3tPw\x07",
    ];
    let shown = entry(argv, "/opt/\u{2066}x".as_bytes());
    let words = [
        r"$'l\u200bs'",
        "a b",
        r"$'x\u202ey'",
        r"$'\x1b[2J'",
        r"$'two\nlines'",
        r"$'\xff'",
        r"$'[REDACTED]\x07'",
    ];
    assert_eq!(shown["program"], words[0]);
    assert_eq!(shown["arguments"], serde_json::json!(words[1..]));
    assert_eq!(shown["argv"], serde_json::json!(words));
    assert_eq!(shown["executable"], r"$'/opt/\u2066x'");
    // Two commands that differ are never shown alike.
    assert_ne!(
        entry(&[b"ls"], b"/bin/ls")["argv"],
        entry(&["l\u{200b}s".as_bytes()], b"/bin/ls")["argv"]
    );
}

#[test]
fn the_other_forms_have_no_separator() {
    let result = result(ExitStatus::Exited(3));
    assert_eq!(
        result.render(ResultForm::Combined, Nonzero::Result, 0),
        "out\nerr "
    );
    assert_eq!(
        result.render(ResultForm::Stdout, Nonzero::Result, 0),
        "out\n"
    );
}

#[test]
fn an_unsuccessful_exit_can_be_an_error_and_keeps_the_output() {
    let head = r#"{"error":{"code":"shell.tool_nonzero","message":"shell command exited unsuccessfully","result":"#;
    let failed = result(ExitStatus::Exited(3));
    assert_eq!(
        failed.render(ResultForm::Combined, Nonzero::Error, 0),
        format!(r#"{head}"out\nerr "}}}}"#)
    );
    assert_eq!(
        failed.render(ResultForm::Structured, Nonzero::Error, 1 << 20),
        format!("{head}{OBJECT}}}}}")
    );
    let ended =
        result(ExitStatus::Signaled(9)).render(ResultForm::Structured, Nonzero::Error, 1 << 20);
    assert!(ended.starts_with(head) && ended.contains(r#""status":{"signaled":9}"#));
    let fine = result(ExitStatus::Exited(0));
    assert_eq!(fine.render(ResultForm::Stdout, Nonzero::Error, 0), "out\n");
}

#[test]
fn long_arguments_are_cut_only_when_the_object_is_too_large() {
    let mut result = result(ExitStatus::Exited(0));
    let long = "é".repeat(100_000);
    let argv = ["x", long.as_str(), "short"];
    let entry = || CommandResult::new(&redactor(), &argv, None, ExitStatus::Exited(0), None);
    result.commands = vec![entry()];
    let text = result.render(ResultForm::Structured, Nonzero::Result, 1 << 20);
    assert!(text.contains(&long));
    let text = result.render(ResultForm::Structured, Nonzero::Result, 0);
    assert!(
        text.len() < 8192
            && text.contains(&format!("{}…", "é".repeat(512)))
            && text.contains("short")
    );
}

#[test]
fn messages_are_one_safe_line() {
    let message = format!("denied:\r\n\u{1b}[31m S3cr3tPw {}", "é".repeat(4096));
    let error = InvocationError::new(&redactor(), "denied", &message);
    assert!(
        error.message.len() <= 4096
            && error
                .message
                .as_str()
                .starts_with(r"denied:\r\n\x1b[31m [REDACTED] éé")
    );
    let error = InvocationError::new(&redactor(), "denied", "a \"b\"\n");
    assert_eq!(
        error.to_json(),
        r#"{"error":{"code":"denied","message":"a \"b\"\\n"}}"#
    );
}

#[test]
fn display_quotes_element_by_element() {
    let shown = |argv: &[&[u8]]| display_command(&redactor(), argv.iter().copied()).into_string();
    let plain: &[&[u8]] = &[b"git", b"a_b./c:d-9", b"", b"x y", b"it's", b"$(id)"];
    assert_eq!(shown(plain), r"git a_b./c:d-9 '' 'x y' 'it'\''s' '$(id)'");
    assert_eq!(shown(&[b"mysql", b"-pS3cr3tPw"]), "mysql '-p[REDACTED]'");
    assert_eq!(
        shown(&[
            "rm".as_bytes(),
            "safe\u{202e}/..\nx\u{200b}".as_bytes(),
            b"\xff"
        ]),
        r"rm $'safe\u202e/..\nx\u200b' $'\xff'"
    );
    // A secret that only the joined line would show is none of ours; element boundaries stay.
    assert_eq!(shown(&[b"S3cr", b"3tPw"]), "S3cr 3tPw");
}

#[test]
fn a_long_command_names_its_length_and_digest() {
    let argv = ["echo".to_owned(), "S3cr3tPw ".repeat(2000)];
    let text = display_command(&redactor(), &argv).into_string();
    let whole = format!("echo '{}'", "[REDACTED] ".repeat(2000));
    let digest = crate::identity::sha256_hex(whole.as_bytes());
    assert!(
        text.len() <= 4096
            && text.ends_with(&format!("… ({} bytes, sha256 {digest})", whole.len()))
    );
    let cut = text.split('…').next().unwrap();
    assert!(
        whole.starts_with(cut) && (cut.ends_with("[REDACTED] ") || cut.ends_with("[REDACTED]")),
        "{cut}"
    );
}

#[test]
fn joined_channels_are_cut_again() {
    let redactor = redactor();
    let one = redactor.finalise("ab S3cr3tPw".as_bytes(), 99);
    let two = redactor.finalise("é".as_bytes(), 99);
    for (limit, text, truncated) in [
        (15, "ab [REDACTED]é", false),
        (14, "ab [REDACTED]", true),
        (13, "ab [REDACTED]", true),
        (12, "ab ", true),
        (4, "ab ", true),
        (0, "", true),
    ] {
        let joined = join_channels([&one, &two], limit);
        assert_eq!(
            (joined.text.as_str(), joined.truncated),
            (text, truncated),
            "{limit}"
        );
    }
}
