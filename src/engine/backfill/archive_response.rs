//! Applies subscription documents to a feed's history, and classifies responses to requests for archives (SPEC C, D.2). A walk has
//! limits, and may begin at an external archive that the user chose.

use std::sync::Arc;

use backissue_core::feed::FeedDocument;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::address::{carries_login_or_query, host};
use backissue_core::history::overrun::OverrunVerdict;
use backissue_core::history::{
    ActiveAdaptor, Adaptor, ArchiveFailure, DocumentKind, FeedKey, Gap, Mode, Polled, Reason,
    WalkPolicy,
};
use backissue_core::schedule::{FeedStatus, PollFailure, Wait};
use chrono::{DateTime, Utc};

use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::current_document::archive_address;
use crate::engine::poll::fetch::{AnswerBody, FetchFailure, Fetched, ServerAnswer};
use crate::engine::settings::HistoryMode;
use crate::engine::state::Engine;

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
    /// The response, if it is another document than a feed.
    pub other: Option<OtherDocument>,
}

/// A response to a request of an archive walk that is no feed.
#[derive(Debug)]
pub enum OtherDocument {
    /// The times of captures in the Internet Archive.
    Listing(Vec<u64>),
    /// The text of a robots.txt.
    Robots(String),
}

/// Classifies the response to a request for an archive or a page (SPEC C.8, D.2).
pub fn classify_archive(fetched: Fetched) -> Result<Archive, ArchiveFailure> {
    let answer = fetched.result.map_err(failure)?;
    let unreadable = |why: &str| Err(ArchiveFailure::Unreadable(why.to_owned()));
    let (url, public) = (answer.url, answer.public);
    let other = |other| {
        Ok(Archive { url: String::new(), public, document: Box::default(), other: Some(other) })
    };
    match (answer.status, answer.body) {
        (200 | 203, AnswerBody::Document(document)) => {
            Ok(Archive { url, public, document, other: None })
        }
        (200 | 203, AnswerBody::Listing(captures)) => other(OtherDocument::Listing(captures)),
        (200 | 203, AnswerBody::Robots(text)) => other(OtherDocument::Robots(text)),
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

/// Returns the limits of a walk through a feed's archives. The mode is the feed's own setting, or else the global setting.
pub fn policy(engine: &Engine, feed: FeedKey) -> WalkPolicy {
    let feed_settings = engine.feeds.get(&feed).map(|feed| &feed.record.feed_settings);
    let mode = feed_settings
        .and_then(|feed_settings| feed_settings.history)
        .unwrap_or(engine.settings.history.mode);
    let mode = match mode {
        HistoryMode::Auto => Mode::Auto,
        HistoryMode::Ask => Mode::Ask,
        HistoryMode::Off => Mode::Off,
    };
    let allow_insecure = feed_settings.is_some_and(|feed_settings| feed_settings.allow_insecure);
    let day_documents = engine.settings.history.archives_a_day;
    WalkPolicy { mode, day_documents, allow_insecure, ..WalkPolicy::default() }
}

/// Returns the external archive that the user chose for a feed, in the form that the feed's history expects.
pub fn way(engine: &Engine, feed: FeedKey) -> Option<ActiveAdaptor> {
    way_by(engine, feed, engine.feeds.get(&feed)?.record.feed_settings.archives?)
}

/// Returns an external archive in the form that a feed's history expects. An address that may hold a secret is not told to another
/// host.
pub fn way_by(engine: &Engine, feed: FeedKey, adaptor: Adaptor) -> Option<ActiveAdaptor> {
    let record = &engine.feeds.get(&feed)?.record;
    if FeedSource::of(&record.url) != FeedSource::Web {
        return None;
    }
    let base = engine.settings.history.internet_archive.trim_end_matches('/').to_owned();
    let may = adaptor == Adaptor::WordPress || !carries_login_or_query(&record.url);
    may.then(|| ActiveAdaptor { adaptor, base, url: record.url.clone() })
}

/// Checks whether the host of `url` answered an archive request of another feed with a 429 whose wait is not over (SPEC B.4 rule
/// 5).
pub fn wants_rest(engine: &Engine, feed: FeedKey, url: &str, now: DateTime<Utc>) -> bool {
    let asked = host(url);
    let says_so = |gap: &Gap| {
        gap.reason == Reason::Status(429)
            && gap.retry_at.is_some_and(|at| now < at)
            && host(&gap.edge.url) == asked
    };
    let others = engine.feeds.values().filter(|other| other.key != feed);
    others.flat_map(|other| other.history.gaps.values()).any(says_so)
}
