//! `backissue add`: finds the feed of a site, subscribes, polls it at once.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use indicatif::ProgressBar;

use super::history;
use crate::cli::Done;
use crate::cli::args::{AddArgs, Options};
use crate::cli::session::{self, Failure, block_on};
use crate::engine::backfill::walks;
use crate::engine::feeds::addition::{Added, Addition, Subscribe};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::plans;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::{clock, console};
use crate::schedule;
use crate::view;

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &AddArgs) -> Result<Done, Failure> {
    block_on(async {
        let mut runtime = session::start_quietly(options)?;
        for (id, address) in (1_u32..).zip(&args.urls) {
            runtime.ask(Request::Subscribe(Box::new(Subscribe {
                id,
                address: address.clone(),
                title: args.title.clone(),
                tags: args.tags.clone(),
                unasked: args.no_poll,
                ..Subscribe::default()
            })));
        }
        let bar = new_bar();
        let mut first = BTreeMap::new();
        runtime
            .until(|program| {
                let engine = &program.engine;
                bar.suspend(|| tell_ready(engine, &mut first));
                bar.set_message(describe_progress(engine));
                engine.is_at_rest()
            })
            .await;
        bar.finish_and_clear();
        let mut failures = Vec::new();
        for (id, addition) in &runtime.program.engine.additions {
            match &addition.ended {
                Some(Ok(added)) if !first.contains_key(id) => {
                    console::put(&added_words(&runtime.program.engine, addition, added));
                }
                Some(Ok(_)) => {}
                Some(Err(why)) => failures.push(why.clone()),
                None => failures
                    .push(format!("interrupted before {} was read", addition.wanted.address)),
            }
        }
        tell_brought(&runtime.program.engine, &first);
        let unread = unread_feeds(&runtime.program.engine);
        if let Some(why) = runtime.program.engine.not_saved.take() {
            return Err(Failure::new(why));
        }
        runtime.stop()?;
        if let [only] = failures.as_slice()
            && args.urls.len() == 1
        {
            return Err(Failure::new(only));
        }
        for why in failures.iter().chain(&unread) {
            console::tell(&format!("backissue: {why}"));
        }
        match failures.len() {
            0 if unread.is_empty() => Ok(Done::All),
            0 => Ok(Done::WithFailures),
            some if some < args.urls.len() => Ok(Done::WithFailures),
            _ => Err(Failure::new("none of the addresses could be subscribed to")),
        }
    })
}

/// Says what was subscribed to as soon as it was read, once each; keeps how many entries there were then.
fn tell_ready(engine: &Engine, first: &mut BTreeMap<u32, u32>) {
    for (id, addition) in &engine.additions {
        let Some(Ok(added)) = &addition.ended else { continue };
        let Some(feed) = engine.feeds.get(&added.feed) else { continue };
        let is_read = feed.state.facts.last_ok.is_some() && !engine.polls.contains_key(&added.feed);
        if (is_read || added.known) && !first.contains_key(id) {
            console::put(&added_words(engine, addition, added));
            first.insert(*id, feed.counters.total);
        }
    }
}

/// Says what the archives brought, how whole the history is, and when each is polled next: as learned by now, so that
/// `feeds` says the same.
fn tell_brought(engine: &Engine, first: &BTreeMap<u32, u32>) {
    for (id, before) in first {
        let Some(Ok(added)) = engine.additions.get(id).and_then(|one| one.ended.as_ref()) else {
            continue;
        };
        let Some(feed) = engine.feeds.get(&added.feed).filter(|_| !added.known) else { continue };
        let name = if first.len() > 1 { format!("{}  ", feed.key) } else { String::new() };
        let brought = match feed.counters.total.saturating_sub(*before) {
            0 => String::new(),
            1 => "1 older entry; ".to_owned(),
            more => format!("{more} older entries; "),
        };
        console::put(&format!("  {name}{brought}{}", history::describe_standing(engine, feed)));
        if let Some(next) = next_words(feed) {
            console::put(&format!("  {name}{next}"));
        }
    }
}

/// What stands in the way of feeds that were subscribed to and could not be read.
fn unread_feeds(engine: &Engine) -> Vec<String> {
    let added = engine.additions.values().filter(|addition| !addition.wanted.unasked);
    let added = added.filter_map(|addition| addition.ended.as_ref()?.as_ref().ok());
    let unread = added.filter(|added| !added.known).filter_map(|added| {
        let feed = engine.feeds.get(&added.feed)?;
        let why = feed.state.trouble.as_deref()?;
        Some(format!("'{}' was subscribed to but not read: {why}", feed.record.shown_title()))
    });
    unread.collect()
}

/// How far the walks are that are under way.
fn describe_progress(engine: &Engine) -> String {
    let walks = engine.feeds.values().filter_map(|feed| {
        let how_far = walks::progress(engine, feed)?;
        Some(format!("{}: {how_far}", feed.record.shown_title()))
    });
    walks.collect::<Vec<_>>().join(" · ")
}

fn new_bar() -> ProgressBar {
    if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() }
}

/// What came of an address: which feeds were found, which was taken, how much came, when it is polled next.
fn added_words(engine: &Engine, addition: &Addition, added: &Added) -> String {
    let Some(feed) = engine.feeds.get(&added.feed) else { return String::new() };
    let title = feed.record.shown_title();
    if added.known {
        return format!("already subscribed: {} '{title}' {}", feed.key, feed.record.url);
    }
    let mut lines = Vec::new();
    if addition.found.len() > 1 {
        lines.push(format!(
            "{} names {} feeds; the first was taken:",
            addition.wanted.address,
            addition.found.len()
        ));
        lines.extend(addition.found.iter().map(|candidate| {
            format!("  {}  {}", candidate.url, candidate.title.as_deref().unwrap_or_default())
        }));
    }
    lines.push(format!("subscribed: {} '{title}' {}", feed.key, feed.record.url));
    if !addition.wanted.unasked {
        lines.push(format!("  {} entries", feed.counters.total));
    }
    if addition.wanted.unasked {
        lines.extend(next_words(feed).map(|next| format!("  {next}")));
    }
    lines.join("\n")
}

/// When a feed is polled next, how often, and what settled that.
fn next_words(feed: &Subscription) -> Option<String> {
    let next = view::relative(feed.plan.next_poll?, clock::now());
    let why = plans::settled_words(feed.plan.settled_by);
    let placed = schedule::places_polls(&feed.state.facts);
    let every = feed
        .plan
        .binding_seconds
        .filter(|_| !placed)
        .map(|seconds| format!(", {}", schedule::about_interval_words(i64::from(seconds))));
    Some(format!("next poll {next}{} ({why})", every.unwrap_or_default()))
}
