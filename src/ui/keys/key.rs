//! A key press as reported by the terminal, and the text form of keys, such as `Ctrl-x`, in the help and in `[keys]`.

use std::fmt;

use backissue_core::{InputFlaw, flaw};

/// The character of [`Code::Alt`] for Alt and Backspace.
pub const ALT_BACKSPACE: char = '\u{7f}';

/// A key press as reported by the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The pressed key, without Ctrl.
    pub code: Code,
    /// `true` if Ctrl was held down.
    pub ctrl: bool,
}

/// A key, independent of whether Ctrl was held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A character as typed: Shift has already been applied.
    Char(char),
    /// A character typed while Alt was held down.
    Alt(char),
    /// A function key: 1 for F1.
    Function(u8),
    /// Insert.
    Insert,
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Tab while Shift was held down.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

impl Key {
    /// Creates the key press for a character without Ctrl.
    pub const fn char(char: char) -> Self {
        Self { code: Code::Char(char), ctrl: false }
    }

    /// Creates the key press for a character with Ctrl. Terminals send the same bytes for several such characters, and for some
    /// of them the same bytes as for another key.
    pub const fn ctrl(char: char) -> Self {
        let char = match char.to_ascii_lowercase() {
            'i' => return Self::code(Code::Tab),
            'm' => return Self::code(Code::Enter),
            '[' | '3' => return Self::code(Code::Esc),
            '?' | '8' => return Self::code(Code::Backspace),
            '@' | '2' => ' ',
            '4' => '\\',
            '5' => ']',
            '6' => '^',
            '/' | '7' => '_',
            char => char,
        };
        Self { code: Code::Char(char), ctrl: true }
    }

    /// Creates the key press for a key without Ctrl.
    pub const fn code(code: Code) -> Self {
        Self { code, ctrl: false }
    }
}

/// Names of keys that are not characters. If a key has several names, the first one is displayed.
const NAMES: [(&str, Code); 26] = [
    ("Enter", Code::Enter),
    ("Return", Code::Enter),
    ("Esc", Code::Esc),
    ("Escape", Code::Esc),
    ("Tab", Code::Tab),
    ("Shift-Tab", Code::BackTab),
    ("Backspace", Code::Backspace),
    ("Delete", Code::Delete),
    ("Del", Code::Delete),
    ("Insert", Code::Insert),
    ("↑", Code::Up),
    ("Up", Code::Up),
    ("↓", Code::Down),
    ("Down", Code::Down),
    ("←", Code::Left),
    ("Left", Code::Left),
    ("→", Code::Right),
    ("Right", Code::Right),
    ("PgUp", Code::PageUp),
    ("PageUp", Code::PageUp),
    ("PgDn", Code::PageDown),
    ("PageDown", Code::PageDown),
    ("Home", Code::Home),
    ("End", Code::End),
    ("Space", Code::Char(' ')),
    ("Minus", Code::Char('-')),
];
/// Maximum number of keys in a key sequence.
pub const SEQUENCE_MAX: usize = 4;

/// Parses a sequence of keys separated by spaces: `g d`, `Ctrl-x Ctrl-s`, `F5`. The error is a sentence.
pub fn sequence(written: &str) -> Result<Vec<Key>, InputFlaw> {
    let keys: Vec<Key> = written.split_whitespace().map(parse_key).collect::<Result<_, _>>()?;
    match keys.len() {
        0 => Err("'' is not a key; write [] if the command needs no key".into()),
        1..=SEQUENCE_MAX => Ok(keys),
        _ => Err(flaw!("'{written}' is longer than {SEQUENCE_MAX} keys")),
    }
}

/// Parses one key: `x`, `Ctrl-x`, `PgDn`, `↓`. The error is a sentence.
pub fn parse_key(written: &str) -> Result<Key, InputFlaw> {
    let unknown =
        || flaw!("'{written}' is not a key; examples: x, Ctrl-x, Alt-x, F5, Enter, PgDn, Space");
    let named = |name: &str| {
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, code)| Key::code(*code))
    };
    if let Some(key) = named(written) {
        return Ok(key);
    }
    if let Some(char) = single(written) {
        return Ok(Key::char(char));
    }
    let function = written.strip_prefix(['F', 'f']).and_then(|number| number.parse().ok());
    if let Some(number @ 1..=24_u8) = function {
        return Ok(Key::code(Code::Function(number)));
    }
    let (modifier, rest) = written.split_once('-').ok_or_else(unknown)?;
    match modifier.to_ascii_lowercase().as_str() {
        "ctrl" | "c" => {
            let named = named(rest).map(|key| Key { ctrl: true, ..key });
            named.or_else(|| single(rest).map(Key::ctrl)).ok_or_else(unknown)
        }
        "alt" | "a" | "m" => {
            single(rest).map(|char| Key::code(Code::Alt(char))).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|char| chars.next().is_none() && !char.is_control())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, code)| *code == self.code)
            && self.code != Code::Char('-')
        {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(char) => write!(f, "{char}"),
            Code::Alt(char) => write!(f, "Alt-{char}"),
            Code::Function(number) => write!(f, "F{number}"),
            Code::Enter
            | Code::Esc
            | Code::Tab
            | Code::BackTab
            | Code::Backspace
            | Code::Delete
            | Code::Insert
            | Code::Up
            | Code::Down
            | Code::Left
            | Code::Right
            | Code::PageUp
            | Code::PageDown
            | Code::Home
            | Code::End => Ok(()),
        }
    }
}

/// Formats the keys of a sequence for display.
pub fn shown(keys: &[Key]) -> String {
    let keys: Vec<String> = keys.iter().map(Key::to_string).collect();
    keys.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::key::*;

    #[test]
    fn keys_parse_in_many_spellings_and_print_in_one() {
        for (written, expected) in [
            ("g d", "g d"),
            ("ctrl-X  c-s", "Ctrl-x Ctrl-s"),
            ("alt-x", "Alt-x"),
            ("f5", "F5"),
            ("pagedown", "PgDn"),
            ("space", "Space"),
            ("-", "-"),
            ("Ctrl--", "Ctrl--"),
            ("Ctrl-/ Ctrl-_ C-7", "Ctrl-_ Ctrl-_ Ctrl-_"),
            ("Ctrl-] Ctrl-5 Ctrl-\\ Ctrl-4", "Ctrl-] Ctrl-] Ctrl-\\ Ctrl-\\"),
            ("Ctrl-^ Ctrl-6", "Ctrl-^ Ctrl-^"),
            ("Ctrl-I Ctrl-m Ctrl-[", "Tab Enter Esc"),
            ("Ctrl-Home", "Ctrl-Home"),
            ("down", "↓"),
            ("Ctrl-↓ C-up", "Ctrl-↓ Ctrl-↑"),
            ("ü", "ü"),
        ] {
            assert_eq!(sequence(written).map(|keys| shown(&keys)).as_deref(), Ok(expected));
        }
        assert_eq!(parse_key("Ctrl-↓"), Ok(Key { code: Code::Down, ctrl: true }));
    }

    #[test]
    fn invalid_key_name_is_reported() {
        for written in ["", "  ", "hyper-x", "F99", "abc", "Ctrl-", "a b c d e"] {
            assert!(sequence(written).is_err(), "{written}");
        }
    }

    #[test]
    fn printed_key_names_parse_again() {
        for (_, code) in NAMES {
            let key = Key::code(code);
            assert_eq!(sequence(&key.to_string()), Ok(vec![key]));
        }
    }
}
