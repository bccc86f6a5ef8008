//! The real binary in a terminal: what a person presses and sees.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// Time of silence after which an expected output will not appear.
const SILENCE: Duration = Duration::from_secs(5);
/// Maximum silence of a program that is ending: it writes its data to a disk that others use too.
const END_SILENCE: Duration = Duration::from_secs(20);
/// Maximum number of output chunks to read during a wait; the status line changes about every second.
const PIECES_MAX: u32 = 2000;

/// The program in its terminal.
pub(crate) struct Session {
    master: Box<dyn MasterPty + Send>,
    pub(crate) child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    pub(crate) screen: vt100::Parser,
    /// All output up to now.
    pub(crate) written: Vec<u8>,
    /// The home folder of a program started with a new one.
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

    /// Starts a program in a home folder of the test.
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
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        // Our copy of the screen is resized first, so that nothing is drawn beyond its edges.
        self.screen.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// Returns how the terminal treats input: echo, lines, signals.
    pub(crate) fn flags(&self) -> String {
        format!("{:?}", self.master.get_termios().unwrap().local_flags)
    }

    pub(crate) fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Waits until the screen matches.
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

    /// Reads all output that arrives within this time.
    pub(crate) fn take_for(&mut self, time: Duration) {
        let end = backissue::io::clock::instant() + time;
        while let Ok(piece) =
            self.output.recv_timeout(end.saturating_duration_since(backissue::io::clock::instant()))
        {
            self.take(&piece);
        }
    }

    /// Waits until nothing is drawn for a moment.
    pub(crate) fn until_quiet(&mut self) {
        while let Ok(piece) = self.output.recv_timeout(Duration::from_millis(150)) {
            self.take(&piece);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.screen.process(piece);
        self.written.extend_from_slice(piece);
    }

    /// Checks whether the output contains this text.
    pub(crate) fn has_written(&self, what: &str) -> bool {
        self.written.windows(what.len()).any(|piece| piece == what.as_bytes())
    }

    /// Waits for the program to exit and reads all its output.
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

    /// Presses the last keys, closes the terminal once something is drawn in response, and waits for the program to exit.
    pub(crate) fn close_after(&mut self, keys: &str) -> ExitStatus {
        self.until_quiet();
        // The reading thread releases the terminal with the next chunk, which is not received.
        self.output = channel().1;
        self.press(keys);
        self.keys = Box::new(std::io::sink());
        self.master = native_pty_system().openpty(size(80, 24)).unwrap().master;
        self.child.wait().unwrap()
    }

    /// Checks that the terminal is in the same state as before the program started.
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
        // The program is still running only if the test failed.
        self.child.kill().ok();
    }
}
