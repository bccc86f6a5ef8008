//! The program without a screen: subscriptions, polls, politeness, back-fill, learning, filters, marks, undo.
//!
//! Pure: it does not draw, fetch, store, wait or know the time. [`update::update`] is the only way in: an
//! [`input::Input`] comes, [`event::Event`]s and [`effect::Effect`]s go out. What a reader asks for is a
//! [`request::Request`], whoever asks. Nothing here names a pane, a key or a colour, or imports `ui` or `view`.

pub mod backfill;
pub mod calendar;
pub mod commands_under_way;
pub mod durations;
pub mod effect;
pub mod entries;
pub mod event;
pub mod event_json;
pub mod external;
pub mod feeds;
pub mod input;
pub mod politeness;
pub mod poll;
pub mod reconfigure;
pub mod request;
pub mod save_searches;
pub mod saved_searches;
pub mod search_query;
pub mod settings;
pub mod start;
pub mod state;
pub mod store_results;
pub mod store_work;
pub mod undo;
pub mod update;
pub mod wording;
