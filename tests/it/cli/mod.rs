//! The command line, through the real binary.

pub mod archives;
pub mod filters;
pub mod giving_up;
pub mod journey;
pub mod keeping;
pub mod lint;
pub mod marks;
pub mod opening;
pub mod opml;
pub mod owner;
pub mod plan;
pub mod refusals;
pub mod search;
pub mod simulate;
pub mod statuses;
pub mod validators;

use serde_json::Value;

use crate::support::binary::Program;

/// `feeds --json`.
fn feeds(program: &Program) -> Vec<Value> {
    program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().clone()
}

/// `entries --json` with further arguments.
fn entries(program: &Program, more: &[&str]) -> Vec<Value> {
    let args = [&["entries", "--json"], more].concat();
    program.run(&args).with(0).json().as_array().unwrap().clone()
}

/// One field of each.
fn each<'a>(values: &'a [Value], field: &str) -> Vec<&'a str> {
    values.iter().map(|value| value[field].as_str().unwrap()).collect()
}
