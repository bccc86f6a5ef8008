//! Unsubscribes from feeds. Asks for confirmation first if several feeds, or unread or starred entries, could be lost by accident.

use chrono::{DateTime, Utc};

use super::marking;
use crate::engine::entries::account_sync;
use crate::engine::feeds::removals::{also_there, removed_there};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::accounts::account_list;
use crate::ui::overlays::feed_choice;
use crate::ui::overlays::outcome::KeyOutcome;
use crate::ui::panes::attention;
use crate::ui::reader::open_pages;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, Overlay};
use backissue_core::feed::text::counted_words;
use backissue_core::feed::text::one_line;
use backissue_core::history::{Counters, FeedKey};

/// Maximum number of feeds that a confirmation question names. If there are more, the others are only counted.
const NAMED_MAX: usize = 3;
/// Maximum number of characters of each feed title in a confirmation question about several feeds.
const TITLE_MAX: usize = 30;

/// Unsubscribes from the marked feeds or, if no feed is marked, from the selected feed. Asks for confirmation if there are several
/// feeds, if the focus is not on the feed itself, or if the feed has unread or starred entries.
pub fn unsubscribe_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let marked = marking::marked_feeds(app);
    if !marked.is_empty() {
        return ask_about(app, marked);
    }
    let concerned = || attention::selected_concern(app, now).map(|concern| concern.feed);
    let selected = app.ui.feeds.selected_row().and_then(FeedsRow::feed);
    let Some(feed) = selected.or_else(concerned) else {
        return app.ui.say_only(now, "select the feed to unsubscribe from");
    };
    let Some(subscription) = app.engine.feeds.get(&feed) else { return Vec::new() };
    let counters = subscription.counters;
    let has_keys = app.ui.focus == Pane::Feeds || attention::is_open(app);
    if has_keys && counters.unread == 0 && counters.starred == 0 {
        return app.ask(now, Request::Unsubscribe(feed));
    }
    ask_about(app, vec![feed])
}

/// Asks whether to unsubscribe from all feeds that no longer exist.
pub fn unsubscribe_ended(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let ended = app.engine.feeds.values().filter(|feed| feed.is_gone());
    let ended: Vec<FeedKey> = ended.map(|feed| feed.key).collect();
    if ended.is_empty() {
        return app.ui.say_only(now, "no feed has ended");
    }
    ask_about(app, ended)
}

/// Asks whether to unsubscribe from the given feeds, with the number of entries that would be lost.
fn ask_about(app: &mut App, feeds: Vec<FeedKey>) -> Vec<ScreenEffect> {
    let known = || feeds.iter().filter_map(|feed| app.engine.feeds.get(feed));
    let sum = |count: fn(&Counters) -> u32| {
        known().map(|feed| count(&feed.counters)).fold(0, u32::saturating_add)
    };
    let (total, unread, starred) =
        (sum(|all| all.total), sum(|all| all.unread), sum(|all| all.starred));
    let counts = [
        Some(counted_words(total, "entry", "entries")),
        (unread > 0).then(|| format!("{unread} unread")),
        (starred > 0).then(|| format!("{starred} starred")),
    ];
    let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let titles: Vec<&str> = known().map(|feed| feed.record.shown_title()).collect();
    let there = also_there(&removed_there(&app.engine, &feeds));
    let text = match titles.as_slice() {
        [title] => format!("Unsubscribe from '{title}' ({counts}){there}? y/n"),
        several => {
            let (what, undo) =
                (name_several(several), app.ui.words("{undo} undoes this for a week"));
            format!("Unsubscribe from {what} ({counts}){there}? {undo} · y/n")
        }
    };
    app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::Unsubscribe(feeds) }));
    Vec::new()
}

/// Lists the titles of two or three feeds. For more feeds, lists the first two titles and counts the other feeds.
fn name_several(titles: &[&str]) -> String {
    let named = if titles.len() > NAMED_MAX { NAMED_MAX.saturating_sub(1) } else { titles.len() };
    let mut parts: Vec<String> = titles
        .iter()
        .take(named)
        .map(|title| format!("'{}'", one_line(title, TITLE_MAX)))
        .collect();
    let others = titles.len().saturating_sub(named);
    let last = if others > 0 { Some(format!("{others} more")) } else { parts.pop() };
    format!("{} and {}", parts.join(", "), last.unwrap_or_default())
}

/// Handles a key while the confirmation question is open: `y` confirms, `n` and Esc cancel, and any other key does nothing. Enter
/// confirms only a question that names it.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Question(question)) = &app.ui.overlay else { return KeyOutcome::Passed };
    if key == Key::ctrl('c') {
        return KeyOutcome::Passed;
    }
    if let Asks::LeaveAccount(name) = &question.asks {
        let name = name.clone();
        app.ui.uncover();
        return KeyOutcome::Done(account_list::leave(app, now, key, &name));
    }
    match key {
        Key { code: Code::Char('y' | 'Y') | Code::Enter, ctrl: false }
            if key.code != Code::Enter || matches!(question.asks, Asks::Request(_)) =>
        {
            let asks = question.asks.clone();
            app.ui.uncover();
            return KeyOutcome::Done(match asks {
                Asks::Unsubscribe(feeds) => unsubscribe(app, now, feeds),
                Asks::Request(request) => app.ask(now, *request),
                Asks::Account(name, held) => answer_account(app, now, &name, held, true),
                Asks::LeaveAccount(_) => Vec::new(),
                Asks::OpenPages(pages) => open_pages::open_pages(app, now, pages),
                Asks::AskPlainly(address, None) => feed_choice::subscribe_to(app, now, address),
                Asks::AskPlainly(address, Some(feed)) => {
                    feed_choice::move_to(app, now, feed, address)
                }
            });
        }
        Key { code: Code::Char('n' | 'N'), ctrl: false } => {
            let asks = question.asks.clone();
            app.ui.uncover();
            if let Asks::Account(name, held) = asks {
                return KeyOutcome::Done(answer_account(app, now, &name, held, false));
            }
            app.ui.say(now, "cancelled: nothing was changed");
        }
        Key { code: Code::Char('q') | Code::Esc, ctrl: false } => {
            app.ui.uncover();
            app.ui.say(now, "cancelled: nothing was changed");
        }
        Key { .. } => {}
    }
    KeyOutcome::Done(Vec::new())
}

/// Answers what an account waits for.
fn answer_account(
    app: &mut App,
    now: DateTime<Utc>,
    name: &str,
    held: Vec<FeedKey>,
    yes: bool,
) -> Vec<ScreenEffect> {
    let requests = account_sync::answer(&app.engine, name, held, now, yes);
    requests.into_iter().flat_map(|request| app.ask(now, request)).collect()
}

/// Unsubscribes from feeds. Unsubscribing from several feeds can be undone as one change.
fn unsubscribe(app: &mut App, now: DateTime<Utc>, feeds: Vec<FeedKey>) -> Vec<ScreenEffect> {
    app.ui.marked.feeds.clear();
    if let [feed] = feeds.as_slice() {
        return app.ask(now, Request::Unsubscribe(*feed));
    }
    let (count, there) = (feeds.len(), also_there(&removed_there(&app.engine, &feeds)));
    let requests = feeds.into_iter().map(Request::Unsubscribe).collect();
    // The question named the accounts.
    let effects = app.ask(now, Request::Answered(Box::new(Request::Together(requests)), None));
    app.ui.say_undoable(now, format!("unsubscribed from {count} feeds{there}"));
    effects
}
