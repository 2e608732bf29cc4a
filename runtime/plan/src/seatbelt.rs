//! Seatbelt profile text (spec 06b B3.1). Generated and tested everywhere, used on macOS only.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::PlanError;

/// What a profile depends on.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a> {
    /// Canonical target, and the resource helper when one is used.
    pub executables: &'a [&'a Path],
    /// Canonical read roots in declared order.
    pub read: &'a [&'a Path],
    /// Canonical write roots in declared order.
    pub write: &'a [&'a Path],
    /// `network` ceiling.
    pub network: bool,
    /// `child_processes` ceiling.
    pub child_processes: bool,
    /// `allow_system_reads` of the backend.
    pub allow_system_reads: bool,
}

const SERVICES: [&str; 4] = [
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.notification_center",
    "com.apple.system.logger",
    "com.apple.CoreServices.coreservicesd",
];
const NETWORK_SERVICES: [&str; 2] = [
    "com.apple.SystemConfiguration.configd",
    "com.apple.trustd.agent",
];
const PROGRAM_FOLDERS: [&str; 5] = ["/bin", "/usr/bin", "/usr/sbin", "/sbin", "/usr/libexec"];
const SYSTEM_READS: [&str; 8] = [
    "/System",
    "/usr/lib",
    "/usr/share",
    "/private/etc",
    "/dev",
    "/usr/bin",
    "/bin",
    "/Library/Apple",
];
const LOADER_READS: [&str; 4] = [
    "/usr/lib",
    "/System/Library/Frameworks",
    "/System/Library/PrivateFrameworks",
    "/System/Volumes/Preboot/Cryptexes",
];

/// The profile, one rule a line, in the order of the specification.
pub fn profile(input: &Profile<'_>) -> Result<String, PlanError> {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow file-read-metadata)\n(allow sysctl-read)\n",
    );
    services(&mut text, input.network);
    let mut executables = Vec::with_capacity(input.executables.len());
    for path in input.executables {
        executables.push(quote(path)?);
    }
    executables.sort();
    executables.dedup();
    for path in executables {
        line(
            &mut text,
            format_args!("(allow process-exec (literal {path}))"),
        );
    }
    if input.child_processes {
        children(&mut text, input)?;
    }
    let system: &[&str] = if input.allow_system_reads {
        &SYSTEM_READS
    } else {
        &LOADER_READS
    };
    for folder in system {
        line(
            &mut text,
            format_args!("(allow file-read* (subpath \"{folder}\"))"),
        );
    }
    for path in input.read.iter().chain(input.write) {
        line(
            &mut text,
            format_args!("(allow file-read* (subpath {}))", quote(path)?),
        );
    }
    for path in input.write {
        line(
            &mut text,
            format_args!("(allow file-write* (subpath {}))", quote(path)?),
        );
    }
    text.push_str("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))\n");
    if input.network {
        text.push_str("(allow network*)\n");
    }
    Ok(text)
}

fn services(text: &mut String, network: bool) {
    text.push_str("(allow mach-lookup");
    let extra: &[&str] = if network { &NETWORK_SERVICES } else { &[] };
    for name in SERVICES.iter().chain(extra) {
        text.push_str(&format!(" (global-name \"{name}\")"));
    }
    text.push_str(")\n");
}

fn children(text: &mut String, input: &Profile<'_>) -> Result<(), PlanError> {
    text.push_str("(allow process-fork)\n(allow signal (target same-sandbox))\n");
    for folder in PROGRAM_FOLDERS {
        line(
            text,
            format_args!("(allow process-exec (subpath \"{folder}\"))"),
        );
    }
    for path in input.read.iter().chain(input.write) {
        line(
            text,
            format_args!("(allow process-exec (subpath {}))", quote(path)?),
        );
    }
    Ok(())
}

fn line(text: &mut String, rule: std::fmt::Arguments<'_>) {
    // Writing to a string can not fail.
    let _ = writeln!(text, "{rule}");
}

/// A path as a string of the profile language.
fn quote(path: &Path) -> Result<String, PlanError> {
    let text = path.to_str().ok_or(PlanError::UnprintablePath)?;
    if text.chars().any(char::is_control) {
        return Err(PlanError::UnprintablePath);
    }
    Ok(format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"")
    ))
}

#[cfg(test)]
#[path = "seatbelt_tests.rs"]
mod tests;
