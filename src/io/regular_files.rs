//! Opens and replaces files. Only regular files are opened: a pipe, put where a file is expected, would block out of reach of signals.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// Opens a regular file to read it.
pub fn open(path: &Path) -> Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a regular file.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> Result<File> {
    let file = open_at_once(options, path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if found.is_file() { Ok(file) } else { Err(Error::other("it is not a regular file")) }
}

/// Opens a file without waiting for the other side of a pipe.
pub fn open_at_once(options: &mut OpenOptions, path: &Path) -> Result<File> {
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).map_err(|error| {
        let has_no_reader = error.raw_os_error() == Some(libc::ENXIO);
        if has_no_reader { Error::other("no program reads from it") } else { error }
    })
}

/// Replaces a file by a temporary one in the same folder, durably.
pub fn put_in_place(file: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // Some systems cannot do this for a folder; the new content is on disk in any case.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new("."))).ok();
    Ok(())
}

/// Makes the names of the files in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)?.sync_all()
}

/// Attempts something again after a pause while it fails for a reason that is temporary, `tries` times at most.
pub fn try_again<T, E>(
    tries: u32,
    pause: Duration,
    is_temporary: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    for _ in 0..tries {
        match attempt() {
            Err(error) if is_temporary(&error) => std::thread::sleep(pause),
            done => return done,
        }
    }
    attempt()
}
