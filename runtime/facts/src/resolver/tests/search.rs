//! Finding a program by its text (spec 06 section 3.1).

use super::*;

#[test]
fn search_order_and_candidates() {
    let world = World::new();
    fs::create_dir_all(world.base.join("a/tool")).unwrap();
    world.file("b/tool", "#!/bin/sh\n", 0o644);
    let wanted = world.program("c/tool");
    world.program("d/tool");
    let folders: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .map(|name| world.base.join(name))
        .collect();
    let from_path = world.resolver(Setup {
        path: folders
            .iter()
            .map(|path| path.to_str().unwrap())
            .collect::<Vec<_>>()
            .join(":"),
        ..world.setup()
    });
    let declared = world.resolver(Setup {
        search: folders,
        ..world.setup()
    });
    for resolver in [from_path, declared] {
        // Neither a folder nor a file without an execute bit hides a program further on.
        assert_eq!(resolver.resolve("tool").unwrap().located(), wanted);
    }
}

#[test]
fn names_that_can_not_be_resolved() {
    let world = World::new();
    world.file("bin/plain", "text", 0o644);
    fs::create_dir_all(world.base.join("bin/folder")).unwrap();
    let resolver = world.resolver(world.setup());
    for (program, expected) in [
        ("nosuch", "executable \"nosuch\" was not found"),
        (
            "cd",
            "executable \"cd\" was not found (shell built-ins are not available)",
        ),
        (
            "export",
            "executable \"export\" was not found (shell built-ins are not available)",
        ),
        ("plain", "executable \"plain\" is not executable"),
        ("folder", "executable \"folder\" is not executable"),
        ("./nosuch", "executable \"./nosuch\" was not found"),
        (
            "./bin/plain",
            "executable \"./bin/plain\" is not executable",
        ),
        (
            ".",
            "\".\" can not name a program (shell built-ins are not available)",
        ),
        ("..", "\"..\" can not name a program"),
        ("", "\"\" can not name a program"),
        ("bin/", "\"bin/\" can not name a program"),
    ] {
        assert_eq!(reason(resolver.resolve(program)), expected);
    }
    let long = "x".repeat(MAX_PROGRAM_BYTES + 1);
    assert!(matches!(
        resolver.resolve(&long),
        Err(ResolveError::ProgramTooLong)
    ));
    assert!(reason(resolver.resolve(&long[1..])).len() < 400);
}

#[test]
fn relative_search_needs_permission() {
    let world = World::new();
    let tool = world.program("rel/tool");
    let here = world.program("here");
    let setup = |relative| Setup {
        path: "rel::/usr/bin".to_owned(),
        relative,
        ..world.setup()
    };
    let strict = world.resolver(setup(false));
    assert!(matches!(
        strict.resolve("tool"),
        Err(ResolveError::NotFound(_))
    ));
    let open = world.resolver(setup(true));
    assert_eq!(open.resolve("tool").unwrap().located(), tool);
    assert_eq!(
        open.resolve("here").unwrap().located(),
        here,
        "an empty entry is the working directory"
    );
    // A slash means a path, searched or not.
    assert_eq!(strict.resolve("rel/tool").unwrap().located(), tool);
    let dotted = strict.resolve("./rel//../rel/./tool").unwrap();
    assert_eq!(dotted.canonical().as_path(), tool);
    let text = format!("{}/rel/../rel/tool", world.base.display());
    assert_eq!(dotted.located().to_str(), Some(text.as_str()));
}

#[test]
fn aliases_digests_and_links() {
    let world = World::new();
    let program = world.program("opt/real");
    symlink("opt/real", world.base.join("alias")).unwrap();
    let alias = world.base.join("alias");
    let plain = world.resolver(Setup {
        executables: vec![("my tool", alias.clone(), false, None)],
        ..world.setup()
    });
    let found = plain.resolve("my tool").unwrap();
    assert_eq!(
        (found.requested(), found.located()),
        ("my tool", alias.as_path())
    );
    assert_eq!(found.canonical().as_path(), program);
    assert!(found.is_alias() && !found.trusted());
    assert_eq!(found.target().links.len(), 1);
    let digest = found.fingerprint().sha256.to_string();
    let good = world.resolver(Setup {
        executables: vec![("t", alias.clone(), true, Some(digest))],
        ..world.setup()
    });
    assert!(good.check_declared().is_empty());
    let wrong = Some("0".repeat(63) + "1");
    let bad = world.resolver(Setup {
        executables: vec![
            ("t", alias, true, wrong),
            ("gone", world.base.join("gone"), false, None),
        ],
        ..world.setup()
    });
    assert_eq!(reason(bad.resolve("t")), "executable digest mismatch: t");
    let codes: Vec<_> = bad.check_declared().iter().map(FactsError::code).collect();
    assert_eq!(
        codes,
        [
            "shell.executable_unavailable",
            "shell.executable_digest_mismatch"
        ]
    );
}
