//! Opens the pages of entries, and the documents missing at gaps, in the browser. The module also opens links by hint letters on
//! the visible links, copies links and addresses to the clipboard, and pipes the selected entry to an external command.

use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::history::{EntryBody, EntryKey, FeedKey, Flag, GapKey};
use chrono::{DateTime, Utc};

use super::{count_reading, open_entry};
use crate::engine::backfill::history_requests;
use crate::engine::change::MarkChange;
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::entries::interest::Reading;
use crate::engine::entries::rows::RowKey;
use crate::engine::external_command::ExternalCommand;
use crate::engine::external_run::RunPurpose;
use crate::engine::request::Request;
use crate::engine::start_external;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::list_panel::KeyOutcome;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::panes::attention;
use crate::ui::settings::MarkRead;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, Overlay};
use crate::ui::state::pending::WaitingRun;
use crate::ui::state::reader::{HintAction, LinkHints, TextSource};

/// Maximum number of pages that are opened without a confirmation.
const PAGES_UNASKED: usize = 10;

/// Opens the pages of the marked entries in the browser. Returns `None` if no entry is marked.
fn open_marked(cx: &mut Cx<'_>) -> Option<()> {
    if cx.app.ui.focus != Pane::Entries || cx.app.ui.marked.entries.is_empty() {
        return None;
    }
    let marked = &cx.app.ui.marked.entries;
    let rows = cx.app.ui.list.rows.iter();
    let pages: Vec<(EntryKey, String)> = rows
        .filter_map(|row| Some((row.key.entry()?, row.link.as_deref()?)))
        .map(|(key, link)| (key, cx.app.ui.settings.link(link).into_owned()))
        .filter(|(key, _)| marked.contains(key))
        .collect();
    let count = pages.len();
    if count <= PAGES_UNASKED {
        open_pages(cx, pages);
        return Some(());
    }
    let text = format!("Open {count} pages in the browser? y/n");
    cx.app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::OpenPages(pages) }));
    Some(())
}

/// Opens pages of entries in the browser, and marks the entries as read as one change.
pub fn open_pages(cx: &mut Cx<'_>, pages: Vec<(EntryKey, String)>) {
    cx.app.ui.marked.entries.clear();
    let (mut keys, count) = (Vec::new(), pages.len());
    for (key, link) in pages {
        count_reading::count(cx.app, key.feed, Reading::Browsed);
        cx.ask(Request::Open { link, attached: None });
        let row = cx.app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(key));
        keys.extend(row.is_some_and(|row| row.flags.is_unread()).then_some(key));
    }
    if !keys.is_empty() && cx.app.ui.settings.mark_read != MarkRead::Never {
        let mark = MarkChange { keys, flag: Flag::Read, value: true };
        cx.ask(Request::Mark(mark));
    }
    cx.say(format!("opening {}", counted_words(count, "page", "pages")));
}

/// Opens the web page of the selected entry, or the pages of the marked entries, in the browser and marks the entries as read.
pub fn open_page(cx: &mut Cx<'_>) {
    if open_marked(cx).is_some() {
        return;
    }
    let Some(row) = cx.app.ui.list.selected_row() else { return };
    if let RowKey::Gap(feed, gap) = row.key {
        return open_missing(cx, feed, gap);
    }
    let (key, link, unread) = (row.key.entry(), row.link.clone(), row.flags.is_unread());
    let (Some(key), Some(link)) = (key, link) else {
        return cx.say("this entry has no link");
    };
    let link = cx.app.ui.settings.link(&link).into_owned();
    cx.say(format!("opening {link}"));
    count_reading::count(cx.app, key.feed, Reading::Browsed);
    cx.ask(Request::Open { link, attached: None });
    if unread && cx.app.ui.settings.mark_read != MarkRead::Never {
        cx.ask(Request::Mark(MarkChange { keys: vec![key], flag: Flag::Read, value: true }));
    }
}

/// Opens the address of the document that is missing at a gap in the browser.
fn open_missing(cx: &mut Cx<'_>, feed: FeedKey, gap: GapKey) {
    let Some(link) = missing_address(cx.app, cx.now, feed, gap) else {
        return cx.say("this gap has no address");
    };
    show_in_browser(cx, link);
}

/// Opens the page with the comments on the open entry in the browser.
pub fn open_comments(cx: &mut Cx<'_>) {
    let reader = cx.app.ui.shown_reader();
    let Some(link) = reader.and_then(|reader| reader.entry.kept.comments.clone()) else {
        return cx.say("this entry names no page with comments");
    };
    show_in_browser(cx, link);
}

/// Opens the Internet Archive's copies of the selected entry's page, or of a gap's address, in the browser.
pub fn open_copies(cx: &mut Cx<'_>) {
    let Some(row) = cx.app.ui.list.selected_row() else { return };
    let address = match row.key {
        RowKey::Gap(feed, gap) => missing_address(cx.app, cx.now, feed, gap),
        RowKey::Entry(_) => row.link.clone(),
    };
    let Some(address) = address else {
        return cx.say("there is no address to look up here");
    };
    let base = cx.app.engine.settings.history.internet_archive.trim_end_matches('/');
    let link = format!("{base}/web/*/{address}");
    show_in_browser(cx, link);
}

/// Returns the address of the document that is missing at a gap. Returns `None` if the address is not known.
fn missing_address(app: &App, now: DateTime<Utc>, feed: FeedKey, gap: GapKey) -> Option<String> {
    let gap = history_requests::shown(&app.engine, feed, gap, now)?;
    Some(gap.edge.url).filter(|url| !url.is_empty())
}

fn show_in_browser(cx: &mut Cx<'_>, link: String) {
    cx.say(format!("opening {link}"));
    cx.ask(Request::Open { link, attached: None });
}

/// Letters of the hints, easiest to type first. `y` is not included, because it copies a link.
const LETTERS: [char; 25] = [
    'a', 's', 'd', 'f', 'j', 'k', 'l', 'g', 'h', 'q', 'w', 'e', 'r', 't', 'u', 'i', 'o', 'p', 'z',
    'x', 'c', 'v', 'b', 'n', 'm',
];

/// Shows hints on the visible links.
pub fn open_hints(cx: &mut Cx<'_>) {
    if labels(cx.app).is_empty() {
        return cx.say("no link in the visible text · {open-in-browser} opens the entry itself");
    }
    cx.app.ui.lay_over(Overlay::Hints(LinkHints::default()));
    cx.say("a letter opens its link · y first: copy it · | first: pass it to a command");
}

/// Handles a key while hints are shown.
pub fn press_key(cx: &mut Cx<'_>, key: Key) -> KeyOutcome {
    let Some(Overlay::Hints(hints)) = &mut cx.app.ui.overlay else { return KeyOutcome::Passed };
    let char = match key {
        Key { code: Code::Char('c'), ctrl: true } => return KeyOutcome::Passed,
        Key { code: Code::Char(char), ctrl: false } => char,
        Key { .. } => {
            cx.app.ui.uncover();
            return KeyOutcome::Done;
        }
    };
    match char {
        'y' => hints.does = HintAction::Copy,
        '|' => hints.does = HintAction::Pipe,
        letter => hints.typed.push(letter),
    }
    let LinkHints { typed, does } = hints.clone();
    let labels = labels(cx.app);
    let chosen = labels.iter().find(|(_, label)| *label == typed).map(|(number, _)| *number);
    let could_be = labels.iter().any(|(_, label)| label.starts_with(&typed));
    if let Some(number) = chosen {
        cx.app.ui.uncover();
        use_link(cx, number, does);
        return KeyOutcome::Done;
    }
    if !could_be {
        cx.app.ui.uncover();
        cx.say(format!("no link has the hint '{typed}'"));
    } else if does != HintAction::Open {
        let what = if does == HintAction::Copy { "copies" } else { "passes on" };
        cx.say(format!("a letter {what} its link"));
    }
    KeyOutcome::Done
}

/// Opens or copies the link with a number, or passes it to a command.
fn use_link(cx: &mut Cx<'_>, number: u16, does: HintAction) {
    if does == HintAction::Open {
        return open_entry::follow_link(cx, number);
    }
    let Some(reader) = cx.app.ui.shown_reader() else { return };
    let link = reader.rendered.as_ref().and_then(|text| text.target(number));
    let Some(link) = link.map(|link| link.url.clone()) else { return };
    match does {
        HintAction::Open | HintAction::Copy => copy_address(cx, "copied", &link),
        HintAction::Pipe => ask_command_for(cx, Some(link)),
    }
}

/// Returns the numbers of the visible links in the order of the text, each with its hint.
pub fn labels(app: &App) -> Vec<(u16, String)> {
    let rows = usize::from(app.ui.viewport.reader_rows);
    let Some(reader) = app.ui.shown_reader() else { return Vec::new() };
    let lines = reader.rendered.as_ref().map(|text| text.lines.as_slice()).unwrap_or_default();
    let visible = lines.iter().skip(reader.scroll).take(rows);
    let mut numbers: Vec<u16> = Vec::new();
    for number in visible.flat_map(|line| line.spans.iter().filter_map(|span| span.link)) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    let count = numbers.len();
    numbers.into_iter().zip(hints(count)).collect()
}

/// Returns hints for a number of links: single letters if they suffice, or else pairs of letters.
fn hints(count: usize) -> Vec<String> {
    if count <= LETTERS.len() {
        return LETTERS.iter().take(count).map(char::to_string).collect();
    }
    let pairs = LETTERS.iter().flat_map(|first| LETTERS.map(|second| format!("{first}{second}")));
    pairs.take(count).collect()
}

/// Maximum number of bytes to copy to the clipboard. Terminals reject longer texts.
const COPIED_MAX: usize = 8 * 1024;
/// Maximum width of the copied link in the status line, in cells.
const TOLD_CELLS: usize = 200;

/// Copies the address of the selected feed if the subscriptions pane has the focus or the Attention list is open. Otherwise, copies
/// the link of the selected entry.
pub fn copy_link(cx: &mut Cx<'_>) {
    let of_feed = cx.app.ui.focus == Pane::Feeds || attention::is_open(cx.app);
    let link = if of_feed {
        let selected = attention::selected_subscription(cx.app, cx.now);
        selected.map(|(_, subscription)| subscription.record.url.clone())
    } else {
        let link = cx.app.ui.list.selected_row().and_then(|row| row.link.as_deref());
        link.map(|link| cx.app.ui.settings.link(link).into_owned())
    };
    let what = if of_feed { "copied the feed's address" } else { "copied" };
    copy_address(cx, what, &link.unwrap_or_default());
}

/// Copies a link, and reports this in the status line. `what` describes the link.
fn copy_address(cx: &mut Cx<'_>, what: &str, link: &str) {
    let link = clean_link(link);
    if link.is_empty() || link.len() > COPIED_MAX {
        return cx.say("there is no link to copy here");
    }
    let told = format!("{what}: {}", one_line(&link, TOLD_CELLS));
    cx.out.push(ScreenEffect::Copy { text: link, told });
}

/// Removes white space and control characters from a link. A terminal, or a program that the link is pasted into, could interpret
/// them as commands.
fn clean_link(link: &str) -> String {
    link.chars().filter(|char| !char.is_control() && !char.is_whitespace()).collect()
}

/// Opens the input line for an external command that receives the selected entry. The line is empty. The Up key inserts the last
/// command or, if there is none, the configured command.
pub fn ask_command(cx: &mut Cx<'_>) {
    ask_command_for(cx, None);
}

/// Opens the input line like [`ask_command`]. If a link of the text is given, the command receives this link instead of the
/// entry's own link.
pub fn ask_command_for(cx: &mut Cx<'_>, link: Option<String>) {
    cx.app.ui.piped_link = link;
    if selected_entry(cx.app).is_none() {
        return cx.say("select an entry first: {pipe} passes it to a command");
    }
    cx.app.ui.open_prompt(Prompt::new(PromptPurpose::Pipe));
}

/// Inserts the last command into the input line or, if there is none, the configured command.
pub fn take_last(app: &mut App) {
    let last = app.ui.piped.clone().or_else(|| app.engine.settings.commands.pipe.clone());
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay {
        *prompt = Prompt::filled(PromptPurpose::Pipe, last.unwrap_or_default());
    }
}

/// Returns the entry that the `|` key pipes to a command. Returns `None` if no entry is selected.
fn selected_entry(app: &App) -> Option<EntryKey> {
    app.ui.list.selected_row()?.key.entry()
}

/// Parses the typed command, and requests the selected entry for it from the store.
pub fn take_command(cx: &mut Cx<'_>, text: &str) {
    let Some(key) = selected_entry(cx.app) else { return };
    // The command is saved even if it is rejected, so that the user can correct it.
    cx.app.ui.piped = Some(text.trim().to_owned()).filter(|typed| !typed.is_empty());
    match ExternalCommand::typed_at_prompt(text) {
        Ok(command) => {
            cx.say(format!("passing the entry to {}", command.program()));
            let link = cx.app.ui.piped_link.take();
            cx.app.ui.pipes.push(WaitingRun { key, command, link, purpose: RunPurpose::Pipe });
            cx.out.push(ask_store(Job::ReadEntry(key)));
        }
        Err(why) => cx.complain(why.to_string()),
    }
}

/// Removes the external command that waits for an entry. Returns `None` if no command waits for it.
pub fn take_waiting(app: &mut App, entry: EntryKey) -> Option<WaitingRun> {
    let place = app.ui.pipes.iter().position(|waiting| waiting.key == entry)?;
    Some(app.ui.pipes.remove(place))
}

/// Drops the commands that wait for an entry that could not be read. Otherwise, opening the entry later would start them.
pub fn give_up_entry(app: &mut App, key: EntryKey) {
    app.ui.pipes.retain(|waiting| waiting.key != key);
    app.ui.sequences.retain(|running| running.entry != key);
}

/// Starts an external command with an entry as its input.
pub fn start_command(
    app: &App,
    mut entry: LoadedEntry,
    command: ExternalCommand,
    purpose: RunPurpose,
) -> ScreenEffect {
    // If the entry is open, the command receives the text that the user sees: the feed's text or the page.
    if let Some(open) = &app.ui.reader
        && open.entry.key == entry.key
        && open.source == TextSource::Page
    {
        entry.body =
            Some(EntryBody { content: Some(open.markup().0.to_owned()), ..EntryBody::default() });
    }
    start_external::pipe(&app.engine, entry, command, purpose).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_letters_or_pairs_and_never_the_same() {
        assert_eq!(hints(3), ["a", "s", "d"]);
        let mut many = hints(80);
        assert!(many.len() == 80 && many.iter().all(|hint| hint.len() == 2), "{many:?}");
        many.sort_unstable();
        many.dedup();
        assert_eq!(many.len(), 80);
    }
}

#[cfg(test)]
mod copying_tests {
    use crate::ui::reader::open_pages::*;

    #[test]
    fn a_link_is_copied_without_controls_and_line_ends() {
        assert_eq!(
            clean_link("https://a.example/\u{1b}]52;\u{7}x\n rm"),
            "https://a.example/]52;xrm"
        );
    }
}
