//! `backissue resume` and `backissue move`: answers for feeds that ended or announced a new address.

use std::collections::BTreeSet;

use super::move_feed;
use crate::cli::args_changes::{FeedNamed, MoveAnswer, MoveArgs};
use crate::cli::commands::poll;
use crate::cli::context::{CommandContext, sentences};
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::commands_under_way::is_under_way;
use crate::engine::poll::poll_results::PollOutcome;
use crate::engine::request::{Request, TroubleAnswer};
use crate::io::loop_handle::Waited;
use backissue_core::history::FeedKey;

/// Runs `backissue resume`.
pub(in crate::cli) fn resume(desk: &CommandContext, args: &FeedNamed) -> Result<Done, Failure> {
    let feed = find(desk, &args.feed)?;
    answer(desk, feed, TroubleAnswer::Resume)
}

/// Runs `backissue move`.
pub(in crate::cli) fn answer_move(desk: &CommandContext, args: &MoveArgs) -> Result<Done, Failure> {
    let feed = find(desk, &args.feed)?;
    let done = match &args.answer {
        MoveAnswer::Accept => answer(desk, feed, TroubleAnswer::AcceptMove),
        MoveAnswer::Refuse => answer(desk, feed, TroubleAnswer::DeclineMove),
        MoveAnswer::To(address) => return move_feed::run(desk, feed, address),
    }?;
    let is_open = desk.inspect(move |engine| {
        engine.feeds.get(&feed).is_some_and(|feed| feed.state.proposed.is_some())
    })?;
    // The messages printed above explain why the announced move is still open.
    Ok(if is_open { Done::WithFailures } else { done })
}

fn find(desk: &CommandContext, typed: &str) -> Result<FeedKey, Failure> {
    let typed = typed.to_owned();
    desk.inspect(move |engine| lookup::find_subscription(engine, &typed))?
}

/// Submits the user's answer to the engine, waits for the poll that the answer may start, and prints the result.
fn answer(desk: &CommandContext, feed: FeedKey, answer: TroubleAnswer) -> Result<Done, Failure> {
    let noted = desk.inspect(|engine| engine.poll_run.noted)?;
    for sentence in sentences(&desk.ask(Request::Trouble(feed, answer))?) {
        desk.put(&sentence);
    }
    let mut done = Done::All;
    let waited =
        desk.follow(
            move |engine, _, notes| {
                let is_over = !is_under_way(engine, &BTreeSet::from([feed]));
                if is_over {
                    let results = engine.poll_run.since(noted).filter(|result| result.feed == feed);
                    notes.extend(results.map(|result| {
                        (result.outcome, poll::describe_result(engine, result, true))
                    }));
                }
                is_over
            },
            |(outcome, line)| {
                if outcome == PollOutcome::Failed {
                    done = Done::WithFailures;
                }
                if let Some(line) = line {
                    desk.put(&line);
                }
            },
        )?;
    if waited == Waited::Cancelled {
        desk.ask(Request::StopPolls(vec![feed]))?;
    }
    desk.wait_until_durable()?;
    match waited {
        Waited::Done => Ok(done),
        Waited::Cancelled => Err(Failure::new("interrupted; your answer is saved")),
    }
}
