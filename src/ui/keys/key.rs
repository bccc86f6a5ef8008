//! A key as the terminal reports it.

/// A key as the terminal reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Key code.
    pub code: Code,
    /// `true` if Ctrl was held.
    pub ctrl: bool,
}

/// The code of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A character, with Shift already applied.
    Char(char),
    /// A character with Alt.
    Alt(char),
    /// A function key, by its number.
    Function(u8),
    /// Insert.
    Insert,
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and Tab.
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
    /// Creates the key for a character.
    pub const fn char(char: char) -> Self {
        Self { code: Code::Char(char), ctrl: false }
    }

    /// Creates the key for a character with Ctrl.
    pub const fn ctrl(char: char) -> Self {
        Self { code: Code::Char(char), ctrl: true }
    }

    /// Creates a key that is not a character.
    pub const fn code(code: Code) -> Self {
        Self { code, ctrl: false }
    }
}
