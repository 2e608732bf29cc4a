//! Whether a manifest may run at all (spec 09 section 5).
//!
//! An [`AuthorizedManifest`] comes from here alone: from the digest that the user gave, from the
//! user's answer at the terminal, or from a document that declares nothing to run. Nothing is
//! stored, and no variable or flag authorises whatever a file happens to say.

use chatmd_compiler::authority;
use chatmd_compiler::manifest::{self, Manifest, PathBase};
use chatmd_compiler::resolve::Material;
use chatmd_facts::Host;
use chatmd_facts::bind::{self, Purpose};

use crate::audit::Authorization;
use crate::materialise::Problem;
use crate::terminal::Terminal;
use crate::warnings::Warnings;

/// A compiled document with its host-dependent values and both digests.
#[derive(Debug)]
pub struct BoundDocument {
    /// The manifest with its binding.
    pub manifest: Manifest,
    /// Digest of the manifest without its binding.
    pub requested_sha256: String,
    /// Digest that authorises.
    pub bound_sha256: String,
    /// Texts and secrets that a run needs beside the manifest.
    pub material: Material,
    /// The home directory of this host, for the summary.
    home: Option<String>,
}

impl BoundDocument {
    /// Binds a compiled manifest to this host. Every problem is reported; warnings are added to
    /// `warnings`.
    pub fn new(
        host: &Host,
        requested: &Manifest,
        material: Material,
        warnings: &Warnings,
    ) -> Result<Self, Vec<Problem>> {
        let encode = |error: manifest::ManifestError| {
            vec![Problem::new(
                "shell.runtime_instantiation_failed",
                error.to_string(),
            )]
        };
        let requested_sha256 = manifest::requested_sha256(requested).map_err(encode)?;
        let bound = bind::bind(requested, host, Purpose::Compile).map_err(problems)?;
        for finding in &bound.findings {
            warnings.add(finding.code, &finding.message);
        }
        let bound_sha256 = manifest::digest(&bound.manifest).map_err(encode)?;
        Ok(Self {
            manifest: bound.manifest,
            requested_sha256,
            bound_sha256,
            material,
            home: host
                .directory(PathBase::Home, None)
                .ok()
                .and_then(|home| home.to_str().map(str::to_owned)),
        })
    }

    /// Whether it declares anything that could run.
    pub fn needs_authority(&self) -> bool {
        !self.manifest.runtimes.is_empty() || !self.manifest.tools.is_empty()
    }

    /// What a person is asked to authorise, as text with control characters escaped.
    pub fn summary(&self) -> String {
        match authority::summarise_here(&self.manifest, self.home.as_deref()) {
            Ok(summary) => summary.text(),
            Err(error) => format!("the authority of this manifest can not be shown: {error}"),
        }
    }
}

fn problems(findings: Vec<bind::BindFinding>) -> Vec<Problem> {
    let errors = findings.into_iter().filter(|finding| finding.error);
    errors
        .map(|finding| Problem::new(finding.code, finding.message))
        .collect()
}

/// A document that the user has authorised.
#[derive(Debug)]
pub struct AuthorizedManifest {
    document: BoundDocument,
    how: Authorization,
}

impl AuthorizedManifest {
    /// The document.
    pub fn document(&self) -> &BoundDocument {
        &self.document
    }

    /// What authorised it.
    pub fn how(&self) -> Authorization {
        self.how
    }

    /// Binds once more and compares (spec 04 section 9, rule 8): what is made live is what was
    /// authorised. A file that is missing now is an error.
    pub(crate) fn bind_again(&self, host: &Host) -> Result<(), Vec<Problem>> {
        let requested = Manifest {
            binding: None,
            ..self.document.manifest.clone()
        };
        let changed = |detail: String| vec![Problem::new("shell.manifest_grant_mismatch", detail)];
        let now = bind::bind(&requested, host, Purpose::Start).map_err(problems)?;
        let digest = manifest::digest(&now.manifest).map_err(|error| changed(error.to_string()))?;
        if digest != self.document.bound_sha256 {
            return Err(changed(format!(
                "the files and folders that the manifest names changed after it was authorised; it is now {digest}"
            )));
        }
        Ok(())
    }
}

/// Why a manifest was not authorised. `Display` is complete and for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAuthorized {
    /// There is nobody to ask and no digest was given.
    #[error(
        "nobody could be asked whether this document may run: there is no terminal\n  review what it may do:  chatmdc inspect DOCUMENT\n  then allow exactly that: --authorize-manifest {bound}"
    )]
    Unavailable {
        /// Bound digest.
        bound: String,
    },
    /// Something that is no digest.
    #[error("--authorize-manifest takes the 64 hexadecimal digits of a manifest digest")]
    NotADigest,
    /// The requested digest where the bound one is needed.
    #[error(
        "that is the requested digest, which is the same on every machine; running needs the digest bound to this one\n  bound manifest {bound}"
    )]
    RequestedGiven {
        /// Bound digest.
        bound: String,
    },
    /// Another digest.
    #[error(
        "the given digest is not that of this manifest\n  given    {given}\n  manifest {bound}"
    )]
    Different {
        /// As given.
        given: String,
        /// Bound digest.
        bound: String,
    },
    /// The answer was no.
    #[error("the manifest was not authorized")]
    Declined,
}

impl NotAuthorized {
    /// Diagnostic code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::RequestedGiven { .. } | Self::Different { .. } => "shell.manifest_grant_mismatch",
            _ => "shell.manifest_rejected",
        }
    }
}

/// Authorises by the digest that the user gave, else by asking at the terminal.
pub fn authorize(
    document: BoundDocument,
    digest: Option<&str>,
    terminal: Option<&mut Terminal>,
) -> Result<AuthorizedManifest, NotAuthorized> {
    if !document.needs_authority() {
        return Ok(AuthorizedManifest {
            document,
            how: Authorization::NoneRequired,
        });
    }
    let bound = document.bound_sha256.clone();
    if let Some(given) = digest {
        return match check_digest(given, &document.requested_sha256, &bound) {
            Ok(()) => Ok(AuthorizedManifest {
                document,
                how: Authorization::Process,
            }),
            Err(refused) => Err(refused),
        };
    }
    let Some(terminal) = terminal else {
        return Err(NotAuthorized::Unavailable { bound });
    };
    let question = format!(
        "This document asks for authority over this machine.\n\n{}\nAuthorize this manifest for this run? [y/N] ",
        document.summary()
    );
    match terminal.confirm(&question, None) {
        Ok(true) => Ok(AuthorizedManifest {
            document,
            how: Authorization::Process,
        }),
        _ => Err(NotAuthorized::Declined),
    }
}

fn check_digest(given: &str, requested: &str, bound: &str) -> Result<(), NotAuthorized> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if given.len() != 64 || !given.bytes().all(hex) {
        return Err(NotAuthorized::NotADigest);
    }
    if given == bound {
        return Ok(());
    }
    let bound = bound.to_owned();
    if given == requested {
        return Err(NotAuthorized::RequestedGiven { bound });
    }
    Err(NotAuthorized::Different {
        given: given.to_owned(),
        bound,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_bound_digest_authorises() {
        let (requested, bound) = ("a".repeat(64), "b".repeat(64));
        let check = |given: &str| check_digest(given, &requested, &bound);
        assert_eq!(check(&bound), Ok(()));
        assert_eq!(
            check(&requested),
            Err(NotAuthorized::RequestedGiven {
                bound: bound.clone()
            })
        );
        let other = "c".repeat(64);
        assert_eq!(
            check(&other),
            Err(NotAuthorized::Different {
                given: other.clone(),
                bound: bound.clone()
            })
        );
        for wrong in ["", "b", &"b".repeat(63), &"B".repeat(64), &"b".repeat(65)] {
            assert_eq!(check(wrong), Err(NotAuthorized::NotADigest), "{wrong}");
        }
        let shown = NotAuthorized::RequestedGiven {
            bound: bound.clone(),
        }
        .to_string();
        assert!(shown.contains(&bound) && shown.contains("requested digest"));
    }
}
