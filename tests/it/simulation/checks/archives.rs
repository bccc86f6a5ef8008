//! Archives that are here are never asked for again, unless the reader wants the whole history read anew (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::state::Engine;
use backissue::history::FeedKey;

/// What was read of all archives.
#[derive(Debug, Default)]
pub struct Archives {
    /// Those that were read and kept, and those that are not durable yet.
    kept: BTreeSet<(FeedKey, String)>,
    unwritten: BTreeSet<(FeedKey, String)>,
    /// The epoch of the last walk of each feed that reads everything anew.
    rereading: BTreeMap<FeedKey, u32>,
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
        for feed in engine.feeds.values().filter(|feed| feed.history.run.rereading) {
            let epoch = feed.history.epoch;
            if self.rereading.insert(feed.key, epoch) == Some(epoch) {
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
