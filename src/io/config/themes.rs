//! Loads the theme files next to the configuration file, and reads the terminal's features from the environment.

use std::path::{Path, PathBuf};

use crate::io::small_files;
use crate::io::system::words::system_words;
use crate::ui::settings::ScreenSettings;
use crate::ui::theme::appearance::Appearance;
use crate::ui::theme::colours::{
    Colours, has_ascii_locale, has_light_ground, knows_hyperlinks, mismeasures_clusters,
};
use crate::ui::theme::theme_files;
use crate::ui::theme::theme_roles::Theme;
use backissue_core::{InputFlaw, flaw};

/// Maximum number of theme files to read.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Loads all themes and selects the configured theme, which the configuration gives by name or by the path of its file. Also
/// returns one sentence per unreadable theme. If the configured theme is unreadable, the first theme is selected. If no theme is
/// configured and the terminal is known to have a light background, the light theme is selected.
pub fn appearance(ui: &ScreenSettings, configuration: Option<&Path>) -> (Appearance, Vec<String>) {
    let variable = |name: &str| std::env::var(name).ok();
    let mut appearance = Appearance {
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
    let usual = if has_light_ground(variable) { theme_files::LIGHT } else { theme_files::FIRST };
    let name = name.unwrap_or_else(|| usual.to_owned());
    let mut broken = false;
    for file in files_of(wanted, configuration) {
        match read(&file, &appearance.themes) {
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
        appearance.choose(theme_files::FIRST).ok();
    }
    (appearance, troubles)
}

/// Returns the theme files: the files next to the configuration, and the file that the configuration names by path.
pub(in crate::io) fn files_of(wanted: Option<&str>, configuration: Option<&Path>) -> Vec<PathBuf> {
    let folder = configuration.and_then(folder_beside);
    let mut files = folder.map(|folder| files(&folder)).unwrap_or_default();
    files.extend(named(wanted, configuration).filter(|path| !files.contains(path)));
    files
}

/// Returns the folder of the user's own themes.
pub(in crate::io) fn folder_beside(configuration: &Path) -> Option<PathBuf> {
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

fn read(path: &Path, known: &[Theme]) -> Result<Theme, InputFlaw> {
    let name = name_of(path);
    let wrong = |why: &str| flaw!("the theme '{name}' ({}) is not used: {why}", path.display());
    let text = small_files::read_text(path, FILE_BYTES_MAX);
    let text = text.map_err(|error| wrong(&system_words(&error)))?;
    theme_files::read(&name, &text, known).map_err(|why| wrong(&why))
}

#[cfg(test)]
mod tests {
    use crate::io::config::themes::*;
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
