//! The messages between a client process and the owner of the store. On the stream, each message is a frame: its length in four
//! bytes, big-endian, and a `MessagePack` record.

use std::io::{self, Error, ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::external_command::ExternalCommand;
use crate::io::named_files::NamedFile;

/// Version of these messages. In addition, the versions of both programs must be equal.
pub const PROTOCOL: u32 = 1;

/// A message from a client to the owner of the store. The first message is [`ClientMessage::Hello`], whose format never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// Identifies the client, as the first message.
    Hello {
        /// The client's value of [`PROTOCOL`].
        protocol: u32,
        /// The version of the client program.
        version: String,
    },
    /// Asks the owner to run this command line.
    Run(Vec<String>),
    /// Requests the store for this process. The connection stays open as long as the process has the store.
    TakeOver(Taker),
    /// Asks the owner to keep the connection open until the owner ends.
    WaitForEnd,
    /// Cancels the command.
    Cancel,
    /// A piece of a requested file.
    FileBytes(Vec<u8>),
    /// The end of a requested file, or the result of writing a file.
    FileEnd(Result<(), String>),
    /// The result of opening a link.
    Opened(Result<(), String>),
}

/// The kind of process that takes the store over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taker {
    /// A reader.
    Reader,
    /// A command that needs exclusive use of the store.
    Command,
}

/// A message from the owner of the store to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnerMessage {
    /// Identifies the owner.
    Welcome {
        /// The kind of owner.
        owner: OwnerKind,
        /// The owner's process id.
        process: u32,
    },
    /// The owner rejects the connection or the command. The sentence explains why.
    Refused(String),
    /// The command has made a request and must not be submitted again.
    Began,
    /// The owner ends before the command has begun.
    NotBegun,
    /// A piece of standard output.
    Out(String),
    /// A line for standard error.
    Told(String),
    /// The progress of the command. `None` removes the display.
    Progress(Option<Progress>),
    /// Requests the content of the file with this path.
    ReadFile(String),
    /// Asks the client to create a file, whose content follows in pieces.
    CreateFile(NamedFile),
    /// A piece of the file that `CreateFile` started.
    FileBytes(Vec<u8>),
    /// The end of the file that `CreateFile` started. `true` if the file is complete, `false` if it must be discarded.
    FileEnd(bool),
    /// Asks the client to open a link on the user's machine.
    Open {
        /// The link.
        link: String,
        /// The command that opens it and contains the link; `None` means the browser.
        command: Option<ExternalCommand>,
    },
    /// The command ended.
    Ended {
        /// The exit status.
        status: u8,
        /// The error, as a sentence.
        sentence: Option<String>,
    },
    /// The store is free, and the process that asked to take it over can open it.
    Yours,
}

/// The kind of process that owns the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnerKind {
    /// A reader on a terminal.
    Reader,
    /// The background poller, without a screen.
    Watch,
    /// A command that ends on its own.
    Command,
}

/// The progress of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Description of the work.
    pub text: String,
    /// Amount of work done, in the same unit as `all`.
    pub done: u64,
    /// Total amount of work, or 0 if unknown.
    pub all: u64,
}

/// Maximum size of a frame, bytes.
pub const FRAME_MAX: usize = 1024 * 1024;
/// Number of bytes of a text or file sent per frame.
pub const PIECE_BYTES: usize = 128 * 1024;

/// Writes a message.
pub fn write_frame(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let record = rmp_serde::to_vec_named(message).map_err(Error::other)?;
    let length = u32::try_from(record.len()).ok().filter(|_| record.len() <= FRAME_MAX);
    let length = length.ok_or_else(|| Error::other("a message is too long"))?;
    let mut frame = Vec::with_capacity(record.len().saturating_add(4));
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&record);
    stream.write_all(&frame)?;
    stream.flush()
}

/// Reads a message. Returns `None` if the peer ended between two messages. A frame longer than [`FRAME_MAX`] or an invalid
/// message is an error of the kind [`ErrorKind::InvalidData`]. Never more than one frame is in memory.
pub fn read_frame<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length[..1]) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    stream.read_exact(&mut length[1..])?;
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME_MAX {
        return Err(Error::new(ErrorKind::InvalidData, "a message is too long"));
    }
    let mut record = Vec::new();
    stream.take(length as u64).read_to_end(&mut record)?;
    if record.len() < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    rmp_serde::from_slice(&record)
        .map(Some)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "the message is not valid"))
}

/// Splits a text into pieces of one frame each, at character boundaries.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(PIECE_BYTES);
        let (piece, left) = rest.split_at_checked(end)?;
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::owner::messages::{ClientMessage, OwnerMessage};

    fn frame(message: &impl Serialize) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, message).unwrap();
        bytes
    }

    #[test]
    fn message_round_trips_and_then_the_stream_ends() {
        let message = ClientMessage::Run(vec!["poll".into(), "--all".into()]);
        let mut bytes = frame(&message);
        bytes.extend(frame(&ClientMessage::Cancel));
        let mut stream = bytes.as_slice();
        assert_eq!(read_frame(&mut stream).unwrap(), Some(message));
        assert_eq!(read_frame(&mut stream).unwrap(), Some(ClientMessage::Cancel));
        assert_eq!(read_frame::<ClientMessage>(&mut stream).unwrap(), None);
    }

    #[test]
    fn malformed_message_is_an_error_without_large_buffer() {
        let whole = frame(&OwnerMessage::Out("text".into()));
        let huge = [u32::MAX.to_be_bytes().as_slice(), b"x"].concat();
        let garbage = [4_u32.to_be_bytes().as_slice(), b"\xc1\xc1\xc1\xc1"].concat();
        for bytes in [&whole[..3], &whole[..whole.len() - 1], &huge, &garbage] {
            let mut stream = bytes;
            assert!(read_frame::<OwnerMessage>(&mut stream).is_err(), "{bytes:?}");
        }
        let long = OwnerMessage::Out("x".repeat(FRAME_MAX));
        assert!(write_frame(&mut Vec::new(), &long).is_err());
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "ä".repeat(PIECE_BYTES);
        let cut: Vec<&str> = pieces(&text).collect();
        assert!(cut.len() > 1 && cut.iter().all(|piece| piece.len() <= PIECE_BYTES));
        assert_eq!(cut.concat(), text);
        assert_eq!(pieces("").count(), 0);
    }
}
