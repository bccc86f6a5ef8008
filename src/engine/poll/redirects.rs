//! What a permanent redirect means for the address that is stored (SPEC D.3).

use chrono::{DateTime, Utc};

use super::fetch::Hop;
use crate::engine::feeds::subscription::{
    FORMER_MAX, FeedState, FormerAddress, ProposedMove, Subscription, SubscriptionRecord,
};
use crate::feed::{FeedDocument, NewLocation};

/// The address reached by the leading run of permanent redirects: the only one that may replace the one that was asked. A
/// chain that ends where it began, with a cookie, replaces nothing.
pub fn permanent<'a>(hops: &'a [Hop], asked: &str) -> Option<&'a str> {
    let run = hops.iter().take_while(|hop| matches!(hop.status, 301 | 308));
    let comes_back = hops.last().is_some_and(|hop| hop.to == asked);
    run.last().filter(|_| !comes_back).map(|hop| hop.to.as_str())
}

/// What to do about a permanent redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moving {
    /// Store the new address.
    Now(String),
    /// Store it if the document shares an entry with what is kept; else ask the reader.
    IfShared(String),
    /// Ask the reader.
    Ask(String),
}

/// Judges a permanent redirect by the document at its end, before the document is merged. `taken`: another
/// subscription has that address already.
pub fn judge(
    subscription: &Subscription,
    to: &str,
    document: &FeedDocument,
    taken: bool,
) -> Option<Moving> {
    let record = &subscription.record;
    if to == record.url || record.declined.as_deref() == Some(to) {
        return None;
    }
    // A feed without entries proves nothing.
    let holds_something = !document.entries.is_empty() || document.history.complete;
    let same_id = document.head.id.is_some() && document.head.id == subscription.state.feed_id;
    let to = to.to_owned();
    Some(if taken || !holds_something {
        Moving::Ask(to)
    } else if same_id || same_host(&record.url, &to) {
        Moving::Now(to)
    } else {
        Moving::IfShared(to)
    })
}

/// A move that the document itself states, of which the reader is asked: `itunes:new-feed-url`. `answered`: the address
/// that the document came from.
pub fn stated_move(
    subscription: &Subscription,
    answered: &str,
    document: &FeedDocument,
) -> Option<Moving> {
    let Some(NewLocation::At(to)) = &document.new_location else { return None };
    let record = &subscription.record;
    let is_here = *to == record.url || to == answered || record.declined.as_ref() == Some(to);
    (!is_here).then(|| Moving::Ask(to.clone()))
}

/// Judges a permanent redirect that ends in a 304: the validators were those of its end, so what it would send
/// is what is kept (SPEC D.3, last row).
pub fn judge_unchanged(
    subscription: &Subscription,
    to: &str,
    answered: &str,
    taken: bool,
) -> Option<Moving> {
    let (record, state) = (&subscription.record, &subscription.state);
    let asked = state.proposed.as_ref().is_some_and(|proposed| proposed.to == to);
    let declined = record.declined.as_deref() == Some(to);
    let known = state.validators.url == answered && to == answered;
    (to != record.url && known && !asked && !declined && !taken).then(|| Moving::Now(to.to_owned()))
}

/// Whether two addresses name the same host.
pub fn same_host(a: &str, b: &str) -> bool {
    let host = |text: &str| url::Url::parse(text).ok()?.host_str().map(str::to_owned);
    host(a).is_some() && host(a) == host(b)
}

/// Puts the new address in the place of the stored one.
pub fn replace_address(
    record: &mut SubscriptionRecord,
    state: &mut FeedState,
    now: DateTime<Utc>,
    to: String,
    public: bool,
) {
    let from = std::mem::replace(&mut record.url, to);
    if record.former.len() >= FORMER_MAX {
        record.former.remove(0);
    }
    record.former.push(FormerAddress { url: from, until: now, public });
    (record.declined, state.proposed) = (None, None);
}

/// Asks the reader about a move.
pub fn propose(state: &mut FeedState, now: DateTime<Utc>, to: String, public: bool) {
    if state.proposed.as_ref().is_none_or(|proposed| proposed.to != to) {
        state.proposed = Some(ProposedMove { to, public, since: now });
    }
}

/// A move that may be made once the merge is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMove {
    /// Where to.
    pub to: String,
    /// It was said by a public address.
    pub public: bool,
}
