//! What the processes tell each other.

use serde::{Deserialize, Serialize};

use crate::engine::external::external_command::ExternalCommand;
use crate::io::named_files::NamedFile;

/// The version of these messages. Two processes understand each other only if they also are of the same release.
pub const PROTOCOL: u32 = 1;

/// What a process says to the owner of the store. The first message is [`ClientMessage::Hello`], whose form never
/// changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// Who speaks.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// The release.
        version: String,
    },
    /// Do what this command line says.
    Run(Vec<String>),
    /// Let go of the store: this process takes it. The connection stays open as long as it has it.
    TakeOver(Taker),
    /// Keep the connection open until you end.
    WaitForEnd,
    /// End the command.
    Cancel,
    /// A piece of a file that was asked for.
    FileBytes(Vec<u8>),
    /// The file that was asked for is whole, or cannot be read; or the file that was to be written is, or cannot be.
    FileEnd(Result<(), String>),
    /// The address that was to be opened is, or cannot be.
    Opened(Result<(), String>),
}

/// Who takes the store over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taker {
    /// A reader.
    Reader,
    /// A command that needs the store for itself.
    Command,
}

/// What the owner of the store says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnerMessage {
    /// Who answers.
    Welcome {
        /// What it is.
        owner: OwnerKind,
        /// Its process.
        process: u32,
    },
    /// It does not do that; a sentence.
    Refused(String),
    /// The command asks for something: it must not be handed in again.
    Began,
    /// This process ends before it could do anything of the command.
    NotBegun,
    /// A piece of standard output.
    Out(String),
    /// A line for standard error.
    Told(String),
    /// How far it is; `None`: that is over.
    Progress(Option<Progress>),
    /// Send this file.
    ReadFile(String),
    /// Make this file of the pieces that follow.
    CreateFile(NamedFile),
    /// A piece of it.
    FileBytes(Vec<u8>),
    /// It is whole, or is to be left (`false`).
    FileEnd(bool),
    /// Open this address where whoever typed the command sees it.
    Open {
        /// The address.
        link: String,
        /// The command that opens it, with the address in it; `None`: the browser.
        command: Option<ExternalCommand>,
    },
    /// The command ended.
    Ended {
        /// Its exit status.
        status: u8,
        /// What went wrong; a sentence.
        sentence: Option<String>,
    },
    /// The store is free.
    Yours,
}

/// What the owner of the store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnerKind {
    /// A reader on a terminal.
    Reader,
    /// The poller without a screen.
    Watch,
    /// A command that ends by itself.
    Command,
}

/// How far a command is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is done.
    pub text: String,
    /// How much of it is done.
    pub done: u64,
    /// How much there is; 0: nobody knows.
    pub all: u64,
}
