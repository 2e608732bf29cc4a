//! The system call filter (spec 06b B2.5).
//!
//! Three small programs (foreign calls are killed, `ENOSYS`, `EPERM`) are joined into one: where one
//! of them would allow, the next one is asked. One program needs one descriptor and works with
//! every bubblewrap, also those that take `--seccomp` once only.

mod numbers;
mod rules;

use seccompiler::{SeccompAction, SeccompFilter, TargetArch, sock_filter};

use crate::error::PlanError;

/// Architectures with a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arch {
    /// 64-bit x86; x32 calls are killed.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

impl Arch {
    /// The architecture this program was built for, when it has a filter.
    pub const fn host() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::Aarch64)
        } else {
            None
        }
    }

    /// `AUDIT_ARCH_*` of the kernel.
    pub const fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xC000_003E,
            Self::Aarch64 => 0xC000_00B7,
        }
    }

    const fn target(self) -> TargetArch {
        match self {
            Self::X86_64 => TargetArch::x86_64,
            Self::Aarch64 => TargetArch::aarch64,
        }
    }
}

/// Ceilings that the filter depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conditions {
    /// Sockets are allowed.
    pub network: bool,
    /// New processes are allowed (threads always are).
    pub child_processes: bool,
    /// Set-id bits may be set.
    pub privilege_change: bool,
}

/// A filter as the kernel takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(Vec<Instruction>);

/// One classic BPF instruction (`struct sock_filter`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Instruction {
    pub code: u16,
    pub jt: u8,
    pub jf: u8,
    pub k: u32,
}

/// Largest program the kernel takes, in instructions (`BPF_MAXINSNS`).
pub const MAX_INSTRUCTIONS: usize = 4096;

impl Program {
    /// The instructions in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.0
    }

    /// The bytes for `--seccomp FD`, in host byte order.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 8);
        for instruction in &self.0 {
            bytes.extend_from_slice(&instruction.code.to_ne_bytes());
            bytes.push(instruction.jt);
            bytes.push(instruction.jf);
            bytes.extend_from_slice(&instruction.k.to_ne_bytes());
        }
        bytes
    }
}

const LOAD_WORD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_SET: u16 = 0x45;
const RETURN: u16 = 0x06;

const RET_KILL_PROCESS: u32 = 0x8000_0000;
const RET_ALLOW: u32 = 0x7FFF_0000;

const OFFSET_NUMBER: u32 = 0;
const OFFSET_ARCH: u32 = 4;
/// Bit of a call number that marks the x32 interface.
const X32_BIT: u32 = 0x4000_0000;

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// Builds the filter of one runtime.
pub fn program(arch: Arch, conditions: Conditions) -> Result<Program, PlanError> {
    let refused = compile(arch, rules::refused(arch, conditions)?, EPERM)?;
    let absent = compile(arch, rules::absent(arch, conditions), ENOSYS)?;
    let joined = join(&[foreign(arch), absent, refused]);
    if joined.len() > MAX_INSTRUCTIONS {
        return Err(PlanError::Seccomp(format!("{} instructions", joined.len())));
    }
    Ok(Program(joined))
}

/// Kills calls of another architecture and of the x32 interface, which shares the audit
/// architecture of x86_64.
fn foreign(arch: Arch) -> Vec<Instruction> {
    let ins = |code, jt, jf, k| Instruction { code, jt, jf, k };
    vec![
        ins(LOAD_WORD, 0, 0, OFFSET_ARCH),
        ins(JUMP_EQUAL, 0, 2, arch.audit()),
        ins(LOAD_WORD, 0, 0, OFFSET_NUMBER),
        ins(JUMP_SET, 0, 1, X32_BIT),
        ins(RETURN, 0, 0, RET_KILL_PROCESS),
        ins(RETURN, 0, 0, RET_ALLOW),
    ]
}

fn compile(arch: Arch, rules: rules::Rules, errno: u32) -> Result<Vec<Instruction>, PlanError> {
    let failed = |error: seccompiler::BackendError| PlanError::Seccomp(error.to_string());
    let matched = SeccompAction::Errno(errno);
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, matched, arch.target()).map_err(failed)?;
    let compiled: Vec<sock_filter> = filter.try_into().map_err(failed)?;
    Ok(compiled
        .into_iter()
        .map(|ins| Instruction {
            code: ins.code,
            jt: ins.jt,
            jf: ins.jf,
            k: ins.k,
        })
        .collect())
}

/// One program out of several: all but the last go on to the next one where they would allow.
fn join(parts: &[Vec<Instruction>]) -> Vec<Instruction> {
    let mut joined = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        for (position, instruction) in part.iter().enumerate() {
            let allows = instruction.code == RETURN && instruction.k == RET_ALLOW;
            joined.push(if allows && !last {
                let distance = part.len() - position - 1;
                let k = u32::try_from(distance).unwrap_or(u32::MAX);
                Instruction {
                    code: JUMP,
                    jt: 0,
                    jf: 0,
                    k,
                }
            } else {
                *instruction
            });
        }
    }
    joined
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
