//! `backissue`: a feed reader for the terminal.
//!
//! [`backissue_core`] reads feeds and decides; this crate is the program around it. Its rooms, each of which uses only those above
//! it in this list:
//!
//! | room | what it holds |
//! | --- | --- |
//! | [`demo`] | the demo's publisher: what it answers to which request |
//! | [`engine`] | the program without a screen: subscriptions, polls, archives, marks, filters |
//! | [`ui`] | the state of the screen: panes, overlays, keys, themes |
//! | [`view`] | the screen, drawn from the model |
//! | [`io`] | the world: network, store, terminal, clock, the one loop |
//! | [`cli`] | the command line, one file a subcommand |
//!
//! Invariants, each with its test:
//!
//! 1. Nothing above `io` knows the time; `now` is a parameter. (clippy, `tests/tidy.rs`)
//! 2. No floor reaches down the list. (`tests/tidy.rs`)
//! 3. Nothing above `io` fails for outside reasons: failures arrive as values in messages.
//! 4. The view computes nothing: what it shows, the model already says.
//! 5. One document, one batch: entries, sums, state and validators are written all or none.
//! 6. What is reported as done is durable.
//! 7. Order is the same in every run: no hash maps. (clippy)
//! 8. Everything from the network has a limit, a named constant.
//! 9. A late answer is harmless: an unknown fetch is dropped.

#![forbid(unsafe_code)]

pub mod cli;
pub mod demo;
pub mod engine;
pub mod io;
pub mod ui;
pub mod view;
