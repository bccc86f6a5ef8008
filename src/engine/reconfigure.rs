//! Handles changes of the configuration or the time zone while the program runs.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::effect::Effect;
use super::poll::{plans, poll_queue};
use super::settings::Settings;
use super::state::Engine;
use backissue_core::history::FeedKey;

/// Applies a reloaded configuration, and updates the plans of all feeds if the poll or network settings changed.
pub fn reconfigured(engine: &mut Engine, now: DateTime<Utc>, settings: Settings) -> Vec<Effect> {
    let before = std::mem::replace(&mut engine.settings, settings);
    let network = before.network != engine.settings.network;
    if before.poll != engine.settings.poll || network {
        replan_all(engine, now);
    }
    let settings = network.then(|| Box::new(engine.settings.network.clone()));
    settings.map(Effect::Reconnect).into_iter().collect()
}

/// Changes the user's time zone, in which times are shown and learned plans are computed.
pub fn change_zone(engine: &mut Engine, now: DateTime<Utc>, zone: Tz) {
    engine.zone = zone;
    replan_all(engine, now);
}

fn replan_all(engine: &mut Engine, now: DateTime<Utc>) {
    let keys: Vec<FeedKey> = engine.feeds.keys().copied().collect();
    for key in keys {
        plans::replan(engine, key, now);
        poll_queue::withdraw_early(engine, now, key);
    }
}
