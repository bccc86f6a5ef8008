//! The list of feeds that were unsubscribed within the last week. Enter restores the selected feed, or the marked ones.

use chrono::{DateTime, Utc};

use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::scroll_list::Distance;
use backissue_core::history::FeedKey;

/// The list of unsubscribed feeds.
pub static LIST: ListKind = ListKind {
    title: "Recently removed",
    empty: "no feed was removed in the last week",
    toggles: &[Command::Removed],
    count: |app, now, _| recently_removed(&app.engine, now).len(),
    actions: &[
        action(&[Command::Enter], "subscribes again", |app, now, open| {
            let feeds = listed(app, now);
            let is_marked = |feed: &FeedKey| app.ui.marked.feeds.contains(feed);
            let marked: Vec<FeedKey> = feeds.iter().copied().filter(is_marked).collect();
            let selected = || feeds.get(open.list.selected).copied().into_iter().collect();
            let chosen = if marked.is_empty() { selected() } else { marked };
            Some(restore(app, now, chosen))
        }),
        action(&[Command::MarkRow], "marks", |app, now, open| {
            let feed = *listed(app, now).get(open.list.selected)?;
            app.ui.marked.toggle_feeds(&[feed]);
            Some(list_panel::scroll(app, now, &LIST, (true, Distance::One)))
        }),
        action(&[Command::MarkAllRead], "restores all", |app, now, _| {
            let feeds = listed(app, now);
            Some(restore(app, now, feeds))
        }),
    ],
    closed: |app, now, _| {
        let feeds = listed(app, now);
        app.ui.marked.feeds.retain(|feed| !feeds.contains(feed));
        Vec::new()
    },
    ..ListKind::PLAIN
};

fn listed(app: &App, now: DateTime<Utc>) -> Vec<FeedKey> {
    recently_removed(&app.engine, now).iter().map(|(feed, _)| feed.key).collect()
}

/// Restores feeds as one change.
fn restore(app: &mut App, now: DateTime<Utc>, feeds: Vec<FeedKey>) -> Vec<ScreenEffect> {
    app.ui.marked.feeds.retain(|feed| !feeds.contains(feed));
    if let [feed] = feeds.as_slice() {
        return app.ask(now, Request::SubscribeAgain(*feed));
    }
    let count = feeds.len();
    let requests = feeds.into_iter().map(Request::SubscribeAgain).collect();
    let effects = app.ask(now, Request::Together(requests));
    app.ui.say_undoable(now, format!("subscribed again to {count} feeds"));
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::input::ScreenInput;
    use crate::ui::keys::key_names::parse_key;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::overlay::{ListOf, OpenList, Overlay};
    use crate::ui::update::update;

    fn press(app: &mut App, key: &str) {
        update(app, noon(), ScreenInput::Key(parse_key(key).unwrap()));
    }

    fn toggle_list(app: &mut App) {
        list_panel::toggle(app, noon(), ListOf::Removed, &LIST);
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
                app.ask(noon(), Request::Unsubscribe(feed));
            }
            toggle_list(&mut app);
            for key in keys.split(' ') {
                press(&mut app, key);
            }
            assert_eq!(titles(&app), expected, "{keys}");
            assert!(app.ui.marked.is_empty(), "{keys}");
            if !expected.is_empty() {
                app.ask(noon(), Request::Answered(Box::new(Request::Undo), None));
                assert_eq!(titles(&app), [""; 0], "{keys}: one change");
            }
        }
    }

    #[test]
    fn enter_restores_the_feed_and_undo_removes_it_again() {
        let mut app = app_with(&[("Harbour", &[]), ("Orchard", &[])]);
        for feed in app.engine.feeds.keys().copied().collect::<Vec<_>>() {
            app.ask(noon(), Request::Unsubscribe(feed));
        }
        toggle_list(&mut app);
        press(&mut app, "G");
        press(&mut app, "Enter");
        assert_eq!(titles(&app), ["Orchard"]);
        assert!(
            matches!(app.ui.overlay, Some(Overlay::List(OpenList { of: ListOf::Removed, .. }))),
            "one is left"
        );
        app.ask(noon(), Request::Undo);
        assert_eq!(titles(&app), Vec::<String>::new());
        press(&mut app, "k");
        press(&mut app, "Enter");
        press(&mut app, "Enter");
        assert_eq!(titles(&app), ["Harbour", "Orchard"]);
        assert_eq!(app.ui.overlay, None, "none is left");
    }
}
