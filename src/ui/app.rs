//! The application state: the engine and the screen.

use super::screen::Ui;
use crate::engine::poll::poll_stage::PollStage;
use crate::engine::state::Engine;
use backissue_core::feed::text::counted_words;

/// The engine together with the state of the screen.
#[derive(Debug, Clone)]
pub struct App {
    /// The part of the program that does not depend on the screen. Its state changes only through requests and inputs; see
    /// [`App::ask`].
    pub engine: Engine,
    /// The state of the screen.
    pub ui: Ui,
}

impl App {
    /// Describes the work that must finish before the program can exit. Returns `None` if there is no such work.
    pub fn awaited_at_end(&self) -> Option<String> {
        let engine = &self.engine;
        let asked = engine.polls.values().filter(|poll| poll.stage != PollStage::Waiting).count();
        let counted = |count: usize, one: &str, more: &str| {
            (count > 0).then(|| counted_words(count, one, more))
        };
        let answers = counted(asked, "pending request", "pending requests");
        let unsaved = usize::try_from(engine.unsaved).unwrap_or(usize::MAX);
        let changes = counted(unsaved, "unsaved change", "unsaved changes");
        let awaited = answers.into_iter().chain(changes).collect::<Vec<_>>();
        (!awaited.is_empty()).then(|| format!("quitting: waiting for {} …", awaited.join(" and ")))
    }

    /// Returns the title for the terminal window.
    pub fn title(&self) -> String {
        match self.engine.unread() {
            0 => "backissue".to_owned(),
            unread => format!("backissue · {unread} unread"),
        }
    }
}
