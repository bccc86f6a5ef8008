//! Passes keys and pasted text to the open input line, the open overlay, or the command that is bound to the key, and carries out
//! commands.

use backissue_core::history::{FeedKey, Flag, GapKey};
use backissue_core::schedule::Pace;
use chrono::{DateTime, Utc};

use super::command_table::{Command, command_table};
use super::key::{ALT_BACKSPACE, Code, Key, shown};
use super::key_bindings::{Meaning, reason_for_nothing};
use crate::engine::backfill::elsewhere;
use crate::engine::entries::rows::{RowKey, Show};
use crate::engine::feeds::addresses;
use crate::engine::feeds::trouble::Remedy;
use crate::engine::request::Request;
use crate::engine::start_external;
use crate::ui::actions::{downloads, feeds, history_lists, jump, marking, run_own, unsubscribe};
use crate::ui::app::{ANSWER_STAYS, App, Cx};
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

/// Maximum number that can be typed before a movement.
const COUNT_MAX: u32 = 999;

/// Handles pasted text: passes it to the open overlay or, if the text is an address, starts a subscription.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) {
    cx.app.ui.begun.clear();
    let is_web = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let mut several: Vec<String> = Vec::new();
    for word in text.split_whitespace().filter(is_web) {
        if !several.iter().any(|known| known == word) {
            several.push(word.to_owned());
        }
    }
    if several.len() > 1 && table::takes_address(cx.app) {
        list_panel::offer_several(cx, several);
        return;
    }
    if let Some(row) = table::open_row(cx.app)
        && let Some(()) = (row.paste)(cx, text)
    {
        return;
    }
    // If no overlay accepts pasted text, a pasted address opens the input line for a subscription.
    if addresses::address_of(text).is_ok() && (text.contains('.') || text.contains("://")) {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert(text.trim());
        cx.app.ui.open_prompt(prompt);
    } else {
        cx.say("paste the address of a site or feed to subscribe to it");
    }
}

/// Handles a key press.
pub fn press_key(cx: &mut Cx<'_>, key: Key) {
    if let Some(keys) = split_alt(cx.app, key) {
        return keys.into_iter().for_each(|key| press_key(cx, key));
    }
    cx.app.ui.notice = cx.app.ui.notice.take().filter(|notice| {
        (notice.trouble && notice.at == cx.now)
            || (notice.stays && cx.now.signed_duration_since(notice.at) < ANSWER_STAYS)
    });
    // If the key that suspends the program includes Ctrl, it works even while an overlay is open.
    let meaning = cx.app.ui.settings.keys.meaning(&[key], key_pane(cx.app));
    if key.ctrl && meaning == Meaning::Command(Command::Suspend) {
        return run_command(cx, Command::Suspend);
    }
    if let Some(row) = table::open_row(cx.app) {
        match (row.key)(cx, key) {
            KeyOutcome::Done => return,
            KeyOutcome::Run(command) => return run_where_it_works(cx, command),
            KeyOutcome::RunWith(name, text) => return run_with(cx, name, &text),
            KeyOutcome::Passed => {}
        }
    }
    if cx.app.engine.feeds.is_empty()
        && cx.app.ui.overlay.is_none()
        && press_welcome_key(cx, key).is_some()
    {
        return;
    }
    if takes_count(cx, key) {
        return;
    }
    let count = std::mem::take(&mut cx.app.ui.count).max(1);
    let Some(command) = typed_command(cx, key) else { return };
    if count > 1 && matches!(command, Command::Down | Command::Up) {
        return (0..count).for_each(|_| run_command(cx, command));
    }
    if table::take_command(cx, command).is_some() {
        return;
    }
    let pending_link = cx.app.ui.reader.as_ref().is_some_and(|reader| !reader.digits.is_empty());
    if pending_link && !matches!(command, Command::Digit(_)) {
        if key == Key::code(Code::Enter) {
            return open_entry::follow_typed(cx);
        }
        if let Some(reader) = &mut cx.app.ui.reader {
            reader.digits.clear();
        }
    }
    run_command(cx, command);
}

/// Handles a digit of a number before a movement in a list, as in `5j`. Returns `false` for other keys.
fn takes_count(cx: &mut Cx<'_>, key: Key) -> bool {
    let Key { code: Code::Char(char), ctrl: false } = key else { return false };
    let digit = char.to_digit(10).filter(|digit| *digit > 0 || cx.app.ui.count > 0);
    let is_list = cx.app.ui.overlay.is_none() && cx.app.ui.focus != Pane::Reader;
    let is_free = cx.app.ui.begun.is_empty()
        && cx.app.ui.settings.keys.meaning(&[key], key_pane(cx.app)) == Meaning::Nothing;
    let Some(digit) = digit.filter(|_| is_list && is_free) else { return false };
    cx.app.ui.count = cx.app.ui.count.saturating_mul(10).saturating_add(digit).min(COUNT_MAX);
    let count = cx.app.ui.count;
    cx.say(format!("{count}: the next key that moves, moves by {count} rows"));
    true
}

/// Returns the pane whose keys apply. While a list is open over the panes, the keys of the entries pane apply.
fn key_pane(app: &App) -> Pane {
    if table::open_list(app).is_some() { Pane::Entries } else { app.ui.focus }
}

/// Returns Esc and a key in place of this key with Alt if the key with Alt has no meaning. A terminal sends the same bytes if the
/// user types the key directly after Esc, or if the connection delivers both keys together.
fn split_alt(app: &App, key: Key) -> Option<[Key; 2]> {
    let Code::Alt(char) = key.code else { return None };
    let typed = [app.ui.begun.as_slice(), &[key]].concat();
    if app.ui.settings.keys.meaning(&typed, key_pane(app)) != Meaning::Nothing {
        return None;
    }
    let code = match char {
        // Alt with Backspace deletes a word in an input line.
        ALT_BACKSPACE if app.ui.overlay.is_some() => return None,
        ALT_BACKSPACE => Code::Backspace,
        char => Code::Char(char),
    };
    Some([Key::code(Code::Esc), Key { code, ..key }])
}

/// Returns the command that is bound to the keys typed so far, including this key. If they are only the beginning of a longer
/// sequence, they are stored and `None` is returned.
fn typed_command(cx: &mut Cx<'_>, key: Key) -> Option<Command> {
    let mut typed = std::mem::take(&mut cx.app.ui.begun);
    if !typed.is_empty() && key == Key::code(Code::Esc) {
        return None;
    }
    typed.push(key);
    match cx.app.ui.settings.keys.meaning(&typed, key_pane(cx.app)) {
        Meaning::Command(command) => return Some(command),
        Meaning::Begun => cx.app.ui.begun = typed,
        Meaning::Nothing => {
            if let Some(kind) = table::open_list(cx.app) {
                list_panel::explain(cx, kind);
                return None;
            }
            let keys = shown(&typed);
            let why = reason_for_nothing(cx.app.ui.settings.key_preset, &keys);
            let why = cx.app.ui.words(why.unwrap_or("{help} shows the keys")).replace('`', "");
            cx.say(format!("{keys} does nothing here · {why}"));
        }
    }
    None
}

/// Lets the open overlay handle a command, or runs the command if the overlay does not handle it.
fn run_where_it_works(cx: &mut Cx<'_>, command: Command) {
    if table::take_command(cx, command).is_none() {
        run_command(cx, command);
    }
}

/// Handles the keys of the welcome pane (UX 1).
fn press_welcome_key(cx: &mut Cx<'_>, key: Key) -> Option<()> {
    match key {
        Key { code: Code::Char('i'), ctrl: false } => {
            cx.app.ui.open_prompt(Prompt::new(PromptPurpose::Import));
            Some(())
        }
        Key { code: Code::Char('d'), ctrl: false } => {
            cx.out.push(ScreenEffect::OpenDemo);
            Some(())
        }
        Key { code: Code::Char(digit @ '1'..='9'), ctrl: false } => {
            let place = digit.to_digit(10)?.checked_sub(1)? as usize;
            cx.app.ui.found_readers.get(place)?;
            cx.out.push(ScreenEffect::MoveIn(place));
            Some(())
        }
        _ => None,
    }
}

/// Carries out a command.
type Run = fn(&mut Cx<'_>);
/// Carries out a command with the text that was typed after its name.
type RunWith = fn(&mut Cx<'_>, &str);

macro_rules! functions {
    ($($group:literal { $(
        $command:ident $name:literal $keys:literal $panes:ident $help:literal
            => $run:expr $(, $takes:expr)?;
    )* })*) => {
        /// Carries out a command.
        pub fn run_command(cx: &mut Cx<'_>, command: Command) {
            let run: Run = match command {
                $($(Command::$command => $run,)*)*
                Command::Digit(digit) => return open_entry::type_digit(cx, digit),
                Command::Own(number) => return run_own::start(cx, number, run_command),
            };
            run(cx);
        }

        /// Carries out the command with this name, with the text that was typed after the name.
        pub fn run_with(cx: &mut Cx<'_>, name: &str, text: &str) {
            let run: RunWith = match name {
                $($($($name => $takes,)?)*)*
                _ => {
                    return cx.complain(format!("'{name}' takes no argument: remove '{text}'"));
                }
            };
            run(cx, text);
        }
    };
}

command_table!(functions);

/// Closes the topmost overlay, search or text, or ends a search in the text. If something is marked and no overlay is open,
/// removes the marks instead.
fn close(cx: &mut Cx<'_>) {
    if cx.app.ui.overlay.is_none() && marking::clear_marks(cx) {
        return;
    }
    if cx.app.ui.overlay.is_none() && cx.app.ui.find.is_some() {
        find_in_text::end(cx.app, false);
        return;
    }
    navigation::close_open(cx);
}

/// Redraws the whole screen, to remove the output of other programs.
fn redraw(cx: &mut Cx<'_>) {
    cx.app.ui.redraws = cx.app.ui.redraws.wrapping_add(1);
}

/// Moves the selection or scrolls, down (`true`) or up, in the open overlay or the focused pane.
pub(super) fn move_by(cx: &mut Cx<'_>, down: bool, distance: Distance) {
    if table::scroll_open(cx, down, distance).is_none() {
        navigation::move_in_pane(cx, down, distance);
    }
}

/// Moves the focus to the pane on the left. If a tag or a feed under a tag is selected, folds the tag or selects its parent
/// instead.
fn go_left(cx: &mut Cx<'_>) {
    let before = cx.app.ui.feeds.selected;
    if feeds_pane::fold_selected(cx).is_none() {
        navigation::go_left(cx.app);
    }
    if cx.app.ui.feeds.selected != before {
        load_rows::open_list(cx);
    }
}

/// Moves the focus to the pane on the right. If a folded tag is selected, unfolds it instead.
fn go_right(cx: &mut Cx<'_>) {
    if feeds_pane::unfold_selected(cx).is_none() {
        navigation::go_right(cx.app);
    }
}

/// Opens the next unread entry or, while words are found in a text, shows the next hit.
fn next_unread(cx: &mut Cx<'_>) {
    if find_in_text::move_on(cx, true).is_none() {
        open_entry::open_next_unread(cx);
    }
}

/// Marks the selected entry as read or unread. In the Attention list, it dismisses the selected problem. While words are found in a
/// text, it shows the previous hit.
fn toggle_read(cx: &mut Cx<'_>) {
    if find_in_text::move_on(cx, false).is_some() {
        return;
    }
    // The user has decided about this entry, so it is not marked automatically.
    cx.app.ui.read_later = None;
    if attention::is_open(cx.app) {
        if cx.app.ui.focus == Pane::Feeds || marking::note_trouble(cx).is_none() {
            attention::note_trouble(cx);
        }
        return;
    }
    toggle_flag(cx, Flag::Read);
}

/// Toggles a flag of the marked entries or, if no entry is marked, of the selected entry.
fn toggle_flag(cx: &mut Cx<'_>, flag: Flag) {
    if marking::toggle_mark(cx, flag).is_none() {
        navigation::toggle_mark(cx, flag);
    }
}

fn toggle_timetable(cx: &mut Cx<'_>) {
    hour_selection::toggle_timetable(cx.app);
}

fn switch_zone(cx: &mut Cx<'_>) {
    plan_pane::switch_zone(cx);
}

fn sort_next(cx: &mut Cx<'_>) {
    if cx.app.ui.focus != Pane::Feeds {
        return browsing::sort_entries(cx);
    }
    feeds_pane::sort_next(cx);
}

/// Renames the selected search, or edits the selected feed.
fn edit_selected(cx: &mut Cx<'_>) {
    if search_pane::ask_name(cx).is_none() {
        edit_dialog::open_form(cx);
    }
}

/// Hides the selected gap. If no gap is selected, unsubscribes from the marked feeds. If no feed is marked either, removes the
/// selected search or unsubscribes from the selected feed.
fn give_up_selected(cx: &mut Cx<'_>) {
    if let Some((feed, gap)) = selected_gap(cx.app) {
        return cx.ask(Request::DismissGap(feed, gap));
    }
    if !marking::marked_feeds(cx.app).is_empty() {
        return unsubscribe::unsubscribe_selected(cx);
    }
    search_pane::give_up_selected(cx).unwrap_or_else(|| unsubscribe::unsubscribe_selected(cx));
}

/// Sets the pace (how often a feed is polled) of the marked feeds or, if no feed is marked, of the selected feed.
fn set_pace(cx: &mut Cx<'_>, pace: Pace) {
    if cx.app.ui.overlay.is_none()
        && let Some(()) = marking::set_pace(cx, pace)
    {
        return;
    }
    let Some(feed) = attention::selected_feed(cx.app, cx.now) else {
        return cx.say(
            "select a feed first: {more-often} {less-often} {normally-often} apply to one feed",
        );
    };
    cx.ask(Request::SetPace(feed, pace));
}

fn open_prompt(cx: &mut Cx<'_>, purpose: PromptPurpose) {
    cx.app.ui.lay_over(Overlay::Prompt(Prompt::new(purpose)));
}

fn open_selected(cx: &mut Cx<'_>) {
    if cx.app.ui.overlay.is_some() {
        return hour_selection::open_selected_plan(cx);
    }
    match cx.app.ui.focus {
        Pane::Feeds => {
            cx.app.ui.focus = Pane::Entries;
        }
        Pane::Entries if attention::is_open(cx.app) => {
            let concern = attention::selected_concern(cx.app, cx.now);
            let retried = concern.filter(|it| it.account.is_none() && it.remedy == Remedy::Retry);
            match retried {
                Some(concern) => feeds::poll_feeds(cx, Some(vec![concern.feed])),
                None => attention::apply_remedy(cx),
            }
        }
        Pane::Entries => open_entry::open_selected(cx),
        Pane::Reader => {}
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
fn load_history(cx: &mut Cx<'_>) {
    if let Some((feed, gap)) = selected_gap(cx.app) {
        return cx.ask(Request::MoreHistory(feed, Some(gap)));
    }
    let Some(feed) = attention::selected_feed(cx.app, cx.now) else {
        return cx.say("select a feed first");
    };
    if elsewhere::is_next(&cx.app.engine, feed) {
        return list_panel::toggle(cx, ListOf::Older(feed), &history_lists::SOURCES);
    }
    cx.ask(Request::MoreHistory(feed, None));
}

/// Restores the entries that the selected feed withdrew last.
fn restore_withdrawn(cx: &mut Cx<'_>) {
    let Some(feed) = attention::selected_feed(cx.app, cx.now) else {
        return cx.say("select a feed first");
    };
    cx.ask(Request::RestoreWithdrawn(feed));
}

fn poll_here(cx: &mut Cx<'_>) {
    let feeds = meant_feeds(cx.app, cx.now).unwrap_or_default();
    marking::poll_here(cx, &feeds);
}

fn poll_selected(cx: &mut Cx<'_>) {
    let meant = meant_feeds(cx.app, cx.now);
    feeds::poll_feeds(cx, meant);
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

fn show_next(cx: &mut Cx<'_>) {
    if cx.app.ui.search.is_some() {
        return cx.say("a search covers all entries: is:unread or is:starred narrows it");
    }
    if let Some(always) = fixed_list(cx.app) {
        let works = cx.app.ui.words("{show} works on feeds, tags and Today");
        return cx.say(format!("this list always shows {always}: {works}"));
    }
    let (next, text) = match cx.app.ui.show {
        Show::All => (Show::Unread, "unread entries only"),
        Show::Unread => (Show::Starred, "starred entries only"),
        Show::Starred if !cx.app.engine.filters.list.is_empty() => (
            Show::Hidden,
            "entries hidden by filters · {mute} on one shows the filter, {star} unhides it",
        ),
        Show::Starred | Show::Hidden | Show::Ended => (Show::All, "all entries"),
    };
    cx.app.ui.show = next;
    let text = cx.app.ui.words(text);
    cx.say(format!("showing {text}"));
    load_rows::reopen_list(cx);
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
        keys.flat_map(|key| Cx::run(app, noon(), |cx| press_key(cx, key))).collect()
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
    fn help_over_a_text_is_searched_with_the_key_that_it_names() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.focus = Pane::Reader;
        press(&mut app, "? / m x");
        let Some(Overlay::Help(help)) = &app.ui.overlay else { unreachable!() };
        assert_eq!((help.typing, help.filter.text.as_str()), (true, "mx"));
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
        Cx::run(&mut app, noon(), |cx| press_key(cx, Key::code(Code::Alt(ALT_BACKSPACE))));
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
        Cx::run(&mut app, noon(), |cx| paste_text(cx, "just words"));
        assert_eq!(app.ui.overlay, None);
        Cx::run(&mut app, noon(), |cx| paste_text(cx, " https://a.example/feed\n"));
        let typed = Prompt::filled(PromptPurpose::Add, "https://a.example/feed".into());
        assert_eq!(app.ui.overlay, Some(Overlay::Prompt(typed)));
    }

    #[test]
    fn several_pasted_addresses_are_offered_together() {
        let mut app = app_with(&[("Orchard", &[])]);
        let pasted = "https://a.example/feed and\nhttps://b.example/feed\nhttps://a.example/feed";
        let mut paste = |key: &str| {
            Cx::run(&mut app, noon(), |cx| paste_text(cx, pasted));
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
        Cx::run(&mut app, noon(), |cx| paste_text(cx, &many.join(" ")));
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
