//! Moving in from other readers, and out again.

mod books;
mod databases;
mod moving_in;
mod moving_out;

use serde_json::Value;

use crate::support::binary::Program;

pub fn entries(program: &Program, args: &[&str]) -> Vec<Value> {
    let all = [&["entries", "--json", "--limit", "500"], args].concat();
    program.run(&all).with(0).json().as_array().unwrap().clone()
}

/// Returns the numbers in a row of the table at the end of an import.
pub fn row(out: &str, what: &str) -> Vec<String> {
    let row = out.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    row.split_whitespace().take(2).map(str::to_owned).collect()
}

pub fn ids(entries: &[Value], flag: &str) -> Vec<String> {
    let with = entries.iter().filter(|it| it[flag] == true);
    let mut ids: Vec<String> = with.map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}
