//! Administrative configuration of this machine (spec 09 sections 2 to 4).
//!
//! This version does not evaluate it. A machine that has some must not be treated as if it had none,
//! so commands refuse.

use std::path::Path;

use crate::exit::{self, Stop};

/// Administrative policy that always applies when it exists.
const HOST_POLICY: &str = "/etc/chatmd/shell-policy.json";

/// Variables, without their prefix, that configure administration.
const VARIABLES: [&str; 6] = [
    "ADMIN_POLICY",
    "TRUSTED_SOURCES",
    "REPOSITORY_IDENTITY",
    "MANIFEST_SIGNATURE",
    "MANIFEST_PUBLIC_KEYS",
    "SIGNATURE_AUDIENCE",
];

/// Refuses when anything configures administrative policy, trust or signatures here.
pub fn refuse_if_configured() -> Result<(), Stop> {
    let set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let names = VARIABLES.iter().flat_map(|name| {
        [
            format!("CHATMD_SHELL_{name}"),
            format!("OCHAT_SHELL_{name}"),
        ]
    });
    let by = names.into_iter().find(set).or_else(|| {
        Path::new(HOST_POLICY)
            .symlink_metadata()
            .is_ok()
            .then(|| HOST_POLICY.to_owned())
    });
    match by {
        None => Ok(()),
        Some(by) => Err(Stop::new(
            exit::REFUSED,
            format!(
                "chatmd: {by} configures administration, which this version can not evaluate; \
                 nothing runs rather than running without it"
            ),
        )),
    }
}
