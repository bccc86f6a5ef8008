//! The yardstick: the time, memory and disk space that the program uses, compared with the floor (the same fetches and parses
//! without a feed reader).
//!
//! `cargo bench --bench yardstick` prints one table, which takes a few minutes. A publisher in a separate process serves 1,000
//! feeds of 30 entries (123 MB) and of 100 entries; the program runs as users run it, each time in a fresh home folder, and the
//! system reports the resources that each process used. `BACKISSUE_YARDSTICK=small` measures twenty small feeds, as `cargo test`
//! does: the figures then mean nothing, but a missing row is a failure. `BACKISSUE_YARDSTICK=million` measures only the program with
//! 10,000 feeds and a million entries, which takes about ten minutes and 4 GB of disk. `BACKISSUE_YARDSTICK_PROGRAM` names another
//! build of the program, to compare two builds on one machine.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a measurement may panic, print, read the clock and round"
)]

mod bodies;
mod documents;
mod floor;
mod home;
mod polls;
mod publisher;
mod reading;
mod screen;
mod table;
mod usage;
mod words;

use std::process::ExitCode;
use std::time::Duration;

use table::Table;

/// The size of the measurements: how many feeds, entries and repetitions they use, and how long they take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) feeds: u32,
    /// Number of entries per feed in the small store and in the large one.
    pub(crate) entries: [u32; 2],
    /// Number of times that each poll and each start is measured; the median counts.
    pub(crate) times: usize,
    /// Number of key presses to measure.
    pub(crate) keys: usize,
    /// Time without input after which the program counts as idle: the last of its temporary threads ends after half a minute.
    pub(crate) settle: Duration,
    /// Time for which the idle program is measured.
    pub(crate) watch: Duration,
    /// Whether polls are measured, too.
    pub(crate) polls: bool,
}

const WHOLE: Extent = Extent {
    feeds: 1000,
    entries: [30, 100],
    times: 3,
    keys: 200,
    settle: Duration::from_secs(40),
    watch: Duration::from_secs(30),
    polls: true,
};

const MILLION: Extent = Extent { feeds: 10_000, polls: false, ..WHOLE };

const SMALL: Extent = Extent {
    feeds: 20,
    entries: [3, 10],
    times: 1,
    keys: 5,
    settle: Duration::from_millis(200),
    watch: Duration::from_millis(300),
    polls: true,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("publisher") => publisher::serve(&arguments[1..]),
        Some("floor") => floor::run(&arguments[1..]),
        _ if is_left_out(&arguments) => ExitCode::SUCCESS,
        _ => measure(extent(&arguments)),
    }
}

/// Checks whether the arguments select only other tests or only list the tests, so that nothing is to be measured.
fn is_left_out(arguments: &[String]) -> bool {
    let mut names = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    let others = names.peek().is_some() && !names.any(|name| "yardstick".contains(name.as_str()));
    others || arguments.iter().any(|argument| argument == "--list")
}

/// Returns the extent of the measurements: `cargo bench` measures everything, `cargo test` only checks that every row can be
/// measured.
fn extent(arguments: &[String]) -> Extent {
    let wanted = std::env::var("BACKISSUE_YARDSTICK").unwrap_or_default();
    match wanted.as_str() {
        "million" => MILLION,
        "small" => SMALL,
        _ if arguments.iter().any(|argument| argument == "--bench") => WHOLE,
        _ => SMALL,
    }
}

fn measure(extent: Extent) -> ExitCode {
    let mut table = Table::default();
    let mut publisher = publisher::Child::start(extent);
    if extent.polls {
        polls::measure(extent, &mut publisher, &mut table);
    }
    reading::measure(extent, &mut publisher, &mut table);
    table.print(extent);
    let missing = table.missing(extent);
    if missing.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("not measured: {}", missing.join("; "));
    ExitCode::FAILURE
}
