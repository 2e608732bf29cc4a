//! Descriptors: sealed memory files, pidfds, pipes, and opening paths without following links.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

use tokio::io::unix::AsyncFd;

use nix::fcntl::{FcntlArg, OFlag, OpenHow, ResolveFlag, fcntl};

/// `MFD_EXEC` of Linux 6.3; older kernels answer `EINVAL`.
const MFD_EXEC: libc::c_uint = 0x10;

/// Lowest descriptor number that the engine hands to a child: 0, 1 and 2 are stdio there.
const FIRST_FREE: RawFd = 3;

/// An empty, close-on-exec memory file that can be sealed.
///
/// `executable` asks for the exec permission bit that `vm.memfd_noexec` may otherwise take away.
pub fn memory_file(name: &CStr, executable: bool) -> io::Result<File> {
    let base = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    let wanted = if executable { base | MFD_EXEC } else { base };
    // SAFETY: `name` is a NUL-terminated string that outlives the call; no memory is written.
    let mut raw = unsafe { libc::memfd_create(name.as_ptr(), wanted) };
    if raw < 0 && executable && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // SAFETY: as above, without the flag that this kernel does not know.
        raw = unsafe { libc::memfd_create(name.as_ptr(), base) };
    }
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just returned `raw` as a new descriptor that nobody else owns.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    Ok(File::from(above_stdio(fd)?))
}

/// Forbids every later change of content or size of a memory file, and of its seals.
pub fn seal(file: &File) -> io::Result<()> {
    let seals = nix::fcntl::SealFlag::F_SEAL_WRITE
        | nix::fcntl::SealFlag::F_SEAL_GROW
        | nix::fcntl::SealFlag::F_SEAL_SHRINK
        | nix::fcntl::SealFlag::F_SEAL_SEAL;
    fcntl(file, FcntlArg::F_ADD_SEALS(seals)).map_err(io::Error::from)?;
    Ok(())
}

/// A sealed memory file with exactly these bytes, positioned at the start.
pub fn sealed_bytes(name: &CStr, bytes: &[u8], executable: bool) -> io::Result<OwnedFd> {
    sealed_with(name, executable, |file| file.write_all(bytes))
}

/// A sealed memory file that `fill` writes, positioned at the start.
pub fn sealed_with(
    name: &CStr,
    executable: bool,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    use std::io::Seek;
    let mut file = memory_file(name, executable)?;
    fill(&mut file)?;
    seal(&file)?;
    file.rewind()?;
    Ok(file.into())
}

/// A pipe whose ends are close-on-exec and numbered above stdio: (read end, write end).
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(io::Error::from)?;
    Ok((above_stdio(read)?, above_stdio(write)?))
}

/// The same open file under a number of at least 3.
pub fn above_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() >= FIRST_FREE {
        return Ok(fd);
    }
    let raw = fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(FIRST_FREE)).map_err(io::Error::from)?;
    // SAFETY: the kernel just returned `raw` as a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Makes reads and writes through this open file return at once.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = fcntl(fd, FcntlArg::F_GETFL).map_err(io::Error::from)?;
    let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
    fcntl(fd, FcntlArg::F_SETFL(flags)).map_err(io::Error::from)?;
    Ok(())
}

/// Registers a pipe end with the asynchronous runtime; must be called inside one.
pub fn watch(pipe: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    set_nonblocking(pipe.as_fd())?;
    // SAFETY: an `OwnedFd` owns its valid descriptor, and nobody can replace or close it while the
    // `AsyncFd` holds it.
    Ok(unsafe { AsyncFd::register(pipe) }?)
}

/// A pidfd of a process.
pub fn pidfd_open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers and touches no memory of this process.
    let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let raw = RawFd::try_from(raw).unwrap_or(-1);
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just returned `raw` as a new descriptor that nobody else owns.
    above_stdio(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Opens a path for use as a bind-mount source (`O_PATH`), refusing every symbolic link on it.
pub fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let fd = nix::fcntl::openat2(nix::fcntl::AT_FDCWD, path, how).map_err(io::Error::from)?;
    above_stdio(fd)
}

/// Opens `relative` below `root` as if `root` were `/`, without following any symbolic link.
pub fn open_below(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(
            ResolveFlag::RESOLVE_IN_ROOT
                | ResolveFlag::RESOLVE_NO_SYMLINKS
                | ResolveFlag::RESOLVE_NO_MAGICLINKS,
        );
    let fd = nix::fcntl::openat2(root, relative, how).map_err(io::Error::from)?;
    above_stdio(fd)
}

/// Device and inode of an open file.
pub fn identity(fd: BorrowedFd<'_>) -> io::Result<(u64, u64)> {
    let stat = nix::sys::stat::fstat(fd).map_err(io::Error::from)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Another descriptor of the same open file, close-on-exec and above stdio.
pub fn duplicate(fd: impl AsFd) -> io::Result<OwnedFd> {
    above_stdio(fd.as_fd().try_clone_to_owned()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::FileExt;

    #[test]
    fn sealed_bytes_can_not_change() {
        let fd = sealed_bytes(c"t", b"abc", false).unwrap();
        let file = File::from(fd);
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.set_len(1).is_err());
        let mut text = String::new();
        (&file).read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
    }

    #[test]
    fn unsealed_memory_file_can_change() {
        let file = memory_file(c"t", false).unwrap();
        assert_eq!(file.write_at(b"x", 0).unwrap(), 1);
    }

    #[test]
    fn links_are_refused_anywhere_on_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        std::fs::create_dir(dir.join("real")).unwrap();
        std::fs::write(dir.join("real/file"), "x").unwrap();
        std::os::unix::fs::symlink("real", dir.join("link")).unwrap();
        assert!(open_without_links(&dir.join("real/file")).is_ok());
        assert!(open_without_links(&dir.join("link/file")).is_err());
        assert!(open_without_links(&dir.join("link")).is_err());
        let root = open_without_links(&dir).unwrap();
        assert!(open_below(root.as_fd(), Path::new("/real/file")).is_ok());
        assert!(open_below(root.as_fd(), Path::new("/link/file")).is_err());
        assert!(open_below(root.as_fd(), Path::new("/../../etc")).is_err());
    }
}
