//! The client side of the connection between processes: a client sends its command to the owner, which is the process that has
//! the store open.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::address::is_ours;
use super::messages::{
    ClientMessage, OwnerKind, OwnerMessage, PIECE_BYTES, PROTOCOL, Taker, read_frame, write_frame,
};
use crate::io::named_files::NamedFile;
use crate::io::output::{CommandOutput, OwnOutput};
use crate::io::system::system_words;

/// A connection to the owner of the store.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    /// The kind of owner.
    pub owner: OwnerKind,
    /// The owner's process id.
    pub process: u32,
}

/// Waits until the peer closes a connection on which no further messages are exchanged. Must be called within a tokio runtime.
pub async fn wait_for_close(stream: UnixStream) {
    let stream =
        stream.set_nonblocking(true).and_then(|()| tokio::net::UnixStream::from_std(stream));
    let Ok(mut stream) = stream else { return };
    let mut byte = [0; 64];
    while let Ok(1..) = stream.read(&mut byte).await {}
}

/// The reason why connecting failed.
#[derive(Debug)]
pub enum ConnectError {
    /// No process listens at the socket, or the owner is about to end. Connecting again may succeed.
    NotThere,
    /// The owner rejects the connection or does not respond. The sentence explains why.
    Refused(String),
}

/// Maximum wait for the response to the greeting. An owner that is not suspended responds at once.
const GREETING_TIME: Duration = Duration::from_secs(3);
/// Maximum wait for an owner to release the store.
const LETTING_GO_TIME: Duration = Duration::from_mins(1);
/// Maximum number of bytes of a command's output that are kept.
const OUTPUT_MAX: usize = 256 * 1024 * 1024;
/// Error message for an owner that does not respond.
const SILENT: &str = "the backissue that has the store open does not answer: it may be suspended ('fg' in its terminal resumes it)";

/// The outcome of a command that the owner ran.
#[derive(Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The command ended with this exit status, and with a sentence if something went wrong.
    Ended(u8, Option<String>),
    /// The owner ended before the command began; submitting the command again may succeed.
    NotBegun,
    /// The owner ended while the command ran.
    Lost,
}

impl Client {
    /// Connects to the owner that listens at a socket.
    pub fn connect(socket: &Path) -> Result<Self, ConnectError> {
        if !socket.parent().is_some_and(is_ours) {
            return Err(ConnectError::NotThere);
        }
        Self::greet(socket).map_err(|error| match error {
            GreetError::Broken => ConnectError::NotThere,
            GreetError::Silent => ConnectError::Refused(SILENT.to_owned()),
            GreetError::Refused(why) => ConnectError::Refused(why),
        })
    }

    fn greet(socket: &Path) -> Result<Self, GreetError> {
        let mut stream = UnixStream::connect(socket)?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        stream.set_read_timeout(Some(GREETING_TIME))?;
        write_frame(&mut stream, &ClientMessage::Hello { protocol: PROTOCOL, version })?;
        match read_frame(&mut stream)? {
            Some(OwnerMessage::Welcome { owner, process }) => {
                stream.set_read_timeout(None)?;
                Ok(Self { stream, owner, process })
            }
            Some(OwnerMessage::Refused(why)) => Err(GreetError::Refused(why)),
            Some(_) | None => Err(GreetError::Broken),
        }
    }

    /// Returns a function that cancels the command.
    pub fn canceller(&self) -> io::Result<impl FnMut() + Send + use<>> {
        let mut stream = self.stream.try_clone()?;
        Ok(move || {
            // If the message cannot be sent, the command has ended.
            write_frame(&mut stream, &ClientMessage::Cancel).ok();
        })
    }

    /// Submits a command and prints its output.
    pub fn run(mut self, arguments: Vec<String>, output: &OwnOutput) -> RunEnd {
        if write_frame(&mut self.stream, &ClientMessage::Run(arguments)).is_err() {
            return RunEnd::NotBegun;
        }
        let mut begun = false;
        loop {
            let message = match read_frame(&mut self.stream) {
                Ok(Some(message)) => message,
                Ok(None) | Err(_) if begun => return RunEnd::Lost,
                Ok(None) | Err(_) => return RunEnd::NotBegun,
            };
            match message {
                OwnerMessage::Began => begun = true,
                OwnerMessage::NotBegun => return RunEnd::NotBegun,
                OwnerMessage::Out(text) => {
                    begun = true;
                    output.put_piece(&text);
                }
                OwnerMessage::Told(text) => {
                    begun = true;
                    output.tell(&text);
                }
                OwnerMessage::Progress(progress) => output.show_progress(progress),
                OwnerMessage::ReadFile(path) => {
                    if self.send_file(output.read_file(&path)).is_err() {
                        return RunEnd::Lost;
                    }
                }
                OwnerMessage::CreateFile(file) => {
                    let written = self.receive_file(&file, output);
                    let written = written.map_err(|error| system_words(&error));
                    if write_frame(&mut self.stream, &ClientMessage::FileEnd(written)).is_err() {
                        return RunEnd::Lost;
                    }
                }
                OwnerMessage::Open { link, command } => {
                    let opened = output.open_link(&link, command.as_ref());
                    let opened = opened.map_err(|error| system_words(&error));
                    if write_frame(&mut self.stream, &ClientMessage::Opened(opened)).is_err() {
                        return RunEnd::Lost;
                    }
                }
                OwnerMessage::Ended { status, sentence } => {
                    output.show_progress(None);
                    if output.is_closed() {
                        // The program that reads the output has closed it, so the missing end of the output is no error.
                        return RunEnd::Ended(0, None);
                    }
                    return RunEnd::Ended(status, sentence);
                }
                OwnerMessage::Refused(why) => return RunEnd::Ended(2, Some(why)),
                OwnerMessage::Welcome { .. }
                | OwnerMessage::FileBytes(_)
                | OwnerMessage::FileEnd(_)
                | OwnerMessage::Yours => {}
            }
            if output.is_closed() {
                // The program that reads the output has closed it, so the command need not continue.
                write_frame(&mut self.stream, &ClientMessage::Cancel).ok();
            }
        }
    }

    /// Submits a command that reads `input` from its standard input. Returns its standard output, at most `OUTPUT_MAX` bytes of it.
    pub fn ask(mut self, arguments: Vec<String>, input: Vec<u8>) -> (RunEnd, String) {
        let mut answer = String::new();
        if write_frame(&mut self.stream, &ClientMessage::Run(arguments)).is_err() {
            return (RunEnd::NotBegun, answer);
        }
        let mut input = Some(input);
        loop {
            match read_frame(&mut self.stream) {
                Ok(Some(OwnerMessage::Out(text))) if answer.len() + text.len() <= OUTPUT_MAX => {
                    answer.push_str(&text);
                }
                Ok(Some(OwnerMessage::ReadFile(_))) => {
                    let bytes = input.take().ok_or_else(|| ErrorKind::UnexpectedEof.into());
                    if self.send_file(bytes).is_err() {
                        return (RunEnd::Lost, answer);
                    }
                }
                Ok(Some(OwnerMessage::Ended { status, sentence })) => {
                    return (RunEnd::Ended(status, sentence), answer);
                }
                Ok(Some(
                    OwnerMessage::Began | OwnerMessage::Told(_) | OwnerMessage::Progress(_),
                )) => {}
                Ok(_) | Err(_) => return (RunEnd::Lost, answer),
            }
        }
    }

    fn send_file(&mut self, read: io::Result<Vec<u8>>) -> io::Result<()> {
        let read = read.map_err(|error| system_words(&error));
        for piece in read.iter().flat_map(|bytes| bytes.chunks(PIECE_BYTES)) {
            write_frame(&mut self.stream, &ClientMessage::FileBytes(piece.to_vec()))?;
        }
        write_frame(&mut self.stream, &ClientMessage::FileEnd(read.map(drop)))
    }

    /// Writes a file from the received pieces. All pieces are received even if writing fails.
    fn receive_file(&mut self, file: &NamedFile, output: &OwnOutput) -> io::Result<()> {
        let mut ended = false;
        let written = output.write_file(file, &mut |file| {
            loop {
                match read_frame(&mut self.stream)? {
                    Some(OwnerMessage::FileBytes(bytes)) => file.write_all(&bytes)?,
                    Some(OwnerMessage::FileEnd(whole)) => {
                        ended = true;
                        return if whole {
                            Ok(())
                        } else {
                            Err(io::Error::other("it was not completed"))
                        };
                    }
                    Some(_) => {}
                    None => return Err(ErrorKind::UnexpectedEof.into()),
                }
            }
        });
        while !ended {
            match read_frame(&mut self.stream) {
                Ok(Some(OwnerMessage::FileEnd(_)) | None) | Err(_) => ended = true,
                Ok(Some(_)) => {}
            }
        }
        written
    }

    /// Asks the owner to release the store and waits until the store is free. The returned connection stays open as long as this
    /// process has the store. When the connection closes, the former owner reopens the store. The error is a sentence. Returns
    /// `None` if the owner ended.
    pub fn take_over(mut self, taker: Taker) -> Result<Option<UnixStream>, String> {
        if write_frame(&mut self.stream, &ClientMessage::TakeOver(taker)).is_err() {
            return Ok(None);
        }
        // If the timeout cannot be set, the wait is unlimited.
        self.stream.set_read_timeout(Some(LETTING_GO_TIME)).ok();
        match read_frame(&mut self.stream) {
            Ok(Some(OwnerMessage::Yours)) => Ok(Some(self.stream)),
            Ok(Some(OwnerMessage::Refused(why))) => Err(why),
            Err(error) if is_time_out(&error) => Err(SILENT.to_owned()),
            Ok(Some(_) | None) | Err(_) => Ok(None),
        }
    }

    /// Returns a connection that closes when the owner releases the store or ends.
    pub fn wait_for_end(mut self) -> Option<UnixStream> {
        write_frame(&mut self.stream, &ClientMessage::WaitForEnd).ok().map(|()| self.stream)
    }
}

/// Checks whether a read timed out.
fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The reason why the handshake failed.
enum GreetError {
    Broken,
    Silent,
    Refused(String),
}

impl From<io::Error> for GreetError {
    fn from(error: io::Error) -> Self {
        if is_time_out(&error) { Self::Silent } else { Self::Broken }
    }
}
