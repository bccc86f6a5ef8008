//! Unsubscribes from feeds. Asks for confirmation first if several feeds, or unread or starred entries, could be lost by accident.
//! A list has the feeds that were unsubscribed within the last week: Enter restores the selected feed, or the marked ones.

use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::history::{Counters, FeedKey};
use chrono::{DateTime, Utc};

use super::marking;
use crate::engine::entries::account_sync;
use crate::engine::feeds::unsubscribe::{also_there, recently_removed, removed_there};
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::keys::command_table::Command;
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::accounts;
use crate::ui::overlays::list_panel::{self, KeyOutcome, ListKind, action};
use crate::ui::panes::attention;
use crate::ui::reader::open_pages;
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, Overlay};

/// Maximum number of feeds that a confirmation question names. If there are more, the others are only counted.
const NAMED_MAX: usize = 3;
/// Maximum number of characters of each feed title in a confirmation question about several feeds.
const TITLE_MAX: usize = 30;

/// Unsubscribes from the marked feeds or, if no feed is marked, from the selected feed or the feeds of the selected tag. Asks for
/// confirmation if there are several feeds, if the focus is not on the feed itself, or if the feed has unread or starred entries.
pub fn unsubscribe_selected(cx: &mut Cx<'_>) {
    let marked = marking::marked_feeds(cx.app);
    if !marked.is_empty() {
        return ask_about(cx, marked);
    }
    if let (Pane::Feeds, Some(FeedsRow::Tag(_, feeds))) =
        (cx.app.ui.focus, cx.app.ui.feeds.selected_row())
    {
        return ask_about(cx, feeds.clone());
    }
    let concerned = || attention::selected_concern(cx.app, cx.now).map(|concern| concern.feed);
    let selected = cx.app.ui.feeds.selected_row().and_then(FeedsRow::feed);
    let Some(feed) = selected.or_else(concerned) else {
        return cx.say("select the feed to unsubscribe from");
    };
    let Some(subscription) = cx.app.engine.feeds.get(&feed) else { return };
    let counters = subscription.counters;
    let has_keys = cx.app.ui.focus == Pane::Feeds || attention::is_open(cx.app);
    if has_keys && counters.unread == 0 && counters.starred == 0 {
        return cx.ask(Request::Unsubscribe(feed));
    }
    ask_about(cx, vec![feed]);
}

/// Asks whether to unsubscribe from all feeds that no longer exist.
pub fn unsubscribe_ended(cx: &mut Cx<'_>) {
    let ended = cx.app.engine.feeds.values().filter(|feed| feed.is_gone());
    let ended: Vec<FeedKey> = ended.map(|feed| feed.key).collect();
    if ended.is_empty() {
        return cx.say("no feed has ended");
    }
    ask_about(cx, ended);
}

/// Asks whether to unsubscribe from the given feeds, with the number of entries that would be lost.
fn ask_about(cx: &mut Cx<'_>, feeds: Vec<FeedKey>) {
    let known = || feeds.iter().filter_map(|feed| cx.app.engine.feeds.get(feed));
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
    let there = also_there(&removed_there(&cx.app.engine, &feeds));
    let text = match titles.as_slice() {
        [title] => format!("Unsubscribe from '{title}' ({counts}){there}? y/n"),
        several => {
            let (what, undo) =
                (name_several(several), cx.app.ui.words("{undo} undoes this for a week"));
            format!("Unsubscribe from {what} ({counts}){there}? {undo} · y/n")
        }
    };
    cx.app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::Unsubscribe(feeds) }));
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
pub fn press_key(cx: &mut Cx<'_>, key: Key) -> KeyOutcome {
    let Some(Overlay::Question(question)) = &cx.app.ui.overlay else { return KeyOutcome::Passed };
    if key == Key::ctrl('c') {
        return KeyOutcome::Passed;
    }
    if let Asks::LeaveAccount(name) = &question.asks {
        let name = name.clone();
        cx.app.ui.uncover();
        accounts::leave(cx, key, &name);
        return KeyOutcome::Done;
    }
    match key {
        Key { code: Code::Char('y' | 'Y') | Code::Enter, ctrl: false }
            if key.code != Code::Enter || matches!(question.asks, Asks::Request(_)) =>
        {
            let asks = question.asks.clone();
            cx.app.ui.uncover();
            match asks {
                Asks::Subscribe(addresses) => list_panel::subscribe_to_several(cx, addresses),
                Asks::Unsubscribe(feeds) => unsubscribe(cx, feeds),
                Asks::Request(request) => cx.ask(*request),
                Asks::Account(name, held) => answer_account(cx, &name, held, true),
                Asks::Device(name) => cx.ask(Request::AnswerDevice(name, true)),
                Asks::LeaveAccount(_) => {}
                Asks::OpenPages(pages) => open_pages::open_pages(cx, pages),
                Asks::AskPlainly(address, None) => list_panel::subscribe_to(cx, address),
                Asks::AskPlainly(address, Some(feed)) => list_panel::move_to(cx, feed, address),
            }
        }
        Key { code: Code::Char('n' | 'N'), ctrl: false } => {
            let asks = question.asks.clone();
            cx.app.ui.uncover();
            if let Asks::Account(name, held) = asks {
                answer_account(cx, &name, held, false);
                return KeyOutcome::Done;
            }
            cx.say("cancelled: nothing was changed");
            if let Asks::Device(name) = asks {
                cx.ask(Request::AnswerDevice(name, false));
            }
        }
        Key { code: Code::Char('q') | Code::Esc, ctrl: false } => {
            cx.app.ui.uncover();
            cx.say("cancelled: nothing was changed");
        }
        Key { .. } => {}
    }
    KeyOutcome::Done
}

/// Sends the user's answer to an account that waits for it.
fn answer_account(cx: &mut Cx<'_>, name: &str, held: Vec<FeedKey>, yes: bool) {
    let requests = account_sync::answer(&cx.app.engine, name, held, cx.now, yes);
    for request in requests {
        cx.ask(request);
    }
}

/// Unsubscribes from feeds. Unsubscribing from several feeds can be undone as one change.
fn unsubscribe(cx: &mut Cx<'_>, feeds: Vec<FeedKey>) {
    cx.app.ui.marked.feeds.clear();
    if let [feed] = feeds.as_slice() {
        return cx.ask(Request::Unsubscribe(*feed));
    }
    let (count, there) = (feeds.len(), also_there(&removed_there(&cx.app.engine, &feeds)));
    let requests = feeds.into_iter().map(Request::Unsubscribe).collect();
    // The question has already named the accounts.
    cx.ask(Request::Answered(Box::new(Request::Together(requests)), None));
    cx.say_undoable(format!("unsubscribed from {count} feeds{there}"));
}

/// The list of unsubscribed feeds.
pub static LIST: ListKind = ListKind {
    title: "Recently removed",
    empty: "no feed was removed in the last week",
    toggles: &[Command::Removed],
    count: |app, now, _| recently_removed(&app.engine, now).len(),
    actions: &[
        action(&[Command::Enter], "subscribes again", |cx, open| {
            let feeds = listed(cx.app, cx.now);
            let is_marked = |feed: &FeedKey| cx.app.ui.marked.feeds.contains(feed);
            let marked: Vec<FeedKey> = feeds.iter().copied().filter(is_marked).collect();
            let selected = || feeds.get(open.list.selected).copied().into_iter().collect();
            let chosen = if marked.is_empty() { selected() } else { marked };
            restore(cx, chosen);
            Some(())
        }),
        action(&[Command::MarkRow], "marks", |cx, open| {
            let feed = *listed(cx.app, cx.now).get(open.list.selected)?;
            cx.app.ui.marked.toggle_feeds(&[feed]);
            list_panel::scroll(cx, &LIST, (true, Distance::One));
            Some(())
        }),
        action(&[Command::MarkAllRead], "restores all", |cx, _| {
            let feeds = listed(cx.app, cx.now);
            restore(cx, feeds);
            Some(())
        }),
    ],
    closed: |cx, _| {
        let feeds = listed(cx.app, cx.now);
        cx.app.ui.marked.feeds.retain(|feed| !feeds.contains(feed));
    },
    ..ListKind::PLAIN
};

fn listed(app: &App, now: DateTime<Utc>) -> Vec<FeedKey> {
    recently_removed(&app.engine, now).iter().map(|(feed, _)| feed.key).collect()
}

/// Restores feeds as one change.
fn restore(cx: &mut Cx<'_>, feeds: Vec<FeedKey>) {
    cx.app.ui.marked.feeds.retain(|feed| !feeds.contains(feed));
    if let [feed] = feeds.as_slice() {
        return cx.ask(Request::SubscribeAgain(*feed));
    }
    let count = feeds.len();
    let requests = feeds.into_iter().map(Request::SubscribeAgain).collect();
    cx.ask(Request::Together(requests));
    cx.say_undoable(format!("subscribed again to {count} feeds"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::key::parse_key;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::overlay::{ListOf, OpenList, Overlay};
    use crate::ui::update::ScreenInput;
    use crate::ui::update::update;

    fn press(app: &mut App, key: &str) {
        update(app, noon(), ScreenInput::Key(parse_key(key).unwrap()));
    }

    fn toggle_list(app: &mut App) {
        Cx::run(app, noon(), |cx| list_panel::toggle(cx, ListOf::Removed, &LIST));
    }

    fn titles(app: &App) -> Vec<String> {
        let feeds = app.engine.feeds.values();
        feeds.map(|feed| feed.record.shown_title().to_owned()).collect()
    }

    #[test]
    fn without_a_removed_feed_there_is_no_list() {
        let mut app = app_with(&[("Orchard", &[])]);
        toggle_list(&mut app);
        assert_eq!(app.ui.overlay, None);
    }

    #[test]
    fn marked_feeds_or_all_are_restored_at_once() {
        for (keys, expected) in [
            ("x j x Enter", vec!["Harbour", "Tower"]),
            ("A", vec!["Harbour", "Orchard", "Tower"]),
            ("x q", vec![]),
        ] {
            let mut app = app_with(&[("Harbour", &[]), ("Orchard", &[]), ("Tower", &[])]);
            for feed in app.engine.feeds.keys().copied().collect::<Vec<_>>() {
                Cx::run(&mut app, noon(), |cx| cx.ask(Request::Unsubscribe(feed)));
            }
            toggle_list(&mut app);
            for key in keys.split(' ') {
                press(&mut app, key);
            }
            assert_eq!(titles(&app), expected, "{keys}");
            assert!(app.ui.marked.is_empty(), "{keys}");
            if !expected.is_empty() {
                Cx::run(&mut app, noon(), |cx| {
                    cx.ask(Request::Answered(Box::new(Request::Undo), None));
                });
                assert_eq!(titles(&app), [""; 0], "{keys}: one change");
            }
        }
    }

    #[test]
    fn enter_restores_the_feed_and_undo_removes_it_again() {
        let mut app = app_with(&[("Harbour", &[]), ("Orchard", &[])]);
        for feed in app.engine.feeds.keys().copied().collect::<Vec<_>>() {
            Cx::run(&mut app, noon(), |cx| cx.ask(Request::Unsubscribe(feed)));
        }
        toggle_list(&mut app);
        press(&mut app, "G");
        press(&mut app, "Enter");
        assert_eq!(titles(&app), ["Orchard"]);
        assert!(
            matches!(app.ui.overlay, Some(Overlay::List(OpenList { of: ListOf::Removed, .. }))),
            "one is left"
        );
        Cx::run(&mut app, noon(), |cx| cx.ask(Request::Undo));
        assert_eq!(titles(&app), Vec::<String>::new());
        press(&mut app, "k");
        press(&mut app, "Enter");
        press(&mut app, "Enter");
        assert_eq!(titles(&app), ["Harbour", "Orchard"]);
        assert_eq!(app.ui.overlay, None, "none is left");
    }
}
