//! The messages between a client process and the owner of the store.

use serde::{Deserialize, Serialize};

use crate::engine::external::external_command::ExternalCommand;
use crate::io::named_files::NamedFile;

/// Version of these messages. Besides this number, the versions of both programs must be equal.
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
