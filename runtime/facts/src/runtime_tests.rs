#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use chatmd_compiler::manifest::{self, Manifest, PathBase, Platform, Root};

use super::*;
use crate::host::{HostInput, Snapshot};

fn vectors() -> Vec<(String, Manifest)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/vectors/manifest");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read(path.join("expect.json")).unwrap();
        let expect: serde_json::Value = serde_json::from_slice(&text).unwrap();
        if let Ok(manifest) = manifest::from_value(expect["payload"].clone()) {
            found.push((name, manifest));
        }
    }
    assert!(found.len() > 30, "{}", found.len());
    found
}

/// A host on which every variable is one scratch folder and no process variable is set.
fn host(manifest: &Manifest) -> (tempfile::TempDir, Host) {
    let dir = tempfile::tempdir().unwrap();
    let bases = [
        PathBase::Workspace,
        PathBase::ToolDir,
        PathBase::PromptDir,
        PathBase::CacheDir,
        PathBase::Home,
        PathBase::SessionDir,
    ];
    let sources = manifest
        .sources
        .iter()
        .map(|source| (source.path.clone(), dir.path().to_path_buf()));
    let host = Host::new(HostInput {
        directories: bases
            .map(|base| (base, dir.path().to_path_buf()))
            .into_iter()
            .collect(),
        source_dirs: sources.collect::<BTreeMap<_, _>>(),
        environment: Snapshot::default(),
        session_id: None,
    });
    (dir, host)
}

fn some_literal(_: u64) -> Option<Zeroizing<Vec<u8>>> {
    Some(Zeroizing::new(b"literal-secret".to_vec()))
}

#[test]
fn facts_of_the_default_runtime() {
    let all = vectors();
    let (_, manifest) = all
        .iter()
        .find(|(name, _)| name == "001-defaults-linux")
        .unwrap();
    let (dir, host) = host(manifest);
    let facts = collect(&host, &manifest.runtimes[0], some_literal).unwrap();
    assert_eq!(facts.cwd.as_path(), fs::canonicalize(dir.path()).unwrap());
    assert_eq!(facts.environment.get("NO_COLOR").unwrap(), "1");
    assert!(facts.resolver.resolve("true").is_ok());
    assert!(facts.secrets.values.is_empty());
}

/// Every runtime of the golden manifests either has facts or says why not, and every failure names
/// something that this host really lacks.
#[test]
fn every_golden_runtime_has_facts_or_reasons() {
    let (mut complete, mut refused) = (0, 0);
    for (name, manifest) in vectors() {
        if manifest.platform != Platform::Linux {
            continue;
        }
        let (_dir, host) = host(&manifest);
        for runtime in &manifest.runtimes {
            match collect(&host, runtime, some_literal) {
                Ok(facts) => {
                    complete += 1;
                    assert!(facts.roots.current().changed.is_empty(), "{name}");
                }
                Err(errors) => {
                    refused += 1;
                    assert!(!errors.is_empty(), "{name}");
                    for error in errors {
                        assert!(
                            !error.to_string().is_empty() && error.code().starts_with("shell."),
                            "{name}"
                        );
                    }
                }
            }
        }
    }
    assert!(complete > 30 && refused > 0, "{complete} {refused}");
}

#[test]
fn independent_failures_are_reported_together() {
    let all = vectors();
    let (_, manifest) = all
        .iter()
        .find(|(name, _)| name == "001-defaults-linux")
        .unwrap();
    let (_dir, host) = host(manifest);
    let mut runtime = manifest.runtimes[0].clone();
    runtime.cwd.path = "missing".to_owned();
    runtime.environment.operations.push(manifest::EnvOp::Pass {
        name: "TOKEN".to_owned(),
        required: true,
        secret: false,
    });
    runtime.capabilities.read.push(Root::PathEnv {
        name: "ROOT".to_owned(),
        optional: false,
    });
    let codes: Vec<_> = collect(&host, &runtime, some_literal)
        .unwrap_err()
        .iter()
        .map(FactsError::code)
        .collect();
    assert_eq!(
        codes,
        [
            "shell.directory_unavailable",
            "shell.environment_missing",
            "shell.capability_path_missing"
        ]
    );
}
