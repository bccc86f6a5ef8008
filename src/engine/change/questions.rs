//! Questions that the user must answer before a request is carried out.
//!
//! The screen shows the question, and sends [`Request::Answered`] if the user answers yes. A command sends it at once if it was
//! started with `--yes`.

use chrono::{DateTime, Utc};

use super::undo_stack::{KnownStep, Step, is_over, words_together};
use crate::engine::entries::marks;
use crate::engine::feeds::feed_moves;
use crate::engine::feeds::unsubscribe::{RemovedThere, also_there, removed_there};
use crate::engine::request::{Event, Question, Request, TroubleAnswer};
use crate::engine::state::Engine;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// Asks the user about a request that needs an answer. Returns `true` if it does.
pub fn asks(engine: &mut Engine, now: DateTime<Utc>, request: &Request) -> bool {
    let Some(question) = about(engine, now, request).filter(|question| question.is_needed) else {
        return false;
    };
    engine.tell(Event::Asked(Box::new(request.clone()), question));
    true
}

/// Returns the question about a request that undoes or redoes a change or removes subscriptions; `None` for other requests.
pub fn about(engine: &Engine, now: DateTime<Utc>, request: &Request) -> Option<Question> {
    if matches!(request, Request::Undo) {
        return about_step(engine, now, engine.undo.steps.back()?, "undo");
    }
    if matches!(request, Request::Redo) {
        return about_step(engine, now, engine.undo.undone.back()?, "redo");
    }
    let removed = removed_by(engine, request);
    let there = removed_there(engine, &removed);
    let is_needed = there.iter().any(RemovedThere::needs_answer);
    let text = format!(
        "unsubscribe from {}{}",
        counted_words(removed.len(), "feed", "feeds"),
        also_there(&there)
    );
    (!removed.is_empty()).then_some(Question { text, step: None, removes_feeds: true, is_needed })
}

fn about_step(
    engine: &Engine,
    now: DateTime<Utc>,
    known: &KnownStep,
    verb: &str,
) -> Option<Question> {
    if engine.undo.under_way > 0 || known.at.is_some_and(|at| is_over(at, now)) {
        return None;
    }
    let removed = known.step.removed_feeds();
    let removed: Vec<FeedKey> =
        removed.into_iter().filter(|feed| engine.feeds.contains_key(feed)).collect();
    let there = removed_there(engine, &removed);
    let what = match &known.step {
        Step::Imported(_) => "import".to_owned(),
        Step::Together(_) if !removed.is_empty() => "several changes".to_owned(),
        Step::Together(steps) => format!("'{}'", words_together(steps)),
        Step::Marked(mark) => {
            let value = (verb == "undo") == mark.value;
            format!("'{}'", marks::words(mark.flag, value, mark.keys.len()))
        }
        Step::Unsubscribed(_) => "an unsubscription".to_owned(),
        Step::Resubscribed(_) => "a subscription".to_owned(),
        Step::Readdressed { .. } => "a change of an address".to_owned(),
        Step::Withdrawn { .. } => "the withdrawal of entries".to_owned(),
        Step::Brought { .. } => "the fetch of older entries".to_owned(),
        Step::Absorbed { .. } => "a merge".to_owned(),
        Step::Noted { .. } => "the dismissal of a problem".to_owned(),
        Step::Dismissed { .. } | Step::ShownAgain { .. } => "a change of a gap".to_owned(),
        Step::Searches { .. } => "a change of the saved searches".to_owned(),
        Step::Filters { .. } => "a change of the filters".to_owned(),
        Step::Retagged { .. } => "a change of tags".to_owned(),
        Step::Awaited { .. } => "an import".to_owned(),
        Step::Changed { .. } => "a change of settings".to_owned(),
    };
    let is_refused = verb == "undo" && engine.undo.is_refused;
    let earlier = match (is_refused, known.is_earlier) {
        (true, _) => " (the one before the change that was not saved)",
        (false, true) => " of an earlier session",
        (false, false) => "",
    };
    let goes = match removed.len() {
        0 => String::new(),
        count => format!(
            ": unsubscribe from {}{}",
            counted_words(count, "feed", "feeds"),
            also_there(&there)
        ),
    };
    let (is_many, is_over) = (removed.len() > 1, there.iter().any(RemovedThere::needs_answer));
    Some(Question {
        text: format!("{verb} {what}{earlier}{goes}"),
        step: Some(known.id),
        removes_feeds: !removed.is_empty(),
        is_needed: is_over || (verb == "undo" && (is_many || known.is_earlier || is_refused)),
    })
}

/// Returns the subscriptions that a request removes directly, not through undo or redo.
fn removed_by(engine: &Engine, request: &Request) -> Vec<FeedKey> {
    if let Request::Together(requests) = request {
        return requests.iter().flat_map(|request| removed_by(engine, request)).collect();
    }
    if let Request::Trouble(feed, TroubleAnswer::AcceptMove) = request {
        return feed_moves::merged_into(engine, *feed).map(|_| *feed).into_iter().collect();
    }
    if let Request::Unsubscribe(feed) = request { vec![*feed] } else { Vec::new() }
}
