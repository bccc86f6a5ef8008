//! What the commands of the screen work with: the program, the time, and a list of the effects that they start.

use chrono::{DateTime, Utc};

use super::app::App;
use super::effect::{ScreenEffect, ask_store};
use super::keys::key_bindings::Sentence;
use crate::engine::entries::rows::RowsWanted;
use crate::engine::store_work::Job;

/// The context of a command.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The screen and the engine.
    pub app: &'a mut App,
    /// The time of the input.
    pub now: DateTime<Utc>,
    /// The effects to perform, in order.
    pub out: Vec<ScreenEffect>,
}

impl<'a> Cx<'a> {
    /// Creates a context without effects.
    pub const fn new(app: &'a mut App, now: DateTime<Utc>) -> Self {
        Self { app, now, out: Vec::new() }
    }

    /// Runs `does` in a context, and returns the effects that it started.
    pub fn run(
        app: &'a mut App,
        now: DateTime<Utc>,
        does: impl FnOnce(&mut Self),
    ) -> Vec<ScreenEffect> {
        let mut cx = Self::new(app, now);
        does(&mut cx);
        cx.out
    }

    /// Requests rows of a list from the store.
    pub fn read_rows(&mut self, wanted: RowsWanted) {
        self.out.push(ask_store(Job::ReadRows(wanted)));
    }

    /// Shows a message in the status line.
    pub fn say(&mut self, text: impl Sentence) {
        self.app.ui.say(self.now, text);
    }

    /// Shows a message about a change in the status line, with the key that undoes the change.
    pub fn say_undoable(&mut self, text: impl Sentence) {
        self.app.ui.say_undoable(self.now, text);
    }

    /// Reports a problem in the status line.
    pub fn complain(&mut self, text: impl Sentence) {
        self.app.ui.complain(self.now, text);
    }

    /// Shows the result of an earlier request in the status line.
    pub fn answer(&mut self, text: impl Sentence) {
        self.app.ui.answer(self.now, text);
    }
}
