//! What each command does.

use chrono::{DateTime, Utc};

use super::command::Command;
use crate::engine::backfill::history_actions;
use crate::engine::effect::Effect;
use crate::engine::entries::full_text;
use crate::engine::entries::marks;
use crate::engine::feeds::feed_settings;
use crate::engine::feeds::unsubscribe;
use crate::engine::model::Model;
use crate::engine::poll::manual_poll;
use crate::engine::poll::manual_poll::PollWish;
use crate::engine::poll::manual_poll::Wish;
use crate::engine::run_external;
use crate::engine::undo;
use crate::history::{FeedKey, Flag, GapKey};
use crate::schedule::Pace;
use crate::ui::overlays::edit_dialog;
use crate::ui::overlays::filter_dialog;
use crate::ui::overlays::filter_list;
use crate::ui::overlays::help_pane;
use crate::ui::overlays::hour_selection;
use crate::ui::overlays::palette;
use crate::ui::overlays::plan_pane;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::overlays::tag_dialog;
use crate::ui::overlays::timetable_pane;
use crate::ui::panes::attention;
use crate::ui::panes::browsing;
use crate::ui::panes::entry_list::RowKey;
use crate::ui::panes::entry_list::Show;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::navigation;
use crate::ui::panes::navigation::Distance;
use crate::ui::panes::saved_searches;
use crate::ui::panes::search_pane;
use crate::ui::panes::tag_tree;
use crate::ui::reader::copying;
use crate::ui::reader::open_entry;
use crate::ui::reader::pictures;
use crate::ui::reader::sideways;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;
use crate::ui::theme::appearance;

/// Does what a command says.
#[expect(clippy::too_many_lines, reason = "a table: a line for each command")]
pub fn obey(model: &mut Model, now: DateTime<Utc>, command: Command) -> Vec<Effect> {
    match command {
        Command::Down | Command::HalfDown | Command::PageDown | Command::Last => {
            navigation::go(model, now, true, distance(command))
        }
        Command::Up | Command::HalfUp | Command::PageUp | Command::First => {
            navigation::go(model, now, false, distance(command))
        }
        Command::Left => left(model, now),
        Command::Right => tag_tree::unfold(model).unwrap_or_else(|| {
            navigation::right(model);
            Vec::new()
        }),
        Command::Back => navigation::back(model, now),
        Command::Quit => vec![Effect::Stop],
        Command::Help => help_pane::toggle(model),
        Command::Palette => palette::open(model),
        Command::Enter => enter(model, now),
        Command::Space => open_entry::space(model, now),
        Command::NextUnread => open_entry::next_unread(model, now),
        Command::PreviousUnread => open_entry::previous_unread(model, now),
        Command::NextEntry => open_entry::neighbour(model, now, true),
        Command::PreviousEntry => open_entry::neighbour(model, now, false),
        Command::Search => search_pane::open(model),
        Command::SaveSearch => saved_searches::save(model, now),
        Command::Tags => tag_dialog::open(model, now),
        Command::Mute => filter_dialog::mute(model, now),
        Command::Rules => filter_list::open(model, now),
        Command::ToggleRead if attention::is_open(model) => attention::note(model, now),
        Command::ToggleRead => marks::toggle(model, Flag::Read),
        Command::Star => marks::toggle(model, Flag::Starred),
        Command::MarkAll => marks::mark_all(model),
        Command::Undo => undo::undo(model, now),
        Command::Redo => undo::redo(model, now),
        Command::Open => open_entry::open_page(model, now),
        Command::Enclosure => open_entry::play(model, now),
        Command::FullText => full_text::toggle(model, now),
        Command::FullTextAlways => full_text::always(model, now),
        Command::Pictures => pictures::toggle(model, now),
        Command::Pipe => run_external::ask_pipe(model, now),
        Command::Digit(digit) => open_entry::digit(model, now, digit),
        Command::Add => prompt(model, PromptPurpose::Add),
        Command::Poll => poll_selected(model, now),
        Command::PollAll => poll(model, now, None),
        Command::Show => show_next(model, now),
        Command::Unsubscribe => give_up(model, now),
        Command::History => history(model, now),
        Command::GoTo => prompt(model, PromptPurpose::GoTo),
        Command::TurnRound => browsing::turn_round(model, now),
        Command::Plan => plan_pane::toggle(model, now),
        Command::Timetable => {
            timetable_pane::toggle(model);
            Vec::new()
        }
        Command::Zone => {
            plan_pane::switch_zone(model, now);
            Vec::new()
        }
        Command::Theme => appearance::next(model, now),
        Command::Zoom => open_entry::zoom(model, now),
        Command::ScrollLeft => sideways::go(model, now, false),
        Command::ScrollRight => sideways::go(model, now, true),
        Command::CopyLink => copying::copy_link(model, now),
        Command::Suspend => vec![Effect::Suspend],
        Command::Outline => hour_selection::begin(model, now),
        Command::MoreOften => feed_settings::pace(model, now, Pace::More),
        Command::LessOften => feed_settings::pace(model, now, Pace::Less),
        Command::NormallyOften => feed_settings::pace(model, now, Pace::Normal),
        Command::Edit => {
            saved_searches::rename(model).unwrap_or_else(|| edit_dialog::open(model, now))
        }
        Command::Sort => {
            feeds_pane::sort_next(model, now);
            Vec::new()
        }
    }
}

/// To the pane on the left; in the tree of tags to the tag above, or together.
fn left(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let before = model.screen.feeds.selected;
    let folded = tag_tree::fold(model);
    let mut effects = folded.unwrap_or_else(|| {
        navigation::left(model);
        Vec::new()
    });
    if model.screen.feeds.selected != before {
        effects.extend(navigation::open_list(model, now));
    }
    effects
}

/// Hides the selected gap, else gives up the selected search, else the selected subscription.
fn give_up(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if let Some((feed, gap)) = selected_gap(model) {
        return history_actions::dismiss(model, now, feed, gap);
    }
    saved_searches::give_up(model, now).unwrap_or_else(|| unsubscribe::unsubscribe(model, now))
}

fn prompt(model: &mut Model, purpose: PromptPurpose) -> Vec<Effect> {
    model.screen.lay_over(Overlay::Prompt(Prompt::new(purpose)));
    Vec::new()
}

/// How far a command goes.
const fn distance(command: Command) -> Distance {
    if matches!(command, Command::HalfDown | Command::HalfUp) {
        Distance::Half
    } else if matches!(command, Command::PageDown | Command::PageUp) {
        Distance::Page
    } else if matches!(command, Command::First | Command::Last) {
        Distance::All
    } else {
        Distance::One
    }
}

fn enter(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.screen.overlay.is_some() {
        return timetable_pane::enter(model, now);
    }
    match model.screen.focus {
        Pane::Feeds => {
            model.screen.focus = Pane::Entries;
            Vec::new()
        }
        Pane::Entries if attention::is_open(model) => attention::remedy(model, now),
        Pane::Entries => open_entry::open_selected(model, now),
        Pane::Reader => Vec::new(),
    }
}

/// The gap that is selected, where the keys are about rows of the list.
fn selected_gap(model: &Model) -> Option<(FeedKey, GapKey)> {
    let row = model.screen.list.selected_row()?;
    match (model.screen.focus, row.key) {
        (Pane::Entries | Pane::Reader, RowKey::Gap(feed, gap)) => Some((feed, gap)),
        (Pane::Feeds, _) | (_, RowKey::Entry(_)) => None,
    }
}

/// More of the selected feed's history.
fn history(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if let Some((feed, gap)) = selected_gap(model) {
        return history_actions::wish(model, now, feed, Some(gap));
    }
    let Some(feed) = feeds_pane::selected_feed(model, now) else {
        model.screen.say(now, "select a feed first");
        return Vec::new();
    };
    history_actions::wish(model, now, feed, None)
}

fn poll_selected(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let selected = feeds_pane::selected_feed(model, now).map(|feed| vec![feed]);
    let selected = selected.or_else(|| match model.screen.feeds.selected_row() {
        Some(feeds_pane::FeedsRow::Tag(_, keys)) => Some(keys.clone()),
        Some(
            feeds_pane::FeedsRow::AllUnread
            | feeds_pane::FeedsRow::Today
            | feeds_pane::FeedsRow::Starred
            | feeds_pane::FeedsRow::Gaps
            | feeds_pane::FeedsRow::Attention
            | feeds_pane::FeedsRow::Search(_)
            | feeds_pane::FeedsRow::Feed(..),
        )
        | None => None,
    });
    poll(model, now, selected)
}

/// Polls by hand and says what cannot be polled.
fn poll(model: &mut Model, now: DateTime<Utc>, feeds: Option<Vec<FeedKey>>) -> Vec<Effect> {
    let noted = model.run.noted;
    let wanted = feeds.as_ref().map_or(model.feeds.len(), Vec::len);
    let effects = manual_poll::ask(model, now, &PollWish { feeds, wish: Wish::Allowed });
    let skipped: Vec<_> = model.run.since(noted).collect();
    let Some(first) = skipped.first() else { return effects };
    let reason = first.reason.as_deref().unwrap_or_default();
    let asked = wanted.saturating_sub(skipped.len());
    let again = if model.confirming.is_some() { " · r again polls it all the same" } else { "" };
    let text = match (asked, skipped.len()) {
        (0, 1) => format!("not polled: {reason}{again}"),
        (0, all) => {
            let title = model.feeds.get(&first.feed).map(|feed| feed.record.shown_title());
            format!("none of {all} feeds is polled; {}: {reason}", title.unwrap_or_default())
        }
        (1, held) => format!("1 feed is polled, {held} not now; i on a feed says why"),
        (asked, held) => format!("{asked} feeds are polled, {held} not now; i on a feed says why"),
    };
    model.screen.say(now, text);
    effects
}

fn show_next(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let (next, text) = match model.screen.show {
        Show::All => (Show::Unread, "unread entries"),
        Show::Unread => (Show::Starred, "starred entries"),
        Show::Starred if !model.rules.list.is_empty() => {
            (Show::Hidden, "entries that rules hide · m on one says which, s shows it")
        }
        Show::Starred | Show::Hidden => (Show::All, "all entries"),
    };
    model.screen.show = next;
    model.screen.say(now, format!("showing {text}"));
    navigation::open_list(model, now)
}
