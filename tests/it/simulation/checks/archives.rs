//! Archives that were read are never requested again unless the user wants the whole history reread (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::state::Engine;
use backissue_core::history::FeedKey;

/// What the observer knows of the archives that the program read.
#[derive(Debug, Default)]
pub struct Archives {
    /// The archives that were read: those already stored, and those not durable yet.
    kept: BTreeSet<(FeedKey, String)>,
    unwritten: BTreeSet<(FeedKey, String)>,
    /// The last walk of each feed that rereads its history: its epoch, and whether the walk continues.
    rereading: BTreeMap<FeedKey, (u32, bool)>,
    /// Feeds whose history a person wants reread.
    wanted: BTreeSet<FeedKey>,
}

impl Archives {
    /// Records that an archive arrived and is readable.
    pub fn read(&mut self, feed: FeedKey, url: &str) {
        self.unwritten.insert((feed, url.to_owned()));
    }

    pub fn all_is_durable(&mut self) {
        self.kept.append(&mut self.unwritten);
    }

    pub fn forget_unwritten(&mut self) {
        self.unwritten.clear();
    }

    /// Checks whether an archive was read and must not be requested again.
    pub fn is_kept(&self, feed: FeedKey, url: &str) -> bool {
        self.kept.contains(&(feed, url.to_owned()))
    }

    /// Records that a person wants a feed's history reread.
    pub fn reread(&mut self, feed: FeedKey) {
        self.wanted.insert(feed);
    }

    /// When a reread of a feed's history starts, forgets the feed's known archives. A reread may take several walks because of
    /// the daily limit. `by_hand`: the last input came from a person. Returns an error if nobody wanted the reread.
    pub fn note_rereading(&mut self, engine: &Engine, by_hand: bool) -> Result<(), String> {
        for feed in engine.feeds.values() {
            let (run, epoch) = (feed.history.run.rereading, feed.history.epoch);
            let last = self.rereading.get(&feed.key).copied();
            if !run {
                // A crash may restore the state before the reread; the next reread then has the same epoch, so this one is
                // forgotten.
                if last.is_some_and(|(last, _)| last > epoch) {
                    self.rereading.remove(&feed.key);
                }
                self.rereading.entry(feed.key).and_modify(|(_, goes_on)| *goes_on = false);
                continue;
            }
            self.rereading.insert(feed.key, (epoch, true));
            // A new link to the newest archive also starts an epoch, and after a crash a walk that had ended may be continued.
            let goes_on = last.is_some_and(|(_, goes_on)| goes_on);
            let is_known = last.is_some_and(|(last, _)| last == epoch);
            if is_known || (goes_on && !self.wanted.contains(&feed.key)) {
                continue;
            }
            if !self.wanted.remove(&feed.key) && !by_hand {
                return Err(format!("nobody wants the history of feed {} reread", feed.key));
            }
            self.kept.retain(|archive| archive.0 != feed.key);
            self.unwritten.retain(|archive| archive.0 != feed.key);
        }
        Ok(())
    }
}
