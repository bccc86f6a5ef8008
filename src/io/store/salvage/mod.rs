//! Reads what is sound in the damaged files of a store, without sled: opening them with sled would cut its log off at the
//! first fault, and throw away what stands behind it.

#[cfg(any(test, fuzzing))]
mod fuzzed_files;
mod inspection;
mod key_ranges;
mod log_bytes;
mod log_scan;
mod lone_texts;
mod pages;
mod states;
mod stray_pages;
#[cfg(test)]
mod tests;
mod trees;
mod whole_keys;

use std::collections::BTreeMap;
use std::path::Path;

use chrono::NaiveDate;
#[cfg(any(test, fuzzing))]
pub(super) use fuzzed_files::{check_files, example_files};
pub(super) use inspection::{Finding, inspect, prepare};
use log_scan::LogFiles;
use lone_texts::LoneTexts;
use trees::Pages;

use super::error::StoreError;
use super::upkeep::daily_backup::{self, LAST_BACKUP};
use super::upkeep::newest_backup::READERS_FACTS;
use crate::io::codec;

/// The tree of facts.
const ABOUT: &[u8] = b"about";
/// The tree of texts.
const TEXTS: &[u8] = b"bodies";
/// sled's own tree; nothing is in it.
const DEFAULT_TREE: &[u8] = b"__sled__default";

/// What came of the damaged files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Salvaged {
    /// Records that were read.
    pub(super) records: u64,
    /// Those of them that were taken from an earlier state of the files, because the newest one is damaged.
    pub(super) older: u64,
    /// Records that fail their own checksum.
    pub(super) unsound: u64,
    /// Parts of the files, each a range of records, whose newest state could not be read.
    pub(super) gaps: u64,
    /// Something is missing, or may be.
    pub(super) is_partial: bool,
    /// The day of the last daily backup that the files know of, and a place of the endless log: what was said behind it was said after
    /// that backup was made.
    pub(super) backed_up: Option<(NaiveDate, u64)>,
}

/// Takes the tree, the key and the value of a record; and, if that is of an earlier state of the files, the place of the endless log
/// that says it.
pub(super) type PutSalvaged<'a> =
    dyn FnMut(&[u8], &[u8], &[u8], Option<u64>) -> Result<(), StoreError> + 'a;

/// Tells every record of the files that passes its checksums, with its tree.
pub(super) fn salvage(files: &Path, put: &mut PutSalvaged<'_>) -> Result<Salvaged, StoreError> {
    let written = inspection::pages_in_snapshot(files)?;
    let files = LogFiles::open(files)?;
    let scan = files.scan()?;
    let pages = Pages::new(&files, &scan, &written);
    let trees = pages.find_trees();
    let mut of_tree: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
    for (page, tree) in &trees {
        of_tree.entry(tree.to_vec()).or_default().push(*page);
    }
    let strays = pages.strays(&trees);
    for (page, tree) in stray_pages::guess_trees(&strays) {
        of_tree.entry(tree.to_vec()).or_default().push(page);
    }
    let mut lone_texts = LoneTexts::among(&strays);
    drop(strays);
    let mut salvaged =
        Salvaged { is_partial: scan.is_damaged || pages.is_damaged, ..Salvaged::default() };
    for (tree, own) in of_tree.iter().filter(|(tree, _)| tree.as_slice() != DEFAULT_TREE) {
        let (mut records, mut unsound) = (0_u64, 0_u64);
        let told = pages.read_records(own, tree, &mut |key, value, earlier| {
            // Most facts have no checksum of their own.
            let is_sealed = tree.as_slice() != ABOUT || READERS_FACTS.contains(&key);
            if is_sealed && !codec::is_sound(value) {
                unsound = unsound.saturating_add(1);
                return Ok(());
            }
            lone_texts.note(tree, key, value);
            records = records.saturating_add(1);
            put(tree, key, value, earlier)
        })?;
        salvaged.records = salvaged.records.saturating_add(records);
        salvaged.older = salvaged.older.saturating_add(told.older);
        salvaged.unsound = salvaged.unsound.saturating_add(unsound);
        salvaged.gaps = salvaged.gaps.saturating_add(told.gaps);
        salvaged.is_partial |= told.gaps > 0 || unsound > 0;
    }
    for (key, value, lsn) in lone_texts.named() {
        put(TEXTS, &key, &value, Some(lsn))?;
        salvaged.records = salvaged.records.saturating_add(1);
        salvaged.older = salvaged.older.saturating_add(1);
    }
    if let Some(own) = of_tree.get(ABOUT) {
        let said = pages.last_value(own, ABOUT, LAST_BACKUP);
        salvaged.backed_up = said.and_then(|(day, lsn)| Some((daily_backup::read_day(&day)?, lsn)));
    }
    // Every store has its facts and its feeds.
    let has = |name: &[u8]| pages.names().any(|known| known == name);
    salvaged.is_partial |= !has(ABOUT) || !has(b"feeds");
    Ok(salvaged)
}
