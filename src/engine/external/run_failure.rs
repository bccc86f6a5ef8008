//! Why a program that was to be started failed.

use thiserror::Error;

/// The reason that a program failed. The message is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunFailure {
    /// There is no program of this name.
    #[error("there is no program '{0}'")]
    Missing(String),
    /// The system refused to start the program, for this reason.
    #[error("{0} cannot be started: {1}")]
    NotStarted(String, String),
    /// The program could not get its input, for this reason.
    #[error("{0} got no standard input: {1}")]
    NoInput(String, String),
    /// The end of the program is unknown, for this reason.
    #[error("waiting for {0} failed: {1}")]
    Unknown(String, String),
    /// The program exceeded this number of seconds.
    #[error("{0} was stopped after {1} s")]
    TooSlow(String, u64),
    /// The program ended with this status, or by a signal if there is none, after this error message.
    #[error("{0} {how}{why}", how = how(*.1), why = reason(.2.as_deref()))]
    Failed(String, Option<i32>, Option<String>),
    /// The downloaded file that was to be played no longer exists.
    #[error("{0} is gone: r in the downloads fetches it again")]
    FileGone(String),
    /// No browser can open this address.
    #[error("no browser could be started; set the variable BROWSER to one. The address is {0}")]
    NoBrowser(String),
    /// The address could be mistaken for an option or a file (SPEC G.52).
    #[error("only http and https addresses can be opened, not '{0}'")]
    NotWeb(String),
    /// None of the programs opened the address; the last one failed for this reason.
    #[error("{0}. The address is {1}")]
    NotOpened(Box<Self>, String),
    /// The program of the configuration failed to open an address, for this reason.
    #[error("[commands] open in your configuration failed: {0}")]
    OwnCommand(Box<Self>),
}

fn how(status: Option<i32>) -> String {
    status.map_or_else(
        || "was killed by a signal".to_owned(),
        |status| format!("exited with status {status}"),
    )
}

fn reason(complaint: Option<&str>) -> String {
    complaint.map(|line| format!(": {line}")).unwrap_or_default()
}
