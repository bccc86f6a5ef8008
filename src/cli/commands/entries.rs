//! `backissue entries` lists entries and gaps, newest first; `backissue search` finds entries by their words, best match first;
//! `backissue show` prints one entry.

use std::collections::BTreeMap;
use std::sync::Arc;

use backissue_core::feed::address::without_logins;
use backissue_core::history::{EntryKey, FeedKey, Gap};
use backissue_core::search::{Marks, Matching, RowTest, When};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cli::args::{EntriesArgs, SearchArgs, ShowArgs};
use crate::cli::context::{CommandContext, JsonList};
use crate::cli::session::Failure;
use crate::cli::{Done, json, json as pieces, lookup};
use crate::engine::backfill::history_requests;
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::entries::rows::{ListQuery, RowKey, Scope, Show};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::ui::reader::lines::StyledLine;
use crate::view::html::{self, Column};
use crate::view::panes::entry_lines;

/// Number of entries to read from the store at once. Reading several is faster, because one record of the store holds several
/// entries.
const SLICE: usize = 256;

/// Runs `backissue entries`.
pub(in crate::cli) fn run(context: &CommandContext, args: &EntriesArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let since = args.since.as_deref().map(lookup::parse_instant).transpose()?;
    let engine = context.engine()?;
    let scope = find_scope(context, &engine, args, since)?;
    let show = match (args.unread, args.starred, args.hidden) {
        (true, _, _) => Show::Unread,
        (_, true, _) => Show::Starred,
        (_, _, true) => Show::Hidden,
        (false, false, false) => Show::All,
    };
    let query = ListQuery { since, ..ListQuery::of(scope, show) };
    let query = ListQuery { gaps: history_requests::in_query(&engine, &query, now), ..query };
    let rows = context.look(move |store| store.ordered(&query))?;
    let limit = args.limit.unwrap_or(rows.len()).min(rows.len());
    let (mut list, mut left_out) = (JsonList::new(context), 0_usize);
    for slice in rows.get(..limit).unwrap_or_default().chunks(SLICE) {
        let keys: Vec<EntryKey> = slice.iter().filter_map(|key| key.entry()).collect();
        let entries = context.look(move |store| store.entries(&keys))?.into_iter();
        let mut entries: BTreeMap<EntryKey, LoadedEntry> =
            entries.map(|entry| (entry.key, entry)).collect();
        for &row in slice {
            if context.is_closed() {
                return Ok(Done::All);
            }
            let Some(feed) = engine.feeds.get(&row.feed()) else { continue };
            match row {
                RowKey::Entry(key) => {
                    let Some(entry) = entries.remove(&key) else {
                        left_out = left_out.saturating_add(1);
                        continue;
                    };
                    if args.json {
                        let is_hidden = entry.flags.is_hidden();
                        let mut entry = engine.view_of(entry).json();
                        if let Some(fields) = entry.as_object_mut().filter(|_| args.hidden) {
                            fields.insert("hidden".into(), Value::Bool(is_hidden));
                        }
                        list.push(&entry);
                    } else {
                        context.put(&entry_line(&engine, feed, &entry));
                    }
                }
                RowKey::Gap(key, gap) => {
                    let Some(gap) = history_requests::shown(&engine, key, gap, now) else {
                        continue;
                    };
                    if args.json {
                        list.push(&json::gap(feed, &gap));
                    } else {
                        context.put(&gap_line(&engine, key, &gap, now));
                    }
                }
            }
        }
    }
    if args.json {
        list.end();
    }
    Ok(context.tell_left_out(left_out, "entry", "entries"))
}

/// Returns the entries to list: those of a feed, those that a query finds, or all.
fn find_scope(
    context: &CommandContext,
    engine: &Engine,
    args: &EntriesArgs,
    since: Option<DateTime<Utc>>,
) -> Result<Scope, Failure> {
    let feed = args.feed.as_deref().map(|typed| lookup::find_subscription(engine, typed));
    let feed = feed.transpose()?;
    let Some(text) = &args.search else {
        let everywhere = || {
            if args.unread { engine.loud_feeds() } else { Scope::Everything }
        };
        return Ok(feed.map_or_else(everywhere, |feed| Scope::Feeds(vec![feed])));
    };
    let mut matching = resolve(engine, text)?;
    matching.feeds.retain(|key| feed.is_none_or(|feed| feed == *key));
    matching.hidden |= args.hidden;
    if let Some(since) = since {
        matching.also(RowTest::Since(When::At(since)));
    }
    if matching.has_words() {
        catch_up(context)?;
    }
    Ok(Scope::Found(Box::new(matching)))
}

/// Returns the entries that a query finds. If the query needs the search index, waits until the index is up to date.
pub(in crate::cli) fn found_by(
    context: &CommandContext,
    engine: &Engine,
    text: &str,
) -> Result<Scope, Failure> {
    let matching = resolve(engine, text)?;
    if matching.has_words() {
        catch_up(context)?;
    }
    Ok(Scope::Found(Box::new(matching)))
}

/// Parses a query and looks up its names.
pub(in crate::cli) fn resolve(engine: &Engine, text: &str) -> Result<Matching, Failure> {
    search_query::resolve(engine, clock::now(), text, false)
        .map_err(|flaw| Failure::new(without_logins(&flaw.to_string())))
}

/// Lists entries, newest first.
pub(in crate::cli) fn list_keys(
    context: &CommandContext,
    scope: Scope,
    show: Show,
) -> Result<Vec<EntryKey>, Failure> {
    let query = ListQuery::of(scope, show);
    let rows = context.look(move |store| store.ordered(&query))?;
    Ok(rows.iter().filter_map(|row| row.entry()).collect())
}

fn entry_line(engine: &Engine, feed: &Subscription, entry: &LoadedEntry) -> String {
    let LoadedEntry { key, kept, flags, .. } = entry;
    let mark = if flags.is_unread() { "●" } else { " " };
    let star = if flags.is_starred() { "★" } else { " " };
    let date = kept.listed().with_timezone(&engine.zone).format("%Y-%m-%d %H:%M");
    let title = feed.record.shown_title();
    let own = Some(kept.shown_title()).filter(|own| !own.is_empty()).unwrap_or("(no title)");
    format!("{:>9} {mark}{star} {date}  {title}  {own}", key.to_string())
}

fn gap_line(engine: &Engine, feed: FeedKey, gap: &Gap, now: DateTime<Utc>) -> String {
    let date = gap.listed().with_timezone(&engine.zone).format("%Y-%m-%d %H:%M");
    let title = engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
    let next = backissue_core::history::GapLines::new(gap, now, engine.zone).next;
    format!("{:>9}    {date}  {title}  {} · {next}", "┄┄┄", gap.text())
}

/// Maximum length of a snippet, in characters.
const SNIPPET_CHARS: usize = 160;

/// Runs `backissue search`.
pub(in crate::cli) fn run_search(
    context: &CommandContext,
    args: &SearchArgs,
) -> Result<Done, Failure> {
    let engine = context.engine()?;
    let text = args.words.join(" ");
    let matching = resolve(&engine, &text)?;
    if matching.wants_gaps() {
        return Ok(print_gaps(context, &engine, &matching, args));
    }
    let matching = Arc::new(matching);
    if matching.has_words()
        && let Err(behind) = catch_up(context)
    {
        if behind.loop_ended || context.is_closed() {
            return Err(behind);
        }
        // Continue after a failed index update, because entries indexed earlier can still be found.
        context.tell(&behind.sentence);
    }
    let wanted = Arc::clone(&matching);
    let found = context.look(move |store| store.search(&wanted))?;
    let marks = Arc::new(Marks::for_condition(&matching.condition));
    let (mut list, mut left_out) = (JsonList::new(context), 0_usize);
    for hit in found.iter().take(args.limit) {
        if context.is_closed() {
            return Ok(Done::All);
        }
        let (key, words) = (hit.key, Arc::clone(&marks));
        let shown = context.look(move |store| {
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
            context.put(&hit_lines(&engine, &entry, &marks, &snippet));
        }
    }
    if args.json {
        list.end();
    }
    tell_count(context, found.len(), args);
    Ok(context.tell_left_out(left_out, "entry", "entries"))
}

/// Waits until the index is up to date with the store, and shows the progress.
pub(in crate::cli) fn catch_up(context: &CommandContext) -> Result<(), Failure> {
    let mut all = 0;
    context.wait_until_indexed(|missing| {
        all = all.max(missing);
        let number = |entries: usize| u64::try_from(entries).unwrap_or(u64::MAX);
        context.show_progress("indexing", number(all.saturating_sub(missing)), number(all));
    })?;
    context.end_progress();
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
    context: &CommandContext,
    engine: &Engine,
    matching: &Matching,
    args: &SearchArgs,
) -> Done {
    let now = clock::now();
    let mut listed = Vec::new();
    for feed in engine.feeds.values() {
        for (mark, gap) in history_requests::of_feed(engine, feed, now) {
            if matching.fits_gap(mark.feed, mark.listed) {
                listed.push((mark.listed, feed, gap));
            }
        }
    }
    listed.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    listed.truncate(args.limit);
    if args.json {
        let mut list = JsonList::new(context);
        for (_, feed, gap) in &listed {
            list.push(&pieces::gap(feed, gap));
        }
        list.end();
    } else {
        for (at, feed, gap) in &listed {
            let date = at.with_timezone(&engine.zone).format("%Y-%m-%d");
            let title = feed.record.shown_title();
            context.put(&format!("{:>9}    {date}  {}  · {title}", "┄┄┄", gap.text()));
        }
    }
    Done::All
}

/// If not all matches are shown, prints their total number on standard error.
fn tell_count(context: &CommandContext, found: usize, args: &SearchArgs) {
    if found == 0 {
        context.tell("nothing found");
    } else if found > args.limit {
        context.tell(&format!("{} of {found} shown; --limit shows more", args.limit));
    }
}

/// Width of the printed text, in columns.
const WIDTH: Column = Column::fixed(80);

/// Runs `backissue show`.
pub(in crate::cli) fn run_show(context: &CommandContext, args: &ShowArgs) -> Result<Done, Failure> {
    let key: EntryKey = args.entry.parse().map_err(Failure::new)?;
    let Ok(entry) = context.look(move |store| store.read_entry(key))? else {
        return Err(no_entry(key));
    };
    let view = context.inspect(move |engine| engine.view_of(entry))?;
    let (_, markup, base) = view.text();
    if args.html {
        context.put(markup);
        return Ok(Done::All);
    }
    if args.text {
        for line in &html::render(markup, base, WIDTH).lines {
            context.put(StyledLine::text(line).trim_end());
        }
        return Ok(Done::All);
    }
    context.put(&entry_lines::head(&view));
    if let Some(words) = view.entry.kept.former_id_words() {
        context.put(&words);
    }
    context.put(entry_lines::body(&view).trim_end_matches('\n'));
    Ok(Done::All)
}

/// Returns the error for a number without an entry.
pub(in crate::cli) fn no_entry(key: EntryKey) -> Failure {
    Failure::new(format!("there is no entry {key}; 'backissue entries' lists them"))
}
