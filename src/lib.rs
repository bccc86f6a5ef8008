//! `backissue`: a feed reader for the terminal.
//!
//! The rooms stand in floors; a floor uses only those above it in this list:
//!
//! | room | what it holds |
//! | --- | --- |
//! | [`feed`] | what a publisher says: documents, entries, hints, discovery, OPML |
//! | [`history`] | what we know of each logical feed: kept entries, which copy wins |
//! | [`schedule`] | when to poll next, and why then |
//! | [`lint`] | what readers will make of a document, for its publisher |
//! | [`search`] | what a reader looks for: the words of a text, the query, the marks of a hit |
//! | [`simulate`] | the paper's experiment: policies run over publication times, and scored |
//! | [`filters`] | the reader's filters on entries: which they hit, what they do |
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
pub mod feed;
pub mod filters;
pub mod history;
pub mod io;
pub mod lint;
pub mod schedule;
pub mod search;
pub mod simulate;
pub mod ui;
pub mod view;
