//! What keeps the store in order between sessions: the backup of the day, the bound on texts, and compaction.

use chrono::NaiveDate;
use indicatif::{ProgressBar, ProgressStyle};

use super::session::{self, Failure};
use crate::engine::calendar::day_of;
use crate::engine::settings::Settings;
use crate::io::store::{Store, backup_is_due};
use crate::io::{clock, console};
use backissue_core::schedule::counted_words;

/// Compacts the store and says what it gained.
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
        "the store was compacted: {} MB of log held {} MB of records",
        done.before / 1_000_000,
        done.live / 1_000_000
    ));
    Ok(())
}

/// Does what the store needs at the end of a session; the system or the reader may interrupt it.
pub(super) fn at_the_end(store: Store, settings: &Settings) -> Result<(), Failure> {
    let texts_max = texts_max(settings);
    if !is_due(&store, texts_max)? {
        return Ok(());
    }
    session::run_interruptibly(move || put_in_order(store, texts_max).map(drop))
}

/// As [`at_the_end`], for a session that lasts and has to end quickly; gives the store back if it is still open.
pub(super) fn at_the_start(store: Store, settings: &Settings) -> Result<Option<Store>, Failure> {
    if store.only_reads() { Ok(Some(store)) } else { put_in_order(store, texts_max(settings)) }
}

/// Bytes of texts to keep (SPEC C.10).
pub(super) fn texts_max(settings: &Settings) -> u64 {
    u64::from(settings.history.texts_mb).saturating_mul(1024 * 1024)
}

fn find_today() -> NaiveDate {
    day_of(clock::precise_now(), clock::zone())
}

/// Whether there is anything to do. Reads no record.
fn is_due(store: &Store, texts_max: u64) -> Result<bool, Failure> {
    // A copy for reading goes with the session; the store itself is put in order when it can be written.
    if store.only_reads() {
        return Ok(false);
    }
    Ok(backup_is_due(store.folder(), find_today())
        || store.may_hold_too_much(texts_max)?
        || store.is_worth_compacting()?)
}

/// Does what is due, the backup of the day before anything is dropped: a session without a screen has made none, and a
/// short one may have interrupted it. Gives the store back unless it was compacted.
fn put_in_order(mut store: Store, texts_max: u64) -> Result<Option<Store>, Failure> {
    if let Err(error) = store.back_up_daily(find_today()) {
        console::tell(&format!("no backup was made today: {}", error.reason_of_backup()));
    }
    if store.may_hold_too_much(texts_max)? {
        match store.shed_texts(texts_max) {
            Err(error) => console::tell(&format!("no texts were dropped: {error}")),
            Ok(shed) if shed.entries > 0 => console::tell(&format!(
                "the texts of {} without a star, the oldest read ones, were dropped: there were {} MB, and [history] texts_mb is {}",
                counted_words(shed.entries, "entry", "entries"),
                shed.before / (1024 * 1024),
                texts_max / (1024 * 1024)
            )),
            Ok(_) => {}
        }
    }
    // The log is too long (STORE 3). Where there is no room for a shorter one it stays.
    let compacts = store.is_worth_compacting()? && store.check_room_to_compact().is_ok();
    if compacts { compact_store(store).map(|()| None) } else { Ok(Some(store)) }
}
