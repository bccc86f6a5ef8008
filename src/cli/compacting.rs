//! What keeps the store in order at the end of a session: compaction, shown as it goes, and the backup of the day.

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Options;
use super::session::{self, Failure};
use crate::app::listing::day_of;
use crate::io::store::{Store, backup_is_due};
use crate::io::{clock, console};

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

/// What is due after a poll without a screen, for those who never see one.
pub(super) fn after_poll(options: &Options, too_long: bool) -> Result<(), Failure> {
    let today = day_of(clock::precise_now(), clock::zone());
    if backup_is_due(&session::data_dir(options)?, today) {
        let made = session::store(options)?.back_up_daily(today);
        if let Err(error) = made {
            console::tell(&format!("no backup was made today: {error}"));
        }
    }
    if too_long { at_the_end(options) } else { Ok(()) }
}
