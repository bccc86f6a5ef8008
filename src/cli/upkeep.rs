//! What keeps the store in order at the end of a session: the bound on texts, compaction, and the backup of the day.

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Options;
use super::session::{self, Failure};
use crate::app::listing::day_of;
use crate::app::settings::Settings;
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

/// What the store needs when a session ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Upkeep {
    /// The log is too long (STORE 3).
    compaction: bool,
    /// Bytes of texts to keep (SPEC C.10), if there may be more.
    texts_max: Option<u64>,
}

impl Upkeep {
    /// Asked while the store is open: the end of a session that needs nothing must not wait for it to open again.
    pub(super) fn due(store: &Store, settings: &Settings) -> Result<Self, Failure> {
        let max = u64::from(settings.history.texts_mb).saturating_mul(1024 * 1024);
        let texts_max = store.may_hold_too_much(max)?.then_some(max);
        Ok(Self { compaction: store.is_worth_compacting()?, texts_max })
    }

    /// Does what is due, the backup of the day before anything is dropped: a session without a screen has made none, and
    /// a short one may have interrupted it.
    pub(super) fn at_the_end(self, options: &Options) -> Result<(), Failure> {
        let today = day_of(clock::precise_now(), clock::zone());
        if backup_is_due(&session::data_dir(options)?, today) {
            let made = session::store(options)?.back_up_daily(today);
            if let Err(error) = made {
                console::tell(&format!("no backup was made today: {error}"));
            }
        }
        if let Some(max) = self.texts_max {
            match session::store(options)?.shed_texts(max) {
                Err(error) => console::tell(&format!("no texts were dropped: {error}")),
                Ok(shed) if shed.entries > 0 => console::tell(&format!(
                    "texts of {} entries, the oldest read ones without a star, were dropped: there were {} MB, and [history] texts_mb is {}",
                    shed.entries,
                    shed.before / (1024 * 1024),
                    max / (1024 * 1024)
                )),
                Ok(_) => {}
            }
        }
        if self.compaction { compact(session::store(options)?) } else { Ok(()) }
    }
}
