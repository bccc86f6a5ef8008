//! Recovers a store whose pack is damaged: everything in it that is sound is copied into a new one, and what is missing then comes
//! from the newest daily backup. The damaged pack is kept beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};

use super::backup::{TEXTS_LOST, read_backup};
use super::compact::{NewPack, finish_replacement, replace_pack};
use super::daily_backup;
use super::mending::SOME_LOST;
use super::recovery_report::{DAMAGED, DamagedFolder, RecoveryReport, damaged_folders, note_told};
use crate::io::regular_files;
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;
use crate::io::store::pack::sound_records::SoundRecords;
use crate::io::store::sleepy_threads::SessionLength;
use crate::io::system::words::system_words;

impl Store {
    /// Opens the store. If its files are damaged, what is sound in them is copied into a new one; the returned sentence
    /// says what is kept and what is lost.
    pub fn open_or_recover(
        data: &Path,
        now: DateTime<Utc>,
        stay: SessionLength,
    ) -> Result<(Self, Option<String>), StoreError> {
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

    /// Opens a store that was made of sound records. Only a check of all of it finds what is missing: that is reported, too.
    fn open_mended(
        data: &Path,
        stay: SessionLength,
        told: String,
    ) -> Result<(Self, Option<String>), StoreError> {
        let store = Self::open_to(data, stay)?;
        let noted = damaged_folders(data).pop().map(|newest| newest.told);
        Ok((store, noted.filter(|noted| noted.starts_with(&told)).or(Some(told))))
    }

    /// Copies what is sound of a store that no process has open into a new one; returns a report. `None`: nothing can
    /// be restored, and nothing was changed.
    pub fn mend(data: &Path, now: DateTime<Utc>, why: &str) -> Result<Option<String>, StoreError> {
        match mend_files(data, now, why)? {
            Some(told) => Ok(Self::open_mended(data, SessionLength::Short, told)?.1),
            None => Ok(None),
        }
    }

    pub fn back_up_daily(&self, today: NaiveDate) -> Result<(), StoreError> {
        self.check_place()?;
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
    finish_replacement(data)?;
    let aside = format!("{DAMAGED}{}", now.format("%Y%m%d-%H%M%S%.3f"));
    let sound = SoundRecords::read(data)?;
    let mut report = RecoveryReport {
        records: sound.len() as u64,
        gaps: sound.scanned.gaps.len() as u64,
        unsound: sound.scanned.unsound as u64,
        is_partial: !sound.scanned.is_sound() || sound.is_empty(),
        ..RecoveryReport::default()
    };
    let mut missing = BTreeMap::new();
    if report.is_partial {
        report.backup = find_missing(data, now, &sound, &mut missing);
    }
    let names = sound.names().chain(missing.keys().map(|(table, _)| *table));
    report.feeds = names.filter(|table| *table == TableName::Feeds).count() as u64;
    if report.feeds == 0 {
        return Ok(None);
    }
    let mut fresh = NewPack::begin(data)?;
    sound.for_each(&mut |(table, key, value)| fresh.put(table, key, value))?;
    for ((table, key), value) in &missing {
        fresh.put(*table, key, value)?;
    }
    if report.is_partial {
        fresh.put(TableName::Facts, TEXTS_LOST, SOME_LOST)?;
    }
    replace_pack(fresh, Some(&aside))?;
    // What was indexed before says nothing about these entries; it can be built again at any time.
    crate::io::search::SearchIndex::make_empty(data).ok();
    drop(held);
    let told = report.words(why, &data.join(&aside));
    note_told(&data.join(&aside), &told);
    Ok(Some(told))
}

/// Records that are not in a damaged pack, by table and key.
type MissingRecords = BTreeMap<(TableName, Vec<u8>), Vec<u8>>;

/// Finds the records of the newest sound backup that are not in the pack. Returns its day and their number.
fn find_missing(
    data: &Path,
    now: DateTime<Utc>,
    sound: &SoundRecords,
    missing: &mut MissingRecords,
) -> Option<(NaiveDate, u64)> {
    for daily in daily_backup::newest_first(data, now.date_naive()) {
        let Ok(file) = regular_files::open(&daily.path) else { continue };
        missing.clear();
        let read = read_backup(file, &mut |(table, key, value)| {
            // An undo step of a change that was undone meanwhile would be there again.
            let is_left = table == TableName::Undo || key == TEXTS_LOST;
            if !is_left && !sound.contains(table, key) {
                missing.insert((table, key.to_vec()), value.to_vec());
            }
            Ok(())
        });
        // All of it is read before anything of it is used.
        if read.is_ok() {
            return Some((daily.day, missing.len() as u64));
        }
    }
    missing.clear();
    None
}
