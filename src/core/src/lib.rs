//! The core of `backissue`: reads feeds, decides when to poll them next and why, and tells whether their history is whole.
//!
//! Nothing here knows the time, the network or a disk: what is needed is passed in, and every decision carries its reason. A room
//! uses only those above it in this list:
//!
//! | room | what it holds |
//! | --- | --- |
//! | [`feed`] | what a publisher says: documents, entries, hints, discovery, OPML |
//! | [`history`] | what is known of each logical feed: kept entries, which copy wins, archives, gaps |
//! | [`schedule`] | when to poll next, and why then |
//! | [`lint`] | what readers will make of a document, for its publisher |
//! | [`search`] | what a reader looks for: the words of a text, the query, the marks of a hit |
//! | [`simulate`] | the paper's experiment: policies run over publication times, and scored |
//! | [`filters`] | the reader's filters on entries: which they hit, what they do |

#![forbid(unsafe_code)]

pub mod feed;
pub mod filters;
pub mod history;
pub mod lint;
pub mod schedule;
pub mod search;
pub mod simulate;
