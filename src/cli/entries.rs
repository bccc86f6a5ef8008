//! `backissue entries`: entries newest first.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde_json::Value;

use super::args::{EntriesArgs, Options};
use super::session::{self, Failure};
use super::{Done, json, lookup};
use crate::app::listing::{ListQuery, Scope, Show};
use crate::app::subscription::SubscriptionRecord;
use crate::history::{EntryKey, FeedKey};
use crate::io::console;

/// Entries read at once: several stand in one record of the store.
const SLICE: usize = 256;

/// Runs the command.
pub(super) fn run(options: &Options, args: &EntriesArgs) -> Result<Done, Failure> {
    let since = args.since.as_deref().map(instant).transpose()?;
    let mut store = session::store(options)?;
    let records: BTreeMap<FeedKey, SubscriptionRecord> =
        store.subscriptions()?.into_iter().map(|saved| (saved.key, saved.record)).collect();
    let scope = match &args.feed {
        None => Scope::Everything,
        Some(typed) => Scope::Feeds(vec![lookup::feed(&records, typed)?]),
    };
    let show = match (args.unread, args.starred) {
        (true, _) => Show::Unread,
        (_, true) => Show::Starred,
        (false, false) => Show::All,
    };
    let keys = store.ordered(&ListQuery { scope, show, since, keep: BTreeSet::new() })?;
    let mut listed = Vec::new();
    let keys: Vec<EntryKey> = keys.into_iter().take(args.limit.unwrap_or(usize::MAX)).collect();
    let entries = keys.chunks(SLICE).map(|slice| store.entries(slice));
    for (key, kept, flags) in entries.flat_map(Result::unwrap_or_default) {
        if console::is_closed() {
            break;
        }
        let title = records.get(&key.feed).map_or("", SubscriptionRecord::shown_title);
        if args.json {
            listed.push(json::entry(key, title, &kept, flags));
            continue;
        }
        let mark = if flags.is_unread() { "●" } else { " " };
        let star = if flags.is_starred() { "★" } else { " " };
        let date = kept.listed().format("%Y-%m-%d %H:%M");
        let own = kept.shown_title();
        console::put(&format!("{:>9} {mark}{star} {date}  {title}  {own}", key.to_string()));
    }
    if args.json {
        console::put(&json::text(&Value::Array(listed)));
    }
    Ok(Done::All)
}

/// A date or an instant as typed, in UTC.
fn instant(typed: &str) -> Result<DateTime<Utc>, Failure> {
    let full = DateTime::parse_from_rfc3339(typed).map(|instant| instant.to_utc()).ok();
    let day = || {
        NaiveDate::parse_from_str(typed, "%Y-%m-%d")
            .ok()
            .map(|day| day.and_time(NaiveTime::MIN).and_utc())
    };
    full.or_else(day).ok_or_else(|| {
        Failure::new(format!(
            "'{typed}' is not a date; write it like 2026-03-01 or 2026-03-01T12:00:00Z"
        ))
    })
}
