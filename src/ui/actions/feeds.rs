//! Polls that the user starts with a key, subscriptions that are imported from a file or exported to one, and serving the store to
//! the user's devices while the screen is open.

use std::collections::BTreeSet;

use backissue_core::InputFlaw;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::words::duration_words;
use chrono::{DateTime, Utc};

use super::super::follow;
use crate::engine::feeds::import::subscriptions_text;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::poll_log::PollResult;
use crate::engine::poll::poll_request::{PollKind, PollRequest};
use crate::engine::request::Request;
use crate::engine::search_query::with_new;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ScreenEffect;
use crate::ui::state::pending::ImportedList;

/// Polls feeds because the user pressed a key. Results are reported when they arrive; feeds that cannot be polled now are reported
/// at once.
pub fn poll_feeds(cx: &mut Cx<'_>, feeds: Option<Vec<FeedKey>>) {
    let noted = cx.app.engine.poll_run.noted;
    let wanted: BTreeSet<FeedKey> = match &feeds {
        Some(feeds) => feeds.iter().copied().collect(),
        None => cx.app.engine.feeds.keys().copied().collect(),
    };
    let request = PollRequest { feeds, kind: PollKind::Allowed, archives: true };
    cx.ask(Request::Poll(request));
    let polled: BTreeSet<FeedKey> =
        wanted.iter().copied().filter(|feed| cx.app.engine.polls.contains_key(feed)).collect();
    let left_out = wanted.len().saturating_sub(polled.len());
    if polled.is_empty() {
        let skipped: Vec<&PollResult> = cx.app.engine.poll_run.since(noted).collect();
        if let Some(first) = skipped.first() {
            let text = nothing_polled(cx.app, cx.now, first, wanted.len());
            cx.answer(text);
        }
        return;
    }
    cx.app.ui.notice = None;
    follow::wait_for_polls(cx.app, polled, left_out);
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

/// Maximum number of rejected lines of an imported file that the message names. Further rejected lines are only counted.
const REFUSED_NAMED: usize = 3;

/// Requests the import of the subscription list in the file at `path`.
pub fn import_file(cx: &mut Cx<'_>, path: &str) {
    cx.ask(Request::ImportFile(path.trim().to_owned()));
}

/// Requests the export of the subscriptions to a file.
pub fn export_list(cx: &mut Cx<'_>, path: &str) {
    let text = subscriptions_text(cx.app.engine.feeds.values().map(|feed| &feed.record));
    cx.out.push(ScreenEffect::Export { path: path.trim().to_owned(), text });
}

/// Subscribes to every feed in an imported list. The results of the first polls of these feeds are reported together when the last
/// poll ends.
pub fn import_list(cx: &mut Cx<'_>, list: ImportedList) {
    let ImportedList { wanted, searches, mut refused } = list;
    cx.app.engine.imported = None;
    cx.ask(Request::Import(wanted));
    let before = cx.app.engine.saved_searches.len();
    let list = with_new(&cx.app.engine.saved_searches, searches);
    let saved = match list.len().saturating_sub(before) {
        0 => String::new(),
        saved => {
            cx.ask(Request::SaveSearches(list));
            format!(", {} saved", counted_words(saved, "search", "searches"))
        }
    };
    let imported = cx.app.engine.imported.clone().unwrap_or_default();
    refused.extend(imported.bad.iter().map(|(address, why)| format!("{address}: {why}")));
    let known = match imported.known.len() {
        0 => String::new(),
        known => format!(", {known} already subscribed"),
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
    let said = format!("{} added{known}{saved}{left_out}", imported.added.len());
    let is_changed = !imported.added.is_empty() || !saved.is_empty();
    let undo = if is_changed { cx.app.ui.settings.keys.undo_hint() } else { String::new() };
    if cx.app.engine.is_polling_by_itself() && !cx.app.engine.offline {
        follow::wait_for_import(cx.app, imported.added.into_iter().collect(), &said);
    }
    cx.answer(format!("{said}{undo}"));
}

/// Shows the address at which devices are served, or explains how to serve them.
pub fn tell_serving(cx: &mut Cx<'_>) {
    match cx.app.ui.serving.clone() {
        Some(address) => cx.say(format!("devices are served at {address} · 'serve off' ends it")),
        None => cx.say("say where, like 'serve 8086', or 'serve 10.8.0.1:8086'"),
    }
}

/// Serves devices at a typed address. `off` stops serving them.
pub fn serve(cx: &mut Cx<'_>, typed: &str) {
    let address = Some(typed.trim().to_owned()).filter(|typed| typed != "off");
    cx.out.push(ScreenEffect::Serve(address));
}

/// Shows the address at which devices are served now, and the result of the request. The error is a sentence.
pub fn show_serving(cx: &mut Cx<'_>, address: Option<String>, told: Result<String, InputFlaw>) {
    cx.app.ui.serving = address;
    match told {
        Ok(told) => cx.answer(told),
        Err(why) => cx.complain(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addition::Subscribe;
    use crate::ui::actions::feeds::*;
    use crate::ui::sample_app::{app_with, noon};

    #[test]
    fn list_is_imported_and_rejected_lines_are_named() {
        let mut app = app_with(&[("Orchard", &[])]);
        let wanted = |address: &str| Subscribe { address: address.into(), ..Subscribe::default() };
        let list = ImportedList {
            wanted: vec![wanted("https://a.example/f"), wanted("https://feed1.example/")],
            searches: vec![("Cold".into(), "frost".into())],
            refused: (1..=5).map(|line| format!("line {line}: no address")).collect(),
        };
        Cx::run(&mut app, noon(), |cx| import_list(cx, list));
        assert_eq!(
            app.ui.notice.map(|notice| notice.text).as_deref(),
            Some(
                "1 added, 1 already subscribed, 1 search saved · left out: line 1: no address; line 2: no address; \
                 line 3: no address; and 2 more ('backissue import' lists all) · u undo"
            )
        );
        assert_eq!(app.engine.saved_searches[0].text, "frost");
        assert_eq!(app.ui.asked_polls.len(), 1, "its first poll is waited for");
    }
}
