//! Collects the results of polls that the user requested together, and reports them in one line when the last of these polls ends.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::engine::poll::poll_results::PollResult;
use crate::ui::app::App;
use crate::ui::state::asked_polls::AskedPolls;
use backissue_core::history::FeedKey;

/// Starts to collect the results of polls of the feeds in `open`. `left_out` is the number of feeds that were not polled.
pub fn wait_for_polls(app: &mut App, open: BTreeSet<FeedKey>, left_out: usize) {
    if !open.is_empty() {
        app.ui.asked_polls.push(AskedPolls::of(open, left_out));
    }
}

/// Starts to collect the results of the first polls of imported feeds. `said` is the import message, which is shown again together
/// with the results.
pub fn wait_for_import(app: &mut App, open: BTreeSet<FeedKey>, said: &str) {
    if !open.is_empty() {
        let import = Some(said.to_owned());
        app.ui.asked_polls.push(AskedPolls { import, ..AskedPolls::of(open, 0) });
    }
}

/// Stops waiting for poll results of unsubscribed feeds. If a request has no other pending polls, its results are not reported.
pub fn forget_unsubscribed(app: &mut App) {
    let feeds = &app.engine.feeds;
    app.ui.asked_polls.retain_mut(|asked| {
        asked.open.retain(|feed| feeds.contains_key(feed));
        !asked.open.is_empty()
    });
}

/// Adds a poll result to the request that it belongs to. If it was the last pending poll of this request, the totals are reported.
pub fn note_result(app: &mut App, now: DateTime<Utc>, result: &PollResult) {
    let feed = app.engine.feeds.get(&result.feed);
    let title = feed.map_or("", |feed| feed.record.shown_title());
    let mut ended = None;
    app.ui.asked_polls.retain_mut(|asked| {
        asked.take(result, title);
        // Results of feeds that were unsubscribed in the meantime will never arrive.
        asked.open.retain(|feed| app.engine.feeds.contains_key(feed));
        let goes_on = !asked.open.is_empty();
        if !goes_on {
            ended = Some(asked.words(&app.ui.settings.keys));
        }
        goes_on
    });
    if let Some(words) = ended {
        app.ui.answer(now, words);
    }
}
