//! The engine without a screen, as commands run it, and the sentences that it tells.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::program::Program;
use crate::engine::event::{Event, NoticeLevel};
use crate::engine::input::Input;
use crate::engine::state::Engine;
use crate::engine::update as engine_update;
use crate::ui::effect::ScreenEffect;
use crate::ui::input::ScreenInput;

/// Sentences kept until somebody takes them; beyond that the oldest are forgotten.
const NOTICES_MAX: usize = 1000;

/// The engine without a screen, and the sentences it has told since somebody took them.
#[derive(Debug)]
pub struct Headless {
    /// The engine.
    pub engine: Engine,
    notices: VecDeque<(NoticeLevel, String)>,
}

impl Program for Headless {
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
        let input = match input {
            ScreenInput::Engine(input) => input,
            ScreenInput::Reconfigured(read) => return self.reconfigured(now, *read),
            // Nobody looks on.
            ScreenInput::Key(_)
            | ScreenInput::Pasted(_)
            | ScreenInput::Mouse(_)
            | ScreenInput::Resized(..)
            | ScreenInput::Focused(_)
            | ScreenInput::Suspend
            | ScreenInput::Continued(..)
            | ScreenInput::NoShell
            | ScreenInput::Rendered(_)
            | ScreenInput::Picture(_)
            | ScreenInput::Graphics(_)
            | ScreenInput::Indexed { .. }
            | ScreenInput::FilterPreviewed(..)
            | ScreenInput::ListRead(_)
            | ScreenInput::ListWritten(_)
            | ScreenInput::PathCompleted { .. } => return Vec::new(),
        };
        let output = engine_update::update(&mut self.engine, now, input);
        for event in output.events {
            self.keep_notice(event);
        }
        output.effects.into_iter().map(Into::into).collect()
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Headless {
    fn reconfigured(
        &mut self,
        now: DateTime<Utc>,
        read: crate::ui::input::Reconfigured,
    ) -> Vec<ScreenEffect> {
        use crate::ui::input::Reconfigured;
        match read {
            Reconfigured::Read { settings, notes, .. } => {
                for note in notes {
                    self.keep_notice(Event::trouble(note));
                }
                self.take(now, Input::Reconfigured(settings).into())
            }
            Reconfigured::Wrong(why) => {
                self.keep_notice(Event::trouble(why));
                Vec::new()
            }
        }
    }

    /// An engine that has told nothing yet.
    pub const fn new(engine: Engine) -> Self {
        Self { engine, notices: VecDeque::new() }
    }

    /// Keeps the sentence of an event, if it is one; of anything else whoever needs it asks the engine.
    fn keep_notice(&mut self, event: Event) {
        let notice = if let Event::Notice { level, text, .. } = event {
            (level, text)
        } else if let Event::Refused(text) = event {
            (NoticeLevel::Trouble, text)
        } else {
            return;
        };
        if self.notices.len() >= NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    /// Takes the sentences that were told since the last time, in order.
    pub fn notices(&mut self) -> Vec<(NoticeLevel, String)> {
        std::mem::take(&mut self.notices).into()
    }
}

#[cfg(test)]
mod tests {
    use crate::io::headless::*;

    fn headless() -> Headless {
        let settings = crate::engine::settings::Settings::default();
        let now = DateTime::UNIX_EPOCH;
        Headless::new(Engine::new(settings, chrono_tz::Tz::UTC, 0, Vec::new(), now))
    }

    #[test]
    fn sentences_are_kept_until_they_are_taken_and_nothing_else_is() {
        let mut headless = headless();
        headless.keep_notice(Event::info("one"));
        headless.keep_notice(Event::PlansChanged);
        headless.keep_notice(Event::Refused("two".into()));
        let told = headless.notices();
        let expected = [(NoticeLevel::Info, "one"), (NoticeLevel::Trouble, "two")];
        assert_eq!(told, expected.map(|(level, text)| (level, text.to_owned())));
        assert_eq!(headless.notices(), []);
    }

    #[test]
    fn of_too_many_sentences_the_oldest_are_forgotten() {
        let mut headless = headless();
        for number in 0..=NOTICES_MAX {
            headless.keep_notice(Event::info(number.to_string()));
        }
        let told = headless.notices();
        assert_eq!((told.len(), told[0].1.as_str()), (NOTICES_MAX, "1"));
    }
}
