//! Lists on the history of a feed: the timeline, with a row for each year and what is missing in it, and the sources from which older
//! entries may come. Nothing is requested from a source before it is chosen.

use backissue_core::history::FeedKey;
use backissue_core::history::timeline::{MonthCounts, Timeline};
use chrono::{DateTime, Utc};

use crate::engine::backfill::elsewhere::{SourceKind, sources};
use crate::engine::backfill::history_requests;
use crate::engine::request::Request;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ask_store;
use crate::ui::keys::command_table::Command;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::panes::{attention, browsing};
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::overlay::{ListOf, OpenList, Overlay};

/// The list of years. Its last row describes what is older than the oldest entry.
pub static TIMELINE: ListKind = ListKind {
    title: "Timeline",
    toggles: &[Command::Timeline],
    count: |app, now, of| timeline_of(app, now, of).map_or(0, |timeline| timeline.years.len() + 1),
    actions: &[action(
        &[Command::Enter],
        "opens a year, or sources of what is missing",
        enter_year,
    )],
    ..ListKind::PLAIN
};

/// Opens the timeline of the selected feed. Its rows appear when the store has counted the entries.
pub fn open_timeline(cx: &mut Cx<'_>) {
    let Some(feed) = attention::selected_feed(cx.app, cx.now) else {
        return cx.say("select a feed first");
    };
    cx.out.push(ask_store(Job::CountMonths(feed, cx.app.engine.zone)));
}

/// Shows the timeline of a feed whose entries were counted.
pub fn show_timeline(app: &mut App, feed: FeedKey, counts: MonthCounts) {
    app.ui.months = Some((feed, counts));
    let of = ListOf::Timeline(feed);
    if !matches!(app.ui.overlay, Some(Overlay::List(open)) if open.of == of) {
        app.ui.lay_over(Overlay::List(OpenList { of, list: ScrollList::default() }));
    }
}

/// Returns the timeline that a list shows.
pub fn timeline_of(app: &App, now: DateTime<Utc>, of: ListOf) -> Option<Timeline> {
    let (counted, counts) = app.ui.months.as_ref()?;
    let feed = app.engine.feeds.get(counted).filter(|_| of == ListOf::Timeline(*counted))?;
    let gaps = history_requests::of_feed(&app.engine, feed, now);
    Some(Timeline::of(counts, gaps.iter().map(|(_, gap)| gap), app.engine.zone))
}

/// Opens the entries of the selected year. If entries of this year are missing, opens the list of sources instead.
fn enter_year(cx: &mut Cx<'_>, open: OpenList) -> Option<()> {
    let timeline = timeline_of(cx.app, cx.now, open.of)?;
    let ListOf::Timeline(feed) = open.of else { return None };
    let row = timeline.years.get(open.list.selected).filter(|row| !row.has_hole());
    let Some(year) = row.map(|row| row.year.to_string()) else {
        list_panel::toggle(cx, ListOf::Older(feed), &SOURCES);
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

/// The list of sources.
pub static SOURCES: ListKind = ListKind {
    title: "Older entries",
    empty: "nowhere else to look",
    lines: 2,
    toggles: &[Command::History],
    count: |app, _, of| {
        let ListOf::Older(feed) = of else { return 0 };
        app.engine.feeds.get(&feed).map_or(0, |feed| sources(&app.engine, feed).len())
    },
    actions: &[
        action(&[Command::Enter], "fetches them", |cx, open| {
            let (feed, kind) = selected_source(cx.app, open)?;
            cx.app.ui.uncover();
            match kind {
                SourceKind::Adaptor(adaptor) => cx.ask(Request::ReadElsewhere(feed, adaptor)),
                SourceKind::Copy(url) => cx.ask(Request::ReadCopy(feed, url)),
                SourceKind::OtherCopy => {
                    cx.app.ui.open_prompt(Prompt::new(PromptPurpose::Copy(feed)));
                }
            }
            Some(())
        }),
        action(&[Command::Unsubscribe], "forgets a copy", |cx, open| {
            let (feed, SourceKind::Copy(url)) = selected_source(cx.app, open)? else { return None };
            cx.ask(Request::ForgetCopy(feed, url));
            Some(())
        }),
    ],
    ..ListKind::PLAIN
};

/// Returns the feed of an open list, and the selected source.
fn selected_source(app: &App, open: OpenList) -> Option<(FeedKey, SourceKind)> {
    let ListOf::Older(feed) = open.of else { return None };
    let sources = sources(&app.engine, app.engine.feeds.get(&feed)?);
    Some((feed, sources.get(open.list.selected)?.kind.clone()))
}

/// Opens the list of sources from which older entries of the selected feed may come.
pub fn list_sources(cx: &mut Cx<'_>) {
    match attention::selected_feed(cx.app, cx.now) {
        Some(feed) => list_panel::toggle(cx, ListOf::Older(feed), &SOURCES),
        None => cx.say("select a feed first"),
    }
}

/// Reads a copy of the selected feed at a typed address.
pub fn read_copy(cx: &mut Cx<'_>, url: &str) {
    match attention::selected_feed(cx.app, cx.now) {
        Some(feed) => cx.ask(Request::ReadCopy(feed, url.to_owned())),
        None => cx.say("select a feed first"),
    }
}
