//! Starts downloads, and follows them until their files are complete.

use chrono::{DateTime, TimeDelta, Utc};

use super::file_names::file_path;
use super::queue;
use super::record::{AttachedWanted, Download, DownloadState, Downloads, FileVersion, Transfer};
use super::transfer::{Cure, DownloadNews, FileTransfer, TransferFailure};
use crate::engine::effect::Effect;
use crate::engine::politeness::host_queue::{WaitsFor, site_of};
use crate::engine::politeness::rate_limits::left_alone_until;
use crate::engine::poll::fetch::{FetchId, FetchRequest, RequestKind};
use crate::engine::poll::start_fetches::address_source;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::text::one_line;
use backissue_core::history::EntryKey;
use backissue_core::schedule::Wait;

/// Number of new bytes after which an attempt counts as progress.
const PROGRESS_BYTES: u64 = 64 * 1024;
/// Number of new bytes after which their number is written, so that lists show it after a restart.
const SAVE_BYTES: u64 = 16 * 1024 * 1024;
/// Pause before another attempt if the disk is full.
const ROOM_PAUSE: TimeDelta = TimeDelta::minutes(10);
/// Part of the old speed in the smoothed speed, in tenths.
const OLD_TENTHS: u64 = 7;
/// Maximum length of a title or reason in a message, in characters.
const TOLD_CHARS_MAX: usize = 200;

/// Returns the job that writes all downloads.
pub fn save(engine: &Engine) -> Effect {
    Effect::store(Job::SaveDownloads(engine.downloads.list.values().cloned().collect()))
}

/// Checks whether this process receives files: it keeps running, or the user asked it to.
const fn may_run(engine: &Engine) -> bool {
    !engine.offline && (engine.polls_by_itself || engine.downloads.asked_to_run)
}

/// Starts the downloads that may start now.
pub fn start_waiting(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    if !may_run(engine) || queue::waiting(&engine.downloads).next().is_none() {
        return Vec::new();
    }
    let (network, parallel) = (&engine.settings.network, engine.settings.downloads.parallel);
    let hosts = &engine.host_queue;
    let ids = queue::next_to_start(&engine.downloads, now, parallel, |download| {
        hosts.may_ask_beside(&download.url, now, network).is_ok()
    });
    let (mut effects, mut is_new) = (Vec::new(), false);
    let mut unknown: Vec<EntryKey> = Vec::new();
    for id in ids {
        let Some(download) = engine.downloads.list.get(&id) else { continue };
        // The address of a file may have changed since the download was added.
        match engine.downloads.addressed.get(&id) {
            Some(true) => {}
            Some(false) => continue,
            None => {
                unknown.push(download.entry);
                engine.downloads.addressed.insert(id, false);
                continue;
            }
        }
        if let Some(until) = left_alone_until(engine, &download.url, now) {
            change(engine, id, |download| download.retry_at = Some(until));
            continue;
        }
        engine.downloads.addressed.remove(&id);
        let Some(transfer) = start(engine, now, id) else { continue };
        is_new |= transfer.is_new;
        effects.push(Effect::Download(Box::new(transfer)));
    }
    // The names are written first, so that the program finds the parts again after it was killed.
    if is_new {
        effects.insert(0, save(engine));
    }
    if !unknown.is_empty() {
        effects.push(read_attached(engine, AttachedWanted::Addresses(unknown)));
    }
    effects
}

/// Returns the time at which a download may start if nothing happens before.
pub fn next_start(engine: &Engine, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let (network, parallel) = (&engine.settings.network, engine.settings.downloads.parallel);
    if !may_run(engine) || engine.downloads.running.len() >= parallel {
        return None;
    }
    let due = queue::waiting(&engine.downloads).filter(|download| queue::is_due(download, now));
    let turn = due.filter_map(|download| {
        match engine.host_queue.may_ask_beside(&download.url, now, network) {
            Err(WaitsFor::Start(at) | WaitsFor::Network(at) | WaitsFor::Spacing(at)) => Some(at),
            // Another request or download to the site ends first, which wakes the loop.
            Err(WaitsFor::Site | WaitsFor::Turn) | Ok(()) => None,
        }
    });
    turn.chain(queue::next_retry(&engine.downloads, now, parallel)).min()
}

fn start(engine: &mut Engine, now: DateTime<Utc>, id: u32) -> Option<FileTransfer> {
    let download = engine.downloads.list.get(&id)?;
    let is_new = download.path.is_none();
    let path = match &download.path {
        Some(path) => path.clone(),
        None => choose_path(engine, download),
    };
    let settings = &engine.settings.downloads;
    let (address_source, allow_insecure) = address_source(engine, download.entry, &download.url);
    let request = FetchRequest {
        kind: RequestKind::Anything,
        address_source,
        allow_insecure,
        waits_for_store: true,
        ..FetchRequest::typed(FetchId(0), download.url.clone())
    };
    let transfer = FileTransfer {
        id,
        request,
        path: path.clone(),
        is_new,
        version: download.version.clone(),
        media_type: download.media_type.clone(),
        rate: settings.rate,
        bytes_max: settings.bytes_max(),
    };
    let (site, received) = (site_of(&download.url), download.received);
    engine.host_queue.asked_before(&transfer.request.url, now, &engine.settings.network);
    engine
        .downloads
        .running
        .insert(id, Transfer { site, received, speed: 0, at: now, from: received });
    change(engine, id, |download| {
        download.path = Some(path);
        download.retry_at = None;
    });
    Some(transfer)
}

/// Returns the path for a new file: none that another download has, and none where a file was found.
fn choose_path(engine: &Engine, download: &Download) -> String {
    let settings = &engine.settings.downloads;
    let folder = settings.folder.trim_end_matches('/');
    let full = |path: &str| format!("{folder}/{path}");
    let downloads = &engine.downloads;
    let is_taken = |path: &str| {
        let path = full(path);
        let is_same = |other: &Download| {
            other.path.as_ref().is_some_and(|other| other.to_lowercase() == path.to_lowercase())
        };
        downloads.taken.contains(&path) || downloads.list.values().any(is_same)
    };
    full(&file_path(&settings.name, download, engine.zone, is_taken))
}

pub(super) fn change(engine: &mut Engine, id: u32, change: impl FnOnce(&mut Download)) {
    if let Some(download) = engine.downloads.list.get_mut(&id) {
        change(download);
    }
}

/// Handles a report about a file that is being received. A late report about another one is dropped.
pub fn news(engine: &mut Engine, now: DateTime<Utc>, id: u32, news: DownloadNews) -> Vec<Effect> {
    let Some(transfer) = engine.downloads.running.get_mut(&id) else { return Vec::new() };
    match news {
        DownloadNews::Received(bytes) => {
            note_speed(transfer, now, bytes);
            let known = engine.downloads.list.get(&id).map_or(0, |download| download.received);
            if bytes < known.saturating_add(SAVE_BYTES) {
                return Vec::new();
            }
            change(engine, id, |download| download.received = bytes);
            vec![save(engine)]
        }
        DownloadNews::Began(version, from, is_unencrypted) => {
            (transfer.received, transfer.from, transfer.at) = (from, from, now);
            change(engine, id, |download| {
                (download.version, download.received) = (version, from);
                download.is_unencrypted = is_unencrypted;
            });
            vec![save(engine)]
        }
        DownloadNews::Complete(bytes) => complete(engine, now, id, bytes),
        DownloadNews::Failed(failure) => failed(engine, now, id, failure),
    }
}

/// Notes the number of bytes that are there, and smooths the speed.
fn note_speed(transfer: &mut Transfer, now: DateTime<Utc>, bytes: u64) {
    let passed = now.signed_duration_since(transfer.at).num_milliseconds();
    let passed = u64::try_from(passed).unwrap_or_default().max(1);
    let new = bytes.saturating_sub(transfer.received).saturating_mul(1000) / passed;
    transfer.speed = match transfer.speed {
        0 => new,
        old => {
            old.saturating_mul(OLD_TENTHS).saturating_add(new.saturating_mul(10 - OLD_TENTHS)) / 10
        }
    };
    (transfer.received, transfer.at) = (bytes, now);
}

fn complete(engine: &mut Engine, now: DateTime<Utc>, id: u32, bytes: u64) -> Vec<Effect> {
    engine.downloads.running.remove(&id);
    let mut title = String::new();
    change(engine, id, |download| {
        download.state = DownloadState::Done;
        (download.received, download.version.size) = (bytes, Some(bytes));
        (download.finished, download.trouble, download.failures) = (Some(now), None, 0);
        title = one_line(&download.title, TOLD_CHARS_MAX);
    });
    engine.say(format!("downloaded: {title}"));
    vec![save(engine)]
}

fn failed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    id: u32,
    failure: TransferFailure,
) -> Vec<Effect> {
    let Some(transfer) = engine.downloads.running.remove(&id) else { return Vec::new() };
    let Some(download) = engine.downloads.list.get_mut(&id) else { return Vec::new() };
    let TransferFailure { cure, why, received } = failure;
    let progressed = received > transfer.from.saturating_add(PROGRESS_BYTES);
    let title = one_line(&download.title, TOLD_CHARS_MAX);
    let is_known = download.trouble.as_ref() == Some(&why);
    download.received = received;
    download.trouble = Some(one_line(&why, TOLD_CHARS_MAX));
    let told = match cure {
        Cure::OtherName => {
            engine.downloads.taken.extend(download.path.take());
            download.trouble = None;
            None
        }
        Cure::Room => {
            download.retry_at = now.checked_add_signed(ROOM_PAUSE);
            (!is_known).then(|| format!("download paused: {title}: {why}"))
        }
        Cure::Later(seconds) => {
            download.failures = if progressed { 1 } else { download.failures.saturating_add(1) };
            let stated = TimeDelta::seconds(i64::from(seconds));
            let pause = queue::pause_after(download.failures).max(stated);
            download.retry_at = now.checked_add_signed(pause);
            let url = download.url.clone();
            let ends = download.failures >= queue::FAILURES_MAX;
            if ends {
                download.state = DownloadState::Failed;
            }
            if seconds > 0 {
                engine.host_queue.hold(now, &url, Wait::requested(now, seconds));
            }
            ends.then(|| format!("download failed: {title}: {why}"))
        }
        Cure::Nothing => {
            download.state = DownloadState::Failed;
            Some(format!("download failed: {title}: {why}"))
        }
    };
    if let Some(told) = told {
        engine.complain(told);
    }
    vec![save(engine)]
}

/// Describes a download's state for a list: `42% of 100 MB`. `bytes` formats a number of bytes.
pub fn state_words(
    downloads: &Downloads,
    download: &Download,
    now: DateTime<Utc>,
    bytes: impl Fn(u64) -> String,
) -> String {
    let received = downloads.received(download);
    let amount = match (download.version.size, download.percent(received)) {
        (Some(size), Some(percent)) => format!("{percent}% of {}", bytes(size)),
        (Some(_) | None, _) => bytes(received),
    };
    let trouble = download.trouble.as_deref().unwrap_or_default();
    match (download.state, downloads.running.get(&download.id)) {
        (DownloadState::Done, _) => done_words(downloads, download, bytes(received)),
        (DownloadState::Failed, _) => format!("failed: {trouble}"),
        (DownloadState::Paused, _) => format!("paused · {amount}"),
        (DownloadState::Waiting, Some(transfer)) => {
            format!("{amount} · {}/s", bytes(transfer.speed))
        }
        (DownloadState::Waiting, None) => {
            let wait = download.retry_at.map(|at| at.signed_duration_since(now).num_seconds());
            match wait.filter(|&seconds| seconds > 0) {
                Some(seconds) => {
                    format!("waiting · {amount} · {trouble} · next attempt in {seconds} s")
                }
                None if received > 0 => format!("waiting · {amount}"),
                None => "waiting".to_owned(),
            }
        }
    }
}

fn done_words(downloads: &Downloads, download: &Download, size: String) -> String {
    let clock = |seconds: u32| match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    };
    let played = if downloads.playing.contains_key(&download.id) {
        Some("playing".to_owned())
    } else if download.played.is_some() {
        Some("played".to_owned())
    } else if download.position > 0 {
        let of = download.duration.map(|all| format!(" of {}", clock(all))).unwrap_or_default();
        Some(format!("played up to {}{of}", clock(download.position)))
    } else {
        None
    };
    let note = download.is_unencrypted.then(|| "not encrypted on its way".to_owned());
    [Some(size), note, played].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns what the bottom line shows of the downloads that are being received: their number, and how much of them is there.
pub fn summary(downloads: &Downloads, bytes: impl Fn(u64) -> String) -> Option<String> {
    let running: Vec<&Download> =
        downloads.running.keys().filter_map(|id| downloads.list.get(id)).collect();
    let speed: u64 = downloads.running.values().map(|transfer| transfer.speed).sum();
    let waiting = queue::waiting(downloads).count();
    let received: u64 = running.iter().map(|download| downloads.received(download)).sum();
    let sizes: Option<u64> = running.iter().map(|download| download.version.size).sum();
    let percent = sizes.filter(|&all| all > 0).map(|all| received.min(all) * 100 / all);
    let amount = percent.map_or_else(|| bytes(received), |percent| format!("{percent}%"));
    let more = if waiting > 0 { format!(", {waiting} waiting") } else { String::new() };
    match running.len() {
        0 => None,
        1 => Some(format!("downloading {amount} at {}/s{more}", bytes(speed))),
        count => Some(format!("downloading {count} files {amount} at {}/s{more}", bytes(speed))),
    }
}

/// Forgets what the server said about a file, so that it is received from the start.
pub(super) fn forget_part(download: &mut Download) {
    (download.version, download.received) = (FileVersion::default(), 0);
}

pub(super) fn read_attached(engine: &mut Engine, wanted: AttachedWanted) -> Effect {
    engine.downloads.reading = engine.downloads.reading.saturating_add(1);
    Effect::store(Job::ReadAttached(wanted))
}
