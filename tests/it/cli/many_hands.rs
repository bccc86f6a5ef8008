//! Many processes run commands at once on a store that a reader (the terminal interface) has open, while keys are pressed in the
//! reader.
//!
//! `BACKISSUE_HANDS=200` sets the number of commands in each command sequence to 200.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::binary::{Ended, Program};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};
use crate::support::terminal_session::Session;

/// Number of command sequences that run concurrently.
const HANDS: usize = 8;
/// Number of commands in each sequence unless `BACKISSUE_HANDS` is set.
const COMMANDS: usize = 4;
/// Number of feeds at the start; the last one answers 404.
const FEEDS: usize = HANDS;
/// Keys that neither quit the reader nor start another program, unsubscribe, or undo what other processes did. A single Escape in
/// the first pane would quit the reader.
const KEYS: [&str; 29] = [
    "j", "k", "l", "h", "g", "G", " ", "\r", "n", "p", "J", "K", "N", "s", "A", "r", "R", "i", "+",
    "-", "=", "P", "S", "f", "?", "\t", "/e\r", "l\x1b", "l\x1b",
];
/// Pause between two key presses.
const KEY_PAUSE: Duration = Duration::from_millis(20);

fn commands() -> usize {
    let stated = std::env::var("BACKISSUE_HANDS").ok().and_then(|count| count.parse().ok());
    stated.unwrap_or(COMMANDS)
}

/// A pseudo-random number generator, which returns the same numbers in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Acknowledged changes of one command sequence, and the time its slowest command took.
#[derive(Default)]
struct Made {
    title: String,
    added: Vec<String>,
    longest: Duration,
}

/// Runs random commands one after another; no other sequence changes the title of the feed with the number `hand + 1`.
fn run_commands(program: &Program, site: &Site, hand: usize, commands: usize) -> Made {
    let mut dice = Dice(77 + hand as u64);
    let mut made = Made::default();
    let own = (hand + 1).to_string();
    for turn in 0..commands {
        let any = (dice.roll(FEEDS) + 1).to_string();
        let began = Instant::now();
        match dice.roll(17) {
            0 => listed(&program.run(&["feeds", "--json"]).with(0), FEEDS),
            1 => listed(&program.run(&["entries", "--json", "--limit", "50"]).with(0), 0),
            2 => listed(&program.run(&["search", "--json", "e"]).with(0), 0),
            3 => {
                let address = site.at(&format!("/added/{hand}-{turn}"));
                said(&program.run(&["add", "--no-poll", &address]).with(0));
                made.added.push(address);
            }
            4 | 5 => {
                let title = format!("Feed of hand {hand}, turn {turn}");
                said(&program.run(&["set", &own, "--title", &title]).with(0));
                made.title = title;
            }
            6 => {
                let pace = ["more", "normal", "less"][dice.roll(3)];
                said(&program.run(&["set", &any, "--pace", pace]).with(0));
            }
            7 | 8 => polled(&program.run(&["poll", &any, "--json"])),
            9 => {
                let list = program.run(&["export"]).with(0).out;
                assert!(list.trim_end().ends_with("</opml>"), "{list}");
            }
            10 => assert!(program.run(&["plan", &any, "--json"]).with(0).json().is_object()),
            11 => assert!(program.run(&["history", &any, "--json"]).with(0).json().is_object()),
            12 | 13 => {
                let mark = ["read", "unread", "starred", "unstarred"][dice.roll(4)];
                program.run(&["mark", mark, "--feed", &any]).with(0);
            }
            14 | 15 => {
                let unread = program.run(&["unread"]).with(0).out;
                assert!(unread.trim().parse::<u32>().is_ok(), "{unread}");
            }
            _ => {
                let told = program.run(&["doctor"]).with(0).out;
                assert!(told.contains("store: "), "{told}");
            }
        }
        made.longest = made.longest.max(began.elapsed());
    }
    made
}

#[track_caller]
fn listed(run: &Ended, at_least: usize) {
    assert!(run.json().as_array().unwrap().len() >= at_least, "{run:#?}");
}

#[track_caller]
fn said(run: &Ended) {
    assert!(!run.out.trim().is_empty(), "{run:#?}");
}

/// Checks that `poll --json` for one feed reports its result, and exits with status 1 if the poll failed.
#[track_caller]
fn polled(run: &Ended) {
    let answer = run.json();
    let failed = answer["failed"].as_u64().unwrap();
    assert_eq!(answer["feeds"].as_array().unwrap().len(), 1, "{run:#?}");
    assert_eq!(run.status, Some(i32::from(failed > 0)), "{run:#?}");
}

/// Presses random keys until `stop` is set; returns the number of keys.
fn press_keys(session: &mut Session, stop: &AtomicBool) -> usize {
    let mut dice = Dice(7);
    let mut pressed = 0;
    while !stop.load(Ordering::Relaxed) {
        if let Some(status) = session.child.try_wait().unwrap() {
            session.take_for(KEY_PAUSE);
            panic!("the reader ended ({status:?}) after {pressed} keys:\n{}", session.text());
        }
        session.press(KEYS[dice.roll(KEYS.len())]);
        pressed += 1;
        session.take_for(KEY_PAUSE);
    }
    pressed
}

#[test]
fn eight_processes_leave_a_sound_store_and_all_are_answered() {
    let polls = std::sync::atomic::AtomicU32::new(0);
    // The eighth feed fails; every other feed returns a document with another number of entries at each poll.
    let site = Site::start(move |request| match request.path() {
        "/feed/8" => answer(404, &[], ""),
        path => answer(200, &[], rss(path, "e", 3 + polls.fetch_add(1, Ordering::Relaxed) % 40)),
    });
    let program = Program::new();
    program.write("config.toml", "[network]\nspace_loopback = false\n[poll]\nautomatic = false\n");
    for number in 1..=FEEDS {
        program.run(&["add", "--no-poll", &site.at(&format!("/feed/{number}"))]).with(0);
    }
    let mut session = program.start_reader();
    session.until_it_says("http://127.0");
    let (stop, count, began) = (AtomicBool::new(false), commands(), Instant::now());
    let (made, pressed) = std::thread::scope(|scope| {
        let keys = scope.spawn(|| press_keys(&mut session, &stop));
        let hands: Vec<_> = (0..HANDS)
            .map(|hand| {
                let (program, site) = (&program, &site);
                scope.spawn(move || run_commands(program, site, hand, count))
            })
            .collect();
        // Wait for all command sequences before the keys stop, even if one of them panics.
        let made: Vec<_> = hands.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        (made, keys.join().unwrap())
    });
    let made: Vec<Made> =
        made.into_iter().map(|made| made.expect("each process ends well")).collect();
    let took = began.elapsed();
    // The store is checked while the reader is open, and again after it has ended.
    check_all_there(&program, &made);
    // Several `undo` commands run at once. It is random which changes they undo, but the counters must still be right.
    std::thread::scope(|scope| {
        for _ in 0..HANDS {
            scope.spawn(|| program.run(&["undo", "--yes"]).with(0));
        }
    });
    check_sums(&program);
    session.press("\x03");
    assert!(session.ended().success());
    check_sums(&program);
    let longest = made.iter().map(|made| made.longest).max().unwrap();
    #[expect(clippy::print_stdout, reason = "a long run is for its figures")]
    {
        println!(
            "{} commands of {HANDS} processes in {took:?}, the longest {longest:?}; {pressed} keys; {} requests",
            HANDS * count,
            site.all_requests().len()
        );
    }
}

/// Checks that every acknowledged change is in the store.
fn check_all_there(program: &Program, made: &[Made]) {
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    let feeds = feeds.as_array().unwrap();
    let added: Vec<&String> = made.iter().flat_map(|made| &made.added).collect();
    assert_eq!(feeds.len(), FEEDS + added.len());
    assert!(added.iter().all(|url| feeds.iter().any(|feed| feed["url"] == url.as_str())));
    for (feed, made) in feeds.iter().zip(made) {
        assert!(made.title.is_empty() || feed["title"] == made.title.as_str(), "{feed:#}");
    }
    check_sums(program);
}

/// Checks with `doctor` that the store is sound and its counters equal a recount.
fn check_sums(program: &Program) {
    let checked = program.run(&["doctor"]).with(0);
    assert!(checked.out.contains("no errors found"), "{checked:#?}");
}
