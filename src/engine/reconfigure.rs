//! The reader changed the configuration while the program runs.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::poll::{plans, poll_queue};
use super::settings::Settings;
use super::state::Engine;
use crate::history::FeedKey;

/// Takes the new settings over: plans are made anew where the bounds changed.
pub fn reconfigured(engine: &mut Engine, now: DateTime<Utc>, settings: Settings) -> Vec<Effect> {
    let before = std::mem::replace(&mut engine.settings, settings);
    let network = before.network != engine.settings.network;
    if before.poll != engine.settings.poll || network {
        let keys: Vec<FeedKey> = engine.feeds.keys().copied().collect();
        for key in keys {
            plans::replan(engine, key, now);
            poll_queue::withdraw_early(engine, now, key);
        }
    }
    let settings = network.then(|| Box::new(engine.settings.network.clone()));
    settings.map(Effect::Reconnect).into_iter().collect()
}
