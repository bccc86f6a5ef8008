//! The list of feeds that were unsubscribed within the last week. Enter restores the selected feed, or the marked ones.

use chrono::{DateTime, Utc};

use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::overlays::outcome::{ClickOutcome, KeyOutcome};
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use backissue_core::history::FeedKey;

/// Opens or closes the list of unsubscribed feeds.
pub fn toggle_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Removed(_))) {
        app.ui.uncover();
    } else if recently_removed(&app.engine, now).is_empty() {
        app.ui.say(now, "no feed was removed in the last week");
    } else {
        app.ui.lay_over(Overlay::Removed(ScrollList::default()));
    }
    Vec::new()
}

/// Handles a key in the list of unsubscribed feeds.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Removed(mut list)) = app.ui.overlay else { return KeyOutcome::Passed };
    let feeds: Vec<FeedKey> =
        recently_removed(&app.engine, now).iter().map(|(feed, _)| feed.key).collect();
    let count = feeds.len();
    list.selected = list.selected.min(count.saturating_sub(1));
    match app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Down) => list.step(true, 1, count),
        Some(Command::Up) => list.step(false, 1, count),
        Some(Command::First) => list.step(false, count, count),
        Some(Command::Last) => list.step(true, count, count),
        Some(Command::Enter) => {
            let is_marked = |feed: &FeedKey| app.ui.marked.feeds.contains(feed);
            let marked: Vec<FeedKey> = feeds.iter().copied().filter(is_marked).collect();
            let selected = || feeds.get(list.selected).copied().into_iter().collect();
            let chosen = if marked.is_empty() { selected() } else { marked };
            return KeyOutcome::Done(restore(app, now, chosen));
        }
        Some(Command::MarkAllRead) => {
            return KeyOutcome::Done(restore(app, now, feeds));
        }
        Some(Command::MarkRow) => {
            app.ui
                .marked
                .toggle_feeds(&feeds.get(list.selected).copied().into_iter().collect::<Vec<_>>());
            list.step(true, 1, count);
        }
        Some(command @ (Command::Undo | Command::Redo | Command::Help | Command::Quit)) => {
            return KeyOutcome::Run(command);
        }
        Some(Command::Back | Command::Close | Command::Left | Command::Removed) => {
            app.ui.marked.feeds.retain(|feed| !feeds.contains(feed));
            app.ui.uncover();
            return KeyOutcome::Done(Vec::new());
        }
        Some(_) | None => {
            app.ui.say(
                now,
                "in this list: Enter subscribes again, x marks, A restores all, q closes",
            );
        }
    }
    app.ui.overlay = Some(Overlay::Removed(list));
    KeyOutcome::Done(Vec::new())
}

/// Restores feeds as one change.
fn restore(app: &mut App, now: DateTime<Utc>, feeds: Vec<FeedKey>) -> Vec<ScreenEffect> {
    app.ui.marked.feeds.retain(|feed| !feeds.contains(feed));
    let effects = if let [feed] = feeds.as_slice() {
        app.ask(now, Request::SubscribeAgain(*feed))
    } else {
        let count = feeds.len();
        let requests = feeds.into_iter().map(Request::SubscribeAgain).collect();
        let effects = app.ask(now, Request::Together(requests));
        app.ui.say_undoable(now, format!("subscribed again to {count} feeds"));
        effects
    };
    if recently_removed(&app.engine, now).is_empty() {
        app.ui.uncover();
    }
    effects
}

/// Selects the clicked feed; a click on the selected feed restores it.
pub fn click_line(app: &mut App, now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let count = recently_removed(&app.engine, now).len();
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Removed(list)) = &mut app.ui.overlay
        && list.click(place, count)
    {
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::key_names::parse_key;
    use crate::ui::sample_app::{app_with, noon};

    fn press(app: &mut App, key: &str) -> KeyOutcome {
        press_key(app, noon(), parse_key(key).unwrap())
    }

    fn titles(app: &App) -> Vec<String> {
        let feeds = app.engine.feeds.values();
        feeds.map(|feed| feed.record.shown_title().to_owned()).collect()
    }

    #[test]
    fn without_a_removed_feed_there_is_no_list() {
        let mut app = app_with(&[("Orchard", &[])]);
        toggle_list(&mut app, noon());
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
            toggle_list(&mut app, noon());
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
        toggle_list(&mut app, noon());
        press(&mut app, "G");
        press(&mut app, "Enter");
        assert_eq!(titles(&app), ["Orchard"]);
        assert!(matches!(app.ui.overlay, Some(Overlay::Removed(_))), "one is left");
        app.ask(noon(), Request::Undo);
        assert_eq!(titles(&app), Vec::<String>::new());
        press(&mut app, "k");
        press(&mut app, "Enter");
        press(&mut app, "Enter");
        assert_eq!(titles(&app), ["Harbour", "Orchard"]);
        assert_eq!(app.ui.overlay, None, "none is left");
    }
}
