//! A write root that does not exist yet.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use chatmd_tests::Project;

const DOCUMENT: &str = r#"<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/><write path="${workspace}/made"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <policy default="allow"/>
  <audit format="session"/>
</shell_access>
<tool name="touch" type="shell" runtime="r" command="touch made/file"/>
"#;

#[test]
fn it_is_made_and_others_may_not_write_it() {
    let project = Project::new(DOCUMENT);
    let call = project.call_command("touch", "{}");
    let mut open = Command::new("sh");
    open.args(["-c", "umask 0; exec \"$@\"", "sh"])
        .arg(call.get_program())
        .args(call.get_args());
    project.run(&mut open).expect(0);
    let made = project.path().join("made");
    assert!(made.join("file").exists());
    let log = std::fs::read_to_string(project.audit_log()).unwrap();
    assert!(
        log.contains(&format!("\"created_roots\":[\"{}\"]", made.display())),
        "{log}"
    );
    let mode = std::fs::metadata(&made).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}
