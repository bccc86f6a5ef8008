//! The messages between a client process and the owner of the store.

use serde::{Deserialize, Serialize};

use crate::engine::external::external_command::ExternalCommand;
use crate::io::named_files::NamedFile;

/// Version of these messages. In addition, both processes must be of the same release.
pub const PROTOCOL: u32 = 1;

/// A message from a client to the owner of the store. The first message is [`ClientMessage::Hello`], whose format never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// Identifies the client.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// The release.
        version: String,
    },
    /// Runs this command line.
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

/// The process that takes the store over.
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
    /// A refusal, as a sentence.
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
    /// Requests this file.
    ReadFile(String),
    /// Starts a file, whose pieces follow.
    CreateFile(NamedFile),
    /// A piece of the file.
    FileBytes(Vec<u8>),
    /// The end of the file; it is complete (`true`) or must be discarded (`false`).
    FileEnd(bool),
    /// Requests to open this link on the user's machine.
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
    /// The store is free.
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
    /// Amount done.
    pub done: u64,
    /// Total amount, or 0 if unknown.
    pub all: u64,
}
