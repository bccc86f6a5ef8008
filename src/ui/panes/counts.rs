//! The counts in the subscriptions pane that the store computes: today's unread entries, and the unread entries of each saved
//! search.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::list_query;
use crate::engine::request::ScreenRequest;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use backissue_core::feed::dates::calendar::{day_of, day_start};

/// Requests the count of today's unread entries and the counts of the saved searches.
pub fn count_all(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let mut effects = count_today(app, now);
    effects.extend(count_searches(app, now));
    effects
}

/// Requests the number of today's unread entries. If a request is already pending, a new request follows after it.
pub fn count_today(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.today.begin() {
        vec![ask_store(ScreenRequest::TodayCount(day_start(
            day_of(now, app.engine.zone),
            app.engine.zone,
        )))]
    } else {
        Vec::new()
    }
}

/// Stores the number of today's unread entries that the store returned. If entries have changed since the request, requests the
/// number again.
pub fn take_today_count(app: &mut App, now: DateTime<Utc>, count: u32) -> Vec<ScreenEffect> {
    if app.ui.today.end(count) { count_today(app, now) } else { Vec::new() }
}

/// Requests the number of unread entries in each saved search. If a request is already pending, a new request follows after it.
pub fn count_searches(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.engine.saved_searches.is_empty() || !app.ui.is_on() || !app.ui.found.begin() {
        return Vec::new();
    }
    let ids = app.engine.saved_searches.iter().map(|search| search.id);
    let wanted = ids.filter_map(|id| Some((id, list_query::resolve_search(app, now, id)?)));
    vec![ask_store(ScreenRequest::SearchCounts(wanted.collect()))]
}

/// Stores the numbers of unread entries in the saved searches that the store returned. If entries have changed since the request,
/// requests the numbers again.
pub fn take_search_counts(
    app: &mut App,
    now: DateTime<Utc>,
    unread: BTreeMap<u32, u32>,
) -> Vec<ScreenEffect> {
    if app.ui.found.end(unread) { count_searches(app, now) } else { Vec::new() }
}

/// Handles a count that the store could not compute: the counts are requested again after the next change.
pub const fn stop_waiting(app: &mut App) {
    (app.ui.today.waiting, app.ui.found.waiting) = (false, false);
}

#[cfg(test)]
mod tests {
    use crate::engine::store_work::Job;
    use crate::ui::panes::counts::*;
    use crate::ui::sample_app::{app_with, jobs, noon};

    #[test]
    fn today_count_runs_one_query_at_a_time() {
        let mut app = app_with(&[]);
        let day = day_start(day_of(noon(), app.engine.zone), app.engine.zone);
        assert_eq!(
            jobs(&count_all(&mut app, noon())),
            [&Job::CountToday(day)],
            "no search is saved"
        );
        assert!(count_today(&mut app, noon()).is_empty());
        assert_eq!(jobs(&take_today_count(&mut app, noon(), 7)), [&Job::CountToday(day)]);
        assert!(take_today_count(&mut app, noon(), 8).is_empty());
        assert_eq!(app.ui.today.value, 8);
    }

    #[test]
    fn failed_count_is_retried_after_a_change() {
        let mut app = app_with(&[]);
        count_today(&mut app, noon());
        stop_waiting(&mut app);
        assert_eq!(count_today(&mut app, noon()).len(), 1);
    }
}
