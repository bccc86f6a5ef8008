//! `backissue search`: finds entries by their words, best match first.

use std::sync::Arc;

use serde_json::json;

use crate::cli::args::SearchArgs;
use crate::cli::context::CommandContext;
use crate::cli::json_list::JsonList;
use crate::cli::session::Failure;
use crate::cli::{Done, json as pieces};
use crate::engine::backfill::gap_rows;
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::io::clock;
use backissue_core::feed::address::without_logins;
use backissue_core::search::{Marks, Matching};

/// Maximum length of a snippet, in characters.
const SNIPPET_CHARS: usize = 160;

/// Runs `backissue search`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &SearchArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let engine = desk.engine()?;
    let text = args.words.join(" ");
    let matching = search_query::resolve(&engine, now, &text, false)
        .map_err(|flaw| Failure::new(without_logins(&flaw.to_string())))?;
    if matching.wants_gaps() {
        return Ok(print_gaps(desk, &engine, &matching, args));
    }
    let matching = Arc::new(matching);
    if matching.has_words()
        && let Err(behind) = catch_up(desk)
    {
        if behind.loop_ended || desk.is_closed() {
            return Err(behind);
        }
        // Continue after a failed index update, because entries indexed earlier can still be found.
        desk.tell(&behind.sentence);
    }
    let wanted = Arc::clone(&matching);
    let found = desk.look(move |store| store.search(&wanted))?;
    let marks = Arc::new(Marks::for_condition(&matching.condition));
    let (mut list, mut left_out) = (JsonList::new(desk), 0_usize);
    for hit in found.iter().take(args.limit) {
        if desk.is_closed() {
            return Ok(Done::All);
        }
        let (key, words) = (hit.key, Arc::clone(&marks));
        let shown = desk.look(move |store| {
            // If a record is damaged, skip the entry and continue with the next one.
            let kept = store.entries(&[key])?.pop();
            Ok(kept.map(|kept| (kept, store.snippet(key, &words, SNIPPET_CHARS).marked())))
        })?;
        let Some((entry, snippet)) = shown else {
            left_out = left_out.saturating_add(1);
            continue;
        };
        if args.json {
            let mut fields = engine.view_of(entry).json();
            if let Some(fields) = fields.as_object_mut() {
                fields.insert("score".into(), json!(hit.score));
                fields.insert("snippet".into(), json!(snippet));
            }
            list.push(&fields);
        } else {
            desk.put(&hit_lines(&engine, &entry, &marks, &snippet));
        }
    }
    if args.json {
        list.end();
    }
    tell_count(desk, found.len(), args);
    Ok(desk.tell_left_out(left_out, "entry", "entries"))
}

/// Waits until the index is up to date with the store, and shows progress meanwhile.
pub(in crate::cli) fn catch_up(desk: &CommandContext) -> Result<(), Failure> {
    let mut all = 0;
    desk.wait_until_indexed(|missing| {
        all = all.max(missing);
        let number = |entries: usize| u64::try_from(entries).unwrap_or(u64::MAX);
        desk.show_progress("indexing", number(all.saturating_sub(missing)), number(all));
    })?;
    desk.end_progress();
    Ok(())
}

/// Formats a hit as one line, and its snippet, if any, as a second line.
fn hit_lines(engine: &Engine, entry: &LoadedEntry, marks: &Marks, snippet: &str) -> String {
    let LoadedEntry { key, kept, flags, .. } = entry;
    let mark = if flags.is_unread() { "●" } else { " " };
    let star = if flags.is_starred() { "★" } else { " " };
    let date = kept.listed().with_timezone(&engine.zone).format("%Y-%m-%d");
    let own = match kept.shown_title() {
        "" => "(no title)".to_owned(),
        title => marks.snippet(title, usize::MAX).marked(),
    };
    let feed = engine.feeds.get(&key.feed).map_or("", |feed| feed.record.shown_title());
    let line = format!("{:>9} {mark}{star} {date}  {own}  · {feed}", key.to_string());
    if snippet.is_empty() { line } else { format!("{line}\n             {snippet}") }
}

/// Prints the gaps in the history of feeds that match the search.
fn print_gaps(
    desk: &CommandContext,
    engine: &Engine,
    matching: &Matching,
    args: &SearchArgs,
) -> Done {
    let now = clock::now();
    let mut listed = Vec::new();
    for feed in engine.feeds.values() {
        for (mark, gap) in gap_rows::of_feed(engine, feed, now) {
            if matching.fits_gap(mark.feed, mark.listed) {
                listed.push((mark.listed, feed, gap));
            }
        }
    }
    listed.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    listed.truncate(args.limit);
    if args.json {
        let mut list = JsonList::new(desk);
        for (_, feed, gap) in &listed {
            list.push(&pieces::gap(feed, gap));
        }
        list.end();
    } else {
        for (at, feed, gap) in &listed {
            let date = at.with_timezone(&engine.zone).format("%Y-%m-%d");
            let title = feed.record.shown_title();
            desk.put(&format!("{:>9}    {date}  {}  · {title}", "┄┄┄", gap.text()));
        }
    }
    Done::All
}

/// If not all matches are shown, prints their total number on standard error.
fn tell_count(desk: &CommandContext, found: usize, args: &SearchArgs) {
    if found == 0 {
        desk.tell("nothing found");
    } else if found > args.limit {
        desk.tell(&format!("{} of {found} shown; --limit shows more", args.limit));
    }
}
