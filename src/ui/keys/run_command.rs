//! Carries out commands.

use chrono::{DateTime, Utc};

use super::command_table::command_table;
use super::commands::Command;
use crate::engine::entries::rows::{RowKey, Show};
use crate::engine::external::run_external;
use crate::engine::request::Request;
use crate::ui::actions::{
    change_marked, downloads, jump, labels, lists, marking, polls_by_hand, removed_feeds, run_own,
    save_entries, share_menu, unsubscribe,
};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::accounts::{account_list, add_dialog};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::overlays::{
    edit_dialog, feed_choice, filter_list, help_pane, hour_selection, list_panel, palette,
    plan_pane, table, tag_dialog, timetable_pane,
};
use crate::ui::panes::mark_entries::MarkPart;
use crate::ui::panes::{
    attention, browsing, feeds_pane, load_rows, mark_entries, navigation, saved_searches,
    search_pane, selected_feed, tag_folds,
};
use crate::ui::reader::{
    copying, find_in_text, full_text, link_hints, open_entry, open_pages, pictures, pipe, sideways,
};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{ListOf, Overlay};
use crate::ui::theme::{choose_layout, choose_theme};
use backissue_core::history::{FeedKey, Flag, GapKey};
use backissue_core::schedule::Pace;

/// Carries out a command.
type Run = fn(&mut App, DateTime<Utc>) -> Vec<ScreenEffect>;
/// Carries out a command with the text that was typed after its name.
type RunWith = fn(&mut App, DateTime<Utc>, &str) -> Vec<ScreenEffect>;

macro_rules! functions {
    ($($group:literal { $(
        $command:ident $name:literal $keys:literal $panes:ident $help:literal
            => $run:expr $(, $takes:expr)?;
    )* })*) => {
        /// Carries out a command.
        pub fn run_command(app: &mut App, now: DateTime<Utc>, command: Command) -> Vec<ScreenEffect> {
            let run: Run = match command {
                $($(Command::$command => $run,)*)*
                Command::Digit(digit) => return open_entry::type_digit(app, now, digit),
                Command::Own(number) => return run_own::start(app, now, number, run_command),
            };
            run(app, now)
        }

        /// Carries out the command with this name, with the text that was typed after the name.
        pub fn run_with(app: &mut App, now: DateTime<Utc>, name: &str, text: &str) -> Vec<ScreenEffect> {
            let run: RunWith = match name {
                $($($($name => $takes,)?)*)*
                _ => {
                    return app.ui.complain_only(now, format!("'{name}' takes no argument: remove '{text}'"));
                }
            };
            run(app, now, text)
        }
    };
}

command_table!(functions);

/// Closes the topmost overlay, search or text, or ends finding words in a text. If something is marked and no overlay is open, it clears the marks instead.
fn close(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_none() && marking::clear_marks(app, now) {
        return Vec::new();
    }
    if app.ui.overlay.is_none() && app.ui.find.is_some() {
        find_in_text::end(app, false);
        return Vec::new();
    }
    navigation::close_open(app, now)
}

/// Redraws the whole screen, to remove the output of other programs.
fn redraw(app: &mut App) -> Vec<ScreenEffect> {
    app.ui.redraws = app.ui.redraws.wrapping_add(1);
    Vec::new()
}

/// Moves the selection or scrolls, down (`true`) or up, in the open overlay or the focused pane.
pub(super) fn move_by(
    app: &mut App,
    now: DateTime<Utc>,
    down: bool,
    distance: Distance,
) -> Vec<ScreenEffect> {
    table::scroll_open(app, now, down, distance)
        .unwrap_or_else(|| navigation::move_in_pane(app, now, down, distance))
}

/// Moves the focus to the pane on the left. If a tag or a feed under a tag is selected, folds the tag or selects its parent
/// instead.
fn go_left(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let before = app.ui.feeds.selected;
    let folded = tag_folds::fold_selected(app);
    let mut effects = folded.unwrap_or_else(|| {
        navigation::go_left(app);
        Vec::new()
    });
    if app.ui.feeds.selected != before {
        effects.extend(load_rows::open_list(app, now));
    }
    effects
}

/// Moves the focus to the pane on the right. If a folded tag is selected, unfolds it instead.
fn go_right(app: &mut App) -> Vec<ScreenEffect> {
    tag_folds::unfold_selected(app).unwrap_or_else(|| {
        navigation::go_right(app);
        Vec::new()
    })
}

/// Opens the next unread entry or, while words are found in a text, shows the next hit.
fn next_unread(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let found = find_in_text::move_on(app, now, true);
    found.unwrap_or_else(|| open_entry::open_next_unread(app, now))
}

/// Marks the selected entry as read or unread. In the Attention list, it dismisses the selected problem. While words are found in a
/// text, it shows the previous hit.
fn toggle_read(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some(found) = find_in_text::move_on(app, now, false) {
        return found;
    }
    // The user has decided about this entry, so it is not marked automatically.
    app.ui.read_later = None;
    if attention::is_open(app) {
        let noted =
            if app.ui.focus == Pane::Feeds { None } else { change_marked::note_trouble(app, now) };
        return noted.unwrap_or_else(|| attention::note_trouble(app, now));
    }
    toggle_flag(app, now, Flag::Read)
}

/// Toggles a flag of the marked entries or, if no entry is marked, of the selected entry.
fn toggle_flag(app: &mut App, now: DateTime<Utc>, flag: Flag) -> Vec<ScreenEffect> {
    change_marked::toggle_mark(app, now, flag)
        .unwrap_or_else(|| mark_entries::toggle_mark(app, now, flag))
}

fn toggle_timetable(app: &mut App, _now: DateTime<Utc>) -> Vec<ScreenEffect> {
    timetable_pane::toggle_timetable(app);
    Vec::new()
}

fn switch_zone(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    plan_pane::switch_zone(app, now);
    Vec::new()
}

fn sort_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.focus != Pane::Feeds {
        return browsing::sort_entries(app, now);
    }
    feeds_pane::sort_next(app, now);
    Vec::new()
}

/// Renames the selected search, or edits the selected feed.
fn edit_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    saved_searches::ask_name(app).unwrap_or_else(|| edit_dialog::open_form(app, now))
}

/// Hides the selected gap. If no gap is selected, unsubscribes from the marked feeds. If no feed is marked either, removes the
/// selected search or unsubscribes from the selected feed.
fn give_up_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some((feed, gap)) = selected_gap(app) {
        return app.ask(now, Request::DismissGap(feed, gap));
    }
    if !marking::marked_feeds(app).is_empty() {
        return unsubscribe::unsubscribe_selected(app, now);
    }
    saved_searches::give_up_selected(app, now)
        .unwrap_or_else(|| unsubscribe::unsubscribe_selected(app, now))
}

/// Sets the pace (how often a feed is polled) of the marked feeds or, if no feed is marked, of the selected feed.
fn set_pace(app: &mut App, now: DateTime<Utc>, pace: Pace) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_none()
        && let Some(effects) = change_marked::set_pace(app, now, pace)
    {
        return effects;
    }
    let Some(feed) = selected_feed::selected_feed(app, now) else {
        return app.ui.say_only(
            now,
            "select a feed first: {more-often} {less-often} {normally-often} apply to one feed",
        );
    };
    app.ask(now, Request::SetPace(feed, pace))
}

fn open_prompt(app: &mut App, purpose: PromptPurpose) -> Vec<ScreenEffect> {
    app.ui.lay_over(Overlay::Prompt(Prompt::new(purpose)));
    Vec::new()
}

fn open_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_some() {
        return timetable_pane::open_selected_plan(app, now);
    }
    match app.ui.focus {
        Pane::Feeds => {
            app.ui.focus = Pane::Entries;
            Vec::new()
        }
        Pane::Entries if attention::is_open(app) => attention::apply_remedy(app, now),
        Pane::Entries => open_entry::open_selected(app, now),
        Pane::Reader => Vec::new(),
    }
}

/// Returns the feed and ID of the selected gap. Returns `None` if no gap is selected or the subscriptions pane has the focus.
fn selected_gap(app: &App) -> Option<(FeedKey, GapKey)> {
    let row = app.ui.list.selected_row()?;
    match (app.ui.focus, row.key) {
        (Pane::Entries | Pane::Reader, RowKey::Gap(feed, gap)) => Some((feed, gap)),
        (Pane::Feeds, _) | (_, RowKey::Entry(_)) => None,
    }
}

/// Fetches older entries of the selected feed or for the selected gap.
fn load_history(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some((feed, gap)) = selected_gap(app) {
        return app.ask(now, Request::MoreHistory(feed, Some(gap)));
    }
    let Some(feed) = selected_feed::selected_feed(app, now) else {
        return app.ui.say_only(now, "select a feed first");
    };
    app.ask(now, Request::MoreHistory(feed, None))
}

/// Restores the entries that the selected feed withdrew last.
fn restore_withdrawn(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(feed) = selected_feed::selected_feed(app, now) else {
        return app.ui.say_only(now, "select a feed first");
    };
    app.ask(now, Request::RestoreWithdrawn(feed))
}

fn poll_here(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let feeds = meant_feeds(app, now).unwrap_or_default();
    change_marked::poll_here(app, now, &feeds)
}

fn poll_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let meant = meant_feeds(app, now);
    polls_by_hand::poll_feeds(app, now, meant)
}

/// Returns the marked feeds, the selected feed, or those of the selected tag.
fn meant_feeds(app: &App, now: DateTime<Utc>) -> Option<Vec<FeedKey>> {
    let marked = marking::marked_feeds(app);
    if !marked.is_empty() && app.ui.overlay.is_none() {
        return Some(marked);
    }
    let selected = selected_feed::selected_feed(app, now).map(|feed| vec![feed]);
    let tagged = || app.ui.feeds.selected_row().and_then(FeedsRow::tagged_feeds);
    selected.or_else(|| Some(tagged()?.to_vec()))
}

fn show_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.search.is_some() {
        return app
            .ui
            .say_only(now, "a search covers all entries: is:unread or is:starred narrows it");
    }
    if let Some(always) = fixed_list(app) {
        let works = app.ui.words("{show} works on feeds, tags and Today");
        return app.ui.say_only(now, format!("this list always shows {always}: {works}"));
    }
    let (next, text) = match app.ui.show {
        Show::All => (Show::Unread, "unread entries only"),
        Show::Unread => (Show::Starred, "starred entries only"),
        Show::Starred if !app.engine.filters.list.is_empty() => (
            Show::Hidden,
            "entries hidden by filters · {mute} on one shows the filter, {star} unhides it",
        ),
        Show::Starred | Show::Hidden => (Show::All, "all entries"),
    };
    app.ui.show = next;
    let text = app.ui.words(text);
    app.ui.say(now, format!("showing {text}"));
    load_rows::open_list(app, now)
}

/// Describes the contents of the open list if it cannot be switched between all, unread and starred entries. Returns `None` if it
/// can be switched.
fn fixed_list(app: &App) -> Option<&'static str> {
    match app.ui.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread) => Some("unread entries"),
        Some(FeedsRow::Starred) => Some("starred entries"),
        Some(FeedsRow::Gaps) => Some("gaps"),
        Some(FeedsRow::Attention) => Some("feeds that need attention"),
        Some(FeedsRow::Today | FeedsRow::Search(_) | FeedsRow::Tag(..) | FeedsRow::Feed(..)) => {
            None
        }
    }
}
