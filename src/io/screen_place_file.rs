//! The file in the data folder that stores the user's position on the screen at exit.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::private_files::replace_private;
use super::small_files;
use crate::ui::state::screen_place::ScreenPlace;

/// Maximum size of the file, bytes. The file usually has a few hundred bytes.
const BYTES_MAX: u64 = 64 * 1024;

fn path_in(folder: &Path) -> PathBuf {
    folder.join("screen.json")
}

/// Loads the position on the screen. Returns `None` if no position is saved or the file is unreadable.
pub(super) fn load(folder: &Path) -> Option<ScreenPlace> {
    let text = small_files::read(&path_in(folder), BYTES_MAX).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Saves the position on the screen.
pub(super) fn save(folder: &Path, place: &ScreenPlace) -> io::Result<()> {
    replace_private(&path_in(folder), &serde_json::to_vec(place)?)
}

/// Deletes the saved position.
pub(super) fn forget(folder: &Path) {
    fs::remove_file(path_in(folder)).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::state::screen_place::PlaceList;
    use backissue_core::history::{EntryKey, FeedKey};

    #[test]
    fn screen_place_round_trips_and_damaged_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(load(folder.path()), None);
        let place = ScreenPlace {
            list: PlaceList::Tag("garden/fruit".into()),
            entry: Some(EntryKey { feed: FeedKey(3), seq: 9 }),
            is_open: true,
            ..ScreenPlace::default()
        };
        save(folder.path(), &place).unwrap();
        assert_eq!(load(folder.path()), Some(place));
        fs::write(folder.path().join("screen.json"), "{\"list\":{\"feed\":7}}").unwrap();
        let known = load(folder.path()).map(|place| place.list);
        assert_eq!(known, Some(PlaceList::Feed(FeedKey(7))), "what is left out is as usual");
        for damaged in ["{", "[1]", "{\"list\":\"elsewhere\"}"] {
            fs::write(folder.path().join("screen.json"), damaged).unwrap();
            assert_eq!(load(folder.path()), None, "{damaged}");
        }
        forget(folder.path());
        assert_eq!(load(folder.path()), None);
    }
}
