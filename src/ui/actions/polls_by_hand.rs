//! Polls that the user starts with a key.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::poll_answers;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::poll_request::{PollKind, PollRequest};
use crate::engine::poll::poll_results::PollResult;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use backissue_core::history::FeedKey;
use backissue_core::words::duration_words;

/// Polls feeds because the user pressed a key. Results are reported when they arrive; feeds that cannot be polled now are reported
/// at once.
pub fn poll_feeds(
    app: &mut App,
    now: DateTime<Utc>,
    feeds: Option<Vec<FeedKey>>,
) -> Vec<ScreenEffect> {
    let noted = app.engine.poll_run.noted;
    let wanted: BTreeSet<FeedKey> = match &feeds {
        Some(feeds) => feeds.iter().copied().collect(),
        None => app.engine.feeds.keys().copied().collect(),
    };
    let request = PollRequest { feeds, kind: PollKind::Allowed, archives: true };
    let effects = app.ask(now, Request::Poll(request));
    let polled: BTreeSet<FeedKey> =
        wanted.iter().copied().filter(|feed| app.engine.polls.contains_key(feed)).collect();
    let left_out = wanted.len().saturating_sub(polled.len());
    if polled.is_empty() {
        let skipped: Vec<&PollResult> = app.engine.poll_run.since(noted).collect();
        if let Some(first) = skipped.first() {
            let text = nothing_polled(app, now, first, wanted.len());
            app.ui.answer(now, text);
        }
        return effects;
    }
    app.ui.notice = None;
    poll_answers::wait_for_polls(app, polled, left_out);
    effects
}

/// Explains why none of the wanted feeds is polled. If the first feed was checked within the last 5 minutes, this is given as the
/// reason; otherwise, the reason in `first` is given.
fn nothing_polled(app: &App, now: DateTime<Utc>, first: &PollResult, wanted: usize) -> String {
    let reason = first.reason.as_deref().unwrap_or_default();
    if app.engine.confirming.is_some() {
        let again = app.ui.words("{poll} again polls it anyway");
        return format!("not polled: {reason} · {again}");
    }
    let Some(feed) = app.engine.feeds.get(&first.feed) else {
        return format!("not polled: {reason}");
    };
    let title = feed.record.shown_title();
    let checked = checked_lately(feed, now);
    match (checked, wanted) {
        (Some(ago), 1) => format!("nothing new in {title} (checked {ago} ago)"),
        (Some(ago), _) => {
            format!("nothing polled: all were checked within 5 min ({title} {ago} ago)")
        }
        (None, 1) => format!("not polled: {reason}"),
        (None, all) => format!("none of the {all} feeds was polled; {title}: {reason}"),
    }
}

/// Formats the time since the last poll of a feed, if this poll was successful and so recent that it is the only reason not to poll
/// now.
fn checked_lately(feed: &Subscription, now: DateTime<Utc>) -> Option<String> {
    let facts = &feed.state.facts;
    let read = facts.last_ok.filter(|at| facts.last_try == Some(*at))?;
    let ago = now.signed_duration_since(read).num_seconds();
    // A check more than 5 minutes ago does not prevent a poll, so there must be another reason.
    (0..300).contains(&ago).then(|| duration_words(ago.max(1)))
}
