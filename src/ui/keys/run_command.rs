//! What commands do that is too long for a row of the table.

use chrono::{DateTime, Utc};

use super::commands::{COMMANDS, Command};
use crate::engine::entries::rows::{RowKey, Show};
use crate::engine::poll::manual_poll::{PollKind, PollRequest};
use crate::engine::request::Request;
use crate::history::{FeedKey, Flag, GapKey};
use crate::schedule::Pace;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::overlays::{edit_dialog, plan_pane, timetable_pane};
use crate::ui::panes::{
    attention, feeds_pane, load_rows, mark_entries, navigation, saved_searches, selected_feed,
    tag_folds,
};
use crate::ui::reader::open_entry;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// Does what a command says.
pub fn obey(app: &mut App, now: DateTime<Utc>, command: Command) -> Vec<ScreenEffect> {
    if let Command::Digit(digit) = command {
        return open_entry::digit(app, now, digit);
    }
    let row = COMMANDS.iter().find(|row| row.command == command);
    row.map_or_else(Vec::new, |row| (row.run)(app, now))
}

/// Goes to the pane on the left; in the tree of tags it folds a tag, or goes to the one above.
pub(super) fn go_left(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let before = app.ui.feeds.selected;
    let folded = tag_folds::fold(app);
    let mut effects = folded.unwrap_or_else(|| {
        navigation::left(app);
        Vec::new()
    });
    if app.ui.feeds.selected != before {
        effects.extend(load_rows::open_list(app, now));
    }
    effects
}

/// Goes to the pane on the right; in the tree of tags it unfolds a tag.
pub(super) fn go_right(app: &mut App, _now: DateTime<Utc>) -> Vec<ScreenEffect> {
    tag_folds::unfold(app).unwrap_or_else(|| {
        navigation::right(app);
        Vec::new()
    })
}

/// Marks the selected entry read, or unread again; in the list of feeds that need attention it notes the trouble.
pub(super) fn toggle_read(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if attention::is_open(app) {
        return attention::note(app, now);
    }
    mark_entries::toggle(app, now, Flag::Read)
}

pub(super) fn toggle_timetable(app: &mut App, _now: DateTime<Utc>) -> Vec<ScreenEffect> {
    timetable_pane::toggle(app);
    Vec::new()
}

pub(super) fn switch_zone(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    plan_pane::switch_zone(app, now);
    Vec::new()
}

pub(super) fn sort_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    feeds_pane::sort_next(app, now);
    Vec::new()
}

/// Renames the selected search, else edits the selected feed.
pub(super) fn edit(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    saved_searches::rename(app).unwrap_or_else(|| edit_dialog::open(app, now))
}

/// Hides the selected gap, else gives up the selected search, else the selected subscription.
pub(super) fn give_up(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some((feed, gap)) = selected_gap(app) {
        return app.ask(now, Request::DismissGap(feed, gap));
    }
    saved_searches::give_up(app, now).unwrap_or_else(|| unsubscribe(app, now))
}

/// Gives up the selected subscription.
fn unsubscribe(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let concerned = attention::selected(app, now).map(|concern| concern.feed);
    let selected = match app.ui.feeds.selected_row() {
        Some(FeedsRow::Feed(feed, _)) => Some(*feed),
        Some(_) | None => concerned,
    };
    let Some(feed) = selected else {
        app.ui.say(now, "select the feed to unsubscribe from");
        return Vec::new();
    };
    app.ask(now, Request::Unsubscribe(feed))
}

/// Polls the selected feed more or less often.
pub(super) fn set_pace(app: &mut App, now: DateTime<Utc>, pace: Pace) -> Vec<ScreenEffect> {
    let Some(feed) = selected_feed::selected_feed(app, now) else {
        app.ui.say(now, "select a feed first: the pace belongs to one feed");
        return Vec::new();
    };
    app.ask(now, Request::SetPace(feed, pace))
}

pub(super) fn open_prompt(app: &mut App, purpose: PromptPurpose) -> Vec<ScreenEffect> {
    app.ui.lay_over(Overlay::Prompt(Prompt::new(purpose)));
    Vec::new()
}

pub(super) fn open_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_some() {
        return timetable_pane::enter(app, now);
    }
    match app.ui.focus {
        Pane::Feeds => {
            app.ui.focus = Pane::Entries;
            Vec::new()
        }
        Pane::Entries if attention::is_open(app) => attention::remedy(app, now),
        Pane::Entries => open_entry::open_selected(app, now),
        Pane::Reader => Vec::new(),
    }
}

/// The gap that is selected, where the keys are about rows of the list.
fn selected_gap(app: &App) -> Option<(FeedKey, GapKey)> {
    let row = app.ui.list.selected_row()?;
    match (app.ui.focus, row.key) {
        (Pane::Entries | Pane::Reader, RowKey::Gap(feed, gap)) => Some((feed, gap)),
        (Pane::Feeds, _) | (_, RowKey::Entry(_)) => None,
    }
}

/// More of the selected feed's history.
pub(super) fn load_history(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some((feed, gap)) = selected_gap(app) {
        return app.ask(now, Request::MoreHistory(feed, Some(gap)));
    }
    let Some(feed) = selected_feed::selected_feed(app, now) else {
        app.ui.say(now, "select a feed first");
        return Vec::new();
    };
    app.ask(now, Request::MoreHistory(feed, None))
}

pub(super) fn poll_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let selected = selected_feed::selected_feed(app, now).map(|feed| vec![feed]);
    let selected = selected.or_else(|| match app.ui.feeds.selected_row() {
        Some(FeedsRow::Tag(_, keys)) => Some(keys.clone()),
        Some(
            FeedsRow::AllUnread
            | FeedsRow::Today
            | FeedsRow::Starred
            | FeedsRow::Gaps
            | FeedsRow::Attention
            | FeedsRow::Search(_)
            | FeedsRow::Feed(..),
        )
        | None => None,
    });
    poll(app, now, selected)
}

/// Polls by hand and says what cannot be polled.
pub(super) fn poll(
    app: &mut App,
    now: DateTime<Utc>,
    feeds: Option<Vec<FeedKey>>,
) -> Vec<ScreenEffect> {
    let noted = app.engine.poll_run.noted;
    let wanted = feeds.as_ref().map_or(app.engine.feeds.len(), Vec::len);
    let effects = app.ask(now, Request::Poll(PollRequest { feeds, kind: PollKind::Allowed }));
    let skipped: Vec<_> = app.engine.poll_run.since(noted).collect();
    let Some(first) = skipped.first() else { return effects };
    let reason = first.reason.as_deref().unwrap_or_default();
    let asked = wanted.saturating_sub(skipped.len());
    let again =
        if app.engine.confirming.is_some() { " · r again polls it all the same" } else { "" };
    let text = match (asked, skipped.len()) {
        (0, 1) => format!("not polled: {reason}{again}"),
        (0, all) => {
            let title = app.engine.feeds.get(&first.feed).map(|feed| feed.record.shown_title());
            format!("none of {all} feeds is polled; {}: {reason}", title.unwrap_or_default())
        }
        (1, held) => format!("1 feed is polled, {held} not now; i on a feed says why"),
        (asked, held) => format!("{asked} feeds are polled, {held} not now; i on a feed says why"),
    };
    app.ui.say(now, text);
    effects
}

pub(super) fn show_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let (next, text) = match app.ui.show {
        Show::All => (Show::Unread, "unread entries"),
        Show::Unread => (Show::Starred, "starred entries"),
        Show::Starred if !app.engine.filters.list.is_empty() => {
            (Show::Hidden, "entries that filters hide · m on one says which, s shows it")
        }
        Show::Starred | Show::Hidden => (Show::All, "all entries"),
    };
    app.ui.show = next;
    app.ui.say(now, format!("showing {text}"));
    load_rows::open_list(app, now)
}
