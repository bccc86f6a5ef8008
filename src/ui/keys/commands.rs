//! The commands: their enum and the list of their rows, made from the [`command_table`].
//!
//! Commands of the user's own are sequences of commands and programs, bound to keys or names in `[keys]`.

use super::command_table::command_table;
use super::key::{self, Key};
use crate::engine::external::external_command::ExternalCommand;
use crate::ui::state::layout::Pane;

const ALL: &[Pane] = &[];
const LISTS: &[Pane] = &[Pane::Feeds, Pane::Entries];
const ENTRIES: &[Pane] = &[Pane::Entries, Pane::Reader];
const READER: &[Pane] = &[Pane::Reader];

macro_rules! commands {
    ($($group:literal { $(
        $command:ident $name:literal $keys:literal $panes:ident $help:literal
            => $run:expr $(, $takes:expr)?;
    )* })*) => {
        /// A command that the user runs with a key, or by name in the palette.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Command {
            $($($command,)*)*
            /// Types one digit of the number of a link to open.
            Digit(char),
            /// Runs the own command with this number.
            Own(usize),
        }

        /// All commands, in the order in which the help shows them.
        pub const COMMANDS: &[CommandRow] = &[$($(CommandRow {
            command: Command::$command,
            group: $group,
            name: $name,
            keys: $keys,
            panes: $panes,
            help: $help,
            takes: false $(|| !stringify!($takes).is_empty())?,
        },)*)*];
    };
}

command_table!(commands);

/// Names that other programs use for commands. The palette finds commands by these names too.
const SYNONYMS: [(&str, &[&str]); 15] = [
    ("accounts", &["sync"]),
    ("downloads", &["podcasts"]),
    ("edit", &["configure", "options", "preferences", "settings"]),
    ("filters", &["block", "rules"]),
    ("label", &["tag"]),
    ("layout", &["settings", "view"]),
    ("mark-all-read", &["catchup"]),
    ("open-in-browser", &["browse"]),
    ("poll", &["check", "fetch", "refresh", "reload", "update"]),
    ("poll-all", &["check", "fetch", "refresh", "reload", "update"]),
    ("quit", &["exit"]),
    ("read-later", &["bookmark"]),
    ("star", &["bookmark", "favourite", "favorite"]),
    ("theme", &["colors", "colours", "dark", "light", "settings"]),
    ("unsubscribe", &["delete", "remove"]),
];

/// Returns the names that other programs use for the command with this name.
pub fn synonyms(name: &str) -> impl Iterator<Item = &'static str> {
    let row = SYNONYMS.iter().find(|(command, _)| *command == name);
    row.into_iter().flat_map(|(_, words)| words.iter().copied())
}

/// One row of the command table.
#[derive(Debug)]
pub struct CommandRow {
    pub command: Command,
    /// Heading of the command in the help.
    pub group: &'static str,
    /// Name of the command in the palette and in `[keys]`.
    pub name: &'static str,
    /// Default keys of the command, separated by spaces. The user can replace them in `[keys]`.
    pub keys: &'static str,
    /// Panes in which the keys of the command work. Empty means all panes.
    panes: &'static [Pane],
    pub help: &'static str,
    /// Whether an argument can follow its name in the palette.
    pub takes: bool,
}

impl CommandRow {
    pub fn works_in(&self, pane: Pane) -> bool {
        self.panes.is_empty() || self.panes.contains(&pane)
    }

    /// Parses the default keys of the command. A key range such as `1-9` is skipped.
    pub fn default_keys(&self) -> impl Iterator<Item = Key> {
        self.keys.split(' ').filter_map(|key| key::parse_key(key).ok())
    }
}

/// Returns the headings of the help, each with the indexes of its commands in [`COMMANDS`].
pub fn grouped() -> impl Iterator<Item = (&'static str, Vec<usize>)> {
    let mut places = 0..;
    let groups = COMMANDS.chunk_by(|row, next| row.group == next.group);
    groups.filter_map(move |rows| {
        Some((rows.first()?.group, places.by_ref().take(rows.len()).collect()))
    })
}

impl Command {
    /// Returns the name of the command in the table. Digits and own commands have none.
    pub fn name(self) -> &'static str {
        COMMANDS.iter().find(|row| row.command == self).map_or("", |row| row.name)
    }

    /// Checks whether the command works while the help is open: it scrolls or closes the help. Any other command only closes the
    /// help.
    pub const fn works_in_help(self) -> bool {
        matches!(
            self,
            Self::Down
                | Self::Up
                | Self::First
                | Self::Last
                | Self::HalfDown
                | Self::HalfUp
                | Self::PageDown
                | Self::PageUp
                | Self::Back
                | Self::Close
                | Self::Help
                | Self::Quit
        )
    }

    /// Checks whether the command works while the plan pane or the timetable is open in the same way as without them.
    pub const fn works_over_panes(self) -> bool {
        self.works_in_help()
            || matches!(
                self,
                Self::Plan
                    | Self::Timetable
                    | Self::Palette
                    | Self::Theme
                    | Self::Layout
                    | Self::Redraw
                    | Self::Suspend
                    | Self::Zone
                    | Self::Steps
                    | Self::MarkHours
                    | Self::MoreOften
                    | Self::LessOften
                    | Self::NormallyOften
                    | Self::Edit
                    | Self::Poll
                    | Self::PollAll
                    | Self::Undo
                    | Self::Redo
                    | Self::Enter
            )
    }
}

/// A sequence of commands and programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// Name in the palette and in messages: the name that the user chose, or the keys of the command.
    pub name: String,
    /// The steps, in the order in which they run.
    pub steps: Vec<KeyStep>,
}

/// A step of an own command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStep {
    /// Runs a command of the command table, given with its name.
    Command(Command, &'static str),
    /// Passes the selected entry to a program, and waits until the program ends.
    Run(ExternalCommand),
}

impl OwnCommand {
    /// Describes the steps, such as `wallabag-add, then toggle-read`.
    pub fn about(&self) -> String {
        let steps = self.steps.iter().map(|step| match step {
            KeyStep::Command(_, name) => (*name).to_owned(),
            KeyStep::Run(command) => command.program().to_owned(),
        });
        steps.collect::<Vec<_>>().join(", then ")
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::commands::*;

    #[test]
    fn every_command_has_a_unique_typeable_name() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let typed = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(|name| typed(name)), "{names:?}");
    }

    #[test]
    fn no_key_means_two_things_in_one_pane() {
        for pane in [Pane::Feeds, Pane::Entries, Pane::Reader] {
            let mut seen: Vec<(Key, &str)> = Vec::new();
            for row in COMMANDS.iter().filter(|row| row.works_in(pane)) {
                for key in row.default_keys() {
                    let other = seen.iter().find(|(taken, _)| *taken == key);
                    assert_eq!(other, None, "{key} of {}", row.name);
                    seen.push((key, row.name));
                }
            }
        }
    }
}
