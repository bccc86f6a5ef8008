//! Creates the HTTP request of a poll: its validators, its kind, and the limits on where it may lead (SPEC D.1, D.4, D.6, D.7).
//! Decides whether redirects change the stored address of a feed, and whether the document that they lead to is used (SPEC D.3).

use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::{FeedDocument, NewLocation};
use backissue_core::history::FeedKey;
use backissue_core::history::address::differ_only_in_session;
use backissue_core::history::kind::first_page_elsewhere;
use backissue_core::history::polled::{Belonging, KnownFeed, Route, RouteMove, judge_route};
use backissue_core::schedule::FeedStatus;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::fetch::{AddressSource, FetchId, FetchRequest, Hop, RequestKind, Validators};
use super::poll_log::PollCause;
use crate::engine::feeds::subscription::{
    ArchiveAddress, FORMER_MAX, FeedState, FormerAddress, GivenBy, ProposedFor, ProposedMove,
    Subscription, SubscriptionRecord,
};
use crate::engine::politeness::server_habits::Accepting;

/// Reason to repeat a request within one poll (SPEC D.2, D.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Repeat the request on a new connection (421).
    Same,
    /// Repeat the request without validators and bypass caches (412, 416, or a 304 to an unconditional request).
    Fresh,
    /// Repeat the request with the other `Accept` header (406, 415), and without validators, which belong to the earlier one.
    OtherFormats,
    /// Repeat the request without a request for a delta, because the server responded to that with a 400.
    NoDelta,
    /// Repeat the request without a request for a delta, because the received delta is empty, truncated, or not a feed.
    BrokenDelta,
    /// Repeat the request without validators, because the received delta cannot be used.
    Whole,
    /// Repeat the request without validators, because entries seem to be missing, perhaps only because the request had validators
    /// (SPEC C.8.1).
    Verify,
}

impl Again {
    /// Returns the number of days for which no further delta is requested. Returns `None` if deltas may still be requested.
    pub const fn days_without_deltas(self) -> Option<i64> {
        match self {
            Self::NoDelta | Self::Whole => Some(30),
            Self::BrokenDelta => Some(7),
            Self::Same | Self::Fresh | Self::OtherFormats | Self::Verify => None,
        }
    }
}

/// The parts of a poll's request that are needed to classify the response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// Kind of request.
    pub kind: RequestKind,
    /// `ETag` that was sent to the address that supplied it.
    pub etag: Option<Vec<u8>>,
    /// Address that was requested: the stored address of the feed, or the address of its current document.
    pub url: String,
    /// `true` if other sites responded recently, which shows that the network works.
    pub others_answer: bool,
    /// Number of entries of a delta that this request verifies (SPEC D.7).
    pub verifies: Option<u32>,
    /// `true` if the document was requested only for the current document that it names, which cannot be read now.
    pub is_aside: bool,
}

/// Creates the request of a poll and changes the state of the feed. The caller must write the changed state before it sends the
/// request.
pub fn request(
    subscription: &mut Subscription,
    id: FetchId,
    cause: PollCause,
    again: Option<Again>,
    now: DateTime<Utc>,
) -> (FetchRequest, Sent) {
    let forced = cause == PollCause::Forced && !matches!(again, Some(Again::Whole | Again::Verify));
    // Send no validators if the document names a current document, because a 304 would not state the address of the current
    // document.
    let reads_archive = reads_archive_again(subscription) || subscription.state.followed.is_some();
    let state = &mut subscription.state;
    if again == Some(Again::OtherFormats) {
        state.habits.accepting = state.habits.accepting.other();
    }
    let drops = [Again::Fresh, Again::OtherFormats, Again::Whole, Again::Verify];
    if forced || again.is_some_and(|again| drops.contains(&again)) {
        // Remove the validators from the state as well, so that later requests do not send them (SPEC D.4 rule 8).
        state.validators = Validators::default();
    }
    let stuck =
        again.is_none() && !forced && state.habits.is_stuck(now, state.facts.learned.as_ref());
    if stuck {
        state.habits.asked_whole(now);
    }
    let known =
        (!stuck && !reads_archive).then(|| state.habits.to_send(&state.validators, now)).flatten();
    // The validators may come from the target of a redirect, so the network layer sends them only to the address that supplied
    // them.
    let etag = known.as_ref().and_then(|known| known.etag.clone());
    let own_tag = etag.is_some() && state.validators.url == subscription.record.url;
    let kind = if state.habits.accepting == Accepting::Anything {
        RequestKind::AnyFormat
    } else if forced || again == Some(Again::Fresh) {
        RequestKind::Fresh
    } else if own_tag && again.is_none() && state.habits.takes_deltas(now) {
        RequestKind::Delta
    } else {
        RequestKind::Usual
    };
    let record = &subscription.record;
    let url = record.url.clone();
    // If the page that named the feed links to http, allow http, because a redirect cannot make the address less secure (SPEC D.9).
    let is_given = record.named_by.is_none() && !record.given_by.is_some_and(GivenBy::is_supplied);
    let is_named = !is_given && last_move(record).is_none();
    let allow_insecure =
        record.feed_settings.allow_insecure || (is_named && url.starts_with("http:"));
    let request = FetchRequest {
        id,
        url: url.clone(),
        validators: known,
        kind,
        address_source: address_source(record),
        allow_insecure,
        waits_for_store: true,
        redirect_pause_ms: 0,
    };
    (request, Sent { kind, etag, url, ..Sent::default() })
}

/// Checks whether the stored address is an archive that must be requested without validators, so that the current document that it
/// names can be requested (SPEC C.2 rule 3).
fn reads_archive_again(subscription: &Subscription) -> bool {
    let Subscription { record, state, .. } = subscription;
    let is_open = |archive: &ArchiveAddress| {
        archive.current.is_some() && archive.current != record.declined && state.proposed.is_none()
    };
    state.facts.standing == FeedStatus::Archive && state.archive.as_ref().is_none_or(is_open)
}

/// Returns the last move of the feed, unless the user chose the address after it.
fn last_move(record: &SubscriptionRecord) -> Option<&FormerAddress> {
    record.former.last().filter(|former| !former.by_user)
}

/// Returns the origin of the stored address: the user, an account, a document that named the address, or a move of the feed.
fn address_source(record: &SubscriptionRecord) -> AddressSource {
    let moved = last_move(record).map(|former| (&former.url, former.public));
    let named = record.named_by.as_ref().map(|named| (&named.url, named.public));
    let by_account = record
        .given_by
        .is_some_and(GivenBy::is_supplied)
        .then(|| AddressSource::Supplied { by: String::new(), public: true });
    let supplied =
        moved.or(named).map(|(by, public)| AddressSource::Supplied { by: by.clone(), public });
    supplied.or(by_account).unwrap_or(AddressSource::Typed)
}

/// A request to poll feeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollRequest {
    /// Feeds to poll; `None` means all feeds.
    pub feeds: Option<Vec<FeedKey>>,
    /// Kind of poll.
    pub kind: PollKind,
    /// `true` to fetch archives after the poll, as after a scheduled poll.
    #[serde(default = "yes")]
    pub archives: bool,
}

const fn yes() -> bool {
    true
}

/// Kind of manual poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollKind {
    /// Poll the feeds that are due.
    Due,
    /// Poll the feeds that a manual refresh may poll (SPEC B.8).
    Allowed,
    /// Poll the same feeds as [`Self::Allowed`], but without validators.
    Forced,
}

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
