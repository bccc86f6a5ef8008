//! Applies the response to a poll to the feed: updates its facts, validators, address, and error.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::classify_response::{Trouble, Verdict, classify_response};
use super::fetch::{Fetched, Hop, ServerAnswer, Validators};
use super::poll_log::{PollCause, PollLogEntry};
use super::poll_request::{self, Moving, RedirectVerdict, Sent};
use crate::engine::backfill::archive_response::{self, ReceivedDocument};
use crate::engine::feeds::subscription::{Commit, FeedState, StatedHead, Subscription};
use backissue_core::feed::FeedDocument;
use backissue_core::feed::text::one_line;
use backissue_core::schedule::{Facts, FeedStatus, PollFailure};

/// Maximum number of characters of the error that a feed stores.
const TROUBLE_CHARS: usize = 300;

/// Result of applying a response.
#[derive(Debug)]
pub struct AppliedResponse {
    /// Changes to write; the store merges the entries.
    pub commit: Commit,
    /// `true` if the stored address of the feed was replaced.
    pub moved: bool,
}

/// Applies a response to a feed. The function `taken` returns whether another subscription has an address.
pub fn apply_response(
    subscription: &mut Subscription,
    cause: PollCause,
    sent: &Sent,
    fetched: Fetched,
    taken: &dyn Fn(&str) -> bool,
) -> AppliedResponse {
    let (started, wire_bytes, conditional) =
        (fetched.started, fetched.wire_bytes, fetched.conditional);
    let head = fetched.result.as_ref().ok().map(ServerAnswer::head);
    let status = head.as_ref().map(|answer| answer.status);
    let tag_sent = sent.etag.clone().filter(|_| conditional);
    // Only redirects from the stored address can move the feed.
    let is_stored = sent.url == subscription.record.url;
    let hops = if is_stored { fetched.hops.clone() } else { Vec::new() };
    let target = poll_request::permanent(&hops, &sent.url);
    let state = &mut subscription.state;
    state.status = status;
    state.facts.last_try = Some(started);
    state.polls = state.polls.wrapping_add(1);
    state.polled_bytes = state.polled_bytes.saturating_add(wire_bytes);
    state.obstacle = None;
    let verdict = classify_response(fetched, sent);
    let about = ResponseContext {
        head: head.as_ref(),
        hops: &hops,
        target,
        tag_sent: tag_sent.as_deref(),
        sent,
        conditional,
        taken,
    };
    let outcome = ResponseEffects::of(subscription, verdict, &about);
    let state = &mut subscription.state;
    state.trouble.clone_from(&outcome.trouble);
    let looked_at = outcome.is_complete.is_some();
    AppliedResponse {
        commit: Commit {
            feed: subscription.key,
            state: state.clone(),
            record: outcome.record_changed.then(|| subscription.record.clone()),
            document: outcome.document,
            fetched_at: started,
            history: looked_at.then(|| subscription.history.clone()),
            complete: outcome.is_complete.unwrap_or_default(),
            log: Some(PollLogEntry {
                at: started,
                status,
                wire_bytes,
                new: 0,
                edited: 0,
                withdrawn: 0,
                cause,
                settled_by: None,
                queued_seconds: 0,
                trouble: outcome.trouble,
            }),
        },
        moved: outcome.moved,
    }
}

/// Effects of a verdict in addition to the changed state of the feed.
#[derive(Default)]
struct ResponseEffects {
    document: Option<Box<FeedDocument>>,
    trouble: Option<String>,
    record_changed: bool,
    moved: bool,
    /// `Some` if the document changed the feed's history, even if it was not read; `true` if it contains the whole feed.
    is_complete: Option<bool>,
}

/// Circumstances of a response that are needed to apply its verdict.
struct ResponseContext<'a> {
    /// Head of the response, if there was one.
    head: Option<&'a ServerAnswer>,
    /// Redirects from the stored address.
    hops: &'a [Hop],
    /// Target of a permanent redirect.
    target: Option<&'a str>,
    /// `ETag` that was sent to the address that responded.
    tag_sent: Option<&'a [u8]>,
    /// Parts of the request.
    sent: &'a Sent,
    /// `true` if validators were sent.
    conditional: bool,
    /// Returns whether another subscription has an address.
    taken: &'a dyn Fn(&str) -> bool,
}

impl ResponseContext<'_> {
    /// Records a document in the feed's history.
    fn says(
        &self,
        subscription: &mut Subscription,
        head: &ServerAnswer,
        (whole, proven): (bool, bool),
        document: &FeedDocument,
    ) -> bool {
        let started = subscription.state.facts.last_try.unwrap_or_default();
        if self.sent.is_aside {
            Arc::make_mut(&mut subscription.history).current_not_read();
            return false;
        }
        let (asked, conditional) = (self.sent.url.as_str(), self.conditional);
        let verifies = self.sent.verifies;
        let came = ReceivedDocument {
            asked,
            head,
            started,
            conditional,
            whole,
            proven,
            verifies,
            document,
        };
        archive_response::note_document(subscription, came)
    }
}

impl ResponseEffects {
    /// Applies a verdict to the state of the feed.
    fn of(subscription: &mut Subscription, verdict: Verdict, about: &ResponseContext<'_>) -> Self {
        let ResponseContext { head, target, tag_sent, taken, .. } = *about;
        let started = subscription.state.facts.last_try.unwrap_or_default();
        let state = &mut subscription.state;
        let mut outcome = Self::default();
        match (verdict, head) {
            (Verdict::Document(read), Some(head)) => {
                let same_tag = tag_sent.is_some() && tag_sent == head.headers.etag.as_deref();
                state.habits.read(started, same_tag);
                outcome.read(subscription, head, read, true, about);
            }
            (Verdict::Delta(read), Some(head)) => {
                state.habits.read(started, false);
                state.habits.verified_deltas = 0;
                outcome.read(subscription, head, read, false, about);
            }
            (Verdict::NotModified, Some(head)) => {
                state.habits.not_modified(started);
                let known = state.validators.url == head.url;
                succeeded(state, started, head, false);
                let moving = target.filter(|_| known).and_then(|to| {
                    poll_request::classify_unchanged(subscription, to, &head.url, taken(to))
                });
                outcome.moves(subscription, head, moving);
            }
            (Verdict::Gone, head) => {
                failed(state, PollFailure::Status(410), started, head);
                outcome.trouble = Some("the publisher ended this feed".to_owned());
            }
            (Verdict::Failed(trouble), head) => {
                failed(state, trouble.failure, started, head);
                outcome.troubled(state, &trouble);
            }
            (Verdict::NotCounted(trouble), head) => {
                // If the feed was never read, record the failure, because there is no successful poll to base the plan on.
                if state.facts.last_ok.is_none() {
                    failed(state, trouble.failure, started, head);
                }
                outcome.troubled(state, &trouble);
            }
            (Verdict::Document(_) | Verdict::Delta(_) | Verdict::NotModified, None) => {}
        }
        outcome
    }

    /// Applies a document to the feed. `whole` is `false` for a delta.
    fn read(
        &mut self,
        subscription: &mut Subscription,
        head: &ServerAnswer,
        read: Box<FeedDocument>,
        whole: bool,
        about: &ResponseContext<'_>,
    ) {
        let started = subscription.state.facts.last_try.unwrap_or_default();
        let RedirectVerdict { moving, is_read, is_proven } = poll_request::classify_redirect(
            subscription,
            about.hops,
            &head.url,
            &read,
            about.taken,
        );
        if !is_read {
            // A document that may belong to another feed changes neither entries nor hints nor validators (SPEC D.3).
            failed(&mut subscription.state, PollFailure::Unreadable, started, None);
            self.moves(subscription, head, moving);
            let why = not_proven(about.target, &head.url);
            self.trouble = Some(one_line(&why, TROUBLE_CHARS));
            Arc::make_mut(&mut subscription.history).not_read();
            self.is_complete = Some(false);
            return;
        }
        succeeded(&mut subscription.state, started, head, true);
        subscription.state.format = read.kind;
        let hints = &mut subscription.state.facts.hints;
        if whole {
            hints.clone_from(&read.hints);
        } else {
            hints.overlay(read.hints.clone());
        }
        // A document that may belong to another feed must not change the title of this feed.
        let in_question = !whole || matches!(moving, Some(Moving::Ask(..)));
        let by_itself = poll_request::stated_move(subscription, &head.url, &read).filter(|_| whole);
        self.is_complete = Some(about.says(subscription, head, (whole, is_proven), &read));
        self.moves(subscription, head, moving.or(by_itself));
        if !in_question {
            if read.head.id.is_some() {
                subscription.state.feed_id.clone_from(&read.head.id);
            }
            subscription.state.stated = StatedHead::of(&read.head);
            self.record_changed |= subscription.record.take_head(&read);
        }
        self.document = Some(read);
    }

    fn moves(
        &mut self,
        subscription: &mut Subscription,
        head: &ServerAnswer,
        moving: Option<Moving>,
    ) {
        let Subscription { record, state, .. } = subscription;
        let public = head.public;
        match moving {
            Some(Moving::Now(to)) => {
                poll_request::replace_address(record, state, head.received, to, public);
                (self.moved, self.record_changed) = (true, true);
            }
            Some(Moving::Ask(to, because)) => {
                poll_request::propose(state, head.received, to, because, public);
            }
            None => {}
        }
    }

    fn troubled(&mut self, state: &mut FeedState, trouble: &Trouble) {
        state.obstacle = trouble.obstacle;
        // The error may contain text from a server, so remove control characters and limit its length.
        self.trouble = Some(one_line(&trouble.why, TROUBLE_CHARS));
    }
}

/// Returns the reason that the document at the end of redirects is not used. `target` is the target of a permanent redirect.
fn not_proven(target: Option<&str>, answered: &str) -> String {
    let (says, to) = match target {
        Some(to) => ("it moved to", to),
        None => ("it is redirected to", answered),
    };
    format!("{says} {to}, but nothing there proves that it is the same feed: it is not read")
}

/// Records a successful poll with status 200, 226, or 304. Validators follow SPEC D.4 rules 5 and 6.
fn succeeded(state: &mut FeedState, started: DateTime<Utc>, answer: &ServerAnswer, replaces: bool) {
    state.facts.record_success(answer.status, &answer.headers.times(), started, answer.received);
    let Facts { learned, last_ok, settings, .. } = &mut state.facts;
    *learned = learned.take().map(|learned| learned.after_poll(*last_ok, settings));
    state.failing_since = None;
    let headers = &answer.headers;
    if replaces {
        state.validators = Validators {
            url: answer.url.clone(),
            etag: headers.etag.clone(),
            last_modified: headers.last_modified.clone(),
        };
        return;
    }
    for (kept, sent) in [
        (&mut state.validators.etag, &headers.etag),
        (&mut state.validators.last_modified, &headers.last_modified),
    ] {
        if sent.is_some() {
            kept.clone_from(sent);
        }
    }
}

/// Records a failed poll. The validators do not change (SPEC D.4 rule 7).
fn failed(
    state: &mut FeedState,
    failure: PollFailure,
    started: DateTime<Utc>,
    answer: Option<&ServerAnswer>,
) {
    let headers = answer.map(|answer| answer.headers.times()).unwrap_or_default();
    let received = answer.map_or(started, |answer| answer.received);
    state.facts.record_failure(failure, &headers, started, received);
    state.failing_since.get_or_insert(started);
    if let Some(answer) = answer {
        state.habits.refused(started, answer.status);
    }
    if state.habits.is_dead(started) && state.facts.standing == FeedStatus::Active {
        state.facts.standing = FeedStatus::Dead;
    }
}
