//! Files and folders that only their owner can read.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::process::umask;

use super::regular_files::put_in_place;
use super::store::PACK;

/// Permissions of a private folder and of a private file.
const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// Permission bits of group and others.
const OTHERS: u32 = 0o077;
/// Prefixes of the names of the program's own folders in a data folder.
const OWN_FOLDERS: [&str; 3] = ["store", "backups", "index"];

/// Makes new files accessible to their owner, whatever the umask. Otherwise the program might be unable to read its own files.
pub fn keep_own_access() {
    let mask = umask(Mode::RWXU);
    umask(mask.difference(Mode::RWXU));
}

/// Creates a private folder and its missing parents. An existing folder is not changed.
pub(super) fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(folder)
}

/// Creates a private folder in a folder that must exist, so that a data folder that was moved away is not created again. An
/// existing folder is not changed.
pub(super) fn create_private_subfolder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(FOLDER).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

/// Creates an empty private folder in a folder that must exist. If the folder exists, everything in it is removed, in the order
/// of names. A link to a folder is kept.
pub(super) fn create_empty_subfolder(folder: &Path) -> io::Result<()> {
    if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
        fs::remove_file(folder)?;
    }
    create_private_subfolder(folder)?;
    let found = fs::read_dir(folder)?.map(|file| Ok(file?.path()));
    let mut paths = found.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if fs::symlink_metadata(&path)?.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns why a symbolic link makes a data folder unusable. The link may lead to another disk that is not mounted, or the file
/// of the store itself may be a link to another disk; neither link must be replaced.
pub(super) fn find_bad_link(data: &Path) -> Option<String> {
    let inside = OWN_FOLDERS.map(|name| data.join(name));
    for path in inside.iter().map(PathBuf::as_path).chain([data]) {
        let target = fs::read_link(path).ok().filter(|_| !path.exists());
        if let Some(target) = target {
            let (path, target) = (path.display(), target.display());
            return Some(format!("{path} is a link to {target}, which does not exist"));
        }
    }
    let pack = data.join(PACK);
    fs::read_link(&pack)
        .ok()
        .map(|_| format!("{} is a link; link the whole folder instead", pack.display()))
}

/// Replaces a file with a private one, completely and durably or not at all. If the path is a symbolic link, the link remains and
/// its target is replaced, unless the target is a device or a pipe.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    // The new file is private, because the library creates temporary files that only their owner can read.
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(content)?;
    put_in_place(file, &target)
}

/// Removes the permissions of others from a file or folder. If the system does not allow this, nothing changes.
pub(super) fn make_private(path: &Path, mode: u32) {
    let open = fs::metadata(path).is_ok_and(|found| found.permissions().mode() & OTHERS != 0);
    if open {
        fs::set_permissions(path, Permissions::from_mode(mode)).ok();
    }
}

/// Makes the program's own files in a data folder private. The permissions of the data folder are not changed, because other
/// programs may use it.
pub(super) fn make_data_private(data: &Path) {
    make_private(&data.join("lock"), FILE);
    make_private(&data.join(PACK), FILE);
    for found in fs::read_dir(data).into_iter().flatten().flatten() {
        let name = found.file_name();
        let is_ours = OWN_FOLDERS.iter().any(|own| name.to_string_lossy().starts_with(own));
        if is_ours && found.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_private(&found.path(), FOLDER);
        }
    }
    for found in fs::read_dir(data.join("store")).into_iter().flatten().flatten() {
        let is_folder = found.file_type().is_ok_and(|kind| kind.is_dir());
        make_private(&found.path(), if is_folder { FOLDER } else { FILE });
    }
}

#[cfg(test)]
mod tests {
    use crate::io::private_files::*;

    #[test]
    fn only_regular_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, link) = (folder.path().join("socket"), folder.path().join("link"));
        let _held = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        for path in [&socket, &link] {
            assert!(replace_private(path, b"x").is_err());
        }
        assert!(!fs::metadata(&socket).unwrap().is_file(), "it is still there");
        let (file, link) = (folder.path().join("file"), folder.path().join("other"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace_private(&file, b"x").unwrap();
        replace_private(&link, b"y").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"y");
    }

    #[test]
    fn public_files_of_earlier_versions_become_private() {
        let data = tempfile::tempdir().unwrap();
        let made = ["store", "store-damaged-1", "store/blobs", "index", "backups", "else"];
        let files = ["store/db", "lock"];
        for name in made {
            fs::create_dir(data.path().join(name)).unwrap();
        }
        for name in files {
            fs::write(data.path().join(name), b"x").unwrap();
        }
        for name in made.iter().chain(&files) {
            fs::set_permissions(data.path().join(name), Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(data.path(), Permissions::from_mode(0o755)).unwrap();
        make_data_private(data.path());
        let permissions_of =
            |name: &str| fs::metadata(data.path().join(name)).unwrap().permissions().mode();
        for name in made.iter().filter(|name| **name != "else") {
            assert_eq!(permissions_of(name) & 0o777, 0o700, "{name}");
        }
        for name in files {
            assert_eq!(permissions_of(name) & 0o777, 0o600, "{name}");
        }
        assert_eq!(
            (permissions_of("else") & 0o777, permissions_of("") & 0o777),
            (0o755, 0o755),
            "they are not ours"
        );
    }
}
