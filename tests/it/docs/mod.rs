//! Checks that the documents match the program, and that references in documents and code lead to something that exists.

mod citations;
mod command_line;
mod configuration;
mod conformance;
mod dependencies;
mod guide;
mod json_samples;
mod keys;
mod other_readers;
mod pages;
mod references;
mod state;
mod words;
mod worked_examples;
