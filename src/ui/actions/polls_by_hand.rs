//! Polls that the reader asks for, by a key or by importing a list.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::poll_answers;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::manual_poll::{PollKind, PollRequest};
use crate::engine::poll::poll_results::PollResult;
use crate::engine::request::Request;
use crate::history::FeedKey;
use crate::schedule::duration_words;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::imported_list::ImportedList;

/// What was left out of a list is named up to this number; the rest is counted.
const REFUSED_NAMED: usize = 3;

/// Polls by hand. What came of it is told when it is known, and at once what cannot be polled now.
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

/// Why nothing is polled now; where a feed was checked a moment ago, that is the answer.
fn nothing_polled(app: &App, now: DateTime<Utc>, first: &PollResult, wanted: usize) -> String {
    let reason = first.reason.as_deref().unwrap_or_default();
    if app.engine.confirming.is_some() {
        return format!("not polled: {reason} · r again polls it all the same");
    }
    let Some(feed) = app.engine.feeds.get(&first.feed) else {
        return format!("not polled: {reason}");
    };
    let title = feed.record.shown_title();
    let checked = checked_lately(feed, now);
    match (checked, wanted) {
        (Some(ago), 1) => format!("nothing new in {title} (checked {ago} ago)"),
        (Some(ago), _) => {
            format!("nothing new: all were checked a moment ago ({title} {ago} ago)")
        }
        (None, 1) => format!("not polled: {reason}"),
        (None, all) => format!("none of {all} feeds is polled; {title}: {reason}"),
    }
}

/// How long ago a feed was read, if that is all that keeps it from being polled again.
fn checked_lately(feed: &Subscription, now: DateTime<Utc>) -> Option<String> {
    let facts = &feed.state.facts;
    let read = facts.last_ok.filter(|at| facts.last_try == Some(*at))?;
    let ago = now.signed_duration_since(read).num_seconds();
    // Longer ago something else is the reason.
    (0..300).contains(&ago).then(|| duration_words(ago.max(1)))
}

/// Subscribes to what a list names. Its first poll is told of when it has ended.
pub fn import_list(app: &mut App, now: DateTime<Utc>, list: ImportedList) -> Vec<ScreenEffect> {
    let ImportedList { wanted, mut refused } = list;
    app.engine.imported = None;
    let effects = app.ask(now, Request::Import(wanted));
    let imported = app.engine.imported.clone().unwrap_or_default();
    refused.extend(imported.bad.iter().map(|(address, why)| format!("{address}: {why}")));
    let known = match imported.known.len() {
        0 => String::new(),
        known => format!(", {known} subscribed to before"),
    };
    let mut named: Vec<String> = refused.iter().take(REFUSED_NAMED).cloned().collect();
    let more = refused.len().saturating_sub(named.len());
    if more > 0 {
        named.push(format!("and {more} more ('backissue import' lists all)"));
    }
    let left_out = if named.is_empty() {
        String::new()
    } else {
        format!(" · left out: {}", named.join("; "))
    };
    let said = format!("{} added{known}{left_out}", imported.added.len());
    if app.engine.is_polling_by_itself() && !app.engine.offline {
        poll_answers::wait_for_polls(app, imported.added.into_iter().collect(), 0);
    }
    app.ui.answer(now, said);
    effects
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addition::Subscribe;
    use crate::ui::actions::polls_by_hand::*;
    use crate::ui::sample_app::{app_with, noon};

    #[test]
    fn a_list_is_taken_and_what_is_left_out_of_it_is_named() {
        let mut app = app_with(&[("Orchard", &[])]);
        let wanted = |address: &str| Subscribe { address: address.into(), ..Subscribe::default() };
        let list = ImportedList {
            wanted: vec![wanted("https://a.example/f"), wanted("https://feed1.example/")],
            refused: (1..=5).map(|line| format!("line {line}: no address")).collect(),
        };
        import_list(&mut app, noon(), list);
        assert_eq!(
            app.ui.notice.map(|notice| notice.text).as_deref(),
            Some(
                "1 added, 1 subscribed to before · left out: line 1: no address; line 2: no address; \
                 line 3: no address; and 2 more ('backissue import' lists all)"
            )
        );
        assert_eq!(app.ui.asked_polls.len(), 1, "its first poll is waited for");
    }
}
