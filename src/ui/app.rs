//! The engine and the screen together: what a person sees and uses.

use super::screen::Ui;
use crate::engine::state::Engine;

/// The engine and the state of the screen.
#[derive(Debug, Clone)]
pub struct App {
    /// The program without a screen. Changed by its inputs alone: see [`App::ask`].
    pub engine: Engine,
    /// The state of the screen.
    pub ui: Ui,
}

impl App {
    /// What the terminal's title says.
    pub fn title(&self) -> String {
        match self.engine.unread() {
            0 => "backissue".to_owned(),
            unread => format!("backissue · {unread} unread"),
        }
    }
}
