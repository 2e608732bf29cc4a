//! Reading `/proc` between `fork` and `exec`: no allocation, no locks, numbers only.

use libc::{c_char, c_int, c_long};

/// Bytes that a directory or file is read with at a time; lives on the stack.
const CHUNK: usize = 4096;

/// Calls `each` for every entry of the directory whose name is a decimal number.
///
/// Returns false when the directory can not be read.
///
/// # Safety
/// `path` must point to a NUL-terminated string.
pub(super) unsafe fn numbers_in_directory(
    path: *const c_char,
    mut each: impl FnMut(c_int, c_int),
) -> bool {
    // SAFETY: `path` is NUL-terminated by contract.
    let dir = unsafe { libc::open(path, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    if dir < 0 {
        return false;
    }
    let mut buffer = [0_u64; CHUNK / 8];
    loop {
        // SAFETY: `buffer` is CHUNK writable bytes, aligned for the records that the kernel writes.
        let got = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                dir,
                buffer.as_mut_ptr(),
                CHUNK as c_long,
            )
        };
        if got <= 0 {
            break;
        }
        let got = got as usize;
        // SAFETY: the kernel filled the first `got` (at most CHUNK) bytes of `buffer`.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), got) };
        let mut at = 0;
        // A record is: inode u64, offset u64, length u16, type u8, NUL-terminated name.
        while let Some(record) = bytes.get(at..) {
            let (Some(low), Some(high)) = (record.get(16), record.get(17)) else {
                break;
            };
            let length = usize::from(u16::from_ne_bytes([*low, *high]));
            let Some(name) = record.get(19..length) else {
                break;
            };
            if let Some(number) = leading_number(name) {
                each(number, dir);
            }
            at += length;
        }
    }
    // SAFETY: `dir` was opened above and is closed once.
    unsafe { libc::close(dir) };
    true
}

/// Calls `each` for every whitespace-separated decimal number of a file; false when unreadable.
///
/// # Safety
/// `path` must point to a NUL-terminated string.
pub(super) unsafe fn numbers_in_file(path: *const c_char, mut each: impl FnMut(c_int)) -> bool {
    // SAFETY: `path` is NUL-terminated by contract.
    let file = unsafe { libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return false;
    }
    let mut buffer = [0_u8; CHUNK];
    let mut number: Option<c_int> = None;
    loop {
        // SAFETY: `buffer` is CHUNK writable bytes.
        let got = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), CHUNK) };
        if got <= 0 {
            break;
        }
        for byte in buffer.iter().take(got as usize) {
            if byte.is_ascii_digit() {
                let digit = c_int::from(byte - b'0');
                number = Some(number.unwrap_or(0).wrapping_mul(10).wrapping_add(digit));
            } else if let Some(done) = number.take() {
                each(done);
            }
        }
    }
    if let Some(done) = number {
        each(done);
    }
    // SAFETY: `file` was opened above and is closed once.
    unsafe { libc::close(file) };
    true
}

/// Parent of the process `pid`, from `/proc/PID/stat`; `None` when it is gone.
///
/// # Safety
/// Only system calls and the stack are used; callable after `fork`.
pub(super) unsafe fn parent_of(pid: c_int) -> Option<c_int> {
    let path = stat_path(pid);
    // SAFETY: `stat_path` ends its text with NUL.
    let file = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    let mut buffer = [0_u8; 512];
    // SAFETY: `buffer` is 512 writable bytes.
    let got = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: `file` was opened above and is closed once.
    unsafe { libc::close(file) };
    let text = buffer.get(..usize::try_from(got).ok()?)?;
    // `PID (name) S PPID …`: the name may hold anything, so the last `)` ends it.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    leading_number(text.get(end + 4..)?)
}

/// `/proc/PID/stat` with a NUL at the end, on the stack.
fn stat_path(pid: c_int) -> [u8; 32] {
    let mut digits = [0_u8; 10];
    let mut count = 0;
    let mut rest = pid.unsigned_abs();
    while let Some(slot) = digits.get_mut(count) {
        *slot = b'0' + (rest % 10) as u8;
        count += 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut path = [0_u8; 32];
    let text = b"/proc/"
        .iter()
        .copied()
        .chain(digits.iter().take(count).rev().copied());
    for (slot, byte) in path.iter_mut().zip(text.chain(b"/stat".iter().copied())) {
        *slot = byte;
    }
    path
}

fn leading_number(text: &[u8]) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut any = false;
    for byte in text {
        if !byte.is_ascii_digit() {
            break;
        }
        any = true;
        value = value
            .checked_mul(10)?
            .checked_add(c_int::from(byte - b'0'))?;
    }
    any.then_some(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn finds_the_parent_by_process_number() {
        let me = std::process::id() as c_int;
        let expected = nix::unistd::getppid().as_raw();
        // SAFETY: nothing is required.
        assert_eq!(unsafe { parent_of(me) }, Some(expected));
        assert_eq!(&stat_path(1207)[..15], b"/proc/1207/stat");
        assert_eq!(&stat_path(0)[..12], b"/proc/0/stat");
    }

    #[test]
    fn lists_numeric_entries() {
        let mut seen = Vec::new();
        // SAFETY: the literal is NUL-terminated.
        let ok = unsafe { numbers_in_directory(c"/proc".as_ptr(), |n, _| seen.push(n)) };
        assert!(ok);
        assert!(seen.contains(&(std::process::id() as c_int)));
        // SAFETY: the literal is NUL-terminated.
        assert!(!unsafe { numbers_in_directory(c"/nonexistent".as_ptr(), |_, _| ()) });
    }

    #[test]
    fn numbers_of_a_file_survive_chunk_borders() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = (0..3000).map(|n| format!("{n} ")).collect();
        std::fs::write(file.path(), &text).unwrap();
        let path = std::ffi::CString::new(file.path().to_str().unwrap()).unwrap();
        let mut seen = Vec::new();
        // SAFETY: a `CString` is NUL-terminated.
        assert!(unsafe { numbers_in_file(path.as_ptr(), |n| seen.push(n)) });
        assert_eq!(seen, (0..3000).collect::<Vec<_>>());
    }
}
