//! The engine without a screen, as commands use it, and the messages for the user that it produced.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use crate::engine::effect::Effect;
use crate::engine::event::{Event, NoticeLevel};
use crate::engine::input::Input;
use crate::engine::state::Engine;
use crate::engine::update as engine_update;

/// Maximum number of messages that are kept; beyond that the oldest are dropped.
const NOTICES_MAX: usize = 1000;

/// The engine without a screen, and its messages since the last call to [`Headless::notices`].
#[derive(Debug)]
pub struct Headless {
    /// The engine.
    pub engine: Engine,
    notices: VecDeque<(NoticeLevel, String)>,
}

impl Headless {
    /// Passes an input to the engine and returns the effects to perform. Messages for the user are kept.
    pub(super) fn take(&mut self, now: DateTime<Utc>, input: Input) -> Vec<Effect> {
        let output = engine_update::update(&mut self.engine, now, input);
        for event in output.events {
            self.keep_notice(event);
        }
        output.effects
    }

    /// Creates a program without messages.
    pub const fn new(engine: Engine) -> Self {
        Self { engine, notices: VecDeque::new() }
    }

    /// Keeps the message of an event, if the event has one. All other events are ignored, because commands query the engine
    /// instead.
    pub(super) fn keep_notice(&mut self, event: Event) {
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

    /// Takes the messages since the last call, in order.
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
    fn only_sentences_are_kept_until_they_are_taken() {
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
    fn oldest_sentences_are_dropped_beyond_the_limit() {
        let mut headless = headless();
        for number in 0..=NOTICES_MAX {
            headless.keep_notice(Event::info(number.to_string()));
        }
        let told = headless.notices();
        assert_eq!((told.len(), told[0].1.as_str()), (NOTICES_MAX, "1"));
    }
}
