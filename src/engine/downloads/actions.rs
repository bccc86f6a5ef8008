//! What a user can do with downloads: add, pause, resume, remove, and play them when they are complete. Positions are remembered,
//! and files are deleted some time after they were played.

use backissue_core::feed::Enclosure;
use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::filters::Action;
use backissue_core::history::{FeedKey, Flag};
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, TimeDelta, Utc};

use super::file_names::DownloadSettings;
use super::progress::{change, forget_part, read_attached, save, start_waiting};
use super::record::{
    AttachedWanted, DOWNLOADS_MAX, Download, DownloadRequest, DownloadState, FileVersion, PART,
    Playback, PlayerNews, newest_address,
};
use crate::engine::change::MarkChange;
use crate::engine::entries::ahead_work::AheadPart;
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::entries::{marks, page_fetches};
use crate::engine::external_run::{ExternalRun, RunInput, RunPurpose};
use crate::engine::poll::poll_stage::News;
use crate::engine::request::Effect;
use crate::engine::start_external::{self, is_web_address, split_media_time};
use crate::engine::state::Engine;

/// Maximum length of a stored title, in characters.
const TITLE_CHARS_MAX: usize = 300;

/// Carries out a request. The error is a sentence with the reason that it is not allowed.
pub fn requested(
    engine: &mut Engine,
    now: DateTime<Utc>,
    request: DownloadRequest,
) -> Result<(), InputFlaw> {
    let known = |engine: &Engine, id: u32| {
        let download = engine.downloads.list.get(&id).cloned();
        download.ok_or_else(|| flaw!("there is no download {id}"))
    };
    match request {
        DownloadRequest::Add { keys, file } => {
            read_attached(engine, AttachedWanted::Chosen(keys, file));
        }
        DownloadRequest::Pause(id) => {
            let download = known(engine, id)?;
            if download.state == DownloadState::Done {
                return Err("the file is complete".into());
            }
            let received = engine.downloads.received(&download);
            stop(engine, id, Vec::new());
            change(engine, id, |download| {
                (download.state, download.received) = (DownloadState::Paused, received);
            });
            save(engine);
        }
        DownloadRequest::Resume(id) => {
            let again = known(engine, id)?.state == DownloadState::Done;
            change(engine, id, |download| {
                download.state = DownloadState::Waiting;
                (download.failures, download.retry_at, download.trouble) = (0, None, None);
                if again {
                    forget_part(download);
                    (download.path, download.finished) = (None, None);
                }
            });
            save(engine);
        }
        DownloadRequest::Remove { id, delete } => {
            let download = known(engine, id)?;
            remove(engine, &download, delete);
        }
        DownloadRequest::Play(id) => play(engine, now, &known(engine, id)?, None)?,
        DownloadRequest::SetPlayed(id, played) => {
            known(engine, id)?;
            change(engine, id, |download| {
                (download.played, download.position) = (played.then_some(now), 0);
            });
            save(engine);
        }
        DownloadRequest::Run => {
            engine.downloads.asked_to_run = true;
            start_waiting(engine, now);
        }
    }
    Ok(())
}

/// Stops receiving a file, and deletes these files when it has stopped.
fn stop(engine: &mut Engine, id: u32, delete: Vec<String>) {
    let was_running = engine.downloads.running.remove(&id).is_some();
    let is_needed = was_running || !delete.is_empty();
    engine.effects.extend(is_needed.then_some(Effect::StopDownload { id, delete }));
}

fn remove(engine: &mut Engine, download: &Download, delete: bool) {
    let is_done = download.state == DownloadState::Done;
    let path = download.path.clone();
    let files = match (is_done, delete) {
        (true, false) => Vec::new(),
        (true, true) => path.clone().into_iter().collect(),
        (false, _) => path.clone().map(|path| format!("{path}{PART}")).into_iter().collect(),
    };
    stop(engine, download.id, files);
    engine.downloads.list.remove(&download.id);
    engine.downloads.playing.remove(&download.id);
    match (is_done, delete, path) {
        (true, false, Some(path)) => {
            engine.say(format!("removed from the list; the file stays: {path}"));
        }
        (true, true, _) => engine.say("the file was deleted"),
        (_, _, _) => engine.say("the download was removed"),
    }
    save(engine);
}

/// Reads the new entries of a poll whose files are downloaded: by a filter, or because the user wants the files of the feed ahead.
/// The first document of a subscription is left out, because its entries existed before the user subscribed.
pub fn note_new_entries(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    news: News,
    is_first: bool,
) {
    let has_filter = engine.filters.list.iter().any(|filter| filter.action == Action::Download);
    let is_ahead = page_fetches::left_today(engine, now, feed, AheadPart::Files) > 0;
    if news.new > 0 && !is_first && (has_filter || is_ahead) {
        let range = engine.newest_of(feed, news.new);
        read_attached(engine, AttachedWanted::New(feed, range));
    }
}

/// Handles a failure to read attached files. Downloads then start with the addresses that are known.
pub fn reading_failed(engine: &mut Engine) {
    engine.downloads.reading = engine.downloads.reading.saturating_sub(1);
    engine.downloads.addressed.values_mut().for_each(|is_known| *is_known = true);
}

/// Starts downloads with the newest addresses of their files.
fn addressed(engine: &mut Engine, now: DateTime<Utc>, entries: &[LoadedEntry]) {
    for entry in entries {
        let of_entry = |download: &&mut Download| download.entry == entry.key;
        for download in engine.downloads.list.values_mut().filter(of_entry) {
            let newest = newest_address(&download.url, &entry.kept.enclosures);
            if let Some(newest) = newest.filter(|newest| is_web_address(newest)) {
                newest.clone_into(&mut download.url);
            }
        }
    }
    engine.downloads.addressed.values_mut().for_each(|is_known| *is_known = true);
    start_waiting(engine, now);
}

/// Adds the attached files of entries that were read from the store.
pub fn attached(
    engine: &mut Engine,
    now: DateTime<Utc>,
    wanted: &AttachedWanted,
    entries: Vec<LoadedEntry>,
) {
    engine.downloads.reading = engine.downloads.reading.saturating_sub(1);
    let (mut added, mut known, mut without) = (Vec::new(), 0_usize, 0_usize);
    let left = match wanted {
        AttachedWanted::Addresses(_) => return addressed(engine, now, &entries),
        AttachedWanted::New(feed, _) => {
            page_fetches::left_today(engine, now, *feed, AheadPart::Files)
        }
        AttachedWanted::Chosen(..) => 0,
    };
    let mut added_ahead = 0_u32;
    for entry in entries {
        let is_new = matches!(wanted, AttachedWanted::New(..));
        let is_ahead = is_new && !is_filtered(engine, &entry);
        if is_ahead && (added_ahead >= left || !entry.flags.is_unread()) {
            continue;
        }
        let number = match wanted {
            AttachedWanted::Chosen(_, file) => file.unwrap_or(1),
            AttachedWanted::New(..) | AttachedWanted::Addresses(_) => 1,
        };
        let files = &entry.kept.enclosures;
        let place = number.saturating_sub(1);
        let Some(file) = files.get(place).filter(|file| is_web_address(&file.url)) else {
            without = without.saturating_add(1);
            continue;
        };
        if engine.downloads.of_file(entry.key, &file.url, files).is_some() {
            known = known.saturating_add(1);
            continue;
        }
        if engine.downloads.list.len() >= DOWNLOADS_MAX {
            engine.complain(format!(
                "{DOWNLOADS_MAX} files are in the list of downloads: remove some first"
            ));
            break;
        }
        let download = new_download(engine, now, &entry, file.clone());
        added.push(download.title.clone());
        engine.downloads.list.insert(download.id, download);
        added_ahead = added_ahead.saturating_add(u32::from(is_ahead));
    }
    let is_asked = matches!(wanted, AttachedWanted::Chosen(..));
    match added.as_slice() {
        [] if !is_asked => {}
        [] if known > 0 => engine.say("the file is already in the list of downloads"),
        [] if without > 0 => engine.complain("no file is attached to this entry"),
        [] => {}
        [title] => engine.say(format!("added to the downloads: {title}")),
        many => {
            let files = counted_words(many.len(), "file", "files");
            engine.say(format!("added to the downloads: {files}"));
        }
    }
    if added.is_empty() {
        return;
    }
    save(engine);
    if let AttachedWanted::New(feed, _) = wanted {
        page_fetches::count(engine, now, *feed, |today| {
            today.files = today.files.saturating_add(added_ahead);
        });
    }
}

fn is_filtered(engine: &Engine, entry: &LoadedEntry) -> bool {
    let filters = entry.ruled.iter().filter_map(|&id| engine.filters.get(id));
    filters.into_iter().any(|filter| filter.action == Action::Download)
}

fn new_download(
    engine: &Engine,
    now: DateTime<Utc>,
    entry: &LoadedEntry,
    file: Enclosure,
) -> Download {
    let last = engine.downloads.list.keys().next_back();
    let feed = engine.feeds.get(&entry.key.feed).map(|feed| feed.record.shown_title());
    Download {
        id: last.map_or(1, |last| last.saturating_add(1)),
        entry: entry.key,
        url: file.url,
        media_type: file.media_type,
        title: one_line(entry.kept.shown_title(), TITLE_CHARS_MAX),
        feed_title: one_line(feed.unwrap_or_default(), TITLE_CHARS_MAX),
        date: entry.kept.listed(),
        added: now,
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
        duration: file.duration_seconds,
        played: None,
    }
}

/// Interval at which the position in a file is written while it is played.
const SAVE_EVERY: TimeDelta = TimeDelta::seconds(30);
/// Maximum length of a title in a message, in characters.
const TOLD_CHARS_MAX: usize = 100;

/// Plays an attached file at its address, or from the disk if the address names a time and the file is downloaded.
pub fn play_attached(
    engine: &mut Engine,
    now: DateTime<Utc>,
    link: String,
    media_type: &str,
) -> Result<(), InputFlaw> {
    if let (address, Some(from)) = split_media_time(&link) {
        let mut list = engine.downloads.list.values();
        let file = list.find(|it| it.url == address && it.state == DownloadState::Done).cloned();
        if let Some(file) = file {
            return play(engine, now, &file, Some(from));
        }
    }
    engine.carry_out(start_external::play(engine, link, media_type));
    Ok(())
}

/// Starts the player for a file, at a time in seconds or else at the position where it was stopped.
pub fn play(
    engine: &mut Engine,
    now: DateTime<Utc>,
    download: &Download,
    from: Option<u32>,
) -> Result<(), InputFlaw> {
    let path = download.path.clone().filter(|_| download.state == DownloadState::Done);
    let Some(path) = path else {
        return Err("the file is not complete yet".into());
    };
    if engine.downloads.playing.contains_key(&download.id) {
        return Err("the file is already being played".into());
    }
    let Some(player) = &engine.settings.downloads.player else {
        return Err("[downloads] player names no program".into());
    };
    let mut command = player.with_link(&path);
    command = command.starting_at(from.unwrap_or(download.position));
    engine.downloads.playing.insert(download.id, Playback { saved_at: now });
    engine.say(format!("playing {}", one_line(&download.title, TOLD_CHARS_MAX)));
    let (purpose, input) = (RunPurpose::Play(download.id), RunInput::Nothing);
    engine.carry_out(Effect::Run(Box::new(ExternalRun::new(purpose, command, input))));
    Ok(())
}

/// Notes the position of a player. A file that was played to its end starts at its beginning next time, and its entry is marked
/// read.
pub fn news(engine: &mut Engine, now: DateTime<Utc>, id: u32, news: PlayerNews) {
    // The last report may arrive after the player has ended.
    let is_due = engine.downloads.playing.get_mut(&id).is_none_or(|playback| {
        let is_due = now.signed_duration_since(playback.saved_at) >= SAVE_EVERY;
        if is_due {
            playback.saved_at = now;
        }
        is_due
    });
    let mut entry = None;
    change(engine, id, |download| {
        download.duration = news.duration.or(download.duration);
        if news.at_end {
            (download.position, download.played) = (0, Some(now));
            entry = Some(download.entry);
        } else {
            download.position = news.position;
        }
    });
    if let Some(key) = entry.filter(|key| engine.feeds.contains_key(&key.feed)) {
        let mark = MarkChange { keys: vec![key], flag: Flag::Read, value: true };
        marks::set(engine, mark);
    }
    if is_due || news.at_end {
        save(engine);
    }
}

/// Handles the end of a player.
pub fn ended(engine: &mut Engine, id: u32) {
    if engine.downloads.playing.remove(&id).is_some() {
        save(engine);
    }
}

/// Deletes files that were played to their end long enough ago.
pub fn delete_played(engine: &mut Engine, now: DateTime<Utc>) {
    let settings = &engine.settings.downloads;
    let playing = &engine.downloads.playing;
    let is_over = |download: &&Download| {
        !playing.contains_key(&download.id) && is_over(download, settings, now)
    };
    let over: Vec<Download> = engine.downloads.list.values().filter(is_over).cloned().collect();
    if over.is_empty() {
        return;
    }
    for download in &over {
        let delete = download.path.clone().into_iter().collect();
        engine.carry_out(Effect::StopDownload { id: download.id, delete });
        engine.downloads.list.remove(&download.id);
    }
    let what = match over.as_slice() {
        [one] => format!("'{}'", one_line(&one.title, TOLD_CHARS_MAX)),
        many => counted_words(many.len(), "file", "files"),
    };
    engine.say(format!("deleted {what}, played long enough ago: [downloads] keep_played"));
    save(engine);
}

fn is_over(download: &Download, settings: &DownloadSettings, now: DateTime<Utc>) -> bool {
    let (Some(played), Some(minutes)) = (download.played, settings.keep_played_minutes) else {
        return false;
    };
    download.state == DownloadState::Done
        && now.signed_duration_since(played) > TimeDelta::minutes(i64::from(minutes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::downloads::progress::sample;

    #[test]
    fn only_played_files_are_deleted_after_their_time() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_520);
        let mut settings = DownloadSettings::default();
        let mut download = sample(1, "https://a.example/1");
        for (state, played_days_ago, expected) in [
            (DownloadState::Done, None, false),
            (DownloadState::Done, Some(6), false),
            (DownloadState::Done, Some(8), true),
            (DownloadState::Waiting, Some(8), false),
        ] {
            download.state = state;
            download.played = played_days_ago.map(|days| now - TimeDelta::days(days));
            assert_eq!(is_over(&download, &settings, now), expected, "{played_days_ago:?}");
        }
        download.state = DownloadState::Done;
        settings.keep_played_minutes = None;
        assert!(!is_over(&download, &settings, now), "kept for ever");
    }
}
