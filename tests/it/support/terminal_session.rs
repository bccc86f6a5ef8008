//! The real binary in a terminal, as a person uses it: sends key presses and reads the screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// Time without output after which a test stops waiting for an expected text.
const SILENCE: Duration = Duration::from_secs(5);
/// Maximum time without output while the program is ending: it must write its data to a disk that other programs use too.
const END_SILENCE: Duration = Duration::from_secs(20);
/// Maximum number of chunks of output to read in one wait. A limit is needed because the status line changes about every second.
const PIECES_MAX: u32 = 2000;

/// A running program with its terminal.
pub(crate) struct Session {
    master: Box<dyn MasterPty + Send>,
    pub(crate) child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    pub(crate) screen: vt100::Parser,
    /// All bytes that the program has written.
    pub(crate) written: Vec<u8>,
    /// Temporary home folder, if the program was started with a new one.
    pub(crate) home: Option<tempfile::TempDir>,
}

const fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

impl Session {
    pub(crate) fn start(args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_program(env!("CARGO_BIN_EXE_backissue"), args, columns, rows)
    }

    pub(crate) fn start_program(program: &str, args: &[&str], columns: u16, rows: u16) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut session = Self::start_at_home(home.path(), program, args, columns, rows);
        session.home = Some(home);
        session
    }

    /// Starts a program whose home folder is provided by the test.
    pub(crate) fn start_at_home(
        home: &Path,
        program: &str,
        args: &[&str],
        columns: u16,
        rows: u16,
    ) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        for (name, value) in [("TERM", "xterm-256color"), ("NO_PROXY", "*"), ("TZ", "UTC")] {
            command.env(name, value);
        }
        for name in ["HOME", "TMPDIR"] {
            command.env(name, home);
        }
        command.args(args);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (sender, output) = channel();
        let mut reader = pair.master.try_clone_reader().unwrap();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let keys = pair.master.take_writer().unwrap();
        let screen = vt100::Parser::new(cells(rows), cells(columns), 0);
        let (master, written) = (pair.master, Vec::new());
        Self { master, child, keys, output, screen, written, home: None }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.press_bytes(keys.as_bytes());
    }

    /// Sends bytes, which may be only a part of a key.
    pub(crate) fn press_bytes(&mut self, bytes: &[u8]) {
        self.keys.write_all(bytes).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        // Our copy of the screen must be resized first, so that nothing is drawn beyond its edges.
        self.screen.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// Returns the terminal's input settings, such as echo and line editing.
    pub(crate) fn flags(&self) -> String {
        format!("{:?}", self.master.get_termios().unwrap().local_flags)
    }

    pub(crate) fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Waits until the screen fulfils a condition; fails with `what` if it does not.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&vt100::Screen) -> bool) {
        for _ in 0..PIECES_MAX {
            if fits(self.screen.screen()) {
                return;
            }
            match self.output.recv_timeout(SILENCE) {
                Ok(piece) => self.take(&piece),
                Err(_) => break,
            }
        }
        panic!("{what} did not appear:\n{}", self.text());
    }

    #[track_caller]
    pub(crate) fn until_it_says(&mut self, words: &str) {
        self.until(words, |screen| screen.contents().contains(words));
    }

    /// Reads all output that arrives within this duration.
    pub(crate) fn take_for(&mut self, time: Duration) {
        let end = backissue::io::clock::instant() + time;
        while let Ok(piece) =
            self.output.recv_timeout(end.saturating_duration_since(backissue::io::clock::instant()))
        {
            self.take(&piece);
        }
    }

    /// Waits until the program writes nothing for a moment.
    pub(crate) fn until_quiet(&mut self) {
        while let Ok(piece) = self.output.recv_timeout(Duration::from_millis(150)) {
            self.take(&piece);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.screen.process(piece);
        self.written.extend_from_slice(piece);
    }

    /// Checks whether the output so far contains this text.
    pub(crate) fn has_written(&self, what: &str) -> bool {
        self.written.windows(what.len()).any(|piece| piece == what.as_bytes())
    }

    /// Waits for the program to exit, reading the rest of its output.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        for _ in 0..PIECES_MAX {
            match self.output.recv_timeout(END_SILENCE) {
                Ok(piece) => self.take(&piece),
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        panic!("the program does not exit:\n{}", self.text());
    }

    /// Presses keys, closes the terminal as soon as the program draws something in response, and waits for the program to exit.
    pub(crate) fn close_after(&mut self, keys: &str) -> ExitStatus {
        self.until_quiet();
        // When the receiver is dropped, the reading thread fails on its next chunk and then closes its side of the terminal.
        self.output = channel().1;
        self.press(keys);
        self.keys = Box::new(std::io::sink());
        self.master = native_pty_system().openpty(size(80, 24)).unwrap().master;
        self.child.wait().unwrap()
    }

    /// Checks that the program restored the terminal to its state before the start.
    #[track_caller]
    pub(crate) fn given_back(&self) {
        let screen = self.screen.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was left");
        assert!(!screen.hide_cursor(), "the cursor is shown");
        assert!(!screen.bracketed_paste(), "pasting is as usual");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert!(!self.text().contains("panicked"), "{}", self.text());
        let home = self.home.as_ref().unwrap();
        let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
        assert!(left.is_empty(), "nothing remains: {left:?}");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // If the program is still running here, the test has failed.
        self.child.kill().ok();
    }
}
