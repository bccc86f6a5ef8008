//! Inputs from the bug reports of other feed readers, in a separate folder that the environment variable `BACKISSUE_WILD` names.
//!
//! Without the variable these tests do nothing and print a message. Other tests cover the same kinds of fault without the folder.

mod documents;
mod second;
mod second_servers;
mod servers;

use std::path::PathBuf;

/// Returns the folder that `BACKISSUE_WILD` names; prints a message and returns `None` if the variable is not set.
fn wild() -> Option<PathBuf> {
    let folder = std::env::var_os("BACKISSUE_WILD").map(PathBuf::from);
    if folder.is_none() {
        super::feeds::corpus::tell("BACKISSUE_WILD is not set: nothing is checked");
    }
    folder
}
