//! What redirects mean for the address that is stored, and for the document they lead to (SPEC D.3).

use chrono::{DateTime, Utc};

use super::fetch::Hop;
use crate::engine::feeds::subscription::{
    FORMER_MAX, FeedState, FormerAddress, ProposedFor, ProposedMove, Subscription,
    SubscriptionRecord,
};
use backissue_core::feed::{FeedDocument, NewLocation};
use backissue_core::history::kind::first_page_elsewhere;

/// The address reached by the leading run of permanent redirects: the only one that may replace the one that was asked. A
/// chain that ends where it began, with a cookie, replaces nothing.
pub fn permanent<'a>(hops: &'a [Hop], asked: &str) -> Option<&'a str> {
    let run = hops.iter().take_while(|hop| matches!(hop.status, 301 | 308));
    let comes_back = hops.last().is_some_and(|hop| hop.to == asked);
    run.last().filter(|_| !comes_back).map(|hop| hop.to.as_str())
}

/// What to do about another address than the stored one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moving {
    /// Store the new address.
    Now(String),
    /// Ask the reader.
    Ask(String, ProposedFor),
}

/// What a document is worth that may have come through redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectVerdict {
    /// What to do about the address that they lead to.
    pub moving: Option<Moving>,
    /// It may be read.
    pub is_read: bool,
    /// It is the feed's, as far as can be told.
    pub is_proven: bool,
}

/// Decides what to do about the redirects to a document, and whether it belongs to this feed and may be read. `answered`:
/// where it came from; `taken`: whether another subscription already has an address.
pub fn judge(
    subscription: &Subscription,
    hops: &[Hop],
    answered: &str,
    document: &FeedDocument,
    taken: &dyn Fn(&str) -> bool,
) -> RedirectVerdict {
    let Subscription { record, state, .. } = subscription;
    let target = permanent(hops, &record.url).filter(|to| *to != record.url);
    let known_hosts = [&record.url, &state.validators.url];
    let is_near = known_hosts.into_iter().any(|known| same_host(known, answered));
    let is_document_proven = proves_itself(subscription, document, is_near);
    // Where nothing moves, a feed may be empty for a while.
    let is_proven = hops.is_empty() || is_document_proven || (target.is_none() && is_near);
    // As long as nothing is kept there is nothing that another feed could spoil.
    let is_read = is_proven || state.facts.last_ok.is_none();
    let moving = match target {
        Some(to) if is_document_proven && !taken(to) => Some(Moving::Now(to.to_owned())),
        Some(to) => Some(Moving::Ask(to.to_owned(), ProposedFor::Move)),
        None if is_read => None,
        None => Some(Moving::Ask(answered.to_owned(), ProposedFor::Redirect)),
    };
    let is_declined = |moving: &Moving| record.declined.as_deref() == Some(moving.to());
    RedirectVerdict { moving: moving.filter(|moving| !is_declined(moving)), is_read, is_proven }
}

impl Moving {
    fn to(&self) -> &str {
        match self {
            Self::Now(to) | Self::Ask(to, _) => to,
        }
    }
}

/// Whether a document proves that it is the same feed (SPEC D.3). One without entries proves nothing. `is_near`: it comes
/// from a host where the feed was read before.
fn proves_itself(subscription: &Subscription, document: &FeedDocument, is_near: bool) -> bool {
    let Subscription { state, history, .. } = subscription;
    let holds_something = !document.entries.is_empty() || document.history.complete;
    let same_id = document.head.id.is_some() && document.head.id == state.feed_id;
    holds_something && (same_id || is_near || history.windows.shares(document))
}

/// Another address that the document itself names and of which the reader is asked: `itunes:new-feed-url`, or the first
/// page where this is a later one (SPEC C.2 rule 6). `answered`: the address that the document came from.
pub fn stated_move(
    subscription: &Subscription,
    answered: &str,
    document: &FeedDocument,
) -> Option<Moving> {
    let record = &subscription.record;
    let (to, because) = match &document.new_location {
        Some(NewLocation::At(to)) => (to.as_str(), ProposedFor::Move),
        Some(NewLocation::Gone) | None => {
            (first_page_elsewhere(document, &[&record.url, answered])?, ProposedFor::LaterPage)
        }
    };
    let is_here = to == record.url || to == answered || record.declined.as_deref() == Some(to);
    (!is_here).then(|| Moving::Ask(to.to_owned(), because))
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

/// Asks the reader whether to read the feed from another address.
pub fn propose(
    state: &mut FeedState,
    now: DateTime<Utc>,
    to: String,
    because: ProposedFor,
    public: bool,
) {
    if state.proposed.as_ref().is_none_or(|proposed| proposed.to != to) {
        state.proposed = Some(ProposedMove { to, because, public, since: now });
    }
}
