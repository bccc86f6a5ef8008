//! The timeline of a history: a row for each year, with the number of entries of each month, where they came from, and what is
//! missing. The screen, the text and the picture draw the same rows.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Utc};
use chrono_tz::Tz;

use super::gap::Gap;
use super::gap_wording::day;
use super::kept::{KeptEntry, Position};

/// Maximum number of years in a timeline. Wrong dates could demand thousands.
pub const YEARS_MAX: usize = 100;
/// Number of heights of a bar.
pub const LEVELS: u32 = 8;

/// Where the copy of an entry that counts came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntrySource {
    Feed,
    Archive,
    Page,
    Copy,
    InternetArchive,
}

impl EntrySource {
    pub const ALL: [Self; 5] =
        [Self::Feed, Self::Archive, Self::Page, Self::Copy, Self::InternetArchive];

    const fn of(position: Position) -> Self {
        match position {
            Position::Subscription => Self::Feed,
            Position::Archive { .. } => Self::Archive,
            Position::Page => Self::Page,
            Position::Copy => Self::Copy,
            Position::Capture { .. } => Self::InternetArchive,
        }
    }

    /// Returns the letter of the source in a timeline.
    pub const fn letter(self) -> char {
        match self {
            Self::Feed => 'F',
            Self::Archive => 'A',
            Self::Page => 'P',
            Self::Copy => 'C',
            Self::InternetArchive => 'I',
        }
    }

    /// Returns the name of the source.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Feed => "feed",
            Self::Archive => "archives",
            Self::Page => "pages",
            Self::Copy => "another reader's copy",
            Self::InternetArchive => "Internet Archive",
        }
    }
}

/// Numbers of the entries of each month, in the order of [`EntrySource::ALL`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonthCounts(BTreeMap<Month, [u32; EntrySource::ALL.len()]>);

/// A year and a month, counted from 0.
type Month = (i32, u32);

fn month_of(at: DateTime<Utc>, zone: Tz) -> Month {
    let local = at.with_timezone(&zone);
    (local.year(), local.month0())
}

impl MonthCounts {
    /// Counts an entry.
    pub fn add(&mut self, entry: &KeptEntry, zone: Tz) {
        let counts = self.0.entry(month_of(entry.listed(), zone)).or_default();
        let source = EntrySource::of(entry.rank.position);
        let counts = EntrySource::ALL.into_iter().zip(counts.iter_mut());
        for (_, count) in counts.filter(|(other, _)| *other == source) {
            *count = count.saturating_add(1);
        }
    }
}

/// A month in a timeline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonthCell {
    pub entries: u32,
    /// Height of its bar, from 1 to [`LEVELS`]; 0 without entries.
    pub level: u32,
    /// Source of most of its entries.
    pub source: Option<EntrySource>,
    /// `true` if entries of this month are missing.
    pub is_hole: bool,
}

/// A year in a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YearRow {
    pub year: i32,
    pub months: [MonthCell; 12],
    pub entries: u32,
}

impl YearRow {
    /// Checks whether entries of the year are missing.
    pub fn has_hole(&self) -> bool {
        self.months.iter().any(|month| month.is_hole)
    }
}

/// The known history of a feed, by year.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The years in which there are entries or something is missing, newest first.
    pub years: Vec<YearRow>,
    /// Sources of the entries.
    pub sources: Vec<EntrySource>,
    /// What is missing below the oldest known entry, in words.
    pub before: Option<String>,
}

impl Timeline {
    /// Makes the timeline of a feed from its entries and its gaps.
    pub fn of<'g>(counts: &MonthCounts, gaps: impl IntoIterator<Item = &'g Gap>, zone: Tz) -> Self {
        let busiest = counts.0.values().map(total).max().unwrap_or(0).max(1);
        let mut months: BTreeMap<Month, MonthCell> = BTreeMap::new();
        let mut years: BTreeMap<i32, YearRow> = BTreeMap::new();
        for (&month, counts) in &counts.0 {
            let entries = total(counts);
            let level = u64::from(entries) * u64::from(LEVELS);
            let level = u32::try_from(level.div_ceil(u64::from(busiest))).unwrap_or(LEVELS);
            let most = EntrySource::ALL.into_iter().zip(counts).max_by_key(|(_, count)| **count);
            let source = most.map(|(source, _)| source);
            months.insert(month, MonthCell { entries, level, source, is_hole: false });
        }
        let mut timeline = Self::default();
        for gap in gaps {
            let until = gap.listed();
            let (from, last) = (gap.older.unwrap_or(until), month_of(until, zone));
            if gap.older.is_none() {
                timeline.before = Some(format!("before {}: {}", day(until), gap.what()));
            }
            let mut month = month_of(from, zone);
            for _ in 0..YEARS_MAX * 12 {
                months.entry(month).or_default().is_hole = true;
                if month >= last {
                    break;
                }
                month = if month.1 < 11 { (month.0, month.1 + 1) } else { (month.0 + 1, 0) };
            }
        }
        for ((year, number), cell) in months {
            let empty = || YearRow { year, months: [MonthCell::default(); 12], entries: 0 };
            let row = years.entry(year).or_insert_with(empty);
            row.entries = row.entries.saturating_add(cell.entries);
            if let Some(place) = usize::try_from(number).ok().and_then(|at| row.months.get_mut(at))
            {
                *place = cell;
            }
        }
        timeline.years = years.into_values().rev().take(YEARS_MAX).collect();
        let has = |source: &EntrySource| {
            let mut columns =
                counts.0.values().flat_map(|counts| EntrySource::ALL.iter().zip(counts));
            columns.any(|(other, count)| other == source && *count > 0)
        };
        timeline.sources = EntrySource::ALL.into_iter().filter(has).collect();
        timeline
    }

    /// Explains the letters of the timeline, and the sign for what is missing.
    pub fn legend(&self, hole: &str) -> String {
        let sources = self.sources.iter();
        let sources = sources.map(|source| format!("{} {}", source.letter(), source.words()));
        let is_hole = self.before.is_some() || self.years.iter().any(YearRow::has_hole);
        let hole = is_hole.then(|| format!("{hole} missing"));
        sources.chain(hole).collect::<Vec<_>>().join(", ")
    }
}

fn total(counts: &[u32; EntrySource::ALL.len()]) -> u32 {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}
