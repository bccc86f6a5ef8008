//! The command line, through the real binary.

mod journey;
mod keeping;
mod owner;
mod plan;
mod refusals;
mod search;
mod simulate;
mod statuses;
mod validators;

use serde_json::Value;

use crate::binary::Program;

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
