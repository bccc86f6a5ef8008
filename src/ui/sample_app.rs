//! A small app for unit tests: a few feeds, no store, and no pending work.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::app::App;
use super::effect::ScreenEffect;
use super::settings::ScreenSettings;
use crate::engine::entries::rows::{Row, RowKey, RowsWanted};
use crate::engine::feeds::subscription::{SavedSubscription, SubscriptionRecord};
use crate::engine::request::Effect;
use crate::engine::settings::Settings;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::ui::state::feeds_pane::FeedsRow;
use backissue_core::history::{Counters, EntryKey, FeedKey, Flags};

/// The time that tests use as the current time.
pub(in crate::ui) fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_452_800, 0).unwrap()
}

/// Creates an app with feeds, each with a title and tags. The feed keys are 1, 2, and so on.
pub(in crate::ui) fn app_with(feeds: &[(&str, &[&str])]) -> App {
    let saved = (1..).zip(feeds).map(|(number, (title, tags))| SavedSubscription {
        key: FeedKey(number),
        record: SubscriptionRecord {
            url: format!("https://feed{number}.example/"),
            title: Some((*title).to_owned()),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..SubscriptionRecord::default()
        },
        state: Box::default(),
        history: std::sync::Arc::default(),
        counters: Counters::default(),
    });
    let engine = Engine::new(Settings::default(), Tz::UTC, 0, saved.collect(), noon());
    let mut app = App::new(engine, ScreenSettings::default());
    app.ui.size = (140, 40);
    app.ui.viewport.feeds_rows = 20;
    app.ui.viewport.entries_rows = 20;
    app
}

/// Fills the open list with `count` unread entries of feed 1.
pub(in crate::ui) fn fill_list(app: &mut App, count: u32) {
    let row = |seq| {
        let key = RowKey::Entry(EntryKey { feed: FeedKey(1), seq });
        Row::bare(key, Flags::NEW, noon(), format!("Entry {seq}"))
    };
    let list = &mut app.ui.list;
    list.rows = (0..count).map(row).collect();
    (list.total, list.waiting, list.fresh) = (list.rows.len(), false, false);
}

/// Selects a row in the subscriptions pane.
pub(in crate::ui) fn select(app: &mut App, wanted: &FeedsRow) {
    let place = app.ui.feeds.rows.iter().position(|row| row == wanted);
    app.ui.feeds.selected = place.unwrap_or_else(|| panic!("no {wanted:?}"));
}

/// Returns the jobs for the store among the effects.
pub(in crate::ui) fn jobs(effects: &[ScreenEffect]) -> Vec<&Job> {
    let mut jobs = Vec::new();
    for effect in effects {
        if let ScreenEffect::Engine(Effect::Store(work)) = effect {
            jobs.push(&work.job);
        }
    }
    jobs
}

/// Returns the request for list rows among the effects, if there is one.
pub(in crate::ui) fn rows_wanted(effects: &[ScreenEffect]) -> Option<&RowsWanted> {
    jobs(effects)
        .into_iter()
        .find_map(|job| if let Job::ReadRows(wanted) = job { Some(wanted) } else { None })
}
