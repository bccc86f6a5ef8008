//! The active key bindings: the default keys of the command table, changed by the keys in the user's configuration.

use super::commands::{COMMANDS, Command, CommandRow};
use super::key::{Code, Key};
use super::key_names::shown;
use crate::ui::state::layout::Pane;

/// The active key bindings of all commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bound: Vec<Bound>,
}

/// A key sequence and the index of its command in the command table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    keys: Vec<Key>,
    place: usize,
}

/// The keys that the user configured for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnKeys {
    /// Index of the command in the command table.
    pub place: usize,
    /// Key sequences for the command. If empty, the command has no key.
    pub sequences: Vec<Vec<Key>>,
    /// Line number in the configuration file, for messages about conflicts.
    pub line: usize,
}

/// The meaning of the keys typed so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The keys are a complete sequence, bound to this command.
    Command(Command),
    /// The keys are the beginning of a longer sequence.
    Begun,
    /// The keys are not bound.
    Nothing,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(&[]).0
    }
}

impl Keymap {
    /// Builds the bindings from the command table and the user's keys, and returns a sentence for each conflict. The user's keys
    /// override the default keys. If two lines of the user conflict, the first line wins.
    pub fn new(own: &[OwnKeys]) -> (Self, Vec<String>) {
        let mut clashes = Vec::new();
        let mut taken: Vec<(Bound, usize)> = Vec::new();
        for OwnKeys { place, sequences, line } in own {
            for keys in sequences {
                let bound = Bound { keys: keys.clone(), place: *place };
                let rival = taken.iter().find(|(other, _)| other.clashes(&bound));
                if let Some((other, first)) = rival {
                    clashes.push(format!(
                        "line {line}: '{}' for {} conflicts with '{}' for {} in line {first}; line {first} is used",
                        shown(keys),
                        bound.name(),
                        shown(&other.keys),
                        other.name(),
                    ));
                } else {
                    taken.push((bound, *line));
                }
            }
        }
        let mut bound: Vec<Bound> = Vec::new();
        for (place, row) in COMMANDS.iter().enumerate() {
            if own.iter().any(|own| own.place == place) {
                continue;
            }
            for key in row.default_keys() {
                let default = Bound { keys: vec![key], place };
                match taken.iter().find(|(other, _)| other.clashes(&default)) {
                    Some((other, line)) => clashes.push(format!(
                        "line {line}: '{}' for {} takes '{key}' from {}",
                        shown(&other.keys),
                        other.name(),
                        default.name(),
                    )),
                    None => bound.push(default),
                }
            }
        }
        bound.extend(taken.into_iter().map(|(own, _)| own));
        if !bound.iter().any(|bound| bound.command() == Some(Command::Quit)) {
            let place = COMMANDS.iter().position(|row| row.command == Command::Quit);
            let key = Key::ctrl('c');
            bound.retain(|other| other.keys.first() != Some(&key));
            bound.extend(place.map(|place| Bound { keys: vec![key], place }));
            clashes.push(format!("'{key}' still quits: quit must have a key"));
        }
        (Self { bound }, clashes)
    }

    /// Returns the meaning of the keys typed so far in a pane.
    pub fn meaning(&self, typed: &[Key], pane: Pane) -> Meaning {
        if let ([Key { code: Code::Char(digit @ '0'..='9'), ctrl: false }], Pane::Reader) =
            (typed, pane)
        {
            return Meaning::Command(Command::Digit(*digit));
        }
        let mut here =
            self.bound.iter().filter(|bound| bound.row().is_some_and(|row| row.works_in(pane)));
        let Some(first) = here.find(|bound| bound.keys.starts_with(typed)) else {
            return Meaning::Nothing;
        };
        match first.command() {
            Some(command) if first.keys.len() == typed.len() => Meaning::Command(command),
            Some(_) => Meaning::Begun,
            None => Meaning::Nothing,
        }
    }

    /// Returns the command that a single key runs in a pane. Returns `None` if the key is not bound or is only the beginning of a
    /// sequence.
    pub fn command(&self, key: Key, pane: Pane) -> Option<Command> {
        match self.meaning(&[key], pane) {
            Meaning::Command(command) => Some(command),
            Meaning::Begun | Meaning::Nothing => None,
        }
    }

    /// Formats the keys of the command at an index of the command table, for the help and the palette.
    pub fn keys_of(&self, place: usize) -> String {
        if let Some(row) = COMMANDS.get(place)
            && matches!(row.command, Command::Digit(_))
        {
            return row.keys.to_owned();
        }
        let keys: Vec<String> = self
            .bound
            .iter()
            .filter(|bound| bound.place == place)
            .map(|bound| shown(&bound.keys).replace(' ', "\u{a0}"))
            .filter(|keys| keys != "Shift-Tab")
            .collect();
        keys.join(" ")
    }
}

impl Bound {
    fn row(&self) -> Option<&'static CommandRow> {
        COMMANDS.get(self.place)
    }

    fn command(&self) -> Option<Command> {
        self.row().map(|row| row.command)
    }

    fn name(&self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Checks whether two bindings conflict: both work in the same pane, and one key sequence is a prefix of the other.
    fn clashes(&self, other: &Self) -> bool {
        let length = self.keys.len().min(other.keys.len());
        if self.keys.get(..length) != other.keys.get(..length) {
            return false;
        }
        let (Some(own), Some(theirs)) = (self.row(), other.row()) else { return false };
        [Pane::Feeds, Pane::Entries, Pane::Reader]
            .into_iter()
            .any(|pane| own.works_in(pane) && theirs.works_in(pane))
    }
}

/// Returns the index of a command in the command table, given its current name or its former name (`rules` for `filters`).
pub fn place_of(command: &str) -> Option<usize> {
    let command = if command == "rules" { "filters" } else { command };
    COMMANDS.iter().position(|row| row.name == command)
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::key_bindings::*;
    use crate::ui::keys::key_names::sequence;

    fn own(lines: &[(&str, &[&str])]) -> (Keymap, Vec<String>) {
        let own: Vec<OwnKeys> = (1..)
            .zip(lines)
            .map(|(line, (command, keys))| OwnKeys {
                place: place_of(command).unwrap(),
                sequences: keys.iter().map(|keys| sequence(keys).unwrap()).collect(),
                line,
            })
            .collect();
        Keymap::new(&own)
    }

    fn meaning(map: &Keymap, keys: &str, pane: Pane) -> Meaning {
        map.meaning(&sequence(keys).unwrap(), pane)
    }

    #[test]
    fn default_key_table_is_used_and_matches_its_text() {
        let (map, clashes) = own(&[]);
        assert_eq!(clashes, Vec::<String>::new());
        for (place, row) in COMMANDS.iter().enumerate() {
            assert_eq!(map.keys_of(place), row.keys.replace(" Shift-Tab", ""));
        }
    }

    #[test]
    fn rebinding_a_command_removes_its_old_keys() {
        let (map, clashes) = own(&[("star", &["Q", "F2"]), ("next-unread", &[])]);
        assert_eq!(clashes, Vec::<String>::new());
        assert_eq!(meaning(&map, "Q", Pane::Entries), Meaning::Command(Command::Star));
        assert_eq!(meaning(&map, "F2", Pane::Entries), Meaning::Command(Command::Star));
        assert_eq!(meaning(&map, "s", Pane::Entries), Meaning::Nothing);
        assert_eq!(meaning(&map, "n", Pane::Feeds), Meaning::Nothing);
        assert_eq!(map.keys_of(place_of("star").unwrap()), "Q F2");
    }

    #[test]
    fn key_sequence_is_started_and_completed() {
        let (map, _) = own(&[("first", &["g g"]), ("goto", &["g d"])]);
        assert_eq!(meaning(&map, "g", Pane::Feeds), Meaning::Begun);
        assert_eq!(meaning(&map, "g d", Pane::Feeds), Meaning::Command(Command::GoTo));
        assert_eq!(meaning(&map, "g g", Pane::Feeds), Meaning::Command(Command::First));
        assert_eq!(meaning(&map, "g x", Pane::Feeds), Meaning::Nothing);
        assert_eq!(map.keys_of(place_of("goto").unwrap()), "g\u{a0}d");
    }

    #[test]
    fn key_clashes_name_lines_and_the_first_line_wins() {
        let (map, clashes) =
            own(&[("star", &["n"]), ("open-in-browser", &["n n"]), ("goto", &["g d"])]);
        assert_eq!(
            clashes,
            [
                "line 2: 'n n' for open-in-browser conflicts with 'n' for star in line 1; line 1 is used",
                "line 3: 'g d' for goto takes 'g' from first",
                "line 1: 'n' for star takes 'n' from next-unread",
            ]
        );
        assert_eq!(meaning(&map, "n", Pane::Entries), Meaning::Command(Command::Star));
        assert_eq!(meaning(&map, "Home", Pane::Entries), Meaning::Command(Command::First));
    }

    #[test]
    fn two_commands_may_share_a_key_in_different_panes() {
        let (_, clashes) = own(&[("find", &["x"])]);
        assert_eq!(clashes, Vec::<String>::new(), "x marks rows in the other panes");
    }

    #[test]
    fn digits_belong_to_the_reader() {
        let (map, _) = own(&[]);
        let three = Command::Digit('3');
        assert_eq!(meaning(&map, "3", Pane::Reader), Meaning::Command(three));
        assert_eq!(meaning(&map, "3", Pane::Entries), Meaning::Nothing);
    }

    #[test]
    fn the_reader_can_always_leave() {
        let (map, clashes) = own(&[("quit", &[])]);
        assert_eq!(map.command(Key::ctrl('c'), Pane::Feeds), Some(Command::Quit));
        assert_eq!(clashes.len(), 1);
    }
}
