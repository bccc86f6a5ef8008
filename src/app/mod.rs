//! What happens next: the model, the messages that change it, and the effects that are asked of the world.
//! Pure; stands on `feed`, `history` and `schedule`.
//!
//! This folder does not draw, fetch, store or wait. [`update`](update::update) is the only way in; a journey
//! is one file: `polling`, `subscribing`, `reading`, `marking`, `preferring`, `explaining`.

pub mod advising;
pub mod answers;
pub mod archiving;
pub mod asking;
pub mod attention;
pub mod backfilling;
pub mod browsing;
pub mod command;
pub mod command_names;
pub mod correcting;
pub mod editing;
pub mod effect;
pub mod explaining;
pub mod feeds_pane;
pub mod fetching;
pub mod foreseeing;
pub mod gap_rows;
pub mod key;
pub mod keymap;
pub mod learning;
pub mod lines;
pub mod listing;
pub mod marking;
pub mod model;
pub mod moving;
pub mod msg;
pub mod obeying;
pub mod outlining;
pub mod own_rules;
pub mod palette;
pub mod picturing;
pub mod placing;
pub mod planning;
pub mod poll_log;
pub mod poll_times;
pub mod polling;
pub mod preferring;
pub mod pressing;
pub mod prompting;
pub mod reachability;
pub mod reading;
pub mod recalling;
pub mod refreshing;
pub mod results;
pub mod saving;
pub mod screen;
pub mod searching;
pub mod server_habits;
pub mod settings;
pub mod settling;
pub mod span;
pub mod sparing;
pub mod subscribing;
pub mod subscription;
pub mod traffic;
pub mod undoing;
pub mod unsubscribing;
pub mod update;
pub mod walking;
pub mod wishing;
