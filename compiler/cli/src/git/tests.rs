//! A git that does what it should not do.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use chatmd_compiler::db::LoadError;

use super::*;

const SILENCE: Duration = Duration::from_millis(300);
/// Longer than one silence and the end of the process, far shorter than for ever.
const PROMPT: Duration = Duration::from_secs(8);
const NAME: &str = "0123456789012345678901234567890123456789";

struct Fake {
    directory: tempfile::TempDir,
    git: Git,
}

impl Fake {
    fn new(body: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("git");
        std::fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let git = Git::fake(program, SILENCE);
        Self { directory, git }
    }

    fn cwd(&self) -> &Utf8Path {
        Utf8Path::from_path(self.directory.path()).unwrap()
    }

    fn objects(&self) -> Objects {
        Objects::new(self.git.clone(), self.cwd().to_owned())
    }
}

#[test]
fn a_git_that_never_ends_is_given_up() {
    for (body, limit, expected) in [
        ("sleep 60", 10, "said nothing"),
        ("echo half; sleep 60", 10, "said nothing"),
        ("yes", 100_000, "more than 100000 bytes"),
        // The pipe is closed, the process is not.
        ("exec >/dev/null; exec sleep 60", 10, "git: "),
        ("sleep 60 & echo no >&2; exit 1", 10, "said nothing"),
        ("yes no >&2; exit 1", 10, "git"),
        (
            "echo 'fatal: first' >&2; echo second >&2; exit 1",
            10,
            "git: first",
        ),
    ] {
        let fake = Fake::new(body);
        let started = Instant::now();
        let why = fake.git.answer(fake.cwd(), &["x"], limit).unwrap_err();
        assert!(why.contains(expected), "{body}: {why}");
        assert!(
            started.elapsed() < PROMPT,
            "{body}: {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn answers_about_objects_are_taken_for_nothing_but_what_they_are() {
    for (answer, expected) in [
        (
            format!("echo '{NAME} blob 3'; echo abc; sleep 60"),
            Ok(&b"abc"[..]),
        ),
        (
            format!("echo '{NAME} blob 0'; echo; sleep 60"),
            Ok(&b""[..]),
        ),
        (
            format!("echo '{NAME} blob 11'; sleep 60"),
            Err(LoadError::TooLarge { limit: 10 }),
        ),
        (
            format!("echo '{NAME} blob 99999999999999'; cat /dev/zero"),
            Err(LoadError::TooLarge { limit: 10 }),
        ),
        (
            format!("echo '{NAME} missing'; sleep 60"),
            Err(LoadError::Other(ErrorKind::NotFound)),
        ),
        (
            format!("echo '{NAME} tree 3'; echo abc"),
            Err(LoadError::Other(ErrorKind::NotFound)),
        ),
        (
            format!("echo '{NAME} blob 10'; printf abc; sleep 60"),
            Err(LoadError::Other(ErrorKind::TimedOut)),
        ),
        (
            format!("echo '{NAME} blob 10'; echo abc"),
            Err(LoadError::Other(ErrorKind::UnexpectedEof)),
        ),
        (
            format!("echo '{NAME} blob x'"),
            Err(LoadError::Other(ErrorKind::InvalidData)),
        ),
        (
            "echo 'another blob 3'; echo abc".to_owned(),
            Err(LoadError::Other(ErrorKind::InvalidData)),
        ),
        (
            "yes | tr -d '\\n'".to_owned(),
            Err(LoadError::Other(ErrorKind::InvalidData)),
        ),
        (
            "sleep 60".to_owned(),
            Err(LoadError::Other(ErrorKind::TimedOut)),
        ),
    ] {
        let fake = Fake::new(&format!("read object\n{answer}"));
        let started = Instant::now();
        let read = fake.objects().read(NAME, 10);
        assert_eq!(read.as_deref(), expected.as_ref().copied(), "{answer}");
        assert!(
            started.elapsed() < PROMPT,
            "{answer}: {:?}",
            started.elapsed()
        );
    }
    // What is no name of an object is not asked for.
    let fake = Fake::new("touch asked; echo x");
    for name in ["", "HEAD", "-x", "01\n23"] {
        assert!(fake.objects().read(name, 10).is_err(), "{name:?}");
    }
    assert!(!fake.cwd().join("asked").exists());
}

/// A failure is one of its object: the next one is asked of a new process.
#[test]
fn a_process_that_failed_is_replaced() {
    let other = NAME.replace('0', "f");
    let body = format!(
        "echo x >> started\nwhile read object; do\n\
         if [ \"$object\" = {other} ]; then echo \"$object blob 3\"; echo abc\n\
         elif [ \"$object\" = f0 ]; then echo f0 missing\n\
         else echo \"$object blob 3000\"; fi\ndone"
    );
    let fake = Fake::new(&body);
    let objects = fake.objects();
    for _ in 0..3 {
        assert_eq!(objects.read(&other, 10).unwrap(), b"abc");
        assert!(objects.read("f0", 10).is_err());
    }
    let started = || {
        std::fs::read_to_string(fake.cwd().join("started"))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(started(), 1);
    assert_eq!(
        objects.read(NAME, 10),
        Err(LoadError::TooLarge { limit: 10 })
    );
    assert_eq!(objects.read(&other, 10).unwrap(), b"abc");
    assert_eq!(started(), 2);
}

/// Settings that git reads from a pipe which nobody writes.
#[test]
fn a_repository_that_keeps_git_waiting_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let cwd = Utf8Path::from_path(directory.path()).unwrap();
    let real = Git::find(Duration::from_secs(20)).unwrap();
    real.answer(cwd, &["init", "-q"], 1 << 20).unwrap();
    let pipe = cwd.join("pipe");
    nix::unistd::mkfifo(pipe.as_std_path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let include = format!("[include]\n\tpath = {pipe}\n");
    let config = cwd.join(".git/config");
    let text = std::fs::read_to_string(&config).unwrap() + &include;
    std::fs::write(&config, text).unwrap();
    let started = Instant::now();
    let why = Repository::around_within(cwd, SILENCE).err().unwrap();
    assert!(why.contains("said nothing"), "{why}");
    assert!(started.elapsed() < PROMPT);
}
