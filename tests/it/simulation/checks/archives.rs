//! Archives already read are never requested again unless the reader wants the whole history reread (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::state::Engine;
use backissue_core::history::FeedKey;

/// The archives that were read.
#[derive(Debug, Default)]
pub struct Archives {
    /// Archives read and stored, and those not durable yet.
    kept: BTreeSet<(FeedKey, String)>,
    unwritten: BTreeSet<(FeedKey, String)>,
    /// The last archive walk that rereads each feed's history: its epoch, and whether it continues.
    rereading: BTreeMap<FeedKey, (u32, bool)>,
    /// Feeds whose history is to be reread.
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

    /// Checks whether an archive need not be requested again.
    pub fn is_kept(&self, feed: FeedKey, url: &str) -> bool {
        self.kept.contains(&(feed, url.to_owned()))
    }

    /// Records a request to reread a feed's history.
    pub fn reread(&mut self, feed: FeedKey) {
        self.wanted.insert(feed);
    }

    /// Forgets the known archives when a reread starts, whether it is one walk or several because of a limit. `by_hand`: a person
    /// has just done something. Returns an error if the reread is wrong.
    pub fn note_rereading(&mut self, engine: &Engine, by_hand: bool) -> Result<(), String> {
        for feed in engine.feeds.values() {
            let (run, epoch) = (feed.history.run.rereading, feed.history.epoch);
            let last = self.rereading.get(&feed.key).copied();
            if !run {
                // A crash may restore the state before the reread; the next reread then has the same epoch.
                if last.is_some_and(|(last, _)| last > epoch) {
                    self.rereading.remove(&feed.key);
                }
                self.rereading.entry(feed.key).and_modify(|(_, goes_on)| *goes_on = false);
                continue;
            }
            self.rereading.insert(feed.key, (epoch, true));
            // A new link to the newest archive also starts an epoch, and a crash can return to a walk that had ended.
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
