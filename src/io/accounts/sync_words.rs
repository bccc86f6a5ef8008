//! What a sync did, in words.

use crate::io::store::SyncLine;
use backissue_core::accounts::subscriptions::named;
use backissue_core::feed::text::counted_words;

/// Describes a sync: what it brought and what it cost.
pub fn words(line: &SyncLine) -> String {
    let mut parts = Vec::new();
    if let Some(failure) = &line.failure {
        parts.push(format!("failed: {failure}"));
    }
    if line.new > 0 {
        parts.push(format!("{} new", line.new));
    }
    if line.edited > 0 {
        parts.push(format!("{} edited", line.edited));
    }
    if line.feeds > 0 {
        let changes = counted_words(line.feeds, "change", "changes");
        parts.push(format!("{changes} of subscriptions"));
    }
    if !line.unsubscribed.is_empty() {
        let names = named(line.unsubscribed.iter().map(String::as_str));
        parts.push(format!("unsubscribed from {names} ('backissue subscribe-again' restores)"));
    }
    if !line.kept.is_empty() {
        let names = named(line.kept.iter().map(String::as_str));
        parts.push(format!("no longer there, but yours, so kept and polled here: {names}"));
    }
    if line.held > 0 {
        let feeds = counted_words(line.held, "feed", "feeds");
        parts.push(format!(
            "{feeds} that you removed here stay there until you answer: 'backissue account sync --yes' removes them, '--no' restores them here"
        ));
    }
    if line.held_marks > 0 {
        let marks = counted_words(line.held_marks, "mark", "marks");
        parts.push(format!(
            "{marks} of the restored backup differ there and wait for your answer: 'backissue account sync --yes' sends them, '--no' takes the server's"
        ));
    }
    if line.marked > 0 {
        parts.push(format!("{} changed here", counted_words(line.marked, "mark", "marks")));
    }
    if line.sent > 0 {
        parts.push(format!("{} sent", counted_words(line.sent, "mark", "marks")));
    }
    if line.untaken > 0 {
        parts.push(format!("the server did not take {}; tried again next time", line.untaken));
    }
    if line.dropped > 0 {
        let marks = counted_words(line.dropped, "mark", "marks");
        parts.push(format!(
            "{marks} dropped: the server refused them three times, perhaps because it deleted the entries"
        ));
    }
    parts.extend(line.refused.iter().cloned());
    if parts.is_empty() {
        parts.push("nothing new".to_owned());
    }
    let requests = counted_words(line.requests, "request", "requests");
    let (kilobytes, seconds) = (line.received_bytes / 1000, line.ms / 1000);
    let tenths = line.ms % 1000 / 100;
    format!("{} ({requests}, {kilobytes} kB, {seconds}.{tenths} s)", parts.join(", "))
}
