//! No form of output shows a secret that is written into a document, however broken it is there.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use support::Project;

const SECRET: &str = "hunter2XYZ";

/// What somebody may write in the place of a literal secret.
const BROKEN: [&str; 12] = [
    r#"<literal value="say "hunter2XYZ""/>"#,
    r#"<literal value='it's hunter2XYZ'/>"#,
    r#"<literal value="a" hunter2XYZ="b"/>"#,
    r#"<literal value="hunter2XYZ/>"#,
    r#"<literal value="a"hunter2XYZ"/>"#,
    r#"<literal value=hunter2XYZ/>"#,
    r#"<literal valeu="hunter2XYZ"/>"#,
    r#"<litteral value="x" hunter2XYZ/>"#,
    r#"<literal>hunter2XYZ</literal>"#,
    r#"<literal value="a">hunter2XYZ</literal>"#,
    r#"<literal value="&hunter2XYZ;"/>"#,
    r#"hunter2XYZ"#,
];

#[test]
fn no_output_shows_a_literal_secret() {
    for broken in BROKEN {
        let text = format!(
            "<shell_access id=\"r\">\n  <secrets>\n    {broken}\n  </secrets>\n</shell_access>\n"
        );
        let project = Project::new(&[("a.chatmd", &text)]);
        for format in ["human", "concise", "json", "sarif", "github"] {
            let run = project.run(&["check", "--format", format, "a.chatmd"]);
            let shown = format!("{}{}", run.stdout, run.stderr);
            assert!(!shown.contains(SECRET), "{format} of {broken}:\n{shown}");
        }
        for args in [
            &["inspect", "--format", "json", "a.chatmd"][..],
            &["graph", "a.chatmd"],
            &["manifest", "a.chatmd"],
        ] {
            let run = project.run(args);
            let shown = format!("{}{}", run.stdout, run.stderr);
            assert!(!shown.contains(SECRET), "{args:?} of {broken}:\n{shown}");
        }
    }
}
