//! What each command does.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::feeds_pane;
use super::keymap::Command;
use super::listing::Show;
use super::model::Model;
use super::prompting::{Prompt, PromptPurpose};
use super::refreshing::{self, PollWish, Wish};
use super::screen::{Overlay, Pane};
use super::walking::Distance;
use super::{
    attention, editing, explaining, foreseeing, marking, outlining, preferring, reading,
    unsubscribing, walking,
};
use crate::history::{FeedKey, Flag};
use crate::schedule::Pace;

/// Does what a command says.
pub fn obey(model: &mut Model, now: DateTime<Utc>, command: Command) -> Vec<Effect> {
    match command {
        Command::Down => walking::go(model, now, true, Distance::One),
        Command::Up => walking::go(model, now, false, Distance::One),
        Command::HalfDown => walking::go(model, now, true, Distance::Half),
        Command::HalfUp => walking::go(model, now, false, Distance::Half),
        Command::PageDown => walking::go(model, now, true, Distance::Page),
        Command::PageUp => walking::go(model, now, false, Distance::Page),
        Command::First => walking::go(model, now, false, Distance::All),
        Command::Last => walking::go(model, now, true, Distance::All),
        Command::Left => {
            walking::left(model);
            Vec::new()
        }
        Command::Right => {
            walking::right(model);
            Vec::new()
        }
        Command::Back => walking::back(model),
        Command::Quit => vec![Effect::Stop],
        Command::Help => {
            if matches!(model.screen.overlay, Some(Overlay::Help(_))) {
                model.screen.uncover();
            } else {
                model.screen.lay_over(Overlay::Help(0));
            }
            Vec::new()
        }
        Command::Enter => enter(model, now),
        Command::Space => reading::space(model, now),
        Command::NextUnread => reading::next_unread(model, now),
        Command::PreviousUnread => reading::previous_unread(model, now),
        Command::NextEntry => reading::neighbour(model, true),
        Command::PreviousEntry => reading::neighbour(model, false),
        Command::ToggleRead if attention::is_open(model) => attention::note(model, now),
        Command::ToggleRead => marking::toggle(model, Flag::Read),
        Command::Star => marking::toggle(model, Flag::Starred),
        Command::MarkAll => marking::mark_all(model),
        Command::Undo => marking::undo(model, now),
        Command::Open => reading::open_page(model, now),
        Command::Digit(digit) => reading::digit(model, now, digit),
        Command::Add => {
            model.screen.lay_over(Overlay::Prompt(Prompt::new(PromptPurpose::Add)));
            Vec::new()
        }
        Command::Poll => poll_selected(model, now),
        Command::PollAll => poll(model, now, None),
        Command::Show => show_next(model, now),
        Command::Unsubscribe => unsubscribing::unsubscribe(model, now),
        Command::Plan => explaining::toggle(model, now),
        Command::Timetable => {
            foreseeing::toggle(model);
            Vec::new()
        }
        Command::Zone => {
            explaining::switch_zone(model, now);
            Vec::new()
        }
        Command::Outline => outlining::begin(model, now),
        Command::MoreOften => preferring::pace(model, now, Pace::More),
        Command::LessOften => preferring::pace(model, now, Pace::Less),
        Command::NormallyOften => preferring::pace(model, now, Pace::Normal),
        Command::Edit => editing::open(model, now),
        Command::Sort => {
            feeds_pane::sort_next(model, now);
            Vec::new()
        }
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
        Pane::Entries => reading::open_selected(model),
        Pane::Reader => Vec::new(),
    }
}

fn poll_selected(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let selected = feeds_pane::selected_feed(model, now).map(|feed| vec![feed]);
    let selected = selected.or_else(|| match model.screen.feeds.selected_row() {
        Some(feeds_pane::FeedsRow::Tag(_, keys)) => Some(keys.clone()),
        Some(
            feeds_pane::FeedsRow::AllUnread
            | feeds_pane::FeedsRow::Today
            | feeds_pane::FeedsRow::Starred
            | feeds_pane::FeedsRow::Attention
            | feeds_pane::FeedsRow::Feed(..),
        )
        | None => None,
    });
    poll(model, now, selected)
}

/// Polls by hand and says what cannot be polled.
fn poll(model: &mut Model, now: DateTime<Utc>, feeds: Option<Vec<FeedKey>>) -> Vec<Effect> {
    let noted = model.run.noted;
    let effects = refreshing::ask(model, now, &PollWish { feeds, wish: Wish::Allowed });
    let skipped: Vec<_> = model.run.since(noted).collect();
    if let [only] = skipped.as_slice()
        && effects.is_empty()
    {
        let again =
            if model.confirming.is_some() { " · r again polls it all the same" } else { "" };
        let text = format!("not polled: {}{again}", only.reason.as_deref().unwrap_or_default());
        model.screen.say(now, text);
    } else if !skipped.is_empty() {
        let text = format!("{} polls asked for, {} not needed now", model.run.asked, skipped.len());
        model.screen.say(now, text);
    }
    effects
}

fn show_next(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let (next, text) = match model.screen.show {
        Show::All => (Show::Unread, "unread entries"),
        Show::Unread => (Show::Starred, "starred entries"),
        Show::Starred => (Show::All, "all entries"),
    };
    model.screen.show = next;
    model.screen.say(now, format!("showing {text}"));
    walking::open_list(model, now)
}
