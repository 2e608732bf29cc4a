//! The table of B2.5 as rules. Values are compared on their low 32 bits, as the kernel reads them.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{SeccompCmpOp, SeccompCondition, SeccompRule};

use super::{Arch, Conditions, numbers::number};
use crate::error::PlanError;

pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused always.
pub(super) const ALWAYS: &[&str] = &[
    "mount",
    "umount2",
    "pivot_root",
    "move_mount",
    "open_tree",
    "open_tree_attr",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "mount_setattr",
    "setns",
    "unshare",
    "swapon",
    "swapoff",
    "reboot",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "keyctl",
    "add_key",
    "request_key",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_by_handle_at",
    "acct",
    "quotactl",
    "syslog",
    "lookup_dcookie",
    "vhangup",
];

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`: together
/// 0x7E02_0000. `CLONE_NEWTIME` is not a flag of `clone`.
const CLONE_NEW: [u64; 7] = [
    0x0002_0000,
    0x0200_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
];
const CLONE_THREAD: u64 = 0x0001_0000;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541C;
const AF_UNIX: u64 = 1;
const SOCK_TYPE_MASK: u64 = 0xF;
const SOCK_STREAM: u64 = 1;
const SOCK_SEQPACKET: u64 = 5;
/// Set-uid and set-gid bits of a mode, one rule each.
const SET_ID_BITS: [u64; 2] = [0o4000, 0o2000];
/// `O_CREAT` and the kernel's own bit of `O_TMPFILE`.
const CREATE_BITS: [u64; 2] = [0o100, 0o20_000_000];

/// One comparison of an argument.
type Test = (u8, SeccompCmpOp, u64);

struct Table {
    arch: Arch,
    rules: Rules,
}

impl Table {
    /// Matches the call whatever its arguments are.
    fn any(&mut self, name: &str) {
        if let Some(number) = number(self.arch, name) {
            // An empty chain matches every call of the number and must stay the only one.
            self.rules.insert(number, Vec::new());
        }
    }

    /// Matches the call when all tests hold; several calls of this are alternatives.
    fn when(&mut self, name: &str, tests: &[Test]) -> Result<(), PlanError> {
        let failed = |error: seccompiler::BackendError| PlanError::Seccomp(error.to_string());
        let Some(number) = number(self.arch, name) else {
            return Ok(());
        };
        let mut conditions = Vec::with_capacity(tests.len());
        for (argument, operator, value) in tests {
            let condition = SeccompCondition::new(*argument, Dword, operator.clone(), *value);
            conditions.push(condition.map_err(failed)?);
        }
        let rule = SeccompRule::new(conditions).map_err(failed)?;
        self.rules.entry(number).or_default().push(rule);
        Ok(())
    }
}

/// Calls answered with `EPERM`.
pub(super) fn refused(arch: Arch, conditions: Conditions) -> Result<Rules, PlanError> {
    let mut table = Table {
        arch,
        rules: Rules::new(),
    };
    for name in ALWAYS {
        table.any(name);
    }
    table.when("personality", &[(0, Ne, 0), (0, Ne, 0xFFFF_FFFF)])?;
    for flag in CLONE_NEW {
        table.when("clone", &[(0, MaskedEq(flag), flag)])?;
    }
    for request in [TIOCSTI, TIOCLINUX] {
        table.when("ioctl", &[(1, Eq, request)])?;
    }
    if !conditions.child_processes {
        table.any("fork");
        table.any("vfork");
        table.when("clone", &[(0, MaskedEq(CLONE_THREAD), 0)])?;
    }
    if !conditions.network {
        sockets(&mut table)?;
    }
    if !conditions.privilege_change {
        set_id(&mut table)?;
    }
    Ok(table.rules)
}

/// No socket of any family. A stream or packet pair is a pipe; a datagram pair could be re-addressed
/// to a path-named socket of the host.
fn sockets(table: &mut Table) -> Result<(), PlanError> {
    table.any("socket");
    table.when("socketpair", &[(0, Ne, AF_UNIX)])?;
    for kind in 0..=SOCK_TYPE_MASK {
        if kind != SOCK_STREAM && kind != SOCK_SEQPACKET {
            table.when("socketpair", &[(1, MaskedEq(SOCK_TYPE_MASK), kind)])?;
        }
    }
    Ok(())
}

/// Set-id bits, by changing a mode and by creating with one.
fn set_id(table: &mut Table) -> Result<(), PlanError> {
    for bit in SET_ID_BITS {
        for (name, mode) in [
            ("chmod", 1),
            ("fchmod", 1),
            ("fchmodat", 2),
            ("fchmodat2", 2),
            ("creat", 1),
            ("mknod", 1),
            ("mknodat", 2),
        ] {
            table.when(name, &[(mode, MaskedEq(bit), bit)])?;
        }
        for create in CREATE_BITS {
            for (name, flags, mode) in [("open", 1, 2), ("openat", 2, 3)] {
                table.when(
                    name,
                    &[
                        (flags, MaskedEq(create), create),
                        (mode, MaskedEq(bit), bit),
                    ],
                )?;
            }
        }
    }
    Ok(())
}

/// Calls answered with `ENOSYS`, so that the caller falls back to one whose arguments can be seen.
pub(super) fn absent(arch: Arch, conditions: Conditions) -> Rules {
    let mut table = Table {
        arch,
        rules: Rules::new(),
    };
    table.any("clone3");
    if !conditions.privilege_change {
        table.any("openat2");
    }
    table.rules
}
