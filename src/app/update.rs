//! The one way into the model: a message and the time in, effects out.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::feeds_pane;
use super::fetching::{FetchId, Fetched, Purpose};
use super::keymap::{self, Code, Command, Key};
use super::listing::Show;
use super::model::Model;
use super::msg::Msg;
use super::polling::{self, PollWish, Wish};
use super::prompting::{Prompt, PromptPurpose, Typed};
use super::screen::{Choice, Overlay, Pane, Viewport};
use super::subscribing::{self, Wanted};
use super::walking::Distance;
use super::{
    editing, explaining, foreseeing, marking, preferring, reading, unsubscribing, walking,
};
use crate::history::{FeedKey, Flag};
use crate::schedule::Pace;

/// Changes the model by what happened and says what to do.
pub fn update(model: &mut Model, now: DateTime<Utc>, msg: Msg) -> Vec<Effect> {
    let effects = happened(model, now, msg);
    explaining::refresh(model, now);
    foreseeing::refresh(model);
    feeds_pane::resort(model, now);
    effects
}

fn happened(model: &mut Model, now: DateTime<Utc>, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => pressed(model, now, key),
        Msg::Pasted(text) => pasted(model, now, &text),
        Msg::Resized(columns, rows) => {
            model.screen.size = (columns, rows);
            Vec::new()
        }
        Msg::Tick => ticked(model, now),
        Msg::Fetched(id, fetched) => arrived(model, now, id, *fetched),
        Msg::Committed { feed, counters, new, edited } => {
            polling::committed(model, now, feed, counters, new, edited);
            followed(model, now, feed, new > 0 || edited > 0)
        }
        Msg::CommitFailed { feed, why } => {
            polling::commit_failed(model, now, feed, &why);
            model.screen.complain(now, why);
            Vec::new()
        }
        Msg::RecordsSaved => {
            model.unsaved = model.unsaved.saturating_sub(1);
            Vec::new()
        }
        Msg::Marked { flag, value, whole_list, marked } => {
            marking::marked(model, now, flag, value, whole_list, marked)
        }
        Msg::RowsLoaded(loaded) => reading::rows_loaded(model, now, loaded),
        Msg::EntryLoaded(entry) => reading::loaded(model, *entry),
        Msg::Rendered(made) => {
            reading::rendered(model, *made);
            Vec::new()
        }
        Msg::PollsLoaded(feed, polls) => {
            explaining::polls_loaded(model, feed, polls);
            Vec::new()
        }
        Msg::TodayCounted(count) => {
            model.screen.today = count;
            model.screen.counting = false;
            if std::mem::take(&mut model.screen.count_again) {
                marking::counting(model, now)
            } else {
                Vec::new()
            }
        }
        Msg::RecordsNotSaved(why) => {
            model.unsaved = model.unsaved.saturating_sub(1);
            model.not_saved = Some(why.clone());
            model.screen.complain(now, why);
            Vec::new()
        }
        Msg::RowsFailed(list, why) => {
            reading::rows_failed(model, list);
            model.screen.complain(now, why);
            Vec::new()
        }
        Msg::EntryFailed(key, why) => {
            reading::not_loaded(model, key);
            model.screen.complain(now, why);
            Vec::new()
        }
        Msg::StoreFailed(why) | Msg::Trouble(why) => {
            model.undo.give_up();
            model.screen.complain(now, why);
            Vec::new()
        }
        Msg::Poll(wish) => polling::ask(model, now, &wish),
        Msg::Add(wanted) => subscribing::add(model, now, wanted),
        Msg::Import(wanted) => subscribing::import(model, now, wanted),
        Msg::Stop => vec![Effect::Stop],
    }
}

/// What the program asks for before the first message: the rows of the first list.
pub fn begin(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects = walking::open_list(model, now);
    model.screen.today_since = Some(feeds_pane::day_start(now, model.zone));
    effects.extend(marking::counting(model, now));
    effects
}

/// Time passed: polls fall due, and a new day begins at midnight.
fn ticked(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects = polling::tick(model, now);
    let today = Some(feeds_pane::day_start(now, model.zone));
    if model.screen.is_on() && model.screen.today_since != today {
        model.screen.today_since = today;
        effects.extend(marking::counting(model, now));
        effects.extend(walking::refresh_list(model, now));
    }
    effects
}

/// The screen was drawn and its panes were measured: selections are brought into sight, and the text being
/// read is laid out for its column.
pub fn measured(model: &mut Model, viewport: Viewport) -> Vec<Effect> {
    let before = std::mem::replace(&mut model.screen.viewport, viewport);
    let mut effects = reading::render(model);
    if before != viewport {
        model.screen.feeds.keep_in_sight(usize::from(viewport.feeds_rows));
        foreseeing::refresh(model);
        effects.extend(walking::settle(model));
    }
    effects
}

fn arrived(model: &mut Model, now: DateTime<Utc>, id: FetchId, fetched: Fetched) -> Vec<Effect> {
    let Some(ended) = model.traffic.end(id, now, &model.settings.network) else {
        return Vec::new();
    };
    match ended.waiting.purpose {
        Purpose::Poll(feed) => polling::fetched(model, now, id, &ended.waiting, feed, fetched),
        Purpose::Discover(addition) => {
            subscribing::fetched(model, now, addition, &ended.waiting.url, fetched)
        }
    }
}

/// A poll's result is durable: the open list shows it, if anybody looks.
fn followed(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, changed: bool) -> Vec<Effect> {
    if !changed || !model.screen.is_on() {
        return explaining::polled(model, feed).into_iter().collect();
    }
    let mut effects = marking::counting(model, now);
    effects.extend(explaining::polled(model, feed));
    if !feeds_pane::concerns(model, feed) {
        return effects;
    }
    if model.screen.list.waiting {
        model.screen.list.stale = true;
    } else {
        effects.extend(walking::refresh_list(model, now));
    }
    effects
}

fn pasted(model: &mut Model, now: DateTime<Utc>, text: &str) -> Vec<Effect> {
    if let Some(Overlay::Prompt(prompt)) = &mut model.screen.overlay {
        prompt.insert(text);
        return Vec::new();
    }
    if let Some(Overlay::Edit(form)) = &mut model.screen.overlay {
        if let Some(prompt) = form.line_mut() {
            prompt.insert(text);
        }
        return Vec::new();
    }
    // An address pasted anywhere is meant to be subscribed to.
    if subscribing::address_of(text).is_ok() && text.contains('.') {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert(text.trim());
        model.screen.lay_over(Overlay::Prompt(prompt));
    } else {
        model.screen.say(now, "paste the address of a site or feed to subscribe to it");
    }
    Vec::new()
}

fn pressed(model: &mut Model, now: DateTime<Utc>, key: Key) -> Vec<Effect> {
    model.screen.notice =
        model.screen.notice.take().filter(|notice| notice.trouble && notice.at == now);
    if let Some(Overlay::Prompt(prompt)) = &mut model.screen.overlay {
        let typed = prompt.key(key);
        return match typed {
            Typed::More => Vec::new(),
            Typed::Cancelled => {
                model.screen.uncover();
                Vec::new()
            }
            Typed::Done => finished(model, now),
        };
    }
    if let Some(Overlay::Edit(_)) = model.screen.overlay {
        return editing::pressed(model, now, key);
    }
    if let Some(Overlay::Choice(choice)) = model.screen.overlay {
        return choosing(model, now, choice, key);
    }
    if model.feeds.is_empty()
        && let Some(effects) = welcomed(model, key)
    {
        return effects;
    }
    let Some(command) = keymap::command(key, model.screen.focus) else {
        if let Key { code: Code::Char(char), ctrl: false } = key {
            model.screen.say(now, format!("{char} does nothing here · ? shows the keys"));
        }
        return Vec::new();
    };
    let helping = matches!(model.screen.overlay, Some(Overlay::Help(_)));
    if helping && !command.works_in_help() {
        model.screen.uncover();
        return Vec::new();
    }
    let over = matches!(model.screen.overlay, Some(Overlay::Plan(_) | Overlay::Timetable(_)));
    if over && !explaining::works_over_panes(command) {
        model.screen.say(now, "that works in the panes below: q closes this one");
        return Vec::new();
    }
    let pending_link = model.screen.reader.as_ref().is_some_and(|reader| !reader.digits.is_empty());
    if pending_link && !matches!(command, Command::Digit(_)) {
        if key == Key::code(Code::Enter) {
            return reading::follow(model, now);
        }
        if let Some(reader) = &mut model.screen.reader {
            reader.digits.clear();
        }
    }
    // A digit is its own command: the table has one line for all nine.
    let command = match (command, key.code) {
        (Command::Digit(_), Code::Char(digit)) => Command::Digit(digit),
        (command, _) => command,
    };
    obey(model, now, command)
}

/// The keys of the welcome pane (UX 1).
fn welcomed(model: &mut Model, key: Key) -> Option<Vec<Effect>> {
    match key {
        Key { code: Code::Char('i'), ctrl: false } => {
            model.screen.lay_over(Overlay::Prompt(Prompt::new(PromptPurpose::Import)));
            Some(Vec::new())
        }
        Key { code: Code::Char('d'), ctrl: false } => Some(vec![Effect::OpenDemo]),
        _ => None,
    }
}

/// A key while the feeds of a page are offered.
fn choosing(model: &mut Model, now: DateTime<Utc>, choice: Choice, key: Key) -> Vec<Effect> {
    let count = model.additions.get(&choice.addition).map_or(0, |addition| addition.found.len());
    let moved = match keymap::command(key, Pane::Feeds) {
        Some(Command::Down) => choice.selected.saturating_add(1).min(count.saturating_sub(1)),
        Some(Command::Up) => choice.selected.saturating_sub(1),
        Some(command @ (Command::Enter | Command::Back | Command::Quit)) => {
            model.screen.uncover();
            return subscribing::chosen(model, now, choice, command == Command::Enter);
        }
        Some(_) | None => choice.selected,
    };
    model.screen.overlay = Some(Overlay::Choice(Choice { selected: moved, ..choice }));
    Vec::new()
}

/// A typed line is finished.
fn finished(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(Overlay::Prompt(prompt)) = model.screen.overlay.take() else { return Vec::new() };
    model.screen.uncover();
    if prompt.text.trim().is_empty() {
        return Vec::new();
    }
    match prompt.purpose {
        PromptPurpose::Add => {
            let id = model.additions.keys().next_back().map_or(1, |last| last.saturating_add(1));
            subscribing::add(
                model,
                now,
                Wanted { id, address: prompt.text, choose: true, ..Wanted::default() },
            )
        }
        PromptPurpose::Import => vec![Effect::Import(prompt.text.trim().to_owned())],
        // The edit dialog has the keys itself.
        PromptPurpose::Field(_) => Vec::new(),
    }
}

fn obey(model: &mut Model, now: DateTime<Utc>, command: Command) -> Vec<Effect> {
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
        Pane::Entries => reading::open_selected(model),
        Pane::Reader => Vec::new(),
    }
}

fn poll_selected(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let selected = feeds_pane::selected_feed(model).map(|feed| vec![feed]);
    let selected = selected.or_else(|| match model.screen.feeds.selected_row() {
        Some(feeds_pane::FeedsRow::Tag(_, keys)) => Some(keys.clone()),
        Some(
            feeds_pane::FeedsRow::AllUnread
            | feeds_pane::FeedsRow::Today
            | feeds_pane::FeedsRow::Starred
            | feeds_pane::FeedsRow::Feed(..),
        )
        | None => None,
    });
    poll(model, now, selected)
}

/// Polls by hand and says what cannot be polled.
fn poll(model: &mut Model, now: DateTime<Utc>, feeds: Option<Vec<FeedKey>>) -> Vec<Effect> {
    let noted = model.run.noted;
    let effects = polling::ask(model, now, &PollWish { feeds, wish: Wish::Allowed });
    let skipped: Vec<_> = model.run.since(noted).collect();
    if let [only] = skipped.as_slice()
        && effects.is_empty()
    {
        let text = format!("not polled: {}", only.reason.as_deref().unwrap_or_default());
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
