//! Hand-over of the store from one process to another: between a service (`watch`) and a reader (the terminal interface), between
//! two readers, and from a reader to a command that needs exclusive access. Also checks which files remain after the last owner has
//! exited.

use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use backissue::engine::change::value::SavedSearch;
use backissue::io::store::Store;

use crate::support::binary::{Program, ask_to_end, ended, kill};
use crate::support::dice::Dice;
use crate::support::terminal_session::Session;

/// Maximum time until a service has the store again after the reader has ended; `hand_overs` reports the measured times.
const BACK_AFTER: Duration = Duration::from_secs(5);

/// A running `backissue watch` whose standard error the test reads line by line.
pub(super) struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    pub(super) fn start(program: &Program) -> Self {
        let mut child = program.start(&["watch"]);
        let told = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in told.lines().map_while(Result::ok) {
                sender.send(line).ok();
            }
        });
        Self { child, lines }
    }

    /// Waits for a line that contains `words` and returns how long the wait was.
    #[track_caller]
    pub(super) fn until_it_says(&self, words: &str) -> Duration {
        let began = Instant::now();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(20)) {
            if line.contains(words) {
                return began.elapsed();
            }
        }
        panic!("no output contains: {words}");
    }

    pub(super) fn end(self) {
        ask_to_end(self.child.id());
        ended(self.child, b"").with(0);
    }
}

const LET_GO: &str = "took over the store";
const GOES_ON: &str = "watching 1 subscription;";

/// Returns a program with one feed and automatic polling switched off.
fn with_a_feed() -> Program {
    let program = Program::new();
    program.write("config.toml", "[poll]\nautomatic = false\n");
    program.run(&["add", "http://127.0.0.1:1/orchard.xml", "--no-poll"]).with(0);
    program
}

/// Starts the terminal interface and waits until it shows the feed.
fn reader(program: &Program) -> Session {
    let mut session = program.start_reader();
    session.until_it_says("http://127.0");
    session
}

/// Changes the feed's title with the `set` command, which the process that has the store open performs.
#[track_caller]
fn rename(program: &Program, title: &str) {
    program.run(&["set", "1", "--title", title]).with(0);
    assert_eq!(program.run(&["feeds", "--json"]).with(0).json()[0]["title"], title);
}

#[test]
fn reader_takes_over_from_a_service_and_gives_back() {
    let program = with_a_feed();
    let watch = Watch::start(&program);
    watch.until_it_says(GOES_ON);
    let mut session = reader(&program);
    watch.until_it_says(LET_GO);
    rename(&program, "Orchard by the sea");
    session.until_it_says("Orchard by");
    session.press("q");
    assert!(session.ended().success());
    let after = watch.until_it_says(GOES_ON);
    assert!(after < BACK_AFTER, "{after:?}");
    let mut session = program.start_reader();
    session.until_it_says("Orchard by");
    watch.until_it_says(LET_GO);
    kill(session.child.process_id().unwrap());
    let after = watch.until_it_says(GOES_ON);
    assert!(after < BACK_AFTER, "{after:?}");
    rename(&program, "Orchard on the hill");
    watch.end();
}

#[test]
fn service_started_beside_a_reader_waits_for_its_end() {
    let program = with_a_feed();
    let mut session = reader(&program);
    let watch = Watch::start(&program);
    watch.until_it_says("polling resumes when it ends");
    rename(&program, "Orchard");
    session.press("q");
    assert!(session.ended().success());
    watch.until_it_says(GOES_ON);
    watch.end();
    let mut session = program.start_reader();
    session.until_it_says("Orchard");
    let watch = Watch::start(&program);
    watch.until_it_says("polling resumes when it ends");
    watch.end();
    session.press("q");
    assert!(session.ended().success());
}

#[test]
fn second_reader_asks_takes_over_and_gives_back() {
    let program = with_a_feed();
    let mut first = reader(&program);
    let mut second = program.start_reader();
    second.until_it_says("take over?");
    second.press("n\n");
    assert!(second.ended().success());
    let mut second = program.start_reader();
    second.until_it_says("take over?");
    second.press("\n");
    second.until_it_says("http://127.0");
    first.until_it_says("taken over by another terminal");
    rename(&program, "Orchard by the sea");
    second.until_it_says("Orchard by");
    first.press("\r");
    first.until_it_says("Orchard by");
    second.until_it_says("taken over by another terminal");
    // When the first reader ends, the second one, which had handed the store to it, gets the store back.
    first.press("q");
    assert!(first.ended().success());
    second.until_it_says("Orchard by");
    second.press("q");
    assert!(second.ended().success());
    program.run(&["doctor"]).with(0);
}

#[test]
fn exclusive_command_borrows_the_store_from_the_reader() {
    let program = with_a_feed();
    let file = program.path("all.backup");
    let file = file.to_str().unwrap();
    program.run(&["backup", file]).with(0);
    rename(&program, "Orchard by the sea");
    let mut session = program.start_reader();
    session.until_it_says("Orchard by");
    program.run(&["doctor", "--compact"]).with(0);
    program.run(&["restore", file]).with(0);
    session.until_it_says("http://127.0");
    rename(&program, "Orchard on the hill");
    session.until_it_says("Orchard on");
    session.press("q");
    assert!(session.ended().success());
}

/// Writes random data into the store until its log is larger than the size at which the program compacts it.
fn fill(program: &Program) {
    let mut dice = Dice::of(5, "filling", 0);
    let mut store = Store::open(&program.data()).unwrap();
    let search = |text: String| SavedSearch { id: 1, name: "filling".into(), text };
    for _ in 0..40 {
        let text = (0..20_000).map(|_| format!("{:016x}", dice.roll(u64::MAX))).collect();
        store.save_searches(&[search(text)]).unwrap();
    }
    store.save_searches(&[]).unwrap();
}

#[test]
fn reader_tidies_its_store_on_exit_and_on_signals() {
    let quit = |session: &mut Session| session.press("q");
    let terminate = |session: &mut Session| ask_to_end(session.child.process_id().unwrap());
    for end in [quit, terminate as fn(&mut Session)] {
        let program = with_a_feed();
        program.run(&["doctor", "--compact"]).with(0);
        fill(&program);
        let mut session = program.start_reader();
        session.until_it_says("http://127.0");
        end(&mut session);
        assert!(session.ended().success());
        assert!(session.has_written("the store was compacted"), "{}", session.text());
    }
}
