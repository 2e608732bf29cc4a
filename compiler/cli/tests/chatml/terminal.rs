//! The session on a terminal: a pseudo terminal, with the keys that a person presses.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};

use super::support::Project;

/// A running session and its screen.
struct Terminal {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    /// All that was shown so far.
    shown: String,
    /// What was already waited for.
    seen: usize,
}

impl Terminal {
    fn open(project: &Project, args: &[&str]) -> Self {
        let size = Winsize {
            ws_row: 40,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pty = openpty(&size, None).unwrap();
        let end = |slave: &OwnedFd| slave.try_clone().unwrap();
        let child = project
            .command(args)
            .env("TERM", "xterm")
            .env("HOME", project.path())
            .stdin(end(&pty.slave))
            .stdout(end(&pty.slave))
            .stderr(pty.slave)
            .spawn()
            .unwrap();
        let keys = File::from(pty.master);
        let mut output = keys.try_clone().unwrap();
        let (send, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = output.read(&mut buffer) {
                if count == 0 || send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keys,
            screen,
            shown: String::new(),
            seen: 0,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until something new is on the screen that holds `text`.
    fn expect(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no {text:?} in {:?}", &self.shown[self.seen..]),
            }
        }
    }

    fn end(mut self) -> i32 {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(Instant::now() < end, "still running: {:?}", self.shown);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    /// A test that fails leaves no session behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const REPL: [&str; 2] = ["chatml", "repl"];

#[test]
fn a_session() {
    let project = Project::new(&[]);
    let mut terminal = Terminal::open(&project, &["chatml", "repl", "--color", "never"]);
    terminal.expect("surface core. `:help`");
    terminal.expect("1> ");
    terminal.press("let double n = n * 2\r");
    terminal.expect("double : int -> int");
    terminal.expect("2> ");
    // A name that only one completion fits.
    terminal.press("doub\t(4)\r");
    terminal.expect("double");
    terminal.expect("- : int = 8");
    // A line that goes on, and the arms of a match until a blank line.
    terminal.press("match double(1) with\r| 2 -> \"two\"\r| _ -> \"more\"\r\r");
    terminal.expect("- : string = two");
    // A failed input keeps its number; its place is shown.
    terminal.press("1 + true\r");
    terminal.expect("<input 4>:1:5");
    terminal.expect("4> ");
    // What there is to say of an input comes before its value.
    terminal.press("[1; 2]\r");
    terminal.expect("warning[chatml.lint.array_sequence]");
    terminal.expect("- : int array = [|2|]");
    terminal.expect("5> ");
    // Ctrl-C drops what is typed.
    terminal.press("fail(\"no");
    terminal.expect("fail");
    terminal.press("\u{3}");
    // The editor has let go of the line.
    terminal.expect("\u{1b}[?2004l");
    terminal.expect("5> ");
    terminal.press("String.starts_with(\"ab\", \"a\")\r");
    terminal.expect("- : bool = true");
    // Tab lists candidates with their types.
    terminal.press("String.s\t\t");
    terminal.expect("slice : string -> int -> int -> string");
    terminal.expect("starts_with : string -> string -> bool");
    terminal.press("\u{3}");
    // The editor has let go of the line.
    terminal.expect("\u{1b}[?2004l");
    terminal.expect("6> ");
    terminal.press(":su\t\r");
    terminal.expect("string_length : string -> int");
    terminal.expect("6> ");
    terminal.press("\u{4}");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn the_history_is_kept_and_private() {
    let project = Project::new(&[]);
    let file = project.path().join(".local/state/chatmd/chatml-history");
    let mut terminal = Terminal::open(&project, &REPL);
    terminal.expect("1> ");
    terminal.press("40 + 2\r");
    terminal.expect("int = 42");
    terminal.press(" 7 * 7\r");
    terminal.expect("int = 49");
    terminal.press(":quit\r");
    assert_eq!(terminal.end(), 0);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    let kept = std::fs::read_to_string(&file).unwrap();
    // Inputs that begin with a space are not kept.
    assert!(kept.contains("40 + 2") && !kept.contains("7 * 7"), "{kept}");
    // The key for upwards: `:quit`, then the sum.
    let mut terminal = Terminal::open(&project, &REPL);
    terminal.expect("1> ");
    terminal.press("\u{1b}[A\u{1b}[A\r");
    terminal.expect("int = 42");
    terminal.press(":quit\r");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let project = Project::new(&[]);
    for (color, coloured) in [("always", true), ("never", false)] {
        let mut terminal = Terminal::open(&project, &["chatml", "repl", "--color", color]);
        terminal.expect("1> ");
        terminal.press("let x = \"s\"\r");
        terminal.expect("x : string = s");
        let found = terminal.shown.contains("\u{1b}[1;34mlet");
        assert_eq!(found, coloured, "{:?}", terminal.shown);
        terminal.press(":quit\r");
        assert_eq!(terminal.end(), 0);
    }
}

/// A closed window, or a lost connection.
#[test]
fn a_terminal_that_goes_away_ends_the_session() {
    let project = Project::new(&[]);
    let pty = openpty(None, None).unwrap();
    // The program must not hold the other end of its own terminal.
    let close_on_exec = FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC);
    fcntl(&pty.master, close_on_exec).unwrap();
    let end = || pty.slave.try_clone().unwrap();
    let mut child = project
        .command(&["chatml", "repl"])
        .env("TERM", "xterm")
        .env("HOME", project.path())
        .stdin(end())
        .stdout(end())
        .stderr(end())
        .spawn()
        .unwrap();
    drop(pty.slave);
    let mut master = File::from(pty.master);
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("1> ") {
        let mut byte = [0];
        master.read_exact(&mut byte).unwrap();
        shown.push(byte[0]);
    }
    drop(master);
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the session goes on without a terminal");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(129));
}
