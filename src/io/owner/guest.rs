//! The owner's side of a connection to a guest, which is a process that submitted a command. Sends the output of the command to
//! the guest, and receives the guest's messages.

use std::cell::Cell;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::frames::{PIECE_BYTES, pieces, read_frame, write_frame};
use super::messages::{ClientMessage, OwnerMessage, Progress};
use crate::engine::external::external_command::ExternalCommand;
use crate::io::loop_handle::LoopHandle;
use crate::io::named_files::{NamedFile, WriteFile};
use crate::io::output::{CommandOutput, FILE_BYTES_MAX};

/// The terminal and the files of a process that submitted a command. A process that does not read its messages delays only
/// its own command.
#[derive(Debug)]
pub struct GuestOutput {
    stream: UnixStream,
    /// Set once the process has ended or closed the connection.
    closed: Arc<AtomicBool>,
    /// Set once the process knows that its command has begun.
    begun: Cell<bool>,
    files: Receiver<ClientMessage>,
}

impl GuestOutput {
    /// Starts receiving messages from the process while its command runs. The process may cancel the command, send a file, or
    /// end.
    pub fn attend(stream: &UnixStream, hand: LoopHandle) -> io::Result<Rc<Self>> {
        let (sender, files) = channel();
        let closed = Arc::<AtomicBool>::default();
        let (mut heard, ended) = (stream.try_clone()?, Arc::clone(&closed));
        std::thread::Builder::new().name("guest ear".into()).spawn(move || {
            listen(&mut heard, &hand, &sender);
            ended.store(true, Ordering::Relaxed);
            hand.cancel();
        })?;
        let stream = stream.try_clone()?;
        Ok(Rc::new(Self { stream, closed, begun: Cell::new(false), files }))
    }

    /// Sends the process a message. A message that cannot be sent is lost, since the process has ended.
    pub fn send(&self, message: &OwnerMessage) {
        if write_frame(&mut &self.stream, message).is_err() {
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    /// Checks whether the command has begun, so that it cannot be submitted again.
    pub fn has_begun(&self) -> bool {
        self.begun.get()
    }

    fn answer(&self) -> io::Result<ClientMessage> {
        let ended = |_| io::Error::other("the process that has the file open ended");
        self.files.recv().map_err(ended)
    }
}

/// Receives messages from the process until it ends or sends an unexpected one.
fn listen(stream: &mut UnixStream, hand: &LoopHandle, files: &Sender<ClientMessage>) {
    while let Ok(Some(message)) = read_frame(stream) {
        match message {
            ClientMessage::Cancel => hand.cancel(),
            ClientMessage::FileBytes(_) | ClientMessage::FileEnd(_) | ClientMessage::Opened(_) => {
                if files.send(message).is_err() {
                    return;
                }
            }
            ClientMessage::Hello { .. }
            | ClientMessage::Run(_)
            | ClientMessage::TakeOver(_)
            | ClientMessage::WaitForEnd => return,
        }
    }
}

impl CommandOutput for GuestOutput {
    fn put(&self, text: &str) {
        self.begun.set(true);
        for piece in pieces(&format!("{text}\n")) {
            self.send(&OwnerMessage::Out(piece.to_owned()));
        }
    }

    fn tell(&self, text: &str) {
        self.begun.set(true);
        let mut pieces = pieces(text);
        self.send(&OwnerMessage::Told(pieces.next().unwrap_or_default().to_owned()));
    }

    fn begin(&self) {
        if !self.begun.replace(true) {
            self.send(&OwnerMessage::Began);
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn show_progress(&self, progress: Option<Progress>) {
        self.send(&OwnerMessage::Progress(progress));
    }

    fn read_file(&self, path: &str) -> io::Result<Vec<u8>> {
        self.send(&OwnerMessage::ReadFile(path.to_owned()));
        let mut bytes = Vec::new();
        loop {
            let answer = self.answer()?;
            if let ClientMessage::FileEnd(end) = answer {
                return end.map(|()| bytes).map_err(io::Error::other);
            }
            if bytes.len() >= FILE_BYTES_MAX {
                return Err(io::Error::other("it is too large"));
            }
            if let ClientMessage::FileBytes(piece) = answer {
                bytes.extend(piece);
            }
        }
    }

    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> io::Result<()> {
        self.send(&OwnerMessage::CreateFile(file.clone()));
        let mut pieces = FilePieces { output: self, piece: Vec::new() };
        let written = write(&mut pieces).and_then(|()| pieces.flush());
        self.send(&OwnerMessage::FileEnd(written.is_ok()));
        let answer = self.answer()?;
        written?;
        if let ClientMessage::FileEnd(end) = answer {
            end.map_err(io::Error::other)
        } else {
            Err(io::Error::other(
                "the process that writes it did not report whether it is complete",
            ))
        }
    }

    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> io::Result<()> {
        // Mark the command as started, because submitting the command again would open the link twice.
        self.begin();
        self.send(&OwnerMessage::Open { link: link.to_owned(), command: command.cloned() });
        if let ClientMessage::Opened(opened) = self.answer()? {
            opened.map_err(io::Error::other)
        } else {
            Err(io::Error::other("the process that opens it did not report whether it succeeded"))
        }
    }
}

/// A writer whose bytes are sent to the other process, which writes them to a file.
struct FilePieces<'a> {
    output: &'a GuestOutput,
    piece: Vec<u8>,
}

impl Write for FilePieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.output.is_closed() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.get(..bytes.len().min(PIECE_BYTES)).unwrap_or(bytes);
        self.piece.extend_from_slice(taken);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.piece.is_empty() {
            self.output.send(&OwnerMessage::FileBytes(std::mem::take(&mut self.piece)));
        }
        Ok(())
    }
}
