//! Writing files.

use std::io::{self, Write as _};

use camino::Utf8Path;

/// Replaces a file whole or not at all. An existing file keeps its mode; a new one is as readable
/// as any.
///
/// # Errors
/// What the operating system said; nothing has changed then.
pub fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory",
        ));
    }
    let directory = match path.parent() {
        Some(parent) if parent != "" => parent,
        _ => Utf8Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".chatmdc-")
        .tempfile_in(directory)
        .map_err(|error| plain(&error))?;
    file.write_all(bytes)?;
    set_mode(file.as_file(), path)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a file that does not exist yet, whole or not at all.
///
/// # Errors
/// `AlreadyExists` when there is anything of that name, were it a broken link; else what the
/// operating system said.
pub fn create(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent != "" => parent,
        _ => Utf8Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".chatmdc-")
        .tempfile_in(directory)
        .map_err(|error| plain(&error))?;
    file.write_all(bytes)?;
    set_mode(file.as_file(), path)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

/// The error without the path that the temporary file had: nobody asked for that one.
fn plain(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let said = text
        .split_once(" at path ")
        .map_or(&*text, |(said, _)| said);
    io::Error::new(error.kind(), said)
}

/// A temporary file is private.
#[cfg(unix)]
fn set_mode(file: &std::fs::File, path: &Utf8Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match std::fs::metadata(path) {
        Ok(existing) => existing.permissions().mode() & 0o777,
        Err(_) => 0o644,
    };
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &std::fs::File, _: &Utf8Path) -> io::Result<()> {
    Ok(())
}
