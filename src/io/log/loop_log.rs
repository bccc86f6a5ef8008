//! Logs the inputs and effects of the main loop.

use tracing::{debug, info, warn};

use crate::engine::effect::Effect;
use crate::engine::input::Input;
use crate::ui::effect::ScreenEffect;
use crate::ui::input::ScreenInput;

/// Logs an input of the loop.
pub(in crate::io) fn log_input(input: &ScreenInput) {
    let ScreenInput::Engine(input) = input else { return };
    if let Input::Fetched(id, fetched) = input {
        match &fetched.result {
            Ok(answer) => debug!(
                "fetch {}: {} from {}, {} bytes",
                id.0, answer.status, answer.url, fetched.wire_bytes
            ),
            Err(why) => warn!("fetch {}: {why}", id.0),
        }
    } else if let Input::Stored(stored) = input {
        match &stored.result {
            Ok(_) => debug!("store work {} done", stored.id.0),
            Err(why) => warn!("store work {}: {}", stored.id.0, why.text),
        }
    } else if let Input::Trouble(why) | Input::LoginKept(_, Err(why)) = input {
        warn!("{why}");
    } else if let Input::Ran(_, Err(why)) = input {
        warn!("a command: {why}");
    } else if let Input::Woke = input {
        info!("the machine was asleep, or its clock was set");
    } else if let Input::ZoneChanged(zone) = input {
        info!("the time zone is now {zone}");
    } else if let Input::Reconfigured(_) = input {
        info!("the configuration was reloaded");
    }
}

/// Logs an effect requested by the loop.
pub(in crate::io) fn log_effect(effect: &ScreenEffect) {
    let ScreenEffect::Engine(effect) = effect else { return };
    if let Effect::Fetch(request) = effect {
        debug!("fetch {}: {}", request.id.0, request.url);
    } else if let Effect::Run(run) = effect {
        info!("starting the command {}", run.command.program());
    } else if let Effect::Store(work) = effect {
        debug!("store work {} for {:?}", work.id.0, work.job.subject());
    } else if let Effect::Stop = effect {
        info!("the program was asked to stop");
    }
}
