#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use chatmd_compiler::manifest::{EnvOp, Environment, Inherit, Path as ManifestPath, PathBase};

use super::*;
use crate::environment;
use crate::host::{HostInput, Snapshot};

struct World {
    _keep: tempfile::TempDir,
    base: PathBuf,
    host: Host,
}

fn world(entries: &[&str]) -> World {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let host = Host::new(HostInput {
        environment: Snapshot::from_entries(entries),
        directories: [(PathBase::Home, base.clone())].into(),
        ..HostInput::default()
    });
    World {
        _keep: dir,
        base,
        host,
    }
}

fn load_all(
    world: &World,
    operations: Vec<EnvOp>,
    sources: Vec<SecretSource>,
) -> Result<LoadedSecrets, Vec<&'static str>> {
    let environment = environment::build(
        &world.host,
        &Environment {
            inherit: Inherit::None,
            operations,
        },
        false,
    )
    .unwrap();
    let declared = Secrets {
        replacement: "[REDACTED]".to_owned(),
        sources,
    };
    let literal = |index| (index == 0).then(|| Zeroizing::new(b"literal-value".to_vec()));
    load(&world.host, &environment, &declared, literal)
        .map_err(|errors| errors.iter().map(FactsError::code).collect())
}

fn file(name: &str, optional: bool, strip: bool) -> SecretSource {
    let path = ManifestPath {
        base: PathBase::Home,
        path: name.to_owned(),
        source: None,
    };
    SecretSource::FromFile {
        path,
        optional,
        strip,
    }
}

fn values(loaded: &LoadedSecrets) -> Vec<&str> {
    loaded
        .values
        .iter()
        .map(|value| std::str::from_utf8(value.expose()).unwrap())
        .collect()
}

#[test]
fn sources_in_order() {
    let world = world(&["P=passed", "E=from-env"]);
    fs::write(world.base.join("f"), "from-file\n").unwrap();
    let loaded = load_all(
        &world,
        vec![EnvOp::Pass {
            name: "P".to_owned(),
            required: true,
            secret: true,
        }],
        vec![
            file("f", false, true),
            SecretSource::Literal { index: 0 },
            SecretSource::FromEnv {
                name: "E".to_owned(),
                optional: false,
            },
            SecretSource::FromEnv {
                name: "NO".to_owned(),
                optional: true,
            },
        ],
    )
    .unwrap();
    assert_eq!(
        values(&loaded),
        ["passed", "from-file", "literal-value", "from-env"]
    );
    assert!(loaded.warnings.is_empty());
}

#[test]
fn stripping_removes_one_line_end() {
    let world = world(&[]);
    for (text, expected) in [
        ("value\n", "value"),
        ("value\r\n", "value"),
        ("value\n\n", "value\n"),
        (" value \t\n", " value \t"),
        ("value\r", "value\r"),
    ] {
        fs::write(world.base.join("f"), text).unwrap();
        assert_eq!(
            values(&load_all(&world, vec![], vec![file("f", false, true)]).unwrap()),
            [expected]
        );
        assert_eq!(
            values(&load_all(&world, vec![], vec![file("f", false, false)]).unwrap()),
            [text]
        );
    }
}

#[test]
fn refused_files() {
    let world = world(&[]);
    let base = &world.base;
    fs::write(base.join("real"), "secret").unwrap();
    std::os::unix::fs::symlink("real", base.join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", base.join("dangling")).unwrap();
    fs::create_dir(base.join("dir")).unwrap();
    nix::unistd::mkfifo(&base.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::write(base.join("fits"), vec![b'x'; MAX_FILE_BYTES as usize]).unwrap();
    fs::write(base.join("large"), vec![b'x'; MAX_FILE_BYTES as usize + 1]).unwrap();
    let failed = vec!["shell.secret_load_failed"];
    for name in ["link", "dangling", "dir", "fifo", "large"] {
        assert_eq!(
            load_all(&world, vec![], vec![file(name, true, true)]).unwrap_err(),
            failed,
            "{name}"
        );
    }
    assert!(load_all(&world, vec![], vec![file("fits", false, true)]).is_ok());
    assert_eq!(
        load_all(&world, vec![], vec![file("gone", false, true)]).unwrap_err(),
        ["shell.secret_file_missing"]
    );
    assert_eq!(
        values(&load_all(&world, vec![], vec![file("gone", true, true)]).unwrap()),
        [""; 0]
    );
    let all = load_all(
        &world,
        vec![],
        vec![
            SecretSource::FromEnv {
                name: "NO".to_owned(),
                optional: false,
            },
            SecretSource::Literal { index: 7 },
            file("gone", false, true),
        ],
    );
    assert_eq!(
        all.unwrap_err(),
        [
            "shell.environment_missing",
            "shell.secret_load_failed",
            "shell.secret_file_missing"
        ]
    );
}

#[test]
fn short_and_empty_values() {
    let world = world(&["EMPTY=", "SHORT=abc", "FOUR=abcd"]);
    let from = |name: &str| SecretSource::FromEnv {
        name: name.to_owned(),
        optional: false,
    };
    let loaded = load_all(
        &world,
        vec![],
        vec![from("EMPTY"), from("SHORT"), from("FOUR")],
    )
    .unwrap();
    assert_eq!(values(&loaded), ["abc", "abcd"]);
    let codes: Vec<_> = loaded.warnings.iter().map(SecretWarning::code).collect();
    assert_eq!(codes, ["shell.secret_empty", "shell.secret_short"]);
    assert!(!loaded.warnings.iter().any(|w| w.message().contains("abc")));
    assert!(!format!("{loaded:?}").contains("abc"));
}

#[test]
fn secret_arguments_come_from_the_runtime_environment() {
    let world = world(&["HOST_ONLY=x"]);
    let operations = vec![EnvOp::Set {
        name: "KEY".to_owned(),
        value: "value".to_owned(),
    }];
    let environment = environment::build(
        &world.host,
        &Environment {
            inherit: Inherit::None,
            operations,
        },
        false,
    )
    .unwrap();
    assert_eq!(
        secret_argument(&environment, "KEY").unwrap().expose(),
        b"value"
    );
    assert_eq!(
        secret_argument(&environment, "HOST_ONLY")
            .unwrap_err()
            .code(),
        "shell.tool_secret_missing"
    );
}
