//! Downloads the attached files of entries, with the list of downloads, and saves entries as a Markdown file.

use backissue_core::history::EntryKey;

use super::jump::chosen_entries;
use crate::engine::downloads::file_names::title_name;
use crate::engine::downloads::record::{Download, DownloadRequest, DownloadState};
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::command_table::Command;
use crate::ui::overlays::list_panel::{ListKind, action};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::OpenList;

/// Downloads the first attached file of the open, the selected or the marked entries. A complete file is played instead.
pub fn download_entries(cx: &mut Cx<'_>) {
    let keys = wanted_entries(cx.app);
    let known = match keys.as_slice() {
        [] => {
            return cx.say("select an entry first, then download its attached file");
        }
        [key] => {
            let list = cx.app.engine.downloads.list.values();
            list.filter(|download| download.entry == *key)
                .max_by_key(|download| download.state == DownloadState::Done)
                .cloned()
        }
        [_, ..] => None,
    };
    match known {
        None => add(cx, keys, None),
        Some(known) => {
            let Some(request) = next_step(&known) else {
                return cx.say("the file is in the list of downloads");
            };
            cx.ask(Request::Download(request));
        }
    }
}

/// Downloads the attached file with the typed number, counted from 1.
pub fn download_file(cx: &mut Cx<'_>, typed: &str) {
    let keys = wanted_entries(cx.app);
    match typed.trim().parse::<usize>() {
        Ok(number) if number > 0 => add(cx, keys, Some(number)),
        Ok(_) | Err(_) => {
            let text = format!("'{typed}' is not the number of an attached file: 1 is the first");
            cx.complain(text);
        }
    }
}

fn add(cx: &mut Cx<'_>, keys: Vec<EntryKey>, file: Option<usize>) {
    cx.app.ui.marked.entries.clear();
    cx.ask(Request::Download(DownloadRequest::Add { keys, file }));
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

/// Returns what can be requested for a download: to play a complete file, or to resume a paused or failed download. Returns
/// `None` for a download that is waiting.
const fn next_step(download: &Download) -> Option<DownloadRequest> {
    match download.state {
        DownloadState::Done => Some(DownloadRequest::Play(download.id)),
        DownloadState::Paused | DownloadState::Failed => Some(DownloadRequest::Resume(download.id)),
        DownloadState::Waiting => None,
    }
}

/// The list of downloads, with the newest at the top.
pub static LIST: ListKind = ListKind {
    title: "Downloads",
    empty: "no downloads yet: {download} on an entry downloads its attached file",
    lines: 2,
    toggles: &[Command::Downloads],
    count: |app, _, _| app.engine.downloads.list.len(),
    actions: &[
        action(&[Command::Enter, Command::Download], "plays or resumes", |cx, open| {
            ask(cx, open, next_step)
        }),
        action(&[Command::Space], "pauses", |cx, open| {
            ask(cx, open, |download| match download.state {
                DownloadState::Paused | DownloadState::Failed => next_step(download),
                DownloadState::Waiting => Some(DownloadRequest::Pause(download.id)),
                DownloadState::Done => None,
            })
        }),
        action(&[Command::Poll], "fetches again", |cx, open| {
            ask(cx, open, |download| Some(DownloadRequest::Resume(download.id)))
        }),
        action(&[Command::ToggleRead], "played", |cx, open| {
            ask(cx, open, |download| {
                let played = DownloadRequest::SetPlayed(download.id, download.played.is_none());
                (download.state == DownloadState::Done).then_some(played)
            })
        }),
        action(&[Command::Unsubscribe], "removes", |cx, open| {
            ask(cx, open, |download| {
                Some(DownloadRequest::Remove { id: download.id, delete: false })
            })
        }),
    ],
    ..ListKind::PLAIN
};

/// Sends a request about the selected download, if this request is possible for it.
fn ask(
    cx: &mut Cx<'_>,
    open: OpenList,
    wanted: fn(&Download) -> Option<DownloadRequest>,
) -> Option<()> {
    let request = wanted(cx.app.engine.downloads.list.values().rev().nth(open.list.selected)?)?;
    cx.ask(Request::Download(request));
    Some(())
}

/// Opens the input line for the path of the file.
pub fn ask_path(cx: &mut Cx<'_>) {
    let name = match chosen_entries(cx.app).as_slice() {
        [] => return cx.say("select an entry first, then save it"),
        [one] => {
            let mut rows = cx.app.ui.list.rows.iter();
            let row = rows.find(|row| row.key.entry() == Some(*one));
            row.map(|row| title_name(&row.title, "md"))
        }
        [_, ..] => None,
    };
    cx.app.ui.open_prompt(Prompt::selected(PromptPurpose::Save, name.unwrap_or_default()));
}

/// Requests that the marked entries or, if none is marked, the selected entry be written to the file at `path`. The marks stay,
/// because the file may be rejected.
pub fn save(cx: &mut Cx<'_>, path: &str) {
    let keys = chosen_entries(cx.app);
    if keys.is_empty() || path.trim().is_empty() {
        return cx.say("select an entry first, then save it");
    }
    let entries = keys.into_iter().map(|key| (key, cx.app.engine.feed_of_entry(key.feed)));
    let entries = entries.collect();
    cx.out.push(ScreenEffect::SaveEntries { path: path.trim().to_owned(), entries });
}
