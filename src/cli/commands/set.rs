//! Changes feeds. `backissue set` changes their settings and address. `backissue resume` and `backissue move` are answers for
//! feeds that ended or announced a new address. `backissue unsubscribe` and `backissue subscribe-again` also process the other
//! feeds if a name is not found.

use std::collections::BTreeSet;

use backissue_core::feed::Zone;
use backissue_core::history::FeedKey;

use super::UNDO_HINT;
use crate::cli::args_changes::{
    FeedNamed, FeedsNamed, FeedsRemoved, MoveAnswer, MoveArgs, SetArgs,
};
use crate::cli::commands::{history, poll};
use crate::cli::context::{CommandContext, confirmed, sentences};
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::addition::Subscribe;
use crate::engine::feeds::setting_row::{Chosen, FeedSettingRow};
use crate::engine::feeds::setting_table::FEED_SETTINGS;
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::poll::learn;
use crate::engine::poll::poll_log::PollOutcome;
use crate::engine::request::{Request, TroubleAnswer};
use crate::engine::state::{Engine, is_under_way};
use crate::io::clock;
use crate::io::loop_handle::Waited;

/// Runs `backissue set`.
pub(in crate::cli) fn run(context: &CommandContext, args: &SetArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let engine = context.engine()?;
    let feed = lookup::find_subscription(&engine, &args.feed)?;
    if args.settings.is_empty() && args.address.is_none() {
        let sentence = "nothing to set: name a setting, such as --pace more or --min 30m";
        return Err(Failure::new(sentence));
    }
    let zone = learn::zone_of(engine.zone);
    set_all(args, &mut Chosen::default(), &zone)?;
    // Change the address first. If that fails, nothing else is changed.
    let moved = args.address.as_ref().map(|address| move_feed(context, feed, address));
    let moved = moved.transpose()?.unwrap_or(Done::All);
    if args.settings.is_empty() {
        return Ok(moved);
    }
    let args = args.clone();
    // Only the named settings change, starting from the current values, so that concurrent changes to other settings survive.
    let change = move |engine: &Engine| {
        let before = engine.feeds.get(&feed).map(|feed| feed.record.chosen()).unwrap_or_default();
        let mut chosen = before.clone();
        // Cannot fail, because the same call succeeded above.
        set_all(&args, &mut chosen, &zone).ok();
        (Request::Set(feed, Box::new(chosen.clone())), (before, chosen))
    };
    // If the new settings need a learned plan, it is learned after the next poll.
    let (engine, before, chosen) = context
        .ask_about(change, |engine, _, (before, chosen)| (engine.clone(), before, chosen))?;
    context.wait_until_kept()?;
    context.put(&history::plan_words(&engine, feed, now));
    let changes = list_changes(&before, &chosen);
    if changes.is_empty() {
        context.put("nothing changed: the settings already have these values");
    }
    for change in changes {
        context.put(&format!("changed: {change}"));
    }
    Ok(moved)
}

/// Applies the settings named on the command line to `chosen`. The error explains which value is invalid.
fn set_all(args: &SetArgs, chosen: &mut Chosen, zone: &Zone) -> Result<(), Failure> {
    for (setting, given) in &args.settings {
        setting.set_flag(chosen, given, zone).map_err(Failure::new)?;
    }
    Ok(())
}

/// Lists the settings that changed, as in `pace: normal → more`.
fn list_changes(before: &Chosen, after: &Chosen) -> Vec<String> {
    let told = |row: &FeedSettingRow| {
        let (before, after) = (row.told(before), row.told(after));
        (before != after).then(|| format!("{}: {before} → {after}", row.name))
    };
    FEED_SETTINGS.iter().filter_map(told).collect()
}

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
pub(super) fn move_feed(
    context: &CommandContext,
    feed: FeedKey,
    address: &str,
) -> Result<Done, Failure> {
    let request =
        Subscribe { address: address.to_owned(), moves: Some(feed), ..Subscribe::default() };
    let (id, noted, login) = context.ask_about(
        move |engine| {
            let id = engine.next_addition();
            (Request::Subscribe(Box::new(Subscribe { id, ..request })), (id, engine.poll_run.noted))
        },
        |engine, _, (id, noted)| {
            (id, noted, engine.additions.get(&id).and_then(|one| one.login.clone()))
        },
    )?;
    let is_login_lost = login.map(|login| context.tell_login(login)).transpose()?.unwrap_or(false);
    let (mut done, mut failed) = (Done::All, None);
    let mut is_moved = false;
    let waited = context.follow(
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
            MoveNote::Told(text) => context.put(&format!("{text}{UNDO_HINT}")),
            MoveNote::Refused(why) => failed = Some(why),
            MoveNote::Polled(outcome, line) => {
                if outcome == PollOutcome::Failed {
                    done = Done::WithFailures;
                }
                if let Some(line) = line {
                    context.put(&line);
                }
            }
        },
    )?;
    if waited == Waited::Cancelled {
        context.ask(Request::Choose { addition: id, url: None })?;
        context.ask(Request::StopPolls(vec![feed]))?;
    }
    context.wait_until_kept()?;
    match (failed, waited) {
        (Some(why), _) => Err(Failure::new(why)),
        (None, Waited::Cancelled) => Err(Failure::new("interrupted")),
        (None, Waited::Done) if is_login_lost => Ok(Done::WithFailures),
        (None, Waited::Done) => Ok(done),
    }
}

/// Runs `backissue resume`.
pub(in crate::cli) fn resume(context: &CommandContext, args: &FeedNamed) -> Result<Done, Failure> {
    let feed = find(context, &args.feed)?;
    answer(context, feed, TroubleAnswer::Resume)
}

/// Runs `backissue move`.
pub(in crate::cli) fn answer_move(
    context: &CommandContext,
    args: &MoveArgs,
) -> Result<Done, Failure> {
    let feed = find(context, &args.feed)?;
    let done = match &args.answer {
        MoveAnswer::Accept => answer(context, feed, TroubleAnswer::AcceptMove),
        MoveAnswer::Refuse => answer(context, feed, TroubleAnswer::DeclineMove),
        MoveAnswer::To(address) => return move_feed(context, feed, address),
    }?;
    let is_open = context.inspect(move |engine| {
        engine.feeds.get(&feed).is_some_and(|feed| feed.state.proposed.is_some())
    })?;
    // The messages printed above explain why the announced move is still open.
    Ok(if is_open { Done::WithFailures } else { done })
}

fn find(context: &CommandContext, typed: &str) -> Result<FeedKey, Failure> {
    let typed = typed.to_owned();
    context.inspect(move |engine| lookup::find_subscription(engine, &typed))?
}

/// Submits the user's answer to the engine, waits for the poll that the answer may start, and prints the result.
fn answer(context: &CommandContext, feed: FeedKey, answer: TroubleAnswer) -> Result<Done, Failure> {
    let noted = context.inspect(|engine| engine.poll_run.noted)?;
    for sentence in sentences(&context.ask(Request::Trouble(feed, answer))?) {
        context.put(&sentence);
    }
    let mut done = Done::All;
    let waited =
        context.follow(
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
                    context.put(&line);
                }
            },
        )?;
    if waited == Waited::Cancelled {
        context.ask(Request::StopPolls(vec![feed]))?;
    }
    context.wait_until_durable()?;
    match waited {
        Waited::Done => Ok(done),
        Waited::Cancelled => Err(Failure::new("interrupted; your answer is saved")),
    }
}

/// Runs `backissue subscribe-again`.
pub(in crate::cli) fn take_back(
    context: &CommandContext,
    args: &FeedsNamed,
) -> Result<Done, Failure> {
    let (typed, now) = (args.feeds.clone(), clock::now());
    let (feeds, unknown) = context.inspect(move |engine| {
        let removed = recently_removed(engine, now);
        let records = removed.iter().map(|(feed, _)| (feed.key, &feed.record));
        lookup::find_each(&records, &typed, lookup::REMOVED)
    })?;
    for &feed in &feeds {
        for sentence in context.change(Request::SubscribeAgain(feed))? {
            context.put(&sentence);
        }
    }
    tell_unknown(context, &feeds, &unknown)
}

/// Runs `backissue unsubscribe`.
pub(in crate::cli) fn run_unsubscribe(
    context: &CommandContext,
    args: &FeedsRemoved,
) -> Result<Done, Failure> {
    let typed = args.named.feeds.clone();
    let (feeds, unknown) = context.inspect(move |engine| {
        let records = engine.feeds.values().map(|feed| (feed.key, &feed.record));
        lookup::find_each(&records, &typed, lookup::SUBSCRIPTIONS)
    })?;
    let all = feeds.iter().map(|feed| Request::Unsubscribe(*feed)).collect();
    let yes = args.yes;
    let check = move |engine: &Engine| {
        confirmed(engine, Request::Together(all), yes, |question| question.is_needed)
    };
    context.inspect(check)?.map_err(Failure::new)?;
    for &feed in &feeds {
        let request = Request::Unsubscribe(feed);
        let request = if yes { Request::Answered(Box::new(request), None) } else { request };
        for sentence in context.change(request)? {
            context.put(&format!("{sentence}{UNDO_HINT}"));
        }
    }
    tell_unknown(context, &feeds, &unknown)
}

/// Prints why names were not found. The command fails if no name was found.
fn tell_unknown(
    context: &CommandContext,
    found: &[FeedKey],
    unknown: &[Failure],
) -> Result<Done, Failure> {
    let Some(((last, others), done)) = unknown.split_last().map(|names| (names, !found.is_empty()))
    else {
        return Ok(Done::All);
    };
    for why in others {
        context.tell(&format!("backissue: {}", why.sentence));
    }
    if !done {
        return Err(Failure::new(&last.sentence));
    }
    context.tell(&format!("backissue: {}", last.sentence));
    Ok(Done::WithFailures)
}
