//! System call numbers by architecture. The filter is made for a named target, so the numbers of
//! the build host's C library are no help.

use super::Arch;

/// `(name, x86_64, aarch64)`; `None` where the architecture lacks the call.
const NUMBERS: &[(&str, Option<i64>, Option<i64>)] = &[
    ("acct", Some(163), Some(89)),
    ("add_key", Some(248), Some(217)),
    ("bpf", Some(321), Some(280)),
    ("chmod", Some(90), None),
    ("clone", Some(56), Some(220)),
    ("clone3", Some(435), Some(435)),
    ("creat", Some(85), None),
    ("delete_module", Some(176), Some(106)),
    ("fchmod", Some(91), Some(52)),
    ("fchmodat", Some(268), Some(53)),
    ("fchmodat2", Some(452), Some(452)),
    ("finit_module", Some(313), Some(273)),
    ("fork", Some(57), None),
    ("fsconfig", Some(431), Some(431)),
    ("fsmount", Some(432), Some(432)),
    ("fsopen", Some(430), Some(430)),
    ("fspick", Some(433), Some(433)),
    ("init_module", Some(175), Some(105)),
    ("io_uring_enter", Some(426), Some(426)),
    ("io_uring_register", Some(427), Some(427)),
    ("io_uring_setup", Some(425), Some(425)),
    ("ioctl", Some(16), Some(29)),
    ("kcmp", Some(312), Some(272)),
    ("kexec_file_load", Some(320), Some(294)),
    ("kexec_load", Some(246), Some(104)),
    ("keyctl", Some(250), Some(219)),
    ("lookup_dcookie", Some(212), Some(18)),
    ("mknod", Some(133), None),
    ("mknodat", Some(259), Some(33)),
    ("mount", Some(165), Some(40)),
    ("mount_setattr", Some(442), Some(442)),
    ("move_mount", Some(429), Some(429)),
    ("open", Some(2), None),
    ("open_by_handle_at", Some(304), Some(265)),
    ("open_tree", Some(428), Some(428)),
    ("open_tree_attr", Some(467), Some(467)),
    ("openat", Some(257), Some(56)),
    ("openat2", Some(437), Some(437)),
    ("perf_event_open", Some(298), Some(241)),
    ("personality", Some(135), Some(92)),
    ("pidfd_getfd", Some(438), Some(438)),
    ("pivot_root", Some(155), Some(41)),
    ("process_vm_readv", Some(310), Some(270)),
    ("process_vm_writev", Some(311), Some(271)),
    ("ptrace", Some(101), Some(117)),
    ("quotactl", Some(179), Some(60)),
    ("reboot", Some(169), Some(142)),
    ("request_key", Some(249), Some(218)),
    ("setns", Some(308), Some(268)),
    ("socket", Some(41), Some(198)),
    ("socketpair", Some(53), Some(199)),
    ("swapoff", Some(168), Some(225)),
    ("swapon", Some(167), Some(224)),
    ("syslog", Some(103), Some(116)),
    ("umount2", Some(166), Some(39)),
    ("unshare", Some(272), Some(97)),
    ("userfaultfd", Some(323), Some(282)),
    ("vfork", Some(58), None),
    ("vhangup", Some(153), Some(58)),
];

/// Number of a call; `None` when the architecture lacks it.
pub(super) fn number(arch: Arch, name: &str) -> Option<i64> {
    let index = NUMBERS
        .binary_search_by(|(known, _, _)| (*known).cmp(name))
        .ok()?;
    let (_, x86_64, aarch64) = NUMBERS.get(index)?;
    match arch {
        Arch::X86_64 => *x86_64,
        Arch::Aarch64 => *aarch64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted_and_numbers_are_distinct() {
        assert!(NUMBERS.is_sorted_by(|a, b| a.0 < b.0));
        for arch in [Arch::X86_64, Arch::Aarch64] {
            let mut all: Vec<i64> = NUMBERS
                .iter()
                .filter_map(|row| number(arch, row.0))
                .collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }

    /// Every number agrees with the table inside seccompiler, which was generated from the
    /// kernel's sources, wherever that table knows the name.
    #[test]
    fn numbers_agree_with_an_independent_table() {
        use seccompiler::TargetArch;
        let mut compared = 0;
        for (arch, target) in [
            (Arch::X86_64, TargetArch::x86_64),
            (Arch::Aarch64, TargetArch::aarch64),
        ] {
            for (name, _, _) in NUMBERS {
                let json = format!(
                    r#"{{"f":{{"mismatch_action":"allow","match_action":"trap","filter":[{{"syscall":"{name}"}}]}}}}"#
                );
                let Ok(compiled) = seccompiler::compile_from_json(json.as_bytes(), target) else {
                    continue;
                };
                let Some(program) = compiled.get("f") else {
                    continue;
                };
                let wanted = number(arch, name).and_then(|n| u32::try_from(n).ok());
                let found = program
                    .iter()
                    .find(|ins| ins.code == 0x15 && ins.k != arch.audit());
                assert_eq!(found.map(|ins| ins.k), wanted, "{name} {arch:?}");
                compared += 1;
            }
        }
        assert!(compared > 90, "{compared}");
    }
}
