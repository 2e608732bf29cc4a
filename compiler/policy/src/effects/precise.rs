//! Programs whose effects are known exactly (spec 06 section 6.4). One row is one program, or
//! several with the same options; the columns are those of [`super::options`].
//!
//! Where GNU and BSD disagree on whether an option takes the next word, the row says what GNU does
//! and the next word then counts as a file: more effects, never fewer.

use super::options::Columns;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// Names, separated by blanks.
    pub(super) names: &'static str,
    pub(super) columns: Columns,
    pub(super) positionals: Positionals,
}

/// What positional arguments mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Positionals {
    /// Options and arguments have no effect at all.
    Ignored,
    /// Each is read; `-` is standard input.
    Read,
    /// Each is read, except `+<num>`.
    ReadTail,
    /// Each is read; none: the current directory is.
    ReadOrCwd,
    /// Each is written.
    Write,
    /// Each is written, with `-p` every named ancestor too.
    WriteAncestors,
    /// A pattern unless an option gives it, then files (`grep`).
    GrepFiles,
    /// The same for `rg`, which searches the current directory by default.
    RipgrepFiles,
    /// Sources are read, the last (or `-t`) is written.
    Copy,
    /// Sources are read and removed, the last (or `-t`) is written.
    Move,
    /// The first is read, the second written, more are unknown.
    Uniq,
    /// The first two are read, the rest are numbers.
    Cmp,
    /// Something not starting with `+` sets the clock.
    Date,
    /// Each is read; `-c` reads the files that they list.
    Checksum,
}

const ANY: Columns = Columns {
    flags: "*",
    ..Columns::NONE
};

/// The table.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        names: "pwd echo printf true false tr seq sleep basename dirname",
        columns: ANY,
        positionals: Positionals::Ignored,
    },
    Program {
        names: "cat",
        columns: Columns {
            flags: "-A -b -e -E -l -n -s -t -T -u -v --show-all --number-nonblank --show-ends \
                    --number --squeeze-blank --show-tabs --show-nonprinting",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "head",
        columns: Columns {
            flags: "-q -v -z --quiet --silent --verbose --zero-terminated -<num>",
            values: "-n -c --lines --bytes",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "tail",
        columns: Columns {
            flags: "-f -F -q -v -z -r --follow[=] --retry --quiet --silent --verbose \
                    --zero-terminated -<num>",
            values: "-n -c -s --lines --bytes --sleep-interval --pid --max-unchanged-stats",
            ..Columns::NONE
        },
        positionals: Positionals::ReadTail,
    },
    Program {
        names: "wc",
        columns: Columns {
            flags: "-c -m -l -L -w --bytes --chars --lines --max-line-length --words",
            values: "--total",
            lists: "--files0-from",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "ls",
        columns: Columns {
            flags: "-a -b -c -d -e -f -g -h -i -j -k -l -m -n -o -p -q -r -s -t -u -v -x -y -z \
                    -A -B -C -D -E -F -G -H -J -K -L -M -N -O -P -Q -R -S -U -V -W -X -Y -Z -1 \
                    --all --almost-all --author --escape --ignore-backups --directory --dired \
                    --classify[=] --color[=] --colour[=] --group-directories-first --no-group \
                    --human-readable --si --dereference --dereference-command-line \
                    --dereference-command-line-symlink-to-dir --hyperlink[=] --inode --kibibytes \
                    --numeric-uid-gid --literal --hide-control-chars --show-control-chars \
                    --quote-name --reverse --recursive --size --context --zero --file-type \
                    --full-time",
            values: "-I -T -w --ignore --hide --block-size --format --sort --time --time-style \
                     --indicator-style --quoting-style --tabsize --width",
            ..Columns::NONE
        },
        positionals: Positionals::ReadOrCwd,
    },
    Program {
        names: "grep",
        columns: Columns {
            flags: "-E -F -G -P -i -y -v -w -x -c -l -L -o -q -s -b -H -h -n -T -Z -z -a -I -r -R \
                    -U -u -V -<num> --extended-regexp --fixed-strings --basic-regexp \
                    --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp \
                    --line-regexp --count --files-with-matches --files-without-match \
                    --only-matching --quiet --silent --no-messages --byte-offset --with-filename \
                    --no-filename --line-number --initial-tab --null --null-data --text \
                    --recursive --dereference-recursive --binary --unix-byte-offsets \
                    --line-buffered --no-group-separator --color[=] --colour[=]",
            values: "-e -A -B -C -m -d -D --regexp --after-context --before-context --context \
                     --max-count --binary-files --label --devices --directories --include \
                     --exclude --exclude-dir --group-separator",
            reads: "-f --file --exclude-from",
            ..Columns::NONE
        },
        positionals: Positionals::GrepFiles,
    },
    Program {
        names: "rg",
        columns: Columns {
            flags: "-0 -a -b -c -F -h -H -i -I -l -L -n -N -o -p -P -q -s -S -u -U -v -V -w -x -. \
                    --auto-hybrid-regex --no-auto-hybrid-regex --binary --no-binary \
                    --block-buffered --no-block-buffered --byte-offset --no-byte-offset \
                    --case-sensitive --column --no-column --count --count-matches --crlf \
                    --no-crlf --debug --files --files-with-matches --files-without-match \
                    --fixed-strings --no-fixed-strings --follow --no-follow \
                    --glob-case-insensitive --no-glob-case-insensitive --heading --no-heading \
                    --hidden --no-hidden --ignore-case --ignore-file-case-insensitive \
                    --no-ignore-file-case-insensitive --include-zero --no-include-zero \
                    --invert-match --no-invert-match --json --no-json --line-buffered \
                    --no-line-buffered --line-number --no-line-number --line-regexp \
                    --max-columns-preview --no-max-columns-preview --mmap --no-mmap --multiline \
                    --no-multiline --multiline-dotall --no-multiline-dotall --no-config --ignore \
                    --no-ignore --ignore-dot --no-ignore-dot --ignore-exclude \
                    --no-ignore-exclude --ignore-files --no-ignore-files --ignore-global \
                    --no-ignore-global --ignore-messages --no-ignore-messages --ignore-parent \
                    --no-ignore-parent --ignore-vcs --no-ignore-vcs --messages --no-messages \
                    --require-git --no-require-git --unicode --no-unicode --null --null-data \
                    --one-file-system --no-one-file-system --only-matching --passthru \
                    --passthrough --pcre2 --no-pcre2 --pcre2-unicode --no-pcre2-unicode \
                    --pcre2-version --pretty --quiet --no-search-zip --smart-case --stats \
                    --no-stats --stop-on-nonmatch --text --no-text --trace --trim --no-trim \
                    --type-list --unrestricted --vimgrep --with-filename --no-filename \
                    --word-regexp --no-encoding --no-pre --no-context-separator --sort-files \
                    --no-sort-files",
            values: "-e -A -B -C -d -E -g -j -m -M -r -t -T --regexp --after-context \
                     --before-context --context --encoding --glob --iglob --threads --max-count \
                     --max-columns --replace --type --type-not --type-add --type-clear \
                     --max-depth --maxdepth --max-filesize --sort --sortr --color --colors \
                     --context-separator --field-context-separator --field-match-separator \
                     --path-separator --engine --dfa-size-limit --regex-size-limit \
                     --hyperlink-format --pre-glob --generate",
            reads: "-f --file --ignore-file",
            execs: "--pre= --hostname-bin= -z --search-zip",
            ..Columns::NONE
        },
        positionals: Positionals::RipgrepFiles,
    },
    Program {
        names: "rm",
        columns: Columns {
            flags: "-f -i -I -r -R -d -v --force --recursive --dir --verbose --interactive[=] \
                    --one-file-system --preserve-root[=] --no-preserve-root",
            ..Columns::NONE
        },
        positionals: Positionals::Write,
    },
    Program {
        names: "rmdir",
        columns: Columns {
            flags: "-p -v --parents --verbose --ignore-fail-on-non-empty",
            ..Columns::NONE
        },
        positionals: Positionals::WriteAncestors,
    },
    Program {
        names: "mkdir",
        columns: Columns {
            flags: "-p -v -Z --parents --verbose --context[=]",
            values: "-m --mode",
            ..Columns::NONE
        },
        positionals: Positionals::Write,
    },
    Program {
        names: "touch",
        columns: Columns {
            flags: "-a -c -f -h -m --no-create --no-dereference",
            values: "-d -t --date --time",
            reads: "-r --reference",
            ..Columns::NONE
        },
        positionals: Positionals::Write,
    },
    Program {
        names: "cp",
        columns: Columns {
            flags: "-a -b -d -f -i -H -l -L -n -p -P -r -R -s -u -v -x -T -Z --archive \
                    --attributes-only --backup[=] --copy-contents --debug --dereference --force \
                    --interactive --keep-directory-symlink --link --no-clobber --no-dereference \
                    --no-target-directory --one-file-system --parents --preserve[=] --recursive \
                    --reflink[=] --remove-destination --strip-trailing-slashes --symbolic-link \
                    --update[=] --verbose --context[=]",
            values: "-S --suffix --no-preserve --sparse",
            writes: "-t --target-directory",
            ..Columns::NONE
        },
        positionals: Positionals::Copy,
    },
    Program {
        names: "mv",
        columns: Columns {
            flags: "-b -f -i -n -T -u -v -Z --backup[=] --context --debug --exchange --force \
                    --interactive --no-clobber --no-copy --no-target-directory \
                    --strip-trailing-slashes --update[=] --verbose",
            values: "-S --suffix",
            writes: "-t --target-directory",
            ..Columns::NONE
        },
        positionals: Positionals::Move,
    },
    Program {
        names: "sort",
        columns: Columns {
            flags: "-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --check[=] --debug \
                    --dictionary-order --general-numeric-sort --human-numeric-sort --ignore-case \
                    --ignore-leading-blanks --ignore-nonprinting --merge --month-sort \
                    --numeric-sort --random-sort --reverse --stable --unique --version-sort \
                    --zero-terminated",
            values: "-k -t -S --key --field-separator --buffer-size --batch-size --parallel --sort",
            reads: "--random-source",
            writes: "-o --output -T --temporary-directory",
            lists: "--files0-from",
            execs: "--compress-program=",
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "uniq",
        columns: Columns {
            flags: "-c -d -D -i -u -z -<num> --count --repeated --ignore-case --unique \
                    --zero-terminated --group[=] --all-repeated[=]",
            values: "-f -s -w --skip-fields --skip-chars --check-chars",
            ..Columns::NONE
        },
        positionals: Positionals::Uniq,
    },
    Program {
        names: "cut",
        columns: Columns {
            flags: "-n -s -z --complement --only-delimited --zero-terminated",
            values: "-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "nl",
        columns: Columns {
            flags: "*",
            values: "-b -d -f -h -i -l -n -s -v -w --body-numbering --section-delimiter \
                     --footer-numbering --header-numbering --line-increment --join-blank-lines \
                     --number-format --number-separator --starting-line-number --number-width",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "tac",
        columns: Columns {
            flags: "*",
            values: "-s --separator",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "rev",
        columns: ANY,
        positionals: Positionals::Read,
    },
    Program {
        names: "fold",
        columns: Columns {
            flags: "*",
            values: "-w --width",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "stat readlink realpath",
        columns: Columns {
            flags: "* *=",
            values: "-c --format --printf --relative-to --relative-base",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "tee",
        columns: Columns {
            flags: "-a -i -p --append --ignore-interrupts --output-error[=]",
            ..Columns::NONE
        },
        positionals: Positionals::Write,
    },
    Program {
        names: "diff",
        columns: Columns {
            flags: "* *=",
            values: "-U -C -I -x -W -F -D -L -S --unified[=] --context[=] --label --exclude \
                     --width --ignore-matching-lines --show-function-line --ifdef \
                     --starting-file --tabsize --horizon-lines --line-format --old-line-format \
                     --new-line-format --unchanged-line-format --old-group-format \
                     --new-group-format --unchanged-group-format --changed-group-format --palette",
            reads: "-X --exclude-from --from-file --to-file",
            execs: "-l --paginate",
            ..Columns::NONE
        },
        positionals: Positionals::Read,
    },
    Program {
        names: "cmp",
        columns: Columns {
            flags: "* *=",
            values: "-i -n --ignore-initial --bytes",
            ..Columns::NONE
        },
        positionals: Positionals::Cmp,
    },
    Program {
        names: "date",
        columns: Columns {
            flags: "-u -R -I[] --utc --universal --iso-8601[=] --rfc-email",
            values: "-d --date --rfc-3339 -s --set",
            reads: "-f --file -r --reference",
            ..Columns::NONE
        },
        positionals: Positionals::Date,
    },
    Program {
        names: "du",
        columns: Columns {
            flags: "* *=",
            values: "-d -B -t --max-depth --block-size --threshold --time-style --exclude",
            reads: "-X --exclude-from",
            lists: "--files0-from",
            ..Columns::NONE
        },
        positionals: Positionals::ReadOrCwd,
    },
    Program {
        names: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum",
        columns: Columns {
            flags: "* *= -c --check",
            values: "-a -l --algorithm --length",
            ..Columns::NONE
        },
        positionals: Positionals::Checksum,
    },
];
