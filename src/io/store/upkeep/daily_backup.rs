//! Automatic daily backups of everything except the texts. They are in the folder `backups` of the data folder and are written on a
//! thread of their own. If the store cannot be opened, missing records are restored from the newest backup. A repair restores
//! damaged records from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::{fs, io};

use chrono::{Datelike, NaiveDate};

use super::backup::{BackupSource, Extent, read_backup};
use crate::io::private_files::create_private_subfolder;
use crate::io::regular_files::{self, put_in_place};
use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;
use crate::io::system::system_words;

const FOLDER: &str = "backups";
/// End of the file names, after the day.
const ENDING: &str = ".backup";
/// Number of recent days whose backups are kept.
const DAYS: usize = 7;
/// Number of earlier weeks from each of which one backup is kept.
const WEEKS: usize = 4;
/// Maximum size of all backups together, in bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Number of backups that are kept regardless of their size.
const KEPT_MIN: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::io::store) struct Daily {
    pub(in crate::io::store) day: NaiveDate,
    pub(in crate::io::store) path: PathBuf,
    bytes: u64,
}

/// Returns the backups in a data folder.
fn list_backups(data: &Path) -> Vec<Daily> {
    let files = fs::read_dir(data.join(FOLDER)).into_iter().flatten().flatten();
    let daily = |file: fs::DirEntry| {
        let name = file.file_name();
        let day = name.to_str()?.strip_suffix(ENDING)?.parse().ok()?;
        Some(Daily { day, path: file.path(), bytes: file.metadata().ok()?.len() })
    };
    files.filter_map(daily).collect()
}

/// Returns the backups in a data folder, newest first. A backup dated in the future was written while the clock was wrong, so its
/// age is not known, and it comes last.
pub(in crate::io::store) fn newest_first(data: &Path, today: NaiveDate) -> Vec<Daily> {
    let mut found = list_backups(data);
    let tomorrow = today.succ_opt().unwrap_or(today);
    found.sort_by_key(|daily| (daily.day > tomorrow, std::cmp::Reverse(daily.day)));
    found
}

pub(in crate::io::store) fn is_any(data: &Path) -> bool {
    !list_backups(data).is_empty()
}

/// Checks whether there is no backup of this day.
pub fn backup_is_due(data: &Path, today: NaiveDate) -> bool {
    list_backups(data).iter().all(|daily| daily.day != today)
}

/// Writes the backup of a day and removes outdated ones. The file is either complete or absent. If `goes_on` returns false, the
/// backup is cancelled.
pub(in crate::io::store) fn write(
    source: &BackupSource,
    data: &Path,
    today: NaiveDate,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), StoreError> {
    let cannot = |error: io::Error| {
        StoreError::Backup(format!(
            "it cannot be written to {}: {}",
            folder(data).display(),
            system_words(&error)
        ))
    };
    create_private_subfolder(&folder(data)).map_err(cannot)?;
    remove_unfinished(data);
    let mut file = tempfile::NamedTempFile::new_in(folder(data)).map_err(cannot)?;
    source.write(&mut file, None, Extent::WithoutTexts, goes_on)?;
    // Remove older backups only after the new one has its final name on the disk.
    put_in_place(file, &folder(data).join(format!("{today}{ENDING}"))).map_err(cannot)?;
    for outdated in outdated(&newest_first(data, today)) {
        fs::remove_file(&outdated.path).map_err(cannot)?;
    }
    Ok(())
}

fn folder(data: &Path) -> PathBuf {
    data.join(FOLDER)
}

/// Removes unfinished files that an interrupted program left.
fn remove_unfinished(data: &Path) {
    for file in fs::read_dir(folder(data)).into_iter().flatten().flatten() {
        if file.file_name().to_string_lossy().starts_with(".tmp") {
            fs::remove_file(file.path()).ok();
        }
    }
}

/// Returns the backups that are not kept. `all` must be sorted, newest first.
fn outdated(all: &[Daily]) -> Vec<&Daily> {
    let (mut weeks, mut bytes) = (Vec::new(), 0_u64);
    let mut outdated = Vec::new();
    for (place, daily) in all.iter().enumerate() {
        let week = daily.day.iso_week();
        let is_first_of_week = place >= DAYS && weeks.last() != Some(&week) && weeks.len() < WEEKS;
        if is_first_of_week {
            weeks.push(week);
        }
        bytes = bytes.saturating_add(daily.bytes);
        let fits = bytes <= BYTES_MAX || place < KEPT_MIN;
        if !(fits && (place < DAYS || is_first_of_week)) {
            outdated.push(daily);
        }
    }
    outdated
}

/// A backup being written.
pub(in crate::io::store) struct BackingUp {
    left: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl BackingUp {
    /// Starts the backup of a day, if there is none yet. If it cannot be written, passes the reason to `tell`. Returns `None` if no
    /// backup was started.
    pub(in crate::io::store) fn start(
        store: &Store,
        today: NaiveDate,
        tell: impl Fn(String) + Clone + Send + 'static,
    ) -> Option<Self> {
        let (data, source) = (store.data.clone(), store.backup_source());
        if !backup_is_due(&data, today) {
            return None;
        }
        let left = Arc::new(AtomicBool::new(false));
        let (leaves, told) = (left.clone(), tell.clone());
        let writing = move || {
            let goes_on = || !leaves.load(Ordering::Relaxed);
            let written = catch_sled_panic(|| write(&source, &data, today, &goes_on));
            if let (Err(error), true) = (written, goes_on()) {
                told(error.reason_of_backup());
            }
        };
        let thread = std::thread::Builder::new().name("backup".into()).spawn(writing);
        match thread {
            Ok(thread) => Some(Self { left, thread }),
            Err(error) => {
                tell(system_words(&error));
                None
            }
        }
    }

    pub(in crate::io::store) fn is_under_way(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Cancels the backup, and waits until it no longer uses the files.
    pub(in crate::io::store) fn leave(self) {
        self.left.store(true, Ordering::Relaxed);
        self.thread.join().ok();
    }
}

/// A table and a key.
pub(in crate::io::store) type RecordName = (TableName, Vec<u8>);

/// Records that were read from a backup.
#[derive(Debug, Default)]
pub(in crate::io::store) struct BackedUp {
    /// The day of the backup, or `None` if no backup can be read.
    pub(in crate::io::store) day: Option<NaiveDate>,
    records: BTreeMap<RecordName, Vec<u8>>,
}

impl BackedUp {
    /// Reads the wanted records from the newest backup that can be read to its end.
    pub(in crate::io::store) fn read(data: &Path, wanted: &BTreeSet<RecordName>) -> Self {
        if wanted.is_empty() {
            return Self::default();
        }
        for daily in newest_first(data, NaiveDate::MAX) {
            let Ok(file) = regular_files::open(&daily.path) else { continue };
            let mut records = BTreeMap::new();
            let read = read_backup(file, &mut |(table, key, value)| {
                let name = (table, key.to_vec());
                if wanted.contains(&name) {
                    records.insert(name, value.to_vec());
                }
                Ok(())
            });
            if read.is_ok() {
                return Self { day: Some(daily.day), records };
            }
        }
        Self::default()
    }

    /// Returns a record and the day of the backup.
    pub(in crate::io::store) fn get(
        &self,
        table: TableName,
        key: &[u8],
    ) -> Option<(NaiveDate, &[u8])> {
        let record = self.records.get(&(table, key.to_vec()))?;
        Some((self.day?, record))
    }
}

#[cfg(test)]
mod tests {
    use chrono::Days;

    use crate::io::store::upkeep::daily_backup::*;

    fn dailies(days: u64, bytes: u64) -> Vec<Daily> {
        let newest = NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
        let day = |back| newest.checked_sub_days(Days::new(back)).unwrap();
        (0..days).map(|back| Daily { day: day(back), path: PathBuf::new(), bytes }).collect()
    }

    fn kept(all: &[Daily]) -> Vec<u32> {
        let gone = outdated(all);
        let kept = all.iter().filter(|daily| !gone.contains(daily));
        kept.map(|daily| daily.day.ordinal()).collect()
    }

    #[test]
    fn seven_daily_and_four_weekly_backups_are_kept() {
        // A Saturday, the six days before it, then the last day of each earlier week.
        let expected = [325, 324, 323, 322, 321, 320, 319, 318, 312, 305, 298];
        assert_eq!(kept(&dailies(60, 1)), expected);
        assert_eq!(kept(&dailies(3, 1)).len(), 3);
    }

    #[test]
    fn large_backups_are_fewer_but_at_least_two() {
        assert_eq!(kept(&dailies(60, BYTES_MAX / 4)).len(), 4);
        assert_eq!(kept(&dailies(60, BYTES_MAX * 2)).len(), 2);
    }
}

#[cfg(test)]
mod backing_up_tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn backup_write_failure_is_one_sentence() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path()).unwrap();
        fs::write(data.path().join("backups"), "a file in its place").unwrap();
        let (sender, told) = channel();
        let day = NaiveDate::from_ymd_opt(2026, 3, 2).unwrap();
        let backing_up = BackingUp::start(&store, day, move |why| sender.send(why).unwrap());
        let why = told.recv().unwrap();
        assert!(why.starts_with("it cannot be written to "), "{why}");
        backing_up.unwrap().leave();
    }
}
