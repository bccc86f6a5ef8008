//! `backissue unread`: prints the number of unread entries, fast enough for a status bar that runs it every few seconds.

use serde_json::{Value, json};

use crate::cli::args_changes::UnreadArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, json as pieces, lookup};
use crate::engine::feeds::subscription::{SubscriptionRecord, unread_of};
use crate::io::console;
use crate::io::store::Store;
use backissue_core::history::{Counters, FeedKey};

/// Runs `backissue unread` in the process that has the store open.
pub(in crate::cli) fn run(desk: &CommandContext, args: &UnreadArgs) -> Result<Done, Failure> {
    let (typed, in_json) = (args.feeds.clone(), args.json);
    let text = desk.inspect(move |engine| {
        let feeds = engine.feeds.values();
        count_unread(feeds.map(|feed| (feed.key, &feed.record, feed.counters)), &typed, in_json)
    })??;
    desk.put(&text);
    Ok(Done::All)
}

/// Runs `backissue unread` on a store that no other process has open, without starting the main loop.
pub(in crate::cli) fn run_alone(store: &Store, args: &UnreadArgs) -> Result<Done, Failure> {
    let sums = store.sums()?;
    let feeds = sums.iter().map(|(feed, record, counters)| (*feed, record, *counters));
    console::put(&count_unread(feeds, &args.feeds, args.json)?);
    Ok(Done::All)
}

/// Formats the number of unread entries in the feeds that the user named, or in all feeds if no feed was named.
fn count_unread<'r>(
    feeds: impl Iterator<Item = (FeedKey, &'r SubscriptionRecord, Counters)> + Clone,
    typed: &[String],
    in_json: bool,
) -> Result<String, Failure> {
    let named = lookup::find_feeds(
        &feeds.clone().map(|(feed, record, _)| (feed, record)),
        typed,
        lookup::SUBSCRIPTIONS,
    )?;
    let wanted = feeds.filter(|(feed, ..)| typed.is_empty() || named.contains(feed));
    let sum = |of: fn(Counters) -> u32| {
        wanted.clone().map(|(.., counters)| u64::from(of(counters))).sum::<u64>()
    };
    // A quiet feed that is named counts like any other.
    let each = wanted.clone().map(|(_, it, sums)| (it.feed_settings.quiet, sums.unread));
    let in_quiet = if typed.is_empty() { unread_of(each, true) } else { 0 };
    let unread = sum(|counters| counters.unread).saturating_sub(in_quiet);
    if !in_json {
        return Ok(unread.to_string());
    }
    let with_some = wanted.clone().filter(|(.., counters)| counters.unread > 0);
    let each: Vec<Value> = with_some
        .map(|(feed, record, counters)| {
            json!({
                "number": feed,
                "title": record.shown_title(),
                "url": record.url,
                "tags": record.tags,
                "unread": counters.unread,
            })
        })
        .collect();
    let starred = sum(|counters| counters.starred);
    Ok(pieces::text(&json!({
        "unread": unread,
        "unread_in_quiet_feeds": in_quiet,
        "starred": starred,
        "feeds": each,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(typed: &[&str], in_json: bool) -> Result<String, Failure> {
        let record = |title: &str| SubscriptionRecord {
            url: "https://a.example/".into(),
            title: Some(title.into()),
            ..SubscriptionRecord::default()
        };
        let counters = |unread, starred| Counters { unread, starred, ..Counters::default() };
        let feeds = [
            (FeedKey(1), record("Orchard"), counters(7, 1)),
            (FeedKey(2), record("Harbour"), counters(0, 2)),
            (FeedKey(3), record("Bell Tower"), counters(u32::MAX, 0)),
        ];
        let typed: Vec<String> = typed.iter().map(ToString::to_string).collect();
        count_unread(feeds.iter().map(|(key, record, sums)| (*key, record, *sums)), &typed, in_json)
    }

    #[test]
    fn unread_sum_covers_all_or_only_named_feeds() {
        assert_eq!(count(&[], false).unwrap(), "4294967302");
        assert_eq!(count(&["orchard", "2", "1"], false).unwrap(), "7");
        assert!(count(&["moon"], false).unwrap_err().sentence.contains("moon"));
    }

    #[test]
    fn fully_read_feeds_are_summed_but_not_listed() {
        let value: Value = serde_json::from_str(&count(&["1", "2"], true).unwrap()).unwrap();
        assert_eq!((&value["unread"], &value["starred"]), (&7.into(), &3.into()));
        let feed = json!({
            "number": 1, "title": "Orchard", "url": "https://a.example/", "tags": [], "unread": 7
        });
        assert_eq!(value["feeds"], json!([feed]));
    }
}
