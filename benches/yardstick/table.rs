//! The rows of the table: each measured figure with its unit, its target, and its value.

use std::collections::BTreeMap;

use super::Extent;

/// A measured quantity, shown as a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    ColdCpu,
    ColdWall,
    ColdSlowWall,
    ColdPeak,
    LargePeak,
    UnchangedCpu,
    UnchangedWall,
    TenthCpu,
    TenthWall,
    Disk,
    StartWall,
    StartCpu,
    Command,
    Rest,
    KeyCpu,
    KeyMedian,
    KeyWorst,
    OpenCpu,
    OpenFirst,
    OpenSettled,
    SearchRare,
    SearchCommon,
    SearchAll,
    ListCpu,
    IdleCpu,
    IdleWakes,
}

/// Each row with its label, its target, and the number of decimals of its figures.
const ROWS: [(Row, &str, &str, usize); 26] = [
    (Row::ColdCpu, "cold poll: CPU s, index included", "1.5 x floor", 2),
    (Row::ColdWall, "cold poll: wall s", "1.75 x floor", 2),
    (Row::ColdSlowWall, "cold poll, 50 ms an answer: wall s", "2 x floor", 2),
    (Row::ColdPeak, "cold poll: peak MB, 30 entries a feed", "60", 0),
    (Row::LargePeak, "cold poll: peak MB, 100 entries a feed", "80", 0),
    (Row::UnchangedCpu, "unchanged poll: CPU s", "0.15", 2),
    (Row::UnchangedWall, "unchanged poll: wall s", "0.25", 2),
    (Row::TenthCpu, "a tenth changed: CPU s", "0.3", 2),
    (Row::TenthWall, "a tenth changed: wall s", "0.4", 2),
    (Row::Disk, "disk: bytes an entry, index included", "1600", 0),
    (Row::StartWall, "start to the first frame: ms", "40", 0),
    (Row::StartCpu, "start to the first frame: CPU ms", "40", 0),
    (Row::Command, "a command that shows an entry: wall ms", "60", 0),
    (Row::Rest, "memory at rest: MB", "30, then 15", 0),
    (Row::KeyCpu, "key down: CPU ms", "0.3", 2),
    (Row::KeyMedian, "key down: median ms", "1", 1),
    (Row::KeyWorst, "key down: 99 % ms", "2", 1),
    (Row::OpenCpu, "open an article: CPU ms", "2", 1),
    (Row::OpenFirst, "open an article: first change, ms", "2", 1),
    (Row::OpenSettled, "open an article: settled, ms", "4", 1),
    (Row::SearchRare, "search a rare word: settled, ms", "20", 0),
    (Row::SearchCommon, "search a common word: settled, ms", "20", 0),
    (Row::SearchAll, "search a word of all entries: settled, ms", "30", 0),
    (Row::ListCpu, "list of all opens: CPU ms", "10", 1),
    (Row::IdleCpu, "idle: CPU ms a second", "0", 3),
    (Row::IdleWakes, "idle: wake-ups a second", "under 0.2", 2),
];

/// The figures measured so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    ours: BTreeMap<Row, f64>,
    floors: BTreeMap<Row, f64>,
}

impl Table {
    /// Records a figure that was measured for the program.
    pub(crate) fn note(&mut self, row: Row, figure: f64) {
        self.ours.insert(row, figure);
    }

    /// Records a figure that was measured for the floor: the same work without the program.
    pub(crate) fn note_floor(&mut self, row: Row, figure: f64) {
        self.floors.insert(row, figure);
    }

    /// Returns the labels of rows that were not measured although their figures are available on this system.
    pub(crate) fn missing(&self, extent: Extent) -> Vec<&'static str> {
        let told = |row| {
            (cfg!(target_os = "linux") || !needs_proc(row)) && (extent.polls || !is_of_polls(row))
        };
        let missing = ROWS.iter().filter(|(row, ..)| told(*row) && !self.ours.contains_key(row));
        missing.map(|(_, words, ..)| *words).collect()
    }

    pub(crate) fn print(&self, extent: Extent) {
        let [small, large] = extent.entries.map(|entries| entries * extent.feeds);
        println!("{} feeds; polls: {small} entries, screens: {large} entries", extent.feeds);
        println!("| row | floor | backissue | ratio | aim |\n| --- | --- | --- | --- | --- |");
        for (row, words, aim, decimals) in ROWS {
            let (ours, floor) = (self.ours.get(&row), self.floors.get(&row));
            let shown = |figure: Option<&f64>| {
                figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}"))
            };
            let ratio = ours.zip(floor).filter(|(_, floor)| **floor > 0.0);
            let ratio = ratio.map_or_else(|| "-".to_owned(), |(o, f)| format!("{:.1}", o / f));
            println!("| {words} | {} | {} | {ratio} | {aim} |", shown(floor), shown(ours));
        }
    }
}

/// Checks whether a row is about polls that are measured for themselves.
const fn is_of_polls(row: Row) -> bool {
    matches!(
        row,
        Row::ColdCpu
            | Row::ColdWall
            | Row::ColdSlowWall
            | Row::ColdPeak
            | Row::UnchangedCpu
            | Row::UnchangedWall
            | Row::TenthCpu
            | Row::TenthWall
            | Row::Disk
    )
}

/// Checks whether the figure of a row can only be read from `/proc`.
const fn needs_proc(row: Row) -> bool {
    matches!(
        row,
        Row::StartCpu
            | Row::Rest
            | Row::KeyCpu
            | Row::OpenCpu
            | Row::ListCpu
            | Row::IdleCpu
            | Row::IdleWakes
    )
}

/// Returns the median of the figures.
pub(crate) fn median(figures: &[f64]) -> f64 {
    share(figures, 0.5)
}

/// Returns the figure below which this share of the figures lies.
pub(crate) fn share(figures: &[f64], share: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
