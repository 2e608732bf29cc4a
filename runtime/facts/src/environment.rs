//! The environment of a runtime (spec 06 section 2.5).

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use chatmd_compiler::manifest::{EnvOp, Environment, Inherit, Position};
use chatmd_compiler::schema;

use crate::error::FactsError;
use crate::host::{Host, absolute_text};
use crate::secrets::SecretValue;

/// Names that `safe` keeps, beside every name with [`SAFE_PREFIX`].
const SAFE_NAMES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
    "COLUMNS", "LINES",
];
const SAFE_PREFIX: &str = "LC_";

/// Prefixes of the runtime's own variables; no command ever sees one.
const OWN_PREFIXES: &[&str] = &["CHATMD_SHELL_", "OCHAT_SHELL_"];

/// Set in every mode, unless a `set` or `pass` names the variable.
const DEFAULTS: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// `PATH` where none is left.
pub const DEFAULT_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// Most variables.
pub const MAX_ENTRIES: usize = 1024;
/// Most bytes of one `NAME=VALUE`.
pub const MAX_ENTRY_BYTES: usize = 128 * 1024;
/// Most bytes of all `NAME=VALUE` together.
pub const MAX_TOTAL_BYTES: usize = 512 * 1024;

/// The finished environment of a runtime.
pub struct BuiltEnvironment {
    /// Sorted by name bytes.
    entries: Vec<(OsString, OsString)>,
    /// Values of `pass … secret="true"`, for the redactor.
    secrets: Vec<SecretValue>,
}

impl BuiltEnvironment {
    /// Variables sorted by the bytes of their names.
    pub fn entries(&self) -> &[(OsString, OsString)] {
        &self.entries
    }

    /// Value of one variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        let index = self
            .entries
            .binary_search_by(|(known, _)| known.as_os_str().cmp(name))
            .ok()?;
        self.entries.get(index).map(|(_, value)| value.as_os_str())
    }

    /// Values passed as secrets, in manifest order.
    pub fn secrets(&self) -> &[SecretValue] {
        &self.secrets
    }
}

impl std::fmt::Debug for BuiltEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Names only: values may be secret.
        f.debug_list()
            .entries(self.entries.iter().map(|(name, _)| name))
            .finish()
    }
}

/// Whether `all_sanitized` drops this name. The list is the compiler's, which warns about a declared
/// `set` or `pass` of one.
pub fn is_sensitive(name: &OsStr) -> bool {
    // Only bytes that are not UTF-8 are replaced, and no listed name or prefix has any.
    schema::environment::is_sensitive(&name.to_string_lossy())
}

/// Builds the environment. Every failure is reported, not the first alone.
///
/// `allow_relative` is the resolver's `allow_relative_search_path`.
pub fn build(
    host: &Host,
    declared: &Environment,
    allow_relative: bool,
) -> Result<BuiltEnvironment, Vec<FactsError>> {
    let mut work = Work {
        host,
        variables: base(host, declared.inherit),
        named: HashSet::new(),
        secrets: Vec::new(),
        errors: Vec::new(),
    };
    for operation in &declared.operations {
        work.apply(operation);
    }
    if declared.inherit != Inherit::Raw {
        work.clean_path(allow_relative);
    }
    work.defaults();
    work.check_bounds();
    work.variables.retain(|name, _| {
        !OWN_PREFIXES
            .iter()
            .any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
    });
    if work.errors.is_empty() {
        let entries = work.variables.into_iter().collect();
        Ok(BuiltEnvironment {
            entries,
            secrets: work.secrets,
        })
    } else {
        Err(work.errors)
    }
}

/// Step 1.
fn base(host: &Host, inherit: Inherit) -> BTreeMap<OsString, OsString> {
    let keep = |name: &OsStr| match inherit {
        Inherit::None | Inherit::Selected => false,
        Inherit::Safe => {
            name.as_bytes().starts_with(SAFE_PREFIX.as_bytes())
                || SAFE_NAMES
                    .iter()
                    .any(|safe| safe.as_bytes() == name.as_bytes())
        }
        Inherit::AllSanitized => !is_sensitive(name),
        Inherit::Raw => true,
    };
    let kept = host.environment().iter().filter(|(name, _)| keep(name));
    kept.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

struct Work<'a> {
    host: &'a Host,
    variables: BTreeMap<OsString, OsString>,
    /// Names that a `set` or `pass` names.
    named: HashSet<OsString>,
    secrets: Vec<SecretValue>,
    errors: Vec<FactsError>,
}

impl Work<'_> {
    /// Step 2.
    fn apply(&mut self, operation: &EnvOp) {
        match operation {
            EnvOp::Set { name, value } => {
                self.named.insert(name.into());
                if value.contains('\0') {
                    self.errors.push(FactsError::EnvironmentNul(name.clone()));
                } else {
                    self.variables.insert(name.into(), value.into());
                }
            }
            EnvOp::Pass {
                name,
                required,
                secret,
            } => self.pass(name, *required, *secret),
            EnvOp::Unset { name } => {
                self.variables.remove(OsStr::new(name));
            }
            EnvOp::UnsetPrefix { prefix } => {
                self.variables
                    .retain(|name, _| !name.as_bytes().starts_with(prefix.as_bytes()));
            }
            EnvOp::Path { position, path } => match self.host.resolve(path) {
                Ok(path) if path.as_os_str().as_bytes().contains(&b':') => {
                    let reason = "a PATH entry can not hold a colon";
                    let name = path.display().to_string();
                    self.errors
                        .push(FactsError::EnvironmentPath { name, reason });
                }
                Ok(path) => self.join_path(path.into_os_string(), *position),
                Err(error) => self.errors.push(error),
            },
            EnvOp::PathEnv {
                name,
                suffix,
                position,
                required,
            } => {
                self.path_env(name, suffix.as_deref(), *position, *required);
            }
        }
    }

    fn pass(&mut self, name: &str, required: bool, secret: bool) {
        self.named.insert(name.into());
        match self.host.environment().get(name) {
            Some(value) => {
                if secret {
                    self.secrets
                        .push(SecretValue::new(name, value.as_bytes().to_vec()));
                }
                self.variables.insert(name.into(), value.to_owned());
            }
            None if required => self
                .errors
                .push(FactsError::EnvironmentMissing(name.to_owned())),
            None => {}
        }
    }

    fn path_env(&mut self, name: &str, suffix: Option<&str>, position: Position, required: bool) {
        let value = match self.host.environment().get(name) {
            Some(value) => value,
            None if required => {
                return self
                    .errors
                    .push(FactsError::EnvironmentMissing(name.to_owned()));
            }
            None => return,
        };
        let mut text = match absolute_text(value) {
            Ok(path) => path.as_os_str().to_owned(),
            Err(reason) => {
                let name = name.to_owned();
                return self
                    .errors
                    .push(FactsError::EnvironmentPath { name, reason });
            }
        };
        if let Some(suffix) = suffix {
            text.push("/");
            text.push(suffix);
        }
        self.join_path(text, position);
    }

    fn join_path(&mut self, entry: OsString, position: Position) {
        let path = self.variables.entry("PATH".into()).or_default();
        if path.is_empty() {
            *path = entry;
            return;
        }
        let (first, last) = match position {
            Position::Prepend => (entry, std::mem::take(path)),
            Position::Append => (std::mem::take(path), entry),
        };
        path.push(first);
        path.push(":");
        path.push(last);
    }

    /// Step 3.1: order is kept, since it decides which program runs.
    fn clean_path(&mut self, allow_relative: bool) {
        let current = self
            .variables
            .remove(OsStr::new("PATH"))
            .unwrap_or_default();
        let mut seen = HashSet::new();
        let mut kept: Vec<&[u8]> = Vec::new();
        for entry in current.as_bytes().split(|byte| *byte == b':') {
            if (entry.first() == Some(&b'/') || allow_relative) && seen.insert(entry) {
                kept.push(entry);
            }
        }
        let joined = kept.join(&b':');
        let value = if joined.is_empty() {
            DEFAULT_PATH.into()
        } else {
            OsString::from_vec(joined)
        };
        self.variables.insert("PATH".into(), value);
    }

    /// Step 3.2.
    fn defaults(&mut self) {
        for (name, value) in DEFAULTS {
            if !self.named.contains(OsStr::new(name)) {
                self.variables.insert((*name).into(), (*value).into());
            }
        }
    }

    /// Step 3.4.
    fn check_bounds(&mut self) {
        if self.variables.len() > MAX_ENTRIES {
            let text = format!("{} variables, at most {MAX_ENTRIES}", self.variables.len());
            self.errors.push(FactsError::EnvironmentTooLarge(text));
        }
        let mut total = 0_usize;
        for (name, value) in &self.variables {
            let size = name.len() + 1 + value.len();
            total = total.saturating_add(size);
            if size > MAX_ENTRY_BYTES {
                let text = format!(
                    "{} takes {size} bytes, at most {MAX_ENTRY_BYTES}",
                    name.display()
                );
                self.errors.push(FactsError::EnvironmentTooLarge(text));
            }
        }
        if total > MAX_TOTAL_BYTES {
            let text = format!("{total} bytes in all, at most {MAX_TOTAL_BYTES}");
            self.errors.push(FactsError::EnvironmentTooLarge(text));
        }
    }
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
