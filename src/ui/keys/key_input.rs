//! Passes keys and pasted text to the open input line, the open overlay, or the command that is bound to the key, and carries out
//! commands.

use backissue_core::history::{FeedKey, Flag, GapKey};
use backissue_core::schedule::Pace;
use chrono::{DateTime, Utc};

use super::command_table::command_table;
use super::commands::Command;
use super::key::{ALT_BACKSPACE, Code, Key, shown};
use super::key_bindings::{Meaning, reason_for_nothing};
use crate::engine::backfill::elsewhere;
use crate::engine::entries::rows::{RowKey, Show};
use crate::engine::external::run_external;
use crate::engine::feeds::addresses;
use crate::engine::request::Request;
use crate::ui::actions::{downloads, feeds, jump, marking, older, run_own, unsubscribe};
use crate::ui::app::{ANSWER_STAYS, App};
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::list_panel::{self, KeyOutcome};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::overlays::{
    accounts, edit_dialog, filter_dialog, help_pane, hour_selection, plan_pane, table,
};
use crate::ui::panes::navigation::{self, MarkPart};
use crate::ui::panes::{attention, browsing, feeds_pane, load_rows, search_pane};
use crate::ui::reader::{find_in_text, full_text, lay_out, open_entry, open_pages};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{ListOf, Overlay};
use crate::ui::theme::choose_theme;

/// Largest number before a movement.
const COUNT_MAX: u32 = 999;

/// Handles pasted text: passes it to the open overlay or, if the text is an address, starts a subscription.
pub fn paste_text(app: &mut App, now: DateTime<Utc>, text: &str) -> Vec<ScreenEffect> {
    app.ui.begun.clear();
    let is_web = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let mut several: Vec<String> = Vec::new();
    for word in text.split_whitespace().filter(is_web) {
        if !several.iter().any(|known| known == word) {
            several.push(word.to_owned());
        }
    }
    if several.len() > 1 && table::takes_address(app) {
        list_panel::offer_several(app, now, several);
        return Vec::new();
    }
    if let Some(row) = table::open_row(app)
        && let Some(effects) = (row.paste)(app, now, text)
    {
        return effects;
    }
    // If no overlay accepts pasted text, a pasted address opens the input line for a subscription.
    if addresses::address_of(text).is_ok() && (text.contains('.') || text.contains("://")) {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert(text.trim());
        app.ui.open_prompt(prompt);
    } else {
        app.ui.say(now, "paste the address of a site or feed to subscribe to it");
    }
    Vec::new()
}

/// Handles a key press.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    if let Some(keys) = split_alt(app, key) {
        return keys.into_iter().flat_map(|key| press_key(app, now, key)).collect();
    }
    app.ui.notice = app.ui.notice.take().filter(|notice| {
        (notice.trouble && notice.at == now)
            || (notice.stays && now.signed_duration_since(notice.at) < ANSWER_STAYS)
    });
    // If the key that suspends the program includes Ctrl, it works even while an overlay is open.
    let meaning = app.ui.settings.keys.meaning(&[key], key_pane(app));
    if key.ctrl && meaning == Meaning::Command(Command::Suspend) {
        return run_command(app, now, Command::Suspend);
    }
    if let Some(row) = table::open_row(app) {
        match (row.key)(app, now, key) {
            KeyOutcome::Done(effects) => return effects,
            KeyOutcome::Run(command) => return run_where_it_works(app, now, command),
            KeyOutcome::RunWith(name, text) => return run_with(app, now, name, &text),
            KeyOutcome::Passed => {}
        }
    }
    if app.engine.feeds.is_empty()
        && app.ui.overlay.is_none()
        && let Some(effects) = press_welcome_key(app, key)
    {
        return effects;
    }
    if takes_count(app, now, key) {
        return Vec::new();
    }
    let count = std::mem::take(&mut app.ui.count).max(1);
    let Some(command) = typed_command(app, now, key) else { return Vec::new() };
    if count > 1 && matches!(command, Command::Down | Command::Up) {
        return (0..count).flat_map(|_| run_command(app, now, command)).collect();
    }
    if let Some(effects) = table::take_command(app, now, command) {
        return effects;
    }
    let pending_link = app.ui.reader.as_ref().is_some_and(|reader| !reader.digits.is_empty());
    if pending_link && !matches!(command, Command::Digit(_)) {
        if key == Key::code(Code::Enter) {
            return open_entry::follow_typed(app, now);
        }
        if let Some(reader) = &mut app.ui.reader {
            reader.digits.clear();
        }
    }
    run_command(app, now, command)
}

/// Handles a digit of a number before a movement in a list, as in `5j`. Returns `false` for other keys.
fn takes_count(app: &mut App, now: DateTime<Utc>, key: Key) -> bool {
    let Key { code: Code::Char(char), ctrl: false } = key else { return false };
    let digit = char.to_digit(10).filter(|digit| *digit > 0 || app.ui.count > 0);
    let is_list = app.ui.overlay.is_none() && app.ui.focus != Pane::Reader;
    let is_free = app.ui.begun.is_empty()
        && app.ui.settings.keys.meaning(&[key], key_pane(app)) == Meaning::Nothing;
    let Some(digit) = digit.filter(|_| is_list && is_free) else { return false };
    app.ui.count = app.ui.count.saturating_mul(10).saturating_add(digit).min(COUNT_MAX);
    let count = app.ui.count;
    app.ui.say(now, format!("{count}: now the key that moves by {count} rows"));
    true
}

/// Returns the pane whose keys apply: in a list over the panes, those of the entries.
fn key_pane(app: &App) -> Pane {
    if table::open_list(app).is_some() { Pane::Entries } else { app.ui.focus }
}

/// Returns Esc and a key for this key with Alt, if it has no meaning with Alt: terminals send the same if the key is typed at once
/// after Esc, or if a connection delivers both together.
fn split_alt(app: &App, key: Key) -> Option<[Key; 2]> {
    let Code::Alt(char) = key.code else { return None };
    let typed = [app.ui.begun.as_slice(), &[key]].concat();
    if app.ui.settings.keys.meaning(&typed, key_pane(app)) != Meaning::Nothing {
        return None;
    }
    let code = match char {
        // It deletes a word in an input line.
        ALT_BACKSPACE if app.ui.overlay.is_some() => return None,
        ALT_BACKSPACE => Code::Backspace,
        char => Code::Char(char),
    };
    Some([Key::code(Code::Esc), Key { code, ..key }])
}

/// Returns the command that is bound to the keys typed so far, including this key. If they are only the beginning of a longer
/// sequence, they are stored and `None` is returned.
fn typed_command(app: &mut App, now: DateTime<Utc>, key: Key) -> Option<Command> {
    let mut typed = std::mem::take(&mut app.ui.begun);
    if !typed.is_empty() && key == Key::code(Code::Esc) {
        return None;
    }
    typed.push(key);
    match app.ui.settings.keys.meaning(&typed, key_pane(app)) {
        Meaning::Command(command) => return Some(command),
        Meaning::Begun => app.ui.begun = typed,
        Meaning::Nothing => {
            if let Some(kind) = table::open_list(app) {
                list_panel::explain(app, now, kind);
                return None;
            }
            let keys = shown(&typed);
            let why = reason_for_nothing(app.ui.settings.key_preset, &keys);
            let why = app.ui.words(why.unwrap_or("{help} shows the keys"));
            app.ui.say(now, format!("{keys} does nothing here · {why}"));
        }
    }
    None
}

/// Lets the open overlay handle a command, or runs the command if the overlay does not handle it.
fn run_where_it_works(app: &mut App, now: DateTime<Utc>, command: Command) -> Vec<ScreenEffect> {
    table::take_command(app, now, command).unwrap_or_else(|| run_command(app, now, command))
}

/// Handles the keys of the welcome pane (UX 1).
fn press_welcome_key(app: &mut App, key: Key) -> Option<Vec<ScreenEffect>> {
    match key {
        Key { code: Code::Char('i'), ctrl: false } => {
            app.ui.open_prompt(Prompt::new(PromptPurpose::Import));
            Some(Vec::new())
        }
        Key { code: Code::Char('d'), ctrl: false } => Some(vec![ScreenEffect::OpenDemo]),
        Key { code: Code::Char(digit @ '1'..='9'), ctrl: false } => {
            let place = digit.to_digit(10)?.checked_sub(1)? as usize;
            app.ui.found_readers.get(place).map(|_| vec![ScreenEffect::MoveIn(place)])
        }
        _ => None,
    }
}

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
    let folded = feeds_pane::fold_selected(app);
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
    feeds_pane::unfold_selected(app).unwrap_or_else(|| {
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
            if app.ui.focus == Pane::Feeds { None } else { marking::note_trouble(app, now) };
        return noted.unwrap_or_else(|| attention::note_trouble(app, now));
    }
    toggle_flag(app, now, Flag::Read)
}

/// Toggles a flag of the marked entries or, if no entry is marked, of the selected entry.
fn toggle_flag(app: &mut App, now: DateTime<Utc>, flag: Flag) -> Vec<ScreenEffect> {
    marking::toggle_mark(app, now, flag).unwrap_or_else(|| navigation::toggle_mark(app, now, flag))
}

fn toggle_timetable(app: &mut App, _now: DateTime<Utc>) -> Vec<ScreenEffect> {
    hour_selection::toggle_timetable(app);
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
    search_pane::ask_name(app).unwrap_or_else(|| edit_dialog::open_form(app, now))
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
    search_pane::give_up_selected(app, now)
        .unwrap_or_else(|| unsubscribe::unsubscribe_selected(app, now))
}

/// Sets the pace (how often a feed is polled) of the marked feeds or, if no feed is marked, of the selected feed.
fn set_pace(app: &mut App, now: DateTime<Utc>, pace: Pace) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_none()
        && let Some(effects) = marking::set_pace(app, now, pace)
    {
        return effects;
    }
    let Some(feed) = attention::selected_feed(app, now) else {
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
        return hour_selection::open_selected_plan(app, now);
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
    let Some(feed) = attention::selected_feed(app, now) else {
        return app.ui.say_only(now, "select a feed first");
    };
    if elsewhere::is_next(&app.engine, feed) {
        return list_panel::toggle(app, now, ListOf::Older(feed), &older::LIST);
    }
    app.ask(now, Request::MoreHistory(feed, None))
}

/// Restores the entries that the selected feed withdrew last.
fn restore_withdrawn(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(feed) = attention::selected_feed(app, now) else {
        return app.ui.say_only(now, "select a feed first");
    };
    app.ask(now, Request::RestoreWithdrawn(feed))
}

fn poll_here(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let feeds = meant_feeds(app, now).unwrap_or_default();
    marking::poll_here(app, now, &feeds)
}

fn poll_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let meant = meant_feeds(app, now);
    feeds::poll_feeds(app, now, meant)
}

/// Returns the marked feeds, the selected feed, or those of the selected tag.
fn meant_feeds(app: &App, now: DateTime<Utc>) -> Option<Vec<FeedKey>> {
    let marked = marking::marked_feeds(app);
    if !marked.is_empty() && app.ui.overlay.is_none() {
        return Some(marked);
    }
    let selected = attention::selected_feed(app, now).map(|feed| vec![feed]);
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
        Show::Starred | Show::Hidden | Show::Ended => (Show::All, "all entries"),
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
        Some(FeedsRow::Reading) => Some("what was chosen for today"),
        Some(FeedsRow::Ended) => Some("entries that ended this week"),
        Some(FeedsRow::Gaps) => Some("gaps"),
        Some(FeedsRow::Attention) => Some("feeds that need attention"),
        Some(FeedsRow::Today | FeedsRow::Search(_) | FeedsRow::Tag(..) | FeedsRow::Feed(..)) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::key::{parse_key, sequence};
    use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
    use crate::ui::keys::key_input::*;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::overlay::Overlay;

    fn press(app: &mut App, keys: &str) -> Vec<ScreenEffect> {
        let keys = keys.split(' ').map(|key| parse_key(key).unwrap());
        keys.flat_map(|key| press_key(app, noon(), key)).collect()
    }

    fn told(app: &App) -> &str {
        app.ui.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn key_sequence_is_kept_until_it_ends_or_is_cancelled() {
        let mut app = app_with(&[("Orchard", &[])]);
        let own = OwnKeys {
            place: place_of("help").unwrap(),
            sequences: vec![sequence("g h").unwrap()],
            line: 1,
        };
        app.ui.settings.keys = Keymap::new(&[own]).0;
        press(&mut app, "g");
        assert_eq!((app.ui.begun.len(), &app.ui.overlay), (1, &None));
        press(&mut app, "h");
        assert!(matches!(app.ui.overlay, Some(Overlay::Help(_))) && app.ui.begun.is_empty());
        app.ui.overlay = None;
        press(&mut app, "g Esc");
        assert_eq!((app.ui.begun.len(), &app.ui.overlay, told(&app)), (0, &None, ""));
    }

    #[test]
    fn a_number_before_a_movement_repeats_it() {
        let names: Vec<String> = (0..30).map(|number| format!("Feed {number:02}")).collect();
        let feeds: Vec<(&str, &[&str])> = names.iter().map(|it| (it.as_str(), &[][..])).collect();
        let mut app = app_with(&feeds);
        let selected = |app: &mut App, keys: &str| {
            press(app, keys);
            app.ui.feeds.selected
        };
        assert_eq!(selected(&mut app, "1 2 j"), 12);
        assert_eq!(selected(&mut app, "j"), 13);
        assert_eq!(selected(&mut app, "1 0 k"), 3);
        assert_eq!(selected(&mut app, "5 Esc j"), 4, "any other key ends the number");
    }

    #[test]
    fn unbound_key_shows_a_message_until_the_next_key() {
        let mut app = app_with(&[("Orchard", &[])]);
        press(&mut app, "Ctrl-x");
        assert_eq!(told(&app), "Ctrl-x does nothing here · ? shows the keys");
        press(&mut app, "j");
        assert_eq!(told(&app), "");
    }

    #[test]
    fn suspend_works_while_typing_anything() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.open_prompt(Prompt::new(PromptPurpose::Add));
        assert_eq!(press(&mut app, "Ctrl-z"), [ScreenEffect::Suspend]);
        assert!(app.ui.overlay.is_some());
    }

    #[test]
    fn letters_of_the_welcome_work_only_while_there_are_no_feeds() {
        let mut app = app_with(&[]);
        app.ui.found_readers = vec!["newsboat".into()];
        assert_eq!(press(&mut app, "d"), [ScreenEffect::OpenDemo]);
        assert_eq!(press(&mut app, "1"), [ScreenEffect::MoveIn(0)]);
        assert!(press(&mut app, "2").is_empty());
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.found_readers = vec!["newsboat".into()];
        assert!(press(&mut app, "d 1").is_empty());
    }

    #[test]
    fn a_key_with_alt_without_a_meaning_is_esc_and_the_key() {
        let mut app = app_with(&[("Orchard", &[])]);
        press(&mut app, "a x Alt-y");
        // Esc closed the line, so the y is a command.
        assert_eq!((&app.ui.overlay, told(&app)), (&None, "there is no link to copy here"));
        press(&mut app, "Alt-a x");
        assert_eq!(
            app.ui.overlay,
            Some(Overlay::Prompt(Prompt::filled(PromptPurpose::Add, "x".into())))
        );
        press_key(&mut app, noon(), Key::code(Code::Alt(ALT_BACKSPACE)));
        assert_eq!(app.ui.overlay, Some(Overlay::Prompt(Prompt::new(PromptPurpose::Add))));
        press(&mut app, "Esc");
        let (place, sequences) = (place_of("help").unwrap(), vec![sequence("Alt-a").unwrap()]);
        app.ui.settings.keys = Keymap::new(&[OwnKeys { place, sequences, line: 1 }]).0;
        press(&mut app, "Alt-a");
        assert!(matches!(app.ui.overlay, Some(Overlay::Help(_))));
    }

    #[test]
    fn pasted_address_subscribes_and_other_text_does_not() {
        let mut app = app_with(&[("Orchard", &[])]);
        paste_text(&mut app, noon(), "just words");
        assert_eq!(app.ui.overlay, None);
        paste_text(&mut app, noon(), " https://a.example/feed\n");
        let typed = Prompt::filled(PromptPurpose::Add, "https://a.example/feed".into());
        assert_eq!(app.ui.overlay, Some(Overlay::Prompt(typed)));
    }

    #[test]
    fn several_pasted_addresses_are_offered_together() {
        let mut app = app_with(&[("Orchard", &[])]);
        let pasted = "https://a.example/feed and\nhttps://b.example/feed\nhttps://a.example/feed";
        let mut paste = |key: &str| {
            paste_text(&mut app, noon(), pasted);
            let Some(Overlay::Question(asked)) = &app.ui.overlay else { unreachable!() };
            assert_eq!(asked.text, "Subscribe to 2 addresses? a.example, b.example · y/n");
            press(&mut app, key);
            assert_eq!(app.ui.overlay, None);
            let asked = app.engine.additions.values().map(|one| one.wanted.address.clone());
            asked.collect::<Vec<_>>()
        };
        assert!(paste("n").is_empty());
        assert_eq!(paste("y"), ["https://a.example/feed", "https://b.example/feed"]);
        let many: Vec<String> = (0..90).map(|at| format!("https://a{at}.example/")).collect();
        paste_text(&mut app, noon(), &many.join(" "));
        assert!(told(&app).contains("a file that lists them"), "{}", told(&app));
    }

    #[test]
    fn a_command_of_the_palette_is_run_where_it_was_opened() {
        let mut app = app_with(&[("Orchard", &[])]);
        press(&mut app, ": t h e m e Enter");
        assert!(app.ui.overlay.is_none());
        assert!(told(&app).starts_with("theme "), "{}", told(&app));
        press(&mut app, ": z z z z Enter");
        assert_eq!(told(&app), "no command matches 'zzzz' · ? shows the keys");
    }
}
