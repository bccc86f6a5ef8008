//! What the removal of subscriptions here removes from the servers of accounts.

use super::subscription::Subscription;
use crate::engine::state::Engine;
use backissue_core::accounts::subscriptions::{Leaving, needs_answer};
use backissue_core::history::FeedKey;

/// The subscriptions that an account loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedThere {
    /// Name of the account.
    pub account: String,
    /// Number of its subscriptions that are removed, with those that were removed here since the last sync.
    pub count: usize,
    /// Number of its subscriptions before.
    pub of: usize,
}

impl RemovedThere {
    /// Checks whether the user must be asked first.
    pub const fn needs_answer(&self) -> bool {
        needs_answer(self.count, self.of)
    }
}

/// Returns what each account loses if these feeds are unsubscribed.
pub fn removed_there(engine: &Engine, feeds: &[FeedKey]) -> Vec<RemovedThere> {
    let mut found: Vec<RemovedThere> = Vec::new();
    for feed in feeds.iter().filter_map(|feed| engine.feeds.get(feed)) {
        let Some(account) = &feed.record.feed_settings.account else { continue };
        if let Some(known) = found.iter_mut().find(|known| known.account == *account) {
            known.count = known.count.saturating_add(1);
            continue;
        }
        let is_its =
            |feed: &&Subscription| feed.record.feed_settings.account.as_ref() == Some(account);
        let waits = |feed: &&Subscription| feed.record.leaving == Leaving::Removed;
        let waiting = engine.ended.values().filter(is_its).filter(waits).count();
        let of = engine.feeds.values().filter(is_its).count().saturating_add(waiting);
        let count = waiting.saturating_add(1);
        found.push(RemovedThere { account: account.clone(), count, of });
    }
    found
}

/// Describes what accounts lose, as the end of a sentence; empty if they lose nothing.
pub fn also_there(there: &[RemovedThere]) -> String {
    let account = |it: &RemovedThere| match it.count {
        1 => format!(", also on '{}'", it.account),
        count => format!(", also on '{}' ({count} of its {} feeds)", it.account, it.of),
    };
    there.iter().map(account).collect()
}
