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
    /// Ask the reader.
    Ask(String),
}

/// Decides what to do about a permanent redirect, and whether the document at its end belongs to this feed and may be
/// read. `taken`: another subscription already has that address.
pub fn judge(
    subscription: &Subscription,
    to: &str,
    document: &FeedDocument,
    taken: bool,
) -> (Option<Moving>, bool) {
    let Subscription { record, state, .. } = subscription;
    if to == record.url {
        return (None, true);
    }
    let is_proven = is_same_feed(subscription, to, document);
    // As long as nothing is kept there is nothing that another feed could spoil.
    let is_read = is_proven || state.facts.last_ok.is_none();
    let is_declined = record.declined.as_deref() == Some(to);
    let moves = if is_proven && !taken { Moving::Now } else { Moving::Ask };
    ((!is_declined).then(|| moves(to.to_owned())), is_read)
}

/// Whether the document of an answer may be read, wherever permanent redirects from the stored address led.
pub fn may_be_read(subscription: &Subscription, hops: &[Hop], document: &FeedDocument) -> bool {
    let to = permanent(hops, &subscription.record.url);
    to.is_none_or(|to| judge(subscription, to, document, false).1)
}

/// Whether a document proves that it is the same feed (SPEC D.3). One without entries proves nothing.
fn is_same_feed(subscription: &Subscription, to: &str, document: &FeedDocument) -> bool {
    let Subscription { record, state, history, .. } = subscription;
    let holds_something = !document.entries.is_empty() || document.history.complete;
    let same_id = document.head.id.is_some() && document.head.id == state.feed_id;
    holds_something && (same_id || same_host(&record.url, to) || history.windows.shares(document))
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
