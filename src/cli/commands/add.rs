//! `backissue add`: finds the feed of a site, subscribes, polls it at once.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use indicatif::ProgressBar;

use super::history;
use crate::cli::Done;
use crate::cli::args::AddArgs;
use crate::cli::args::Options;
use crate::cli::session;
use crate::cli::session::Failure;
use crate::cli::session::at_rest;
use crate::cli::session::block_on;
use crate::engine::backfill::walks;
use crate::engine::feeds::subscribe::Added;
use crate::engine::feeds::subscribe::Addition;
use crate::engine::feeds::subscribe::Wanted;
use crate::engine::model::Model;
use crate::engine::msg::Msg;
use crate::io::{clock, console};
use crate::view;

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &AddArgs) -> Result<Done, Failure> {
    block_on(async {
        let mut runtime = session::quiet(options)?;
        for (id, address) in (1_u32..).zip(&args.urls) {
            runtime.tell(Msg::Add(Wanted {
                id,
                address: address.clone(),
                title: args.title.clone(),
                tags: args.tags.clone(),
                unasked: args.no_poll,
                ..Wanted::default()
            }));
        }
        let bar = bar();
        let mut first = BTreeMap::new();
        runtime
            .until(|model| {
                bar.suspend(|| tell_ready(model, &mut first));
                bar.set_message(progress(model));
                at_rest(model)
            })
            .await;
        bar.finish_and_clear();
        let mut failures = Vec::new();
        for (id, addition) in &runtime.model.additions {
            match &addition.ended {
                Some(Ok(added)) if !first.contains_key(id) => {
                    console::put(&told(&runtime.model, addition, added));
                }
                Some(Ok(_)) => {}
                Some(Err(why)) => failures.push(why.clone()),
                None => failures
                    .push(format!("interrupted before {} was read", addition.wanted.address)),
            }
        }
        tell_brought(&runtime.model, &first);
        if let Some(why) = runtime.model.not_saved.take() {
            return Err(Failure::new(why));
        }
        runtime.stop()?;
        if let [only] = failures.as_slice()
            && args.urls.len() == 1
        {
            return Err(Failure::new(only));
        }
        for why in &failures {
            console::tell(&format!("backissue: {why}"));
        }
        match failures.len() {
            0 => Ok(Done::All),
            some if some < args.urls.len() => Ok(Done::WithFailures),
            _ => Err(Failure::new("none of the addresses could be subscribed to")),
        }
    })
}

/// Says what was subscribed to as soon as it was read, once each; keeps how many entries there were then.
fn tell_ready(model: &Model, first: &mut BTreeMap<u32, u32>) {
    for (id, addition) in &model.additions {
        let Some(Ok(added)) = &addition.ended else { continue };
        let Some(feed) = model.feeds.get(&added.feed) else { continue };
        let is_read = feed.state.facts.last_ok.is_some() && !model.busy.contains_key(&added.feed);
        if (is_read || added.known) && !first.contains_key(id) {
            console::put(&told(model, addition, added));
            first.insert(*id, feed.counters.total);
        }
    }
}

/// Says what the archives brought, and how whole the history is.
fn tell_brought(model: &Model, first: &BTreeMap<u32, u32>) {
    for (id, before) in first {
        let Some(Ok(added)) = model.additions.get(id).and_then(|one| one.ended.as_ref()) else {
            continue;
        };
        let Some(feed) = model.feeds.get(&added.feed).filter(|_| !added.known) else { continue };
        let name = if first.len() > 1 { format!("{}  ", feed.key) } else { String::new() };
        let brought = match feed.counters.total.saturating_sub(*before) {
            0 => String::new(),
            1 => "1 older entry; ".to_owned(),
            more => format!("{more} older entries; "),
        };
        console::put(&format!("  {name}{brought}{}", history::standing(model, feed)));
    }
}

/// How far the walks are that are under way.
fn progress(model: &Model) -> String {
    let walks = model.feeds.values().filter_map(|feed| {
        let how_far = walks::progress(model, feed)?;
        Some(format!("{}: {how_far}", feed.record.shown_title()))
    });
    walks.collect::<Vec<_>>().join(" · ")
}

fn bar() -> ProgressBar {
    if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() }
}

/// What came of an address: which feeds were found, which was taken, how much came, when it is polled next.
fn told(model: &Model, addition: &Addition, added: &Added) -> String {
    let Some(feed) = model.feeds.get(&added.feed) else { return String::new() };
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
    if let Some(next) = feed.plan.next_poll {
        let why = feed.plan.settled_by.word().replace('_', " ");
        lines.push(format!("  next poll {} ({why})", view::relative(next, clock::now())));
    }
    lines.join("\n")
}
