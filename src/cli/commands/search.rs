//! `backissue search`: entries by their words, best first.

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::cli::args::{Options, SearchArgs};
use crate::cli::session::{self, Failure};
use crate::cli::{Done, json as pieces};
use crate::engine::backfill::gap_rows;
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::history::{EntryKey, Flags, KeptEntry};
use crate::io::search::{CatchUp, IndexError, SearchIndex};
use crate::io::store::SearchHit;
use crate::io::{clock, console};
use crate::search::{Marks, Matching};

/// Characters of a snippet.
const SNIPPET_CHARS: usize = 160;
/// Entries that are indexed without a word; more show their progress.
const SILENT_ENTRIES: usize = 3_000;

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &SearchArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let (mut store, engine) = session::looked_at(options, now)?;
    let text = args.words.join(" ");
    let matching = search_query::resolve(&engine, now, &text, false)
        .map_err(|flaw| Failure::new(flaw.to_string()))?;
    if matching.wants_gaps() {
        return Ok(print_gaps(&engine, &matching, args));
    }
    if !matching.terms.is_empty() {
        let index = SearchIndex::open(store.folder()).map_err(|error| index_failure(&error))?;
        let mut behind =
            CatchUp::new(index.clone(), store.texts()).map_err(|error| index_failure(&error))?;
        catch_up(&mut behind)?;
        store.use_index(index);
    }
    let found = store.search(&matching)?;
    let marks = Marks::for_terms(&matching.terms);
    let mut listed = Vec::new();
    for hit in found.iter().take(args.limit) {
        if console::is_closed() {
            return Ok(Done::All);
        }
        let Some((kept, flags)) = store.entry(hit.key)? else { continue };
        let snippet = store.snippet(hit.key, &marks, SNIPPET_CHARS).marked();
        if args.json {
            listed.push(in_json(&engine, *hit, &kept, flags, &snippet));
        } else {
            print_hits(&engine, hit.key, &kept, flags, &marks, &snippet);
        }
    }
    if args.json {
        console::put(&pieces::text(&Value::Array(listed)));
    }
    tell_count(found.len(), args);
    Ok(Done::All)
}

fn index_failure(error: &IndexError) -> Failure {
    Failure::new(error.to_string())
}

/// Brings the index in line with the store, with a progress bar where it takes a while.
pub(in crate::cli) fn catch_up(behind: &mut CatchUp) -> Result<(), Failure> {
    let missing = behind.state().missing;
    let bar = if missing > SILENT_ENTRIES {
        ProgressBar::new(u64::try_from(missing).unwrap_or(u64::MAX))
    } else {
        ProgressBar::hidden()
    };
    let style =
        ProgressStyle::with_template("indexing {bar:40} {pos} of {len} entries, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    behind
        .everything(&mut |done| {
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
            true
        })
        .map_err(|error| index_failure(&error))?;
    behind.commit().map_err(|error| index_failure(&error))?;
    if missing > SILENT_ENTRIES {
        behind.finish().map_err(|error| index_failure(&error))?;
    }
    bar.finish_and_clear();
    Ok(())
}

fn find_title(engine: &Engine, key: EntryKey) -> &str {
    engine.feeds.get(&key.feed).map_or("", |feed| feed.record.shown_title())
}

fn in_json(
    engine: &Engine,
    hit: SearchHit,
    kept: &KeptEntry,
    flags: Flags,
    snippet: &str,
) -> Value {
    let mut entry = pieces::entry(hit.key, find_title(engine, hit.key), kept, flags);
    if let Some(fields) = entry.as_object_mut() {
        fields.insert("score".into(), json!(hit.score));
        fields.insert("snippet".into(), json!(snippet));
    }
    entry
}

fn print_hits(
    engine: &Engine,
    key: EntryKey,
    kept: &KeptEntry,
    flags: Flags,
    marks: &Marks,
    snippet: &str,
) {
    let mark = if flags.is_unread() { "●" } else { " " };
    let star = if flags.is_starred() { "★" } else { " " };
    let date = kept.listed().format("%Y-%m-%d");
    let own = marks.snippet(kept.shown_title(), usize::MAX).marked();
    let feed = find_title(engine, key);
    console::put(&format!("{:>9} {mark}{star} {date}  {own}  · {feed}", key.to_string()));
    if !snippet.is_empty() {
        console::put(&format!("             {snippet}"));
    }
}

/// What is missing and fits.
fn print_gaps(engine: &Engine, matching: &Matching, args: &SearchArgs) -> Done {
    let now = clock::now();
    let mut listed = Vec::new();
    for feed in engine.feeds.values().filter(|feed| matching.feeds.contains(&feed.key)) {
        for (mark, gap) in gap_rows::of_feed(engine, feed, now) {
            if matching.fits_date(mark.listed.timestamp()) {
                listed.push((mark.listed, feed, gap));
            }
        }
    }
    listed.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    listed.truncate(args.limit);
    if args.json {
        let values = listed.iter().map(|(_, feed, gap)| pieces::gap(feed, gap));
        console::put(&pieces::text(&Value::Array(values.collect())));
    } else {
        for (at, feed, gap) in &listed {
            let (date, title) = (at.format("%Y-%m-%d"), feed.record.shown_title());
            console::put(&format!("{:>9}    {date}  {}  · {title}", "┄┄┄", gap.text()));
        }
    }
    Done::All
}

/// Says on standard error how many there are, where not all are shown.
fn tell_count(found: usize, args: &SearchArgs) {
    if found == 0 {
        console::tell("nothing found");
    } else if found > args.limit {
        console::tell(&format!("{} of {found} shown; --limit shows more", args.limit));
    }
}
