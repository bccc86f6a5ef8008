//! A tour of the program in the bottom line: a sequence of tasks, each shown until it is done.

use crate::engine::entries::rows::RowKey;
use crate::ui::app::{App, Tour};
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Overlay, PickList};

/// One task of the tour.
#[derive(Debug)]
struct TourStep {
    /// Instructions for the task, shown in the bottom line.
    say: &'static str,
    /// Checks whether the task is done.
    done: fn(&App) -> bool,
}

/// The tasks of the tour: read, plan, pace, undo, gap, history.
const STEPS: [TourStep; 8] = [
    TourStep {
        say: "{next-unread} opens the next unread entry in any feed",
        done: |app| app.ui.focus == Pane::Reader && app.ui.reader.is_some(),
    },
    TourStep {
        say: "{read-on} scrolls, then opens the next entry; {back} goes back",
        done: |app| app.ui.focus != Pane::Reader,
    },
    TourStep { say: "{plan} shows when this feed is polled next, and why", done: plan_is_open },
    TourStep {
        say: "{more-often} polls more often: see what changes",
        done: |app| app.engine.feeds.values().any(|feed| feed.record.feed_settings.pace.is_some()),
    },
    TourStep {
        say: "{undo} undoes this, like every change",
        done: |app| app.engine.undo.can_redo(),
    },
    TourStep {
        say: "select Gaps on the left: {left}, then {up} or {down} ({back} closes the plan)",
        done: |app| {
            matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Gaps)) || a_gap_is_selected(app)
        },
    },
    TourStep {
        say: "this is what is missing, and why; {right} goes to it, {open} requests it again",
        done: a_gap_is_selected,
    },
    TourStep {
        say: "{search} searches everything, {command} runs any command, {help} shows the keys; {back} quits",
        done: |app| {
            let palette = |picks: &PickList| picks.line.purpose == PromptPurpose::Command;
            matches!(&app.ui.overlay, Some(Overlay::Help(_)))
                || matches!(&app.ui.overlay, Some(Overlay::Pick(picks)) if palette(picks))
                || app.ui.search.is_some()
        },
    },
];

/// Index of the task about the pace. Its instructions begin with the factor that determines the next poll of the feed.
const PACE: usize = 3;

impl Tour {
    /// Returns the instructions for the current task. Returns `None` at the end of the tour.
    pub fn line(self, app: &App) -> Option<String> {
        let step = STEPS.get(self.step)?;
        let say = app.ui.words(step.say);
        let planned = app.ui.overlay.as_ref().and_then(Overlay::feed);
        let feed = planned.filter(|_| self.step == PACE).and_then(|key| app.engine.feeds.get(&key));
        let why = feed.map(|feed| format!("what decides: {} · ", feed.plan.settled_by.in_words()));
        let why = why.unwrap_or_default();
        Some(format!("tour {}/{} · {why}{say}", self.step.saturating_add(1), STEPS.len()))
    }
}

/// Advances the tour if the current task is done.
pub fn follow_tour(app: &mut App) {
    let Some(tour) = app.ui.tour else { return };
    if STEPS.get(tour.step).is_some_and(|step| (step.done)(app)) {
        let step = tour.step.saturating_add(1);
        app.ui.tour = (step < STEPS.len()).then_some(Tour { step });
    }
}

fn plan_is_open(app: &App) -> bool {
    matches!(app.ui.overlay, Some(Overlay::Plan(_)))
}

fn a_gap_is_selected(app: &App) -> bool {
    let row = app.ui.list.selected_row();
    app.ui.focus == Pane::Entries && row.is_some_and(|row| matches!(row.key, RowKey::Gap(..)))
}
