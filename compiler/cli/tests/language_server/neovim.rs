//! A real Neovim, configured as `docs/editors.md` says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longer than a whole session takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

const BROKEN: &str = "<!-- é😀 --> <user promt=\"y\">Hello.</user>\n";

/// The Lua blocks of the page, by the comment on their first line.
fn configuration(minor: u32) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/editors.md");
    let page = std::fs::read_to_string(page).unwrap();
    let wanted = if minor >= 11 {
        "-- Neovim 0.11 and later"
    } else {
        "-- Neovim 0.7 to 0.10"
    };
    let block = page
        .split("```lua\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .map(|(block, _)| block)
        .find(|block| block.starts_with(wanted));
    block.expect("the page has a block for it").to_owned()
}

fn minor_version() -> u32 {
    let output = Command::new("nvim")
        .arg("--version")
        .output()
        .expect("this test needs Neovim: apt-get install neovim");
    let text = String::from_utf8(output.stdout).unwrap();
    let version = text.split_once("NVIM v0.").expect("a version 0.x").1;
    version.split('.').next().unwrap().parse().unwrap()
}

/// Language servers that were started in a folder.
fn servers_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = process.path();
        let here = std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder);
        let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        if here && words.any(|word| word == b"lsp") {
            found.push(process.file_name().into_string().unwrap());
        }
    }
    found
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What one step saw: code and marked text of each finding.
fn step<'a>(report: &'a Value, name: &str) -> Vec<(&'a str, &'a str)> {
    let step = &report["steps"][name];
    assert_eq!(step["came"], true, "{name}: {report:#}");
    let shown = step["shown"].as_array().unwrap();
    let text = |one: &'a Value, member: &str| one[member].as_str().unwrap();
    shown
        .iter()
        .map(|one| (text(one, "code"), text(one, "text")))
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_in_neovim() {
    let minor = minor_version();
    let session = tempfile::tempdir().unwrap();
    let folder = session.path().canonicalize().unwrap();
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_chatmdc"), bin.join("chatmdc")).unwrap();
    std::fs::write(folder.join("agent.chatmd"), BROKEN).unwrap();
    std::fs::write(folder.join("init.lua"), configuration(minor)).unwrap();
    let script: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("compiler/cli/tests/language_server/neovim.lua");
    let mut path = vec![bin];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut neovim = Command::new("nvim")
        .args(["--headless", "-n", "-i", "NONE", "-u"])
        .arg(folder.join("init.lua"))
        .arg("-S")
        .arg(script)
        .current_dir(&folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("SESSION", &folder)
        .env("HOME", &folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the end of the steps", || {
        folder.join("running").exists() || neovim.try_wait().unwrap().is_some()
    });
    let running = servers_in(&folder);
    std::fs::write(folder.join("looked"), "").unwrap();
    let output = neovim.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report = std::fs::read(folder.join("report.json")).expect(&said);
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["failure"], "", "{report:#}\n{said}");

    assert_eq!(
        step(&report, "opened"),
        [("chatmd.unknown_attribute", "promt")]
    );
    assert_eq!(step(&report, "repaired"), []);
    assert_eq!(
        step(&report, "broken again"),
        [("chatmd.unknown_element", "<nothing/>")]
    );
    assert_eq!(step(&report, "undone"), []);
    let tree = report["server_text"].as_str().unwrap();
    let (_, text) = tree.split_once("--- text ---\n").unwrap();
    assert_eq!(text, report["buffer_text"].as_str().unwrap());

    assert_eq!(running.len(), 1, "one server while the editor runs");
    wait_for("the server to end with its editor", || {
        servers_in(&folder).is_empty()
    });
}
