//! `backissue unsubscribe` and `backissue subscribe-again`: remove subscriptions and restore them. An unknown name does not keep the
//! command from doing its work for the others.

use super::UNDO_HINT;
use crate::cli::args_changes::{FeedsNamed, FeedsRemoved};
use crate::cli::context::{CommandContext, confirmed};
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::clock;
use backissue_core::history::FeedKey;

/// Runs `backissue subscribe-again`.
pub(in crate::cli) fn take_back(desk: &CommandContext, args: &FeedsNamed) -> Result<Done, Failure> {
    let (typed, now) = (args.feeds.clone(), clock::now());
    let (feeds, unknown) = desk.inspect(move |engine| {
        let removed = recently_removed(engine, now);
        let records = removed.iter().map(|(feed, _)| (feed.key, &feed.record));
        lookup::find_each(&records, &typed, lookup::REMOVED)
    })?;
    for &feed in &feeds {
        for sentence in desk.change(Request::SubscribeAgain(feed))? {
            desk.put(&sentence);
        }
    }
    tell_unknown(desk, &feeds, &unknown)
}

/// Runs `backissue unsubscribe`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &FeedsRemoved) -> Result<Done, Failure> {
    let typed = args.named.feeds.clone();
    let (feeds, unknown) = desk.inspect(move |engine| {
        let records = engine.feeds.values().map(|feed| (feed.key, &feed.record));
        lookup::find_each(&records, &typed, lookup::SUBSCRIPTIONS)
    })?;
    let all = feeds.iter().map(|feed| Request::Unsubscribe(*feed)).collect();
    let yes = args.yes;
    let check = move |engine: &Engine| {
        confirmed(engine, Request::Together(all), yes, |question| question.is_needed)
    };
    desk.inspect(check)?.map_err(Failure::new)?;
    for &feed in &feeds {
        let request = Request::Unsubscribe(feed);
        let request = if yes { Request::Answered(Box::new(request), None) } else { request };
        for sentence in desk.change(request)? {
            desk.put(&format!("{sentence}{UNDO_HINT}"));
        }
    }
    tell_unknown(desk, &feeds, &unknown)
}

/// Prints why names were not found. The command failed if none of them was.
fn tell_unknown(
    desk: &CommandContext,
    found: &[FeedKey],
    unknown: &[Failure],
) -> Result<Done, Failure> {
    let Some(((last, others), done)) = unknown.split_last().map(|names| (names, !found.is_empty()))
    else {
        return Ok(Done::All);
    };
    for why in others {
        desk.tell(&format!("backissue: {}", why.sentence));
    }
    if !done {
        return Err(Failure::new(&last.sentence));
    }
    desk.tell(&format!("backissue: {}", last.sentence));
    Ok(Done::WithFailures)
}
