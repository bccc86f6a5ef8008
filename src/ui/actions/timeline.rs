//! The timeline of a feed: a row for each year of its history, and what is missing in it.

use backissue_core::history::FeedKey;
use backissue_core::history::timeline::{MonthCounts, Timeline};
use chrono::{DateTime, Utc};

use super::older;
use crate::engine::backfill::history_requests;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ask_store;
use crate::ui::keys::command_table::Command;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::panes::{attention, browsing};
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::overlay::{ListOf, OpenList, Overlay};

/// The list of years. Its last row describes what is older than the oldest entry.
pub static LIST: ListKind = ListKind {
    title: "Timeline",
    toggles: &[Command::Timeline],
    count: |app, now, of| of_list(app, now, of).map_or(0, |timeline| timeline.years.len() + 1),
    actions: &[action(&[Command::Enter], "opens a year, or sources of what is missing", enter)],
    ..ListKind::PLAIN
};

/// Opens the timeline of the selected feed. Its rows appear when the store has counted the entries.
pub fn open(cx: &mut Cx<'_>) {
    let Some(feed) = attention::selected_feed(cx.app, cx.now) else {
        return cx.say("select a feed first");
    };
    cx.out.push(ask_store(Job::CountMonths(feed, cx.app.engine.zone)));
}

/// Shows the timeline of a feed whose entries were counted.
pub fn show(app: &mut App, feed: FeedKey, counts: MonthCounts) {
    app.ui.months = Some((feed, counts));
    let of = ListOf::Timeline(feed);
    if !matches!(app.ui.overlay, Some(Overlay::List(open)) if open.of == of) {
        app.ui.lay_over(Overlay::List(OpenList { of, list: ScrollList::default() }));
    }
}

/// Returns the timeline that a list shows.
pub fn of_list(app: &App, now: DateTime<Utc>, of: ListOf) -> Option<Timeline> {
    let (counted, counts) = app.ui.months.as_ref()?;
    let feed = app.engine.feeds.get(counted).filter(|_| of == ListOf::Timeline(*counted))?;
    let gaps = history_requests::of_feed(&app.engine, feed, now);
    Some(Timeline::of(counts, gaps.iter().map(|(_, gap)| gap), app.engine.zone))
}

/// Opens the entries of the selected year. If entries of this year are missing, opens the list of sources instead.
fn enter(cx: &mut Cx<'_>, open: OpenList) -> Option<()> {
    let timeline = of_list(cx.app, cx.now, open.of)?;
    let ListOf::Timeline(feed) = open.of else { return None };
    let row = timeline.years.get(open.list.selected).filter(|row| !row.has_hole());
    let Some(year) = row.map(|row| row.year.to_string()) else {
        list_panel::toggle(cx, ListOf::Older(feed), &older::LIST);
        return Some(());
    };
    let is_open =
        matches!(cx.app.ui.feeds.selected_row(), Some(FeedsRow::Feed(other, _)) if *other == feed);
    if !is_open {
        cx.say("select the feed itself to go to a year of it");
        return Some(());
    }
    cx.app.ui.uncover();
    browsing::go_to(cx, &year);
    Some(())
}
