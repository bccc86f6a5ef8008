//! What happens next: the model, the messages that change it, and the effects that are asked of the world.
//! Pure; stands on `feed`, `history` and `schedule`.
//!
//! This folder does not draw, fetch, store or wait. [`update`](crate::engine::update::update) is the only way in; a journey
//! is one file: `polling`, `subscribing`, `reading`, `marking`, `preferring`, `explaining`.

pub mod backfill;
pub mod durations;
pub mod effect;
pub mod entries;
pub mod external_command;
pub mod feeds;
pub mod learn;
pub mod model;
pub mod msg;
pub mod notifications;
pub mod politeness;
pub mod poll;
pub mod reconfigure;
pub mod run_external;
pub mod settings;
pub mod undo;
pub mod update;
pub mod wording;
