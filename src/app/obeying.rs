//! What each command does.

use chrono::{DateTime, Utc};

use super::command::Command;
use super::effect::Effect;
use super::feeds_pane;
use super::listing::{RowKey, Show};
use super::model::Model;
use super::prompting::{Prompt, PromptPurpose};
use super::refreshing::{self, PollWish, Wish};
use super::screen::{Overlay, Pane};
use super::walking::Distance;
use super::{
    appearance, attention, browsing, copying, editing, explaining, foreseeing, full_text, helping,
    marking, muting, outlining, palette, pictures, preferring, reading, rule_list, running, saving,
    searching, sideways, tag_tree, tagging, undoing, unsubscribing, walking, wishing,
};
use crate::history::{FeedKey, Flag, GapKey};
use crate::schedule::Pace;

/// Does what a command says.
#[expect(clippy::too_many_lines, reason = "a table: a line for each command")]
pub fn obey(model: &mut Model, now: DateTime<Utc>, command: Command) -> Vec<Effect> {
    match command {
        Command::Down | Command::HalfDown | Command::PageDown | Command::Last => {
            walking::go(model, now, true, distance(command))
        }
        Command::Up | Command::HalfUp | Command::PageUp | Command::First => {
            walking::go(model, now, false, distance(command))
        }
        Command::Left => left(model, now),
        Command::Right => tag_tree::unfold(model).unwrap_or_else(|| {
            walking::right(model);
            Vec::new()
        }),
        Command::Back => walking::back(model, now),
        Command::Quit => vec![Effect::Stop],
        Command::Help => helping::toggle(model),
        Command::Palette => palette::open(model),
        Command::Enter => enter(model, now),
        Command::Space => reading::space(model, now),
        Command::NextUnread => reading::next_unread(model, now),
        Command::PreviousUnread => reading::previous_unread(model, now),
        Command::NextEntry => reading::neighbour(model, now, true),
        Command::PreviousEntry => reading::neighbour(model, now, false),
        Command::Search => searching::open(model),
        Command::SaveSearch => saving::save(model, now),
        Command::Tags => tagging::open(model, now),
        Command::Mute => muting::mute(model, now),
        Command::Rules => rule_list::open(model, now),
        Command::ToggleRead if attention::is_open(model) => attention::note(model, now),
        Command::ToggleRead => marking::toggle(model, Flag::Read),
        Command::Star => marking::toggle(model, Flag::Starred),
        Command::MarkAll => marking::mark_all(model),
        Command::Undo => undoing::undo(model, now),
        Command::Redo => undoing::redo(model, now),
        Command::Open => reading::open_page(model, now),
        Command::Enclosure => reading::play(model, now),
        Command::FullText => full_text::toggle(model, now),
        Command::FullTextAlways => full_text::always(model, now),
        Command::Pictures => pictures::toggle(model, now),
        Command::Pipe => running::ask_pipe(model, now),
        Command::Digit(digit) => reading::digit(model, now, digit),
        Command::Add => prompt(model, PromptPurpose::Add),
        Command::Poll => poll_selected(model, now),
        Command::PollAll => poll(model, now, None),
        Command::Show => show_next(model, now),
        Command::Unsubscribe => give_up(model, now),
        Command::History => history(model, now),
        Command::GoTo => prompt(model, PromptPurpose::GoTo),
        Command::TurnRound => browsing::turn_round(model, now),
        Command::Plan => explaining::toggle(model, now),
        Command::Timetable => {
            foreseeing::toggle(model);
            Vec::new()
        }
        Command::Zone => {
            explaining::switch_zone(model, now);
            Vec::new()
        }
        Command::Theme => appearance::next(model, now),
        Command::Zoom => reading::zoom(model, now),
        Command::ScrollLeft => sideways::go(model, now, false),
        Command::ScrollRight => sideways::go(model, now, true),
        Command::CopyLink => copying::copy_link(model, now),
        Command::Suspend => vec![Effect::Suspend],
        Command::Outline => outlining::begin(model, now),
        Command::MoreOften => preferring::pace(model, now, Pace::More),
        Command::LessOften => preferring::pace(model, now, Pace::Less),
        Command::NormallyOften => preferring::pace(model, now, Pace::Normal),
        Command::Edit => saving::rename(model).unwrap_or_else(|| editing::open(model, now)),
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
        walking::left(model);
        Vec::new()
    });
    if model.screen.feeds.selected != before {
        effects.extend(walking::open_list(model, now));
    }
    effects
}

/// Hides the selected gap, else gives up the selected search, else the selected subscription.
fn give_up(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if let Some((feed, gap)) = selected_gap(model) {
        return wishing::dismiss(model, now, feed, gap);
    }
    saving::give_up(model, now).unwrap_or_else(|| unsubscribing::unsubscribe(model, now))
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
        return foreseeing::enter(model, now);
    }
    match model.screen.focus {
        Pane::Feeds => {
            model.screen.focus = Pane::Entries;
            Vec::new()
        }
        Pane::Entries if attention::is_open(model) => attention::remedy(model, now),
        Pane::Entries => reading::open_selected(model, now),
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
        return wishing::wish(model, now, feed, Some(gap));
    }
    let Some(feed) = feeds_pane::selected_feed(model, now) else {
        model.screen.say(now, "select a feed first");
        return Vec::new();
    };
    wishing::wish(model, now, feed, None)
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
    let effects = refreshing::ask(model, now, &PollWish { feeds, wish: Wish::Allowed });
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
    walking::open_list(model, now)
}
