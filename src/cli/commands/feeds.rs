//! `backissue feeds` lists the subscriptions with their entry counts, state and next poll; `backissue unread` prints the number of
//! unread entries, fast enough for a status bar that runs it every few seconds.

use backissue_core::feed::Kind;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::{Counters, FeedKey};
use backissue_core::simulate::Statistics;
use backissue_core::words;
use chrono::{DateTime, Datelike, Utc};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::args::FeedsArgs;
use crate::cli::args_changes::UnreadArgs;
use crate::cli::context::{CommandContext, JsonList};
use crate::cli::session::Failure;
use crate::cli::{Done, json, json as pieces, lookup};
use crate::engine::entries::interest::ReadingCounts;
use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord, unread_of};
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::search_query::is_tagged;
use crate::engine::state::Engine;
use crate::io::store::Store;
use crate::io::{clock, console};

/// Runs `backissue feeds`.
pub(in crate::cli) fn run(context: &CommandContext, args: &FeedsArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let engine = context.engine()?;
    let wanted = Wanted::new(args);
    if args.removed {
        return list_removed(context, &engine, &wanted, args.json);
    }
    let feeds: Vec<&Subscription> =
        engine.feeds.values().filter(|feed| wanted.takes(feed)).collect();
    if args.stats {
        return tell_statistics(context, &engine, &feeds, args.json);
    }
    if args.json {
        let done = list_in_json(context, &engine, &feeds, now)?;
        return Ok(done.and(tell_lost(context)?));
    }
    if engine.feeds.is_empty() {
        context.tell("no subscriptions yet; 'backissue add URL' adds one");
    } else if feeds.is_empty() {
        context.tell("no subscription matches; 'backissue feeds' lists them all");
    }
    for feed in feeds {
        context.put(&feed_line(feed, engine.settings.poll.automatic, now));
    }
    tell_lost(context)
}

/// Reports how many subscriptions are missing from the list because their records in the store are unreadable.
pub(in crate::cli) fn tell_lost(context: &CommandContext) -> Result<Done, Failure> {
    let lost = context.look(|store| store.count_lost())?;
    Ok(context.tell_left_out(lost, "subscription", "subscriptions"))
}

fn tell_statistics(
    context: &CommandContext,
    engine: &Engine,
    feeds: &[&Subscription],
    as_json: bool,
) -> Result<Done, Failure> {
    let now = clock::now();
    let (mut known, mut read) = (Vec::new(), Vec::new());
    let today = day_of(now, engine.zone).num_days_from_ce();
    for feed in feeds {
        let key = feed.key;
        let publications = context.look(move |store| store.publications(key))?;
        known.push((feed.state.format, &feed.state.facts.hints, publications));
        if !engine.interest.is_empty() {
            let (requests_a_week, bytes_a_week) = feed.cost_a_week(now);
            read.push(FeedReading {
                number: key,
                title: feed.record.shown_title().to_owned(),
                counts: engine.interest.of(key, today),
                requests_a_week,
                bytes_a_week,
            });
        }
    }
    let statistics = Statistics::of(known, now);
    if as_json {
        let mut value = json!(statistics);
        if let (Some(fields), false) = (value.as_object_mut(), read.is_empty()) {
            fields.insert("reading".to_owned(), json!(read));
        }
        context.put(&json::text(&value));
    } else {
        for line in statistics_lines(&statistics).into_iter().chain(reading_lines(&read)) {
            context.put(&line);
        }
    }
    tell_lost(context)
}

fn statistics_lines(statistics: &Statistics) -> Vec<String> {
    let Statistics { feeds, silent, with_interval, .. } = statistics;
    let row = |name: &str, feeds: &usize| format!("{name:22}{feeds:>6}");
    let mut lines = vec![row("subscriptions", feeds), row("stating an interval", with_interval)];
    lines.extend([String::new(), format!("{:22}{:>6}", "publishes", "feeds")]);
    let bands = statistics.intervals.iter();
    lines.extend(bands.map(|band| row(band.name, &band.feeds)));
    lines.push(row("nothing in 8 weeks", silent));
    #[expect(clippy::cast_possible_truncation, reason = "at most eight weeks")]
    let median = statistics.median_interval_minutes.map(|minutes| (minutes * 60.0).round() as i64);
    lines.extend(median.map(|median| format!("median interval: {}", words::span_words(median))));
    lines.push(String::new());
    let head = ["feeds", "interval", "sy:*", "ttl", "skip*", "refreshRate"].map(str::to_owned);
    lines.push(table_row("format", &head));
    for row in statistics.formats.iter().filter(|row| row.feeds > 0) {
        let numbers = [row.feeds, row.interval, row.sy, row.ttl, row.skip, row.refresh_rate];
        let name = if row.format == Kind::None.word() { "unknown" } else { row.format };
        lines.push(table_row(name, &numbers.map(|number| number.to_string())));
    }
    lines
}

/// How many entries of a feed were read in eight weeks, and what its polls cost.
#[derive(Debug, Serialize)]
struct FeedReading {
    number: FeedKey,
    title: String,
    #[serde(flatten)]
    counts: ReadingCounts,
    requests_a_week: u64,
    bytes_a_week: u64,
}

/// Formats a table of what was read of each feed. Returns no lines if nothing was counted.
fn reading_lines(read: &[FeedReading]) -> Vec<String> {
    if read.is_empty() {
        return Vec::new();
    }
    let row = |cells: [String; 8], title: &str| {
        let cells = cells.iter().fold(String::new(), |line, cell| format!("{line}{cell:>9}"));
        format!("{cells}  {title}")
    };
    let head = ["shown", "opened", "to end", "starred", "browser", "skipped", "requests", "bytes"];
    let mut lines = vec![
        String::new(),
        "read here in eight weeks, and requests and bytes a week".to_owned(),
        row(head.map(str::to_owned), "feed"),
    ];
    lines.extend(read.iter().map(|feed| {
        let ReadingCounts { shown, opened, finished, starred, browsed, skipped } = feed.counts;
        let counts = [shown, opened, finished, starred, browsed, skipped].map(u64::from);
        let [shown, opened, finished, starred, browsed, skipped] =
            counts.map(|count| count.to_string());
        let (requests, bytes) =
            (feed.requests_a_week.to_string(), words::byte_words(feed.bytes_a_week));
        row([shown, opened, finished, starred, browsed, skipped, requests, bytes], &feed.title)
    }));
    lines
}

fn table_row(name: &str, cells: &[String]) -> String {
    cells.iter().fold(format!("{name:9}"), |line, cell| format!("{line}{cell:>13}"))
}

fn list_in_json(
    context: &CommandContext,
    engine: &Engine,
    feeds: &[&Subscription],
    now: DateTime<Utc>,
) -> Result<Done, Failure> {
    let (mut list, mut damaged) = (JsonList::new(context), 0_usize);
    for feed in feeds {
        if context.is_closed() {
            return Ok(Done::All);
        }
        let key = feed.key;
        let (log, unreadable) = context.look(move |store| store.readable_poll_log(key))?;
        damaged = damaged.saturating_add(unreadable);
        list.push(&json::feed(engine, feed, &log, now));
    }
    list.end();
    Ok(context.tell_left_out(damaged, "poll log record", "poll log records"))
}

/// Lists the feeds unsubscribed within the last week, most recent first.
fn list_removed(
    context: &CommandContext,
    engine: &Engine,
    wanted: &Wanted,
    json: bool,
) -> Result<Done, Failure> {
    let now = clock::now();
    let mut removed = recently_removed(engine, now);
    removed.retain(|(feed, _)| wanted.takes(feed));
    if json {
        let mut list = JsonList::new(context);
        for (feed, until) in removed {
            list.push(&json::removed_feed(feed, until));
        }
        list.end();
        return Ok(Done::All);
    }
    if removed.is_empty() {
        context.tell("no such feed; feeds you unsubscribe from are kept for a week");
    }
    for (feed, until) in removed {
        let left = words::relative(until, now);
        context.put(&format!(
            "{:>5}  {:<6} entries  deleted {left:<8}  {}  {}",
            feed.key.to_string(),
            feed.counters.total,
            feed.record.shown_title(),
            feed.record.url,
        ));
    }
    Ok(Done::All)
}

/// The conditions that a subscription must meet to be listed.
#[derive(Debug, Default)]
struct Wanted {
    /// Words that must occur in the title, address or tags, in lowercase.
    words: Vec<String>,
    /// Requested tags, in lowercase.
    tags: Vec<String>,
    unread: bool,
    failing: bool,
}

impl Wanted {
    fn new(args: &FeedsArgs) -> Self {
        let words = args.words.iter().flat_map(|typed| typed.split_whitespace());
        Self {
            words: words.map(str::to_lowercase).collect(),
            tags: args.tags.iter().map(|tag| tag.trim().to_lowercase()).collect(),
            unread: args.unread,
            failing: args.failing,
        }
    }

    fn takes(&self, feed: &Subscription) -> bool {
        let record = &feed.record;
        let has = |text: &str, word: &str| text.to_lowercase().contains(word);
        let has_word = |word: &String| {
            has(record.shown_title(), word)
                || has(&record.url, word)
                || record.tags.iter().any(|tag| has(tag, word))
        };
        let fails = || !matches!(json::state_word(feed), "ok" | "new");
        self.words.iter().all(has_word)
            && (self.tags.is_empty() || self.tags.iter().any(|tag| is_tagged(feed, tag)))
            && (!self.unread || feed.counters.unread > 0)
            && (!self.failing || fails())
    }
}

fn feed_line(feed: &Subscription, automatic: bool, now: DateTime<Utc>) -> String {
    let next = match feed.plan.next_poll {
        Some(_) if !automatic => "by hand".to_owned(),
        Some(at) => words::coming(at, now),
        None => "never".to_owned(),
    };
    let trouble = feed.state.trouble.as_deref().map(|why| format!("  ({why})")).unwrap_or_default();
    let tags = feed.record.tags.iter().flat_map(|tag| ["  #", tag]).collect::<String>();
    format!(
        "{:>5}  {:>5} unread of {:<6} {:<8} next {:<8} {}  {}{tags}{trouble}",
        feed.key.to_string(),
        feed.counters.unread,
        feed.counters.total,
        json::state_word(feed),
        next,
        feed.record.shown_title(),
        feed.record.url,
    )
}

/// Runs `backissue unread` in the process that has the store open.
pub(in crate::cli) fn run_unread(
    context: &CommandContext,
    args: &UnreadArgs,
) -> Result<Done, Failure> {
    let (typed, in_json) = (args.feeds.clone(), args.json);
    let text = context.inspect(move |engine| {
        let feeds = engine.feeds.values();
        count_unread(feeds.map(|feed| (feed.key, &feed.record, feed.counters)), &typed, in_json)
    })??;
    context.put(&text);
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
    // A quiet feed counts if the user named it.
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
    use backissue_core::feed::Hints;
    use backissue_core::history::FeedKey;
    use backissue_core::schedule::learning::Publications;

    use super::*;
    use crate::engine::feeds::subscription::SubscriptionRecord;

    fn orchard() -> Subscription {
        let record = SubscriptionRecord {
            url: "https://notes.example/feed".into(),
            title: Some("Orchard Notes".into()),
            tags: vec!["Garden/Fruit".into()],
            ..SubscriptionRecord::default()
        };
        Subscription::new(FeedKey(1), record)
    }

    fn takes(words: &[&str], tags: &[&str]) -> bool {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let (words, tags) = (owned(words), owned(tags));
        Wanted { words, tags, ..Wanted::default() }.takes(&orchard())
    }

    #[test]
    fn all_words_must_occur_in_title_address_or_tags() {
        assert!(takes(&[], &[]));
        assert!(takes(&["orchard", "notes.example", "fruit"], &[]));
        assert!(!takes(&["orchard", "harbour"], &[]));
    }

    #[test]
    fn statistics_are_two_tables() {
        let hints = Hints { refresh_rate_ms: Some(900_000), ..Hints::default() };
        let times = Publications::of_minutes((0..48).map(|hour| 6000 + hour * 60), 6000, 8880);
        let now = DateTime::from_timestamp(8880 * 60, 0).expect("a time");
        let lines = statistics_lines(&Statistics::of([(Kind::Atom, &hints, times)], now));
        let has = |line: &str| lines.iter().any(|other| other == line);
        assert!(has("every 1 to 6 hours         1") && has("median interval: 1h"), "{lines:#?}");
        assert!(
            has(&table_row("atom", &["1", "0", "0", "0", "0", "1"].map(str::to_owned))),
            "{lines:#?}"
        );
    }

    #[test]
    fn what_was_read_is_a_table_if_anything_was_counted() {
        assert!(reading_lines(&[]).is_empty());
        let counts =
            ReadingCounts { shown: 40, opened: 2, skipped: 38, ..ReadingCounts::default() };
        let lines = reading_lines(&[FeedReading {
            number: FeedKey(1),
            title: "Orchard Notes".into(),
            counts,
            requests_a_week: 84,
            bytes_a_week: 1_200_000,
        }]);
        let [.., head, row] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(head.ends_with("requests    bytes  feed"), "{head}");
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["40", "2", "0", "0", "0", "38", "84", "1.2", "MB", "Orchard", "Notes"]);
    }

    #[test]
    fn tag_filter_includes_children_but_not_similar_names() {
        assert!(takes(&[], &["garden"]) && takes(&[], &["coast", "garden/fruit"]));
        assert!(!takes(&[], &["gard"]) && !takes(&["harbour"], &["garden"]));
    }

    #[test]
    fn healthy_and_read_feeds_are_filtered_out() {
        let mut feed = orchard();
        let unread = Wanted { unread: true, ..Wanted::default() };
        let failing = Wanted { failing: true, ..Wanted::default() };
        assert!(!unread.takes(&feed) && !failing.takes(&feed));
        feed.counters.unread = 1;
        feed.state.facts.failures = 2;
        assert!(unread.takes(&feed) && failing.takes(&feed));
    }

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
