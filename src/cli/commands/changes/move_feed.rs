//! Changes the address of a feed, for `backissue move FEED URL` and `backissue set --address URL`.

use std::collections::BTreeSet;

use super::UNDO_HINT;
use crate::cli::Done;
use crate::cli::commands::poll;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::commands_under_way::is_under_way;
use crate::engine::feeds::addition::Subscribe;
use crate::engine::poll::poll_results::PollOutcome;
use crate::engine::request::Request;
use crate::io::loop_handle::Waited;
use backissue_core::history::FeedKey;

/// A note of the main loop while the address is requested and the feed at it is read.
enum MoveNote {
    /// A sentence to print.
    Told(String),
    /// The address was not changed, for this reason.
    Refused(String),
    /// The result of the poll of the new address, with its description.
    Polled(PollOutcome, Option<String>),
}

/// Requests an address, changes the address of the feed to it, and reads the feed there. If no feed is found, nothing changes.
pub(super) fn run(desk: &CommandContext, feed: FeedKey, address: &str) -> Result<Done, Failure> {
    let request =
        Subscribe { address: address.to_owned(), moves: Some(feed), ..Subscribe::default() };
    let (id, noted, login) = desk.ask_about(
        move |engine| {
            let id = engine.next_addition();
            (Request::Subscribe(Box::new(Subscribe { id, ..request })), (id, engine.poll_run.noted))
        },
        |engine, _, (id, noted)| {
            (id, noted, engine.additions.get(&id).and_then(|one| one.login.clone()))
        },
    )?;
    let is_login_lost = login.map(|login| desk.tell_login(login)).transpose()?.unwrap_or(false);
    let (mut done, mut failed) = (Done::All, None);
    let mut is_moved = false;
    let waited = desk.follow(
        move |engine, _, notes| {
            let ended = engine.additions.get(&id).and_then(|one| one.ended.as_ref());
            match ended {
                None => return false,
                Some(Err(why)) => {
                    notes.push(MoveNote::Refused(why.clone()));
                    return true;
                }
                Some(Ok(added)) if !std::mem::replace(&mut is_moved, true) => {
                    notes.extend(added.moved.clone().map(MoveNote::Told));
                }
                Some(Ok(_)) => {}
            }
            let is_over = !is_under_way(engine, &BTreeSet::from([feed]));
            if is_over {
                let results = engine.poll_run.since(noted).filter(|result| result.feed == feed);
                notes.extend(results.map(|result| {
                    MoveNote::Polled(result.outcome, poll::describe_result(engine, result, true))
                }));
            }
            is_over
        },
        |note| match note {
            MoveNote::Told(text) => desk.put(&format!("{text}{UNDO_HINT}")),
            MoveNote::Refused(why) => failed = Some(why),
            MoveNote::Polled(outcome, line) => {
                if outcome == PollOutcome::Failed {
                    done = Done::WithFailures;
                }
                if let Some(line) = line {
                    desk.put(&line);
                }
            }
        },
    )?;
    if waited == Waited::Cancelled {
        desk.ask(Request::Choose { addition: id, url: None })?;
        desk.ask(Request::StopPolls(vec![feed]))?;
    }
    desk.wait_until_kept()?;
    match (failed, waited) {
        (Some(why), _) => Err(Failure::new(why)),
        (None, Waited::Cancelled) => Err(Failure::new("interrupted")),
        (None, Waited::Done) if is_login_lost => Ok(Done::WithFailures),
        (None, Waited::Done) => Ok(done),
    }
}
