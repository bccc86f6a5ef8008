//! Files with secrets next to the configuration file. Only the user can read them.

use std::io::{self, ErrorKind};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::toml_errors::located;
use crate::io::private_files::{create_private_folder, make_private, replace_private};
use crate::io::small_files;
use crate::io::system::words::system_words;
use backissue_core::{InputFlaw, flaw};

const BYTES_MAX: u64 = 1024 * 1024;

/// Reads the text of a file. A missing file is empty.
pub(in crate::io) fn read(path: &Path) -> Result<String, InputFlaw> {
    let text = match small_files::read_text(path, BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        read => read.map_err(|error| {
            flaw!("the file {} cannot be read: {}", path.display(), system_words(&error))
        })?,
    };
    // Restrict the permissions, because the user may have created the file with an editor and default permissions.
    make_private(path, 0o600);
    Ok(text)
}

/// Parses the text of a file.
pub(in crate::io) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, InputFlaw> {
    toml::from_str(text).map_err(|error| {
        flaw!("the file {} has an error: {}", path.display(), located(text, &error))
    })
}

/// Writes a file, and its folder if there is none.
pub(in crate::io) fn write(path: &Path, text: &str) -> io::Result<()> {
    create_private_folder(path.parent().unwrap_or(Path::new(".")))?;
    replace_private(path, text.as_bytes())
}
