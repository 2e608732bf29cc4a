//! Trust and stability (spec 06 sections 3.2 and 3.3).

use super::*;

#[test]
fn trust_conditions() {
    let world = World::new();
    let tool = world.program("bin/tool");
    let resolver = |setup: Setup| world.resolver(setup).resolve("tool").unwrap();
    let root = || Setup {
        trusted: vec![world.base.clone()],
        ..world.setup()
    };
    assert!(!resolver(world.setup()).trusted(), "T1");
    let trusted = resolver(root());
    assert!(trusted.trusted() && trusted.stable() && trusted.in_trusted_root());
    for bits in [0o775, 0o757] {
        mode(&tool, bits);
        assert!(!resolver(root()).trusted(), "T2 {bits:o}");
    }
    for bits in [0o4755, 0o2755] {
        mode(&tool, bits);
        let found = resolver(root());
        assert!(!found.trusted() && found.set_id(), "T4 {bits:o}");
    }
    mode(&tool, 0o755);
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(&tool, Some(12345), None).unwrap();
        assert!(!resolver(root()).trusted(), "T3");
        std::os::unix::fs::chown(&tool, Some(0), None).unwrap();
        // A capability as `setcap cap_net_raw+ep` writes it.
        let value = [
            1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        xattr::set(&tool, "security.capability", &value).unwrap();
        let found = resolver(root());
        assert!(!found.trusted() && found.set_id(), "T4 capability");
        xattr::remove(&tool, "security.capability").unwrap();
    }
    let writable = || Setup {
        write: vec![world.base.clone()],
        ..root()
    };
    let found = resolver(writable());
    assert!(
        found.modifiable() && !found.trusted() && !found.stable(),
        "T5"
    );
    let digest = found.fingerprint().sha256.to_string();
    let pinned = Setup {
        executables: vec![("tool", tool.clone(), true, Some(digest))],
        ..writable()
    };
    let found = resolver(pinned);
    assert!(
        found.modifiable() && found.trusted() && found.stable(),
        "T5 with a digest"
    );
    let elsewhere = world.base.join("else");
    fs::create_dir(&elsewhere).unwrap();
    assert!(
        resolver(Setup {
            write: vec![elsewhere],
            ..root()
        })
        .trusted()
    );
}

#[test]
fn stability_conditions() {
    let world = World::new();
    let resolver = world.resolver(Setup {
        path: "/usr/bin".to_owned(),
        ..world.setup()
    });
    let system = resolver.resolve("true").unwrap();
    assert!(system.stable() && !system.trusted());
    let inside = world.resolver(Setup {
        path: "/usr/bin".to_owned(),
        workspace: Some("/usr".into()),
        ..world.setup()
    });
    assert!(
        !inside.resolve("true").unwrap().stable(),
        "a session folder"
    );
    if nix::unistd::geteuid().is_root() {
        let tool = world.program("bin/tool");
        let fixed = || {
            world
                .resolver(world.setup())
                .resolve("tool")
                .unwrap()
                .stable()
        };
        if world
            .base
            .ancestors()
            .all(|above| fs::metadata(above).unwrap().permissions().mode() & 0o022 == 0)
        {
            assert!(fixed());
            mode(&world.base.join("bin"), 0o777);
            assert!(!fixed(), "a folder that others may write");
            mode(&world.base.join("bin"), 0o755);
            mode(&tool, 0o775);
            assert!(!fixed());
        }
    }
    let tmp = tempfile::tempdir().unwrap();
    let tool = tmp.path().join("tool");
    fs::copy("/bin/true", &tool).unwrap();
    mode(&tool, 0o755);
    assert!(
        !resolver.resolve(tool.to_str().unwrap()).unwrap().stable(),
        "/tmp"
    );
}
