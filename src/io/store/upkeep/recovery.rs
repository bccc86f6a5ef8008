//! Recovers a store whose pack is damaged. All undamaged records are copied into a new pack, and missing records are added from the
//! newest daily backup. The damaged pack is kept in a folder of its own.
//!
//! Rows, entries, texts and counters are made consistent again. A report in that folder says what was recovered.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use backissue_core::feed::fingerprint::PageHash;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{
    EntryKey, FeedKey, Flags, HistoryRecord, IndexRow, NodeState, Nodes, TEXT_LOST,
};
use chrono::{DateTime, NaiveDate, Utc};

use super::backup::{TEXTS_LOST, read_backup};
use super::daily_backup;
use super::disk_room::{NewPack, finish_replacement, replace_pack};
use super::repair::revived_words;
use crate::engine::poll::fetch::Validators;
use crate::io::store::chunks::{ENTRIES, ROWS};
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::{Store, feed_bytes, feed_of, number_of, numbered_key};
use crate::io::store::pack::database::SoundRecords;
use crate::io::store::pack::{Batch, Table, TableName};
use crate::io::store::sleepy_threads::SessionLength;
use crate::io::system::system_words;
use crate::io::{codec, regular_files};

impl Store {
    /// Opens the store. If its files are damaged, copies the undamaged records into a new store; the returned sentence reports what
    /// was recovered and what is lost. If the store cannot be written, opens it for reading only.
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

    /// Opens a store that was created from undamaged records. While it is opened, all records are checked, and what is missing is
    /// added to the report.
    fn open_mended(
        data: &Path,
        stay: SessionLength,
        told: String,
    ) -> Result<(Self, Option<String>), StoreError> {
        let store = Self::open_to(data, stay)?;
        let noted = damaged_folders(data).pop().map(|newest| newest.told);
        Ok((store, noted.filter(|noted| noted.starts_with(&told)).or(Some(told))))
    }

    /// Copies the undamaged records of a store that no process has open into a new store. Returns a report, or `None` if no
    /// subscription can be recovered, in which case nothing is changed.
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

/// Deletes the folders with damaged files, and returns them.
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
    // The search index does not match the recovered entries. It can be rebuilt at any time, so empty it.
    crate::io::search::SearchIndex::make_empty(data).ok();
    drop(held);
    let told = report.words(why, &data.join(&aside));
    note_told(&data.join(&aside), &told);
    Ok(Some(told))
}

/// Records of a backup that are not in the damaged pack, by table and key.
type MissingRecords = BTreeMap<(TableName, Vec<u8>), Vec<u8>>;

/// Finds the records of the newest readable backup that are not in the pack. Returns the day of the backup and the number of
/// records.
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
            // Leave out undo steps, because their changes may have been undone since the backup.
            let is_left = table == TableName::Undo || key == TEXTS_LOST;
            if !is_left && !sound.contains(table, key) {
                missing.insert((table, key.to_vec()), value.to_vec());
            }
            Ok(())
        });
        // Use a backup only if it can be read to its end.
        if read.is_ok() {
            return Some((daily.day, missing.len() as u64));
        }
    }
    missing.clear();
    None
}

/// Prefix of the names of folders with damaged files.
const DAMAGED: &str = "store-damaged-";
/// Name of the file with the report, in a folder with damaged files.
const TOLD: &str = "what-came-back.txt";
/// Name of the file that shows that the user has seen the report, in a folder with damaged files.
const SEEN: &str = "seen";

/// A folder with damaged files, which is kept until the user deletes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFolder {
    pub path: PathBuf,
    /// The report on what was recovered, as a sentence.
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

/// Returns the newest report, unless the user has seen it.
pub fn mended_unseen(data: &Path) -> Option<String> {
    let newest = damaged_folders(data).pop()?;
    let is_seen = newest.told.is_empty() || newest.path.join(SEEN).exists();
    (!is_seen).then_some(newest.told)
}

/// Notes that the user has seen the reports.
pub(in crate::io::store) fn note_seen(data: &Path) {
    for folder in damaged_folders(data) {
        // If this file cannot be written, the report is shown again.
        File::create(folder.path.join(SEEN)).ok();
    }
}

/// Writes the report into the folder with the damaged files. Ignores a failure, because the report is shown to the user anyway.
pub(super) fn note_told(aside: &Path, told: &str) {
    fs::write(aside.join(TOLD), told).ok();
}

/// Adds what is missing to the newest report, one fragment for each kind, unless this was already done.
fn complete_note(data: &Path, missing: &[String]) {
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

/// What was recovered.
#[derive(Debug, Clone, Default)]
pub(super) struct RecoveryReport {
    /// Number of records that could be read.
    pub(super) records: u64,
    /// Number of parts of the pack that could not be read.
    pub(super) gaps: u64,
    /// Number of records that could not be read.
    pub(super) unsound: u64,
    /// Whether something is missing.
    pub(super) is_partial: bool,
    /// Number of subscriptions, including those from the backup.
    pub(super) feeds: u64,
    /// The day of the backup that supplied missing records, and the number of these records.
    pub(super) backup: Option<(NaiveDate, u64)>,
}

impl RecoveryReport {
    /// Returns the report as a sentence that ends with the path of the folder with the damaged files.
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

    /// Describes what could not be read, or returns `None` if everything could be read.
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

/// Value of [`TEXTS_LOST`] if only some texts are missing. The existing texts are kept.
const SOME_LOST: &[u8] = b"some";

/// Row of an entry about which nothing is known.
const NOTHING: IndexRow = IndexRow {
    identity: 0,
    content: TEXT_LOST,
    listed: 0,
    flags: Flags::OLD.withdrawn(true),
    page: PageHash::UNKNOWN,
};

/// Numbers of entries from which something is known to be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::io::store) struct Missing {
    /// Entries of which only a row is left, or that the counters include although they have no row.
    entries: u32,
    /// Entries that were found without their marks.
    marks: u32,
    /// Entries without their text, in feeds without archives.
    texts: u32,
    /// Entries without their text, in feeds whose archives are fetched again.
    archived_texts: u32,
}

impl Missing {
    fn add(&mut self, other: Self) {
        self.entries = self.entries.saturating_add(other.entries);
        self.marks = self.marks.saturating_add(other.marks);
        self.texts = self.texts.saturating_add(other.texts);
        self.archived_texts = self.archived_texts.saturating_add(other.archived_texts);
    }

    /// Describes what is missing, one fragment for each kind.
    pub(in crate::io::store) fn words(self) -> impl Iterator<Item = String> {
        let entries = |count| counted_words(count, "entry", "entries");
        let told = [
            (
                self.entries,
                format!(
                    "{} lost, unless the next polls restore them",
                    counted_words(self.entries, "entry is", "entries are"),
                ),
            ),
            (
                self.marks,
                format!("the marks of {} are lost: they count as unread", entries(self.marks)),
            ),
            (
                self.texts,
                format!(
                    "the texts of {} are missing; the next polls restore those that the feeds still contain",
                    entries(self.texts),
                ),
            ),
            (
                self.archived_texts,
                format!(
                    "the texts of {} are missing; their feeds' archives are fetched again automatically",
                    entries(self.archived_texts),
                ),
            ),
        ];
        told.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words)
    }
}

impl Store {
    /// If the store was created from a backup or from damaged files, notes which texts are missing. The next document of each
    /// affected feed is then requested unconditionally, and restores the texts that it contains.
    pub(in crate::io::store) fn note_lost_texts(&mut self) -> Result<(), StoreError> {
        let Some(mark) = self.tables.facts.get(TEXTS_LOST)? else { return Ok(()) };
        let revived = self.revive_feeds()?;
        let missing = self.mend_feeds(*mark != *SOME_LOST)?;
        // The backup was written while feeds were polled, so counters may be older than the rows.
        self.check(true)?;
        if *mark == *SOME_LOST {
            let told = revived_words(&revived).into_iter().chain(missing.words());
            complete_note(&self.data, &told.collect::<Vec<_>>());
        }
        self.drop_record(TableName::Facts, TEXTS_LOST)?;
        self.sync()
    }

    /// Makes the records of each feed consistent. `all` means that every text is missing.
    pub(in crate::io::store) fn mend_feeds(&mut self, all: bool) -> Result<Missing, StoreError> {
        let keys: Vec<_> = self.tables.feeds.keys().collect::<Result<_, _>>()?;
        let mut missing = Missing::default();
        for feed in keys.iter().filter_map(|key| feed_of(key)) {
            missing.add(self.mend_feed(feed, all)?);
        }
        Ok(missing)
    }

    /// Makes the rows of a feed agree with its entries and texts. If something is missing, has the document of the
    /// feed requested unconditionally and its archives fetched again. `all` means that every text is missing.
    pub(super) fn mend_feed(&mut self, feed: FeedKey, all: bool) -> Result<Missing, StoreError> {
        let mut missing = Missing { marks: self.add_missing_rows(feed)?, ..Missing::default() };
        // The check reports a damaged index. Continue with the other feeds.
        let Ok(rows) = self.rows_of(feed) else { return Ok(missing) };
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        // Counters may include entries whose rows are lost. Treat damaged counters as missing.
        let counted = self.counters_of(feed).unwrap_or_default().next_seq;
        missing.entries = counted.saturating_sub(count);
        let keys: Vec<EntryKey> = (0..count).map(|seq| EntryKey { feed, seq }).collect();
        let kept = self.readable_entries(&keys)?;
        let without_text: BTreeSet<EntryKey> =
            keys.iter().filter(|key| all || !self.has_text_record(**key)).copied().collect();
        let mut changed = BTreeSet::new();
        for (key, row) in keys.iter().zip(self.rows_of(feed)?) {
            if without_text.contains(key) && row.content != TEXT_LOST {
                row.content = TEXT_LOST;
                missing.texts = missing.texts.saturating_add(1);
                changed.insert(key.seq);
            }
            let page = kept.get(key).map_or(row.page, |kept| PageHash::of(kept.link.as_deref()));
            if std::mem::replace(&mut row.page, page) != page {
                changed.insert(key.seq);
            }
            let is_told = row.flags.is_withdrawn() && row.content == TEXT_LOST;
            if !kept.contains_key(key) && !is_told {
                row.flags = row.flags.withdrawn(true);
                row.content = TEXT_LOST;
                missing.entries = missing.entries.saturating_add(1);
                changed.insert(key.seq);
            }
        }
        if !changed.is_empty() {
            let rows = self.index_batch(feed, changed.into_iter())?;
            self.db.commit(&[(TableName::Index, &rows)])?;
        }
        if all || missing != Missing::default() {
            self.ask_whole(feed)?;
            // Treat a damaged record as missing.
            if self.history_of(feed).unwrap_or_default().archives > 0 {
                self.reread_archives(feed)?;
                missing.archived_texts = std::mem::take(&mut missing.texts);
            }
        }
        Ok(missing)
    }

    /// Removes the validators of a feed, so that its next document is requested unconditionally.
    pub(super) fn ask_whole(&mut self, feed: FeedKey) -> Result<(), StoreError> {
        // Treat a damaged record as missing.
        let mut state = self.state_of(feed).unwrap_or_default();
        state.validators = Validators::default();
        self.save_state(feed, &state)
    }

    /// If the history record of a feed is lost, writes a new one from what is known about its archives. The next document of the
    /// feed completes it.
    pub(super) fn keep_history_of_archives(
        &mut self,
        feed: FeedKey,
        nodes: &Nodes,
    ) -> Result<(), StoreError> {
        let mut record = HistoryRecord { archived: true, walked: true, ..HistoryRecord::default() };
        for (_, node) in nodes.iter().filter(|(_, node)| node.state == NodeState::Applied) {
            record.archives = record.archives.saturating_add(1);
            record.epoch = record.epoch.max(node.epoch);
            let oldest = node.span.map(|(_, oldest)| oldest);
            record.reaches = record.reaches.into_iter().chain(oldest).min();
        }
        self.put(TableName::History, feed_bytes(feed), codec::encode(&record)?)?;
        self.ask_whole(feed)
    }

    /// Has the archives of a feed fetched again, automatically and within the usual limits, because texts from them are lost or
    /// because their records are inconsistent.
    pub(super) fn reread_archives(&mut self, feed: FeedKey) -> Result<(), StoreError> {
        // Treat a damaged record as missing.
        let (mut record, mut known) =
            (self.history_of(feed).unwrap_or_default(), self.nodes(feed)?);
        record.reread(&mut known);
        let mut history = Batch::default();
        history.insert(feed_bytes(feed), codec::encode(&record)?);
        let mut nodes = Batch::default();
        for key in self.tables.nodes.keys_of(feed_bytes(feed)) {
            nodes.remove(key?);
        }
        self.db.commit(&[(TableName::History, &history), (TableName::Nodes, &nodes)])
    }

    /// Creates rows for entries without a row, and returns the number of these entries. Their marks are lost.
    fn add_missing_rows(&mut self, feed: FeedKey) -> Result<u32, StoreError> {
        let chunks_of = |table: &Table| -> Result<BTreeSet<u32>, StoreError> {
            let keys = table.keys_of(feed_bytes(feed));
            let keys: Vec<_> = keys.collect::<Result<_, _>>()?;
            Ok(keys.iter().filter_map(|key| number_of(key)).collect())
        };
        let (there, entries) = (chunks_of(&self.tables.index)?, chunks_of(&self.tables.meta)?);
        let last_entry = entries.last().map(|chunk| (chunk * ENTRIES) / ROWS);
        let Some(last) = there.last().copied().max(last_entry) else { return Ok(0) };
        let mut added = 0_u32;
        for chunk in 0..=last {
            let there = self.tables.index.get(numbered_key(feed, chunk))?;
            let there = there.map_or(Ok(Vec::new()), |bytes| codec::decode_rows(&bytes));
            // The check reports damaged rows.
            let Ok(mut rows) = there else { continue };
            let had = rows.len();
            let keys: Vec<EntryKey> = (chunk.saturating_mul(ROWS)..)
                .take(ROWS as usize)
                .map(|seq| EntryKey { feed, seq })
                .collect();
            let missing = keys.get(had..).unwrap_or_default();
            if missing.is_empty() {
                continue;
            }
            let kept = self.readable_entries(missing)?;
            let end = if chunk < last { keys.last() } else { kept.keys().next_back() };
            let Some(end) = end.copied() else { continue };
            rows.extend(missing.iter().take_while(|key| **key <= end).map(|key| {
                let kept = kept.get(key);
                kept.map_or(NOTHING, |kept| IndexRow::new(kept, TEXT_LOST, Flags::NEW))
            }));
            added = added.saturating_add(u32::try_from(kept.len()).unwrap_or(u32::MAX));
            self.put(TableName::Index, numbered_key(feed, chunk), codec::encode_rows(&rows))?;
        }
        self.rows.remove(&feed);
        Ok(added)
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
