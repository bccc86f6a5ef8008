//! The timetable: the coming polls of all feeds, ordered by time.

use chrono::{DateTime, Utc};

use super::plan_pane;
use crate::engine::feeds::subscription::Subscription;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::scroll_list::Distance;
use crate::ui::state::overlay::{Overlay, Sums, TimetablePane};
use backissue_core::schedule::{self, Cost, Pace};

impl Sums {
    fn of(app: &App) -> Self {
        let mut sums = Self::default();
        for subscription in app.engine.feeds.values() {
            let facts = &subscription.state.facts;
            let pace = facts.settings.pace;
            let Some(cost) = schedule::cost_at_pace(facts, pace) else { continue };
            let less = match pace {
                Pace::More => Pace::Normal,
                Pace::Normal | Pace::Less => Pace::Less,
            };
            let fewer = schedule::cost_at_pace(facts, less).map_or(0.0, |cost| cost.polls_a_day);
            sums.feeds = sums.feeds.saturating_add(1);
            sums.polls_a_day += cost.polls_a_day;
            sums.saved_a_day += cost.polls_a_day - fewer;
            sums.delay_minutes += cost.delay_minutes;
        }
        sums.delay_minutes /= f64::from(sums.feeds.max(1));
        sums
    }
}

/// Returns the polling cost of a feed. Returns `None` if the feed is not polled automatically.
pub fn cost_of_feed(subscription: &Subscription) -> Option<Cost> {
    let facts = &subscription.state.facts;
    schedule::cost_at_pace(facts, facts.settings.pace)
}

/// Opens or closes the timetable.
pub fn toggle_timetable(app: &mut App) {
    if matches!(app.ui.overlay, Some(Overlay::Timetable(_))) {
        app.ui.uncover();
        return;
    }
    let first = app.engine.timetable.iter().next().map(|(_, feed)| *feed);
    app.ui.lay_over(Overlay::Timetable(TimetablePane { feed: first, ..TimetablePane::default() }));
}

/// Opens the plan pane for the feed of the selected poll.
pub fn open_selected_plan(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    match app.ui.overlay {
        Some(Overlay::Timetable(TimetablePane { feed: Some(feed), .. })) => {
            plan_pane::open_plan(app, now, feed)
        }
        Some(_) | None => Vec::new(),
    }
}

/// Moves the selection in the timetable.
pub fn scroll_timetable(app: &mut App, down: bool, distance: Distance) -> bool {
    if let Some(Overlay::Timetable(TimetablePane { mut list, .. })) = app.ui.overlay {
        let steps = distance.steps(app.ui.viewport.overlay_rows);
        list.step(down, steps, app.engine.timetable.len());
        select_place(app, list.selected);
    }
    true
}

/// Selects the clicked poll; a click on the selected poll opens the plan of its feed.
pub fn click_line(app: &mut App, now: DateTime<Utc>, line: usize) -> Vec<ScreenEffect> {
    let Some(Overlay::Timetable(TimetablePane { mut list, .. })) = app.ui.overlay else {
        return Vec::new();
    };
    if list.click(list.top.saturating_add(line), app.engine.timetable.len()) {
        return open_selected_plan(app, now);
    }
    select_place(app, list.selected);
    Vec::new()
}

/// Selects the poll at an index of the timetable.
pub fn select_place(app: &mut App, place: usize) {
    let count = app.engine.timetable.len();
    let place = place.min(count.saturating_sub(1));
    let feed = app.engine.timetable.iter().nth(place).map(|(_, feed)| *feed);
    let rows = usize::from(app.ui.viewport.overlay_rows).max(1);
    if let Some(Overlay::Timetable(pane)) = &mut app.ui.overlay {
        (pane.list.selected, pane.feed) = (place, feed);
        pane.list.keep_in_sight(count, rows);
    }
}

/// Updates the total cost of all feeds in the open timetable, at most once a minute. With many feeds, an update after every poll
/// would take too much time.
pub fn sum_up(app: &mut App, now: DateTime<Utc>) {
    let Some(Overlay::Timetable(pane)) = app.ui.overlay else { return };
    let minute = now.timestamp().div_euclid(60);
    if pane.sums.is_some() && pane.summed == minute {
        return;
    }
    let sums = Some(Sums::of(app));
    if let Some(Overlay::Timetable(pane)) = &mut app.ui.overlay {
        (pane.sums, pane.summed) = (sums, minute);
    }
}

/// Keeps the same feed selected and visible after the order of polls in the timetable has changed.
pub fn refresh_selection(app: &mut App) {
    let Some(Overlay::Timetable(pane)) = app.ui.overlay else { return };
    let at = |place: usize| app.engine.timetable.iter().nth(place).map(|(_, feed)| *feed);
    let place = if pane.feed.is_some() && at(pane.list.selected) == pane.feed {
        pane.list.selected
    } else {
        let found = app.engine.timetable.iter().position(|(_, feed)| Some(*feed) == pane.feed);
        found.unwrap_or(pane.list.selected)
    };
    select_place(app, place);
}
