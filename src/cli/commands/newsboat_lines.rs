//! Translates newsboat's settings to lines for the configuration file and for a theme. For other settings, names their
//! counterparts.

use std::collections::BTreeMap;

use backissue_core::other_readers::newsboat_config::NewsboatConfig;

use crate::io::config::config_file::{self, Configured};
use crate::io::named_files::expand_home;
use crate::ui::keys::key_bindings::{KeyPreset, Keymap};
use crate::ui::keys::newsboat_keys::{quoted, with_link};

/// The page for users of newsboat, which has a row for each setting.
pub(in crate::cli) const PAGE: &str = include_str!("../../../docs/newsboat.md");
/// Sections of the configuration file, in its order.
const SECTIONS: [&str; 6] =
    ["[ui]", "[[colours]]", "[commands]", "[downloads]", "[share]", "[keys]"];
/// Path of the theme file, next to the configuration file.
pub(super) const THEME: &str = "themes/newsboat.toml";
/// Elements of newsboat's screen, and their roles in a theme. Of two elements with the same role, the last one counts.
const ROLES: [(&str, &str); 6] = [
    ("background", "text"),
    ("article", "text"),
    ("listnormal", "dim"),
    ("listnormal_unread", "unread"),
    ("listfocus_unread", "selected"),
    ("listfocus", "selected"),
];

/// The result of translating newsboat's settings.
#[derive(Debug, Default)]
pub(super) struct SettingsTaken {
    /// The text of the configuration file; empty if all settings are the defaults here.
    pub config: String,
    /// The text of the theme file that the configuration names; empty if it names none.
    pub theme: String,
    /// Numbers of lines that would be invalid here, each with a sentence about the reason.
    pub refused: Vec<(usize, String)>,
    /// Other settings, each with its counterpart here.
    pub others: Vec<(String, String)>,
}

impl SettingsTaken {
    /// Translates all settings. `keys` are the finished lines for `[keys]`.
    pub(super) fn of(config: &NewsboatConfig, keys: Vec<String>) -> Self {
        let mut taken = Self::default();
        let mut lines: Vec<(&str, String)> = Vec::new();
        if !config.bindings.is_empty() {
            lines.push(("[ui]", "keys = \"newsboat\"".to_owned()));
        }
        lines.extend(keys.into_iter().map(|line| ("[keys]", line)));
        let colours = config.colours.iter();
        lines.extend(colours.map(|(query, style)| {
            let text = format!("query = {}\nstyle = {}", quoted(query), quoted(style));
            ("[[colours]]", text)
        }));
        for (name, (line, values)) in &config.settings {
            let Some((section, text)) = translated(name, values) else {
                taken.others.push((name.clone(), counterpart(name)));
                continue;
            };
            match config_file::parse(&format!("{section}\n{text}\n")) {
                Ok(meant) if meant == Configured::default() => {
                    let why = "its value is the default here, so it needs no line";
                    taken.others.push((name.clone(), why.to_owned()));
                }
                Ok(_) => lines.push((section, text)),
                Err(why) => {
                    taken
                        .refused
                        .push((*line, format!("{name}: its line would be invalid: {why}")));
                }
            }
        }
        let styles = |(element, role): &(&str, &'static str)| {
            config.elements.get(*element).map(|style| (*role, style))
        };
        let theme: BTreeMap<&str, &String> = ROLES.iter().filter_map(styles).collect();
        for (role, style) in &theme {
            taken.theme.extend([role, " = ", &quoted(style), "\n"]);
        }
        if !theme.is_empty() {
            lines.push(("[ui]", "theme = \"newsboat\"".to_owned()));
        }
        let others = config.elements.keys().filter_map(|name| {
            let here = match ROLES.iter().position(|(element, _)| element == name) {
                None => "a theme has no role for it".to_owned(),
                Some(at) => {
                    let (_, role) = ROLES.get(at)?;
                    let mut later = ROLES.iter().skip(at + 1).filter(|(_, other)| other == role);
                    let (element, _) =
                        later.find(|(other, _)| config.elements.contains_key(*other))?;
                    format!("the role '{role}' of the theme has the colours of {element}")
                }
            };
            Some((format!("color {name}"), here))
        });
        taken.others.extend(others);
        taken.config = document(&lines);
        // Some commands lose their only key to a binding of the user. For these, a line without a key shows that this is
        // intended.
        if let Ok(meant) = config_file::parse(&taken.config) {
            let preset =
                if config.bindings.is_empty() { KeyPreset::Default } else { KeyPreset::Newsboat };
            let before = Keymap::with(preset, &[], Vec::new()).0;
            let lost = |name: &&str| !before.without_key().any(|known| known == *name);
            let lost = meant.screen.keys.without_key().filter(lost);
            lines.extend(lost.map(|name| ("[keys]", format!("{name} = []"))));
            taken.config = document(&lines);
        }
        taken
    }
}

/// Writes lines under the headings of their sections.
fn document(lines: &[(&str, String)]) -> String {
    let mut text = String::new();
    for section in SECTIONS {
        let of_section = lines.iter().filter(|(of, _)| *of == section);
        for (place, (_, line)) in of_section.enumerate() {
            if place == 0 || section.starts_with("[[") {
                text.extend([section, "\n"]);
            }
            text.extend([line, "\n"]);
        }
    }
    text
}

/// Returns the section and the line for a setting, or `None` if it has no line.
fn translated(name: &str, values: &[String]) -> Option<(&'static str, String)> {
    let value = values.first().map(String::as_str).filter(|value| !value.is_empty())?;
    let text = |key: &str, value: &str| format!("{key} = {}", quoted(value));
    // Newsboat uses a shell, which expands `~` to the home folder.
    let command = expand_home(value);
    Some(match (name, value) {
        ("browser", _) => ("[commands]", text("open", &with_link(&command))),
        // Podboat starts the player on its terminal.
        ("player", _) => ("[downloads]", text("player", &format!("!{command} {{link}}"))),
        ("download-path", folder) if !folder.contains('%') => {
            ("[downloads]", text("folder", folder))
        }
        // Its third argument is a description that newsboat asks for.
        ("bookmark-cmd", _) => {
            ("[share]", text("Bookmark", &format!("{command} {{link}} {{title}} '' {{feed}}")))
        }
        ("show-read-feeds", "yes") => ("[ui]", text("feeds", "all")),
        ("show-read-feeds", "no") => ("[ui]", text("feeds", "unread")),
        // In newsboat, the direction of dates has the opposite meaning.
        ("article-sort-order", "date" | "date-asc") => ("[ui]", text("order", "newest")),
        ("article-sort-order", "date-desc") => ("[ui]", text("order", "oldest")),
        ("article-sort-order", "title" | "title-asc") => ("[ui]", text("order", "title")),
        _ => return None,
    })
}

/// Describes the counterpart of a setting here.
fn counterpart(setting: &str) -> String {
    let here = PAGE.lines().find_map(|row| {
        let (name, here) = row.strip_prefix("| `")?.split_once("` | ")?;
        let is_it = match name.strip_suffix('…') {
            Some(begin) => setting.starts_with(begin),
            None => setting == name,
        };
        is_it.then(|| here.trim_end_matches([' ', '|']).replace('`', "'"))
    });
    here.unwrap_or_else(|| "newsboat's manual does not have it".to_owned())
}

#[cfg(test)]
mod tests {
    use backissue_core::other_readers::newsboat_config::read_config;

    use super::*;
    use crate::ui::keys::newsboat_keys::translate;
    use crate::ui::theme::theme_roles;

    fn taken(text: &str) -> SettingsTaken {
        let config = read_config(text);
        SettingsTaken::of(&config, translate(&config).lines)
    }

    #[test]
    fn lines_are_valid_and_differ_from_the_defaults() {
        let all = taken(
            "browser \"firefox --new-tab '%u'\"\nplayer mpv\nplayer \"vlc -I curses\"\n\
             download-path /srv/pods\nbookmark-cmd \"/opt/mark --tag 'to read'\"\n\
             show-read-feeds no\narticle-sort-order date-desc\n\
             highlight articlelist \"fro\\\\w+ \\\"late\\\"\" red default bold\n\
             highlight-article \"unread = \\\"yes\\\" and age < 2\" color17 white\n\
             bind-key ^R reload-all\nbind-key = open\nbind-key ^F pagedown\nbind-key g home\n\
             bind-key o open-in-browser-and-mark-read\nunbind-key C\nmacro m set browser \"mpv %u\" ; open-in-browser\n\
             color background white black\ncolor article color250 black\n\
             color listfocus black yellow bold\ncolor info red default\n\
             reload-time 30\nfreshrss-url https://a.example\nnever-heard-of x\n",
        );
        assert_eq!(all.refused, Vec::new());
        let expected = [
            "[ui]",
            "keys = \"newsboat\"",
            "order = \"oldest\"",
            "feeds = \"unread\"",
            "theme = \"newsboat\"",
            "[[colours]]",
            r#"query = 'title:/fro\w+ \"late\"/'"#,
            "style = \"red bold\"",
            "[[colours]]",
            "query = \"is:unread age:<2d\"",
            "style = \"17 white\"",
            "[commands]",
            "open = \"firefox --new-tab {link}\"",
            "[downloads]",
            "folder = \"/srv/pods\"",
            "player = \"!vlc -I curses {link}\"",
            "[share]",
            "Bookmark = \"/opt/mark --tag 'to read' {link} {title} '' {feed}\"",
            "[keys]",
            "\"Ctrl-r\" = [\"poll-all\"]",
            "\"=\" = [\"open\"]",
            "\"Ctrl-f\" = [\"page-down\"]",
            "\"g\" = [\"first\"]",
            "\", m\" = [{ run = \"mpv {link}\" }]",
            "search-all = []",
            "normally-often = []",
        ];
        assert_eq!(all.config.lines().collect::<Vec<_>>(), expected);
        assert_eq!(config_file::parse(&all.config).unwrap().notes, Vec::<String>::new());
        let theme = ["selected = \"black yellow bold\"", "text = \"250 black\""];
        assert_eq!(all.theme.lines().collect::<Vec<_>>(), theme);
        theme_roles::read("newsboat", &all.theme, &[]).unwrap();
        let others = all.others.iter().map(|(name, here)| format!("{name}: {here}"));
        let expected = [
            "freshrss-url: 'backissue account'",
            "never-heard-of: newsboat's manual does not have it",
            "reload-time: '[poll] default', for feeds without a schedule; 'backissue set' for one feed",
            "color background: the role 'text' of the theme has the colours of article",
            "color info: a theme has no role for it",
        ];
        let told: Vec<String> = others.collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn usual_settings_need_no_line_and_invalid_ones_are_named() {
        let usual = "player mpv\ndownload-path ~/Podcasts\nshow-read-feeds yes\n\
                     article-sort-order date-asc\nbind-key j down\n";
        for (text, config, refused) in [
            (usual, "[ui]\nkeys = \"newsboat\"\n", ""),
            (
                "browser \"sh -c 'w3m %u'\"",
                "",
                "browser: its line would be invalid: [commands] open: {link} must be",
            ),
            ("bookmark-cmd \"echo 'a\"", "", "a quote in"),
        ] {
            let all = taken(text);
            let why: Vec<&str> = all.refused.iter().map(|(_, why)| why.as_str()).collect();
            assert_eq!(all.config, config, "{text}");
            let is_default = |(_, why): &&(String, String)| why.contains("is the default here");
            let unneeded = all.others.iter().filter(is_default).count();
            assert_eq!(unneeded, if text == usual { 4 } else { 0 }, "{:?}", all.others);
            assert!(why.len() == usize::from(!refused.is_empty()), "{text}: {why:?}");
            assert!(why.join("").contains(refused), "{text}: {why:?}");
        }
    }
}
