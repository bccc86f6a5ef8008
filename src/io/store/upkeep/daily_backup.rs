//! Automatic daily backups of everything but the texts, in the folder `backups` of the data folder. If the store can
//! no longer be opened, a new one is made from the newest backup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{Datelike, NaiveDate};

use super::backup::{BackupSource, Extent};
use crate::io::private_files::create_private_subfolder;
use crate::io::regular_files::put_in_place;
use crate::io::store::error::StoreError;
use crate::io::system::words::system_words;

const FOLDER: &str = "backups";
/// The ending of their file names, behind the day.
const ENDING: &str = ".backup";
/// Number of recent days whose backups are kept.
const DAYS: usize = 7;
/// Number of weeks before these of each of which one backup is kept.
const WEEKS: usize = 4;
/// Most bytes of all backups together.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The number of backups that are kept whatever their size.
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

/// Returns the backups in a data folder, newest first. Those with a day in the future were made under a wrong clock;
/// their age is unknown, so they come last.
pub(in crate::io::store) fn newest_first(data: &Path, today: NaiveDate) -> Vec<Daily> {
    let mut found = list_backups(data);
    let tomorrow = today.succ_opt().unwrap_or(today);
    found.sort_by_key(|daily| (daily.day > tomorrow, std::cmp::Reverse(daily.day)));
    found
}

/// Whether there is any backup.
pub(in crate::io::store) fn is_any(data: &Path) -> bool {
    !list_backups(data).is_empty()
}

/// Whether there is no backup of this day.
pub fn backup_is_due(data: &Path, today: NaiveDate) -> bool {
    list_backups(data).iter().all(|daily| daily.day != today)
}

/// Writes the backup of a day and removes outdated ones. The file is complete or absent; `goes_on` may interrupt the
/// writing.
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
    // An older one goes only when the new one has its name for good.
    put_in_place(file, &folder(data).join(format!("{today}{ENDING}"))).map_err(cannot)?;
    for outdated in outdated(&newest_first(data, today)) {
        fs::remove_file(&outdated.path).map_err(cannot)?;
    }
    Ok(())
}

fn folder(data: &Path) -> PathBuf {
    data.join(FOLDER)
}

/// Removes what an interrupted program left behind.
fn remove_unfinished(data: &Path) {
    for file in fs::read_dir(folder(data)).into_iter().flatten().flatten() {
        if file.file_name().to_string_lossy().starts_with(".tmp") {
            fs::remove_file(file.path()).ok();
        }
    }
}

/// Returns the backups that are not kept, of all in order, newest first.
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
        // A Saturday, six days before it, then the last day of each week.
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
