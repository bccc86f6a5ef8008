//! The request of a poll: which validators, which kind of request, how far it may lead (SPEC D.1, D.4, D.6, D.7).

use chrono::{DateTime, Utc};

use super::fetch::{AddressSource, FetchId, FetchRequest, RequestKind, Validators};
use super::poll_log::PollCause;
use crate::engine::feeds::subscription::{ArchiveAddress, Subscription, SubscriptionRecord};
use crate::engine::politeness::server_habits::Accepting;
use backissue_core::schedule::FeedStatus;

/// Why an answer is asked for once more within one poll (SPEC D.2, D.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The same, on a new connection (421).
    Same,
    /// Without validators, past the caches (412, 416, a 304 nobody asked for).
    Fresh,
    /// Without a delta (400 to a request for one).
    NoDelta,
    /// Without a delta: the one that came is empty, breaks off or is no feed.
    BrokenDelta,
    /// Without validators: the delta that came cannot be used.
    Whole,
    /// The same: entries seem to be missing, perhaps only because of what was sent (SPEC C.8.1).
    Verify,
}

impl Again {
    /// Days for which no delta is asked for any more.
    pub const fn days_without_deltas(self) -> Option<i64> {
        match self {
            Self::NoDelta | Self::Whole => Some(30),
            Self::BrokenDelta => Some(7),
            Self::Same | Self::Fresh | Self::Verify => None,
        }
    }
}

/// What a poll sent, to judge the answer by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// What was asked for.
    pub kind: RequestKind,
    /// The tag sent to the address that gave it.
    pub etag: Option<Vec<u8>>,
    /// The address that is stored.
    pub url: String,
    /// Other sites answered a moment ago: the network is what it should be.
    pub others_answer: bool,
}

/// Makes the request of a poll. What it changes on the feed is to be written before the request goes out.
pub fn request(
    subscription: &mut Subscription,
    id: FetchId,
    cause: PollCause,
    again: Option<Again>,
    now: DateTime<Utc>,
) -> (FetchRequest, Sent) {
    let forced = cause == PollCause::Forced && !matches!(again, Some(Again::Whole | Again::Verify));
    // What names a current document is read whole, so that one can be asked for.
    let reads_archive = reads_archive_again(subscription) || subscription.state.followed.is_some();
    let state = &mut subscription.state;
    if forced || matches!(again, Some(Again::Fresh | Again::Whole | Again::Verify)) {
        // They are forgotten before the request (SPEC D.4 rule 8), not only left out of it.
        state.validators = Validators::default();
    }
    let stuck =
        again.is_none() && !forced && state.habits.is_stuck(now, state.facts.learned.as_ref());
    if stuck {
        state.habits.asked_whole(now);
    }
    let known =
        (!stuck && !reads_archive).then(|| state.habits.to_send(&state.validators, now)).flatten();
    // They may belong to the end of a redirect: who sends them decides address by address.
    let etag = known.as_ref().and_then(|known| known.etag.clone());
    let own_tag = etag.is_some() && state.validators.url == subscription.record.url;
    let kind = if forced || again == Some(Again::Fresh) {
        RequestKind::Fresh
    } else if state.habits.accepting == Accepting::Anything {
        RequestKind::Anything
    } else if own_tag && again.is_none() && state.habits.takes_deltas(now) {
        RequestKind::Delta
    } else {
        RequestKind::Usual
    };
    let record = &subscription.record;
    let url = record.url.clone();
    // Where the page that names a feed says http, there is nothing that could be made insecure (SPEC D.9).
    let is_named = record.named_by.is_some() && record.former.is_empty();
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
    (request, Sent { kind, etag, url, others_answer: false })
}

/// Whether an archive that was subscribed to by mistake is to be read whole, so that its current document can be asked for
/// (SPEC C.2 rule 3).
fn reads_archive_again(subscription: &Subscription) -> bool {
    let Subscription { record, state, .. } = subscription;
    let is_open = |archive: &ArchiveAddress| {
        archive.current.is_some() && archive.current != record.declined && state.proposed.is_none()
    };
    state.facts.standing == FeedStatus::Archive && state.archive.as_ref().is_none_or(is_open)
}

/// Whose word the stored address is: the reader's, unless a document named it, or a move replaced it.
fn address_source(record: &SubscriptionRecord) -> AddressSource {
    let moved = record.former.last().map(|former| (&former.url, former.public));
    let named = record.named_by.as_ref().map(|named| (&named.url, named.public));
    moved.or(named).map_or(AddressSource::Typed, |(by, public)| AddressSource::Supplied {
        by: by.clone(),
        public,
    })
}
