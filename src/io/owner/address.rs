//! The socket on which the process that has the store open listens. It is in a folder that only the user can access.

use std::fs::{self, DirBuilder};
use std::hash::Hasher;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use siphasher::sip::SipHasher13;

use crate::io::system::system_words;

/// Maximum length of a socket path, bytes; systems allow 104 to 108.
const PATH_MAX: usize = 100;

/// Returns the socket path for the store in `data`: in the session folder that the system provides, or else in the data
/// folder. `runtime` is `XDG_RUNTIME_DIR`.
pub fn socket_path(data: &Path, runtime: Option<&Path>) -> PathBuf {
    let data = fs::canonicalize(data).unwrap_or_else(|_| data.into());
    let mut hasher = SipHasher13::new();
    hasher.write(data.as_os_str().as_encoded_bytes());
    let name = format!("{:016x}", hasher.finish());
    let session = runtime.filter(|folder| folder.is_absolute() && is_ours(folder));
    let inside = data.join("socket").join("owner");
    match session {
        Some(folder) => folder.join("backissue").join(name),
        None if inside.as_os_str().len() <= PATH_MAX => inside,
        None => std::env::temp_dir().join(format!("backissue-{}", own_user())).join(name),
    }
}

/// Returns the user ID of this process.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Creates the folder of a socket, which only this user can access. The error is a sentence.
pub fn make_folder(socket: &Path) -> Result<(), String> {
    let Some(folder) = socket.parent() else { return Ok(()) };
    let cannot = |why: &str| {
        format!("other commands cannot reach this one: {} cannot be used: {why}", folder.display())
    };
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        Err(error) => return Err(cannot(&system_words(&error))),
        Ok(()) if folder.is_symlink() => return Err(cannot("it is a symbolic link")),
        Ok(()) if !is_ours(folder) => return Err(cannot("it belongs to another user")),
        Ok(()) => {}
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .map_err(|error| cannot(&system_words(&error)))
}

/// Checks whether a path is a folder that belongs to this user.
pub fn is_ours(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == own_user())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_path_is_named_after_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::create_dir_all(&one).unwrap();
        assert_eq!(socket_path(&one, None), one.join("socket/owner"));
        let nowhere = folder.path().join("nowhere");
        assert_eq!(socket_path(&one, Some(&nowhere)), one.join("socket/owner"));
        let session = socket_path(&one, Some(folder.path()));
        assert!(session.starts_with(folder.path().join("backissue")), "{session:?}");
        assert_ne!(session, socket_path(&other, Some(folder.path())));
        assert_eq!(session, socket_path(&one.join("../one"), Some(folder.path())));
    }

    #[test]
    fn long_data_folder_name_gives_a_short_socket_path() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(120));
        assert!(socket_path(&long, None).as_os_str().len() <= PATH_MAX);
    }

    #[test]
    fn socket_folder_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("a/socket");
        make_folder(&socket).unwrap();
        let mode = fs::metadata(folder.path().join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::write(folder.path().join("file"), b"").unwrap();
        assert!(make_folder(&folder.path().join("file/socket")).is_err());
        std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("linked")).unwrap();
        let refused = make_folder(&folder.path().join("linked/socket")).unwrap_err();
        assert!(refused.ends_with("cannot be used: it is a symbolic link"), "{refused}");
    }
}
