//! Secret values (spec 06 section 2.6). They live in memory that is wiped on drop and have no
//! printed form.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chatmd_compiler::manifest::{SecretSource, Secrets};
use nix::fcntl::OFlag;
use zeroize::Zeroizing;

use crate::environment::BuiltEnvironment;
use crate::error::FactsError;
use crate::host::Host;

/// Largest secret file, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Shortest value that is registered without a warning, in bytes.
const SHORT_BYTES: usize = 4;

/// A value to hide, with a name for messages.
#[derive(Clone)]
pub struct SecretValue {
    source: String,
    value: Zeroizing<Vec<u8>>,
}

impl SecretValue {
    /// Takes ownership of a value; `source` names where it came from and is not secret.
    pub fn new(source: impl Into<String>, value: Vec<u8>) -> Self {
        Self {
            source: source.into(),
            value: Zeroizing::new(value),
        }
    }

    /// The bytes, for the redactor alone.
    pub fn expose(&self) -> &[u8] {
        &self.value
    }

    /// Where it came from.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretValue({})", self.source)
    }
}

/// A remark about a secret that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretWarning {
    /// The value is empty and is ignored.
    Empty(String),
    /// The value is so short that hiding it may hide much else.
    Short(String),
}

impl SecretWarning {
    /// Diagnostic code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty(_) => "shell.secret_empty",
            Self::Short(_) => "shell.secret_short",
        }
    }

    /// Message without the value.
    pub fn message(&self) -> String {
        match self {
            Self::Empty(source) => format!("the secret {source} is empty and hides nothing"),
            Self::Short(source) => {
                format!(
                    "the secret {source} is shorter than {SHORT_BYTES} bytes; output that happens to hold it is hidden too"
                )
            }
        }
    }
}

/// Secrets of one runtime.
#[derive(Debug, Default)]
pub struct LoadedSecrets {
    /// Values in the order of the specification, no empty one.
    pub values: Vec<SecretValue>,
    /// Remarks.
    pub warnings: Vec<SecretWarning>,
}

impl LoadedSecrets {
    /// Registers one more value, such as that of a secret argument.
    pub fn add(&mut self, value: SecretValue) {
        let source = value.source().to_owned();
        match value.expose().len() {
            0 => return self.warnings.push(SecretWarning::Empty(source)),
            1..SHORT_BYTES => self.warnings.push(SecretWarning::Short(source)),
            _ => {}
        }
        self.values.push(value);
    }
}

/// Loads the values passed as secrets, then the declared sources. `literal` gives the text of the
/// literal with an index. Every failure is reported.
pub fn load(
    host: &Host,
    environment: &BuiltEnvironment,
    declared: &Secrets,
    literal: impl Fn(u64) -> Option<Zeroizing<Vec<u8>>>,
) -> Result<LoadedSecrets, Vec<FactsError>> {
    let mut loaded = LoadedSecrets::default();
    let mut errors = Vec::new();
    for value in environment.secrets() {
        loaded.add(value.clone());
    }
    for source in &declared.sources {
        match one(host, source, &literal) {
            Ok(Some(value)) => loaded.add(value),
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(loaded)
    } else {
        Err(errors)
    }
}

/// The value of a `secret_arg`: read from the runtime's own environment, once.
pub fn secret_argument(
    environment: &BuiltEnvironment,
    name: &str,
) -> Result<SecretValue, FactsError> {
    match environment.get(name) {
        Some(value) => Ok(SecretValue::new(name, value.as_bytes().to_vec())),
        None => Err(FactsError::ToolSecretMissing(name.to_owned())),
    }
}

fn one(
    host: &Host,
    source: &SecretSource,
    literal: &impl Fn(u64) -> Option<Zeroizing<Vec<u8>>>,
) -> Result<Option<SecretValue>, FactsError> {
    match source {
        SecretSource::FromEnv { name, optional } => {
            match host.environment().get(OsStr::new(name)) {
                Some(value) => Ok(Some(SecretValue::new(name, value.as_bytes().to_vec()))),
                None if *optional => Ok(None),
                None => Err(FactsError::EnvironmentMissing(name.clone())),
            }
        }
        SecretSource::FromFile {
            path,
            optional,
            strip,
        } => {
            let path = host.resolve(path)?;
            match read(&path) {
                Ok(mut bytes) => {
                    if *strip {
                        strip_line_end(&mut bytes);
                    }
                    let source = path.display().to_string();
                    Ok(Some(SecretValue {
                        source,
                        value: bytes,
                    }))
                }
                Err(error) if missing(&error) && *optional => Ok(None),
                Err(error) if missing(&error) => Err(FactsError::SecretFileMissing(path)),
                Err(error) => Err(FactsError::SecretLoad {
                    name: format!("the secret file {}", path.display()),
                    reason: error.to_string(),
                }),
            }
        }
        SecretSource::Literal { index } => match literal(*index) {
            Some(value) => Ok(Some(SecretValue {
                source: format!("literal {index}"),
                value,
            })),
            None => Err(FactsError::SecretLoad {
                name: format!("secret literal {index}"),
                reason: "the document holds no such literal".to_owned(),
            }),
        },
    }
}

fn missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Reads a regular file of bounded size; a link as the last component is refused.
fn read(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    // Non-blocking, so that a FIFO in the file's place can not hold the host.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let too_large = || io::Error::other(format!("it is larger than {MAX_FILE_BYTES} bytes"));
    if meta.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    // Room for all of it at once, so that growing leaves no unwiped copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES as usize + 64));
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Removes exactly one `\n` or `\r\n` at the end.
fn strip_line_end(bytes: &mut Vec<u8>) {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
