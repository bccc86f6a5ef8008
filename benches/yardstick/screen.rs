//! Runs the program in a terminal, presses keys, and measures the time of each change of the screen.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::home::{Home, environment, program};
use super::usage::Threads;

const COLUMNS: u16 = 120;
const ROWS: u16 = 36;
/// Screen columns of the feed list and of the entry list, each with the minimum number of its rows that have text on a complete
/// screen: the entry list has the upper third, above the text.
const PANES: [(std::ops::Range<u16>, usize); 2] = [(1..25, 20), (29..118, 8)];
/// Maximum time to wait for the screen to change.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program running in a terminal; the program is killed when this value is dropped.
pub(crate) struct Screen {
    _master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<(Instant, Vec<u8>)>,
    shown: vt100::Parser,
}

/// Times of the screen changes after a start or key presses, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    /// Time to the first visible change.
    pub(crate) first: f64,
    /// Time to the last visible change.
    pub(crate) settled: f64,
    /// CPU time that the program used until the screen no longer changed.
    pub(crate) cpu: f64,
}

impl Screen {
    /// Starts the program and waits until the feed list and the entry list are filled with rows.
    pub(crate) fn open(home: &Home) -> (Self, Change) {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program());
        command.env_clear();
        for (name, value) in environment(home.path()) {
            command.env(name, value);
        }
        let began = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                if sender.send((Instant::now(), piece[..count].to_vec())).is_err() {
                    break;
                }
            }
        });
        let cells = |count| NonZeroU16::new(count).unwrap();
        let shown = vt100::Parser::new(cells(ROWS), cells(COLUMNS), 0);
        let keys = pair.master.take_writer().unwrap();
        let mut screen = Self { _master: pair.master, child, keys, output, shown };
        let complete = loop {
            // The screen has a clock, so silence alone does not show that it will never be complete.
            let left = PATIENCE.saturating_sub(began.elapsed());
            let (at, piece) = screen.output.recv_timeout(left).unwrap_or_else(|error| {
                panic!("no complete screen: {error}:\n{}", screen.shown.screen().contents())
            });
            screen.shown.process(&piece);
            if screen.is_complete() {
                break at;
            }
        };
        let cpu = screen.threads().cpu_ms_since(&Threads::default());
        let first = ms(complete - began);
        (screen, Change { first, settled: first, cpu })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    pub(crate) fn threads(&self) -> Threads {
        Threads::of(self.process())
    }

    fn is_complete(&self) -> bool {
        let screen = self.shown.screen();
        let filled = |(columns, rows): (std::ops::Range<u16>, usize)| {
            let has_text = |row: &u16| {
                let mut cells = columns.clone().filter_map(|column| screen.cell(*row, column));
                cells.any(|cell| !cell.contents().trim().is_empty())
            };
            (1..ROWS - 2).filter(has_text).count() >= rows
        };
        PANES.into_iter().all(filled)
    }

    /// Presses keys and waits until the screen has not changed for `still`. Panics if the keys change nothing.
    pub(crate) fn press(&mut self, keys: &str, still: Duration) -> Change {
        let before = self.threads();
        let began = Instant::now();
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
        let mut picture = self.shown.screen().contents_formatted();
        let mut changes: Option<(Instant, Instant)> = None;
        loop {
            let patience = if changes.is_some() { still } else { PATIENCE };
            let Ok((at, piece)) = self.output.recv_timeout(patience) else { break };
            self.shown.process(&piece);
            let now = self.shown.screen().contents_formatted();
            if now != picture {
                picture = now;
                changes = Some((changes.map_or(at, |(first, _)| first), at));
            }
        }
        let (first, last) = changes.unwrap_or_else(|| panic!("{keys} changes nothing"));
        let cpu = self.threads().cpu_ms_since(&before);
        Change { first: ms(first - began), settled: ms(last - began), cpu }
    }

    /// Waits until the program has drawn nothing for this duration.
    pub(crate) fn rest(&mut self, still: Duration) {
        while let Ok((_, piece)) = self.output.recv_timeout(still) {
            self.shown.process(&piece);
        }
    }

    /// Lets the program run without input for this duration.
    pub(crate) fn leave_alone(&mut self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok((_, piece)) = self.output.recv_timeout(left) else { return };
            self.shown.process(&piece);
        }
    }

    /// Quits the program and waits for it to exit.
    pub(crate) fn quit(mut self) {
        self.keys.write_all(b"\x03").unwrap();
        self.keys.flush().unwrap();
        while let Ok((_, piece)) = self.output.recv_timeout(PATIENCE) {
            self.shown.process(&piece);
        }
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
