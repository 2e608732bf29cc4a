#![allow(clippy::unwrap_used)]

use chatmd_compiler::manifest::{self, EnvOp, Environment, Inherit};

use super::*;
use crate::canonical::CanonicalPath;
use crate::environment;
use crate::host::{Host, HostInput};
use crate::roots::FrozenRoots;

fn world() -> (Resolver, BuiltEnvironment) {
    let host = Host::new(HostInput::default());
    let set = |name: &str, value: &str| EnvOp::Set {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let operations = vec![
        set("PATH", "/usr/bin"),
        set("HOME", "/h"),
        set("SECRET", "s"),
    ];
    let environment = environment::build(
        &host,
        &Environment {
            inherit: Inherit::None,
            operations,
        },
        false,
    )
    .unwrap();
    let declared = manifest::Resolver {
        search_path: vec![],
        trusted_roots: vec![],
        executables: vec![],
        allow_relative_search_path: false,
    };
    let roots = FrozenRoots::default();
    let resolver = Resolver::new(
        &host,
        &declared,
        &CanonicalPath::root(),
        &environment,
        &roots,
    )
    .unwrap();
    (resolver, environment)
}

#[test]
fn paths_and_programs() {
    let (resolver, _) = world();
    let host = LiveHost::new(&resolver);
    assert_eq!(
        host.canonical_or_parent("/usr/../usr/nosuch/x").as_deref(),
        Ok("/usr/nosuch/x")
    );
    assert!(host.canonical_or_parent("relative").is_err());
    let found = host.search("true", "/").unwrap();
    assert_eq!(found.located, "/usr/bin/true");
    assert_eq!(
        host.search("bin/true", "/usr").unwrap().located,
        "/usr/bin/true"
    );
    assert_eq!(host.search("nosuch", "/"), None);
    assert_eq!(host.folds_case(), cfg!(target_os = "macos"));
}

#[test]
fn facts_of_a_command() {
    let (resolver, environment) = world();
    let resolved = resolver.resolve("true").unwrap();
    let request = RequestFacts {
        cwd: "/".to_owned(),
        kind: RequestKind::Structured,
        script: None,
        stdin: StdinKind::Supplied,
        stdin_bytes: 3,
    };
    let facts = command_facts(
        Some(&resolved),
        vec!["true".to_owned(), "x".to_owned()],
        request.clone(),
        &environment,
    );
    let executable = facts.executable.unwrap();
    assert_eq!(executable.located, "/usr/bin/true");
    assert!(
        executable.stable && !executable.trusted && !executable.interpreted && !executable.alias
    );
    assert_eq!(
        facts.environment,
        [("HOME".to_owned(), "/h".to_owned())].into(),
        "no other variable"
    );
    assert_eq!(facts.stdin_bytes, 3);
    assert!(
        command_facts(None, vec!["x".to_owned()], request, &environment)
            .executable
            .is_none()
    );
}
