//! What the documents promise is what the program has, and what they and the code refer to is there.

mod citations;
mod command_line;
mod configuration;
mod conformance;
mod dependencies;
mod json_samples;
mod keys;
mod pages;
mod references;
mod words;
mod worked_examples;
