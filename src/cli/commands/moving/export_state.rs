//! `backissue export --state`: subscriptions and the marks of all entries as lines of JSON, which `backissue import` reads.

use std::io;

use chrono::SubsecRound;

use super::export::{self, WritePiece, in_file};
use crate::cli::args::ExportArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, json};
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::named_files::FileKind;
use backissue_core::feed::text::counted_words;
use backissue_core::other_readers::state_file::{STATE_VERSION, StateEntry, StateFeed, StateLine};

/// Number of entries to read from the store at once.
const SLICE: u32 = 256;

/// Numbers of what was written, and of entries that cannot be read.
#[derive(Debug, Default)]
struct WrittenState {
    entries: usize,
    left_out: usize,
}

/// Runs `backissue export --state`.
pub(super) fn run(desk: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    let engine = desk.engine()?;
    let mut written = WrittenState::default();
    let path = export::write(desk, args, FileKind::State, &mut |put| {
        written = write_all(desk, &engine, put)?;
        Ok(())
    })?;
    if let Some(path) = path {
        let feeds = counted_words(engine.feeds.len(), "subscription", "subscriptions");
        let entries = counted_words(written.entries, "entry", "entries");
        desk.tell(&format!("{feeds} and {entries} written to {path}"));
    }
    Ok(desk.tell_left_out(written.left_out, "entry", "entries"))
}

fn write_all(
    desk: &CommandContext,
    engine: &Engine,
    put: &mut WritePiece<'_>,
) -> io::Result<WrittenState> {
    let exported = Some(clock::now().trunc_subsecs(0));
    put(&text(&StateLine::State { version: STATE_VERSION, exported }))?;
    for feed in engine.feeds.values() {
        put(&text(&StateLine::Feed(feed_line(feed))))?;
    }
    let mut written = WrittenState::default();
    for feed in engine.feeds.values() {
        let key = feed.key;
        let end = feed.counters.next_seq;
        for start in (0..end).step_by(SLICE as usize) {
            if desk.is_closed() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let range = start..start.saturating_add(SLICE).min(end);
            let wanted = range.len();
            let read = desk.look(move |store| store.news(&[(key, range)])).map_err(in_file)?;
            written.left_out = written.left_out.saturating_add(wanted.saturating_sub(read.len()));
            for entry in read.iter().filter(|entry| entry.flags.is_findable()) {
                written.entries = written.entries.saturating_add(1);
                put(&text(&StateLine::Entry(Box::new(entry_line(engine, feed, entry)))))?;
            }
        }
    }
    put(&text(&StateLine::End))?;
    Ok(written)
}

fn feed_line(feed: &Subscription) -> StateFeed {
    let record = &feed.record;
    StateFeed {
        url: record.url.clone(),
        title: record.own_title.clone(),
        publisher_title: record.title.clone(),
        site: record.site.clone(),
        tags: record.tags.clone(),
        settings: record.feed_settings.to_opml(),
    }
}

fn entry_line(engine: &Engine, feed: &Subscription, entry: &LoadedEntry) -> StateEntry {
    let labels = engine.filters.labels(&entry.ruled);
    let line = StateEntry::new(&feed.record.url, &entry.kept, entry.flags, labels);
    let content = entry.feed_text().filter(|_| line.is_kept()).map(str::to_owned);
    StateEntry { content, ..line }
}

/// Formats a line. It contains no line end and no control characters.
fn text(line: &StateLine) -> String {
    serde_json::to_value(line).map(|value| json::line(&value)).unwrap_or_default()
}
