use chatmd_compiler::manifest::{Backend, Backends, Confinement, DevMode, Platform, Sandbox, When};

use super::*;

fn probed(list: &[(&str, Class, bool)]) -> Vec<Probed> {
    list.iter()
        .enumerate()
        .map(|(index, (name, class, usable))| Probed {
            index,
            name: (*name).to_owned(),
            class: *class,
            probe: if *usable {
                Probe::Usable
            } else {
                Probe::Unusable("broken".to_owned())
            },
        })
        .collect()
}

fn requirements(sandbox: Sandbox) -> Requirements {
    Requirements {
        sandbox,
        accept_declared: false,
        require_sandbox: false,
    }
}

#[test]
fn selection_table() {
    use Class::{Declared, None, Verified};
    let bwrap = ("linux-bubblewrap", Verified, true);
    let dead = ("linux-bubblewrap", Verified, false);
    let direct = ("direct-unsafe", None, true);
    let wrapper = ("box", Declared, true);
    // sandbox, accept declared, administrator requires, backends, expected name and fallback flag
    type Row<'a> = (
        Sandbox,
        bool,
        bool,
        &'a [(&'a str, Class, bool)],
        Result<(&'a str, bool), &'a str>,
    );
    let table: &[Row<'_>] = &[
        (
            Sandbox::Required,
            false,
            false,
            &[direct, bwrap],
            Ok(("linux-bubblewrap", false)),
        ),
        (
            Sandbox::Required,
            false,
            false,
            &[direct],
            Err("no configured sandbox backend is available"),
        ),
        (
            Sandbox::Required,
            false,
            false,
            &[dead, direct],
            Err("no configured sandbox backend is available"),
        ),
        (
            Sandbox::Required,
            false,
            false,
            &[wrapper],
            Err("no configured sandbox backend is available"),
        ),
        (
            Sandbox::Required,
            true,
            false,
            &[wrapper, bwrap],
            Ok(("box", false)),
        ),
        (
            Sandbox::Preferred,
            false,
            false,
            &[direct, bwrap],
            Ok(("linux-bubblewrap", false)),
        ),
        (
            Sandbox::Preferred,
            false,
            false,
            &[dead, direct],
            Ok(("direct-unsafe", true)),
        ),
        (
            Sandbox::Preferred,
            false,
            false,
            &[direct],
            Ok(("direct-unsafe", false)),
        ),
        (
            Sandbox::Preferred,
            false,
            true,
            &[dead, direct],
            Err("no execution backend is available"),
        ),
        (
            Sandbox::Preferred,
            false,
            false,
            &[],
            Err("no execution backend is available"),
        ),
        (
            Sandbox::DirectUnsafe,
            false,
            false,
            &[bwrap, direct],
            Ok(("direct-unsafe", false)),
        ),
        (
            Sandbox::DirectUnsafe,
            false,
            false,
            &[bwrap],
            Err("direct execution backend is unavailable"),
        ),
        (
            Sandbox::DirectUnsafe,
            true,
            false,
            &[wrapper, direct],
            Ok(("direct-unsafe", false)),
        ),
        (
            Sandbox::DirectUnsafe,
            false,
            true,
            &[direct],
            Err("direct execution backend is unavailable"),
        ),
    ];
    for (sandbox, accept_declared, require_sandbox, list, expected) in table {
        let wanted = Requirements {
            sandbox: *sandbox,
            accept_declared: *accept_declared,
            require_sandbox: *require_sandbox,
        };
        let found = select(wanted, &probed(list));
        let short = match &found {
            Ok(choice) => Ok((choice.name.as_str(), choice.unconfined_fallback)),
            Err(error) => Err(error.message),
        };
        assert_eq!(&short, expected, "{sandbox:?} {list:?}");
    }
}

#[test]
fn every_backend_gets_a_reason() {
    let list = probed(&[
        ("linux-bubblewrap", Class::Verified, false),
        ("box", Class::Declared, true),
        ("direct-unsafe", Class::None, true),
    ]);
    let Err(error) = select(requirements(Sandbox::Required), &list) else {
        unreachable!("nothing confines");
    };
    assert_eq!(error.reasons.len(), 3);
    assert_eq!(error.reasons[0], "linux-bubblewrap: broken");
    assert!(error.reasons[1].contains("accept_declared_confinement"));
    assert!(error.reasons[2].starts_with("direct-unsafe: it does not confine"));
}

#[test]
fn names_classes_and_platforms() {
    let bwrap = Backend::Bubblewrap {
        id: None,
        when: When::Linux,
        executable: None,
        private_tmp: true,
        proc: true,
        dev: DevMode::Minimal,
    };
    let external = |id: Option<&str>, confinement| Backend::External {
        id: id.map(str::to_owned),
        when: When::Any,
        executable: chatmd_compiler::manifest::Path {
            base: chatmd_compiler::manifest::PathBase::Absolute,
            path: "/opt/box".to_owned(),
            source: None,
        },
        sha256: None,
        confinement,
        atoms: Vec::new(),
    };
    assert_eq!(name(&bwrap, None), "linux-bubblewrap");
    assert_eq!(
        name(
            &external(Some("box"), Confinement::Declared),
            Some("/opt/box")
        ),
        "box"
    );
    assert_eq!(
        name(&external(None, Confinement::Declared), Some("/opt/box")),
        "external:/opt/box"
    );
    assert_eq!(class(&bwrap), Class::Verified);
    assert_eq!(class(&external(None, Confinement::Verified)), Class::None);
    assert_eq!(
        class(&external(None, Confinement::Declared)),
        Class::Declared
    );
    let direct = Backend::Direct {
        id: None,
        when: When::Windows,
    };
    let list = Backends {
        accept_declared_confinement: false,
        entries: vec![bwrap, direct, external(None, Confinement::None)],
    };
    assert_eq!(declared_for(&list, Platform::Linux), [0, 2]);
    assert_eq!(declared_for(&list, Platform::Windows), [1, 2]);
    assert_eq!(declared_for(&list, Platform::Macos), [2]);
}
