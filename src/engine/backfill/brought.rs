//! Entries that came from another source than the publisher's links: what a walk brought is said, and can be hidden and shown again. And
//! the write of a history's record.

use std::sync::Arc;

use backissue_core::feed::text::counted_words;
use backissue_core::history::{DocumentKind, FeedKey, Gap, GapKind};

use crate::engine::change::undo_stack::Step;
use crate::engine::feeds::subscription::{HistoryCommit, Subscription};
use crate::engine::request::Effect;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, Showing};

/// Returns a feed's history record to be written. During an archive walk of the feed there is nothing to write, because the walk writes
/// the record with its next archive.
pub(super) fn commit_of_record(engine: &Engine, feed: FeedKey) -> Option<Box<HistoryCommit>> {
    let record = engine.feeds.get(&feed)?.history.clone();
    let is_walked = engine.backfills.contains_key(&feed);
    let commit = HistoryCommit { feed, record, nodes: Vec::new(), document: None };
    (!is_walked).then(|| Box::new(commit))
}

/// Writes a feed's history record after a change.
pub fn write_record(engine: &mut Engine, feed: FeedKey) {
    let commit = commit_of_record(engine, feed);
    engine.effects.extend(commit.map(|commit| Effect::store(Job::KeepHistory(commit))));
}

/// Returns a sentence about what a walk brought from a source, and adds the step that hides it again. Returns `None` if no source was
/// read.
pub(super) fn words(
    engine: &mut Engine,
    feed: FeedKey,
    entries: Vec<u32>,
    copy: Option<&str>,
) -> Option<String> {
    let record = &engine.feeds.get(&feed)?.history;
    let copy = copy.and_then(|url| record.copies.iter().find(|copy| copy.url == url));
    let source = match copy {
        Some(copy) => copy.name(),
        None => record.adaptor()?.source().to_owned(),
    };
    let of_copy = copy.is_some();
    let reaches = copy.map_or(record.reaches, |copy| copy.record.reaches);
    let back = reaches.filter(|_| !entries.is_empty());
    let is_limit = |gap: &Gap| gap.kind() == GapKind::Limit;
    let gaps = copy.map_or(&record.gaps, |copy| &copy.record.gaps);
    let more = if gaps.values().any(is_limit) { "; there is more" } else { "" };
    let back = back.map(|at| format!(", back to {}", at.format("%Y-%m-%d"))).unwrap_or_default();
    let text = match entries.len() {
        0 => format!("nothing new from {source}"),
        count => {
            format!(
                "{} from {source}{back}{more}",
                counted_words(count, "older entry", "older entries")
            )
        }
    };
    if !entries.is_empty() {
        engine.undo.push_stored(Step::Brought { feed, entries, again: false, of_copy }, None);
    }
    Some(text)
}

/// Returns the entries of a source that the user hid.
pub fn hidden(feed: &Subscription) -> &[u32] {
    // A complete feed withdraws entries itself.
    let is_whole = feed.history.kind == DocumentKind::Complete;
    if is_whole { &[] } else { &feed.history.withdrawn }
}

/// Hides the entries that a source brought, or shows them again, for an undo or a redo.
pub fn show(engine: &mut Engine, feed: FeedKey, entries: &[u32], again: bool, of_copy: bool) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let withdrawn = if again { Vec::new() } else { entries.to_vec() };
    Arc::make_mut(&mut subscription.history).withdrawn = withdrawn;
    write_record(engine, feed);
    let showing = match (again, of_copy) {
        (true, _) => Showing::Again,
        (false, true) => Showing::HidesCopies,
        (false, false) => Showing::HidesUnlisted,
    };
    engine.store(Job::Restore { feed, entries: entries.to_vec(), showing });
}
