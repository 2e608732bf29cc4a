#![allow(clippy::unwrap_used)]

use std::os::unix::fs::symlink;

use chatmd_plan::facts::{ControlState, StateProtection};

use super::*;
use crate::canonical::CanonicalPath;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    (dir, base)
}

fn file(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn this_host() {
    let facts = system_facts().unwrap();
    let root = |path: &str| {
        facts
            .system_roots
            .iter()
            .find(|root| root.path == Path::new(path))
    };
    assert_eq!(root("/usr").unwrap().kind, SystemRootKind::Directory);
    assert!(root("/etc").is_some());
    for root in &facts.system_roots {
        let link = fs::symlink_metadata(&root.path)
            .unwrap()
            .file_type()
            .is_symlink();
        assert_eq!(
            matches!(root.kind, SystemRootKind::Symlink(_)),
            link,
            "{:?}",
            root.path
        );
    }
    for path in ["/etc/shadow", "/etc/gshadow"] {
        if fs::symlink_metadata(path).is_ok() {
            assert!(facts.masks.iter().any(|mask| mask.path == Path::new(path)));
        }
    }
    if facts.uid_zero {
        // Nothing that others may not read is left uncovered.
        let mut private = Vec::new();
        private_entries(Path::new("/etc"), &mut private).unwrap();
        for entry in private {
            assert!(
                facts
                    .masks
                    .iter()
                    .any(|mask| entry.path.starts_with(&mask.path))
            );
        }
    }
}

#[test]
fn private_entries_of_a_folder() {
    let (_keep, base) = scratch();
    file(&base.join("open"), 0o644);
    file(&base.join("key"), 0o640);
    file(&base.join("group/inner"), 0o600);
    file(&base.join("closed/inner"), 0o600);
    file(&base.join("listable/x"), 0o644);
    symlink("key", base.join("link")).unwrap();
    let set = |name: &str, mode| {
        fs::set_permissions(base.join(name), fs::Permissions::from_mode(mode)).unwrap()
    };
    set("closed", 0o750);
    // Names can be listed and nothing reached: a directory needs both bits.
    set("listable", 0o754);
    let mut found = Vec::new();
    private_entries(&base, &mut found).unwrap();
    let mut names: Vec<_> = found
        .iter()
        .map(|mask| {
            (
                mask.path
                    .strip_prefix(&base)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned(),
                mask.kind,
            )
        })
        .collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("closed", NodeKind::Directory),
        ("group/inner", NodeKind::File),
        ("key", NodeKind::File),
        ("listable", NodeKind::Directory),
    ];
    assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
    // The fixed list stands beside it, sorted, nothing twice and nothing inside a masked folder.
    let masks = masks(true, &base).unwrap();
    assert!(masks.is_sorted_by(|a, b| a.path < b.path));
    assert!(
        masks
            .iter()
            .all(|mask| !mask.path.ends_with("closed/inner"))
    );
    assert!(
        facts_for(false, &base)
            .unwrap()
            .masks
            .iter()
            .all(|mask| !mask.path.starts_with(&base))
    );
}

#[test]
fn resolver_configuration() {
    let (_keep, base) = scratch();
    file(&base.join("stub"), 0o644);
    symlink("stub", base.join("resolv.conf")).unwrap();
    symlink("gone", base.join("dangling")).unwrap();
    assert_eq!(
        resolv_conf(&base.join("resolv.conf")),
        Some(base.join("stub"))
    );
    assert_eq!(resolv_conf(&base.join("dangling")), None);
    assert_eq!(
        resolv_conf(Path::new("/etc/passwd")),
        None,
        "shown with /etc"
    );
}

#[test]
fn wrappers() {
    let (_keep, base) = scratch();
    let copy = base.join("bwrap");
    fs::copy("/bin/true", &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o775)).unwrap();
    assert!(matches!(
        find_wrapper(Some(&copy)),
        Err(WrapperError::Unsafe { .. })
    ));
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let root = nix::unistd::geteuid().is_root();
    assert_eq!(find_wrapper(Some(&copy)).is_ok(), root, "only root's own");
    assert!(matches!(
        find_wrapper(Some(&base.join("no"))),
        Err(WrapperError::Unresolved { .. })
    ));
    file(&base.join("script"), 0o755);
    fs::write(base.join("script"), "#!/bin/sh\n").unwrap();
    assert!(matches!(
        find_wrapper(Some(&base.join("script"))),
        Err(WrapperError::Resolve(_))
    ));
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    assert!(matches!(
        find_wrapper(Some(&copy)),
        Err(WrapperError::Unsafe { .. })
    ));
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    if root {
        let wrapper = find_wrapper(Some(&copy)).unwrap();
        assert!(wrapper.verify().is_ok());
        fs::copy("/bin/false", &copy).unwrap();
        assert!(wrapper.verify().is_err());
    }
    match find_wrapper(None) {
        Ok(wrapper) => assert!(wrapper.path().as_path().is_absolute()),
        Err(error) => assert!(matches!(error, WrapperError::NotInstalled)),
    }
}

#[test]
fn state_and_audit_files() {
    let (_keep, base) = scratch();
    file(&base.join("real/key"), 0o600);
    symlink("real", base.join("link")).unwrap();
    let key = state_path(&base.join("link/key")).unwrap();
    assert_eq!(
        (key.path, key.protection),
        (base.join("real/key"), StateProtection::Mask(NodeKind::File))
    );
    let folder = state_path(&base.join("link")).unwrap();
    assert_eq!(
        folder.protection,
        StateProtection::Mask(NodeKind::Directory)
    );
    assert_eq!(state_path(&base.join("none")), None);
    assert_eq!(
        audit_file(&base.join("real/key")).unwrap().protection,
        StateProtection::ReadOnly
    );
}

fn controls(write: &[&Path], sources: &[PathBuf]) -> Vec<(String, ControlState)> {
    let roots: Vec<CanonicalPath> = write.iter().map(|path| canonical(path).unwrap()).collect();
    let input = ControlInput {
        write_roots: &roots,
        sources,
        projects: &[],
    };
    let base = write[0].to_path_buf();
    let name = |path: PathBuf| {
        path.strip_prefix(&base)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    control_paths(&input)
        .into_iter()
        .map(|control| (name(control.path), control.state))
        .collect()
}

#[test]
fn control_paths_of_a_repository() {
    let (_keep, base) = scratch();
    for name in [
        ".git/HEAD",
        ".git/config",
        ".git/hooks/x",
        ".git/modules/a/b/HEAD",
        ".git/modules/a/b/config",
        ".envrc",
        "agent.chatmd",
        "lib/real.chatmd",
    ] {
        file(&base.join(name), 0o644);
    }
    symlink("nowhere", base.join(".vscode")).unwrap();
    symlink("lib/real.chatmd", base.join("linked.chatmd")).unwrap();
    let outside = scratch();
    let sources = [
        base.join("agent.chatmd"),
        base.join("linked.chatmd"),
        outside.1.join("other.chatmd"),
    ];
    let found = controls(&[&base], &sources);
    use ControlState::{Missing, Present, Symlink};
    let expected = [
        (".envrc", Present),
        (".git/config", Present),
        (".git/hooks", Present),
        (".git/info/attributes", Missing),
        (".git/modules/a/b/config", Present),
        (".git/modules/a/b/hooks", Missing),
        (".git/modules/a/b/info/attributes", Missing),
        (".idea", Missing),
        (".pre-commit-config.yaml", Missing),
        (".vscode", Symlink),
        ("agent.chatmd", Present),
        ("chatmd.toml", Missing),
        ("lib/real.chatmd", Present),
        ("linked.chatmd", Symlink),
    ];
    assert_eq!(
        found,
        expected.map(|(name, state)| (name.to_owned(), state))
    );
}

#[test]
fn control_paths_behind_links() {
    let (_keep, base) = scratch();
    for name in [
        "real-git/HEAD",
        "real-git/config",
        "real-git/hooks/x",
        "real.envrc",
        "vs/settings.json",
    ] {
        file(&base.join(name), 0o644);
    }
    let outside = scratch();
    for (target, link) in [
        ("real-git", ".git"),
        ("real.envrc", ".envrc"),
        ("vs", ".vscode"),
        (outside.1.to_str().unwrap(), ".idea"),
    ] {
        symlink(target, base.join(link)).unwrap();
    }
    let found = controls(&[&base], &[]);
    use ControlState::{Missing, Present, Symlink};
    let expected = [
        (".envrc", Symlink),
        (".git", Symlink),
        // What it leads to lies in no write root.
        (".idea", Symlink),
        (".pre-commit-config.yaml", Missing),
        (".vscode", Symlink),
        ("chatmd.toml", Missing),
        ("real-git/config", Present),
        ("real-git/hooks", Present),
        ("real-git/info/attributes", Missing),
        ("real.envrc", Present),
        ("vs", Present),
    ];
    assert_eq!(
        found,
        expected.map(|(name, state)| (name.to_owned(), state))
    );
}

#[test]
fn control_paths_of_a_worktree() {
    let (_keep, base) = scratch();
    file(&base.join("main/.git/config"), 0o644);
    file(&base.join("main/.git/worktrees/w/HEAD"), 0o644);
    fs::write(base.join("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
    fs::create_dir(base.join("w")).unwrap();
    fs::write(base.join("w/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
    let roots = [canonical(&base).unwrap()];
    let projects = [canonical(base.join("w")).unwrap()];
    let input = ControlInput {
        write_roots: &roots,
        sources: &[],
        projects: &projects,
    };
    let found = control_paths(&input);
    let state = |name: &str| {
        found
            .iter()
            .find(|c| c.path == base.join(name))
            .map(|c| c.state)
    };
    assert_eq!(state("w/.git"), Some(ControlState::Present));
    assert_eq!(state("main/.git/config"), Some(ControlState::Present));
    assert_eq!(
        state("main/.git/worktrees/w/hooks"),
        Some(ControlState::Missing)
    );
    // A file that names nothing, or itself, ends the search.
    fs::write(base.join("w/.git"), "gitdir: .git\n").unwrap();
    assert!(
        control_paths(&input)
            .iter()
            .any(|c| c.path == base.join("w/.git"))
    );
}
