//! `backissue feeds`: the subscriptions with their sums, their state and their next poll.

use serde_json::Value;

use crate::cli::args::JsonArgs;
use crate::cli::desk::Desk;
use crate::cli::session::Failure;
use crate::cli::{Done, json};
use crate::engine::feeds::subscription::Subscription;
use crate::io::clock;
use crate::view;

/// Runs the command.
pub(in crate::cli) fn run(desk: &Desk, args: &JsonArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let engine = desk.engine()?;
    if args.json {
        let mut feeds = Vec::new();
        for feed in engine.feeds.values() {
            let key = feed.key;
            let log = desk.look(move |store| store.poll_log(key))?;
            feeds.push(json::feed(&engine, feed, &log, now));
        }
        desk.put(&json::text(&Value::Array(feeds)));
        return Ok(Done::All);
    }
    if engine.feeds.is_empty() {
        desk.tell("no subscriptions yet; 'backissue add URL' makes one");
    }
    for feed in engine.feeds.values() {
        desk.put(&feed_line(feed, now));
    }
    Ok(Done::All)
}

fn feed_line(feed: &Subscription, now: chrono::DateTime<chrono::Utc>) -> String {
    let next = feed.plan.next_poll.map_or_else(|| "never".to_owned(), |at| view::relative(at, now));
    let trouble = feed.state.trouble.as_deref().map(|why| format!("  ({why})")).unwrap_or_default();
    format!(
        "{:>5}  {:>5} unread of {:<6} {:<8} next {:<8} {}  {}{trouble}",
        feed.key.to_string(),
        feed.counters.unread,
        feed.counters.total,
        json::state_word(feed),
        next,
        feed.record.shown_title(),
        feed.record.url,
    )
}
