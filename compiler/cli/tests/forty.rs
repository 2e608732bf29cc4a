//! A long document with many unrelated mistakes, as a process: every mistake once, in order.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::Project;

/// Mistakes that have nothing to do with each other, with their codes; `%` is a number.
#[rustfmt::skip]
const FAULTS: [(&str, &str); 20] = [
    ("shell.unknown_attribute", r#"<shell_access id="r%"><limits waltime="5m"/></shell_access>"#),
    ("shell.invalid_bytes", r#"<shell_access id="r%"><limits memory="2GB"/></shell_access>"#),
    ("chatmd.unknown_element", r#"<usr>words</usr>"#),
    ("shell.unknown_builtin_profile", r#"<shell_access id="r%" extends="builtin:yollo@1"/>"#),
    ("chatmd.mismatched_tag", r#"<shell_access id="r%"><policy default="ask"></polcy></shell_access>"#),
    ("chatmd.unterminated_attribute", r#"<shell_access id="r%" extends="builtin:yolo@1/>"#),
    ("shell.unknown_runtime", r#"<tool name="t%" type="shell" runtime="basse" command="ls"/>"#),
    ("chatmd.invalid_role", r#"<msg role="usr">words</msg>"#),
    ("chatmd.top_level_text", "words that belong to no message"),
    ("shell.invalid_attribute", r#"<shell_access id="r%"><capabilities network="yes"/></shell_access>"#),
    ("shell.unknown_matcher", r#"<shell_access id="r%"><policy><rule id="a" action="deny"><basenam value="rm"/></rule></policy></shell_access>"#),
    ("shell.unknown_element", r#"<shell_access id="r%"><limmits wall_time="5m"/></shell_access>"#),
    ("shell.invalid_duration", r#"<shell_access id="r%"><limits wall_time="90"/></shell_access>"#),
    ("chatmd.unexpected_end_tag", "</assistant>"),
    ("shell.invalid_path", r#"<shell_access id="r%" cwd="${workspce}/src"/>"#),
    ("shell.tool_invalid_type", r#"<tool name="t%" type="shel" runtime="base" command="ls"/>"#),
    ("shell.tool_invalid_mode", r#"<tool name="t%" type="shell" runtime="base" mode="structred" command="ls"/>"#),
    ("chatmd.script_invalid_language", r#"<script id="s%" language="python" kind="shell_matcher">x</script>"#),
    ("chatmd.unknown_element", "<shell_acess id=\"r%\">\n  <limits wall_time=\"5m\"/>\n</shell_access>"),
    ("shell.invalid_integer", r#"<shell_access id="r%"><limits open_files="many"/></shell_access>"#),
];

/// How many lines a mistake and what is right around it take.
const LINES_EACH: usize = 50;

/// 2,000 lines; every 50 hold one mistake, on their eleventh line.
fn document() -> (String, Vec<(usize, &'static str)>) {
    let (mut text, mut expected) = (String::new(), Vec::new());
    for number in 0..40 {
        let (code, fault) = FAULTS[number % FAULTS.len()];
        let mut lines = Vec::new();
        if number == 0 {
            lines.push(
                "<shell_access id=\"base\" extends=\"builtin:workspace-readonly@1\"/>".to_owned(),
            );
        }
        while lines.len() < 10 {
            lines.push(format!("<!-- part {number}, line {} -->", lines.len() + 1));
        }
        expected.push((number * LINES_EACH + lines.len() + 1, code));
        lines.extend(
            fault
                .replace('%', &number.to_string())
                .lines()
                .map(str::to_owned),
        );
        lines.push("<user>".to_owned());
        while lines.len() < LINES_EACH - 1 {
            lines.push(format!("Words of part {number}, line {}.", lines.len() + 1));
        }
        lines.push("</user>".to_owned());
        text += &(lines.join("\n") + "\n");
    }
    (text, expected)
}

#[test]
fn forty_mistakes_in_two_thousand_lines_are_forty_findings_in_order() {
    let (text, expected) = document();
    assert_eq!(text.lines().count(), 2_000);
    let project = Project::new(&[("agent.chatmd", &text)]);
    let run = project.run(&["check", "--format", "concise", "agent.chatmd"]);
    assert_eq!(run.code, 1);
    let found: Vec<(usize, &str)> = run
        .stderr
        .lines()
        .filter(|line| line.contains(": error["))
        .map(|line| {
            let number = line.split(':').nth(1).unwrap().parse().unwrap();
            let code = line
                .split("error[")
                .nth(1)
                .unwrap()
                .split(']')
                .next()
                .unwrap();
            (number, code)
        })
        .collect();
    assert_eq!(found, expected, "{}", run.stderr);
    insta::assert_snapshot!("forty_concise", run.stderr);
}

/// The report as a person meets it: 80 columns, without and with colour.
#[test]
fn the_report_fits_a_terminal_and_its_first_screen_repairs_the_first_mistakes() {
    let (text, _) = document();
    let project = Project::new(&[("agent.chatmd", &text)]);
    let plain = project.run(&["check", "agent.chatmd"]).stderr;
    insta::assert_snapshot!("forty_human", plain);
    let sources: Vec<&str> = text.lines().map(str::trim).collect();
    for line in plain.lines().filter(|line| line.chars().count() > 80) {
        // A repaired line is source text.
        assert!(line.contains(" + "), "{line}");
    }
    // Nothing of the document that is drawn is made up.
    let drawn = plain.lines().filter_map(|line| line.split_once(" | "));
    for (number, source) in drawn {
        if number.trim().parse::<usize>().is_ok() && !source.contains('…') {
            assert!(sources.contains(&source.trim()), "{source}");
        }
    }
    let first_screen: Vec<&str> = plain.lines().take(24).collect();
    let first_screen = first_screen.join("\n");
    assert!(
        first_screen.contains("help: rename to `wall_time`:"),
        "{first_screen}"
    );
    assert_eq!(plain.lines().last(), Some("40 errors, 0 warnings"));
    let colored = project
        .run(&["check", "--color", "always", "agent.chatmd"])
        .stderr;
    insta::assert_snapshot!("forty_color", colored.replace('\u{1b}', "␛"));
    assert_eq!(
        without_colour(&colored).lines().count(),
        plain.lines().count()
    );
}

fn without_colour(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain + rest
}
