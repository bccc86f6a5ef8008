//! Recent events of a long-running process, one line of JSON each, for scripts.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use super::json;
use crate::engine::event::Event;
use crate::engine::event_json::event_line;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;

/// Maximum number of events that are kept, and of events that may wait for a slow program that reads the output.
pub(super) const EVENTS_MAX: usize = 1000;

/// The last events of a long-running process, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct EventLog(Arc<watch::Sender<VecDeque<String>>>);

impl EventLog {
    /// Records all events of the main loop from now on. If the loop has ended, nothing is recorded.
    pub(super) fn keep(hand: &LoopHandle) -> Self {
        let log = Self::default();
        let kept = log.clone();
        hand.watch(Box::new(move |engine, events| {
            kept.0.send_modify(|lines| {
                lines.extend(lines_of(engine, events));
                let beyond = lines.len().saturating_sub(EVENTS_MAX);
                lines.drain(..beyond);
            });
            false
        }));
        log
    }

    /// Returns the recorded events as lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.borrow().iter().cloned().collect()
    }
}

/// Converts events to lines of JSON for scripts.
pub(super) fn lines_of(engine: &Engine, events: &[Event]) -> Vec<String> {
    if events.is_empty() {
        return Vec::new();
    }
    let now = clock::now();
    events.iter().filter_map(|event| Some(json::line(&event_line(engine, event, now)?))).collect()
}
