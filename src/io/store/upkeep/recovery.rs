//! Recovers a store whose files are damaged: everything in them that is sound is copied into a fresh store, and what is
//! missing then comes from the newest daily backup. The damaged files are kept beside it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, Utc};

use super::backup::{BackupPart, TEXTS_LOST, read_backup};
use super::daily_backup;
use super::damage_note::{forget, is_noted};
use super::fresh_store::{FreshStore, mend_swap};
use super::mending::SOME_LOST;
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::Store;
use crate::io::store::salvage::{Salvaged, salvage};
use crate::io::store::sleepy_threads::Stay;
use crate::io::system::words::system_words;
use crate::schedule::counted_words;

/// How the names of folders with damaged files begin.
const DAMAGED: &str = "store-damaged-";
/// A file beside damaged files: what became of them.
const TOLD: &str = "what-came-back.txt";
/// A file beside damaged files: the reader has seen what became of them.
const SEEN: &str = "seen";
/// The tree without which the others mean nothing.
const FEEDS: &[u8] = b"feeds";
/// The tree of facts.
const ABOUT: &[u8] = b"about";
/// What is not filled from a backup: a change that was taken back meanwhile would be there again.
const NOT_FILLED: &[u8] = b"undo";

/// A folder with files that were damaged, kept until the reader throws it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFolder {
    pub path: PathBuf,
    /// What came back, as a sentence.
    pub told: String,
}

/// What came back.
#[derive(Debug, Clone, Default)]
struct CameBack {
    salvaged: Salvaged,
    /// Subscriptions among the records.
    feeds: u64,
    /// The day of the backup that filled gaps, and how many records it filled.
    backup: Option<(NaiveDate, u64)>,
}

impl Store {
    /// Opens the store. If its files are damaged, what is sound in them is copied into a new one; the returned sentence
    /// says what is kept and what is lost.
    pub fn open_or_recover(
        data: &Path,
        now: DateTime<Utc>,
        stay: Stay,
    ) -> Result<(Self, Option<String>), StoreError> {
        if is_noted(data) {
            // Where that cannot be done, the store is opened as it is: what was found may have passed.
            if let Ok(Some(told)) = mend_files(data, now, "damage was found while it was open") {
                return Ok((Self::open_to(data, stay)?, Some(told)));
            }
        }
        match Self::open_to(data, stay) {
            Ok(store) => Ok((store, None)),
            Err(error @ StoreError::Unreadable { .. }) => {
                let StoreError::Unreadable { why, .. } = &error else { return Err(error) };
                match mend_files(data, now, why) {
                    Ok(Some(told)) => Ok((Self::open_to(data, stay)?, Some(told))),
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

    /// Copies what is sound of a store that nobody has open into a new one; returns what came back. `None`: nothing can
    /// be had back, and nothing was changed.
    pub fn mend(data: &Path, now: DateTime<Utc>, why: &str) -> Result<Option<String>, StoreError> {
        mend_files(data, now, why)
    }

    pub fn back_up_daily(&self, today: NaiveDate) -> Result<(), StoreError> {
        if !daily_backup::backup_is_due(&self.data, today) {
            return Ok(());
        }
        daily_backup::write(&self.backup_source(), &self.data, today, &|| true)
    }
}

/// Returns the folders with damaged files, the oldest first.
pub fn damaged_folders(data: &Path) -> Vec<DamagedFolder> {
    let mut found: Vec<DamagedFolder> = fs::read_dir(data)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|file| file.file_name().to_string_lossy().starts_with(DAMAGED))
        .map(|file| {
            let told = fs::read_to_string(file.path().join(TOLD)).unwrap_or_default();
            DamagedFolder { path: file.path(), told: told.trim().to_owned() }
        })
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// What came back the last time, unless the reader has seen it.
pub fn mended_unseen(data: &Path) -> Option<String> {
    let newest = damaged_folders(data).pop()?;
    let is_seen = newest.told.is_empty() || newest.path.join(SEEN).exists();
    (!is_seen).then_some(newest.told)
}

/// Notes that the reader has seen what came back.
pub(in crate::io::store) fn note_seen(data: &Path) {
    for folder in damaged_folders(data) {
        // Where that cannot be written it is told again.
        File::create(folder.path.join(SEEN)).ok();
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
    // It only helps; the reader hears the sentence in any case.
    fs::write(data.join(&aside).join(TOLD), &told).ok();
    Ok(Some(told))
}

/// Builds a fresh store of what is sound, and of the newest backup where something is missing. `None`: neither has a
/// subscription.
fn copy_sound(
    data: &Path,
    now: DateTime<Utc>,
) -> Result<Option<(FreshStore, CameBack)>, StoreError> {
    let mut fresh = FreshStore::begin(data)?;
    let mut came_back = CameBack::default();
    let (mut tree, mut feeds) = (Vec::new(), 0_u64);
    came_back.salvaged = salvage(&data.join("store"), &mut |name, key, value| {
        if tree != name {
            fresh.tree(name)?;
            tree = name.to_vec();
        }
        feeds = feeds.saturating_add(u64::from(name == FEEDS));
        fresh.put(key, value)
    })?;
    came_back.feeds = feeds;
    if came_back.salvaged.is_partial || feeds == 0 {
        for daily in daily_backup::newest_first(data, now.date_naive()) {
            // All of it is read before anything of it is taken.
            let sound = File::open(&daily.path)
                .is_ok_and(|file| read_backup(file, &mut |_| Ok(())).is_ok());
            if sound {
                let filled = fill(&mut fresh, &daily.path, &mut came_back.feeds)?;
                came_back.backup = Some((daily.day, filled));
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

/// Adds the records of a backup that are missing.
fn fill(fresh: &mut FreshStore, path: &Path, feeds: &mut u64) -> Result<u64, StoreError> {
    let file = File::open(path).map_err(|error| StoreError::Backup(system_words(&error)))?;
    let (mut filled, mut tree, mut is_left) = (0_u64, Vec::new(), false);
    read_backup(file, &mut |part| {
        match part {
            BackupPart::Tree(name) => {
                fresh.tree(name)?;
                tree = name.to_vec();
                is_left = name == NOT_FILLED;
            }
            BackupPart::Record(key, value) if !is_left && key != TEXTS_LOST => {
                if fresh.put_missing(key, value)? {
                    filled = filled.saturating_add(1);
                    *feeds = feeds.saturating_add(u64::from(tree == FEEDS));
                }
            }
            BackupPart::Record(..) => {}
        }
        Ok(())
    })?;
    Ok(filled)
}

impl CameBack {
    fn words(&self, why: &str, aside: &Path) -> String {
        let feeds = counted_words(self.feeds, "subscription", "subscriptions");
        let records = counted_words(self.salvaged.records, "record", "records");
        let mut parts = Vec::new();
        match self.backup {
            Some((day, _)) if self.salvaged.records == 0 => {
                parts.push(format!("{feeds} and what was read and starred are back as of {day}"));
            }
            Some(_) | None => {
                parts.push(format!("{feeds} and {records} came back from the damaged files"));
            }
        }
        if let Some((day, filled)) = self.backup.filter(|_| self.salvaged.records > 0) {
            let filled =
                counted_words(filled, "record that was missing", "records that were missing");
            parts.push(format!("{filled} came from the backup of {day}"));
        }
        if self.salvaged.older > 0 {
            let older = counted_words(self.salvaged.older, "record is", "records are");
            parts.push(format!("{older} of an earlier state"));
        }
        if self.salvaged.is_partial {
            parts.push("texts that are missing come with the next polls".into());
        } else {
            parts.push("nothing is missing".into());
        }
        format!(
            "the store could not be opened ({why}): {}; the damaged files are in {}",
            parts.join(", "),
            aside.display()
        )
    }
}
