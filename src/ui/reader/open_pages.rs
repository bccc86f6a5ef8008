//! Opens the pages of entries, and of what is missing at gaps, in the browser.

use chrono::{DateTime, Utc};

use crate::engine::backfill::gap_rows;
use crate::engine::change::MarkChange;
use crate::engine::entries::rows::RowKey;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::settings::MarkRead;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, Overlay};
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};

/// Number of pages above which the user is asked before they are opened.
const PAGES_UNASKED: usize = 10;

/// Opens the pages of the marked entries in the browser. Returns `None` if no entry is marked.
fn open_marked(app: &mut App, now: DateTime<Utc>) -> Option<Vec<ScreenEffect>> {
    if app.ui.focus != Pane::Entries || app.ui.marked.entries.is_empty() {
        return None;
    }
    let marked = &app.ui.marked.entries;
    let rows = app.ui.list.rows.iter();
    let pages: Vec<(EntryKey, String)> = rows
        .filter_map(|row| Some((row.key.entry()?, row.link.as_deref()?)))
        .map(|(key, link)| (key, app.ui.settings.link(link).into_owned()))
        .filter(|(key, _)| marked.contains(key))
        .collect();
    let count = pages.len();
    if count <= PAGES_UNASKED {
        return Some(open_pages(app, now, pages));
    }
    let text = format!("Open {count} pages in the browser? y/n");
    app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::OpenPages(pages) }));
    Some(Vec::new())
}

/// Opens pages of entries in the browser, and marks the entries as read as one change.
pub fn open_pages(
    app: &mut App,
    now: DateTime<Utc>,
    pages: Vec<(EntryKey, String)>,
) -> Vec<ScreenEffect> {
    app.ui.marked.entries.clear();
    let (mut effects, mut keys, count) = (Vec::new(), Vec::new(), pages.len());
    for (key, link) in pages {
        effects.extend(app.ask(now, Request::Open { link, attached: None }));
        let row = app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(key));
        keys.extend(row.is_some_and(|row| row.flags.is_unread()).then_some(key));
    }
    if !keys.is_empty() && app.ui.settings.mark_read != MarkRead::Never {
        let mark = MarkChange { keys, flag: Flag::Read, value: true };
        effects.extend(app.ask(now, Request::Mark(mark)));
    }
    app.ui.say(now, format!("opening {}", counted_words(count, "page", "pages")));
    effects
}

/// Opens the web page of the selected entry, or the pages of the marked entries, in the browser and marks the entries as read.
pub fn open_page(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some(effects) = open_marked(app, now) {
        return effects;
    }
    let Some(row) = app.ui.list.selected_row() else { return Vec::new() };
    if let RowKey::Gap(feed, gap) = row.key {
        return open_missing(app, now, feed, gap);
    }
    let (key, link, unread) = (row.key.entry(), row.link.clone(), row.flags.is_unread());
    let (Some(key), Some(link)) = (key, link) else {
        return app.ui.say_only(now, "this entry has no link");
    };
    let link = app.ui.settings.link(&link).into_owned();
    app.ui.say(now, format!("opening {link}"));
    let mut effects = app.ask(now, Request::Open { link, attached: None });
    if unread && app.ui.settings.mark_read != MarkRead::Never {
        effects.extend(app.ask(
            now,
            Request::Mark(MarkChange { keys: vec![key], flag: Flag::Read, value: true }),
        ));
    }
    effects
}

/// Opens the address of the document that is missing at a gap in the browser.
fn open_missing(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    gap: GapKey,
) -> Vec<ScreenEffect> {
    let Some(link) = missing_address(app, now, feed, gap) else {
        return app.ui.say_only(now, "this gap has no address");
    };
    show_in_browser(app, now, link)
}

/// Opens the page with the comments on the open entry in the browser.
pub fn open_comments(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let reader = app.ui.shown_reader();
    let Some(link) = reader.and_then(|reader| reader.entry.kept.comments.clone()) else {
        return app.ui.say_only(now, "this entry names no page with comments");
    };
    show_in_browser(app, now, link)
}

/// Opens the Internet Archive's copies of the selected entry's page, or of a gap's address, in the browser.
pub fn open_copies(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(row) = app.ui.list.selected_row() else { return Vec::new() };
    let address = match row.key {
        RowKey::Gap(feed, gap) => missing_address(app, now, feed, gap),
        RowKey::Entry(_) => row.link.clone(),
    };
    let Some(address) = address else {
        return app.ui.say_only(now, "there is no address to look up here");
    };
    let base = app.engine.settings.history.internet_archive.trim_end_matches('/');
    let link = format!("{base}/web/*/{address}");
    show_in_browser(app, now, link)
}

/// Returns the address of the document that is missing at a gap. Returns `None` if the address is not known.
fn missing_address(app: &App, now: DateTime<Utc>, feed: FeedKey, gap: GapKey) -> Option<String> {
    let gap = gap_rows::shown(&app.engine, feed, gap, now)?;
    Some(gap.edge.url).filter(|url| !url.is_empty())
}

fn show_in_browser(app: &mut App, now: DateTime<Utc>, link: String) -> Vec<ScreenEffect> {
    app.ui.say(now, format!("opening {link}"));
    app.ask(now, Request::Open { link, attached: None })
}
