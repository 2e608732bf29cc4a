//! What a document says of its sandbox takes effect (06b B2.2, B2.3, B4.1), each with the opposite
//! as its control.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::harness::{Project, code, stdout};

/// A shell in a sandbox, with more capabilities and options of the backend.
fn document(capabilities: &str, backend: &str) -> String {
    format!(
        r#"
<shell_access id="r" cwd="${{workspace}}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true" {capabilities}>
    <read path="/usr"/><write path="${{workspace}}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <backends merge="replace"><bubblewrap {backend}/></backends>
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="sh" type="shell" mode="fixed" runtime="r"><command program="sh"><arg value="-c"/></command></tool>
"#
    )
}

async fn sh(project: &Project, script: &str) -> String {
    let input = serde_json::json!({ "arguments": [script] }).to_string();
    stdout(&project.call("sh", &input).await)
}

/// Rows 3 and 19: neither an address nor a name of the host can be reached, unless the document
/// grants the network.
#[tokio::test(flavor = "multi_thread")]
async fn the_network_is_there_only_where_it_is_granted() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let name = format!("chatmd-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let unix = UnixListener::bind_addr(&address).unwrap();
    tcp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    let script = format!(
        r#"perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0) or exit; connect($s, sockaddr_in({port}, inet_aton("127.0.0.1"))) and print "tcp "'
           perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) or exit; connect($s, pack("S a*", PF_UNIX, "\0{name}")) and print "abstract "'
           grep -c : /proc/net/dev"#
    );
    let alone = sh(&Project::new(&document(r#"network="false""#, "")), &script).await;
    assert_eq!(alone, "1\n");
    let refused = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
    assert!(tcp.accept().is_err_and(refused) && unix.accept().is_err_and(refused));
    let shared = sh(&Project::new(&document(r#"network="true""#, "")), &script).await;
    assert!(shared.starts_with("tcp abstract "), "{shared}");
    assert!(tcp.accept().is_ok() && unix.accept().is_ok());
}

/// Rows 7 to 9.
#[tokio::test(flavor = "multi_thread")]
async fn private_folders_are_there_unless_a_document_does_without() {
    let script = "for place in /tmp /proc/self/status /dev/null /dev/zero /dev/shm; do \
                  test -e $place && echo $place; done";
    let all = "/tmp /proc/self/status /dev/null /dev/zero /dev/shm";
    for (backend, there) in [
        ("", all),
        (
            r#"private_tmp="false""#,
            "/proc/self/status /dev/null /dev/zero /dev/shm",
        ),
        (r#"proc="false""#, "/tmp /dev/null /dev/zero /dev/shm"),
        (r#"dev="none""#, "/tmp /proc/self/status /dev/null"),
    ] {
        let found = sh(&Project::new(&document("", backend)), script).await;
        let found: Vec<&str> = found.lines().collect();
        assert_eq!(found.join(" "), there, "{backend}");
    }
    // What is private is empty, and stays inside.
    let marker = format!("chatmd-private-{}", std::process::id());
    for folder in ["/tmp", "/dev/shm"] {
        let script = format!("ls -A {folder} | wc -l; echo x > {folder}/{marker} && echo written");
        let text = sh(&Project::new(&document("", "")), &script).await;
        assert_eq!(text, "0\nwritten\n", "{folder}");
        assert!(!std::path::Path::new(folder).join(&marker).exists());
    }
}

/// Row 13: programs find a home that is empty and read-only. A root that covers it wins.
#[tokio::test(flavor = "multi_thread")]
async fn the_home_folder_is_empty_and_read_only() {
    let project = Project::new(&document("", ""));
    let script = "echo $HOME; ls -A $HOME | wc -l; echo x 2>/dev/null > $HOME/x || echo refused";
    assert_eq!(sh(&project, script).await, "/nonexistent\n0\nrefused\n");
    let home = project.root.join("home");
    std::fs::create_dir(&home).unwrap();
    let mut project = project;
    project.environment = vec![
        "PATH=/usr/bin:/bin".into(),
        format!("HOME={}", home.display()),
    ];
    sh(&project, "echo x > $HOME/x").await;
    assert!(home.join("x").exists());
}

/// A file is a root like a folder (06b B2.4 rules 4 and 6): it alone is there, and naming a protected
/// file as a write root is how a document says that a command may write it.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_can_be_a_root_and_is_then_no_longer_protected() {
    let folder = r#"<write path="${workspace}"/>"#;
    let script = "echo x 2>/dev/null >> .envrc && echo written; ls -A | tr '\\n' ' '";
    for (root, cwd_root, expected) in [
        (String::new(), folder, ".envrc agent.chatmd src "),
        (
            r#"<write path="${workspace}/.envrc"/>"#.to_owned(),
            folder,
            "written\n.envrc agent.chatmd src ",
        ),
        (
            r#"<write path="${workspace}/.envrc"/>"#.to_owned(),
            r#"<read path="${workspace}/src"/>"#,
            "written\n.envrc src ",
        ),
    ] {
        let document = document("", "").replace(folder, &format!("{cwd_root}{root}"));
        // The working directory has to lie in a root.
        let document = if cwd_root == folder {
            document
        } else {
            document.replace(r#"cwd="${workspace}""#, r#"cwd="${workspace}/src""#)
        };
        let project = Project::new(&document);
        std::fs::write(project.root.join(".envrc"), "").unwrap();
        let script = if cwd_root == folder {
            script.to_owned()
        } else {
            format!("cd ..; {script}")
        };
        assert_eq!(sh(&project, &script).await, expected, "{root} {cwd_root}");
        let written = std::fs::read_to_string(project.root.join(".envrc")).unwrap();
        assert_eq!(written == "x\n", expected.starts_with("written"));
    }
}

/// Address space of each process.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_bound_holds() {
    let script = "perl -e '$x = \"x\" x (400 << 20); print length $x'";
    let bounded = document("", "").replace("<policy", "<limits memory=\"256MiB\"/><policy");
    assert_eq!(sh(&Project::new(&bounded), script).await, "");
    assert_eq!(
        sh(&Project::new(&document("", "")), script).await,
        "419430400"
    );
}

/// Programs that change owner, mode and time of files go on working, as uid 0 too (06b B2.5).
#[tokio::test(flavor = "multi_thread")]
async fn archives_copies_and_builds_work() {
    let project = Project::new(&document("", ""));
    let script = "set -e; umask 022; mkdir a; echo one > a/f; chmod 750 a/f; tar cf a.tar a; rm -r a; \
                  tar xf a.tar; stat -c %a a/f; cp -a a b; install -m 640 a/f c; stat -c %a b/f c; \
                  printf 'all:\\n\\t@echo made\\n' > Makefile; make -s";
    assert_eq!(sh(&project, script).await, "750\n750\n640\nmade\n");
}

/// `execve` is no child: with child processes forbidden one program runs, and no other beside it.
#[tokio::test(flavor = "multi_thread")]
async fn child_processes_need_their_capability() {
    let forbidden = document("", "").replace(
        r#"child_processes="true" arbitrary_code="true""#,
        r#"child_processes="false" arbitrary_code="true""#,
    );
    let direct = r#"<tool name="go" type="shell" mode="structured" runtime="r"/>"#;
    let project = Project::new(&format!("{forbidden}{direct}"));
    let perl =
        |text: &str| serde_json::json!({"program": "perl", "arguments": ["-e", text]}).to_string();
    // A language that could start something is not even begun.
    let invoked = project.call("go", &perl("print fork() ? 1 : 0")).await;
    assert_eq!(code(&invoked), "capability_violation");
    let list = r#"{"program":"ls","arguments":["src"]}"#;
    assert_eq!(stdout(&project.call("go", list).await), "a.txt\n");
}
