//! The sandbox wrapper of a live runtime (06 section 3.5).

use std::os::unix::fs::PermissionsExt as _;

use crate::harness::{Project, code};

/// Only root can exchange a wrapper that may be used: it belongs to root and nobody else may write
/// it. An update of bubblewrap under a live runtime looks like this too.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_exchanged_starts_nothing() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root can exchange the wrapper");
        return;
    }
    let project = Project::new(
        r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required"><read path="${workspace}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <backends merge="replace"><bubblewrap id="box" executable="${workspace}/bin/bwrap"/></backends>
  <policy default="allow"/>
  <audit format="session"/>
  <approvals provider="none"/>
</shell_access>
<tool name="go" type="shell" runtime="r" command="true"/>
"#,
    );
    let wrapper = project.root.join("bin/bwrap");
    std::fs::create_dir(project.root.join("bin")).unwrap();
    let install = || {
        std::fs::copy("/usr/bin/bwrap", &wrapper).unwrap();
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    install();
    let registry = project.live().await;
    let call = || chatmd_runtime::pipeline::invoke(&registry, "go", b"{}");
    let before = call().await.unwrap();
    assert!(before.result.is_ok(), "{}", before.text);
    std::fs::remove_file(&wrapper).unwrap();
    install();
    let after = call().await.unwrap();
    assert_eq!(code(&after), "executable_changed", "{}", after.text);
    assert_eq!(
        project.events(),
        [
            "request_received",
            "resolved",
            "policy_decided",
            "plan_created",
            "rejected",
            "request_completed"
        ]
    );
}
