//! Compiled bundles: a manifest with the texts that a run needs beside it, so that no document is
//! read any more (spec 04 section 8.10).
//!
//! The reader trusts nothing that it can compute: both digests and the digest of every script.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::json::{self, clip};
use super::possible;
use super::{
    Backend, Confinement, Extension, Manifest, ManifestError, Reviewer, Runtime, SecretSource,
    canonical, sha256_hex, writer,
};

/// The only format of bundles.
pub const FORMAT: &str = "chatmd.shell.bundle.v1";

/// A bundle whose digests are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The requested manifest: a bundle is bound where it runs, like a document.
    pub manifest: Manifest,
    /// Its digest.
    pub requested_sha256: String,
    /// Program text by id, one for each script of the manifest.
    pub scripts: BTreeMap<String, Arc<str>>,
}

/// What the bytes of an operand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A document, or nothing that can be told from one.
    Document,
    /// A plain manifest.
    Manifest,
    /// A bundle, perhaps a damaged one.
    Bundle,
}

/// Tells documents from compiled files: by the first member where it decides, else by the members
/// `format` and `encoding` of a JSON object.
pub fn recognise(bytes: &[u8]) -> Content {
    let Some(rest) = bytes.trim_ascii_start().strip_prefix(b"{") else {
        return Content::Document;
    };
    let first = rest.trim_ascii_start();
    if first.starts_with(b"\"format\"") {
        return Content::Bundle;
    }
    if first.starts_with(b"\"binding\"") {
        return Content::Manifest;
    }
    if !first.starts_with(b"\"") {
        return Content::Document;
    }
    match json::parse(bytes) {
        Ok(Value::Object(members)) if members.contains_key("format") => Content::Bundle,
        Ok(Value::Object(members)) if members.contains_key("encoding") => Content::Manifest,
        _ => Content::Document,
    }
}

#[derive(Serialize)]
struct File<'a> {
    format: &'a str,
    payload: &'a Manifest,
    manifest_sha256: Option<&'a str>,
    requested_sha256: &'a str,
    material: Material<'a>,
}

#[derive(Serialize)]
struct Material<'a> {
    scripts: BTreeMap<&'a str, &'a str>,
}

/// The bytes of a bundle for a requested manifest, in canonical form.
///
/// # Errors
/// `shell.manifest_material_missing` for a manifest with literal secrets, which never leave their
/// document, or when a script has no text; `shell.manifest_digest_mismatch` when a text is not the
/// one that the manifest names.
pub fn write(
    requested: &Manifest,
    scripts: &BTreeMap<String, Arc<str>>,
) -> Result<Vec<u8>, ManifestError> {
    no_literals(requested)?;
    check_scripts(requested, scripts)?;
    let requested_sha256 = canonical::requested_sha256(requested)?;
    let file = File {
        format: FORMAT,
        payload: requested,
        manifest_sha256: None,
        requested_sha256: &requested_sha256,
        material: Material {
            scripts: scripts
                .iter()
                .map(|(id, text)| (id.as_str(), &**text))
                .collect(),
        },
    };
    Ok(writer::canonical(&file)?)
}

/// Reads a bundle.
///
/// # Errors
/// `shell.manifest_encoding` for anything that is no bundle of this version,
/// `shell.manifest_digest_mismatch` when a digest is not that of what it speaks of,
/// `shell.manifest_material_missing` and `shell.manifest_material_mismatch` when the texts are not
/// exactly those that the manifest needs.
pub fn read(bytes: &[u8]) -> Result<Bundle, ManifestError> {
    let value = json::parse(bytes).map_err(|error| encoding(error.to_string()))?;
    let Value::Object(mut members) = value else {
        return Err(encoding("it is no JSON object"));
    };
    format(&members)?;
    let mut member = |name: &str| {
        members
            .remove(name)
            .ok_or_else(|| encoding(format!("member `{name}` is missing")))
    };
    member("format")?;
    let payload = member("payload")?;
    let stated_bound = optional_digest(member("manifest_sha256")?, "manifest_sha256")?;
    let stated_requested = optional_digest(member("requested_sha256")?, "requested_sha256")?
        .ok_or_else(|| encoding("`requested_sha256` is null"))?;
    let scripts = self::scripts(member("material")?)?;
    no_more(&members, "the bundle")?;

    let mut manifest = canonical::from_value(payload)?;
    let computed = canonical::requested_sha256(&manifest)?;
    same("requested_sha256", &stated_requested, &computed)?;
    match (&manifest.binding, stated_bound) {
        (None, None) => {}
        (Some(_), Some(stated)) => {
            same("manifest_sha256", &stated, &canonical::digest(&manifest)?)?;
        }
        (None, Some(_)) => {
            return Err(encoding(
                "`manifest_sha256` is set, but the payload is not bound",
            ));
        }
        (Some(_), None) => {
            return Err(encoding(
                "the payload is bound, but `manifest_sha256` is null",
            ));
        }
    }
    manifest.binding = None;
    possible::check(&manifest).map_err(encoding)?;
    consistent(&manifest)?;
    no_literals(&manifest)?;
    check_scripts(&manifest, &scripts)?;
    Ok(Bundle {
        manifest,
        requested_sha256: computed,
        scripts,
    })
}

fn encoding(message: impl std::fmt::Display) -> ManifestError {
    ManifestError {
        code: "shell.manifest_encoding",
        message: format!("the bundle is malformed: {message}"),
    }
}

fn format(members: &Map<String, Value>) -> Result<(), ManifestError> {
    match members.get("format") {
        Some(Value::String(format)) if format == FORMAT => Ok(()),
        Some(Value::String(format)) => Err(ManifestError {
            code: "shell.manifest_encoding",
            message: format!(
                "the bundle has format {:?}; this version reads {FORMAT:?}",
                clip(format)
            ),
        }),
        _ => Err(encoding("it names no format")),
    }
}

fn no_more(members: &Map<String, Value>, of: &str) -> Result<(), ManifestError> {
    match members.keys().next() {
        Some(name) => Err(encoding(format!(
            "{of} has an unknown member {:?}",
            clip(name)
        ))),
        None => Ok(()),
    }
}

fn optional_digest(value: Value, member: &str) -> Result<Option<String>, ManifestError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text)
            if text.len() == 64
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')) =>
        {
            Ok(Some(text))
        }
        _ => Err(encoding(format!(
            "`{member}` is no digest of 64 lower-case hexadecimal digits"
        ))),
    }
}

fn scripts(material: Value) -> Result<BTreeMap<String, Arc<str>>, ManifestError> {
    let Value::Object(mut members) = material else {
        return Err(encoding("`material` is no object"));
    };
    let Some(Value::Object(scripts)) = members.remove("scripts") else {
        return Err(encoding("`material.scripts` is no object"));
    };
    no_more(&members, "`material`")?;
    let texts = scripts.into_iter().map(|(id, text)| match text {
        Value::String(text) => Ok((id, Arc::from(text))),
        _ => Err(encoding(format!("the script {:?} is no text", clip(&id)))),
    });
    texts.collect()
}

fn same(what: &str, stated: &str, computed: &str) -> Result<(), ManifestError> {
    if stated == computed {
        return Ok(());
    }
    Err(ManifestError {
        code: "shell.manifest_digest_mismatch",
        message: format!(
            "{what} says {stated}, but the content has {computed}: something was changed after \
             compiling; compile the document again"
        ),
    })
}

fn no_literals(manifest: &Manifest) -> Result<(), ManifestError> {
    let literal = |runtime: &&Runtime| {
        let sources = &runtime.secrets.sources;
        sources
            .iter()
            .any(|source| matches!(source, SecretSource::Literal { .. }))
    };
    match manifest.runtimes.iter().find(literal) {
        Some(runtime) => Err(ManifestError {
            code: "shell.manifest_material_missing",
            message: format!(
                "runtime `{}` has literal secrets, which are never part of a bundle; it runs from \
                 its document only",
                runtime.id
            ),
        }),
        None => Ok(()),
    }
}

/// The texts are exactly those of the manifest's scripts.
fn check_scripts(
    manifest: &Manifest,
    texts: &BTreeMap<String, Arc<str>>,
) -> Result<(), ManifestError> {
    for script in &manifest.scripts {
        let text = texts.get(&script.id).ok_or_else(|| ManifestError {
            code: "shell.manifest_material_missing",
            message: format!("the text of script `{}` is missing", script.id),
        })?;
        let what = format!("the digest of script `{}`", script.id);
        same(&what, &script.sha256, &sha256_hex(text.as_bytes()))?;
    }
    let known: HashSet<&str> = manifest.scripts.iter().map(|s| s.id.as_str()).collect();
    match texts.iter().find(|(id, _)| !known.contains(id.as_str())) {
        Some((id, text)) => Err(ManifestError {
            code: "shell.manifest_material_mismatch",
            message: format!(
                "the script `{}` with digest {} does not belong to this manifest",
                clip(id),
                sha256_hex(text.as_bytes())
            ),
        }),
        None => Ok(()),
    }
}

/// What compiling a document would have refused and what the digests do not show.
fn consistent(manifest: &Manifest) -> Result<(), ManifestError> {
    let runtimes = unique(manifest.runtimes.iter().map(|r| r.id.as_str()), "runtime")?;
    unique(manifest.tools.iter().map(|t| t.name.as_str()), "tool")?;
    let scripts = unique(manifest.scripts.iter().map(|s| s.id.as_str()), "script")?;
    let runtime = |id: &str| match runtimes.contains(id) {
        true => Ok(()),
        false => Err(encoding(format!("it has no runtime {:?}", clip(id)))),
    };
    for tool in &manifest.tools {
        runtime(&tool.runtime)?;
    }
    if let Some(id) = &manifest.moderator_runtime {
        runtime(id)?;
    }
    for declared in &manifest.runtimes {
        let used = Used::of(declared);
        for worker in used.workers {
            runtime(worker)?;
        }
        if let Some(id) = used.scripts.iter().find(|id| !scripts.contains(*id)) {
            return Err(encoding(format!("it has no script {:?}", clip(id))));
        }
        if used.verified {
            return Err(encoding(
                "an external backend claims verified confinement, which nobody can verify",
            ));
        }
    }
    Ok(())
}

fn unique<'a>(
    names: impl Iterator<Item = &'a str>,
    what: &str,
) -> Result<HashSet<&'a str>, ManifestError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(encoding(format!("{what} {:?} is there twice", clip(name))));
        }
    }
    Ok(seen)
}

/// What a runtime refers to.
#[derive(Default)]
struct Used<'a> {
    workers: Vec<&'a str>,
    scripts: Vec<&'a str>,
    verified: bool,
}

impl<'a> Used<'a> {
    fn of(runtime: &'a Runtime) -> Self {
        let mut used = Self::default();
        for rule in &runtime.policy.rules {
            used.scripts.extend(rule.matcher.scripts());
        }
        for reviewer in &runtime.reviewers.entries {
            match reviewer {
                Reviewer::Chatml { script, .. } => used.scripts.push(script),
                Reviewer::Executable { hook, .. } => used.workers.push(&hook.runtime),
                Reviewer::Ui { .. } | Reviewer::Model { .. } => {}
            }
        }
        for interceptor in &runtime.interceptors {
            if let Some(matcher) = &interceptor.matcher {
                used.scripts.extend(matcher.scripts());
            }
            used.extension(&interceptor.extension);
        }
        for analyzer in &runtime.effect_analyzers {
            used.extension(&analyzer.extension);
        }
        if let Some(filter) = &runtime.audit.filter {
            used.extension(filter);
        }
        used.verified = runtime.backends.entries.iter().any(|backend| {
            matches!(
                backend,
                Backend::External {
                    confinement: Confinement::Verified,
                    ..
                }
            )
        });
        used
    }

    fn extension(&mut self, extension: &'a Extension) {
        match extension {
            Extension::Chatml { script, .. } => self.scripts.push(script),
            Extension::Executable { hook } => self.workers.push(&hook.runtime),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn vector(case: &str) -> Manifest {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
        let text = std::fs::read(format!("{root}/{case}/expect.json")).unwrap();
        let mut expect: Value = serde_json::from_slice(&text).unwrap();
        canonical::from_value(expect["payload"].take()).unwrap()
    }

    /// A manifest with one script, and its text.
    fn scripted() -> (Manifest, BTreeMap<String, Arc<str>>) {
        let mut manifest = vector("021-interceptors-script-and-hook");
        let mut texts = BTreeMap::new();
        for script in &mut manifest.scripts {
            let text: Arc<str> = format!("let x = \"{}\"\n", script.id).into();
            script.sha256 = sha256_hex(text.as_bytes());
            texts.insert(script.id.clone(), text);
        }
        assert!(!texts.is_empty());
        (manifest, texts)
    }

    #[test]
    fn what_is_written_is_read() {
        let (manifest, texts) = scripted();
        let bytes = write(&manifest, &texts).unwrap();
        assert!(bytes.starts_with(br#"{"format":"chatmd.shell.bundle.v1","#));
        assert_eq!(recognise(&bytes), Content::Bundle);
        let bundle = read(&bytes).unwrap();
        assert_eq!((&bundle.manifest, &bundle.scripts), (&manifest, &texts));
        let digest = canonical::requested_sha256(&manifest).unwrap();
        assert_eq!(bundle.requested_sha256, digest);
        // White space around members is no part of what is hashed.
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(read(format!("{value:#}\n").as_bytes()).unwrap(), bundle);
    }

    #[test]
    fn a_bound_payload_is_read_as_requested() {
        let (mut manifest, texts) = scripted();
        let bytes = write(&manifest, &texts).unwrap();
        let requested = manifest.clone();
        manifest.binding = Some(super::super::Binding::default());
        let mut value: Value = serde_json::from_slice(&bytes).unwrap();
        value["payload"] = canonical::to_value(&manifest).unwrap();
        let refused = |value: &Value| read(value.to_string().as_bytes()).unwrap_err().code;
        assert_eq!(refused(&value), "shell.manifest_encoding");
        value["manifest_sha256"] = "0".repeat(64).into();
        assert_eq!(refused(&value), "shell.manifest_digest_mismatch");
        value["manifest_sha256"] = canonical::digest(&manifest).unwrap().into();
        assert_eq!(
            read(value.to_string().as_bytes()).unwrap().manifest,
            requested
        );
    }

    #[test]
    fn changed_bundles_are_refused() {
        let (manifest, texts) = scripted();
        let bytes = write(&manifest, &texts).unwrap();
        let id = manifest.scripts[0].id.clone();
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let refuse = |code: &str, change: &dyn Fn(&mut Value)| {
            let mut changed = value.clone();
            change(&mut changed);
            let error = read(changed.to_string().as_bytes()).unwrap_err();
            assert_eq!(error.code, code, "{error}");
        };
        let digest = "shell.manifest_digest_mismatch";
        refuse(digest, &|v| v["requested_sha256"] = "0".repeat(64).into());
        refuse(digest, &|v| {
            v["payload"]["runtimes"][0]["limits"]["wall_time_ms"] = 1.into();
        });
        refuse(digest, &|v| v["material"]["scripts"][&id] = "other".into());
        refuse("shell.manifest_material_missing", &|v| {
            v["material"]["scripts"]
                .as_object_mut()
                .unwrap()
                .remove(&id);
        });
        refuse("shell.manifest_material_mismatch", &|v| {
            v["material"]["scripts"]["stranger"] = "x".into();
        });
        let encoding = "shell.manifest_encoding";
        refuse(encoding, &|v| v["format"] = "chatmd.shell.bundle.v2".into());
        refuse(encoding, &|v| v["extra"] = Value::Null);
        refuse(encoding, &|v| v["material"]["extra"] = Value::Null);
        refuse(encoding, &|v| v["material"]["scripts"][&id] = 1.into());
        refuse(encoding, &|v| v["manifest_sha256"] = "0".repeat(64).into());
        refuse(encoding, &|v| v["requested_sha256"] = "A".repeat(64).into());
        refuse(encoding, &|v| v["payload"]["encoding"] = "v0".into());
        for member in ["payload", "material", "requested_sha256", "manifest_sha256"] {
            refuse(encoding, &|v| {
                v.as_object_mut().unwrap().remove(member);
            });
        }
        // Refused whatever its digest says.
        refuse(encoding, &|v| {
            v["payload"]["tools"][0]["runtime"] = "nobody".into();
            let manifest: Manifest = serde_json::from_value(v["payload"].clone()).unwrap();
            v["requested_sha256"] = canonical::requested_sha256(&manifest).unwrap().into();
        });
        for length in [0, 1, 20, bytes.len() - 1] {
            let error = read(&bytes[..length]).unwrap_err();
            assert_eq!(error.code, encoding);
        }
    }

    /// A payload whose digests are right may still name what it does not hold.
    #[test]
    fn whatever_a_runtime_refers_to_is_there() {
        let (manifest, texts) = scripted();
        let refused = |manifest: &Manifest, texts: &BTreeMap<_, _>| {
            let bytes = write(manifest, texts).unwrap();
            read(&bytes).unwrap_err().message
        };
        // `m` is the script of a matcher, the others are those of interceptors.
        for missing in ["a", "b", "m"] {
            let (mut manifest, mut texts) = (manifest.clone(), texts.clone());
            manifest.scripts.retain(|script| script.id != missing);
            texts.remove(missing);
            let message = refused(&manifest, &texts);
            assert!(
                message.contains(&format!("no script {missing:?}")),
                "{message}"
            );
        }
        for missing in ["w", "c"] {
            let mut manifest = manifest.clone();
            manifest.runtimes.retain(|runtime| runtime.id != missing);
            let message = refused(&manifest, &texts);
            assert!(
                message.contains(&format!("no runtime {missing:?}")),
                "{message}"
            );
        }
        let mut twice = manifest.clone();
        twice.runtimes.push(twice.runtimes[0].clone());
        let message = refused(&twice, &texts);
        assert!(message.contains("canonical order"), "{message}");
    }

    #[test]
    fn literal_secrets_have_no_bundle() {
        let (mut manifest, texts) = scripted();
        manifest.runtimes[0].secrets.sources = vec![SecretSource::Literal { index: 0 }];
        let error = write(&manifest, &texts).unwrap_err();
        assert_eq!(error.code, "shell.manifest_material_missing");
    }

    #[test]
    fn documents_are_told_from_compiled_files() {
        for (bytes, content) in [
            (&b"{\"format\":\"x\"}"[..], Content::Bundle),
            (b" {\n \"payload\": null, \"format\": 1}", Content::Bundle),
            (b"{\"format\":", Content::Bundle),
            (b"{\"binding\":null,", Content::Manifest),
            (
                b"{\"platform\":\"linux\",\"encoding\":\"x\"}",
                Content::Manifest,
            ),
            (
                b"{\"quoted\"} is how a message may begin\n<user>x</user>",
                Content::Document,
            ),
            (b"{ x }", Content::Document),
            (b"<user>{\"format\":1}</user>", Content::Document),
            (b"", Content::Document),
            (b"{", Content::Document),
        ] {
            assert_eq!(
                recognise(bytes),
                content,
                "{}",
                String::from_utf8_lossy(bytes)
            );
        }
    }
}
