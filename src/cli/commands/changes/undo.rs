//! `backissue undo`: undoes the last change, including one made in the reader.

use crate::cli::Done;
use crate::cli::context::{CommandContext, sentences};
use crate::cli::session::Failure;
use crate::engine::request::Request;
use crate::io::loop_handle::Waited;

/// Runs `backissue undo`.
pub(in crate::cli) fn run(desk: &CommandContext) -> Result<Done, Failure> {
    if !desk.inspect(|engine| engine.undo.can_undo())? {
        desk.tell("nothing to undo");
        return Ok(Done::All);
    }
    let (mut told, waits) = desk.ask_and_inspect(Request::Undo, |engine, told| {
        (sentences(told), engine.undo.is_undo_wanted())
    })?;
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
    if told.is_empty() {
        told.push("undone: the entries that the feed withdrew are restored".to_owned());
    }
    for sentence in told {
        desk.put(&sentence);
    }
    Ok(Done::All)
}
