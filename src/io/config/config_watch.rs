//! Watches the configuration file and the themes next to it, and reads them again when they change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio::sync::mpsc::UnboundedSender;

use super::folder_watch::{FolderWatch, folders_of};
use super::{config_file, themes};
use crate::ui::input::{Reconfigured, ScreenInput};

/// Sends the new configuration each time the file changes, as long as the receiver exists. `plain` means that the command line
/// requested the plain screen, which overrides the setting in the file. `theme` is the theme that the file names at present. Must
/// be called within a tokio runtime.
pub fn follow(
    path: PathBuf,
    plain: bool,
    theme: Option<String>,
    listener: UnboundedSender<ScreenInput>,
) {
    let mut watched = Watched::begin(path, theme);
    tokio::spawn(async move {
        let mut folders = FolderWatch::start();
        loop {
            // Watch the folders before checking the files, so that no change between the two is missed.
            folders.watch(watched.folders());
            if let Some(read) = watched.look(|path| read(path, plain))
                && listener.send(ScreenInput::Reconfigured(Box::new(read))).is_err()
            {
                return;
            }
            tokio::select! {
                () = listener.closed() => return,
                () = folders.changed() => {}
            }
        }
    });
}

/// The configuration file, and its state at the last check.
#[derive(Debug)]
struct Watched {
    path: PathBuf,
    theme: Option<String>,
    seen: Vec<FileState>,
}

impl Watched {
    fn begin(path: PathBuf, theme: Option<String>) -> Self {
        let seen = state_of(&path, theme.as_deref());
        Self { path, theme, seen }
    }

    /// Returns the folders in which the watched files can change.
    fn folders(&self) -> BTreeSet<PathBuf> {
        let files = self.seen.iter().map(|(path, _)| path.clone());
        let themes = themes::folder_beside(&self.path).map(|folder| folder.join("any.toml"));
        files.chain(themes).flat_map(|file| folders_of(&file).collect::<Vec<_>>()).collect()
    }

    /// Calls `read` if the configuration file or a theme file changed since the last check.
    fn look(&mut self, read: impl FnOnce(&Path) -> Reconfigured) -> Option<Reconfigured> {
        // Determine the state before reading the file, so that a write during the read counts as another change.
        let state = state_of(&self.path, self.theme.as_deref());
        if state == self.seen {
            return None;
        }
        self.seen = state;
        let read = read(&self.path);
        if let Reconfigured::Read { screen, .. } = &read
            && self.theme != screen.theme
        {
            self.theme.clone_from(&screen.theme);
            let before = std::mem::take(&mut self.seen);
            self.seen = state_of(&self.path, self.theme.as_deref());
            for file in &mut self.seen {
                if let Some((_, state)) = before.iter().find(|(path, _)| *path == file.0) {
                    file.1 = *state;
                }
            }
        }
        Some(read)
    }
}

/// A file with its modification time and size, or `None` if the file does not exist.
type FileState = (PathBuf, Option<(SystemTime, u64)>);

/// Returns the state of the configuration file and of the theme files that the configuration may refer to.
fn state_of(path: &Path, theme: Option<&str>) -> Vec<FileState> {
    let state = |path: PathBuf| {
        let found = std::fs::metadata(&path).ok();
        let state = found.and_then(|found| Some((found.modified().ok()?, found.len())));
        (path, state)
    };
    let themes = themes::files_of(theme, Some(path));
    [path.to_owned()].into_iter().chain(themes).map(state).collect()
}

/// Reads the configuration file. If the file is missing, uses the default settings.
fn read(path: &Path, plain: bool) -> Reconfigured {
    match config_file::read(path, false) {
        Ok(mut read) => {
            read.screen.plain |= plain;
            let (appearance, troubles) = themes::appearance(&read.screen, Some(path));
            Reconfigured::Read {
                settings: Box::new(read.settings),
                screen: Box::new(read.screen),
                appearance: Box::new(appearance),
                notes: read.notes.into_iter().chain(troubles).collect(),
            }
        }
        Err(why) => Reconfigured::Wrong(why.into()),
    }
}

#[cfg(test)]
mod tests {
    use crate::io::config::config_watch::*;

    #[test]
    fn saved_theme_file_is_reloaded_from_any_folder() {
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
    fn change_during_a_read_is_read_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let mut watched = Watched::begin(path.clone(), None);
        let text = "[ui]\ntheme = \"dark\"\ntext_width = 70\n";
        // Simulates an editor that truncates the file before writing it.
        std::fs::write(&path, "").unwrap();
        let looked = watched.look(|path| {
            let emptied = read(path, false);
            std::fs::write(path, text).unwrap();
            emptied
        });
        assert!(looked.is_some());
        let width = |read: Option<Reconfigured>| match read {
            Some(Reconfigured::Read { screen, .. }) => Some(screen.text_width),
            Some(Reconfigured::Wrong(_)) | None => None,
        };
        assert_eq!(width(watched.look(|path| read(path, false))), Some(70));
        assert_eq!(watched.look(|path| read(path, false)), None, "it is read once");
        assert_eq!(watched.theme.as_deref(), Some("dark"));
    }

    #[test]
    fn command_line_plain_mode_survives_a_config_reload() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, plain, expected) in [
            ("[ui]\ntext_width = 70", true, true),
            ("[ui]\nplain = true", false, true),
            ("[ui]\nplain = false", false, false),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let Reconfigured::Read { screen, .. } = read(file.path(), plain) else {
                panic!("{text} is read");
            };
            assert_eq!(screen.plain, expected, "{text}");
        }
    }
}
