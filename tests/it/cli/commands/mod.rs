//! Commands that work on a store. This folder stands in three modules: who has the store open meanwhile is the name of
//! the module.

mod archives;
mod credentials;
mod discovery;
mod filters;
mod giving_up;
mod journey;
mod keeping;
mod marks;
mod opening;
mod opml;
mod plan;
mod refusals;
mod search;
mod simulate;
mod statuses;
mod validators;

use serde_json::Value;

use crate::support::binary::{Program, StoreOwner};

/// A fresh installation whose store is open as the name of this module says.
fn new_program() -> Program {
    Program::owned_by(match module_path!().rsplit("::").next().unwrap() {
        "store_free" => StoreOwner::Nobody,
        "reader_open" => StoreOwner::Reader,
        "service_running" => StoreOwner::Service,
        other => panic!("who has the store open is not known of {other}"),
    })
}

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
