//! The program that the main loop runs: the engine, with or without a screen.

use chrono::{DateTime, Utc};

use super::headless::Headless;
use crate::engine::event::Event;
use crate::engine::input::Input;
use crate::engine::state::Engine;
use crate::engine::update::next_wake;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::input::{Reconfigured, ScreenInput};
use crate::ui::reader::marking_read::due;
use crate::ui::update::update;

/// A program for the main loop.
pub trait Program {
    /// Handles an input. Returns the effects to perform.
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect>;

    /// Returns the time at which the program needs a tick, if nothing happens before.
    fn next_wake(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        next_wake(self.engine(), now)
    }

    /// Returns the engine.
    fn engine(&self) -> &Engine;

    /// Returns the engine, so that the main loop can set some of its values directly.
    fn engine_mut(&mut self) -> &mut Engine;
}

impl Program for App {
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
        update(self, now, input)
    }

    fn next_wake(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let engine = next_wake(&self.engine, now);
        due(self).map_or(engine, |due| due.min(engine))
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Program for Headless {
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
        let input = match input {
            ScreenInput::Engine(input) => input,
            ScreenInput::Reconfigured(read) => match *read {
                Reconfigured::Read { settings, notes, .. } => {
                    for note in notes {
                        self.keep_notice(Event::trouble(note));
                    }
                    Input::Reconfigured(settings)
                }
                Reconfigured::Wrong(why) => Input::Trouble(why),
            },
            // Ignore the inputs that matter only with a screen.
            ScreenInput::Key(_)
            | ScreenInput::Pasted(_)
            | ScreenInput::Mouse(_)
            | ScreenInput::Resized(..)
            | ScreenInput::Focused(_)
            | ScreenInput::Ground(_)
            | ScreenInput::Suspend
            | ScreenInput::Continued(..)
            | ScreenInput::NoShell
            | ScreenInput::Rendered(_)
            | ScreenInput::Picture(_)
            | ScreenInput::Graphics(_)
            | ScreenInput::FilterPreviewed(..)
            | ScreenInput::AccountAdded(_)
            | ScreenInput::ListRead(_)
            | ScreenInput::Told(_)
            | ScreenInput::PathCompleted { .. } => return Vec::new(),
        };
        Self::take(self, now, input).into_iter().map(Into::into).collect()
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}
