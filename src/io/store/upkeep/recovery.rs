//! Recovers a store whose files are damaged: everything in them that is sound is copied into a fresh store, and what is
//! missing then comes from the newest daily backup. The damaged files are kept beside it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};

use super::backup::{ABOUT, BackupPart, TEXTS_LOST, read_backup};
use super::daily_backup::{self, Daily};
use super::damage_note::{forget, is_noted};
use super::fresh_store::{FreshStore, mend_swap};
use super::mending::SOME_LOST;
use super::newest_backup::{RecordName, later_record};
use super::recovery_report::{DAMAGED, DamagedFolder, RecoveryReport, damaged_folders, note_told};
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::Store;
use crate::io::store::salvage::salvage;
use crate::io::store::sleepy_threads::SessionLength;
use crate::io::system::words::system_words;

/// The tree without which the others mean nothing.
const FEEDS: &[u8] = b"feeds";
/// What is not filled from a backup: a change that was taken back meanwhile would be there again.
const NOT_FILLED: &[u8] = b"undo";

/// Records of which nothing but an earlier state was found, and the place of the endless log that says it.
type EarlierRecords = BTreeMap<RecordName, u64>;

impl Store {
    /// Opens the store. If its files are damaged, what is sound in them is copied into a new one; the returned sentence
    /// says what is kept and what is lost.
    pub fn open_or_recover(
        data: &Path,
        now: DateTime<Utc>,
        stay: SessionLength,
    ) -> Result<(Self, Option<String>), StoreError> {
        if is_noted(data) {
            // Where that cannot be done, the store is opened as it is: what was found may have passed.
            if let Ok(Some(told)) = mend_files(data, now, "damage was found while it was open") {
                return Self::open_mended(data, stay, told);
            }
        }
        match Self::open_to(data, stay) {
            Ok(store) => Ok((store, None)),
            Err(error @ StoreError::Unreadable { .. }) => {
                let StoreError::Unreadable { why, .. } = &error else { return Err(error) };
                match mend_files(data, now, why) {
                    Ok(Some(told)) => Self::open_mended(data, stay, told),
                    Ok(None) => Err(error),
                    Err(failed) => Self::read_instead(data, failed),
                }
            }
            Err(
                error @ (StoreError::Folder { .. }
                | StoreError::Refused { .. }
                | StoreError::NoRoom
                | StoreError::Failed(_)),
            ) => Self::read_instead(data, error),
            Err(error) => Err(error),
        }
    }

    /// Opens a store that was made of what is sound. Only what looks at all of it knows what is missing: that is told, too.
    fn open_mended(
        data: &Path,
        stay: SessionLength,
        told: String,
    ) -> Result<(Self, Option<String>), StoreError> {
        let store = Self::open_to(data, stay)?;
        let noted = damaged_folders(data).pop().map(|newest| newest.told);
        Ok((store, noted.filter(|noted| noted.starts_with(&told)).or(Some(told))))
    }

    /// Copies what is sound of a store that nobody has open into a new one; returns what came back. `None`: nothing can
    /// be had back, and nothing was changed.
    pub fn mend(data: &Path, now: DateTime<Utc>, why: &str) -> Result<Option<String>, StoreError> {
        match mend_files(data, now, why)? {
            Some(told) => Ok(Self::open_mended(data, SessionLength::Short, told)?.1),
            None => Ok(None),
        }
    }

    pub fn back_up_daily(&self, today: NaiveDate) -> Result<(), StoreError> {
        if !daily_backup::backup_is_due(&self.data, today) {
            return Ok(());
        }
        daily_backup::write(&self.backup_source(), &self.data, today, &|| true)
    }
}

/// Throws the folders with damaged files away.
pub fn discard_damaged(data: &Path) -> Result<Vec<DamagedFolder>, StoreError> {
    let found = damaged_folders(data);
    for folder in &found {
        fs::remove_dir_all(&folder.path).map_err(|error| {
            StoreError::Failed(format!(
                "{} cannot be removed: {}",
                folder.path.display(),
                system_words(&error)
            ))
        })?;
    }
    Ok(found)
}

fn mend_files(data: &Path, now: DateTime<Utc>, why: &str) -> Result<Option<String>, StoreError> {
    let held = lock_folder(data)?;
    mend_swap(data)?;
    let aside = format!("{DAMAGED}{}", now.format("%Y%m%d-%H%M%S%.3f"));
    let Some(came_back) = copy_sound(data, now)? else { return Ok(None) };
    let (fresh, came_back) = came_back;
    fresh.take_over(Some(&aside))?;
    forget(data);
    // What was indexed before says nothing about these entries; it can be made anew at any time.
    crate::io::search::SearchIndex::make_anew(data).ok();
    drop(held);
    let told = came_back.words(why, &data.join(&aside));
    note_told(&data.join(&aside), &told);
    Ok(Some(told))
}

/// Builds a fresh store of what is sound, and of the newest backup where something is missing. `None`: neither has a
/// subscription.
fn copy_sound(
    data: &Path,
    now: DateTime<Utc>,
) -> Result<Option<(FreshStore, RecoveryReport)>, StoreError> {
    let mut fresh = FreshStore::begin(data)?;
    let mut came_back = RecoveryReport::default();
    let (mut tree, mut feeds, mut earlier) = (Vec::new(), 0_u64, EarlierRecords::new());
    came_back.salvaged = salvage(&data.join("store"), &mut |name, key, value, place| {
        if tree != name {
            fresh.tree(name)?;
            tree = name.to_vec();
        }
        feeds = feeds.saturating_add(u64::from(name == FEEDS));
        earlier.extend(place.map(|place| ((name.to_vec(), key.to_vec()), place)));
        fresh.put(key, value)
    })?;
    came_back.feeds = feeds;
    if came_back.salvaged.is_partial || feeds == 0 {
        for daily in daily_backup::newest_first(data, now.date_naive()) {
            // All of it is read before anything of it is taken.
            let sound = File::open(&daily.path)
                .is_ok_and(|file| read_backup(file, &mut |_| Ok(())).is_ok());
            if sound {
                // What was said after the backup was made is later than what it says.
                let made = came_back.salvaged.backed_up.filter(|(day, _)| *day == daily.day);
                earlier.retain(|_, place| made.is_none_or(|(_, made)| *place < made));
                fill(&mut fresh, &daily, &earlier, &mut came_back)?;
                break;
            }
        }
    }
    if came_back.feeds == 0 {
        return Ok(None);
    }
    if came_back.salvaged.is_partial || came_back.salvaged.records == 0 {
        fresh.tree(ABOUT)?;
        fresh.put(TEXTS_LOST, SOME_LOST)?;
    }
    Ok(Some((fresh, came_back)))
}

/// Adds the records of a backup that are missing, and those of which nothing but an `earlier` state was found.
fn fill(
    fresh: &mut FreshStore,
    daily: &Daily,
    earlier: &EarlierRecords,
    came_back: &mut RecoveryReport,
) -> Result<(), StoreError> {
    let file = File::open(&daily.path).map_err(|error| StoreError::Backup(system_words(&error)))?;
    let (mut filled, mut tree, mut is_left) = (0_u64, Vec::new(), false);
    read_backup(file, &mut |part| {
        match part {
            BackupPart::Tree(name) => {
                fresh.tree(name)?;
                tree = name.to_vec();
                is_left = name == NOT_FILLED;
            }
            BackupPart::Record(key, value) if !is_left && key != TEXTS_LOST => {
                if let Some(later) = of_earlier(fresh, &tree, key, value, earlier)? {
                    fresh.put(key, &later)?;
                    let older = &mut came_back.salvaged.older;
                    *older = older.saturating_sub(1);
                    filled = filled.saturating_add(1);
                } else if fresh.put_missing(key, value)? {
                    filled = filled.saturating_add(1);
                    came_back.feeds = came_back.feeds.saturating_add(u64::from(tree == FEEDS));
                }
            }
            BackupPart::Record(..) => {}
        }
        Ok(())
    })?;
    came_back.backup = Some((daily.day, filled));
    Ok(())
}

/// What takes the place of a record of which nothing but an earlier state was found; `None`: it stays, or is no such record.
fn of_earlier(
    fresh: &FreshStore,
    tree: &[u8],
    key: &[u8],
    backed_up: &[u8],
    earlier: &EarlierRecords,
) -> Result<Option<Vec<u8>>, StoreError> {
    if !earlier.contains_key(&(tree.to_vec(), key.to_vec())) {
        return Ok(None);
    }
    let found = fresh.get(key)?;
    Ok(found.and_then(|found| later_record(tree, key, &found, backed_up)))
}
