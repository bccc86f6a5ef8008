//! Compaction of the store, shown as it goes.

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Options;
use super::session::{self, Failure};
use crate::io::console;
use crate::io::store::Store;

/// Compacts the store and says what it gained.
pub(super) fn compact(store: Store) -> Result<(), Failure> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("compacting the store {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    let done = store.compact(|done, all| {
        bar.set_length(u64::try_from(all).unwrap_or(u64::MAX));
        bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    });
    bar.finish_and_clear();
    let done = done?;
    console::tell(&format!(
        "the store was compacted: {} MB of log held {} MB of records",
        done.before / 1_000_000,
        done.live / 1_000_000
    ));
    Ok(())
}

/// Compacts the store at the end of a session in which its log was found too long (STORE 3).
pub(super) fn at_the_end(options: &Options) -> Result<(), Failure> {
    compact(session::store(options)?)
}
