//! The program without its user interface: subscriptions, polls, request limits, back-fill, learning, filters, marks, undo.
//!
//! The engine is pure: it does not draw, fetch, store, wait, or read the clock. [`update::update`] is the only entry point: it
//! takes an [`request::Input`] and returns [`request::Event`]s and [`request::Effect`]s. Every action of a user is a
//! [`request::Request`], whether it comes from the screen, a command, or another process. The engine does not refer to panes, keys,
//! or colours, and does not import `ui` or `view`.

pub mod backfill;
pub mod change;
pub mod downloads;
pub mod entries;
pub mod entry_formats;
pub mod event_json;
pub mod external_command;
pub mod external_run;
pub mod feeds;
pub mod move_in;
pub mod other_reader_marks;
pub mod politeness;
pub mod poll;
pub mod request;
pub mod search_query;
pub mod settings;
pub mod start_external;
pub mod state;
pub mod store_results;
pub mod store_work;
pub mod update;
pub mod wording;
