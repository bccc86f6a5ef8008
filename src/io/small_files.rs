//! Reads small files that other programs may have written. Only regular files up to a maximum size are read, because a device may
//! never end, and a pipe may never deliver data.

use std::io::{Error, Read as _, Result};
use std::path::Path;

use super::regular_files;

/// Reads a regular file of at most `bytes_max` bytes. The error gives the reason.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular_files::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
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
    use crate::io::system::words::system_words;

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
