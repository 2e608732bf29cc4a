#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use super::numbers::number;
use super::*;

/// Outcome of a call.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Verdict {
    Allow,
    Errno(u32),
    Kill,
}

/// A classic BPF machine over `struct seccomp_data`, as far as filters use it.
fn run(program: &Program, arch: u32, number: u32, args: [u64; 6]) -> Verdict {
    let mut data = Vec::new();
    data.extend_from_slice(&number.to_le_bytes());
    data.extend_from_slice(&arch.to_le_bytes());
    data.extend_from_slice(&0u64.to_le_bytes());
    for arg in args {
        data.extend_from_slice(&arg.to_le_bytes());
    }
    let code = program.instructions();
    let (mut pc, mut acc) = (0usize, 0u32);
    loop {
        let ins = code[pc];
        pc += 1;
        let branch = |taken: bool| usize::from(if taken { ins.jt } else { ins.jf });
        match ins.code {
            0x20 => {
                let at = ins.k as usize;
                acc = u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
            }
            0x54 => acc &= ins.k,
            0x05 => pc += ins.k as usize,
            0x15 => pc += branch(acc == ins.k),
            0x25 => pc += branch(acc > ins.k),
            0x35 => pc += branch(acc >= ins.k),
            0x45 => pc += branch(acc & ins.k != 0),
            0x06 => {
                return match ins.k {
                    RET_ALLOW => Verdict::Allow,
                    RET_KILL_PROCESS => Verdict::Kill,
                    k if k & 0xFFFF_0000 == 0x0005_0000 => Verdict::Errno(k & 0xFFFF),
                    other => panic!("unexpected return {other:#x}"),
                };
            }
            other => panic!("unexpected instruction {other:#x}"),
        }
    }
}

const STRICT: Conditions = Conditions {
    network: false,
    child_processes: false,
    privilege_change: false,
};
const OPEN: Conditions = Conditions {
    network: true,
    child_processes: true,
    privilege_change: true,
};
const REFUSED: Verdict = Verdict::Errno(EPERM);
const ABSENT: Verdict = Verdict::Errno(ENOSYS);

fn call(arch: Arch, conditions: Conditions, name: &str, args: &[u64]) -> Option<Verdict> {
    let program = program(arch, conditions).unwrap();
    let number = u32::try_from(number(arch, name)?).unwrap();
    let mut all = [0u64; 6];
    all[..args.len()].copy_from_slice(args);
    let verdict = run(&program, arch.audit(), number, all);
    // The kernel ignores the upper half of these arguments, and so must the filter.
    let upper = all.map(|arg| arg | 0xDEAD_BEEF_0000_0000);
    assert_eq!(
        run(&program, arch.audit(), number, upper),
        verdict,
        "{name} {args:x?}"
    );
    Some(verdict)
}

#[test]
fn table_of_calls() {
    let thread = 0x003D_0F00;
    // Call, arguments, verdict with everything forbidden, verdict with everything permitted.
    let table: &[(&str, &[u64], Verdict, Verdict)] = &[
        ("clone3", &[], ABSENT, ABSENT),
        ("openat2", &[], ABSENT, Verdict::Allow),
        ("personality", &[0], Verdict::Allow, Verdict::Allow),
        (
            "personality",
            &[0xFFFF_FFFF],
            Verdict::Allow,
            Verdict::Allow,
        ),
        ("personality", &[0x0004_0000], REFUSED, REFUSED),
        ("clone", &[thread], Verdict::Allow, Verdict::Allow),
        ("clone", &[17], REFUSED, Verdict::Allow),
        ("clone", &[0x0002_0011], REFUSED, REFUSED),
        ("clone", &[0x1000_0011], REFUSED, REFUSED),
        ("clone", &[0x4000_0000 | thread], REFUSED, REFUSED),
        ("clone", &[0x0200_0000 | thread], REFUSED, REFUSED),
        ("fork", &[], REFUSED, Verdict::Allow),
        ("vfork", &[], REFUSED, Verdict::Allow),
        ("ioctl", &[0, 0x5412], REFUSED, REFUSED),
        ("ioctl", &[0, 0x541C], REFUSED, REFUSED),
        ("ioctl", &[0, 0x5413], Verdict::Allow, Verdict::Allow),
        ("socket", &[1, 1, 0], REFUSED, Verdict::Allow),
        ("socket", &[2, 1, 0], REFUSED, Verdict::Allow),
        ("socket", &[16, 3, 0], REFUSED, Verdict::Allow),
        ("socketpair", &[1, 1], Verdict::Allow, Verdict::Allow),
        ("socketpair", &[1, 0x8_0801], Verdict::Allow, Verdict::Allow),
        ("socketpair", &[1, 5], Verdict::Allow, Verdict::Allow),
        ("socketpair", &[1, 2], REFUSED, Verdict::Allow),
        ("socketpair", &[1, 0x8_0002], REFUSED, Verdict::Allow),
        ("socketpair", &[1, 0], REFUSED, Verdict::Allow),
        ("socketpair", &[2, 1], REFUSED, Verdict::Allow),
        ("chmod", &[0, 0o755], Verdict::Allow, Verdict::Allow),
        ("chmod", &[0, 0o4755], REFUSED, Verdict::Allow),
        ("fchmod", &[0, 0o2755], REFUSED, Verdict::Allow),
        ("fchmodat", &[0, 0, 0o6755], REFUSED, Verdict::Allow),
        ("fchmodat2", &[0, 0, 0o4000], REFUSED, Verdict::Allow),
        (
            "fchmodat",
            &[0, 0o6000, 0o1777],
            Verdict::Allow,
            Verdict::Allow,
        ),
        ("creat", &[0, 0o4755], REFUSED, Verdict::Allow),
        ("mknod", &[0, 0o104755], REFUSED, Verdict::Allow),
        ("mknodat", &[0, 0, 0o102755], REFUSED, Verdict::Allow),
        ("mknodat", &[0, 0, 0o100755], Verdict::Allow, Verdict::Allow),
        ("open", &[0, 0o101, 0o4755], REFUSED, Verdict::Allow),
        ("open", &[0, 0o101, 0o644], Verdict::Allow, Verdict::Allow),
        // Without creation the mode is not looked at by the kernel.
        ("open", &[0, 0, 0o6755], Verdict::Allow, Verdict::Allow),
        ("openat", &[0, 0, 0o101, 0o2755], REFUSED, Verdict::Allow),
        (
            "openat",
            &[0, 0, 0o20_200_002, 0o4755],
            REFUSED,
            Verdict::Allow,
        ),
        // O_DIRECTORY alone is not O_TMPFILE.
        (
            "openat",
            &[0, 0, 0o200_000, 0o4755],
            Verdict::Allow,
            Verdict::Allow,
        ),
    ];
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let mut seen = 0;
        for (name, args, strict, open) in table {
            let Some(found) = call(arch, STRICT, name, args) else {
                continue;
            };
            assert_eq!(found, *strict, "{arch:?} strict {name} {args:x?}");
            assert_eq!(
                call(arch, OPEN, name, args),
                Some(*open),
                "{arch:?} open {name} {args:x?}"
            );
            seen += 1;
        }
        assert!(seen > 28, "{arch:?} {seen}");
    }
}

#[test]
fn always_refused_whatever_the_ceilings() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        for name in rules::ALWAYS {
            assert_eq!(call(arch, OPEN, name, &[]), Some(REFUSED), "{name}");
            assert_eq!(
                call(arch, STRICT, name, &[1, 2, 3, 4, 5, 6]),
                Some(REFUSED),
                "{name}"
            );
        }
    }
}

#[test]
fn each_ceiling_acts_alone() {
    for (conditions, denied) in [
        (
            Conditions {
                network: false,
                ..OPEN
            },
            "socket",
        ),
        (
            Conditions {
                child_processes: false,
                ..OPEN
            },
            "clone",
        ),
        (
            Conditions {
                privilege_change: false,
                ..OPEN
            },
            "fchmod",
        ),
    ] {
        for (name, args) in [
            ("socket", &[1u64, 1][..]),
            ("clone", &[17]),
            ("fchmod", &[0, 0o4755]),
        ] {
            let expected = if name == denied {
                REFUSED
            } else {
                Verdict::Allow
            };
            assert_eq!(
                call(Arch::X86_64, conditions, name, args),
                Some(expected),
                "{name}"
            );
        }
    }
}

#[test]
fn foreign_calls_are_killed() {
    let program = program(Arch::X86_64, OPEN).unwrap();
    for number in [0, 1, 57, 425] {
        // i386, aarch64, then x32 numbers of the right architecture.
        assert_eq!(run(&program, 0x4000_0003, number, [0; 6]), Verdict::Kill);
        assert_eq!(
            run(&program, Arch::Aarch64.audit(), number, [0; 6]),
            Verdict::Kill
        );
        assert_eq!(
            run(&program, Arch::X86_64.audit(), number | X32_BIT, [0; 6]),
            Verdict::Kill
        );
    }
    assert_eq!(
        run(&program, Arch::X86_64.audit(), 0, [0; 6]),
        Verdict::Allow
    );
}

#[test]
fn every_other_call_is_allowed() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = program(arch, STRICT).unwrap();
        let known = |n: u32| {
            rules::refused(arch, STRICT)
                .unwrap()
                .contains_key(&i64::from(n))
                || rules::absent(arch, STRICT).contains_key(&i64::from(n))
        };
        for number in 0..600 {
            if !known(number) {
                let verdict = run(&program, arch.audit(), number, [u64::MAX; 6]);
                assert_eq!(verdict, Verdict::Allow, "{number}");
            }
        }
    }
}

#[test]
fn programs_fit_the_kernel_and_end_in_a_return() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        for conditions in [STRICT, OPEN] {
            let program = program(arch, conditions).unwrap();
            let code = program.instructions();
            assert!(code.len() < 1000, "{}", code.len());
            assert_eq!(program.bytes().len(), code.len() * 8);
            assert_eq!(code.last().unwrap().code, RETURN);
            for (index, ins) in code.iter().enumerate() {
                let reach = match ins.code {
                    JUMP => ins.k as usize,
                    c if c & 0x07 == 0x05 => usize::from(ins.jt.max(ins.jf)),
                    _ => continue,
                };
                assert!(
                    index + 1 + reach < code.len(),
                    "jump out of the program at {index}"
                );
            }
        }
    }
}
