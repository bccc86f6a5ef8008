//! The configuration file is read again when it was saved.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::UnboundedSender;

use super::{config, themes};
use crate::app::msg::Msg;
use crate::app::reconfiguring::Reconfigured;

/// From one look at the file to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks after the file as long as somebody listens. Needs a tokio runtime around it.
pub fn follow(path: PathBuf, listener: UnboundedSender<Msg>) {
    let mut seen = state_of(&path);
    tokio::spawn(async move {
        while !listener.is_closed() {
            tokio::time::sleep(PAUSE).await;
            let state = state_of(&path);
            if state == seen {
                continue;
            }
            seen = state;
            let msg = Msg::Configured(Box::new(read(&path)));
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
fn read(path: &Path) -> Reconfigured {
    match config::read(path, false) {
        Ok(mut read) => {
            let wanted = read.settings.ui.theme.as_deref();
            let (appearance, troubles) = themes::appearance(wanted, Some(path));
            read.notes.extend(troubles);
            Reconfigured::Read { settings: Box::new(read.settings), appearance, notes: read.notes }
        }
        Err(why) => Reconfigured::Wrong(why),
    }
}
