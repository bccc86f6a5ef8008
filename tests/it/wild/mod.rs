//! Inputs from the bug reports of other readers, in a separate folder, which `BACKISSUE_WILD` names.
//!
//! Without the variable these tests do nothing and say so. The same kinds of fault have unit tests, which need no folder.

mod documents;
mod servers;

use std::path::PathBuf;

/// Returns the folder.
fn wild() -> Option<PathBuf> {
    let folder = std::env::var_os("BACKISSUE_WILD").map(PathBuf::from);
    if folder.is_none() {
        super::feeds::corpus::tell("BACKISSUE_WILD is not set: nothing is checked");
    }
    folder
}
