//! What the one loop runs: the engine alone, or with a screen.

use chrono::{DateTime, Utc};

use crate::engine::state::Engine;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::input::ScreenInput;
use crate::ui::update::update;

/// What the loop runs.
pub trait Program {
    /// Takes an input; answers with what the world is asked for.
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect>;

    /// The engine in it.
    fn engine(&self) -> &Engine;

    /// The engine in it, for what the loop sets beside the inputs.
    fn engine_mut(&mut self) -> &mut Engine;
}

impl Program for App {
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
        update(self, now, input)
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}
