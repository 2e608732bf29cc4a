//! Fingerprints, and what verification notices (spec 06 sections 3.4 and 3.5).

use super::*;

#[test]
fn fingerprints() {
    let world = World::new();
    let tool = world.program("bin/tool");
    let found = world.resolver(world.setup()).resolve("tool").unwrap();
    let print = found.fingerprint();
    let meta = fs::metadata(&tool).unwrap();
    assert_eq!(
        (print.device, print.inode, print.size),
        (meta.dev(), meta.ino(), meta.len())
    );
    assert_eq!(print.mode, 0o755);
    assert_eq!(
        print.mtime_ns,
        i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
    );
    // The digest of `abc`, from FIPS 180-2, through a script that is exactly that long plus its head.
    let abc = fs::File::open(world.file("abc", "abc", 0o644)).unwrap();
    let digest = fingerprint::hash_through(&abc, 3, |_| Ok(()))
        .unwrap()
        .unwrap();
    assert_eq!(
        digest.to_string(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert!(
        fingerprint::hash_through(&abc, 2, |_| Ok(()))
            .unwrap()
            .is_none()
    );
    let mut copy = Vec::new();
    found
        .file()
        .copy_verified(|chunk| {
            copy.extend_from_slice(chunk);
            Ok(())
        })
        .unwrap();
    assert_eq!(copy, fs::read(&tool).unwrap());
}

#[test]
fn files_beyond_the_hash_bound_are_refused() {
    let world = World::new();
    let tool = world.program("bin/tool");
    // Sparse: nothing of that size is written.
    fs::File::options()
        .write(true)
        .open(&tool)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    let resolver = world.resolver(world.setup());
    assert!(matches!(
        resolver.resolve("tool"),
        Err(ResolveError::TooLarge(_))
    ));
}

#[test]
fn verification_finds_every_change() {
    let world = World::new();
    let tool = world.program("bin/tool");
    let script = world.file("bin/script", "#!/bin/sh\n", 0o755);
    symlink(&tool, world.base.join("bin/link")).unwrap();
    let resolver = world.resolver(world.setup());
    let fresh = |name: &str| resolver.resolve(name).unwrap();
    assert!(fresh("tool").verify(resolver.cache()).is_ok());

    let mut changed = fresh("script");
    fs::write(&script, "#!/bin/sh\nrm x\n").unwrap();
    assert!(matches!(
        changed.verify(resolver.cache()),
        Err(IdentityError::Different(_))
    ));

    let mut replaced = fresh("tool");
    let other = world.program("other");
    fs::rename(&other, &tool).unwrap();
    // Same bytes, another inode.
    assert!(matches!(
        replaced.verify(resolver.cache()),
        Err(IdentityError::Different(_))
    ));

    let mut permissions = fresh("tool");
    mode(&tool, 0o700);
    assert!(permissions.verify(resolver.cache()).is_err());
    mode(&tool, 0o755);

    let mut moved = fresh("link");
    fs::remove_file(world.base.join("bin/link")).unwrap();
    symlink("/bin/false", world.base.join("bin/link")).unwrap();
    assert!(matches!(
        moved.verify(resolver.cache()),
        Err(IdentityError::Moved(_))
    ));

    let mut gone = fresh("tool");
    fs::remove_file(&tool).unwrap();
    assert!(gone.verify(resolver.cache()).is_err());
    // The held descriptor still names the bytes that were approved.
    assert!(gone.file().copy_verified(|_| Ok(())).is_ok());
}

#[test]
fn a_change_that_keeps_size_and_times_is_found_in_unstable_files() {
    let world = World::new();
    let script = world.file("bin/script", "#!/bin/sh\n#a\n", 0o755);
    let resolver = world.resolver(Setup {
        write: vec![world.base.clone()],
        ..world.setup()
    });
    let mut found = resolver.resolve("script").unwrap();
    assert!(!found.stable());
    let times = fs::metadata(&script).unwrap().modified().unwrap();
    fs::write(&script, "#!/bin/sh\n#b\n").unwrap();
    fs::File::options()
        .write(true)
        .open(&script)
        .unwrap()
        .set_modified(times)
        .unwrap();
    assert!(found.verify(resolver.cache()).is_err());
    assert!(found.file().copy_verified(|_| Ok(())).is_err());
}

#[test]
fn a_replaced_link_or_fifo_is_not_opened() {
    let world = World::new();
    let path = world.base.join("fifo");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(
        fingerprint::open_regular(&canonical(&path).unwrap()),
        Err(ResolveError::NotRegular(_))
    ));
    let tool = world.program("tool");
    let canonical_tool = canonical(&tool).unwrap();
    fs::rename(&tool, world.base.join("away")).unwrap();
    symlink("away", &tool).unwrap();
    assert!(matches!(
        fingerprint::open_regular(&canonical_tool),
        Err(ResolveError::Unreadable { .. })
    ));
}
