//! Values that must never be printed.

use std::fmt;

use zeroize::Zeroizing;

/// The bytes of a secret. Overwritten when dropped; has no `Display`, and `Debug` shows nothing of
/// the content, not even its length.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Takes ownership of the bytes; the caller's vector becomes this one, no copy remains.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes themselves, for the one place that hands them to a child.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is nothing to protect.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(…)")
    }
}

/// A value as it came from outside, before redaction: an argument vector, standard input, a
/// script. It can be used but not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Marks a value as unprintable.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Gives the value up.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redacted(…)")
    }
}
