//! Whether the pack is still where it was opened. Its folder may be moved, deleted, replaced or unmounted at any time; what is
//! written to the open file afterwards is in another place or nowhere.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::pack_file::Pack;
use crate::io::regular_files;
use crate::io::store::error::StoreError;

/// Bytes before the end of the synced part that are compared. They contain the last frames, with the checksums of their values.
const COMPARED: u64 = 4096;

/// What is at the path of an open pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io::store) enum PackPlace {
    /// The open file.
    Here,
    /// Another file with the same content, for instance because its disk was mounted again.
    Returned,
    /// Nothing, or something else.
    Gone,
}

/// The end of what was synced: where it is, and the bytes before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SyncedEnd {
    end: u64,
    bytes: Vec<u8>,
}

impl SyncedEnd {
    /// Reads the end of the synced part of a pack. Returns `None` if the file cannot be read or is shorter.
    fn read(file: &File, end: u64) -> Option<Self> {
        let length = end.min(COMPARED);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut bytes, end.saturating_sub(length)).ok()?;
        Some(Self { end, bytes })
    }
}

impl Pack {
    /// Takes note that the pack is synced up to a place.
    pub(super) fn note_synced(&mut self, end: u64) {
        self.synced = end;
        // If it cannot be read, only the former end is recognised.
        if let Some(read) = SyncedEnd::read(&self.file, end) {
            self.synced_end = read;
        }
    }

    /// Looks at the path of the pack.
    pub(super) fn place(&self) -> PackPlace {
        let Ok(found) = fs::metadata(&self.path) else { return PackPlace::Gone };
        let is_open = is_at(&self.file, &self.path);
        let is_same = |file: &File| {
            SyncedEnd::read(file, self.synced_end.end).is_some_and(|read| read == self.synced_end)
        };
        if is_open && found.len() >= self.end && is_same(&self.file) {
            return PackPlace::Here;
        }
        // A longer one was continued by another process.
        let may_return = !is_open && found.is_file() && found.len() == self.synced_end.end;
        if may_return && regular_files::open(&self.path).is_ok_and(|file| is_same(&file)) {
            PackPlace::Returned
        } else {
            PackPlace::Gone
        }
    }

    /// Returns an error unless the open file is at its path.
    pub(super) fn check_place(&self) -> Result<(), StoreError> {
        if self.place() == PackPlace::Here {
            return Ok(());
        }
        Err(StoreError::Gone(self.path.parent().unwrap_or(Path::new(".")).into()))
    }
}

/// Returns whether a path leads to an open file.
pub(in crate::io::store) fn is_at(file: &File, path: &Path) -> bool {
    let ids = |found: fs::Metadata| (found.dev(), found.ino());
    let found = fs::metadata(path).and_then(|found| Ok((ids(found), ids(file.metadata()?))));
    found.is_ok_and(|(found, open)| found == open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::store::pack::TableName;
    use crate::io::store::pack::frame::FrameBuilder;

    fn append(pack: &mut Pack, number: u32) {
        let mut frame = FrameBuilder::default();
        assert!(frame.put(TableName::Feeds, &number.to_be_bytes(), Some(&[7; 900])));
        pack.append(frame).unwrap();
        pack.note_synced(pack.end);
    }

    #[test]
    fn the_open_pack_is_told_from_others_at_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("pack"), folder.path().join("other"));
        let mut pack = Pack::create(&path).unwrap();
        assert_eq!(pack.place(), PackPlace::Here, "an empty one");
        (0..9).for_each(|number| append(&mut pack, number));
        let older = fs::read(&path).unwrap();
        append(&mut pack, 9);
        assert_eq!(pack.place(), PackPlace::Here);
        fs::rename(&path, &other).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "moved");
        fs::copy(&other, &path).unwrap();
        assert_eq!(pack.place(), PackPlace::Returned, "a copy");
        fs::write(&path, &older).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "an older copy");
        let mut longer = fs::read(&other).unwrap();
        longer.extend_from_slice(&older);
        fs::write(&path, &longer).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "another process continued it");
        let at = usize::try_from(pack.end).unwrap() - 1;
        longer.truncate(at + 1);
        longer[at] ^= 1;
        fs::write(&path, &longer).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "another one of the same length");
        fs::rename(&other, &path).unwrap();
        assert_eq!(pack.place(), PackPlace::Here, "moved back");
        fs::write(&path, &longer).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "overwritten");
        fs::write(&path, &older).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "overwritten by an older one");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "a folder");
    }
}
