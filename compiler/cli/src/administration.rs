//! Administrative configuration of this machine (spec 09 sections 1 to 4).
//!
//! This version does not evaluate it yet. It must never look as if there were none: a command that
//! would have to evaluate it refuses instead. `chatmd` reads the same list.

use std::path::Path;

/// Administrative policy that always applies when it exists.
const HOST_POLICY: &str = "/etc/chatmd/shell-policy.json";

/// One subject of administration with the variables that configure it.
pub struct Subject {
    /// Label of `inspect`.
    pub label: &'static str,
    /// Variables without their prefix.
    variables: &'static [&'static str],
    /// A file that configures it, too.
    file: Option<&'static str>,
}

/// The subjects in the order of `inspect`.
pub const SUBJECTS: [Subject; 3] = [
    Subject {
        label: "administrative",
        variables: &["ADMIN_POLICY"],
        file: Some(HOST_POLICY),
    },
    Subject {
        label: "signature",
        variables: &[
            "MANIFEST_SIGNATURE",
            "MANIFEST_PUBLIC_KEYS",
            "SIGNATURE_AUDIENCE",
        ],
        file: None,
    },
    Subject {
        label: "trusted sources",
        variables: &["TRUSTED_SOURCES", "REPOSITORY_IDENTITY"],
        file: None,
    },
];

impl Subject {
    /// What configures the subject here, if anything. Set-but-empty variables count as unset.
    pub fn configured_by(&self) -> Option<String> {
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let names = self.variables.iter().flat_map(|variable| {
            [
                format!("CHATMD_SHELL_{variable}"),
                format!("OCHAT_SHELL_{variable}"),
            ]
        });
        let file = self
            .file
            .filter(|file| Path::new(file).symlink_metadata().is_ok());
        names
            .into_iter()
            .find(is_set)
            .or_else(|| file.map(str::to_owned))
    }

    /// The sentence for a subject that is configured.
    pub fn refusal(&self, configured_by: &str) -> String {
        format!(
            "{} is configured by {configured_by}, but this version cannot evaluate it yet; \
             refusing instead of leaving it out",
            match self.label {
                "administrative" => "administrative policy",
                "signature" => "a manifest signature",
                other => other,
            }
        )
    }
}

/// Succeeds when no subject is configured.
///
/// # Errors
/// The refusal of the first subject that is.
pub fn nothing_configured() -> Result<(), String> {
    for subject in &SUBJECTS {
        if let Some(by) = subject.configured_by() {
            return Err(subject.refusal(&by));
        }
    }
    Ok(())
}
