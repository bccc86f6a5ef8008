//! Moves between rows, panes and pages, sets flags of the selected entry, and marks all entries of a list as read.

use backissue_core::history::Flag;
use chrono::TimeDelta;

use super::load_rows::{move_in_list, open_list};
use super::{attention, search_pane};
use crate::engine::change::MarkChange;
use crate::engine::entries::rows::{ListPart, MarkedEntries};
use crate::engine::feeds::trouble::concerns;
use crate::engine::request::Request;
use crate::engine::wording::Span;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ScreenEffect;
use crate::ui::reader::reading_position;
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::{Arrangement, Pane};
use crate::ui::state::reader::Reader;

/// Moves the selection or scrolls, down (`true`) or up, in the focused pane.
pub fn move_in_pane(cx: &mut Cx<'_>, down: bool, distance: Distance) {
    let viewport = cx.app.ui.viewport;
    match cx.app.ui.focus {
        Pane::Feeds => {
            let pane = &mut cx.app.ui.feeds;
            let before = pane.selected;
            let steps = distance.steps(viewport.feeds_rows);
            pane.selected = moved(pane.selected, pane.rows.len(), down, steps);
            if pane.selected != before {
                open_list(cx);
            }
        }
        Pane::Entries if attention::is_open(cx.app) => {
            let count = concerns(&cx.app.engine, cx.now).len();
            let page = usize::from(viewport.entries_rows) / attention::ROW_LINES;
            let place = &mut cx.app.ui.attention;
            let rows = u16::try_from(page).unwrap_or(u16::MAX);
            place.step(down, distance.steps(rows), count);
            place.keep_in_sight(count, page.max(1));
        }
        Pane::Entries => {
            let before = cx.app.ui.list.selected;
            move_in_list(cx, down, distance);
            let after = cx.app.ui.list.selected;
            reading_position::mark_passed(cx, before, after);
        }
        Pane::Reader => {
            if let Some(reader) = cx.app.ui.shown_reader_mut() {
                let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
                let last = lines.saturating_sub(usize::from(viewport.reader_rows));
                reader.scroll = moved(
                    reader.scroll,
                    last.saturating_add(1),
                    down,
                    distance.steps(viewport.reader_rows),
                );
            }
        }
    }
}

/// Opens the Attention list and gives it the focus.
pub fn open_attention(cx: &mut Cx<'_>) {
    let place = cx.app.ui.feeds.rows.iter().position(|row| *row == FeedsRow::Attention);
    let Some(place) = place else { return };
    cx.app.ui.feeds.selected = place;
    cx.app.ui.focus = Pane::Entries;
    open_list(cx);
}

/// Moves the focus to the pane on the right. The reader gets the focus only if an entry is already open in it.
pub fn go_right(app: &mut App) {
    // The reader pane also has contents if a gap is selected: an explanation of the gap.
    let has_reader = app.ui.reader.is_some() || app.ui.explains_gap();
    app.ui.focus = match app.ui.focus {
        Pane::Entries | Pane::Reader if has_reader => Pane::Reader,
        Pane::Feeds | Pane::Entries | Pane::Reader => Pane::Entries,
    };
}

/// Moves the focus to the pane on the left.
pub const fn go_left(app: &mut App) {
    app.ui.focus = match app.ui.focus {
        Pane::Feeds | Pane::Entries => Pane::Feeds,
        Pane::Reader => Pane::Entries,
    };
}

/// Closes the topmost overlay, search or text. It never ends the program, unlike [`go_back`].
pub fn close_open(cx: &mut Cx<'_>) {
    let is_open = cx.app.ui.overlay.is_some() || cx.app.ui.search.is_some();
    if !is_open && cx.app.ui.focus == Pane::Feeds {
        return cx.say("nothing is open · {back} quits");
    }
    step_back(cx);
}

/// Goes back one step: closes the topmost overlay or search, or else moves the focus to the left, or else ends the program. After a
/// search is closed, the focus is on a list, even if the search was opened from the reader, because going back never opens a text.
pub fn go_back(cx: &mut Cx<'_>) {
    let was_in_list = cx.app.ui.focus != Pane::Reader;
    step_back(cx);
    if was_in_list && cx.app.ui.focus == Pane::Reader {
        leave_text(cx.app);
    }
}

fn step_back(cx: &mut Cx<'_>) {
    if cx.app.ui.overlay.is_some() {
        cx.app.ui.uncover();
        return;
    }
    match cx.app.ui.focus {
        Pane::Feeds | Pane::Entries if cx.app.ui.search.is_some() => search_pane::leave_search(cx),
        Pane::Reader => {
            if !cx.app.ui.shown_reader_mut().is_some_and(Reader::return_from_place) {
                leave_text(cx.app);
            }
        }
        Pane::Entries => {
            cx.app.ui.focus = Pane::Feeds;
        }
        Pane::Feeds => cx.out.push(ScreenEffect::Quit),
    }
}

/// Moves the focus from the reader to the entry list. The text stays open if the screen shows both panes.
fn leave_text(app: &mut App) {
    app.ui.focus = Pane::Entries;
    let both = [Arrangement::Wide, Arrangement::Stacked];
    if !both.contains(&app.ui.usual_arrangement()) {
        app.ui.reader = None;
    }
}

/// The part of the open list that is marked as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkPart {
    All,
    Above,
    Below,
    /// The entries that are older than this.
    OlderThan(TimeDelta),
}

/// Toggles a flag of the selected entry, such as read or starred.
pub fn toggle_mark(cx: &mut Cx<'_>, flag: Flag) {
    let Some(row) = cx.app.ui.list.selected_row() else { return };
    let Some(key) = row.key.entry() else {
        return cx.say("a gap has no marks: {open} requests what is missing");
    };
    // An entry from the feed's history, or one that was unread for too long, counts as read even if the user never opened it.
    // Toggling this state instead of the read flag restores it when the key is pressed twice.
    let counts = flag == Flag::Read && !row.flags.was_opened();
    let flag = if counts && row.flags.has_ended() {
        Flag::Ended
    } else if counts && row.flags.is_from_history() {
        Flag::FromHistory
    } else {
        flag
    };
    let value = !row.flags.get(flag);
    cx.ask(Request::Mark(MarkChange { keys: vec![key], flag, value }));
}

/// Marks the entries of the open list as read that are older than a duration, such as `3d`.
pub fn mark_older_read(cx: &mut Cx<'_>, age: &str) {
    match age.parse::<Span>() {
        Ok(age) => {
            let age = TimeDelta::minutes(i64::from(age.minutes()));
            mark_list_read(cx, MarkPart::OlderThan(age));
        }
        Err(why) => cx.say(why),
    }
}

/// Marks entries of the open list as read: all of them, those above or below the selected one, or old ones.
pub fn mark_list_read(cx: &mut Cx<'_>, marked: MarkPart) {
    let list = &mut cx.app.ui.list;
    let selected = list.selected_row().map(|row| row.key);
    let part = match marked {
        MarkPart::All => Some(ListPart::All),
        MarkPart::Above => selected.map(ListPart::Above),
        MarkPart::Below => selected.map(ListPart::Below),
        MarkPart::OlderThan(age) => cx.now.checked_sub_signed(age).map(ListPart::Before),
    };
    let Some(part) = part else { return };
    list.keep.extend(list.rows.iter().filter_map(|row| row.key.entry()));
    let number = list.number;
    cx.ask(Request::MarkAllRead(MarkedEntries::ListNumber(number, part)));
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::navigation::*;
    use crate::ui::sample_app::{app_with, fill_list, noon, rows_wanted};

    #[test]
    fn the_next_subscription_opens_its_list_and_both_ends_stop() {
        let mut app = app_with(&[("Orchard", &[])]);
        let effects = Cx::run(&mut app, noon(), |cx| move_in_pane(cx, true, Distance::One));
        assert_eq!(app.ui.feeds.selected, 1);
        assert!(rows_wanted(&effects).is_some_and(|wanted| wanted.rebuild.is_some()));
        assert_eq!(Cx::run(&mut app, noon(), |cx| move_in_pane(cx, true, Distance::All)).len(), 1);
        assert_eq!(app.ui.feeds.selected, app.ui.feeds.rows.len() - 1);
        assert!(Cx::run(&mut app, noon(), |cx| move_in_pane(cx, true, Distance::Page)).is_empty());
        Cx::run(&mut app, noon(), |cx| move_in_pane(cx, false, Distance::All));
        assert_eq!(app.ui.feeds.selected, 0);
    }

    #[test]
    fn entries_are_moved_through_by_rows_and_pages() {
        let mut app = app_with(&[("Orchard", &[])]);
        fill_list(&mut app, 100);
        app.ui.size = (100, 30);
        app.ui.focus = Pane::Entries;
        for (down, distance, selected) in [
            (true, Distance::One, 1),
            (true, Distance::Page, 20),
            (true, Distance::Half, 30),
            (false, Distance::Half, 20),
            (true, Distance::All, 99),
            (true, Distance::One, 99),
            (false, Distance::All, 0),
        ] {
            Cx::run(&mut app, noon(), |cx| move_in_pane(cx, down, distance));
            assert_eq!(app.ui.list.selected, selected, "{distance:?}");
        }
    }

    #[test]
    fn back_moves_left_pane_by_pane_and_then_quits() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.focus = Pane::Reader;
        for focus in [Pane::Entries, Pane::Feeds] {
            assert!(Cx::run(&mut app, noon(), |cx| go_back(cx)).is_empty());
            assert_eq!(app.ui.focus, focus);
        }
        assert_eq!(Cx::run(&mut app, noon(), |cx| go_back(cx)), [ScreenEffect::Quit]);
    }

    #[test]
    fn back_closes_overlays_one_by_one_before_quitting() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.focus = Pane::Reader;
        for focus in [Pane::Entries, Pane::Feeds, Pane::Feeds] {
            assert!(Cx::run(&mut app, noon(), |cx| close_open(cx)).is_empty());
            assert_eq!(app.ui.focus, focus);
        }
        let told = app.ui.notice.map(|notice| notice.text);
        assert_eq!(told.as_deref(), Some("nothing is open · q quits"));
    }

    #[test]
    fn reader_has_focus_only_while_it_shows_something() {
        let mut app = app_with(&[("Orchard", &[])]);
        fill_list(&mut app, 1);
        go_right(&mut app);
        go_right(&mut app);
        assert_eq!(app.ui.focus, Pane::Entries, "nothing is open");
        go_left(&mut app);
        assert_eq!(app.ui.focus, Pane::Feeds);
    }
}
