//! Downloads the attached files of entries, and the list of downloads.

use chrono::{DateTime, Utc};

use crate::engine::downloads::actions::DownloadRequest;
use crate::engine::downloads::record::{Download, DownloadState};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::overlays::outcome::{ClickOutcome, KeyOutcome};
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use backissue_core::history::EntryKey;

/// Number of screen lines that each download takes in the list.
pub const DOWNLOAD_LINES: usize = 2;

/// Downloads the first attached file of the open, the selected or the marked entries. A complete file is played instead.
pub fn download_entries(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let keys = wanted_entries(app);
    let known = match keys.as_slice() {
        [] => {
            app.ui.say(now, "select an entry first, then download its attached file");
            return Vec::new();
        }
        [key] => {
            let list = app.engine.downloads.list.values();
            list.filter(|download| download.entry == *key)
                .max_by_key(|download| download.state == DownloadState::Done)
                .cloned()
        }
        [_, ..] => None,
    };
    match known {
        None => add(app, now, keys, None),
        Some(known) => go_on(app, now, &known),
    }
}

/// Downloads the attached file with the typed number, counted from 1.
pub fn download_file(app: &mut App, now: DateTime<Utc>, typed: &str) -> Vec<ScreenEffect> {
    let keys = wanted_entries(app);
    match typed.trim().parse::<usize>() {
        Ok(number) if number > 0 => add(app, now, keys, Some(number)),
        Ok(_) | Err(_) => {
            let text = format!("'{typed}' is not the number of an attached file: 1 is the first");
            app.ui.complain(now, text);
            Vec::new()
        }
    }
}

fn add(
    app: &mut App,
    now: DateTime<Utc>,
    keys: Vec<EntryKey>,
    file: Option<usize>,
) -> Vec<ScreenEffect> {
    app.ui.marked.entries.clear();
    app.ask(now, Request::Download(DownloadRequest::Add { keys, file }))
}

/// Returns the marked entries, or else the entry that is open or selected.
fn wanted_entries(app: &App) -> Vec<EntryKey> {
    if app.ui.focus == Pane::Entries && !app.ui.marked.entries.is_empty() {
        return app.ui.marked.entries.iter().copied().collect();
    }
    let open = app.ui.shown_reader().filter(|_| app.ui.focus == Pane::Reader);
    let selected = || app.ui.list.selected_row().and_then(|row| row.key.entry());
    open.map(|reader| reader.entry.key).or_else(selected).into_iter().collect()
}

/// Does what is next with a download: plays a complete file, and resumes a paused or failed download.
fn go_on(app: &mut App, now: DateTime<Utc>, download: &Download) -> Vec<ScreenEffect> {
    let id = download.id;
    let request = match download.state {
        DownloadState::Done => DownloadRequest::Play(id),
        DownloadState::Paused | DownloadState::Failed => DownloadRequest::Resume(id),
        DownloadState::Waiting => {
            app.ui.say(now, "the file is in the list of downloads");
            return Vec::new();
        }
    };
    app.ask(now, Request::Download(request))
}

/// Opens or closes the list of downloads.
pub fn toggle_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Downloads(_))) {
        app.ui.uncover();
    } else if app.engine.downloads.list.is_empty() {
        app.ui.say(now, "no downloads yet: E on an entry downloads its attached file");
    } else {
        app.ui.lay_over(Overlay::Downloads(ScrollList::default()));
    }
    Vec::new()
}

/// Handles a key in the list of downloads.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Downloads(mut list)) = app.ui.overlay else { return KeyOutcome::Passed };
    let count = app.engine.downloads.list.len();
    list.selected = list.selected.min(count.saturating_sub(1));
    // The newest download is at the top.
    let selected = app.engine.downloads.list.values().rev().nth(list.selected).cloned();
    let command = app.ui.settings.keys.command(key, Pane::Entries);
    match command {
        Some(Command::Down) => list.step(true, 1, count),
        Some(Command::Up) => list.step(false, 1, count),
        Some(Command::First) => list.step(false, count, count),
        Some(Command::Last) => list.step(true, count, count),
        Some(command @ (Command::Undo | Command::Redo | Command::Help | Command::Quit)) => {
            return KeyOutcome::Run(command);
        }
        Some(Command::Back | Command::Close | Command::Left | Command::Downloads) => {
            app.ui.uncover();
            return KeyOutcome::Done(Vec::new());
        }
        Some(_) | None => {
            let request = selected.and_then(|download| wanted(command, &download));
            if let Some(request) = request {
                app.ui.overlay = Some(Overlay::Downloads(list));
                let effects = app.ask(now, Request::Download(request));
                if app.engine.downloads.list.is_empty() {
                    app.ui.uncover();
                }
                return KeyOutcome::Done(effects);
            }
            app.ui.say(now, "in the downloads: Enter plays or resumes, Space pauses, r fetches again, N played, D removes, q closes");
        }
    }
    app.ui.overlay = Some(Overlay::Downloads(list));
    KeyOutcome::Done(Vec::new())
}

/// Returns what a command does with a download in the list; `None` if it does nothing.
fn wanted(command: Option<Command>, download: &Download) -> Option<DownloadRequest> {
    let id = download.id;
    match (command?, download.state) {
        (Command::Enter | Command::Download, DownloadState::Done) => {
            Some(DownloadRequest::Play(id))
        }
        (Command::Enter | Command::Space, DownloadState::Paused | DownloadState::Failed) => {
            Some(DownloadRequest::Resume(id))
        }
        (Command::Space, DownloadState::Waiting) => Some(DownloadRequest::Pause(id)),
        (Command::Poll, _) => Some(DownloadRequest::Resume(id)),
        (Command::ToggleRead, DownloadState::Done) => {
            Some(DownloadRequest::SetPlayed(id, download.played.is_none()))
        }
        (Command::Unsubscribe, _) => Some(DownloadRequest::Remove { id, delete: false }),
        _ => None,
    }
}

/// Selects the clicked download; a click on the selected one is Enter.
pub fn click_line(app: &mut App, _now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let count = app.engine.downloads.list.len();
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line / DOWNLOAD_LINES);
    if let Some(Overlay::Downloads(list)) = &mut app.ui.overlay
        && list.click(place, count)
    {
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}
