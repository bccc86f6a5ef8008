//! `backissue downloads`: lists the downloads of attached files, and adds, runs, pauses, resumes and removes them.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::cli::args_changes::{DownloadsAddArgs, DownloadsArgs, DownloadsChange};
use crate::cli::context::{CommandContext, JsonList};
use crate::cli::session::Failure;
use crate::cli::{Done, json as pieces};
use crate::engine::downloads::progress::{self, state_words};
use crate::engine::downloads::record::{Download, DownloadRequest, DownloadState, Downloads, PART};
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::Waited;
use backissue_core::InputFlaw;
use backissue_core::feed::text::counted_words;
use backissue_core::history::EntryKey;

/// Maximum time that `downloads run` waits for another attempt. Downloads with a longer pause are left to the next run.
const PATIENCE: TimeDelta = TimeDelta::minutes(2);

/// Runs `backissue downloads`.
pub(in crate::cli) fn run(context: &CommandContext, args: &DownloadsArgs) -> Result<Done, Failure> {
    match &args.change {
        None => list(context, args.json),
        Some(DownloadsChange::Add(args)) => add(context, args),
        Some(DownloadsChange::Run) => receive(context),
        Some(DownloadsChange::Pause(args)) => {
            for_each(context, &args.numbers, DownloadRequest::Pause, "paused")
        }
        Some(DownloadsChange::Resume(args)) => {
            for_each(context, &args.numbers, DownloadRequest::Resume, "waiting")
        }
        Some(DownloadsChange::Remove(args)) => {
            let delete = args.delete;
            let request = move |id| DownloadRequest::Remove { id, delete };
            for_each(context, &args.numbers, request, "removed")
        }
    }
}

fn list(context: &CommandContext, as_json: bool) -> Result<Done, Failure> {
    let now = clock::now();
    let downloads = context.inspect(|engine| engine.downloads.clone())?;
    if as_json {
        let mut list = JsonList::new(context);
        for download in downloads.list.values() {
            list.push(&in_json(&downloads, download));
        }
        list.end();
        return Ok(Done::All);
    }
    if downloads.list.is_empty() {
        context.tell(
            "no downloads yet; run 'backissue downloads add', or 'download' on an entry in the reader",
        );
    }
    for download in downloads.list.values() {
        context.put(&line(&downloads, download, now));
    }
    Ok(Done::All)
}

fn line(downloads: &Downloads, download: &Download, now: DateTime<Utc>) -> String {
    let state = state_words(downloads, download, now);
    let (id, title, feed) = (download.id, &download.title, &download.feed_title);
    format!("{id:>5}  {title} · {feed}: {state}")
}

fn in_json(downloads: &Downloads, download: &Download) -> Value {
    let transfer = downloads.running.get(&download.id);
    let state = match (download.state, transfer) {
        (DownloadState::Waiting, Some(_)) => "receiving",
        (DownloadState::Waiting, None) => "waiting",
        (DownloadState::Paused, _) => "paused",
        (DownloadState::Failed, _) => "failed",
        (DownloadState::Done, _) => "done",
    };
    let is_done = download.state == DownloadState::Done;
    let path = download.path.clone();
    let path = path.map(|path| if is_done { path } else { format!("{path}{PART}") });
    json!({
        "number": download.id,
        "entry": download.entry.to_string(),
        "title": download.title,
        "feed_title": download.feed_title,
        "url": download.url,
        "type": download.media_type,
        "state": state,
        "path": path,
        "received": downloads.received(download),
        "size": download.version.size,
        "bytes_per_second": transfer.map(|transfer| transfer.speed),
        "failures": download.failures,
        "trouble": download.trouble,
        "retry_at": pieces::time(download.retry_at),
        "added": pieces::time(Some(download.added)),
        "finished": pieces::time(download.finished),
        "position_seconds": download.position,
        "duration_seconds": download.duration,
        "played": pieces::time(download.played),
    })
}

/// Adds the attached files of entries, and waits until the list is durable.
fn add(context: &CommandContext, args: &DownloadsAddArgs) -> Result<Done, Failure> {
    let keys: Result<Vec<EntryKey>, InputFlaw> =
        args.entries.iter().map(|one| one.parse()).collect();
    let keys = keys.map_err(Failure::new)?;
    let (wanted, file) = (keys.clone(), args.file.map(usize::from));
    let before: BTreeSet<u32> =
        context.inspect(|engine| engine.downloads.list.keys().copied().collect())?;
    context.ask(Request::Download(DownloadRequest::Add { keys: wanted, file }))?;
    context.follow(|engine, _, _: &mut Vec<()>| engine.downloads.reading == 0, |()| {})?;
    context.wait_until_kept()?;
    let downloads = context.inspect(|engine| engine.downloads.clone())?;
    let mut done = Done::All;
    for key in keys {
        let of_entry = downloads.list.values().filter(|download| download.entry == key);
        match of_entry.max_by_key(|download| download.id) {
            Some(added) if before.contains(&added.id) => {
                context.put(&format!(
                    "already in the list: {}",
                    line(&downloads, added, clock::now()).trim()
                ));
            }
            Some(added) => context.put(&line(&downloads, added, clock::now())),
            None => {
                context.tell(&format!("backissue: no such file is attached to entry {key}"));
                done = Done::WithFailures;
            }
        }
    }
    Ok(done)
}

fn for_each(
    context: &CommandContext,
    numbers: &[u32],
    request: impl Fn(u32) -> DownloadRequest,
    done: &str,
) -> Result<Done, Failure> {
    for &number in numbers {
        context.ask(Request::Download(request(number)))?;
    }
    context.wait_until_kept()?;
    context.put(&format!("{} {done}", counted_words(numbers.len(), "download", "downloads")));
    Ok(Done::All)
}

/// Downloads all waiting files, and reports the result of each.
fn receive(context: &CommandContext) -> Result<Done, Failure> {
    if context.options.offline {
        return Err(Failure::new("nothing is downloaded with --offline"));
    }
    let ids: BTreeSet<u32> =
        context.inspect(|engine| queue_and_running(&engine.downloads).collect())?;
    let waited = receive_waiting(context)?;
    let (now, downloads) = (clock::now(), context.inspect(|engine| engine.downloads.clone())?);
    let mut done = Done::All;
    for download in ids.iter().filter_map(|id| downloads.list.get(id)) {
        match (download.state, &download.path) {
            (DownloadState::Done, Some(path)) => context.put(path),
            (DownloadState::Done, None) | (DownloadState::Paused, _) => {}
            (DownloadState::Failed | DownloadState::Waiting, _) => {
                context.tell(&format!("backissue: {}", line(&downloads, download, now).trim()));
                done = Done::WithFailures;
            }
        }
    }
    match waited {
        Waited::Done => Ok(done),
        Waited::Cancelled => Err(Failure::new("interrupted; the next run resumes the downloads")),
    }
}

/// Downloads all waiting files, and shows the progress.
pub(super) fn receive_waiting(context: &CommandContext) -> Result<Waited, Failure> {
    context.ask(Request::Download(DownloadRequest::Run))?;
    let waited = context.follow(
        |engine, _, notes| {
            notes.push(shown_progress(engine));
            is_over(engine, clock::now())
        },
        |progress: Option<(String, u64, u64)>| match progress {
            Some((text, received, size)) => context.show_progress(text, received, size),
            None => context.end_progress(),
        },
    )?;
    context.end_progress();
    context.wait_until_durable()?;
    Ok(waited)
}

fn queue_and_running(downloads: &Downloads) -> impl Iterator<Item = u32> {
    let waiting = progress::waiting(downloads).map(|download| download.id);
    waiting.chain(downloads.running.keys().copied())
}

/// Checks whether no download is running or about to start.
fn is_over(engine: &Engine, now: DateTime<Utc>) -> bool {
    let soon = now.checked_add_signed(PATIENCE).unwrap_or(now);
    engine.downloads.reading == 0
        && engine.downloads.running.is_empty()
        && progress::waiting(&engine.downloads).all(|download| !progress::is_due(download, soon))
}

fn shown_progress(engine: &Engine) -> Option<(String, u64, u64)> {
    let downloads = &engine.downloads;
    let running: Vec<&Download> =
        downloads.running.keys().filter_map(|id| downloads.list.get(id)).collect();
    let first = running.first()?;
    let text = match running.len() {
        1 => first.title.clone(),
        count => format!("{count} files"),
    };
    let received = running.iter().map(|download| downloads.received(download) / 1000).sum();
    let sizes: Option<u64> = running.iter().map(|download| download.version.size).sum();
    Some((format!("receiving {text}, kB"), received, sizes.unwrap_or_default() / 1000))
}
