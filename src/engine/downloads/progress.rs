//! Starts downloads, and follows them until their files are complete. The oldest one starts next whose site sends nothing else,
//! within the number of parallel downloads.

use std::collections::BTreeSet;

use backissue_core::feed::text::one_line;
use backissue_core::history::EntryKey;
use backissue_core::schedule::Wait;
use backissue_core::words::{byte_words, clock_words};
use chrono::{DateTime, TimeDelta, Utc};

use super::file_names::file_path;
use super::record::{
    AttachedWanted, Cure, Download, DownloadNews, DownloadState, Downloads, FileTransfer,
    FileVersion, Transfer, TransferFailure,
};
use crate::engine::politeness::host_queue::{WaitsFor, site_of};
use crate::engine::politeness::rate_limits::left_alone_until;
use crate::engine::poll::fetch::{FetchId, FetchRequest, RequestKind};
use crate::engine::poll::start_fetches::address_source;
use crate::engine::request::Effect;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

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

/// Writes all downloads.
pub fn save(engine: &mut Engine) {
    engine.store(Job::SaveDownloads(engine.downloads.list.values().cloned().collect()));
}

/// Checks whether this process receives files: it keeps running, or the user asked it to.
const fn may_run(engine: &Engine) -> bool {
    !engine.offline && (engine.polls_by_itself || engine.downloads.asked_to_run)
}

/// Starts the downloads that may start now.
pub fn start_waiting(engine: &mut Engine, now: DateTime<Utc>) {
    if !may_run(engine) || waiting(&engine.downloads).next().is_none() {
        return;
    }
    let (network, parallel) = (&engine.settings.network, engine.settings.downloads.parallel);
    let hosts = &engine.host_queue;
    let ids = next_to_start(&engine.downloads, now, parallel, |download| {
        hosts.may_ask_beside(&download.url, now, network).is_ok()
    });
    let mut transfers = Vec::new();
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
        transfers.push(transfer);
    }
    // The names are written first, so that the program finds the parts again after it was killed.
    if transfers.iter().any(|transfer| transfer.is_new) {
        save(engine);
    }
    engine.effects.extend(transfers.into_iter().map(|it| Effect::Download(Box::new(it))));
    if !unknown.is_empty() {
        read_attached(engine, AttachedWanted::Addresses(unknown));
    }
}

/// Returns the time at which a download may start if nothing happens before.
pub fn next_start(engine: &Engine, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let (network, parallel) = (&engine.settings.network, engine.settings.downloads.parallel);
    if !may_run(engine) || engine.downloads.running.len() >= parallel {
        return None;
    }
    let due = waiting(&engine.downloads).filter(|download| is_due(download, now));
    let turn = due.filter_map(|download| {
        match engine.host_queue.may_ask_beside(&download.url, now, network) {
            Err(WaitsFor::Start(at) | WaitsFor::Network(at) | WaitsFor::Spacing(at)) => Some(at),
            // Another request or download to the site ends first, which wakes the loop.
            Err(WaitsFor::Site | WaitsFor::Turn) | Ok(()) => None,
        }
    });
    turn.chain(next_retry(&engine.downloads, now, parallel)).min()
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
pub fn news(engine: &mut Engine, now: DateTime<Utc>, id: u32, news: DownloadNews) {
    let Some(transfer) = engine.downloads.running.get_mut(&id) else { return };
    match news {
        DownloadNews::Received(bytes) => {
            note_speed(transfer, now, bytes);
            let known = engine.downloads.list.get(&id).map_or(0, |download| download.received);
            if bytes < known.saturating_add(SAVE_BYTES) {
                return;
            }
            change(engine, id, |download| download.received = bytes);
            save(engine);
        }
        DownloadNews::Began(version, from, is_unencrypted) => {
            (transfer.received, transfer.from, transfer.at) = (from, from, now);
            change(engine, id, |download| {
                (download.version, download.received) = (version, from);
                download.is_unencrypted = is_unencrypted;
            });
            save(engine);
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

fn complete(engine: &mut Engine, now: DateTime<Utc>, id: u32, bytes: u64) {
    engine.downloads.running.remove(&id);
    let mut title = String::new();
    change(engine, id, |download| {
        download.state = DownloadState::Done;
        (download.received, download.version.size) = (bytes, Some(bytes));
        (download.finished, download.trouble, download.failures) = (Some(now), None, 0);
        title = one_line(&download.title, TOLD_CHARS_MAX);
    });
    engine.say(format!("downloaded: {title}"));
    save(engine);
}

fn failed(engine: &mut Engine, now: DateTime<Utc>, id: u32, failure: TransferFailure) {
    let Some(transfer) = engine.downloads.running.remove(&id) else { return };
    let Some(download) = engine.downloads.list.get_mut(&id) else { return };
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
            let pause = pause_after(download.failures).max(stated);
            download.retry_at = now.checked_add_signed(pause);
            let url = download.url.clone();
            let ends = download.failures >= FAILURES_MAX;
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
    save(engine);
}

/// Describes a download's state for a list: `42% of 100 MB`.
pub fn state_words(downloads: &Downloads, download: &Download, now: DateTime<Utc>) -> String {
    let received = downloads.received(download);
    let amount = match (download.version.size, download.percent(received)) {
        (Some(size), Some(percent)) => format!("{percent}% of {}", byte_words(size)),
        (Some(_) | None, _) => byte_words(received),
    };
    let trouble = download.trouble.as_deref().unwrap_or_default();
    match (download.state, downloads.running.get(&download.id)) {
        (DownloadState::Done, _) => done_words(downloads, download, byte_words(received)),
        (DownloadState::Failed, _) => format!("failed: {trouble}"),
        (DownloadState::Paused, _) => format!("paused · {amount}"),
        (DownloadState::Waiting, Some(transfer)) => {
            format!("{amount} · {}/s", byte_words(transfer.speed))
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
    let note = download.is_unencrypted.then(|| "not encrypted on its way".to_owned());
    let of = download.duration.map(|all| format!(" of {}", clock_words(all)));
    let played = played_words(downloads, download, &of.unwrap_or_default());
    [Some(size), note, played].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Describes how far a file was played, with `of` after the position. Returns `None` if it was not.
fn played_words(downloads: &Downloads, download: &Download, of: &str) -> Option<String> {
    if downloads.playing.contains_key(&download.id) {
        Some("playing".to_owned())
    } else if download.played.is_some() {
        Some("played".to_owned())
    } else if download.position > 0 {
        Some(format!("played to {}{of}", clock_words(download.position)))
    } else {
        None
    }
}

/// Describes the attached file of an entry for a list of entries: downloaded, or how far it was played. Returns `None` if it is not
/// here.
pub fn episode_words(downloads: &Downloads, entry: EntryKey) -> Option<String> {
    let mut files = downloads.list.values().rev();
    let file = files.find(|it| it.entry == entry && it.state == DownloadState::Done)?;
    Some(played_words(downloads, file, "").unwrap_or_else(|| "downloaded".to_owned()))
}

/// Returns what the bottom line shows of the downloads that are being received: their number, and how much of them is there.
pub fn summary(downloads: &Downloads) -> Option<String> {
    let running: Vec<&Download> =
        downloads.running.keys().filter_map(|id| downloads.list.get(id)).collect();
    let speed: u64 = downloads.running.values().map(|transfer| transfer.speed).sum();
    let waiting = waiting(downloads).count();
    let received: u64 = running.iter().map(|download| downloads.received(download)).sum();
    let sizes: Option<u64> = running.iter().map(|download| download.version.size).sum();
    let percent = sizes.filter(|&all| all > 0).map(|all| received.min(all) * 100 / all);
    let amount = percent.map_or_else(|| byte_words(received), |percent| format!("{percent}%"));
    let more = if waiting > 0 { format!(", {waiting} waiting") } else { String::new() };
    match running.len() {
        0 => None,
        1 => Some(format!("downloading {amount} at {}/s{more}", byte_words(speed))),
        count => {
            Some(format!("downloading {count} files {amount} at {}/s{more}", byte_words(speed)))
        }
    }
}

/// Forgets what the server said about a file, so that it is received from the start.
pub(super) fn forget_part(download: &mut Download) {
    (download.version, download.received) = (FileVersion::default(), 0);
}

/// Reads attached files from the store, to download them.
pub fn read_attached(engine: &mut Engine, wanted: AttachedWanted) {
    engine.downloads.reading = engine.downloads.reading.saturating_add(1);
    engine.store(Job::ReadAttached(wanted));
}

/// Number of failures in a row, without any progress between them, after which a download is not tried again automatically.
pub const FAILURES_MAX: u32 = 12;
/// Pause after the first failure. Each further failure makes the pause four times as long.
const PAUSE_SECONDS: i64 = 1;
/// Maximum pause after a failure.
const PAUSE_SECONDS_MAX: i64 = 3600;

/// Returns the downloads that may start now, oldest first: those that wait, whose pause after a failure is over, whose site sends no
/// other file, and to whose site `may_ask` allows a request. At most `parallel` downloads run together.
pub fn next_to_start(
    downloads: &Downloads,
    now: DateTime<Utc>,
    parallel: usize,
    mut may_ask: impl FnMut(&Download) -> bool,
) -> Vec<u32> {
    let mut free = parallel.saturating_sub(downloads.running.len());
    let mut busy: BTreeSet<String> =
        downloads.running.values().map(|transfer| transfer.site.clone()).collect();
    let mut started = Vec::new();
    for download in waiting(downloads).filter(|download| is_due(download, now)) {
        if free == 0 {
            break;
        }
        let site = site_of(&download.url);
        if !busy.contains(&site) && may_ask(download) {
            busy.insert(site);
            started.push(download.id);
            free = free.saturating_sub(1);
        }
    }
    started
}

/// Returns the downloads that wait for their turn or for the end of a pause.
pub fn waiting(downloads: &Downloads) -> impl Iterator<Item = &Download> {
    downloads.list.values().filter(|download| {
        download.state == DownloadState::Waiting && !downloads.running.contains_key(&download.id)
    })
}

/// Checks whether the pause of a download after a failure is over.
pub fn is_due(download: &Download, now: DateTime<Utc>) -> bool {
    download.retry_at.is_none_or(|at| at <= now)
}

/// Returns the earliest end of a pause after a failure; `None` if no download pauses, or if no more may run.
pub fn next_retry(
    downloads: &Downloads,
    now: DateTime<Utc>,
    parallel: usize,
) -> Option<DateTime<Utc>> {
    if downloads.running.len() >= parallel {
        return None;
    }
    waiting(downloads).filter_map(|download| download.retry_at).filter(|at| now < *at).min()
}

/// Returns the pause after a number of failures in a row.
pub fn pause_after(failures: u32) -> TimeDelta {
    let factor = 4_i64.saturating_pow(failures.saturating_sub(1));
    TimeDelta::seconds(PAUSE_SECONDS.saturating_mul(factor).min(PAUSE_SECONDS_MAX))
}

/// Returns a waiting download of this address, for tests.
#[cfg(any(test, fuzzing))]
pub(crate) fn sample(id: u32, url: &str) -> Download {
    use backissue_core::history::{EntryKey, FeedKey};
    let date = DateTime::UNIX_EPOCH + TimeDelta::days(20_514);
    Download {
        id,
        entry: EntryKey { feed: FeedKey(1), seq: id },
        url: url.to_owned(),
        media_type: Some("audio/mpeg".to_owned()),
        title: format!("Episode {id}"),
        feed_title: "Show".to_owned(),
        date,
        added: date,
        state: DownloadState::Waiting,
        path: None,
        version: FileVersion::default(),
        received: 0,
        is_unencrypted: false,
        failures: 0,
        retry_at: None,
        trouble: None,
        finished: None,
        position: 0,
        duration: None,
        played: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::downloads::record::Transfer;

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_514)
    }

    fn transfer(url: &str) -> Transfer {
        Transfer { site: site_of(url), received: 0, speed: 0, at: now(), from: 0 }
    }

    #[test]
    fn one_file_of_each_site_starts_in_order_of_age() {
        let urls = [
            "https://cdn.a.example/1",
            "https://www.a.example/2",
            "https://b.example/3",
            "https://c.example/4",
            "https://d.example/5",
        ];
        let list = urls.iter().zip(1..).map(|(url, id)| sample(id, url));
        let mut downloads = Downloads::loaded(list.collect());
        let next =
            |downloads: &Downloads, parallel| next_to_start(downloads, now(), parallel, |_| true);
        assert_eq!(next(&downloads, 2), [1, 3]);
        assert_eq!(next(&downloads, 9), [1, 3, 4, 5]);
        downloads.running.insert(3, transfer(urls[2]));
        assert_eq!(next(&downloads, 2), [1]);
        assert_eq!(next(&downloads, 1), [0; 0]);
        let free = next_to_start(&downloads, now(), 9, |download| download.id != 1);
        assert_eq!(free, [2, 4, 5], "the site of 1 has no turn for it, but 2 may be asked");
        downloads.list.get_mut(&1).unwrap().state = DownloadState::Paused;
        downloads.list.get_mut(&4).unwrap().state = DownloadState::Failed;
        downloads.list.get_mut(&5).unwrap().state = DownloadState::Done;
        assert_eq!(next(&downloads, 9), [2]);
    }

    #[test]
    fn a_failed_download_waits_for_the_end_of_its_pause() {
        let mut failed = sample(1, "https://a.example/1");
        failed.retry_at = Some(now() + TimeDelta::seconds(5));
        let downloads = Downloads::loaded(vec![failed]);
        assert!(next_to_start(&downloads, now(), 2, |_| true).is_empty());
        assert_eq!(next_retry(&downloads, now(), 2), Some(now() + TimeDelta::seconds(5)));
        assert_eq!(next_retry(&downloads, now(), 0), None);
        let later = now() + TimeDelta::seconds(5);
        assert_eq!(next_to_start(&downloads, later, 2, |_| true), [1]);
    }

    #[test]
    fn pauses_grow_up_to_an_hour() {
        let pauses = [1, 2, 3, 4, 9, 99].map(|failures| pause_after(failures).num_seconds());
        assert_eq!(pauses, [1, 4, 16, 64, 3600, 3600]);
    }
}
