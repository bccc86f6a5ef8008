//! A key as the terminal reports it.

/// A key as the terminal reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Ctrl was held.
    pub ctrl: bool,
}

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A character, shift already applied.
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
    /// A character.
    pub const fn char(char: char) -> Self {
        Self { code: Code::Char(char), ctrl: false }
    }

    /// A character with Ctrl.
    pub const fn ctrl(char: char) -> Self {
        Self { code: Code::Char(char), ctrl: true }
    }

    /// A key that is no character.
    pub const fn code(code: Code) -> Self {
        Self { code, ctrl: false }
    }
}
