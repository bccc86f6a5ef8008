//! Maintenance of the store between sessions: the daily backup, the limit on texts, and compaction.

use chrono::NaiveDate;
use indicatif::{ProgressBar, ProgressStyle};

use super::session::{self, Failure};
use crate::engine::settings::Settings;
use crate::io::store::{Store, backup_is_due};
use crate::io::{clock, console};
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;

/// Compacts the store and prints the space saved.
pub(super) fn compact_store(store: Store) -> Result<(), Failure> {
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
        "the store was compacted: it had used {} MB of disk for {} MB of records",
        done.before / 1_000_000,
        done.live / 1_000_000
    ));
    Ok(())
}

/// Runs the maintenance due at the end of a session; a stop signal interrupts it.
pub(super) fn at_the_end(store: Store, settings: &Settings) -> Result<(), Failure> {
    let texts_max = texts_max(settings);
    if !is_due(&store, texts_max)? {
        return Ok(());
    }
    session::run_interruptibly(move || put_in_order(store, texts_max).map(drop))
}

/// Runs the same maintenance as [`at_the_end`] at the start of a long session that must end quickly. Returns the store, or `None`
/// if compaction closed the store.
pub(super) fn at_the_start(store: Store, settings: &Settings) -> Result<Option<Store>, Failure> {
    if store.only_reads() { Ok(Some(store)) } else { put_in_order(store, texts_max(settings)) }
}

/// Maximum size of the stored texts, bytes (SPEC C.10).
pub(super) fn texts_max(settings: &Settings) -> u64 {
    u64::from(settings.history.texts_mb).saturating_mul(1024 * 1024)
}

fn find_today() -> NaiveDate {
    day_of(clock::precise_now(), clock::zone())
}

/// Checks whether any maintenance is due, without reading records.
fn is_due(store: &Store, texts_max: u64) -> Result<bool, Failure> {
    // A store that is only read is a temporary copy that is discarded after the session, so it needs no maintenance.
    if store.only_reads() {
        return Ok(false);
    }
    store.check_place()?;
    Ok(backup_is_due(store.folder(), find_today())
        || store.may_hold_too_much(texts_max)?
        || store.is_worth_compacting()?)
}

/// Runs the maintenance that is due. The daily backup is made before anything is deleted, because the session may have had no
/// screen and made no backup, or may have been too short to finish one. Returns the store unless the store was compacted, which
/// closes it.
fn put_in_order(mut store: Store, texts_max: u64) -> Result<Option<Store>, Failure> {
    if let Err(error) = store.back_up_daily(find_today()) {
        console::tell(&format!("no backup was made today: {}", error.reason_of_backup()));
    }
    if store.may_hold_too_much(texts_max)? {
        match store.shed_texts(texts_max) {
            Err(error) => console::tell(&format!("old texts could not be deleted: {error}")),
            Ok(shed) if shed.entries > 0 => console::tell(&format!(
                "the texts of {} were deleted (unstarred, read longest ago): there were {} MB, and [history] texts_mb is {}",
                counted_words(shed.entries, "entry", "entries"),
                shed.before / (1024 * 1024),
                texts_max / (1024 * 1024)
            )),
            Ok(_) => {}
        }
    }
    // Compact if the store's log is too long (STORE 3) and there is enough free space for the compacted store.
    let compacts = store.is_worth_compacting()? && store.check_room_to_compact().is_ok();
    if compacts { compact_store(store).map(|()| None) } else { Ok(Some(store)) }
}
