//! `backissue add`: finds the feed of a site, subscribes to it and polls it at once.

use std::collections::{BTreeMap, BTreeSet};

use super::{accounts, history};
use crate::cli::Done;
use crate::cli::args::AddArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::backfill::walks;
use crate::engine::feeds::addition::{Added, Addition, Subscribe};
use crate::engine::feeds::setting_row::FeedSettings;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::request::Request;
use crate::engine::settings::{Credentials, ONLY_BY_HAND};
use crate::engine::state::{Engine, is_under_way};
use crate::io::clock;
use crate::io::loop_handle::Waited;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::{schedule, words};

/// Runs `backissue add`.
pub(in crate::cli) fn run(context: &CommandContext, args: &AddArgs) -> Result<Done, Failure> {
    if let Some(name) = &args.account {
        accounts::check_name(context, name)?;
    }
    let (mut ids, mut is_login_lost) = (Vec::new(), false);
    for address in &args.urls {
        let (id, login) = ask_for(context, address, args)?;
        ids.push(id);
        if let Some(login) = login {
            is_login_lost |= context.tell_login(login)?;
        }
    }
    let (watched, mut first, mut shown) = (ids.clone(), BTreeMap::new(), None);
    let mut known_first = BTreeMap::new();
    let waited = context.follow(
        move |engine, _, notes| {
            for (id, line, entries) in find_ready(engine, &watched) {
                if first.insert(id, entries).is_none() {
                    notes.push(AddNote::Ready(id, line, entries));
                }
            }
            let feeds = added_feeds(engine, &watched);
            let progress = describe_progress(engine, &feeds);
            if progress != shown {
                notes.extend(progress.clone().map(AddNote::Progress));
                shown = progress;
            }
            watched.iter().all(|id| has_ended(engine, *id)) && !is_under_way(engine, &feeds)
        },
        |note| match note {
            AddNote::Ready(id, line, entries) => {
                context.put(&line);
                known_first.insert(id, entries);
            }
            AddNote::Progress(text) => context.show_progress(text, 0, 0),
        },
    )?;
    context.end_progress();
    let left = if waited == Waited::Cancelled { leave(context, &ids)? } else { Vec::new() };
    context.wait_until_subscribed()?;
    let mut done = report(context, args, &ids, &left, &known_first)?;
    if let Some(name) = args.account.as_ref().filter(|_| !context.is_closed()) {
        done = done.and(accounts::sync_one(context, name)?);
    }
    Ok(if is_login_lost { Done::WithFailures } else { done })
}

/// Stops the additions that have not finished and returns their numbers.
fn leave(context: &CommandContext, ids: &[u32]) -> Result<Vec<u32>, Failure> {
    let asked = ids.to_vec();
    let (left, feeds) = context.inspect(move |engine| {
        let left: Vec<u32> = asked.iter().copied().filter(|id| !has_ended(engine, *id)).collect();
        (left, new_feeds(engine, &asked))
    })?;
    for &addition in &left {
        context.ask(Request::Choose { addition, url: None })?;
    }
    context.ask(Request::StopPolls(feeds.into_iter().collect()))?;
    Ok(left)
}

/// Notes that the main loop sends while addresses are added.
enum AddNote {
    /// The feed of an address was read: the number of the addition, the text to print, and the number of entries at that time.
    Ready(u32, String, u32),
    /// Progress of the archive walks.
    Progress(String),
}

/// Requests one subscription. Returns the number of the addition and the login that was removed from the address.
fn ask_for(
    context: &CommandContext,
    address: &str,
    args: &AddArgs,
) -> Result<(u32, Option<Credentials>), Failure> {
    let wanted = Subscribe {
        address: address.to_owned(),
        title: args.title.clone(),
        tags: args.tags.clone(),
        unasked: args.no_poll,
        feed_settings: FeedSettings { account: args.account.clone(), ..FeedSettings::default() },
        ..Subscribe::default()
    };
    context.ask_about(
        move |engine| {
            let id = engine.next_addition();
            (Request::Subscribe(Box::new(Subscribe { id, ..wanted })), id)
        },
        |engine, _, id| (id, engine.additions.get(&id).and_then(|one| one.login.clone())),
    )
}

fn has_ended(engine: &Engine, id: u32) -> bool {
    engine.additions.get(&id).is_none_or(|addition| addition.ended.is_some())
}

/// Returns the feeds that these additions have found so far.
fn added_feeds(engine: &Engine, ids: &[u32]) -> BTreeSet<FeedKey> {
    let additions = ids.iter().filter_map(|id| engine.additions.get(id)?.ended.as_ref());
    additions.filter_map(|ended| Some(ended.as_ref().ok()?.feed)).collect()
}

/// Returns the added feeds that are new subscriptions.
fn new_feeds(engine: &Engine, ids: &[u32]) -> BTreeSet<FeedKey> {
    let additions = ids.iter().filter_map(|id| engine.additions.get(id)?.ended.as_ref());
    let added = additions.filter_map(|ended| ended.as_ref().ok());
    added.filter(|added| !added.known).map(|added| added.feed).collect()
}

/// Prints the results of the additions and the reasons for failures.
fn report(
    context: &CommandContext,
    args: &AddArgs,
    ids: &[u32],
    left: &[u32],
    first: &BTreeMap<u32, u32>,
) -> Result<Done, Failure> {
    let engine = context.engine()?;
    let additions: Vec<(u32, &Addition)> =
        ids.iter().filter_map(|id| Some((*id, engine.additions.get(id)?))).collect();
    let (mut failures, mut unread_addresses) = (Vec::new(), Vec::new());
    for (id, addition) in &additions {
        match &addition.ended {
            Some(Ok(added)) if !first.contains_key(id) => {
                context.put(&added_words(&engine, addition, added));
            }
            Some(Ok(_)) => {}
            Some(Err(why)) if !left.contains(id) => failures.push(why.clone()),
            Some(Err(_)) | None => unread_addresses.push(&addition.wanted.address),
        }
    }
    match unread_addresses.as_slice() {
        [] => {}
        [only] => failures.push(format!("interrupted before {only} was read")),
        [first, ..] => failures.push(format!(
            "interrupted before {first} and {} were read",
            counted_words(unread_addresses.len() - 1, "more address", "more addresses")
        )),
    }
    tell_brought(context, &engine, first);
    let unread = unread_feeds(&engine, &additions);
    if let [only] = failures.as_slice()
        && args.urls.len() == 1
    {
        return Err(Failure::new(only));
    }
    for why in failures.iter().chain(&unread) {
        context.tell(&format!("backissue: {why}"));
    }
    match failures.len() {
        0 if unread.is_empty() => Ok(Done::All),
        0 => Ok(Done::WithFailures),
        some if some < args.urls.len() => Ok(Done::WithFailures),
        _ => Err(Failure::new("could not subscribe to any of the addresses")),
    }
}

/// Returns the additions whose feed has been read: the number of the addition, the text to print, and the number of entries.
fn find_ready(engine: &Engine, ids: &[u32]) -> Vec<(u32, String, u32)> {
    let ready = ids.iter().filter_map(|id| {
        let addition = engine.additions.get(id)?;
        let added = addition.ended.as_ref()?.as_ref().ok()?;
        let feed = engine.feeds.get(&added.feed)?;
        let is_read = feed.state.facts.last_ok.is_some() && !engine.polls.contains_key(&added.feed);
        (is_read || added.known)
            .then(|| (*id, added_words(engine, addition, added), feed.counters.total))
    });
    ready.collect()
}

/// Prints what the archives added, how complete each history is, and the time of the next poll. The time comes from the plan as
/// learned so far, so that `backissue feeds` shows the same time.
fn tell_brought(context: &CommandContext, engine: &Engine, first: &BTreeMap<u32, u32>) {
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
        context.put(&format!("  {name}{brought}{}", history::describe_standing(engine, feed)));
        if let Some(next) = next_words(engine, feed) {
            context.put(&format!("  {name}{next}"));
        }
    }
}

/// Returns a sentence for each newly subscribed feed that could not be read, with the reason.
fn unread_feeds(engine: &Engine, additions: &[(u32, &Addition)]) -> Vec<String> {
    let added = additions.iter().filter(|(_, addition)| !addition.wanted.unasked);
    let added = added.filter_map(|(_, addition)| addition.ended.as_ref()?.as_ref().ok());
    let unread = added.filter(|added| !added.known).filter_map(|added| {
        let feed = engine.feeds.get(&added.feed)?;
        let why = feed.state.trouble.as_deref()?;
        Some(format!(
            "subscribed to '{}', but it could not be read: {why}",
            feed.record.shown_title()
        ))
    });
    unread.collect()
}

/// Describes the progress of these feeds' archive walks. `None` if no walk is running.
fn describe_progress(engine: &Engine, feeds: &BTreeSet<FeedKey>) -> Option<String> {
    let walks = feeds.iter().filter_map(|feed| engine.feeds.get(feed)).filter_map(|feed| {
        let how_far = walks::progress(engine, feed)?;
        Some(format!("{}: {how_far}", feed.record.shown_title()))
    });
    Some(walks.collect::<Vec<_>>().join(" · ")).filter(|text| !text.is_empty())
}

/// Describes an addition: the feeds found, the feed chosen, the number of entries, and the next poll.
fn added_words(engine: &Engine, addition: &Addition, added: &Added) -> String {
    let Some(feed) = engine.feeds.get(&added.feed) else { return String::new() };
    let title = feed.record.shown_title();
    if added.known {
        let known = format!("already subscribed: {} '{title}' {}", feed.key, feed.record.url);
        let wanted = addition.wanted.title.as_deref().filter(|wanted| *wanted != title);
        let how = |wanted| {
            format!(
                "{known}\n  its title is unchanged; to change it: backissue set {} --title '{wanted}'",
                feed.key
            )
        };
        return wanted.map_or(known.clone(), how);
    }
    let mut lines = Vec::new();
    if addition.found.len() > 1 {
        let is_first = addition.found.first().is_some_and(|first| first.url == feed.record.url);
        let taken = if is_first { "the first" } else { &feed.record.url };
        lines.push(format!(
            "{} offers {} feeds; subscribed to {taken}:",
            addition.wanted.address,
            addition.found.len()
        ));
        lines.extend(addition.found.iter().map(|candidate| {
            format!("  {}  {}", candidate.url, candidate.title.as_deref().unwrap_or_default())
        }));
    }
    lines.push(format!("subscribed: {} '{title}' {}", feed.key, feed.record.url));
    lines.extend(
        feed.record.former.last().map(|former| format!("  {} is one of its archives", former.url)),
    );
    if !addition.wanted.unasked {
        let entries = counted_words(feed.counters.total, "entry", "entries");
        lines.push(format!("  {entries}"));
    }
    if addition.wanted.unasked {
        lines.extend(next_words(engine, feed).map(|next| format!("  {next}")));
    }
    lines.join("\n")
}

/// Describes the next poll, the interval, and what determined it.
fn next_words(engine: &Engine, feed: &Subscription) -> Option<String> {
    if !engine.settings.poll.automatic {
        return Some(ONLY_BY_HAND.to_owned());
    }
    let next = words::coming(feed.plan.next_poll?, clock::now());
    let why = feed.plan.settled_by.in_words();
    let placed = schedule::places_polls(&feed.state.facts);
    let every = feed
        .plan
        .binding_seconds
        .filter(|_| !placed)
        .map(|seconds| format!(", {}", words::about_interval_words(i64::from(seconds))));
    Some(format!("next poll {next}{} ({why})", every.unwrap_or_default()))
}
