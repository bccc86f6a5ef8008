//! A key press as reported by the terminal.

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

    /// Creates the key press for a character with Ctrl. Terminals send the same for several characters, and for some of them what
    /// they send for another key.
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
