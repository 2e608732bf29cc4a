//! Textual path helpers. Nothing here looks at a file system.

/// `base` joined with `path`: an absolute path stays, an empty one gives `base`.
/// Keeps `.` and `..`; canonicalisation resolves them.
pub fn join(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else if path.is_empty() {
        base.to_owned()
    } else if base.ends_with('/') {
        format!("{base}{path}")
    } else {
        format!("{base}/{path}")
    }
}

/// Last component; the whole text when it has no `/`. Empty for `/` and for a trailing `/`.
pub fn basename(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Everything before the last component; `/` for a child of the root.
pub fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((parent, _)) => parent,
        None => "",
    }
}

/// Whether canonical `path` is canonical `root` or lies below it, by whole components.
pub fn is_within(root: &str, path: &str) -> bool {
    if root == "/" {
        return path.starts_with('/');
    }
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Lexical normal form of an absolute path: no empty, `.` or `..` components.
pub fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut out = String::with_capacity(path.len());
    for part in parts {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Device names that are reported as written, never resolved (spec 06 section 6.4).
pub fn is_pseudo_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|fd| !fd.is_empty() && fd.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Device names that may be written without a write root (spec 06 section 7).
pub fn is_writable_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/stdout" | "/dev/stderr"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment_is_by_whole_components() {
        for (root, path, inside) in [
            ("/", "/etc", true),
            ("/ws", "/ws", true),
            ("/ws", "/ws/a", true),
            ("/ws", "/ws2", false),
            ("/ws/a", "/ws", false),
        ] {
            assert_eq!(is_within(root, path), inside, "{root} {path}");
        }
    }

    #[test]
    fn lexical_normal_form() {
        for (from, to) in [
            ("/a/./b//c", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/..", "/"),
            ("//", "/"),
        ] {
            assert_eq!(normalise(from), to);
        }
    }

    #[test]
    fn pseudo_devices_are_exact() {
        assert!(is_pseudo_device("/dev/fd/12"));
        assert!(!is_pseudo_device("/dev/fd/"));
        assert!(!is_pseudo_device("/dev/fd/1/../../sda"));
        assert!(!is_pseudo_device("/dev/nullx"));
        assert!(!is_writable_device("/dev/stdin"));
    }
}
