//! Decides which entries are dropped if a document has too many: the oldest ones, if the dates reveal the order of the entries
//! (SPEC G.62).

use chrono::{DateTime, Utc};
use memchr::memmem;

use super::dates::date::parse_date;
use super::xml::tree_builder::ENTRIES_MAX;

/// Returns how many entries at the start of a document must be dropped. The result is 0 unless the document has too many entries
/// and their dates show that the oldest come first.
pub(super) fn oldest_left_out(document: &str) -> usize {
    let is_start = |at: &usize, name: &str| {
        let after = document.as_bytes().get(at + name.len()).copied().unwrap_or_default();
        after == b'>' || after.is_ascii_whitespace()
    };
    let starts = |name: &'static str| {
        let found = memmem::find_iter(document.as_bytes(), name);
        found.filter(|at| is_start(at, name)).collect::<Vec<_>>()
    };
    let [items, entries] = ["<item", "<entry"].map(starts);
    let places = if items.len() > entries.len() { items } else { entries };
    let date_after = |place: &usize| {
        let entry = document.get(*place..)?;
        let entry = entry.get(..entry.floor_char_boundary(DATED_WITHIN)).unwrap_or(entry);
        let start = DATES.iter().filter_map(|name| Some(entry.find(name)? + name.len())).min()?;
        parse_date(entry.get(start..)?.split('<').next()?)
    };
    let surplus = places.len().saturating_sub(ENTRIES_MAX);
    if surplus > 0 && is_oldest_first(places.iter().map(date_after)) { surplus } else { 0 }
}

/// Checks whether the dates of a list show that the oldest entries come first. Compares consecutive dates of a sample from the
/// whole list, so one pinned entry does not decide the result.
pub(super) fn is_oldest_first(dates: impl ExactSizeIterator<Item = Option<DateTime<Utc>>>) -> bool {
    let count = dates.len();
    let step = (count / DATES_MAX).max(1);
    let sample: Vec<_> = dates.step_by(step).flatten().collect();
    let rising = sample.windows(2).filter(|pair| pair.first() < pair.last()).count();
    let falling = sample.windows(2).filter(|pair| pair.first() > pair.last()).count();
    rising > falling
}

/// Approximate number of dates sampled from a long list.
const DATES_MAX: usize = 100;
/// Maximum distance from the start tag of an entry to its date, in bytes.
const DATED_WITHIN: usize = 64 << 10;
/// Start tags of elements that contain the date of an entry.
const DATES: [&str; 4] = ["<pubDate>", "<dc:date>", "<published>", "<updated>"];
