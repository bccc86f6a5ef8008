//! Searching all entries, finding words in a text, and jumping to a feed.

mod in_text;
mod jumping;
mod searching;
