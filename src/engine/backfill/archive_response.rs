//! Applies subscription documents to a feed's history, and classifies responses to requests for archives (SPEC C, D.2).

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::current_document::archive_address;
use crate::engine::poll::fetch::{AnswerBody, FetchFailure, Fetched, ServerAnswer};
use backissue_core::feed::FeedDocument;
use backissue_core::history::overrun::OverrunVerdict;
use backissue_core::history::{ArchiveFailure, DocumentKind, Polled};
use backissue_core::schedule::{FeedStatus, PollFailure, Wait};

/// A subscription document to record in [`Subscription::history`], with the circumstances of its fetch.
#[derive(Debug, Clone, Copy)]
pub struct ReceivedDocument<'a> {
    /// Address that was requested.
    pub asked: &'a str,
    /// Head of the response.
    pub head: &'a ServerAnswer,
    /// Time of the request.
    pub started: DateTime<Utc>,
    /// `true` if validators were sent to the address that responded.
    pub conditional: bool,
    /// `true` for a whole document, `false` for a delta (changed entries only).
    pub whole: bool,
    /// `true` if nothing suggests that the document belongs to another feed (SPEC D.3).
    pub proven: bool,
    /// Number of entries of the delta that the document verifies (SPEC D.7).
    pub verifies: Option<u32>,
    /// Parsed document.
    pub document: &'a FeedDocument,
}

impl<'a> ReceivedDocument<'a> {
    fn polled(self) -> Polled<'a> {
        Polled {
            requested: self.asked,
            answered: &self.head.url,
            public: self.head.public,
            fetched_at: self.started,
            whole: self.whole,
            proven: self.proven,
            verifies: self.verifies,
            document: self.document,
        }
    }
}

/// Records a subscription document in the feed's history. Returns whether the document is the whole feed (SPEC C.6).
pub fn note_document(subscription: &mut Subscription, came: ReceivedDocument<'_>) -> bool {
    let history = Arc::make_mut(&mut subscription.history);
    let polled = came.polled();
    history.apply_poll(&polled);
    // Any verification request was made before this call, so the result is final.
    history.compare_windows(&polled, false);
    // An archive gets no new entries, so a feed whose stored address is an archive is polled rarely.
    let state = &mut subscription.state;
    let is_archive = history.kind == DocumentKind::Archive;
    let before = state.archive.take();
    if is_archive {
        let own = [came.asked, &subscription.record.url, &came.head.url];
        let insecure = subscription.record.feed_settings.allow_insecure;
        let why = archive_address(before, came.document, &own, insecure, came.started);
        state.archive = Some(why);
    }
    if came.asked == subscription.record.url && came.document.history.current != state.followed {
        state.followed = None;
    }
    let facts = &mut state.facts;
    if is_archive && facts.standing == FeedStatus::Active {
        facts.standing = FeedStatus::Archive;
    } else if !is_archive && facts.standing == FeedStatus::Archive {
        facts.standing = FeedStatus::Active;
    }
    came.whole && history.kind == DocumentKind::Complete
}

/// Checks whether entries may be missing from a response only because the request had validators. If so, the caller repeats the
/// request without validators (SPEC C.8.1).
pub fn is_doubtful(subscription: &Subscription, asked: &str, fetched: &Fetched) -> bool {
    let Ok(answer) = &fetched.result else { return false };
    let Some(document) = answer.body.feed() else { return false };
    let whole = answer.status == 200;
    if !fetched.conditional || !(whole || answer.status == 226) || document.is_truncated() {
        return false;
    }
    let mut history = (*subscription.history).clone();
    let came = ReceivedDocument {
        asked,
        head: answer,
        started: fetched.started,
        conditional: fetched.conditional,
        whole,
        proven: true,
        verifies: None,
        document,
    };
    history.apply_poll(&came.polled());
    history.compare_windows(&came.polled(), came.conditional) == OverrunVerdict::Verify
}

/// A readable response to a request for an archive or an older page.
#[derive(Debug)]
pub struct Archive {
    /// Address that responded.
    pub url: String,
    /// `true` if the address is public.
    pub public: bool,
    /// Parsed document, which may not be a feed.
    pub document: Box<FeedDocument>,
    /// Captures in the Internet Archive, if the response is a listing of captures.
    pub listing: Option<Vec<u64>>,
}

/// Classifies the response to a request for an archive or a page (SPEC C.8, D.2).
pub fn classify_archive(fetched: Fetched) -> Result<Archive, ArchiveFailure> {
    let answer = fetched.result.map_err(failure)?;
    let unreadable = |why: &str| Err(ArchiveFailure::Unreadable(why.to_owned()));
    match (answer.status, answer.body) {
        (200 | 203, AnswerBody::Document(document)) => {
            Ok(Archive { url: answer.url, public: answer.public, document, listing: None })
        }
        (200 | 203, AnswerBody::Listing(captures)) => Ok(Archive {
            url: answer.url,
            public: answer.public,
            document: Box::default(),
            listing: Some(captures),
        }),
        (200 | 203, AnswerBody::Page { title: Some(title), .. }) => {
            unreadable(&format!("not a feed but the page '{title}'"))
        }
        (200 | 203, AnswerBody::Page { .. }) => unreadable("not a feed but a web page"),
        (200..=299, _) => unreadable("the response is empty"),
        // A captive portal responded, not the publisher.
        (511, _) => Err(ArchiveFailure::Offline),
        (status, _) => {
            let wait = Wait::of_answer(status, &answer.headers.times(), answer.received);
            let retry_after = wait.as_ref().and_then(Wait::end);
            Err(ArchiveFailure::Status { status, retry_after })
        }
    }
}

/// Converts a failed fetch to the failure of an archive request.
fn failure(failure: FetchFailure) -> ArchiveFailure {
    let why = failure.to_string();
    if let FetchFailure::TooLarge(limit) = failure {
        ArchiveFailure::TooLarge(limit)
    } else if let FetchFailure::Blocked(why) = failure {
        ArchiveFailure::Blocked(why)
    } else if failure.is_of_address() {
        ArchiveFailure::Blocked(why)
    } else if failure.for_schedule() == PollFailure::Unreadable {
        ArchiveFailure::Unreadable(why)
    } else {
        ArchiveFailure::Unanswered(why)
    }
}
