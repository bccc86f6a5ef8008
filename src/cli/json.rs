//! JSON values that several commands print: times, feeds, gaps; and the recent events of a long-running process, one line of
//! JSON each, for scripts.

pub(super) use entry_view::time;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use backissue_core::feed::characters::is_bidi_control;
use backissue_core::history::{Gap, GapKind, GapState, HistoryStatus as HistoryStanding, Reason};
use backissue_core::schedule::{self, FeedStatus, SettledBy};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::engine::backfill::history_requests;
use crate::engine::entries::entry_view;
use crate::engine::event_json::event_line;
use crate::engine::feeds::subscription::{Obstacle, Subscription};
use crate::engine::feeds::trouble::{self, Concern};
use crate::engine::poll::poll_log::{PollCause, PollLogEntry};
use crate::engine::request::Event;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;

/// Converts a validator (`ETag` or `Last-Modified`) to text, with replacement characters for invalid UTF-8.
fn validator_text(bytes: Option<&Vec<u8>>) -> Value {
    bytes.map_or(Value::Null, |bytes| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// Returns one word for the state of a subscription.
pub(super) fn state_word(feed: &Subscription) -> &'static str {
    let facts = &feed.state.facts;
    if feed.is_gone() {
        "gone"
    } else if facts.standing == FeedStatus::Dead {
        "dead"
    } else if feed.state.obstacle == Some(Obstacle::LoginPage) {
        "portal"
    } else if facts.failures > 0 {
        "failing"
    } else if facts.last_ok.is_none() {
        "new"
    } else {
        "ok"
    }
}

/// Returns an unsubscribed feed as JSON, for `feeds --removed --json`.
pub(super) fn removed_feed(feed: &Subscription, until: DateTime<Utc>) -> Value {
    json!({
        "number": feed.key,
        "url": feed.record.url,
        "title": feed.record.shown_title(),
        "tags": feed.record.tags,
        "unread": feed.counters.unread,
        "total": feed.counters.total,
        "starred": feed.counters.starred,
        "removed": time(feed.record.ended),
        "kept_until": time(Some(until)),
    })
}

/// Returns a subscription as JSON.
pub(super) fn feed(
    engine: &Engine,
    feed: &Subscription,
    log: &[PollLogEntry],
    now: DateTime<Utc>,
) -> Value {
    let (record, state) = (&feed.record, &feed.state);
    let concern = |concern: Concern| {
        json!({
            "state": concern.state,
            "sentence": concern.sentence,
            "remedy": concern.remedy.words(),
        })
    };
    json!({
        "number": feed.key,
        "url": record.url,
        "title": record.shown_title(),
        "publisher_title": record.title,
        "site": record.site,
        "tags": record.tags,
        "added": time(Some(record.added)),
        "unread": feed.counters.unread,
        "total": feed.counters.total,
        "starred": feed.counters.starred,
        "state": state_word(feed),
        "status": state.status,
        "trouble": state.trouble,
        "failures": state.facts.failures,
        "failing_since": time(state.failing_since),
        "last_ok": time(state.facts.last_ok),
        "last_try": time(state.facts.last_try),
        "next_poll": time(feed.plan.next_poll),
        "settled_by": feed.plan.settled_by.word(),
        "interval_minutes": feed.plan.binding_seconds.map(|seconds| f64::from(seconds) / 60.0),
        "pace": state.facts.settings.pace.word(),
        "flaws": schedule::planning_flaws(&state.facts),
        "etag": validator_text(state.validators.etag.as_ref()),
        "last_modified": validator_text(state.validators.last_modified.as_ref()),
        "former_urls": record.former.iter().map(|former| json!({
            "url": former.url,
            "until": time(Some(former.until)),
        })).collect::<Vec<_>>(),
        "proposed_url": state.proposed.as_ref().map(|proposed| &proposed.to),
        "history": history(engine, feed, now),
        "attention": trouble::concern(engine, feed, now).map(concern),
        "polls": log.iter().map(poll_json).collect::<Vec<_>>(),
    })
}

/// Returns an entry of the poll log as JSON.
fn poll_json(line: &PollLogEntry) -> Value {
    let cause = match line.cause {
        PollCause::Due => "due",
        PollCause::Asked => "asked",
        PollCause::Forced => "forced",
        PollCause::Subscribed => "subscribed",
    };
    json!({
        "at": time(Some(line.at)),
        "status": line.status,
        "wire_bytes": line.wire_bytes,
        "new": line.new,
        "edited": line.edited,
        "withdrawn": line.withdrawn,
        "cause": cause,
        "settled_by": line.settled_by.map(SettledBy::word),
        "queued_seconds": line.queued_seconds,
        "trouble": line.trouble,
    })
}

/// Returns a gap in a feed's history as JSON, for `backissue entries` and `backissue history`.
pub(super) fn gap(feed: &Subscription, gap: &Gap) -> Value {
    let (code, reason) = match gap.kind() {
        GapKind::Unavailable => ("G1", "unavailable"),
        GapKind::Unreadable => ("G2", "unreadable"),
        GapKind::Limit => ("G3", "limit"),
        GapKind::Loop => ("G4", "loop"),
        GapKind::Overrun => ("G5", "overrun"),
        GapKind::Paged => ("G6", "paged"),
        GapKind::Interrupted => ("G7", "interrupted"),
    };
    let status = if let Reason::Status(status) = gap.reason { Some(status) } else { None };
    json!({
        "kind": "gap",
        "feed": feed.key,
        "feed_title": feed.record.shown_title(),
        "code": code,
        "reason": reason,
        "text": gap.text(),
        "url": Some(&gap.edge.url).filter(|url| !url.is_empty()),
        "status": status,
        "listed": time(Some(gap.listed())),
        "newer_than": time(gap.older),
        "older_than": time(gap.edge.newer.oldest),
        "first_seen": time(Some(gap.first_seen)),
        "last_try": time(gap.last_try),
        "tries": gap.tries,
        "retry_at": time(gap.retry_at),
        "dismissed": gap.state == GapState::Dismissed,
    })
}

/// Returns the state of a feed's history as JSON.
pub(super) fn history(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Value {
    let record = &feed.history;
    let (word, text) = if history_requests::history_account(feed).is_some() {
        ("account", history_requests::standing(engine, feed).unwrap_or_default())
    } else if feed.state.facts.last_ok.is_none() {
        ("unknown", "not read yet".to_owned())
    } else {
        let standing = record.status();
        let word = match standing {
            HistoryStanding::Complete(_) => "complete",
            HistoryStanding::CompleteExcept(_) => "gaps",
            HistoryStanding::Partial { .. } => "partial",
            HistoryStanding::OnlyAnArchive => "archive",
            HistoryStanding::NotOffered => "not_offered",
            HistoryStanding::Paged => "paged",
            HistoryStanding::Adapted(..) => "adapted",
            HistoryStanding::Doubtful(..) => "doubtful",
        };
        (word, standing.text())
    };
    let as_of = match record.status() {
        HistoryStanding::Complete(proved) => proved.as_of().or(feed.state.facts.last_ok),
        HistoryStanding::CompleteExcept(_)
        | HistoryStanding::Partial { .. }
        | HistoryStanding::OnlyAnArchive
        | HistoryStanding::NotOffered
        | HistoryStanding::Paged
        | HistoryStanding::Adapted(..)
        | HistoryStanding::Doubtful(..) => None,
    };
    json!({
        "state": word,
        "text": text,
        "as_of": time(as_of.filter(|_| word == "complete")),
        "archives": record.archives,
        "back_to": time(record.reaches),
        "missing": record.missing(),
        "gaps": history_requests::of_feed(engine, feed, now).len(),
    })
}

/// Formats a value as one JSON document.
pub(super) fn text(value: &Value) -> String {
    escape_harmful(serde_json::to_string_pretty(value).unwrap_or_default())
}

/// Formats a value as JSON on one line.
pub(super) fn line(value: &Value) -> String {
    escape_harmful(value.to_string())
}

/// Escapes characters that must not reach a terminal. Such characters occur only within JSON strings, so parsers read the same
/// values from the escaped text.
fn escape_harmful(json: String) -> String {
    let harms = |char: char| (char.is_control() && char != '\n') || is_bidi_control(char);
    if !json.contains(harms) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len().saturating_add(64));
    for char in json.chars() {
        if harms(char) {
            write!(escaped, "\\u{:04x}", u32::from(char)).ok();
        } else {
            escaped.push(char);
        }
    }
    escaped
}

/// Maximum number of events that are kept, and of events that may wait for a slow program that reads the output.
pub(super) const EVENTS_MAX: usize = 1000;

/// The last events of a long-running process, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct EventLog(Arc<watch::Sender<VecDeque<String>>>);

impl EventLog {
    /// Records all events of the main loop from now on. If the loop has ended, nothing is recorded.
    pub(super) fn keep(handle: &LoopHandle) -> Self {
        let log = Self::default();
        let kept = log.clone();
        handle.watch(Box::new(move |engine, events| {
            kept.0.send_modify(|lines| {
                lines.extend(lines_of(engine, events));
                let beyond = lines.len().saturating_sub(EVENTS_MAX);
                lines.drain(..beyond);
            });
            false
        }));
        log
    }

    /// Returns the recorded events as lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.borrow().iter().cloned().collect()
    }
}

/// Converts events to lines of JSON for scripts.
pub(super) fn lines_of(engine: &Engine, events: &[Event]) -> Vec<String> {
    if events.is_empty() {
        return Vec::new();
    }
    let now = clock::now();
    events.iter().filter_map(|event| Some(line(&event_line(engine, event, now)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes_terminal_control_characters() {
        let value =
            json!({ "a\u{202e}": ["\u{1b}[2J\u{9b}\u{7f}\u{85}\n", "\u{2066}\u{61c}ä\u{1f600}"] });
        for text in [text(&value), line(&value)] {
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            let printed = crate::io::console::without_controls(&text);
            assert!(matches!(printed, std::borrow::Cow::Borrowed(_)), "{text}");
        }
        assert!(!line(&value).contains('\n'));
    }
}
