//! The configuration file is read again when it was saved, or a theme beside it was.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::UnboundedSender;

use super::{config, themes};
use crate::app::msg::Msg;
use crate::app::reconfiguring::Reconfigured;

/// From one look at the file to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks after the file as long as somebody listens. `plain`: the plain screen was asked for on the command line, and
/// stays whatever the file says. `theme`: what the file says of it now. Needs a tokio runtime around it.
pub fn follow(
    path: PathBuf,
    plain: bool,
    mut theme: Option<String>,
    listener: UnboundedSender<Msg>,
) {
    let mut seen = state_of(&path, theme.as_deref());
    tokio::spawn(async move {
        while !listener.is_closed() {
            tokio::time::sleep(PAUSE).await;
            if state_of(&path, theme.as_deref()) == seen {
                continue;
            }
            let read = read(&path, plain);
            if let Reconfigured::Read { settings, .. } = &read {
                theme.clone_from(&settings.ui.theme);
            }
            seen = state_of(&path, theme.as_deref());
            if listener.send(Msg::Configured(Box::new(read))).is_err() {
                return;
            }
        }
    });
}

/// What changes when a file is written; nothing of one that is not there.
type FileState = (PathBuf, Option<(SystemTime, u64)>);

/// The state of the file and of the themes that it can name.
fn state_of(path: &Path, theme: Option<&str>) -> Vec<FileState> {
    let state = |path: PathBuf| {
        let found = std::fs::metadata(&path).ok();
        let state = found.and_then(|found| Some((found.modified().ok()?, found.len())));
        (path, state)
    };
    let themes = themes::files_of(theme, Some(path));
    [path.to_owned()].into_iter().chain(themes).map(state).collect()
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
    fn a_theme_that_is_saved_is_seen_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (path, own) = (folder.path().join("config.toml"), folder.path().join("mine.toml"));
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        let night = folder.path().join("themes/night.toml");
        for (theme, file, expected) in [
            (None, &night, true),
            (Some("night"), &night, true),
            (Some("./mine.toml"), &own, true),
            (Some("night"), &own, false),
            (None, &path, true),
        ] {
            std::fs::remove_file(file).ok();
            let before = state_of(&path, theme);
            std::fs::write(file, "star = \"red\"").unwrap();
            let between = state_of(&path, theme);
            assert_eq!(before != between, expected, "{theme:?} {file:?}");
            std::fs::write(file, "star = \"bright-red\"").unwrap();
            assert_eq!(between != state_of(&path, theme), expected, "{theme:?} {file:?}");
        }
    }

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
