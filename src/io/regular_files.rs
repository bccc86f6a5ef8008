//! Opens, reads and replaces files. Only regular files are opened, and small files are read only up to a maximum size. A pipe or
//! a device in the place of a file could block without reacting to signals, or never end.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result};
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
    // Some systems cannot sync a folder. The new content is on disk in any case.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new("."))).ok();
    Ok(())
}

/// Makes the names of the files in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)?.sync_all()
}

/// Tries something again after a pause as long as it fails for a temporary reason, but at most `tries` times.
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

/// Reads a regular file of at most `bytes_max` bytes. The error gives the reason.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > bytes_max) {
        return Err(Error::other(format!("it is larger than {} KiB", bytes_max / 1024)));
    }
    Ok(bytes)
}

/// Like [`read`], for UTF-8 text.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|_| Error::other("it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::system::system_words;

    #[test]
    fn only_regular_files_of_the_right_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let small = folder.path().join("small");
        std::fs::write(&small, "text").unwrap();
        assert_eq!(read_text(&small, 4).unwrap(), "text");
        let why = |path: &Path, most| system_words(&read(path, most).unwrap_err());
        assert_eq!(why(&small, 3), "it is larger than 0 KiB");
        assert_eq!(why(folder.path(), 9), "it is a folder");
        assert_eq!(why(Path::new("/dev/zero"), 9), "it is not a regular file");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert_eq!(why(&link, 9), "it is not a regular file");
        std::fs::write(&small, b"\xff").unwrap();
        assert_eq!(system_words(&read_text(&small, 9).unwrap_err()), "it is not UTF-8 text");
    }
}
