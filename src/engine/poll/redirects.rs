//! Decides whether redirects change the stored address of a feed, and whether the document that they lead to is used (SPEC D.3).

use chrono::{DateTime, Utc};

use super::fetch::Hop;
use crate::engine::feeds::subscription::{
    FORMER_MAX, FeedState, FormerAddress, ProposedFor, ProposedMove, Subscription,
    SubscriptionRecord,
};
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::{FeedDocument, NewLocation};
use backissue_core::history::address::differ_only_in_session;
use backissue_core::history::kind::first_page_elsewhere;
use backissue_core::history::polled::{Belonging, KnownFeed, Route, RouteMove, judge_route};

/// Returns the target of the permanent redirects before the first temporary redirect. Only this target may replace the requested
/// address. Returns `None` if the redirects lead back to the requested address, for example after setting a cookie.
pub fn permanent<'a>(hops: &'a [Hop], asked: &str) -> Option<&'a str> {
    let run = hops.iter().take_while(|hop| matches!(hop.status, 301 | 308));
    let comes_back = hops.last().is_some_and(|hop| hop.to == asked);
    run.last().filter(|_| !comes_back).map(|hop| hop.to.as_str())
}

/// What to do with an address of the feed that differs from the stored address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moving {
    /// Replace the stored address by this address.
    Now(String),
    /// Propose this address to the user.
    Ask(String, ProposedFor),
}

/// Verdict on a document that was received directly or after redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectVerdict {
    /// What to do with the address that the redirects lead to; `None` for nothing.
    pub moving: Option<Moving>,
    /// `true` if the document may be read.
    pub is_read: bool,
    /// `true` if the document belongs to the feed, as far as can be determined.
    pub is_proven: bool,
}

/// Decides what to do with redirects, and whether the document at their end belongs to the feed and may be read. `answered` is the
/// address that responded. The function `taken` returns whether another subscription has an address.
pub fn classify_redirect(
    subscription: &Subscription,
    hops: &[Hop],
    answered: &str,
    document: &FeedDocument,
    taken: &dyn Fn(&str) -> bool,
) -> RedirectVerdict {
    let Subscription { record, state, history, .. } = subscription;
    let permanent = permanent(hops, &record.url).filter(|to| *to != record.url);
    let permanent = permanent.filter(|to| !names_another_session(record, to));
    let feed = KnownFeed {
        url: &record.url,
        answered: &state.validators.url,
        id: state.feed_id.as_deref(),
        windows: &history.windows,
        is_read: state.facts.last_ok.is_some(),
    };
    let route = Route { answered, is_redirected: !hops.is_empty(), permanent };
    let Belonging { moving, is_read, is_proven } = judge_route(&feed, &route, document);
    let target = permanent.unwrap_or(answered).to_owned();
    let moving = match moving {
        RouteMove::Stay => None,
        RouteMove::Replace if !taken(&target) => Some(Moving::Now(target)),
        RouteMove::Replace | RouteMove::ProposeTarget => {
            Some(Moving::Ask(target, ProposedFor::Move))
        }
        RouteMove::ProposeAnswered => Some(Moving::Ask(answered.to_owned(), ProposedFor::Redirect)),
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

/// Returns another address of the feed that a document names and that the user must confirm: `itunes:new-feed-url`, or the first
/// page if the document is a later page (SPEC C.2 rule 6). `answered` is the address of the document.
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
    // A publisher never names a file or a program of this machine.
    let is_web = FeedSource::of(to) == FeedSource::Web;
    let is_here = to == record.url || to == answered || record.declined.as_deref() == Some(to);
    (is_web && !is_here).then(|| Moving::Ask(to.to_owned(), because))
}

/// Returns the move after a permanent redirect whose target responded with a 304. The validators came from the target, so the
/// document was already read there (SPEC D.3, last row).
pub fn classify_unchanged(
    subscription: &Subscription,
    to: &str,
    answered: &str,
    taken: bool,
) -> Option<Moving> {
    let (record, state) = (&subscription.record, &subscription.state);
    let asked = state.proposed.as_ref().is_some_and(|proposed| proposed.to == to);
    let declined = record.declined.as_deref() == Some(to);
    let known = state.validators.url == answered && to == answered;
    let is_session = names_another_session(record, to);
    let is_new = to != record.url && !asked && !declined && !taken && !is_session;
    (is_new && known).then(|| Moving::Now(to.to_owned()))
}

/// Checks whether an address differs only in the parts that name a session from the address of a feed and from its last two former
/// ones. A server that redirects to a new session each time would move the feed at each poll (SPEC D.3).
pub fn names_another_session(record: &SubscriptionRecord, to: &str) -> bool {
    let former = record.former.iter().rev().filter(|former| !former.by_user).take(2);
    let known: Vec<&str> = former.map(|former| former.url.as_str()).chain([&*record.url]).collect();
    known.len() > 2 && known.iter().all(|url| differ_only_in_session(url, to))
}

/// Replaces the stored address of a feed and adds the earlier address to the former addresses.
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
    record.former.push(FormerAddress { url: from, until: now, public, by_user: false });
    (record.declined, state.proposed) = (None, None);
}

/// Proposes another address of the feed to the user.
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
