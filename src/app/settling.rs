//! What an answer changes on a feed: its facts, its validators, its trouble.

use chrono::{DateTime, Utc};

use super::answers::{Verdict, judge};
use super::fetching::{Answer, Fetched};
use super::poll_log::{PollCause, PollLogEntry};
use super::subscription::{Commit, FeedState, Subscription, Validators};
use crate::feed::text::one_line;
use crate::schedule::Failure;

/// Characters kept of what went wrong.
const TROUBLE_CHARS: usize = 300;

/// Settles what an answer changes on the feed; the entries are merged by the store.
pub fn settle(subscription: &mut Subscription, cause: PollCause, fetched: Fetched) -> Commit {
    let (started, wire_bytes) = (fetched.started, fetched.wire_bytes);
    let head = fetched.result.as_ref().ok().map(Answer::head);
    let status = head.as_ref().map(|answer| answer.status);
    let state = &mut subscription.state;
    state.status = status;
    state.polls = state.polls.wrapping_add(1);
    let (mut record, mut document, mut trouble) = (None, None, None);
    match (judge(fetched), head) {
        (Verdict::Document(read), Some(head)) => {
            succeeded(state, started, &head, true);
            state.facts.hints = read.hints.clone();
            if subscription.record.take_head(&read) {
                record = Some(subscription.record.clone());
            }
            document = Some(read);
        }
        (Verdict::NotModified, Some(head)) => succeeded(state, started, &head, false),
        (Verdict::Gone, head) => {
            failed(state, Failure::Status(410), started, head.as_ref());
            trouble = Some("the publisher ended this feed".to_owned());
        }
        (Verdict::Failed(failure, why), head) => {
            failed(state, failure, started, head.as_ref());
            // Servers write some of these words: nothing in them may steer or disguise.
            trouble = Some(one_line(&why, TROUBLE_CHARS));
        }
        (Verdict::Document(_) | Verdict::NotModified, None) => {}
    }
    state.trouble.clone_from(&trouble);
    Commit {
        feed: subscription.key,
        state: state.clone(),
        record,
        document,
        fetched_at: started,
        log: Some(PollLogEntry {
            at: started,
            status,
            wire_bytes,
            new: 0,
            edited: 0,
            cause,
            trouble,
        }),
    }
}

/// A check ended in 200, 226 or 304: validators by SPEC D.4 rules 5 and 6.
fn succeeded(state: &mut FeedState, started: DateTime<Utc>, answer: &Answer, replaces: bool) {
    state.facts.record_success(answer.status, &answer.headers.times(), started, answer.received);
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

/// A check failed; validators stay as they are (SPEC D.4 rule 7).
fn failed(
    state: &mut FeedState,
    failure: Failure,
    started: DateTime<Utc>,
    answer: Option<&Answer>,
) {
    let headers = answer.map(|answer| answer.headers.times()).unwrap_or_default();
    let received = answer.map_or(started, |answer| answer.received);
    state.facts.record_failure(failure, &headers, started, received);
    state.failing_since.get_or_insert(started);
}
