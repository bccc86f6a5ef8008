//! Loads the themes next to the configuration file, watches both, and reads them again when they change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backissue_core::{InputFlaw, flaw};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use super::config_file;
use crate::io::regular_files;
use crate::io::system::system_words;
use crate::ui::settings::ScreenSettings;
use crate::ui::theme::colours::{
    Appearance, Colours, has_ascii_locale, has_light_ground, knows_hyperlinks, mismeasures_clusters,
};
use crate::ui::theme::theme_roles::{self, Theme};
use crate::ui::update::{Reconfigured, ScreenInput};

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
        let themes = folder_beside(&self.path).map(|folder| folder.join("any.toml"));
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
    let themes = files_of(theme, Some(path));
    [path.to_owned()].into_iter().chain(themes).map(state).collect()
}

/// Reads the configuration file. If the file is missing, uses the default settings.
fn read(path: &Path, plain: bool) -> Reconfigured {
    match config_file::read(path, false) {
        Ok(mut read) => {
            read.screen.plain |= plain;
            let (appearance, troubles) = appearance(&read.screen, Some(path));
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

/// Time within which several events count as one change, because saving a file causes several events.
const GATHERED: Duration = Duration::from_millis(100);
/// Interval between checks if the operating system does not report changes.
const PAUSE: Duration = Duration::from_secs(1);

/// The watched folders and the notification of changes in them.
#[derive(Debug)]
pub(super) struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    changed: Arc<Notify>,
    /// `true` if the operating system reports changes in all watched folders.
    whole: bool,
    /// Interval between checks if the operating system does not report changes in all folders.
    pause: Duration,
}

impl FolderWatch {
    /// Creates a watch without folders.
    pub(super) fn start() -> Self {
        let changed = Arc::new(Notify::new());
        let hears = Arc::clone(&changed);
        let hear = move |event: notify::Result<notify::Event>| {
            // Ignore events for read access. Treat an error as a change, because events may have been lost.
            if event.map_or(true, |event| !matches!(event.kind, EventKind::Access(_))) {
                hears.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(hear).ok();
        Self { watcher, watched: BTreeSet::new(), changed, whole: false, pause: PAUSE }
    }

    /// Replaces the set of watched folders.
    pub(super) fn watch(&mut self, folders: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        for left in self.watched.difference(&folders) {
            // This fails only if the folder was deleted, and a deleted folder is no longer watched anyway.
            watcher.unwatch(left).ok();
        }
        // Register all folders again, also known ones, because a folder may have been replaced by another of the same name.
        let unheard =
            |folder: &&PathBuf| watcher.watch(folder, RecursiveMode::NonRecursive).is_err();
        self.whole = folders.iter().filter(unheard).count() == 0;
        self.watched = folders;
    }

    /// Waits until something in the folders may have changed since the last call.
    pub(super) async fn changed(&self) {
        if self.whole {
            self.changed.notified().await;
            tokio::time::sleep(GATHERED).await;
        } else {
            tokio::time::sleep(self.pause).await;
        }
    }
}

/// Returns the folders in which a change to this file is visible: the folder of its path, or the nearest existing ancestor, and
/// the folder of the link's target if the file is a link.
fn folders_of(file: &Path) -> impl Iterator<Item = PathBuf> {
    let named = std::path::absolute(file).ok();
    let meant = file.canonicalize().ok();
    [named, meant].into_iter().flatten().filter_map(|path| {
        path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
    })
}

/// Maximum number of theme files to read.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Loads all themes and selects the configured theme, which the configuration gives by name or by the path of its file. Also
/// returns one sentence per unreadable theme. If the configured theme is unreadable, the first theme is selected. If no theme is
/// configured and the terminal is known to have a light background, the light theme is selected.
pub fn appearance(ui: &ScreenSettings, configuration: Option<&Path>) -> (Appearance, Vec<String>) {
    let variable = |name: &str| std::env::var(name).ok();
    let mut appearance = Appearance {
        own: ui.colours.iter().map(|rule| rule.style.clone()).collect(),
        colours: Colours::of(variable),
        hyperlinks: ui.hyperlinks.unwrap_or_else(|| knows_hyperlinks(variable)),
        simple_clusters: mismeasures_clusters(variable),
        plain: ui.plain,
        ascii: has_ascii_locale(variable),
        ..Appearance::default()
    };
    let wanted = ui.theme.as_deref();
    let mut troubles = Vec::new();
    let name = match named(wanted, configuration) {
        Some(path) => Some(name_of(&path)),
        None => wanted.map(str::to_owned),
    };
    let usual = if has_light_ground(variable) { theme_roles::LIGHT } else { theme_roles::FIRST };
    let name = name.unwrap_or_else(|| usual.to_owned());
    let mut broken = false;
    for file in files_of(wanted, configuration) {
        match read_theme(&file, &appearance.themes) {
            Ok(theme) => {
                // A user's theme file replaces a built-in theme with the same name.
                appearance.themes.retain(|other| other.name != theme.name);
                appearance.themes.push(theme);
            }
            Err(why) => {
                broken |= name_of(&file) == name;
                troubles.push(why.into());
            }
        }
    }
    if let Err(why) = appearance.choose(&name) {
        if !broken {
            troubles.push(format!("[ui] theme: {why}"));
        }
        appearance.choose(theme_roles::FIRST).ok();
    }
    (appearance, troubles)
}

/// Returns the theme files: the files next to the configuration, and the file that the configuration names by path.
fn files_of(wanted: Option<&str>, configuration: Option<&Path>) -> Vec<PathBuf> {
    let folder = configuration.and_then(folder_beside);
    let mut files = folder.map(|folder| files(&folder)).unwrap_or_default();
    files.extend(named(wanted, configuration).filter(|path| !files.contains(path)));
    files
}

/// Returns the folder of the user's own themes.
fn folder_beside(configuration: &Path) -> Option<PathBuf> {
    configuration.parent().map(|folder| folder.join("themes"))
}

/// Returns the path of the configured theme, or `None` if the configuration gives no theme or only a name.
fn named(wanted: Option<&str>, configuration: Option<&Path>) -> Option<PathBuf> {
    let path = PathBuf::from(wanted.filter(|wanted| is_path(wanted))?);
    let folder = configuration.and_then(Path::parent).filter(|_| path.is_relative());
    Some(folder.map_or(path.clone(), |folder| folder.join(&path)))
}

fn is_path(wanted: &str) -> bool {
    wanted.contains('/') || Path::new(wanted).extension().is_some_and(|end| end == "toml")
}

/// Returns the theme files of a folder, sorted by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_theme = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let mut files: Vec<PathBuf> = paths.filter(is_theme).collect();
    files.sort();
    files.truncate(FILES_MAX);
    files
}

/// Returns the name of a theme, which is its file name without the extension.
fn name_of(path: &Path) -> String {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_default().chars().filter(|char| !char.is_control()).collect()
}

fn read_theme(path: &Path, known: &[Theme]) -> Result<Theme, InputFlaw> {
    let name = name_of(path);
    let wrong = |why: &str| flaw!("the theme '{name}' ({}) is not used: {why}", path.display());
    let text = regular_files::read_text(path, FILE_BYTES_MAX);
    let text = text.map_err(|error| wrong(&system_words(&error)))?;
    theme_roles::read(&name, &text, known).map_err(|why| wrong(&why))
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

#[cfg(test)]
mod folder_watch_tests {
    use std::fs;

    use crate::io::config::config_watch::*;

    /// Maximum wait for a reported change, far longer than the system needs.
    const PATIENCE: Duration = Duration::from_secs(20);

    async fn hears(watch: &FolderWatch, change: impl FnOnce()) -> bool {
        change();
        tokio::time::timeout(PATIENCE, watch.changed()).await.is_ok()
    }

    #[tokio::test]
    async fn file_change_is_noticed_however_it_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("not/yet/there.toml");
        let mut watch = FolderWatch::start();
        let again = |watch: &mut FolderWatch| {
            watch.watch(folders_of(&file).collect());
            assert!(watch.whole, "nothing is looked at again and again");
        };
        again(&mut watch);
        assert!(hears(&watch, || fs::create_dir(folder.path().join("not")).unwrap()).await);
        again(&mut watch);
        assert!(hears(&watch, || fs::create_dir(file.parent().unwrap()).unwrap()).await);
        again(&mut watch);
        assert!(hears(&watch, || fs::write(&file, "a").unwrap()).await, "made");
        assert!(hears(&watch, || fs::write(&file, "b").unwrap()).await, "written");
        let other = file.with_extension("new");
        let put_in_place = || {
            fs::write(&other, "c").unwrap();
            fs::rename(&other, &file).unwrap();
        };
        assert!(hears(&watch, put_in_place).await, "replaced");
        assert!(hears(&watch, || fs::remove_file(&file).unwrap()).await, "removed");
    }

    #[tokio::test]
    async fn change_of_a_link_target_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, here) = (folder.path().join("elsewhere"), folder.path().join("here"));
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir(&here).unwrap();
        fs::write(elsewhere.join("real.toml"), "a").unwrap();
        let link = here.join("config.toml");
        std::os::unix::fs::symlink(elsewhere.join("real.toml"), &link).unwrap();
        let mut watch = FolderWatch::start();
        watch.watch(folders_of(&link).collect());
        assert!(hears(&watch, || fs::write(elsewhere.join("real.toml"), "b").unwrap()).await);
    }

    #[tokio::test]
    async fn unwatchable_folder_is_checked_periodically() {
        let mut watch = FolderWatch { pause: Duration::ZERO, ..FolderWatch::start() };
        watch.watch(BTreeSet::from(["/no/such/folder".into()]));
        assert!(hears(&watch, || {}).await);
    }
}

#[cfg(test)]
mod themes_tests {
    use crate::io::config::config_watch::*;
    use crate::ui::theme::theme_roles::{Ink, ThemeRole};

    /// Creates a folder with a configuration and theme files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn with_theme(wanted: Option<&str>) -> ScreenSettings {
        ScreenSettings { theme: wanted.map(str::to_owned), ..ScreenSettings::default() }
    }

    fn chosen(wanted: Option<&str>, files: &[(&str, &str)]) -> (String, Vec<String>) {
        let folder = folder(files);
        let configuration = folder.path().join("config.toml");
        let (appearance, troubles) = appearance(&with_theme(wanted), Some(&configuration));
        (appearance.theme().unwrap().name.clone(), troubles)
    }

    #[test]
    fn a_theme_is_chosen_by_name_or_by_path() {
        let night = ("themes/night.toml", "star = \"red\"");
        for (wanted, files, expected) in [
            (None, &[][..], "ansi16"),
            (Some("light"), &[], "light"),
            (Some("night"), &[night], "night"),
            (Some("themes/night.toml"), &[night], "night"),
            (Some("./mine.toml"), &[("mine.toml", "base = \"dark\"")], "mine"),
        ] {
            assert_eq!(chosen(wanted, files), (expected.to_owned(), vec![]), "{wanted:?}");
        }
    }

    #[test]
    fn theme_file_overrides_the_built_in_of_its_name() {
        let folder = folder(&[("themes/dark.toml", "base = \"dark\"\nstar = \"red\"")]);
        let configuration = folder.path().join("config.toml");
        let (appearance, troubles) = appearance(&with_theme(Some("dark")), Some(&configuration));
        assert_eq!(troubles, [""; 0]);
        assert_eq!(appearance.themes.len(), 4);
        let theme = appearance.theme().unwrap();
        assert_eq!(theme.paint(ThemeRole::Star).ink, Some(Ink::Ansi(1)));
    }

    #[test]
    fn unusable_theme_is_reported_once_and_default_shown() {
        for (wanted, files, expected) in [
            ("drak", &[][..], "[ui] theme: unknown theme 'drak'; did you mean 'dark'?"),
            (
                "night",
                &[("themes/night.toml", "\nstar = \"rad\"")],
                "is not used: line 2: 'rad' is",
            ),
            ("gone.toml", &[], "the theme 'gone' ("),
        ] {
            let (name, troubles) = chosen(Some(wanted), files);
            assert_eq!(name, "ansi16");
            assert_eq!(troubles.len(), 1, "{troubles:?}");
            assert!(troubles[0].contains(expected), "{troubles:?}");
        }
    }
}
