//! What came of polls that the reader asked for: told in one line when the last of them has ended.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::engine::poll::poll_results::PollResult;
use crate::ui::app::App;
use crate::ui::state::asked_polls::AskedPolls;
use backissue_core::history::FeedKey;

/// Waits for polls that were asked for, to tell what came of them. So many others were not made.
pub fn wait_for_polls(app: &mut App, open: BTreeSet<FeedKey>, left_out: usize) {
    if !open.is_empty() {
        app.ui.asked_polls.push(AskedPolls::of(open, left_out));
    }
}

/// Waits for the first polls of feeds that were imported; what the import said is told again with what they brought.
pub fn wait_for_import(app: &mut App, open: BTreeSet<FeedKey>, said: &str) {
    if !open.is_empty() {
        let import = Some(said.to_owned());
        app.ui.asked_polls.push(AskedPolls { import, ..AskedPolls::of(open, 0) });
    }
}

/// Polls of feeds that were unsubscribed from are not waited for; where no other is open nothing is told of them.
pub fn forget_unsubscribed(app: &mut App) {
    let feeds = &app.engine.feeds;
    app.ui.asked_polls.retain_mut(|asked| {
        asked.open.retain(|feed| feeds.contains_key(feed));
        !asked.open.is_empty()
    });
}

/// A poll ended: it is counted, and told when it is the last one that was waited for.
pub fn note_result(app: &mut App, now: DateTime<Utc>, result: &PollResult) {
    let feed = app.engine.feeds.get(&result.feed);
    let title = feed.map_or("", |feed| feed.record.shown_title());
    let mut ended = None;
    app.ui.asked_polls.retain_mut(|asked| {
        asked.take(result, title);
        // A feed that was unsubscribed from meanwhile is not waited for.
        asked.open.retain(|feed| app.engine.feeds.contains_key(feed));
        let goes_on = !asked.open.is_empty();
        if !goes_on {
            ended = Some(asked.words());
        }
        goes_on
    });
    if let Some(words) = ended {
        app.ui.answer(now, words);
    }
}
