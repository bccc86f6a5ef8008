//! What came back of damaged files and what did not, in numbers; and the sentence that stays beside the files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chrono::NaiveDate;

use backissue_core::feed::text::counted_words;

/// How the names of folders with damaged files begin.
pub(super) const DAMAGED: &str = "store-damaged-";
/// A file beside damaged files: what became of them.
const TOLD: &str = "what-came-back.txt";
/// A file beside damaged files: the reader has seen what became of them.
const SEEN: &str = "seen";

/// A folder with files that were damaged, kept until the reader throws it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFolder {
    pub path: PathBuf,
    /// What came back, as a sentence.
    pub told: String,
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
        // Where that cannot be written it is reported again.
        File::create(folder.path.join(SEEN)).ok();
    }
}

/// Notes beside damaged files what came back. It only helps; the reader hears the sentence in any case.
pub(super) fn note_told(aside: &Path, told: &str) {
    fs::write(aside.join(TOLD), told).ok();
}

/// Adds what is known to be missing, a fragment for each kind, to the last report; once.
pub(super) fn complete_note(data: &Path, missing: &[String]) {
    let Some(newest) = damaged_folders(data).pop() else { return };
    if !newest.told.ends_with(&newest.path.display().to_string()) {
        return;
    }
    let missing = match missing {
        [] => "as far as known, no entries or texts are missing".to_owned(),
        some => some.join("; "),
    };
    note_told(&newest.path, &format!("{}; {missing}", newest.told));
}

/// What came back.
#[derive(Debug, Clone, Default)]
pub(super) struct RecoveryReport {
    /// Records that could be read.
    pub(super) records: u64,
    /// Parts of the pack that could not be read.
    pub(super) gaps: u64,
    /// Records that could not be read.
    pub(super) unsound: u64,
    /// Whether something is missing.
    pub(super) is_partial: bool,
    /// Subscriptions among the records.
    pub(super) feeds: u64,
    /// The day of the backup that filled gaps, and how many records it filled.
    pub(super) backup: Option<(NaiveDate, u64)>,
}

impl RecoveryReport {
    /// The sentence, which ends with the folder of the damaged files.
    pub(super) fn words(&self, why: &str, aside: &Path) -> String {
        let feeds = counted_words(self.feeds, "subscription", "subscriptions");
        let records = counted_words(self.records, "record", "records");
        let mut parts = Vec::new();
        match self.backup {
            Some((day, _)) if self.records == 0 => {
                parts.push(format!("{feeds}, read marks and stars were restored as of {day}"));
            }
            Some(_) | None => {
                parts.push(format!("{feeds} and {records} were recovered from the damaged files"));
            }
        }
        if let Some((day, filled)) = self.backup.filter(|_| self.records > 0) {
            let filled = counted_words(filled, "missing record", "missing records");
            parts.push(format!("{filled} came from the backup of {day}"));
        }
        parts.extend(self.unread_words());
        if !self.is_partial {
            parts.push("nothing is missing".into());
        }
        format!(
            "the store could not be opened ({why}): {}; the damaged files are in {}",
            parts.join(", "),
            aside.display()
        )
    }

    /// What could not be read; `None`: all could.
    fn unread_words(&self) -> Option<String> {
        let Self { gaps, unsound, .. } = *self;
        let (parts, records) = (
            counted_words(gaps, "part of the files", "parts of the files"),
            counted_words(unsound, "record", "records"),
        );
        let unread = match (gaps, unsound) {
            (0, 0) => return None,
            (_, 0) => parts,
            (0, _) => records,
            (_, _) => format!("{parts} and {records}"),
        };
        Some(format!("{unread} could not be read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovered_and_lost_records_are_counted() {
        let day = NaiveDate::from_ymd_opt(2026, 2, 2);
        let report = RecoveryReport {
            records: 40,
            unsound: 2,
            gaps: 3,
            is_partial: true,
            feeds: 7,
            backup: day.map(|day| (day, 5)),
        };
        assert_eq!(
            report.words("why", Path::new("/there")),
            "the store could not be opened (why): 7 subscriptions and 40 records were recovered from the damaged files, 5 missing records came from the backup of 2026-02-02, 3 parts of the files and 2 records could not be read; the damaged files are in /there"
        );
        let report = RecoveryReport { records: 40, feeds: 1, ..RecoveryReport::default() };
        let told = report.words("why", Path::new("/there"));
        assert!(
            told.contains("were recovered from the damaged files, nothing is missing;"),
            "{told}"
        );
    }

    #[test]
    fn missing_records_are_added_to_the_note_once() {
        let data = tempfile::tempdir().unwrap();
        let aside = data.path().join("store-damaged-1");
        fs::create_dir(&aside).unwrap();
        note_told(&aside, &RecoveryReport::default().words("why", &aside));
        complete_note(data.path(), &["3 entries are lost".into(), "so are others".into()]);
        complete_note(data.path(), &[]);
        let told = mended_unseen(data.path()).unwrap();
        assert!(told.ends_with("store-damaged-1; 3 entries are lost; so are others"), "{told}");
        note_seen(data.path());
        assert_eq!(mended_unseen(data.path()), None);
        assert_eq!(damaged_folders(data.path()).len(), 1, "the doctor goes on telling it");
    }
}
