//! A tour of the reader in its bottom line: one thing to do after the other, each over when it was done.

use super::entry_list::RowKey;
use super::feeds_pane::FeedsRow;
use crate::engine::model::Model;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// The tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tour {
    step: usize,
}

/// One thing to do.
#[derive(Debug)]
struct Step {
    /// What the bottom line says.
    say: &'static str,
    /// Whether it was done.
    done: fn(&Model) -> bool,
}

/// The tour: read, plan, pace, undo, gap, history.
const STEPS: [Step; 8] = [
    Step {
        say: "n opens the next unread entry, in whichever feed it is",
        done: |model| model.screen.focus == Pane::Reader && model.screen.reader.is_some(),
    },
    Step {
        say: "Space reads on and then goes to the next one; q goes back",
        done: |model| model.screen.focus != Pane::Reader,
    },
    Step { say: "i says when this feed is polled next, and why then", done: plan_is_open },
    Step {
        say: "the publisher said how often; + asks for more: see what that changes",
        done: |model| model.feeds.values().any(|feed| feed.record.wishes.pace.is_some()),
    },
    Step {
        say: "u takes it back, as it takes back every change",
        done: |model| model.undo.can_redo(),
    },
    Step {
        say: "q closes the plan; h goes left, k up: select Gaps among the lists",
        done: |model| {
            matches!(model.screen.feeds.selected_row(), Some(FeedsRow::Gaps))
                || a_gap_is_selected(model)
        },
    },
    Step {
        say: "here is what is missing, and why; l goes to it, Enter asks for it again",
        done: a_gap_is_selected,
    },
    Step {
        say: "/ searches everything, : knows every command, ? every key; q leaves",
        done: |model| {
            matches!(model.screen.overlay, Some(Overlay::Help(_) | Overlay::Palette(_)))
                || model.screen.search.is_some()
        },
    },
];

impl Tour {
    /// What the bottom line says; `None`: the tour is over.
    pub fn line(self) -> Option<String> {
        let step = STEPS.get(self.step)?;
        Some(format!("tour {}/{} · {}", self.step.saturating_add(1), STEPS.len(), step.say))
    }
}

/// Goes on where the reader did what the tour says.
pub fn follow(model: &mut Model) {
    let Some(tour) = model.screen.tour else { return };
    if STEPS.get(tour.step).is_some_and(|step| (step.done)(model)) {
        let step = tour.step.saturating_add(1);
        model.screen.tour = (step < STEPS.len()).then_some(Tour { step });
    }
}

fn plan_is_open(model: &Model) -> bool {
    matches!(model.screen.overlay, Some(Overlay::Plan(_)))
}

fn a_gap_is_selected(model: &Model) -> bool {
    let row = model.screen.list.selected_row();
    model.screen.focus == Pane::Entries && row.is_some_and(|row| matches!(row.key, RowKey::Gap(..)))
}
