//! `backissue unsubscribe` and `backissue subscribe-again`: remove subscriptions and restore them.

use super::UNDO_HINT;
use crate::cli::args_changes::FeedsNamed;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::request::Request;
use crate::io::clock;

/// Runs `backissue subscribe-again`.
pub(in crate::cli) fn take_back(desk: &CommandContext, args: &FeedsNamed) -> Result<Done, Failure> {
    let (typed, now) = (args.feeds.clone(), clock::now());
    let feeds = desk.inspect(move |engine| {
        let removed = recently_removed(engine, now);
        let records = removed.iter().map(|(feed, _)| (feed.key, &feed.record));
        lookup::find_feeds(&records, &typed, lookup::REMOVED)
    })??;
    for feed in feeds {
        for sentence in desk.change(Request::SubscribeAgain(feed))? {
            desk.put(&sentence);
        }
    }
    Ok(Done::All)
}

/// Runs `backissue unsubscribe`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &FeedsNamed) -> Result<Done, Failure> {
    let typed = args.feeds.clone();
    let feeds = desk.inspect(move |engine| lookup::find_subscriptions(engine, &typed))??;
    for feed in feeds {
        for sentence in desk.change(Request::Unsubscribe(feed))? {
            desk.put(&format!("{sentence}{UNDO_HINT}"));
        }
    }
    Ok(Done::All)
}
