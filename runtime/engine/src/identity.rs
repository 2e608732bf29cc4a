//! Identity digests of commands (spec 06 section 10.2).
//!
//! These are the values that approvals and grants are bound to. They cover the exact bytes handed
//! to `execve`, so they are never shown next to a redacted command without care: the audit stream
//! has digests of its own (spec 08 section 6.2, [`crate::audit::command`]).

use sha2::{Digest, Sha256};

/// Lower-case hexadecimal text of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(DIGITS[usize::from(nibble)]))
        .collect()
}

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// An incremental `stable_hash`: every element enters as `<decimal byte length>:<bytes>`, so no
/// two lists of elements share an encoding.
#[derive(Default)]
pub struct StableHash(Sha256);

impl StableHash {
    /// A hash of the empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one element.
    #[must_use]
    pub fn element(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0.update(bytes.len().to_string());
        self.0.update(b":");
        self.0.update(bytes);
        self
    }

    /// Adds every element of a list.
    #[must_use]
    pub fn elements<T: AsRef<[u8]>>(self, list: impl IntoIterator<Item = T>) -> Self {
        list.into_iter().fold(self, Self::element)
    }

    /// The digest as 64 lower-case hexadecimal digits.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// `stable_hash(list)`.
pub fn stable_hash<T: AsRef<[u8]>>(list: impl IntoIterator<Item = T>) -> String {
    StableHash::new().elements(list).finish()
}

/// `cwd_sha256` of an identity: of the canonical working directory.
pub fn cwd_sha256(canonical: &[u8]) -> String {
    stable_hash([canonical])
}

/// `environment_sha256`: of the `NAME=VALUE` strings, sorted bytewise as whole strings.
pub fn environment_sha256<N: AsRef<[u8]>, V: AsRef<[u8]>>(
    variables: impl IntoIterator<Item = (N, V)>,
) -> String {
    let mut entries: Vec<zeroize::Zeroizing<Vec<u8>>> = variables
        .into_iter()
        .map(|(name, value)| {
            let (name, value) = (name.as_ref(), value.as_ref());
            let mut entry =
                zeroize::Zeroizing::new(Vec::with_capacity(name.len() + 1 + value.len()));
            entry.extend_from_slice(name);
            entry.push(b'=');
            entry.extend_from_slice(value);
            entry
        })
        .collect();
    entries.sort_unstable_by(|a, b| a.as_slice().cmp(b.as_slice()));
    stable_hash(entries.iter().map(|entry| entry.as_slice()))
}

/// The facts that identify one command after all rewrites.
#[derive(Clone, Debug)]
pub struct CommandIdentity<'a> {
    /// Bound manifest digest.
    pub manifest_sha256: &'a str,
    /// Qualified runtime id.
    pub runtime_id: &'a str,
    /// `structured`, `script_file` or `raw_shell`.
    pub request_kind: &'a str,
    /// Canonical path of the executable.
    pub executable_path: &'a [u8],
    /// Digest of the executable.
    pub executable_sha256: &'a str,
    /// [`cwd_sha256`].
    pub cwd_sha256: &'a str,
    /// [`environment_sha256`].
    pub environment_sha256: &'a str,
    /// Digest of the bytes of standard input; absent when it is empty.
    pub stdin_sha256: Option<&'a str>,
    /// Length of standard input.
    pub stdin_bytes: u64,
    /// Digest of the script, if one runs.
    pub script_sha256: Option<&'a str>,
}

impl CommandIdentity<'_> {
    /// `command_hash`, stored in grants as `command_sha256`. `argv` starts with the requested
    /// program text and is not redacted.
    pub fn command_sha256<T: AsRef<[u8]>>(&self, argv: impl IntoIterator<Item = T>) -> String {
        StableHash::new()
            .element(self.manifest_sha256)
            .element(self.runtime_id)
            .element(self.request_kind)
            .element(self.executable_path)
            .element(self.executable_sha256)
            .element(self.cwd_sha256)
            .element(self.environment_sha256)
            .element(self.stdin_sha256.unwrap_or(""))
            .element(self.stdin_bytes.to_string())
            .element(self.script_sha256.unwrap_or(""))
            .elements(argv)
            .finish()
    }
}
