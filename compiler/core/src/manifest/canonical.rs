//! Canonical bytes and digests of a manifest (spec 04 section 8).

use serde::Serialize;
use serde_json::Value;

use super::json;
use super::model::{Dependency, Runtime, Script, Source, Tool};
use super::writer::{self, Failure};
use super::{Binding, Manifest, Platform, sha256_hex};

/// The encoding that this version writes, and the only one that it reads.
pub const ENCODING: &str = "chatmd.shell.manifest.v1";

/// Why bytes are no manifest of this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ManifestError {
    /// `shell.manifest_encoding` or `shell.manifest_digest_mismatch`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

impl ManifestError {
    fn encoding(message: impl Into<String>) -> Self {
        Self {
            code: "shell.manifest_encoding",
            message: message.into(),
        }
    }
}

impl From<Failure> for ManifestError {
    fn from(error: Failure) -> Self {
        Self::encoding(format!("the manifest can not be encoded: {error}"))
    }
}

/// A payload with some members replaced, without a copy of the rest.
#[derive(Serialize)]
struct Payload<'m> {
    encoding: &'m str,
    platform: Platform,
    sources: &'m [Source],
    runtimes: &'m [Runtime],
    tools: &'m [Tool],
    moderator_runtime: Option<&'m str>,
    scripts: &'m [Script],
    dependencies: &'m [Dependency],
    features: &'m [String],
    binding: Option<&'m Binding>,
}

impl<'m> Payload<'m> {
    /// The payload with `binding: null`.
    fn unbound(manifest: &'m Manifest) -> Self {
        let Manifest {
            encoding,
            platform,
            sources,
            runtimes,
            tools,
            moderator_runtime,
            scripts,
            dependencies,
            features,
            binding: _,
        } = manifest;
        Self {
            encoding,
            platform: *platform,
            sources,
            runtimes,
            tools,
            moderator_runtime: moderator_runtime.as_deref(),
            scripts,
            dependencies,
            features,
            binding: None,
        }
    }
}

/// The payload as a JSON value.
pub fn to_value(manifest: &Manifest) -> Result<Value, ManifestError> {
    serde_json::to_value(manifest).map_err(|error| {
        ManifestError::encoding(format!("the manifest can not be encoded: {error}"))
    })
}

/// The canonical bytes of the payload, `binding` as it is.
///
/// Fails only for an integer above 2^53−1, which resolution never makes.
pub fn to_bytes(manifest: &Manifest) -> Result<Vec<u8>, ManifestError> {
    Ok(writer::canonical(manifest)?)
}

/// SHA-256 of [`to_bytes`]: `manifest_sha256` of a bound manifest, `requested_sha256` of another.
pub fn digest(manifest: &Manifest) -> Result<String, ManifestError> {
    Ok(sha256_hex(&to_bytes(manifest)?))
}

/// SHA-256 of the payload with `binding: null`, whether or not it is bound.
pub fn requested_sha256(manifest: &Manifest) -> Result<String, ManifestError> {
    let bytes = writer::canonical(&Payload::unbound(manifest))?;
    Ok(sha256_hex(&bytes))
}

/// The comparison form (section 8.1): without sources and binding. It has no published digest.
pub fn comparison_form(manifest: &Manifest) -> Result<Vec<u8>, ManifestError> {
    let payload = Payload {
        sources: &[],
        ..Payload::unbound(manifest)
    };
    Ok(writer::canonical(&payload)?)
}

/// Reads a plain manifest file: exactly the canonical bytes (section 8.10).
pub fn from_bytes(bytes: &[u8]) -> Result<Manifest, ManifestError> {
    let value = json::parse(bytes)
        .map_err(|error| ManifestError::encoding(format!("the manifest is malformed: {error}")))?;
    let manifest = from_value(value)?;
    if to_bytes(&manifest)? != bytes {
        return Err(ManifestError::encoding(
            "the manifest is not in canonical form: it was edited or reformatted",
        ));
    }
    Ok(manifest)
}

/// Reads the payload of a bundle, where layout carries no meaning. Unknown and missing members,
/// unknown words, another encoding and collections out of order are refused.
pub fn from_value(value: Value) -> Result<Manifest, ManifestError> {
    match value.get("encoding") {
        Some(Value::String(encoding)) if encoding == ENCODING => {}
        Some(Value::String(encoding)) => {
            let found = json::clip(encoding);
            return Err(ManifestError::encoding(format!(
                "the manifest has encoding {found:?}; this version reads {ENCODING:?}"
            )));
        }
        _ => return Err(ManifestError::encoding("the manifest names no encoding")),
    }
    let manifest: Manifest = serde_json::from_value(value.clone())
        .map_err(|error| ManifestError::encoding(format!("the manifest is malformed: {error}")))?;
    if to_value(&manifest)? != value {
        return Err(ManifestError::encoding(
            "the manifest is malformed: a member is missing",
        ));
    }
    super::order::check(&manifest).map_err(|collection| {
        ManifestError::encoding(format!(
            "the manifest is malformed: `{collection}` is not in canonical order"
        ))
    })?;
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn vectors() -> Vec<(String, Value, String)> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
        let mut cases = Vec::new();
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read(path.join("expect.json")).unwrap();
            let expect: Value = serde_json::from_slice(&text).unwrap();
            cases.push((
                path.file_name().unwrap().to_string_lossy().into_owned(),
                expect["payload"].clone(),
                expect["requested_sha256"].as_str().unwrap().to_owned(),
            ));
        }
        assert!(cases.len() >= 45);
        cases
    }

    #[test]
    fn payloads_of_the_vectors_keep_their_digests() {
        for (name, payload, expected) in vectors() {
            let manifest = from_value(payload).unwrap_or_else(|error| panic!("{name}: {error}"));
            let bytes = to_bytes(&manifest).unwrap();
            assert_eq!(sha256_hex(&bytes), expected, "{name}");
            let value = to_value(&manifest).unwrap();
            assert_eq!(json::canonical(&value).unwrap(), bytes, "{name}");
            assert_eq!(from_bytes(&bytes).unwrap(), manifest, "{name}");
            assert_eq!(requested_sha256(&manifest).unwrap(), expected, "{name}");
        }
    }

    fn leaves(value: &Value, at: String, out: &mut Vec<String>) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    leaves(member, format!("{at}/{name}"), out);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    leaves(item, format!("{at}/{index}"), out);
                }
            }
            _ => out.push(at),
        }
    }

    #[test]
    fn changing_any_leaf_changes_the_digest_and_no_missing_member_is_read() {
        for (name, payload, expected) in vectors() {
            let mut all = Vec::new();
            leaves(&payload, String::new(), &mut all);
            for pointer in all {
                let mut changed = payload.clone();
                let leaf = changed.pointer_mut(&pointer).unwrap();
                *leaf = match leaf.take() {
                    Value::Bool(flag) => Value::Bool(!flag),
                    Value::String(text) => Value::String(format!("{text}x")),
                    Value::Number(number) => Value::from(number.as_u64().unwrap() + 1),
                    Value::Null => Value::from("x"),
                    _ => Value::Null,
                };
                let bytes = json::canonical(&changed).unwrap();
                assert_ne!(sha256_hex(&bytes), expected, "{name} {pointer}");

                let (parent, member) = pointer.rsplit_once('/').unwrap();
                let mut shorter = payload.clone();
                if let Some(Value::Object(members)) = shorter.pointer_mut(parent) {
                    let member = member.replace("~1", "/").replace("~0", "~");
                    members.remove(&member).unwrap();
                    let error = from_value(shorter).unwrap_err();
                    assert_eq!(error.code, "shell.manifest_encoding", "{name} {pointer}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_manifest() {
        let (_, payload, _) = vectors().swap_remove(0);
        let refuse = |change: &dyn Fn(&mut Value), reason: &str| {
            let mut value = payload.clone();
            change(&mut value);
            let error = from_value(value).unwrap_err();
            assert_eq!(error.code, "shell.manifest_encoding");
            assert!(error.message.contains(reason), "{error}");
        };
        refuse(&|v| v["encoding"] = "chatmd.shell.manifest.v2".into(), "v2");
        refuse(&|v| v["encoding"] = Value::Null, "no encoding");
        refuse(&|v| v["extra"] = Value::Null, "extra");
        refuse(
            &|v| v["runtimes"][0]["limits"]["extra"] = Value::Null,
            "extra",
        );
        refuse(
            &|v| v["runtimes"][0]["policy"]["default"] = "permit".into(),
            "permit",
        );
        refuse(
            &|v| v["features"].as_array_mut().unwrap().insert(0, "z".into()),
            "features",
        );

        let bytes = json::canonical(&payload).unwrap();
        let spaced = [b" ", bytes.as_slice()].concat();
        assert!(
            from_bytes(&spaced)
                .unwrap_err()
                .message
                .contains("canonical")
        );
        let twice = String::from_utf8(bytes)
            .unwrap()
            .replacen('{', "{\"tools\":[],", 1);
        assert!(
            from_bytes(twice.as_bytes())
                .unwrap_err()
                .message
                .contains("twice")
        );
    }

    #[test]
    fn the_comparison_form_leaves_sources_and_binding_out() {
        let (_, payload, _) = vectors().swap_remove(0);
        let manifest = from_value(payload).unwrap();
        let mut other = manifest.clone();
        other.sources[0].sha256 = "0".repeat(64);
        other.binding = Some(crate::manifest::Binding::default());
        assert_ne!(to_bytes(&other).unwrap(), to_bytes(&manifest).unwrap());
        assert_eq!(
            comparison_form(&other).unwrap(),
            comparison_form(&manifest).unwrap()
        );
        other.platform = crate::manifest::Platform::Windows;
        assert_ne!(
            comparison_form(&other).unwrap(),
            comparison_form(&manifest).unwrap()
        );
    }
}
