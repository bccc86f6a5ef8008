//! Table III of the paper on interval rules, in its own form: a schedule and a fixed interval with the same number of polls, in the
//! training weeks and in the test weeks.

use std::fmt::Write as _;

use super::score::{Figures, MeanScore, Score};

/// Name of a row, and the function that returns its figure.
type Row = (&'static str, fn(&Figures) -> f64);

const ROWS: [Row; 4] = [
    ("Delay (min.)", |figures| figures.delay),
    ("Stddev delay (min.)", |figures| figures.deviation),
    ("Hits (%)", |figures| figures.hits),
    ("Misses (%)", |figures| 100.0 - figures.hits),
];

/// Formats Table III. `scores` contains, for each feed, the scores of its schedule in the training weeks and in the test weeks.
/// Returns `None` if there are no feeds.
pub fn paper_table(title: &str, scores: &[(Score, Score)]) -> Option<String> {
    let (trained, tested): (Vec<Score>, Vec<Score>) = scores.iter().copied().unzip();
    let [trained, tested] = [trained, tested].map(|scores| MeanScore::over_feeds(&scores));
    let (trained, tested) = (trained?.score, tested?.score);
    let mut table = format!(
        "{title}\n{:21}{:>20}{:>20}\n{:21}{:>10}{:>10}{:>10}{:>10}",
        "", "Training", "Test", "Average", "Linear", "Schedule", "Linear", "Schedule"
    );
    for (name, figure) in ROWS {
        let cells = [&trained.linear, &trained.policy, &tested.linear, &tested.policy];
        let cells: String = cells.map(|figures| format!("{:>10.2}", figure(figures))).concat();
        // Writing to a `String` cannot fail.
        write!(table, "\n{name:21}{cells}").unwrap_or_default();
    }
    Some(table)
}
