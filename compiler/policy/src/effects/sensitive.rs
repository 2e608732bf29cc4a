//! Option tables of group programs whose arguments name paths (second table of spec 06
//! section 6.5). Options that are not listed have no effect of their own: the group has them all.

use super::options::Columns;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensitive {
    /// Names, separated by blanks.
    pub(super) names: &'static str,
    pub(super) columns: Columns,
    pub(super) arguments: Arguments,
}

/// What positional arguments and special values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    /// Nothing.
    Nothing,
    /// `file://` operands are read; `@file` values too.
    Curl,
    /// Operands without a host: sources read, the last one written.
    RemoteCopy,
    /// The first is a script unless an option gives it; the rest are read, or edited in place.
    Sed,
    /// The first is a program unless `-f`; the rest are read.
    Awk,
    /// `of=` is written, `if=` read.
    Dd,
    /// The last is written, the others read.
    Link,
    /// The same, or `-t`.
    Install,
    /// Each is written.
    Write,
    /// The first (mode or owner) is skipped unless `--reference`; the rest are written.
    Mode,
    /// Network if the first positional is in the list.
    NetworkSub(&'static str),
}

const ANY: Columns = Columns {
    flags: "* *=",
    ..Columns::NONE
};

/// The table.
pub(super) const SENSITIVE: &[Sensitive] = &[
    Sensitive {
        names: "curl",
        columns: Columns {
            flags: "* *=",
            values: "-A -b --cookie -C -d --data --data-ascii --data-binary --data-raw \
                     --data-urlencode --json -e -F --form -H -m -P -Q -r -t -u -U -w -x -X -y -Y \
                     -z --header --request --user --user-agent --proxy --url --max-time \
                     --connect-timeout --retry --referer --range --resolve --form-string",
            reads: "-T --upload-file -E --cert --key --cacert --netrc-file --etag-compare",
            writes: "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr \
                     --etag-save --libcurl --output-dir",
            execs: "-K= --config=",
            ..Columns::NONE
        },
        arguments: Arguments::Curl,
    },
    Sensitive {
        names: "wget",
        columns: Columns {
            flags: "* *=",
            values: "-t -T -w -Q -U -A -R -D -I -X -l -B --tries --timeout --wait --quota \
                     --user-agent --accept --reject --domains --level --base --header --post-data \
                     --body-data --method --user --password --limit-rate",
            reads: "-i --input-file --post-file --body-file --load-cookies",
            writes: "-O --output-document -o --output-file -a --append-output -P \
                     --directory-prefix --save-cookies --warc-file",
            execs: "-e= --execute= --config= --use-askpass[=]",
            ..Columns::NONE
        },
        arguments: Arguments::Nothing,
    },
    Sensitive {
        names: "rsync",
        columns: Columns {
            flags: "* *=",
            values: "-e --rsh --rsync-path --exclude --include --filter -f -B --block-size --chmod \
                     --chown --suffix --port --bwlimit --timeout --contimeout --max-size \
                     --min-size --usermap --groupmap --out-format --info --debug --iconv \
                     --sockopts --modify-window -M --remote-option --protocol",
            reads: "--exclude-from --include-from --files-from --password-file --compare-dest \
                    --copy-dest --link-dest",
            writes: "--backup-dir -T --temp-dir --partial-dir --log-file --write-batch \
                     --only-write-batch",
            ..Columns::NONE
        },
        arguments: Arguments::RemoteCopy,
    },
    Sensitive {
        names: "scp",
        columns: Columns {
            flags: "* *=",
            values: "-c -D -J -l -o -P -S -X",
            reads: "-F -i",
            ..Columns::NONE
        },
        arguments: Arguments::RemoteCopy,
    },
    Sensitive {
        names: "npm pnpm yarn bun",
        columns: Columns {
            values: "--prefix -C --cwd --dir",
            ..ANY
        },
        arguments: Arguments::NetworkSub(
            "install i ci add update upgrade publish login audit view outdated exec dlx x init \
             create",
        ),
    },
    Sensitive {
        names: "cargo",
        columns: Columns {
            values: "--manifest-path --config -Z -C --color --target-dir",
            ..ANY
        },
        arguments: Arguments::NetworkSub(
            "install search publish login owner yank fetch update add",
        ),
    },
    Sensitive {
        names: "pip pip3 pipx uv poetry conda gem bundle opam go",
        columns: Columns {
            values: "--python --proxy --directory --project --log --cert --cache-dir -C",
            ..ANY
        },
        arguments: Arguments::NetworkSub(
            "install add update upgrade download fetch get publish push lock sync mod",
        ),
    },
    Sensitive {
        names: "sed",
        columns: Columns {
            flags: "* *= -i[] -I[] --in-place[=]",
            values: "-e --expression -l --line-length",
            reads: "-f --file",
            ..Columns::NONE
        },
        arguments: Arguments::Sed,
    },
    Sensitive {
        names: "awk gawk mawk nawk",
        columns: Columns {
            flags: "* *=",
            values: "-F -v --field-separator --assign -e --source -W",
            reads: "-f --file -E --exec",
            execs: "-i= --include= -l= --load=",
            ..Columns::NONE
        },
        arguments: Arguments::Awk,
    },
    Sensitive {
        names: "dd",
        columns: ANY,
        arguments: Arguments::Dd,
    },
    Sensitive {
        names: "ln",
        columns: Columns {
            values: "-S --suffix",
            writes: "-t --target-directory",
            ..ANY
        },
        arguments: Arguments::Link,
    },
    Sensitive {
        names: "install",
        columns: Columns {
            values: "-g -m -o -S --group --mode --owner --suffix --strip-program",
            writes: "-t --target-directory",
            ..ANY
        },
        arguments: Arguments::Install,
    },
    Sensitive {
        names: "truncate",
        columns: Columns {
            values: "-s --size",
            reads: "-r --reference",
            ..ANY
        },
        arguments: Arguments::Write,
    },
    Sensitive {
        names: "shred",
        columns: Columns {
            values: "-n -s --iterations --size",
            reads: "--random-source",
            ..ANY
        },
        arguments: Arguments::Write,
    },
    Sensitive {
        names: "mktemp",
        columns: Columns {
            flags: "* *= --tmpdir[=]",
            values: "--suffix",
            writes: "-p",
            ..Columns::NONE
        },
        arguments: Arguments::Write,
    },
    Sensitive {
        names: "split",
        columns: Columns {
            values: "-a -b -C -l -n -t --additional-suffix --bytes --line-bytes --lines --number \
                     --suffix-length --separator",
            ..ANY
        },
        arguments: Arguments::Write,
    },
    Sensitive {
        names: "csplit",
        columns: Columns {
            values: "-b -n --suffix-format --digits",
            writes: "-f --prefix",
            ..ANY
        },
        arguments: Arguments::Write,
    },
    Sensitive {
        names: "patch",
        columns: Columns {
            values: "-p --strip -F --fuzz -B -Y -z -D --ifdef -V -g",
            reads: "-i --input",
            writes: "-o --output -d --directory -r --reject-file",
            ..ANY
        },
        arguments: Arguments::Write,
    },
    Sensitive {
        names: "chmod chown chgrp",
        columns: Columns {
            reads: "--reference",
            values: "--from",
            ..ANY
        },
        arguments: Arguments::Mode,
    },
];

/// Options that make a build tool work in another directory: it is read and written
/// (last row of the wrapper table, spec 06 section 6.6).
pub(super) const DIRECTORY_OPTIONS: &[DirectoryOption] = &[
    DirectoryOption {
        names: "make gmake",
        columns: Columns {
            flags: "* *= -j[] --jobs[=] -l[] -O[]",
            values: "-C --directory -f --file --makefile -I --include-dir -o --old-file -W \
                     --what-if",
            ..Columns::NONE
        },
        directory: &["-C", "--directory"],
        file: &[],
    },
    DirectoryOption {
        names: "cargo",
        columns: Columns {
            values: "--manifest-path -p -j -Z -C --color --target-dir",
            ..ANY
        },
        directory: &[],
        file: &["--manifest-path"],
    },
    DirectoryOption {
        names: "npm",
        columns: Columns {
            values: "--prefix",
            ..ANY
        },
        directory: &["--prefix"],
        file: &[],
    },
];

/// A row of [`DIRECTORY_OPTIONS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectoryOption {
    pub(super) names: &'static str,
    pub(super) columns: Columns,
    /// Options whose value is the directory.
    pub(super) directory: &'static [&'static str],
    /// Options whose value is a file in the directory.
    pub(super) file: &'static [&'static str],
}
