//! The configuration file is read again when it was saved.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::UnboundedSender;

use super::{config, themes};
use crate::app::msg::Msg;
use crate::app::reconfiguring::Reconfigured;

/// From one look at the file to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks after the file as long as somebody listens. `plain`: the plain screen was asked for on the command line, and
/// stays whatever the file says. Needs a tokio runtime around it.
pub fn follow(path: PathBuf, plain: bool, listener: UnboundedSender<Msg>) {
    let mut seen = state_of(&path);
    tokio::spawn(async move {
        while !listener.is_closed() {
            tokio::time::sleep(PAUSE).await;
            let state = state_of(&path);
            if state == seen {
                continue;
            }
            seen = state;
            let msg = Msg::Configured(Box::new(read(&path, plain)));
            if listener.send(msg).is_err() {
                return;
            }
        }
    });
}

/// What changes when a file is written: `None` if there is none.
fn state_of(path: &Path) -> Option<(SystemTime, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// Reads the file; one that was taken away means the defaults.
fn read(path: &Path, plain: bool) -> Reconfigured {
    match config::read(path, false) {
        Ok(mut read) => {
            read.settings.ui.plain |= plain;
            let (appearance, troubles) = themes::appearance(&read.settings.ui, Some(path));
            Reconfigured::Read {
                settings: Box::new(read.settings),
                appearance: Box::new(appearance),
                notes: read.notes.into_iter().chain(troubles).collect(),
            }
        }
        Err(why) => Reconfigured::Wrong(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_screen_of_the_command_line_outlives_a_saved_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, plain, expected) in [
            ("[ui]\ntext_width = 70", true, true),
            ("[ui]\nplain = true", false, true),
            ("[ui]\nplain = false", false, false),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let Reconfigured::Read { settings, .. } = read(file.path(), plain) else {
                panic!("{text} is read");
            };
            assert_eq!(settings.ui.plain, expected, "{text}");
        }
    }
}
