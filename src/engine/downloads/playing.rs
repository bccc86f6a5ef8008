//! Plays complete files, remembers positions, and deletes files some time after they were played.

use backissue_core::InputFlaw;
use chrono::{DateTime, TimeDelta, Utc};

use super::progress::{change, save};
use super::record::{Download, DownloadState, Playback};
use super::settings::DownloadSettings;
use super::transfer::PlayerNews;
use crate::engine::change::MarkChange;
use crate::engine::effect::Effect;
use crate::engine::entries::marks;
use crate::engine::external::external_run::{ExternalRun, RunInput, RunPurpose};
use crate::engine::state::Engine;
use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::history::Flag;

/// Interval at which the position in a file is written while it is played.
const SAVE_EVERY: TimeDelta = TimeDelta::seconds(30);
/// Name of the player whose position can be read and set.
const MPV: &str = "mpv";
/// Maximum length of a title in a message, in characters.
const TOLD_CHARS_MAX: usize = 100;

/// Starts the player for a file, at the position where it was stopped.
pub fn play(
    engine: &mut Engine,
    now: DateTime<Utc>,
    download: &Download,
) -> Result<Vec<Effect>, InputFlaw> {
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
    if is_mpv(command.program()) && download.position > 0 {
        command = command.with_options(vec![format!("--start={}", download.position)]);
    }
    engine.downloads.playing.insert(download.id, Playback { saved_at: now });
    engine.say(format!("playing {}", one_line(&download.title, TOLD_CHARS_MAX)));
    let (purpose, input) = (RunPurpose::Play(download.id), RunInput::Nothing);
    Ok(vec![Effect::Run(Box::new(ExternalRun::new(purpose, command, input)))])
}

/// Checks whether a program is mpv, whose position can be read and set.
pub fn is_mpv(program: &str) -> bool {
    program.rsplit('/').next() == Some(MPV)
}

/// Notes the position of a player. A file that was played to its end starts at its beginning next time, and its entry is marked
/// read.
pub fn news(engine: &mut Engine, now: DateTime<Utc>, id: u32, news: PlayerNews) -> Vec<Effect> {
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
    let mut effects = Vec::new();
    if let Some(key) = entry.filter(|key| engine.feeds.contains_key(&key.feed)) {
        let mark = MarkChange { keys: vec![key], flag: Flag::Read, value: true };
        effects.extend(marks::set(engine, mark));
    }
    if is_due || news.at_end {
        effects.push(save(engine));
    }
    effects
}

/// Handles the end of a player.
pub fn ended(engine: &mut Engine, id: u32) -> Vec<Effect> {
    let known = engine.downloads.playing.remove(&id);
    known.map(|_| save(engine)).into_iter().collect()
}

/// Deletes files that were played to their end long enough ago.
pub fn delete_played(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    let settings = &engine.settings.downloads;
    let playing = &engine.downloads.playing;
    let is_over = |download: &&Download| {
        !playing.contains_key(&download.id) && is_over(download, settings, now)
    };
    let over: Vec<Download> = engine.downloads.list.values().filter(is_over).cloned().collect();
    if over.is_empty() {
        return Vec::new();
    }
    let mut effects = Vec::new();
    for download in &over {
        let delete = download.path.clone().into_iter().collect();
        effects.push(Effect::StopDownload { id: download.id, delete });
        engine.downloads.list.remove(&download.id);
    }
    let what = match over.as_slice() {
        [one] => format!("'{}'", one_line(&one.title, TOLD_CHARS_MAX)),
        many => counted_words(many.len(), "file", "files"),
    };
    engine.say(format!("deleted {what}, played long enough ago: [downloads] keep_played"));
    effects.push(save(engine));
    effects
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
    use crate::engine::downloads::queue::sample;

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

    #[test]
    fn only_mpv_tells_its_position() {
        let programs = ["mpv", "/usr/bin/mpv", "umpv", "vlc", ""];
        assert_eq!(programs.map(is_mpv), [true, true, false, false, false]);
    }
}
