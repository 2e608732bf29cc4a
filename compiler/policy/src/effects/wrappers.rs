//! Programs that start another program named in their arguments (spec 06 section 6.6).

use super::options::Columns;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapper {
    /// Names, separated by blanks.
    pub(super) names: &'static str,
    /// Options before the inner command.
    pub(super) columns: Columns,
    /// Words between the options and the inner command.
    pub(super) operands: usize,
    /// How the inner command is written.
    pub(super) form: Form,
    /// Adds A, C and `NAME starts another program`; programs of a group have their own.
    pub(super) adds_effects: bool,
}

/// How an inner command is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Words of its own argv.
    Argv,
    /// `NAME=VALUE` words, then argv; `-S` splits, `-C` changes the directory.
    Env,
    /// argv, or `echo` when there is none.
    Xargs,
    /// argv, or a shell; `-s` and `-i` run a shell, `-e` edits files.
    Sudo,
    /// `-c TEXT` is shell text, anywhere among the arguments.
    Su,
    /// The rest joined by blanks is shell text.
    Joined,
    /// argv, unless it starts with `-c`: then shell text.
    ArgvOrShell,
    /// `-c TEXT` of a shell.
    Shell,
    /// Only after `--args`.
    GdbArgs,
    /// Option syntax is not certain: all arguments as opaque text.
    Opaque,
}

const NONE: Columns = Columns::NONE;

const fn argv(names: &'static str, columns: Columns, operands: usize) -> Wrapper {
    Wrapper {
        names,
        columns,
        operands,
        form: Form::Argv,
        adds_effects: true,
    }
}

const fn form(names: &'static str, columns: Columns, form: Form) -> Wrapper {
    Wrapper {
        names,
        columns,
        operands: 0,
        form,
        adds_effects: true,
    }
}

/// The table.
pub(super) const WRAPPERS: &[Wrapper] = &[
    form(
        "env",
        Columns {
            flags: "-i -0 -v --ignore-environment --null --debug --list-signal-handling \
                    --block-signal[=] --default-signal[=] --ignore-signal[=]",
            values: "-u --unset -C --chdir -S --split-string -a --argv0 -P",
            ..NONE
        },
        Form::Env,
    ),
    form(
        "xargs",
        Columns {
            flags: "-0 -r -t -x -p -o -e[] -i[] -l[] --null --no-run-if-empty --verbose --exit \
                    --interactive --open-tty --show-limits --eof[=] --replace[=] --max-lines[=]",
            values: "-d -E -I -L -n -P -s -J -R -S --delimiter --max-args --max-procs --max-chars \
                     --process-slot-var",
            reads: "-a --arg-file",
            ..NONE
        },
        Form::Xargs,
    ),
    argv(
        "timeout",
        Columns {
            flags: "-v -f -p --preserve-status --foreground --verbose",
            values: "-k -s --kill-after --signal",
            ..NONE
        },
        1,
    ),
    argv(
        "nice",
        Columns {
            flags: "-<num>",
            values: "-n --adjustment",
            ..NONE
        },
        0,
    ),
    argv(
        "ionice",
        Columns {
            flags: "-t --ignore",
            values: "-c -n -p -P -u --class --classdata --pid",
            ..NONE
        },
        0,
    ),
    argv(
        "chrt",
        Columns {
            flags: "-b -d -e -f -i -m -o -r -R -a -v --batch --deadline --ext --fifo --idle --max \
                    --other --rr --reset-on-fork --all-tasks --verbose",
            values: "-T -P -D -p --sched-runtime --sched-period --sched-deadline --pid",
            ..NONE
        },
        1,
    ),
    argv(
        "taskset",
        Columns {
            flags: "-a -c --all-tasks --cpu-list",
            values: "-p --pid",
            ..NONE
        },
        1,
    ),
    argv("nohup", NONE, 0),
    argv(
        "setsid",
        Columns {
            flags: "-c -f -w --ctty --fork --wait",
            ..NONE
        },
        0,
    ),
    argv(
        "stdbuf",
        Columns {
            values: "-i -o -e --input --output --error",
            ..NONE
        },
        0,
    ),
    argv(
        "time",
        Columns {
            flags: "-p -v -a -V -q -l -h --portability --verbose --append --quiet",
            values: "-f --format",
            writes: "-o --output",
            ..NONE
        },
        0,
    ),
    argv(
        "command",
        Columns {
            flags: "-p -v -V",
            ..NONE
        },
        0,
    ),
    argv(
        "exec",
        Columns {
            flags: "-c -l",
            values: "-a",
            ..NONE
        },
        0,
    ),
    argv("builtin", NONE, 0),
    form(
        "sudo doas",
        Columns {
            flags: "-A -b -B -E -e -H -i -K -k -l -L -N -n -P -S -s -v -V --askpass --background \
                    --bell --preserve-env[=] --edit --set-home --login --remove-timestamp \
                    --reset-timestamp --list --no-update --non-interactive --preserve-groups \
                    --stdin --shell --validate",
            values: "-u -g -h -p -C -r -t -T -U -D -R -a -c --user --group --host --prompt \
                     --close-from --role --type --command-timeout --other-user --chdir --chroot \
                     --auth-type --login-class",
            ..NONE
        },
        Form::Sudo,
    ),
    form(
        "sudoedit",
        Columns {
            values: "-u -g -C -D -h -p -R -T",
            ..NONE
        },
        Form::Sudo,
    ),
    form(
        "su",
        Columns {
            flags: "-f -l -m -p -P --fast --login --preserve-environment --pty",
            values: "-c -g -G -s -w --command --session-command --group --supp-group --shell \
                     --whitelist-environment",
            ..NONE
        },
        Form::Su,
    ),
    form(
        "runuser",
        Columns {
            flags: "-f -l -m -p -P --fast --login --preserve-environment --pty",
            values: "-c -u -g -G -s -w --command --session-command --user --group --supp-group \
                     --shell --whitelist-environment",
            ..NONE
        },
        Form::Su,
    ),
    argv(
        "pkexec",
        Columns {
            flags: "--disable-internal-agent --keep-cwd",
            values: "--user",
            ..NONE
        },
        0,
    ),
    argv("gosu su-exec", NONE, 1),
    form(
        "sh bash dash zsh ksh ash mksh csh tcsh fish",
        NONE,
        Form::Shell,
    ),
    form(
        "watch",
        Columns {
            flags: "-b -c -C -d[] -e -f -g -p -r -t -w -x --beep --color --no-color \
                    --differences[=] --errexit --follow --chgexit --precise --no-rerun --no-title \
                    --no-wrap --exec",
            values: "-n -q -s --interval --equexit --shotsdir",
            ..NONE
        },
        Form::Joined,
    ),
    form(
        "entr",
        Columns {
            flags: "-a -c -d -n -p -r -s -x -z",
            ..NONE
        },
        Form::ArgvOrShell,
    ),
    Wrapper {
        names: "flock",
        columns: Columns {
            flags: "-s -x -e -u -n -o -F -v --shared --exclusive --unlock --nonblock --nb --close \
                    --no-fork --verbose",
            values: "-w -E --timeout --wait --conflict-exit-code --start --length",
            ..NONE
        },
        operands: 1,
        form: Form::ArgvOrShell,
        adds_effects: true,
    },
    argv(
        "chroot",
        Columns {
            flags: "--skip-chdir -n",
            values: "--userspec --groups -u -g -G",
            ..NONE
        },
        1,
    ),
    argv(
        "unshare",
        Columns {
            flags: "-m -u -i -n -p -U -C -T -f -r -c --mount[=] --uts[=] --ipc[=] --net[=] \
                    --pid[=] --user[=] --cgroup[=] --time[=] --fork --kill-child[=] \
                    --mount-proc[=] --mount-binfmt[=] --map-root-user --map-current-user \
                    --map-auto --keep-caps --forward-signals",
            values: "-R -w -S -G -l --root --wd --setuid --setgid --propagation --setgroups \
                     --map-user --map-users --map-group --map-groups --monotonic --boottime \
                     --load-interp --owner",
            ..NONE
        },
        0,
    ),
    argv(
        "nsenter",
        Columns {
            flags: "-a -m[] -u[] -i[] -n[] -p[] -U[] -C[] -T[] -r[] -w[] -F -Z -e -c --all \
                    --mount[=] --uts[=] --ipc[=] --net[=] --pid[=] --user[=] --cgroup[=] \
                    --time[=] --root[=] --wd[=] --no-fork --follow-context --preserve-credentials \
                    --keep-caps --env --join-cgroup",
            values: "-t -S -G -W -N --target --setuid --setgid --wdns --net-socket",
            ..NONE
        },
        0,
    ),
    argv(
        "setpriv",
        Columns {
            flags: "-d --dump --clear-groups --keep-groups --init-groups --no-new-privs --nnp \
                    --list-caps --reset-env",
            values: "--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps \
                     --ambient-caps --bounding-set --securebits --selinux-label \
                     --apparmor-profile --pdeathsig --ptracer --landlock-access --landlock-rule \
                     --seccomp-filter",
            ..NONE
        },
        0,
    ),
    argv(
        "strace ltrace",
        Columns {
            flags: "-f -ff -c -C -d -h -i -k -q -r -t -T -v -V -w -x -y -z -Z -D -F",
            values: "-e -E -I -O -p -P -s -S -u -X -a -b -l -n -N -A -L",
            writes: "-o --output",
            ..NONE
        },
        0,
    ),
    argv(
        "valgrind",
        Columns {
            flags: "* *=",
            ..NONE
        },
        0,
    ),
    form("eval", NONE, Form::Joined),
    form("script parallel perf capsh", NONE, Form::Opaque),
    form("gdb", NONE, Form::GdbArgs),
];
