#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn base<'a>() -> Profile<'a> {
    Profile {
        executables: &[],
        read: &[],
        write: &[],
        network: false,
        child_processes: false,
        allow_system_reads: true,
    }
}

#[test]
fn narrow_profile() {
    let git = Path::new("/usr/bin/git");
    let helper = Path::new("/opt/chatmd/chatmd-resource-runner");
    let text = profile(&Profile {
        executables: &[git, helper, git],
        read: &[Path::new("/Users/u/a \"b\" \\c")],
        allow_system_reads: false,
        ..base()
    });
    insta::assert_snapshot!(text.unwrap());
}

#[test]
fn wide_profile() {
    let text = profile(&Profile {
        executables: &[Path::new("/usr/bin/make")],
        read: &[Path::new("/private/tmp/r"), Path::new("/Users/u/ref")],
        write: &[Path::new("/Users/u/work")],
        network: true,
        child_processes: true,
        ..base()
    });
    insta::assert_snapshot!(text.unwrap());
}

#[test]
fn unprintable_paths_are_refused() {
    for bytes in [&b"/a\nb"[..], b"/a\x1b[2J", b"/a\x7f", b"/\xff"] {
        let path = Path::new(OsStr::from_bytes(bytes));
        for broken in [
            profile(&Profile {
                executables: &[path],
                ..base()
            }),
            profile(&Profile {
                read: &[path],
                ..base()
            }),
            profile(&Profile {
                write: &[path],
                ..base()
            }),
        ] {
            assert_eq!(broken, Err(PlanError::UnprintablePath));
        }
    }
}
