//! Formats, interpreters and scripts.

use super::*;

#[test]
fn formats_and_interpreters() {
    let world = World::new();
    world.file("bin/text", "echo hello\n", 0o755);
    world.file("bin/script", "#!/bin/sh -e\n", 0o755);
    world.file("bin/lookup", "#!/usr/bin/env -S sh -e\n", 0o755);
    world.file("bin/missing", "#!/nonexistent/sh\n", 0o755);
    let nested = format!("#!{}\n", world.base.join("bin/script").display());
    world.file("bin/nested", &nested, 0o755);
    let resolver = world.resolver(world.setup());
    assert!(reason(resolver.resolve("text")).ends_with("is not a supported executable format"));
    assert!(reason(resolver.resolve("missing")).contains("does not exist"));
    assert!(reason(resolver.resolve("nested")).ends_with("is a script itself"));
    let script = resolver.resolve("script").unwrap();
    let interpreter = script.interpreter().unwrap();
    assert_eq!(interpreter.written, Path::new("/bin/sh"));
    assert_eq!(interpreter.argument.as_deref(), Some(OsStr::new("-e")));
    assert_eq!(interpreter.file().path(), &canonical("/bin/sh").unwrap());
    assert!(!interpreter.looks_up && interpreter.stable);
    assert!(
        resolver
            .resolve("lookup")
            .unwrap()
            .interpreter()
            .unwrap()
            .looks_up
    );
}

#[test]
fn scripts() {
    let world = World::new();
    let path = world.file("s.py", "print(1)\n", 0o644);
    let mut script = ScriptFile::open(&path, 9).unwrap();
    assert_eq!(script.read().unwrap(), b"print(1)\n");
    assert!(script.verify().is_ok());
    assert_eq!(
        ScriptFile::open(&path, 8).unwrap_err().code(),
        "shell.script_too_large"
    );
    assert_eq!(
        ScriptFile::open(&world.base, 8).unwrap_err().code(),
        "shell.script_unavailable"
    );
    assert_eq!(
        ScriptFile::open(&world.base.join("no"), 8)
            .unwrap_err()
            .code(),
        "shell.script_unavailable"
    );
    // The same bytes in another file are the same script.
    let other = world.file("copy.py", "print(1)\n", 0o644);
    fs::rename(&other, &path).unwrap();
    assert!(script.verify().is_ok());
    fs::write(&path, "print(2)\n").unwrap();
    assert!(
        script
            .verify()
            .unwrap_err()
            .contains("not the script that was approved")
    );
    fs::write(&path, "print(1)\n#\n").unwrap();
    assert!(script.verify().unwrap_err().contains("larger"));
    fs::remove_file(&path).unwrap();
    assert!(script.verify().is_err());
}
