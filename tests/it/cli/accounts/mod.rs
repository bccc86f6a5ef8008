//! Accounts on servers, through the real binary and a server that behaves like each known one.

mod full_disk;
mod hostile;
mod interleavings;
mod interrupted;
mod labels;
mod marks;
mod miniflux;
mod stories;
mod subscriptions;
mod undoing;

use crate::support::binary::{Ended, Program};
use crate::support::greader_double::{GreaderDouble, Habits, IdForm};

const FRESHRSS: Habits = Habits {
    base: "/api/greader.php",
    ids: IdForm::Decimal,
    toggles: false,
    page_max: usize::MAX,
    odd_continuation: true,
    address_streams: false,
};
const MINIFLUX: Habits = Habits { base: "", toggles: true, page_max: 7, ..FRESHRSS };
const OLD_READER: Habits = Habits { base: "", ids: IdForm::Letters, ..FRESHRSS };
const INOREADER: Habits = Habits {
    base: "",
    ids: IdForm::Decimal,
    page_max: 5,
    odd_continuation: false,
    address_streams: true,
    ..FRESHRSS
};
const BAZQUX: Habits =
    Habits { base: "", ids: IdForm::Long, page_max: 3, address_streams: true, ..FRESHRSS };
const DIALECTS: [Habits; 5] = [FRESHRSS, MINIFLUX, OLD_READER, INOREADER, BAZQUX];

/// Adds an account whose password is the given one.
fn add(program: &Program, server: &GreaderDouble, password: &str) -> Ended {
    let place = ["--user", "ann", "--name", "home"];
    let args = [&["account", "add", server.address()][..], &place].concat();
    program.run_with(&args, format!("{password}\n").as_bytes())
}

fn with_account(habits: Habits) -> (Program, GreaderDouble) {
    let (program, server) = (Program::new(), GreaderDouble::start(habits));
    server.publish(1, 1..=20);
    server.publish(2, 21..=30);
    server.state().items.get_mut(&3).unwrap().is_read = true;
    server.state().items.get_mut(&4).unwrap().is_starred = true;
    add(&program, &server, "secret").with(0);
    server.count_requests();
    (program, server)
}

fn sync(program: &Program) -> Ended {
    program.run(&["account", "sync"]).with(0)
}

/// The entries as number on the server, read, starred.
fn marks(program: &Program) -> Vec<(u64, bool, bool)> {
    let entries = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let mark = |entry: &serde_json::Value| {
        let number = entry["link"].as_str()?.rsplit('/').next()?.parse().ok()?;
        Some((number, entry["read"].as_bool()?, entry["starred"].as_bool()?))
    };
    let mut marks: Vec<_> = entries.as_array().unwrap().iter().filter_map(mark).collect();
    marks.sort_unstable();
    marks
}

/// The number of the entry that has this number on the server.
fn here(program: &Program, number: u64) -> String {
    let entries = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let end = format!("/{number}");
    let mut all = entries.as_array().unwrap().iter();
    let found = all.find(|entry| entry["link"].as_str().unwrap().ends_with(&end)).unwrap();
    found["number"].as_str().unwrap().to_owned()
}
