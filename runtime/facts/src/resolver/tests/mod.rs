//! The resolver on a real file system.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod formats;
mod identity;
mod search;
mod trust;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use chatmd_compiler::manifest::{EnvOp, Environment, Inherit, PathBase};

use super::*;
use crate::canonical::canonical;
use crate::environment;
use crate::host::{HostInput, Snapshot};

/// A scratch world below a folder that only root and its owner may change.
struct World {
    _keep: tempfile::TempDir,
    base: PathBuf,
}

struct Setup {
    path: String,
    relative: bool,
    search: Vec<PathBuf>,
    trusted: Vec<PathBuf>,
    executables: Vec<(&'static str, PathBuf, bool, Option<String>)>,
    write: Vec<PathBuf>,
    workspace: Option<PathBuf>,
}

impl World {
    fn new() -> Self {
        // Not in /tmp: nothing there is ever stable.
        let home = std::env::current_exe()
            .unwrap()
            .parent()
            .unwrap()
            .to_path_buf();
        let dir = tempfile::tempdir_in(home).unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        Self { _keep: dir, base }
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy("/bin/true", &path).unwrap();
        mode(&path, 0o755);
        path
    }

    fn file(&self, name: &str, text: &str, bits: u32) -> PathBuf {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        mode(&path, bits);
        path
    }

    fn setup(&self) -> Setup {
        Setup {
            path: format!("{}:/usr/bin", self.base.join("bin").display()),
            relative: false,
            search: vec![],
            trusted: vec![],
            executables: vec![],
            write: vec![],
            workspace: None,
        }
    }

    fn resolver(&self, setup: Setup) -> Resolver {
        let host = Host::new(HostInput {
            environment: Snapshot::default(),
            directories: setup
                .workspace
                .map(|path| (PathBase::Workspace, path))
                .into_iter()
                .collect(),
            ..HostInput::default()
        });
        let absolute = |path: &PathBuf| manifest::Path {
            base: PathBase::Absolute,
            path: path.to_str().unwrap().to_owned(),
            source: None,
        };
        let operations = vec![EnvOp::Set {
            name: "PATH".to_owned(),
            value: setup.path,
        }];
        let environment = environment::build(
            &host,
            &Environment {
                inherit: Inherit::None,
                operations,
            },
            setup.relative,
        )
        .unwrap();
        let declared = manifest::Resolver {
            search_path: setup.search.iter().map(absolute).collect(),
            trusted_roots: setup.trusted.iter().map(absolute).collect(),
            executables: setup
                .executables
                .iter()
                .map(|(id, path, trusted, sha256)| manifest::Executable {
                    id: (*id).to_owned(),
                    path: absolute(path),
                    sha256: sha256.clone(),
                    trusted: *trusted,
                })
                .collect(),
            allow_relative_search_path: setup.relative,
        };
        let roots = FrozenRoots {
            read: vec![],
            write: setup
                .write
                .iter()
                .map(|path| canonical(path).unwrap())
                .collect(),
        };
        Resolver::new(
            &host,
            &declared,
            &canonical(&self.base).unwrap(),
            &environment,
            &roots,
        )
        .unwrap()
    }
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

fn reason(result: Result<ResolvedExecutable, ResolveError>) -> String {
    result.unwrap_err().to_string()
}
