//! Archives that are here are never asked for again, unless the reader wants the whole history read anew (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::state::Engine;
use backissue_core::history::FeedKey;

/// What was read of all archives.
#[derive(Debug, Default)]
pub struct Archives {
    /// Those that were read and kept, and those that are not durable yet.
    kept: BTreeSet<(FeedKey, String)>,
    unwritten: BTreeSet<(FeedKey, String)>,
    /// The last walk of each feed that reads everything anew: its epoch, and whether it goes on.
    rereading: BTreeMap<FeedKey, (u32, bool)>,
    /// Feeds of which somebody wants that.
    wanted: BTreeSet<FeedKey>,
}

impl Archives {
    /// An archive came and can be read.
    pub fn read(&mut self, feed: FeedKey, url: &str) {
        self.unwritten.insert((feed, url.to_owned()));
    }

    pub fn all_is_durable(&mut self) {
        self.kept.append(&mut self.unwritten);
    }

    pub fn forget_unwritten(&mut self) {
        self.unwritten.clear();
    }

    /// Whether an archive need not be asked for any more.
    pub fn is_kept(&self, feed: FeedKey, url: &str) -> bool {
        self.kept.contains(&(feed, url.to_owned()))
    }

    /// Somebody wants the history of a feed read anew.
    pub fn reread(&mut self, feed: FeedKey) {
        self.wanted.insert(feed);
    }

    /// The command to read a history anew forgets which archives are here, whether it asks for them in one walk or, where
    /// a limit ends that, in later ones. `by_hand`: somebody has just done something. The error is what is wrong.
    pub fn note_rereading(&mut self, engine: &Engine, by_hand: bool) -> Result<(), String> {
        for feed in engine.feeds.values() {
            let (run, epoch) = (feed.history.run.rereading, feed.history.epoch);
            let last = self.rereading.get(&feed.key).copied();
            if !run {
                // A crash may go back to before it began: the next one has the same epoch.
                if last.is_some_and(|(last, _)| last > epoch) {
                    self.rereading.remove(&feed.key);
                }
                self.rereading.entry(feed.key).and_modify(|(_, goes_on)| *goes_on = false);
                continue;
            }
            self.rereading.insert(feed.key, (epoch, true));
            // A new link to the newest archive begins an epoch too; and a crash goes back to a walk that had ended.
            let goes_on = last.is_some_and(|(_, goes_on)| goes_on);
            let is_known = last.is_some_and(|(last, _)| last == epoch);
            if is_known || (goes_on && !self.wanted.contains(&feed.key)) {
                continue;
            }
            if !self.wanted.remove(&feed.key) && !by_hand {
                return Err(format!("nobody wants the history of feed {} read anew", feed.key));
            }
            self.kept.retain(|archive| archive.0 != feed.key);
            self.unwritten.retain(|archive| archive.0 != feed.key);
        }
        Ok(())
    }
}
