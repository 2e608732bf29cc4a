//! Kernel settings that keep an ordinary user from making a sandbox (spec 06b B1.3). A failed probe
//! names them together with the remedy.

use std::fs;

/// A setting, the value that is in the way, and what to tell the administrator.
const OBSTACLES: &[(&str, &str, &str)] = &[
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor restricts unprivileged user namespaces here. Allow them for bubblewrap with an \
         AppArmor profile that grants `userns`, or run as root: \
         sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "this kernel forbids unprivileged user namespaces. Run as root: \
         sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "this kernel allows no user namespaces. Run as root: sysctl user.max_user_namespaces=15000",
    ),
];

/// The likely cause of a failed probe, for users other than root. A setting alone proves nothing:
/// ask only after a probe has failed.
pub fn namespace_obstacle() -> Option<&'static str> {
    if nix::unistd::geteuid().is_root() {
        return None;
    }
    obstacle(|path| fs::read_to_string(path).ok())
}

fn obstacle(read: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let mut all = OBSTACLES.iter();
    let found = all.find(|(path, value, _)| read(path).is_some_and(|text| text.trim() == *value));
    found.map(|(_, _, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_setting_in_the_way_is_named() {
        let with = |set: &'static str, value: &'static str| {
            obstacle(move |path| path.ends_with(set).then(|| format!("{value}\n")))
        };
        assert!(
            with("apparmor_restrict_unprivileged_userns", "1")
                .is_some_and(|t| t.contains("AppArmor"))
        );
        assert_eq!(with("apparmor_restrict_unprivileged_userns", "0"), None);
        assert!(
            with("unprivileged_userns_clone", "0").is_some_and(|t| t.contains("userns_clone=1"))
        );
        assert!(
            with("max_user_namespaces", "0").is_some_and(|t| t.contains("max_user_namespaces"))
        );
        assert_eq!(with("max_user_namespaces", "100"), None);
        assert_eq!(obstacle(|_| None), None);
    }
}
