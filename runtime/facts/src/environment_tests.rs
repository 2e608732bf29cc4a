#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use chatmd_compiler::manifest::{Path, PathBase};

use super::*;
use crate::host::{HostInput, Snapshot};

fn host(entries: &[&str]) -> Host {
    Host::new(HostInput {
        environment: Snapshot::from_entries(entries),
        directories: BTreeMap::from([(PathBase::Workspace, "/usr".into())]),
        ..HostInput::default()
    })
}

fn run(
    entries: &[&str],
    inherit: Inherit,
    operations: Vec<EnvOp>,
) -> Result<Vec<String>, Vec<&'static str>> {
    match build(
        &host(entries),
        &Environment {
            inherit,
            operations,
        },
        false,
    ) {
        Ok(built) => {
            let text = |(name, value): &(OsString, OsString)| {
                format!("{}={}", name.display(), value.display())
            };
            Ok(built.entries().iter().map(text).collect())
        }
        Err(errors) => Err(errors.iter().map(FactsError::code).collect()),
    }
}

const FIXED: [&str; 4] = ["GIT_PAGER=cat", "NO_COLOR=1", "PAGER=cat", "TERM=dumb"];

/// The result without the four defaults.
fn rest(entries: &[&str], inherit: Inherit, operations: Vec<EnvOp>) -> Vec<String> {
    let mut all = run(entries, inherit, operations).unwrap();
    all.retain(|entry| !FIXED.contains(&entry.as_str()));
    all
}

fn set(name: &str, value: &str) -> EnvOp {
    EnvOp::Set {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn pass(name: &str, required: bool) -> EnvOp {
    EnvOp::Pass {
        name: name.to_owned(),
        required,
        secret: false,
    }
}

fn path(base: PathBase, path: &str, position: Position) -> EnvOp {
    EnvOp::Path {
        position,
        path: Path {
            base,
            path: path.to_owned(),
            source: None,
        },
    }
}

#[test]
fn inheritance_modes() {
    let entries = [
        "PATH=/b:/a",
        "HOME=/h",
        "LC_ALL=C",
        "LCX=1",
        "AWS_SECRET_ACCESS_KEY=k",
        "LD_PRELOAD=x",
        "GIT_DIR=g",
        "NODE_OPTIONS=o",
        "RUSTC_WRAPPER=w",
        "R_HOME=r",
        "CHATMD_SHELL_KEY=s",
        "OCHAT_SHELL_X=s",
        "OTHER=1",
        "PS4=x",
    ];
    let default_path = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
    assert_eq!(rest(&entries, Inherit::None, vec![]), [default_path]);
    assert_eq!(rest(&entries, Inherit::Selected, vec![]), [default_path]);
    assert_eq!(
        rest(&entries, Inherit::Safe, vec![]),
        ["HOME=/h", "LC_ALL=C", "PATH=/b:/a"]
    );
    assert_eq!(
        rest(&entries, Inherit::AllSanitized, vec![]),
        [
            "AWS_SECRET_ACCESS_KEY=k",
            "HOME=/h",
            "LCX=1",
            "LC_ALL=C",
            "OTHER=1",
            "PATH=/b:/a"
        ]
    );
    let raw = rest(&entries, Inherit::Raw, vec![]);
    assert!(raw.contains(&"LD_PRELOAD=x".to_owned()) && raw.contains(&"PS4=x".to_owned()));
    assert!(
        !raw.iter().any(|entry| entry.contains("_SHELL_")),
        "removed in raw too"
    );
    assert!(
        rest(&[], Inherit::Raw, vec![]).is_empty(),
        "raw gets no PATH"
    );
}

#[test]
fn sensitive_names_are_the_compilers() {
    for name in [
        "LD_X",
        "npm_config_x",
        "R_X",
        "RUSTC",
        "ZDOTDIR",
        "GCONV_PATH",
        "IFS",
        "ENV",
    ] {
        assert!(is_sensitive(OsStr::new(name)), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "LANG",
        "MY_LD_PRELOAD",
        "ENVIRONMENT",
        "ENV_X",
        "ld_x",
    ] {
        assert!(!is_sensitive(OsStr::new(name)), "{name}");
    }
    assert!(is_sensitive(OsStr::from_bytes(b"LD_\xff")));
    // The whole list of the specification, counted.
    assert_eq!(schema::environment::SENSITIVE_PREFIXES.len(), 17);
    assert_eq!(schema::environment::SENSITIVE_NAMES.len(), 59);
}

#[test]
fn operations_run_in_order() {
    let entries = ["TOKEN=t", "A_1=x", "A_2=y", "B=z", "TERM=xterm"];
    let unset = |name: &str| EnvOp::Unset {
        name: name.to_owned(),
    };
    let prefix = EnvOp::UnsetPrefix {
        prefix: "A_".to_owned(),
    };
    assert_eq!(
        rest(
            &entries,
            Inherit::Raw,
            vec![prefix, set("A_3", "new"), unset("B")]
        ),
        ["A_3=new", "TOKEN=t"]
    );
    assert_eq!(
        rest(
            &entries,
            Inherit::None,
            vec![set("X", "1"), unset("X"), set("X", "2")]
        )
        .last()
        .unwrap(),
        "X=2"
    );
    // A sensitive name that is declared is honoured.
    assert!(
        rest(
            &["LD_PRELOAD=p"],
            Inherit::AllSanitized,
            vec![pass("LD_PRELOAD", true)]
        )
        .contains(&"LD_PRELOAD=p".to_owned())
    );
    assert_eq!(
        run(&[], Inherit::None, vec![pass("NO", true)]),
        Err(vec!["shell.environment_missing"])
    );
    assert!(run(&[], Inherit::None, vec![pass("NO", false)]).is_ok());
    assert_eq!(
        run(&[], Inherit::None, vec![set("A", "x\0y"), pass("NO", true)]),
        Err(vec!["shell.environment_nul", "shell.environment_missing"])
    );
    assert!(
        !rest(&[], Inherit::None, vec![set("CHATMD_SHELL_X", "1")])
            .iter()
            .any(|e| e.starts_with("CHATMD"))
    );
}

#[test]
fn defaults_yield_to_set_and_pass_only() {
    let all = run(
        &["TERM=xterm", "PAGER=less"],
        Inherit::Raw,
        vec![set("NO_COLOR", "")],
    )
    .unwrap();
    assert_eq!(
        all,
        ["GIT_PAGER=cat", "NO_COLOR=", "PAGER=cat", "TERM=dumb"]
    );
    let all = run(
        &["TERM=xterm"],
        Inherit::None,
        vec![pass("TERM", true), pass("PAGER", false)],
    )
    .unwrap();
    assert!(all.contains(&"TERM=xterm".to_owned()));
    assert!(
        !all.iter().any(|entry| entry.starts_with("PAGER=")),
        "named, though missing"
    );
}

#[test]
fn path_variable() {
    let value = |entries: &[&str], operations| {
        rest(entries, Inherit::Safe, operations)
            .into_iter()
            .find(|e| e.starts_with("PATH="))
            .unwrap()
    };
    assert_eq!(value(&["PATH=/z:/a:rel::/z:.:/m"], vec![]), "PATH=/z:/a:/m");
    assert_eq!(
        value(&["PATH=rel:"], vec![]),
        "PATH=/usr/bin:/bin:/usr/sbin:/sbin"
    );
    let prepend = path(PathBase::Workspace, "bin", Position::Prepend);
    let append = path(PathBase::Absolute, "/opt/x", Position::Append);
    assert_eq!(
        value(&["PATH=/a"], vec![prepend.clone(), append]),
        "PATH=/usr/bin:/a:/opt/x"
    );
    assert_eq!(value(&[], vec![prepend]), "PATH=/usr/bin");
    let colon = path(PathBase::Absolute, "/a:b", Position::Append);
    assert_eq!(
        run(&[], Inherit::None, vec![colon]),
        Err(vec!["shell.environment_path_invalid"])
    );
    let unknown = path(PathBase::Home, "x", Position::Append);
    assert_eq!(
        run(&[], Inherit::None, vec![unknown]),
        Err(vec!["shell.source_dir_unavailable"])
    );
    let built = build(
        &host(&["PATH=rel:/a::rel"]),
        &Environment {
            inherit: Inherit::Safe,
            operations: vec![],
        },
        true,
    );
    assert_eq!(built.unwrap().get("PATH"), Some(OsStr::new("rel:/a:")));
}

#[test]
fn path_env() {
    let operation = |name: &str, suffix: Option<&str>, required| EnvOp::PathEnv {
        name: name.to_owned(),
        suffix: suffix.map(str::to_owned),
        position: Position::Prepend,
        required,
    };
    let entries = ["JAVA_HOME=/opt/jdk", "REL=x", "PATH=/a"];
    let all = rest(
        &entries,
        Inherit::Safe,
        vec![
            operation("JAVA_HOME", Some("bin"), true),
            operation("NO", None, false),
        ],
    );
    assert_eq!(all, ["PATH=/opt/jdk/bin:/a"]);
    assert_eq!(
        run(&entries, Inherit::Safe, vec![operation("REL", None, true)]),
        Err(vec!["shell.environment_path_invalid"])
    );
    assert_eq!(
        run(&entries, Inherit::Safe, vec![operation("NO", None, true)]),
        Err(vec!["shell.environment_missing"])
    );
}

#[test]
fn bounds() {
    let fits = "x".repeat(MAX_ENTRY_BYTES - 2);
    assert!(run(&[], Inherit::None, vec![set("A", &fits)]).is_ok());
    let over = Err(vec!["shell.environment_too_large"]);
    assert_eq!(
        run(&[], Inherit::None, vec![set("A", &format!("{fits}y"))]),
        over
    );
    let five = (0..5).map(|n| set(&format!("A{n}"), &fits[2..])).collect();
    assert_eq!(run(&[], Inherit::None, five), over);
    // PATH and the four defaults count too.
    let many = |n| (0..n).map(|n| set(&format!("A{n}"), "")).collect();
    assert!(run(&[], Inherit::None, many(MAX_ENTRIES - 5)).is_ok());
    assert_eq!(run(&[], Inherit::None, many(MAX_ENTRIES - 4)), over);
}

#[test]
fn secret_values_are_collected_and_never_shown() {
    let operation = EnvOp::Pass {
        name: "TOKEN".to_owned(),
        required: true,
        secret: true,
    };
    let environment = Environment {
        inherit: Inherit::None,
        operations: vec![operation],
    };
    let built = build(&host(&["TOKEN=hunter2"]), &environment, false).unwrap();
    assert_eq!(built.secrets().len(), 1);
    assert_eq!(built.secrets()[0].expose(), b"hunter2");
    assert_eq!(built.get("TOKEN"), Some(OsStr::new("hunter2")));
    assert!(!format!("{built:?} {:?}", built.secrets()).contains("hunter2"));
}
