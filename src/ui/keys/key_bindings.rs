//! The active key bindings: the default keys of the command table, changed by the keys in the user's configuration.
//!
//! The module also defines the sentences for the screen. A text of the program contains command names in braces, such as
//! `{undo}`, and is shown with the keys of these commands. A text from a feed, a server or the user is created while the program
//! runs, so it is never treated in this way and is shown unchanged.

use backissue_core::InputFlaw;
use serde::Deserialize;

use super::command_table::{COMMANDS, Command, KeyStep, OwnCommand};
use super::key::{Code, Key, parse_key, shown};
use super::newsboat_keys::{Here, MOVED_KEYS, NEWSBOAT_KEYS, NewsboatKey};
use crate::ui::state::layout::Pane;

/// The active key bindings of all commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bound: Vec<Bound>,
    own: Vec<OwnCommand>,
}

/// A key sequence and the index of its command. An index beyond the end of the command table means one of the own commands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    keys: Vec<Key>,
    place: usize,
}

/// The keys that the program starts with, before the user's own keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyPreset {
    /// The default keys of the command table.
    #[default]
    Default,
    /// The default keys of newsboat, and those of the command table that do not conflict with them.
    Newsboat,
}

/// The keys that the user configured for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnKeys {
    /// Index of the command in the command table, or the place of an own command.
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
    /// override the default keys. If two lines of the user conflict, the first line applies.
    pub fn new(own: &[OwnKeys]) -> (Self, Vec<String>) {
        Self::with(KeyPreset::Default, own, Vec::new())
    }

    /// Builds the bindings from the command table, a preset, the user's keys and the user's own commands; see [`Keymap::new`].
    pub fn with(
        preset: KeyPreset,
        own: &[OwnKeys],
        own_commands: Vec<OwnCommand>,
    ) -> (Self, Vec<String>) {
        let mut clashes = Vec::new();
        let name = |place: usize| name_of(place, &own_commands);
        let mut taken: Vec<(Bound, usize)> = Vec::new();
        for OwnKeys { place, sequences, line } in own {
            for keys in sequences {
                let bound = Bound { keys: keys.clone(), place: *place };
                let rival = taken.iter().find(|(other, _)| other.clashes(&bound));
                if let Some((other, first)) = rival {
                    clashes.push(format!(
                        "line {line}: '{}' for {} conflicts with '{}' for {} in line {first}; line {first} is used",
                        shown(keys),
                        name(*place),
                        shown(&other.keys),
                        name(other.place),
                    ));
                } else {
                    taken.push((bound, *line));
                }
            }
        }
        let (preset, freed) = preset_keys(preset);
        let is_own = |place: usize| own.iter().any(|own| own.place == place);
        for bound in preset.into_iter().filter(|bound| !is_own(bound.place)) {
            if !taken.iter().any(|(other, _)| other.clashes(&bound)) {
                taken.push((bound, PRESET_LINE));
            }
        }
        let (mut bound, mut lost): (Vec<Bound>, Vec<(usize, Bound, usize)>) = Default::default();
        for (place, row) in COMMANDS.iter().enumerate() {
            if is_own(place) {
                continue;
            }
            for key in row.default_keys().filter(|key| !freed.contains(key)) {
                let default = Bound { keys: vec![key], place };
                match taken.iter().find(|(other, _)| other.clashes(&default)) {
                    Some((_, PRESET_LINE)) => {}
                    Some((other, line)) => lost.push((*line, other.clone(), place)),
                    None => bound.push(default),
                }
            }
        }
        bound.extend(taken.into_iter().map(|(own, _)| own));
        let mut map = Self { bound, own: own_commands };
        lost.dedup_by_key(|(_, _, place)| *place);
        for (line, bound, place) in lost.into_iter().filter(|(_, _, place)| !map.has_key(*place)) {
            let (keys, runs) = (shown(&bound.keys), name_of(bound.place, &map.own));
            let left = name_of(place, &map.own);
            clashes.push(if runs == keys {
                format!("line {line}: '{keys}' was the only key of {left}; give that one, or write '{left} = []'")
            } else {
                format!("line {line}: '{keys}' for {runs} was the only key of {left}; give that one, or write '{left} = []'")
            });
        }
        if !map.bound.iter().any(|bound| bound.command() == Some(Command::Quit)) {
            let place = COMMANDS.iter().position(|row| row.command == Command::Quit);
            let key = Key::ctrl('c');
            map.bound.retain(|other| other.keys.first() != Some(&key));
            map.bound.extend(place.map(|place| Bound { keys: vec![key], place }));
            clashes.push(format!("'{key}' still quits: quit must have a key"));
        }
        (map, clashes)
    }

    /// Checks whether any key runs the command at this index, either directly or as the only step of an own command.
    fn has_key(&self, place: usize) -> bool {
        let is_same = |own: &OwnCommand| match own.steps.as_slice() {
            [KeyStep::Command(_, name)] => place_of(name) == Some(place),
            _ => false,
        };
        self.bound.iter().any(|bound| {
            let own = bound.place.checked_sub(COMMANDS.len()).and_then(|at| self.own.get(at));
            bound.place == place || own.is_some_and(is_same)
        })
    }

    /// Returns the names of the commands that no key runs.
    pub fn without_key(&self) -> impl Iterator<Item = &'static str> {
        let rows = COMMANDS.iter().enumerate();
        rows.filter(|(place, _)| !self.has_key(*place)).map(|(_, row)| row.name)
    }

    /// Returns the meaning of the keys typed so far in a pane.
    pub fn meaning(&self, typed: &[Key], pane: Pane) -> Meaning {
        if let ([Key { code: Code::Char(digit @ '0'..='9'), ctrl: false }], Pane::Reader) =
            (typed, pane)
        {
            return Meaning::Command(Command::Digit(*digit));
        }
        let mut here = self.bound.iter().filter(|bound| bound.works_in(pane));
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

    /// Returns the user's own commands.
    pub fn own_commands(&self) -> &[OwnCommand] {
        &self.own
    }

    /// Formats the first key of a command. Returns `None` if it has no key.
    pub fn key(&self, command: &str) -> Option<String> {
        let keys = self.keys_of(place_of(command)?);
        keys.split(' ').next().filter(|key| !key.is_empty()).map(str::to_owned)
    }

    /// Formats the first key of a command, or its name in the palette if it has no key.
    pub fn key_of(&self, command: &str) -> String {
        self.key(command).unwrap_or_else(|| format!(":{command}"))
    }

    /// Replaces each command name in braces in a text, such as `{undo}`, by the first key of this command.
    pub fn words(&self, text: &'static str) -> String {
        let mut parts = text.split('{');
        let mut words = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('}').filter(|(name, _)| place_of(name).is_some()) {
                Some((name, rest)) => words.extend([&self.key_of(name), rest]),
                None => words.extend(["{", part]),
            }
        }
        words
    }

    /// Returns the key that undoes a change, for the end of a message.
    pub fn undo_hint(&self) -> String {
        self.words(" · {undo} undo")
    }

    /// Formats the keys of the command at an index of the command table, for the help and the palette.
    pub fn keys_of(&self, place: usize) -> String {
        if let Some(row) = COMMANDS.get(place)
            && row.command == Command::Link
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

/// Line number for the keys of a preset, which are not in any line of the configuration file.
const PRESET_LINE: usize = 0;

/// Returns the bindings that a preset adds, and the default keys that no longer run any command because of the preset.
fn preset_keys(preset: KeyPreset) -> (Vec<Bound>, Vec<Key>) {
    let (mut bound, mut freed) = (Vec::new(), Vec::new());
    let rows: &[NewsboatKey] = match preset {
        KeyPreset::Default => &[],
        KeyPreset::Newsboat => &NEWSBOAT_KEYS,
    };
    for row in rows {
        let Ok(key) = parse_key(row.key) else { continue };
        match row.here {
            Here::Command(name) => {
                let place = place_of(name).filter(|place| {
                    COMMANDS.get(*place).is_some_and(|row| row.default_keys().all(|own| own != key))
                });
                bound.extend(place.map(|place| Bound { keys: vec![key], place }));
            }
            Here::Nothing(_) => freed.push(key),
            Here::Unlike(_) => {}
        }
    }
    let others: &[(&str, &str)] = match preset {
        KeyPreset::Default => &[],
        KeyPreset::Newsboat => &MOVED_KEYS,
    };
    for (name, key) in others {
        let place = place_of(name).zip(parse_key(key).ok());
        bound.extend(place.map(|(place, key)| Bound { keys: vec![key], place }));
    }
    (bound, freed)
}

/// Returns the reason why a preset removes the command of a key. Returns `None` if it does not.
pub fn reason_for_nothing(preset: KeyPreset, key: &str) -> Option<&'static str> {
    let row = NEWSBOAT_KEYS.iter().find(|row| row.key == key)?;
    match (preset, row.here) {
        (KeyPreset::Newsboat, Here::Nothing(why)) => Some(why),
        (KeyPreset::Default | KeyPreset::Newsboat, _) => None,
    }
}

/// Returns the command at an index of the command table. An index beyond the end of the table means one of the own commands.
pub fn command_at(place: usize) -> Option<Command> {
    let own = || place.checked_sub(COMMANDS.len()).map(Command::Own);
    COMMANDS.get(place).map(|row| row.command).or_else(own)
}

fn name_of(place: usize, own: &[OwnCommand]) -> String {
    let own = || Some(own.get(place.checked_sub(COMMANDS.len())?)?.name.clone());
    COMMANDS.get(place).map(|row| row.name.to_owned()).or_else(own).unwrap_or_default()
}

impl Bound {
    fn command(&self) -> Option<Command> {
        command_at(self.place)
    }

    /// Own commands work in all panes.
    fn works_in(&self, pane: Pane) -> bool {
        COMMANDS.get(self.place).is_none_or(|row| row.works_in(pane))
    }

    /// Checks whether two bindings conflict: both work in the same pane, and one key sequence is a prefix of the other.
    fn clashes(&self, other: &Self) -> bool {
        let length = self.keys.len().min(other.keys.len());
        if self.keys.get(..length) != other.keys.get(..length) {
            return false;
        }
        [Pane::Feeds, Pane::Entries, Pane::Reader]
            .into_iter()
            .any(|pane| self.works_in(pane) && other.works_in(pane))
    }
}

/// Returns the index of a command in the command table, given its current name or its former name (`rules` for `filters`).
pub fn place_of(command: &str) -> Option<usize> {
    let command = if command == "rules" { "filters" } else { command };
    COMMANDS.iter().position(|row| row.name == command)
}

/// A text that is shown on the screen.
pub trait Sentence {
    /// Returns the text as it is shown.
    fn shown(self, keys: &Keymap) -> String;
}

impl Sentence for &'static str {
    fn shown(self, keys: &Keymap) -> String {
        keys.words(self)
    }
}

impl Sentence for String {
    fn shown(self, _keys: &Keymap) -> String {
        self
    }
}

impl Sentence for InputFlaw {
    fn shown(self, _keys: &Keymap) -> String {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::command_table::KeyStep;
    use crate::ui::keys::key::sequence;
    use crate::ui::keys::key_bindings::*;

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
    fn no_two_commands_have_the_same_default_key() {
        let (map, _) = own(&[]);
        for row in COMMANDS {
            let panes = [Pane::Feeds, Pane::Entries, Pane::Reader];
            for pane in panes.into_iter().filter(|pane| row.works_in(*pane)) {
                for key in row.default_keys() {
                    let meant = map.meaning(&[key], pane);
                    assert_eq!(meant, Meaning::Command(row.command), "{} {pane:?}", row.name);
                }
            }
        }
    }

    #[test]
    fn rebinding_a_command_removes_its_old_keys() {
        let (map, clashes) = own(&[("star", &["F3", "F2"]), ("next-unread", &[])]);
        assert_eq!(clashes, Vec::<String>::new());
        assert_eq!(meaning(&map, "F3", Pane::Entries), Meaning::Command(Command::Star));
        assert_eq!(meaning(&map, "F2", Pane::Entries), Meaning::Command(Command::Star));
        assert_eq!(meaning(&map, "s", Pane::Entries), Meaning::Nothing);
        assert_eq!(meaning(&map, "n", Pane::Feeds), Meaning::Nothing);
        assert_eq!(map.keys_of(place_of("star").unwrap()), "F3 F2");
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
                "line 1: 'n' for star was the only key of next-unread; give that one, or write 'next-unread = []'",
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
    fn each_key_of_newsboat_does_what_its_table_says() {
        let (map, clashes) = Keymap::with(KeyPreset::Newsboat, &[], Vec::new());
        assert_eq!(clashes, Vec::<String>::new());
        let (before, _) = own(&[]);
        let panes = [Pane::Feeds, Pane::Entries, Pane::Reader];
        for row in &NEWSBOAT_KEYS {
            let key = parse_key(row.key).unwrap();
            let meanings = panes.map(|pane| map.command(key, pane));
            match row.here {
                Here::Command("link") => {
                    let digit = row.key.chars().next().map(Command::Digit);
                    assert_eq!(map.command(key, Pane::Reader), digit, "{}", row.operation);
                }
                Here::Command(name) => {
                    let command = COMMANDS[place_of(name).unwrap()].command;
                    assert!(meanings.contains(&Some(command)), "{}: {meanings:?}", row.operation);
                    let is_added =
                        !panes.iter().any(|pane| before.command(key, *pane) == Some(command));
                    let others = meanings.iter().flatten().filter(|other| **other != command);
                    assert!(!is_added || others.count() == 0, "{}: {meanings:?}", row.operation);
                }
                Here::Nothing(why) => {
                    assert!(!why.is_empty());
                    assert_eq!(meanings, [None; 3], "{}", row.operation);
                }
                Here::Unlike(why) => {
                    assert!(!why.is_empty());
                    assert_eq!(meanings, panes.map(|pane| before.command(key, pane)));
                }
            }
        }
        let quit: Vec<&str> = COMMANDS
            .iter()
            .map(|row| row.name)
            .filter(|name| {
                *name != "unsubscribe"
                    && place_of(name).is_some_and(|place| {
                        map.keys_of(place).is_empty() && !before.keys_of(place).is_empty()
                    })
            })
            .collect();
        assert_eq!(
            quit,
            ["open-comments", "downloads", "enclosure", "filters"],
            "only these are left without a key"
        );
    }

    #[test]
    fn own_keys_override_a_preset_and_own_commands_have_keys() {
        let line = |command: &str, keys: &str, line| OwnKeys {
            place: place_of(command).unwrap(),
            sequences: vec![sequence(keys).unwrap()],
            line,
        };
        let steps = vec![KeyStep::Command(Command::Star, "star")];
        let macros = vec![OwnCommand { name: ", w".into(), steps }];
        let own = [
            line("star", "e", 1),
            OwnKeys { place: COMMANDS.len(), sequences: vec![sequence(", w").unwrap()], line: 2 },
        ];
        let (map, clashes) = Keymap::with(KeyPreset::Newsboat, &own, macros);
        assert_eq!(clashes, Vec::<String>::new(), "edit has another key");
        assert_eq!(meaning(&map, "e", Pane::Entries), Meaning::Command(Command::Star));
        assert_eq!(meaning(&map, "Ctrl-e", Pane::Entries), Meaning::Nothing);
        assert_eq!(meaning(&map, ",", Pane::Feeds), Meaning::Begun);
        assert_eq!(meaning(&map, ", w", Pane::Feeds), Meaning::Command(Command::Own(0)));
        assert_eq!(map.own_commands()[0].about(), "star");
        assert_eq!(map.keys_of(COMMANDS.len()), ",\u{a0}w");
    }

    #[test]
    fn the_reader_can_always_leave() {
        let (map, clashes) = own(&[("quit", &[])]);
        assert_eq!(map.command(Key::ctrl('c'), Pane::Feeds), Some(Command::Quit));
        assert_eq!(clashes.len(), 1);
    }
}

#[cfg(test)]
mod sentence_tests {
    use crate::ui::keys::command_table::COMMANDS;
    use crate::ui::keys::key::sequence;
    use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
    use crate::ui::sample_app::{app_with, noon};

    #[test]
    fn commands_in_a_sentence_are_shown_with_their_bound_keys() {
        let own = |command: &str, keys: &[&str]| OwnKeys {
            place: place_of(command).unwrap(),
            sequences: keys.iter().map(|keys| sequence(keys).unwrap()).collect(),
            line: 1,
        };
        let keys = Keymap::new(&[own("undo", &["F9"]), own("star", &[])]).0;
        assert_eq!(
            keys.words("{undo} undoes it, {star} stars, {plan} tells {none} {"),
            "F9 undoes it, :star stars, i tells {none} {"
        );
    }

    #[test]
    fn every_command_that_a_help_text_names_exists() {
        for row in COMMANDS {
            assert!(!Keymap::default().words(row.help).contains('{'), "{}", row.name);
        }
    }

    #[test]
    fn titles_and_typed_text_are_never_templates() {
        let mut app = app_with(&[("{undo}", &[])]);
        let feed = *app.engine.feeds.keys().next().unwrap();
        let title = app.engine.feeds[&feed].record.shown_title().to_owned();
        app.ui.say_undoable(noon(), format!("'{title}' was changed"));
        assert_eq!(app.ui.notice.unwrap().text, "'{undo}' was changed · u undo");
    }
}
