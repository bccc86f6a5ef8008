//! `backissue entries`: lists entries and gaps, newest first.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::cli::args::EntriesArgs;
use crate::cli::commands::search::catch_up;
use crate::cli::context::CommandContext;
use crate::cli::json_list::JsonList;
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup, time_args};
use crate::engine::backfill::gap_rows;
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::engine::entries::rows::{ListQuery, RowKey, RowOrder, Scope, Show};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::io::clock;
use backissue_core::feed::address::without_logins;
use backissue_core::history::{EntryKey, FeedKey, Gap};
use backissue_core::search::{RowTest, When};

/// Number of entries to read from the store at once. Reading several is faster, because one record of the store holds several
/// entries.
const SLICE: usize = 256;

/// Runs `backissue entries`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &EntriesArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let since = args.since.as_deref().map(time_args::parse_instant).transpose()?;
    let engine = desk.engine()?;
    let scope = find_scope(desk, &engine, args, since, now)?;
    let show = match (args.unread, args.starred, args.hidden) {
        (true, _, _) => Show::Unread,
        (_, true, _) => Show::Starred,
        (_, _, true) => Show::Hidden,
        (false, false, false) => Show::All,
    };
    let query = ListQuery {
        scope,
        show,
        since,
        keep: BTreeSet::new(),
        gaps: Vec::new(),
        order: RowOrder::NewestFirst,
        join: None,
    };
    let query = ListQuery { gaps: gap_rows::in_query(&engine, &query, now), ..query };
    let rows = desk.look(move |store| store.ordered(&query))?;
    let limit = args.limit.unwrap_or(rows.len()).min(rows.len());
    let (mut list, mut left_out) = (JsonList::new(desk), 0_usize);
    for slice in rows.get(..limit).unwrap_or_default().chunks(SLICE) {
        let keys: Vec<EntryKey> = slice.iter().filter_map(|key| key.entry()).collect();
        let entries = desk.look(move |store| store.entries(&keys))?.into_iter();
        let mut entries: BTreeMap<EntryKey, LoadedEntry> =
            entries.map(|entry| (entry.key, entry)).collect();
        for &row in slice {
            if desk.is_closed() {
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
                        desk.put(&entry_line(&engine, feed, &entry));
                    }
                }
                RowKey::Gap(key, gap) => {
                    let Some(gap) = gap_rows::shown(&engine, key, gap, now) else { continue };
                    if args.json {
                        list.push(&json::gap(feed, &gap));
                    } else {
                        desk.put(&gap_line(&engine, key, &gap, now));
                    }
                }
            }
        }
    }
    if args.json {
        list.end();
    }
    Ok(desk.tell_left_out(left_out, "entry", "entries"))
}

/// Returns the entries to list: those of a feed, those that a query finds, or all.
fn find_scope(
    desk: &CommandContext,
    engine: &Engine,
    args: &EntriesArgs,
    since: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<Scope, Failure> {
    let feed = args.feed.as_deref().map(|typed| lookup::find_subscription(engine, typed));
    let feed = feed.transpose()?;
    let Some(text) = &args.search else {
        let everywhere = || {
            if args.unread { engine.loud_feeds() } else { Scope::Everything }
        };
        return Ok(feed.map_or_else(everywhere, |feed| Scope::Feeds(vec![feed])));
    };
    let mut matching = search_query::resolve(engine, now, text, false)
        .map_err(|flaw| Failure::new(without_logins(&flaw.to_string())))?;
    matching.feeds.retain(|key| feed.is_none_or(|feed| feed == *key));
    matching.hidden |= args.hidden;
    if let Some(since) = since {
        matching.also(RowTest::Since(When::At(since)));
    }
    if matching.has_words() {
        catch_up(desk)?;
    }
    Ok(Scope::Found(Box::new(matching)))
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
