//! `backissue`: a feed reader for the terminal.
//!
//! [`backissue_core`] parses feeds and makes decisions; this crate is the program around it. Each module uses only the
//! modules above it in this list:
//!
//! | module | content |
//! | --- | --- |
//! | [`demo`] | the demo's publisher: its answer to each request |
//! | [`engine`] | the program without a screen: subscriptions, polls, archives, marks, filters |
//! | [`ui`] | the state of the screen: panes, overlays, keys, themes |
//! | [`view`] | the screen, drawn from the model |
//! | [`io`] | the outside world: network, store, terminal, clock, the main loop |
//! | [`cli`] | the command line, one file per subcommand |
//!
//! Invariants, each with its test:
//!
//! 1. No module above `io` reads the time; `now` is a parameter. (clippy, `tests/tidy.rs`)
//! 2. No module uses one below it in the list. (`tests/tidy.rs`)
//! 3. Outside failures reach the modules above `io` as values in messages.
//! 4. The view computes nothing; it shows what is in the model.
//! 5. One document, one batch: entries, totals, state and validators are all written, or none.
//! 6. A change reported as done is durable.
//! 7. Order is the same in every run: no hash maps. (clippy)
//! 8. Everything from the network has a limit, a named constant.
//! 9. A late answer is harmless: the result of an unknown fetch is dropped.

#![forbid(unsafe_code)]

pub mod cli;
pub mod demo;
pub mod engine;
pub mod io;
pub mod ui;
pub mod view;
