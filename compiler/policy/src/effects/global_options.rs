//! Programs that take options before their subcommand (spec 12 table 4.5).

/// Examples of such options, with their values, by program name. Versioned spellings are other names.
const TABLE: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-C .",
            "--no-pager",
            "-c a=b",
            "--git-dir=.git",
            "-p",
            "--bare",
        ],
    ),
    (
        "docker podman",
        &["--config .", "-H host", "--log-level=error", "-D"],
    ),
    (
        "kubectl",
        &[
            "-n default",
            "--context=c",
            "--kubeconfig=f",
            "-s host",
            "--as=me",
        ],
    ),
    ("helm", &["-n default", "--kube-context=c", "--debug"]),
    (
        "aws",
        &[
            "--profile p",
            "--region=r",
            "--output json",
            "--endpoint-url=u",
        ],
    ),
    ("gcloud", &["--project=p", "--quiet", "--account=a"]),
    ("az", &["--only-show-errors", "--verbose", "--output=json"]),
    ("terraform", &["-chdir=.", "-chdir=./", "-chdir=../x"]),
    ("npm pnpm yarn", &["--prefix=.", "-C .", "--cwd=.", "-w a"]),
    ("cargo", &["+stable", "--config a=b", "-C .", "-Z a"]),
    ("go", &["-C .", "-C=.", "-C ./"]),
    ("systemctl", &["--user", "-H host", "-M machine"]),
    ("apt-get", &["-y", "-o a=b", "-c f"]),
    ("pip", &["--proxy=p", "--cache-dir=d", "--log=f"]),
    ("hg", &["-R .", "--cwd=.", "--config=a.b=c"]),
    (
        "svn",
        &["--non-interactive", "--config-dir=d", "--no-auth-cache"],
    ),
    ("make", &["-C .", "-f Makefile", "-s"]),
    ("gh", &["-R o/r", "--repo=o/r", "--repo o/r"]),
    ("brew", &["--verbose", "--debug", "--quiet"]),
    ("nix", &["--offline", "--verbose", "--log-format=raw"]),
    ("bundle", &["--no-color", "--verbose", "--retry=1"]),
    ("poetry", &["-C .", "--no-interaction", "-q"]),
    ("uv", &["--project=.", "--directory=.", "-q"]),
];

/// Examples of options that a program takes before its subcommand, at least three; `None` for a
/// program that is not known to take any.
pub fn global_options(program: &str) -> Option<&'static [&'static str]> {
    let mut rows = TABLE.iter();
    let row = rows.find(|(names, _)| names.split(' ').any(|name| name == program))?;
    Some(row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_three_examples_that_are_options() {
        for (names, options) in TABLE {
            assert!(options.len() >= 3, "{names}");
            let option = |text: &&str| text.starts_with('-') || text.starts_with('+');
            assert!(options.iter().all(option), "{names}");
        }
        assert!(global_options("git").is_some() && global_options("podman").is_some());
        assert_eq!(global_options("mytool"), None);
        assert_eq!(global_options("docker podman"), None);
    }
}
