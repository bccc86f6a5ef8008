//! `backissue unsubscribe`: gives subscriptions up.

use super::UNDO_HINT;
use crate::cli::args_changes::FeedsNamed;
use crate::cli::desk::Desk;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::request::Request;

/// Runs the command.
pub(in crate::cli) fn run(desk: &Desk, args: &FeedsNamed) -> Result<Done, Failure> {
    let typed = args.feeds.clone();
    let feeds = desk.inspect(move |engine| lookup::find_subscriptions(engine, &typed))??;
    for feed in feeds {
        for sentence in desk.change(Request::Unsubscribe(feed))? {
            desk.put(&format!("{sentence}{UNDO_HINT}"));
        }
    }
    Ok(Done::All)
}
