#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A tree with plain files, directories, good, dangling, climbing and looping links.
fn tree() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir_all(base.join("a/b/c")).unwrap();
    fs::create_dir_all(base.join("out/deep")).unwrap();
    fs::write(base.join("a/f"), "x").unwrap();
    fs::write(base.join("out/secret"), "x").unwrap();
    symlink("b", base.join("a/rel")).unwrap();
    symlink("../out", base.join("a/up")).unwrap();
    symlink(base.join("out/deep"), base.join("a/abs")).unwrap();
    symlink("f", base.join("a/file")).unwrap();
    symlink("../out/new", base.join("a/dangling")).unwrap();
    symlink("loop2", base.join("a/loop1")).unwrap();
    symlink("loop1", base.join("a/loop2")).unwrap();
    symlink("a/up/deep", base.join("two")).unwrap();
    (dir, base)
}

fn text(path: &CanonicalPath) -> &Path {
    path.as_path()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("CHATMD_PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
    ))]

    /// The walk agrees with the C library wherever the C library has an answer.
    #[test]
    fn equals_realpath(parts in proptest::collection::vec(prop::sample::select(vec![
        "a", "b", "c", "f", "rel", "up", "abs", "file", "dangling", "loop1", "two", "out", "deep",
        "secret", "missing", "..", ".", "", "..", "a", "rel",
    ]), 0..9)) {
        let (_keep, base) = tree();
        let mut path = base.clone().into_os_string();
        for part in &parts {
            path.push("/");
            path.push(part);
        }
        let path = PathBuf::from(path);
        match (fs::canonicalize(&path), canonical(&path)) {
            (Ok(expected), Ok(found)) => {
                prop_assert_eq!(expected.as_path(), text(&found));
                let either = locate(&path).unwrap();
                prop_assert!(either.exists);
                prop_assert_eq!(either.path, found);
            }
            (Err(_), Err(_)) => {}
            (expected, found) => prop_assert!(false, "{path:?}: {expected:?} and {found:?}"),
        }
    }

    /// Whatever comes out is absolute and free of `.`, `..`, doubled slashes and links.
    #[test]
    fn result_is_normal(parts in proptest::collection::vec(prop::sample::select(vec![
        "a", "b", "f", "rel", "up", "dangling", "missing", "new", "..", ".", "",
    ]), 0..12)) {
        let (_keep, base) = tree();
        let path = PathBuf::from(format!("{}/{}", base.display(), parts.join("/")));
        if let Ok(found) = canonical_or_parent(&path) {
            let bytes = found.as_bytes();
            prop_assert_eq!(bytes.first(), Some(&b'/'));
            for piece in bytes.split(|b| *b == b'/').skip(1) {
                prop_assert!(bytes == b"/" || !piece.is_empty());
                prop_assert!(piece != b"." && piece != b"..");
            }
            for above in found.ancestors() {
                let link = fs::symlink_metadata(above).is_ok_and(|m| m.file_type().is_symlink());
                prop_assert!(!link);
            }
            prop_assert_eq!(&canonical_or_parent(found.as_path()).unwrap(), &found);
        }
    }
}

#[test]
fn missing_tail_is_judged_where_it_would_appear() {
    let (_keep, base) = tree();
    for (given, expected) in [
        ("a/new/x", "a/new/x"),
        // A write through a dangling link lands at its target.
        ("a/dangling", "out/new"),
        ("a/dangling/x", "out/new/x"),
        // `..` is applied after resolution: `up` is `out`, whose parent is the base.
        ("a/up/../x", "x"),
        ("a/up/new/../y", "out/y"),
        ("a/new/../../z", "z"),
        // Once back among existing directories, links count again.
        ("a/new/../up/q", "out/q"),
        ("a/new/./../rel//r", "a/b/r"),
        ("a/f/x", "a/f/x"),
        ("a/f/x/../y", "a/f/y"),
    ] {
        let found = locate(base.join(given)).unwrap();
        assert_eq!(text(&found.path), base.join(expected), "{given}");
        assert!(!found.exists, "{given}");
        assert!(canonical(base.join(given)).is_err(), "{given}");
    }
}

#[test]
fn forty_links_pass_and_forty_one_fail() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::write(base.join("l0"), "x").unwrap();
    for n in 1..=41 {
        symlink(format!("l{}", n - 1), base.join(format!("l{n}"))).unwrap();
    }
    assert_eq!(text(&canonical(base.join("l40")).unwrap()), base.join("l0"));
    assert!(matches!(
        canonical(base.join("l41")),
        Err(CanonicalError::TooManyLinks)
    ));
    assert!(matches!(
        canonical_or_parent(base.join("l41")),
        Err(CanonicalError::TooManyLinks)
    ));
}

#[test]
fn failures_are_outside_every_root() {
    let (_keep, base) = tree();
    assert!(matches!(
        canonical_or_parent(base.join("a/loop1")),
        Err(CanonicalError::TooManyLinks)
    ));
    assert!(!contains("/", base.join("a/loop1/x")));
    assert!(!contains("/", "relative"));
    assert!(matches!(canonical("a/b"), Err(CanonicalError::Relative)));
    assert!(matches!(canonical("/a\0b"), Err(CanonicalError::Nul)));
    let long = format!("/{}", "x/".repeat(MAX_PATH_BYTES));
    assert!(matches!(
        canonical_or_parent(long),
        Err(CanonicalError::TooLong)
    ));
}

#[test]
fn a_directory_that_may_not_be_searched_is_a_failure() {
    if nix::unistd::geteuid().is_root() {
        // Root searches everything; a name too long for any directory is refused all the same.
        let long = format!("/{}/x", "n".repeat(300));
        assert!(matches!(
            canonical_or_parent(long),
            Err(CanonicalError::Io { .. })
        ));
        return;
    }
    let (_keep, base) = tree();
    fs::set_permissions(base.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
    let found = canonical_or_parent(base.join("a/b/c"));
    fs::set_permissions(base.join("a/b"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(found, Err(CanonicalError::Io { .. })));
}

#[test]
fn containment_is_by_whole_components_after_resolution() {
    let (_keep, base) = tree();
    for (root, path, expected) in [
        ("a", "a", true),
        ("a", "a/b/c", true),
        ("a", "a/new", true),
        ("a", "ab", false),
        ("a", "a/up/secret", false),
        ("out", "a/up/secret", true),
        ("a", "a/dangling", false),
        ("out", "a/dangling", true),
        ("a/rel", "a/b/c", true),
        ("a", "a/b/../../out", false),
    ] {
        assert_eq!(
            contains(base.join(root), base.join(path)),
            expected,
            "{root} {path}"
        );
    }
    assert!(contains("/", base.join("a")));
    assert!(contains("/", "/"));
    assert!(!contains(base.join("a"), "/"));
}

#[test]
fn a_parent_of_a_canonical_path_is_canonical() {
    let (_keep, base) = tree();
    let path = canonical(base.join("a/b")).unwrap();
    assert_eq!(path.parent().unwrap(), canonical(base.join("a")).unwrap());
    assert_eq!(CanonicalPath::root().parent(), None);
    assert_eq!(CanonicalPath::root().depth(), 0);
    assert_eq!(canonical("/usr/").unwrap().depth(), 1);
}

#[test]
fn links_are_named_in_the_order_met() {
    let (_keep, base) = tree();
    let (path, links) = canonical_with_links(base.join("two/../secret")).unwrap();
    assert_eq!(text(&path), base.join("out/secret"));
    assert_eq!(links, [base.join("two"), base.join("a/up")]);
    let (_, none) = canonical_with_links(base.join("a/b")).unwrap();
    assert!(none.is_empty());
}
