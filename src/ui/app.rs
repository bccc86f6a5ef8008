//! The engine and the screen together: what a person sees and uses.

use chrono::{DateTime, Utc};

use super::effect::ScreenEffect;
use super::follow;
use super::panes::feeds_pane;
use super::screen::Ui;
use super::settings::ScreenSettings;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::input::Input;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::engine::store_results;
use crate::engine::update::{Output, update};

/// The engine and the state of the screen.
#[derive(Debug, Clone)]
pub struct App {
    /// The program without a screen. Changed by its inputs alone: see [`App::ask`].
    pub engine: Engine,
    /// The state of the screen.
    pub ui: Ui,
}

impl App {
    /// A screen for an engine.
    pub fn new(mut engine: Engine, settings: ScreenSettings) -> Self {
        engine.attended = true;
        let mut ui = Ui { settings, ..Ui::default() };
        ui.pictures.on = ui.settings.images;
        let mut app = Self { engine, ui };
        feeds_pane::rebuild(&mut app);
        app
    }

    /// Asks the engine for something. A refusal is told in the bottom line.
    pub fn ask(&mut self, now: DateTime<Utc>, request: Request) -> Vec<ScreenEffect> {
        self.try_ask(now, request).unwrap_or_else(|why| {
            self.ui.complain(now, why);
            Vec::new()
        })
    }

    /// Asks the engine for something. The error is a sentence that says why it is refused.
    pub fn try_ask(
        &mut self,
        now: DateTime<Utc>,
        request: Request,
    ) -> Result<Vec<ScreenEffect>, String> {
        let Output { mut events, effects } = update(&mut self.engine, now, Input::Request(request));
        let refused = events.iter().position(|event| matches!(event, Event::Refused(_)));
        let refused = refused.map(|place| events.remove(place));
        let effects = self.follow(now, events, effects);
        match refused {
            Some(Event::Refused(why)) => Err(why),
            Some(_) | None => Ok(effects),
        }
    }

    /// Lets the engine take an input, and follows what it tells.
    pub fn tell_engine(&mut self, now: DateTime<Utc>, input: Input) -> Vec<ScreenEffect> {
        let Output { events, effects } = update(&mut self.engine, now, input);
        self.follow(now, events, effects)
    }

    fn follow(
        &mut self,
        now: DateTime<Utc>,
        events: Vec<Event>,
        effects: Vec<Effect>,
    ) -> Vec<ScreenEffect> {
        let mut effects: Vec<ScreenEffect> = effects.into_iter().map(Into::into).collect();
        for event in events {
            effects.extend(follow::event(self, now, event));
        }
        effects
    }

    /// Gives work for the store its identity, before it leaves.
    pub(super) fn register(&mut self, effects: &mut [ScreenEffect]) {
        for effect in effects {
            if let ScreenEffect::Engine(effect) = effect {
                store_results::register_rollbacks(&mut self.engine, std::slice::from_mut(effect));
            }
        }
    }

    /// What the terminal's title says.
    pub fn title(&self) -> String {
        match self.engine.unread() {
            0 => "backissue".to_owned(),
            unread => format!("backissue · {unread} unread"),
        }
    }
}
