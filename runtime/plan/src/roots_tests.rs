use super::*;

fn root(path: &str, access: Access, presence: Presence) -> Root {
    Root {
        path: path.into(),
        access,
        presence,
    }
}

fn read(path: &str) -> Root {
    root(path, Access::Read, Presence::Directory)
}

fn write(path: &str) -> Root {
    root(path, Access::Write, Presence::Directory)
}

fn mounts(roots: &[Root]) -> Result<Vec<String>, PlanError> {
    let found = collect(roots)?;
    let word = |access| if access == Access::Write { "rw" } else { "ro" };
    let mut list: Vec<String> = found
        .slash
        .iter()
        .map(|access| format!("{} /", word(*access)))
        .collect();
    list.extend(
        found
            .mounts
            .iter()
            .map(|(path, access)| format!("{} {}", word(*access), path.display())),
    );
    list.extend(
        found
            .create
            .iter()
            .map(|path| format!("create {}", path.display())),
    );
    Ok(list)
}

#[test]
fn order_merging_and_overlay() {
    type Row<'a> = (&'a [Root], &'a [&'a str]);
    let table: &[Row<'_>] = &[
        (&[read("/b/c"), read("/a")], &["ro /a", "ro /b/c"]),
        (&[read("/w"), write("/w")], &["rw /w"]),
        (&[write("/w"), read("/w")], &["rw /w"]),
        // A read root beneath a write root adds nothing.
        (
            &[write("/w"), read("/w/x/y"), read("/wx")],
            &["rw /w", "ro /wx"],
        ),
        // A write root beneath a read root lies over it.
        (&[write("/r/w"), read("/r")], &["ro /r", "rw /r/w"]),
        // and a read root beneath that is redundant again.
        (
            &[write("/r/w"), read("/r"), read("/r/w/x")],
            &["ro /r", "rw /r/w"],
        ),
        // Sibling names that sort between a folder and its children.
        (
            &[write("/w"), read("/w-x"), read("/w/z")],
            &["rw /w", "ro /w-x"],
        ),
        (&[read("/"), write("/w")], &["ro /", "rw /w"]),
        (&[write("/"), read("/w")], &["rw /"]),
        (&[root("/m", Access::Read, Presence::MissingLeaf)], &[]),
        (
            &[root("/m", Access::Write, Presence::MissingLeaf)],
            &["rw /m", "create /m"],
        ),
        (&[root("/f", Access::Read, Presence::File)], &["ro /f"]),
    ];
    for (roots, expected) in table {
        assert_eq!(
            mounts(roots).as_deref(),
            Ok(expected
                .iter()
                .map(|s| (*s).to_owned())
                .collect::<Vec<_>>()
                .as_slice()),
            "{roots:?}"
        );
    }
}

#[test]
fn refused_write_roots() {
    let missing = root("/x/y", Access::Write, Presence::MissingParent);
    assert_eq!(
        mounts(&[missing]),
        Err(PlanError::WriteRootUnavailable("/x/y".into()))
    );
    for path in ["/proc", "/proc/sys/kernel", "/sys", "/sys/fs/cgroup"] {
        assert_eq!(
            mounts(&[write(path)]),
            Err(PlanError::KernelWriteRoot(path.into()))
        );
    }
    assert!(mounts(&[write("/system"), read("/proc")]).is_ok());
}

#[test]
fn deepest_root_decides() -> Result<(), PlanError> {
    let found = collect(&[read("/r"), write("/r/w"), read("/")])?;
    assert_eq!(found.access(Path::new("/r/x")), Some(Access::Read));
    assert_eq!(found.access(Path::new("/r/w/x")), Some(Access::Write));
    assert_eq!(found.access(Path::new("/other")), Some(Access::Read));
    assert_eq!(collect(&[read("/r")])?.access(Path::new("/rx")), None);
    Ok(())
}

#[test]
fn thousands_of_roots_are_collected_in_one_sweep() -> Result<(), PlanError> {
    let mut roots: Vec<Root> = (0..20_000).map(|n| read(&format!("/w/{n}"))).collect();
    roots.push(write("/w"));
    assert_eq!(collect(&roots)?.mounts.len(), 1);
    Ok(())
}

#[test]
fn working_directory_needs_a_declared_root() {
    let roots = [read("/w")];
    assert!(cwd_reachable(&roots, Path::new("/w/x")));
    assert!(!cwd_reachable(&roots, Path::new("/usr")));
}
