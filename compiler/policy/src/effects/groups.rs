//! Program groups that are never precise (spec 06 section 6.5).

/// What every program of a group may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basic {
    /// arbitrary_code
    Code,
    /// child_processes
    Children,
    /// network
    Network,
    /// privilege_change
    Privilege,
    /// Reads the current directory.
    ReadCwd,
    /// Writes the current directory.
    WriteCwd,
    /// unknown, with the reason.
    Unknown(&'static str),
    /// The fallback: arbitrary code, child processes, no specification.
    Fallback,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Name in traces.
    pub(super) rule: &'static str,
    /// Members, separated by blanks; a trailing `*` is a prefix.
    pub(super) names: &'static str,
    pub(super) effects: &'static [Basic],
}

use Basic::{Children, Code, Fallback, Network, Privilege, ReadCwd, Unknown, WriteCwd};

/// The table. A name may stand in several rows; their effects add up.
pub(super) const GROUPS: &[Group] = &[
    Group {
        rule: "group.interpreter",
        names: "sh bash zsh fish python python3 ruby perl node env xargs \
                dash ash ksh mksh csh tcsh pwsh powershell nu elvish xonsh osascript pypy ipython \
                irb nodejs deno bun ts-node lua luajit php tclsh wish expect r rscript julia guile \
                racket sbcl clisp emacs erl elixir iex escript groovy scala kotlin java jshell \
                ocaml utop ghci runghc awk gawk mawk nawk sed bc dc m4 gdb lldb jq vim vi view ex \
                ed nano less more man most pg watch script tmux screen entr parallel",
        effects: &[Code, Children, Unknown("interpreter")],
    },
    Group {
        rule: "group.privilege",
        names: "sudo sudoedit su doas chown chmod mount umount chgrp setfacl chattr setcap",
        effects: &[Privilege, WriteCwd, Children],
    },
    Group {
        rule: "group.privilege_command",
        names: "fusermount pkexec runuser gosu su-exec setpriv capsh unshare nsenter chroot \
                systemctl service launchctl shutdown reboot halt poweroff init telinit insmod \
                modprobe rmmod sysctl iptables nft ip useradd userdel usermod groupadd passwd \
                visudo crontab at batch mkfs* fdisk parted losetup swapon",
        effects: &[
            Privilege,
            WriteCwd,
            Children,
            Code,
            Unknown("privileged command"),
        ],
    },
    Group {
        rule: "group.privilege_runner",
        names: "sudo sudoedit su doas pkexec runuser gosu su-exec",
        effects: &[Code, Unknown("runs a command with other privileges")],
    },
    Group {
        rule: "group.network",
        names: "curl wget ssh scp nc ncat telnet sftp rsync socat ftp lftp aria2c http https xh \
                ping traceroute dig host nslookup whois openssl mail sendmail",
        effects: &[
            Network,
            WriteCwd,
            Unknown("network command effects depend on arguments"),
        ],
    },
    Group {
        rule: "group.network_runner",
        names: "ssh scp sftp rsync nc ncat socat ftp lftp telnet openssl",
        effects: &[Code, Children],
    },
    Group {
        rule: "group.build",
        names: "git cargo make dune npm pnpm opam gmake ninja cmake meson bazel buck gradle mvn \
                ant sbt yarn npx pip pip3 pipx uv poetry conda gem bundle rake go rustup rustc gcc \
                g++ cc clang ld as tsc webpack vite pytest tox svn hg jj fossil docker podman \
                kubectl helm terraform nix apt apt-get dpkg dnf yum rpm pacman apk brew snap \
                flatpak",
        effects: &[
            ReadCwd,
            WriteCwd,
            Code,
            Children,
            Unknown("build or VCS command may invoke helpers"),
        ],
    },
    Group {
        rule: "group.network_always",
        names: "npx apt apt-get dnf yum pacman apk brew snap flatpak rpm dpkg docker podman \
                kubectl helm terraform nix",
        effects: &[Network],
    },
    Group {
        rule: "group.system_packages",
        names: "apt apt-get dnf yum pacman apk brew snap flatpak rpm dpkg docker podman kubectl \
                helm terraform nix",
        effects: &[Privilege],
    },
    Group {
        rule: "group.cloud",
        names: "aws gcloud gsutil bq az glab eksctl doctl flyctl fly heroku vercel netlify \
                wrangler pulumi cdk ansible ansible-playbook vagrant packer",
        effects: &[
            Network,
            ReadCwd,
            WriteCwd,
            Code,
            Children,
            Unknown("cloud command acts elsewhere"),
        ],
    },
    Group {
        rule: "group.archive",
        names: "tar cpio pax unzip zip 7z 7za ar rar unrar gzip gunzip xz bzip2 zstd",
        effects: &[Fallback],
    },
    Group {
        rule: "group.file_tool",
        names: "dd ln install truncate shred mktemp split csplit patch",
        effects: &[Fallback],
    },
];

/// Multi-call binaries: the applet name decides (spec 06 section 6.3 rule 5).
pub(super) const MULTI_CALL: &[&str] =
    &["busybox", "toybox", "coreutils", "uutils", "gnucoreutils"];
