//! Tests of commands that use the store. This folder is compiled into three modules, each named after the process that has the
//! store open while its tests run.

mod archives;
mod credentials;
mod discovery;
mod filters;
mod giving_up;
mod journey;
mod keeping;
mod made_feeds;
mod marks;
mod opening;
mod opml;
mod origin_headers;
mod plan;
mod refusals;
mod search;
mod simulate;
mod statuses;
mod validators;

use serde_json::Value;

use crate::support::binary::{Program, StoreOwner};

/// Returns a fresh installation; the name of the enclosing module determines which process has its store open.
fn new_program() -> Program {
    Program::owned_by(match module_path!().rsplit("::").next().unwrap() {
        "store_free" => StoreOwner::Nobody,
        "reader_open" => StoreOwner::Reader,
        "service_running" => StoreOwner::Service,
        other => panic!("unknown store owner for {other}"),
    })
}

/// Returns the output of `feeds --json`.
fn feeds(program: &Program) -> Vec<Value> {
    program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().clone()
}

/// Returns the output of `entries --json` with additional arguments.
fn entries(program: &Program, more: &[&str]) -> Vec<Value> {
    let args = [&["entries", "--json"], more].concat();
    program.run(&args).with(0).json().as_array().unwrap().clone()
}

/// Returns the text of the field `field` of each JSON object.
fn each<'a>(values: &'a [Value], field: &str) -> Vec<&'a str> {
    values.iter().map(|value| value[field].as_str().unwrap()).collect()
}
