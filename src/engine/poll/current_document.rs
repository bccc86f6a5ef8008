//! The current document: the document that an archive or another document of a feed names as current. The current document is
//! requested in the same poll, and adopted if it belongs to the same feed (SPEC C.2 rule 3, D.3).

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::classify_response::status_words;
use super::fetch::{AddressSource, FetchFailure, FetchId, FetchRequest, Fetched, RequestKind};
use super::poll_request::{Sent, classify_redirect, propose, replace_address};
use super::poll_stage::{NamedCurrent, ReadArchive};
use crate::engine::feeds::addition::feed_in;
use crate::engine::feeds::subscription::{ArchiveAddress, ProposedFor, Subscription};
use backissue_core::feed::FeedDocument;
use backissue_core::feed::text::one_line;
use backissue_core::history::address::refusal;
use backissue_core::history::kind::{Subscribed, TakesOver, subscribed, takes_over};

/// Maximum number of characters of the reason for not adopting a current document. The reason may contain text from a server.
const WHY_CHARS: usize = 200;

/// Response that a poll uses after the current document was requested.
#[derive(Debug)]
pub struct PollAnswer {
    /// Request that was sent.
    pub sent: Sent,
    /// Result of the fetch.
    pub fetched: Fetched,
    /// Archive that was read before the current document, if the current document is used.
    pub archive: Option<ReadArchive>,
    /// `true` if the current document's address replaced the stored address.
    pub moved: bool,
}

/// Verdict on the response from the address of the current document.
enum CurrentVerdict {
    /// The response is the feed's subscription document.
    TakesOver,
    /// The response may be another feed, or its address is already subscribed, so the user must decide.
    Ask(&'static str),
    /// The response cannot be adopted, for this reason. The flag is `true` if the address redirects from https to http.
    No(String, bool),
}

/// Returns the address of the current document that a response names and that is requested next. The flag is `true` if the stored
/// address is kept because the naming document is not an archive.
pub fn find_current(subscription: &Subscription, fetched: &Fetched) -> Option<(String, bool)> {
    let record = &subscription.record;
    let answer = fetched.result.as_ref().ok().filter(|answer| is_whole(answer.status))?;
    let document = answer.body.feed().filter(|document| !document.is_truncated())?;
    if !classify_redirect(subscription, &fetched.hops, &answer.url, document, &|_| false).is_read {
        return None;
    }
    let (to, once) = match subscribed(document, &[&record.url, &answer.url]) {
        Subscribed::ToAnArchiveOf(current) => (current, false),
        Subscribed::FollowOnce(current) => (current, true),
        Subscribed::Rightly | Subscribed::ToAnArchive => return None,
    };
    let settled = record.declined.as_ref() == Some(&to);
    let may_be_asked = refusal(&to, &answer.url, record.feed_settings.allow_insecure).is_none();
    (!settled && may_be_asked).then_some((to, once))
}

/// Returns the request for a current document. The request is conditional only if this document was read before and the naming
/// document is not an archive. The restrictions of an address that the naming document supplied apply (SPEC D.6).
pub fn request(
    subscription: &Subscription,
    named: &NamedCurrent,
    id: FetchId,
) -> (FetchRequest, Sent) {
    let answer = named.fetched.result.as_ref().ok();
    let validators = Some(subscription.state.validators.clone());
    let request = FetchRequest {
        id,
        url: named.to.clone(),
        validators: validators.filter(|known| named.once && known.speak_for(&named.to)),
        kind: RequestKind::Usual,
        address_source: AddressSource::Supplied {
            by: answer.map_or_else(|| named.asked.clone(), |answer| answer.url.clone()),
            public: answer.is_some_and(|answer| answer.public),
        },
        allow_insecure: subscription.record.feed_settings.allow_insecure,
        waits_for_store: false,
        redirect_pause_ms: 0,
    };
    (request, Sent { url: named.to.clone(), ..Sent::default() })
}

/// Decides whether a poll uses the current document or the document that named it, and updates the subscription. `taken` is `true`
/// if the address of the current document is already subscribed.
pub fn decide(
    subscription: &mut Subscription,
    named: NamedCurrent,
    found: Fetched,
    taken: bool,
) -> PollAnswer {
    let verdict = classify_current(&named, &found, taken);
    let NamedCurrent { to, once, asked, sent, fetched } = named;
    let now = fetched.started;
    let public = fetched.result.as_ref().is_ok_and(|answer| answer.public);
    let Subscription { record, state, history, .. } = subscription;
    let was_followed = once && state.followed.as_ref() == Some(&to);
    if once {
        state.followed = Some(to.clone());
    }
    let (why, insecure) = match verdict {
        CurrentVerdict::TakesOver => {
            let id = document(&fetched).and_then(|document| document.head.id.clone());
            state.feed_id = id.or(state.feed_id.take());
            if !was_followed {
                // The current document may not continue where the archive ended.
                Arc::make_mut(history).read_elsewhere();
            }
            let moved = !once && record.url != to;
            if moved {
                replace_address(record, state, now, to.clone(), public);
            }
            let archive = ReadArchive { asked, fetched, epoch: history.epoch, by_previous: once };
            let archive = (!was_followed).then_some(archive);
            let sent = Sent { url: to, others_answer: sent.others_answer, ..Sent::default() };
            return PollAnswer { sent, fetched: found, archive, moved };
        }
        CurrentVerdict::Ask(why) => {
            if !once {
                propose(state, now, to.clone(), ProposedFor::Archive, public);
            }
            (why.to_owned(), false)
        }
        CurrentVerdict::No(why, insecure) => (why, insecure),
    };
    if !once {
        let before = state.archive.take().filter(|before| before.current.as_ref() == Some(&to));
        let since = before.map_or(now, |before| before.since);
        let why = one_line(&why, WHY_CHARS);
        state.archive = Some(ArchiveAddress { current: Some(to), why, insecure, since });
    }
    // The last poll used the current document, with whose window the document that names it is not compared.
    let sent = Sent { is_aside: was_followed, ..sent };
    PollAnswer { sent, fetched, archive: None, moved: false }
}

/// Classifies the response from the address of the current document (SPEC C.2 rule 3, D.3).
fn classify_current(named: &NamedCurrent, found: &Fetched, taken: bool) -> CurrentVerdict {
    let no = |why: &str| CurrentVerdict::No(why.to_owned(), false);
    let answer = match &found.result {
        Ok(answer) => answer,
        Err(failure) => {
            let insecure = matches!(failure, FetchFailure::Insecure { .. });
            return CurrentVerdict::No(failure.to_string(), insecure);
        }
    };
    if answer.status == 304 && found.conditional && named.once {
        return CurrentVerdict::TakesOver;
    }
    if !is_whole(answer.status) {
        return no(&format!("it answered {}", status_words(answer.status)));
    }
    let (first, current) = match (document(&named.fetched), feed_in(found)) {
        (Some(first), Ok(current)) => (first, current),
        (None, _) => return no("the document that names it is not a feed"),
        (_, Err(why)) => return no(&why),
    };
    let is_same = match takes_over((&named.asked, first), (&named.to, current)) {
        TakesOver::No => return no("it is an archive itself"),
        TakesOver::Yes => true,
        TakesOver::Ask => false,
    };
    match (is_same, taken) {
        (true, false) => CurrentVerdict::TakesOver,
        (true, true) => CurrentVerdict::Ask("it is already subscribed to"),
        (false, _) => CurrentVerdict::Ask("nothing there proves that it is the same feed"),
    }
}

/// Checks whether the response from the address of the current document is the subscription document of the feed whose archive
/// names it.
pub fn is_taken_over(named: &NamedCurrent, found: &Fetched) -> bool {
    matches!(classify_current(named, found, false), CurrentVerdict::TakesOver)
}

/// Returns the reason that a subscription stays at the address of an archive. Keeps the earlier reason unless the archive now names
/// another current document.
pub fn archive_address(
    before: Option<ArchiveAddress>,
    document: &FeedDocument,
    own: &[&str],
    allow_insecure: bool,
    now: DateTime<Utc>,
) -> ArchiveAddress {
    let current = match subscribed(document, own) {
        Subscribed::ToAnArchiveOf(current) => Some(current),
        Subscribed::ToAnArchive | Subscribed::Rightly | Subscribed::FollowOnce(_) => None,
    };
    if let Some(before) = before
        && before.current == current
    {
        return before;
    }
    let by = own.last().copied().unwrap_or_default();
    let refused = current.as_deref().and_then(|current| refusal(current, by, allow_insecure));
    // Allowing insecure addresses would allow this one.
    let insecure = refused.is_some()
        && current.as_deref().is_some_and(|current| refusal(current, by, true).is_none());
    let why = match (&current, refused) {
        (None, _) => "it names no current document",
        (Some(_), Some(why)) => why,
        (Some(_), None) => "it was not requested",
    };
    ArchiveAddress { current, why: why.to_owned(), insecure, since: now }
}

/// Checks whether a response with this status contains a whole document.
const fn is_whole(status: u16) -> bool {
    matches!(status, 200 | 203)
}

fn document(fetched: &Fetched) -> Option<&FeedDocument> {
    fetched.result.as_ref().ok()?.body.feed()
}
