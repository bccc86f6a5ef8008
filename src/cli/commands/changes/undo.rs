//! `backissue undo`: undoes the last change, including one made in the reader.

use crate::cli::Done;
use crate::cli::args_changes::YesArgs;
use crate::cli::context::{CommandContext, confirmed, sentences};
use crate::cli::session::Failure;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::loop_handle::Waited;

/// Runs `backissue undo`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &YesArgs) -> Result<Done, Failure> {
    if !desk.inspect(|engine| engine.undo.can_undo())? {
        desk.tell("nothing to undo");
        return Ok(Done::All);
    }
    let yes = args.yes;
    let ask = move |engine: &Engine| match confirmed(engine, Request::Undo, yes, |question| {
        question.removes_feeds
    }) {
        Ok(request) => (request, None),
        Err(question) => (Request::Together(Vec::new()), Some(question)),
    };
    let (mut told, waits, question) = desk.ask_about(ask, |engine, told, question| {
        (sentences(told), engine.undo.is_undo_wanted(), question)
    })?;
    if let Some(question) = question {
        return Err(Failure::new(question));
    }
    if waits {
        // The last change is still being applied; it is undone as soon as it is complete.
        let waited = desk.follow(
            |engine, events, notes| {
                notes.extend(sentences(events));
                !engine.undo.is_undo_wanted()
            },
            |sentence| told.push(sentence),
        )?;
        if waited == Waited::Cancelled {
            return Err(Failure::new("interrupted; the last change is undone once it is complete"));
        }
    }
    desk.wait_until_kept()?;
    for sentence in told {
        desk.put(&sentence);
    }
    Ok(Done::All)
}
