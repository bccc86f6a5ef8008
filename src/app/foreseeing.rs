//! The timetable: the coming polls of all feeds, in order.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::explaining;
use super::model::Model;
use super::screen::Overlay;
use crate::history::FeedKey;

/// The timetable on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimetablePane {
    /// Place of the selected poll.
    pub selected: usize,
    /// The feed it belongs to: the selection follows it when others move.
    pub feed: Option<FeedKey>,
    /// Place of the first poll on the screen.
    pub top: usize,
}

/// Opens the timetable, or closes it.
pub fn toggle(model: &mut Model) {
    if matches!(model.screen.overlay, Some(Overlay::Timetable(_))) {
        model.screen.uncover();
        return;
    }
    let first = model.timetable.iter().next().map(|(_, feed)| *feed);
    model
        .screen
        .lay_over(Overlay::Timetable(TimetablePane { feed: first, ..TimetablePane::default() }));
}

/// Opens the plan of the selected feed.
pub fn enter(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    match model.screen.overlay {
        Some(Overlay::Timetable(TimetablePane { feed: Some(feed), .. })) => {
            explaining::open(model, now, feed)
        }
        Some(_) | None => Vec::new(),
    }
}

/// Selects the poll at a place.
pub fn select(model: &mut Model, place: usize) {
    let place = place.min(model.timetable.len().saturating_sub(1));
    let feed = model.timetable.iter().nth(place).map(|(_, feed)| *feed);
    let rows = usize::from(model.screen.viewport.overlay_rows).max(1);
    if let Some(Overlay::Timetable(pane)) = &mut model.screen.overlay {
        (pane.selected, pane.feed) = (place, feed);
        pane.top = pane.top.min(place).max(place.saturating_add(1).saturating_sub(rows));
    }
}

/// After polls moved: the selection stays on its feed, and on the screen.
pub fn refresh(model: &mut Model) {
    let Some(Overlay::Timetable(pane)) = model.screen.overlay else { return };
    let at = |place: usize| model.timetable.iter().nth(place).map(|(_, feed)| *feed);
    let place = if pane.feed.is_some() && at(pane.selected) == pane.feed {
        pane.selected
    } else {
        let found = model.timetable.iter().position(|(_, feed)| Some(*feed) == pane.feed);
        found.unwrap_or(pane.selected)
    };
    select(model, place);
}
