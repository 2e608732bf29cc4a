//! The integrity key (spec 08 section 2.4).

use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::secure_file::{self, FileError, LockFile, Readable};
use crate::identity::hex;

/// Why the key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file is not usable.
    #[error("integrity key: {0}")]
    File(#[from] FileError),
    /// Not 32 bytes in base64 and a line end.
    #[error("integrity key: the file does not hold 32 bytes in base64")]
    Malformed,
}

/// Protects head records, state and durable grants against processes that cannot read it. It does
/// not protect against the same user, nor against restoring an older authentic file.
pub struct IntegrityKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for IntegrityKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IntegrityKey(…)")
    }
}

impl IntegrityKey {
    /// A key of known bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads the key; `None` when there is no file.
    pub fn load(path: &Path) -> Result<Option<Self>, KeyError> {
        let how = {
            let mut how = secure_file::options();
            how.read(true);
            how
        };
        let file = match secure_file::open(path, &how, Readable::Refuse) {
            Ok(opened) => opened.file,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = Zeroizing::new(Vec::with_capacity(128));
        let read = file.take(128).read_to_end(&mut text);
        read.map_err(|error| FileError::io(path, error))?;
        Self::decode(&text).map(Some)
    }

    /// The key of a file's content.
    fn decode(text: &[u8]) -> Result<Self, KeyError> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let mut bytes = Zeroizing::new([0u8; 33]);
        match STANDARD.decode_slice(text, &mut *bytes) {
            Ok(32) => {}
            _ => return Err(KeyError::Malformed),
        }
        let mut key = Zeroizing::new([0u8; 32]);
        key.copy_from_slice(&bytes[..32]);
        Ok(Self(key))
    }

    /// Reads the key, or creates it with mode 0600 from 32 random bytes. Two processes that start
    /// at once get the same key.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        if let Some(key) = Self::load(path)? {
            return Ok(key);
        }
        secure_file::create_parents(path)?;
        let lock = LockFile::of(path)?;
        let _held = lock.lock()?;
        if let Some(key) = Self::load(path)? {
            return Ok(key);
        }
        let mut bytes = Zeroizing::new([0u8; 32]);
        getrandom::fill(&mut *bytes)
            .map_err(|error| FileError::io(path, std::io::Error::other(error)))?;
        let mut text = Zeroizing::new(STANDARD.encode(*bytes).into_bytes());
        text.push(b'\n');
        secure_file::replace(path, &text)?;
        Ok(Self(bytes))
    }

    /// HMAC-SHA256 over the concatenation of `parts`, as 64 lower-case hexadecimal digits.
    pub fn hmac_hex(&self, parts: &[&[u8]]) -> String {
        hex(&self.mac(parts).finalize().into_bytes())
    }

    /// Whether `expected` (hexadecimal) is the HMAC over `parts`; in constant time.
    pub fn verifies(&self, parts: &[&[u8]], expected: &str) -> bool {
        let digits: Option<Vec<u8>> = expected
            .as_bytes()
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
                _ => None,
            })
            .collect();
        digits.is_some_and(|digest| self.mac(parts).verify_slice(&digest).is_ok())
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        // A key shorter than the block of the hash is padded with zeros (RFC 2104 section 2).
        let mut block = Zeroizing::new([0u8; 64]);
        block[..32].copy_from_slice(&*self.0);
        let mut mac = Hmac::<Sha256>::new((&*block).into());
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

/// Value of a lower-case hexadecimal digit.
const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
impl IntegrityKey {
    /// A key of the corpus, whose checkout is readable by others.
    #[allow(clippy::unwrap_used)]
    pub(crate) fn load_unchecked(path: &Path) -> Self {
        Self::decode(&std::fs::read(path).unwrap()).unwrap()
    }
}
