//! Names of keys for tests.

use backissue::ui::keys::key::{Code, Key};

/// Returns the key with this name, for example `enter`, `pgdn` or `c-d` (Ctrl+D).
pub fn named_key(name: &str) -> Key {
    match name {
        "enter" => Key::code(Code::Enter),
        "esc" => Key::code(Code::Esc),
        "tab" => Key::code(Code::Tab),
        "backtab" => Key::code(Code::BackTab),
        "up" => Key::code(Code::Up),
        "down" => Key::code(Code::Down),
        "left" => Key::code(Code::Left),
        "right" => Key::code(Code::Right),
        "home" => Key::code(Code::Home),
        "end" => Key::code(Code::End),
        "pgup" => Key::code(Code::PageUp),
        "pgdn" => Key::code(Code::PageDown),
        "delete" => Key::code(Code::Delete),
        "back" | "backspace" => Key::code(Code::Backspace),
        "lt" => Key::char('<'),
        name => Key::ctrl(name.strip_prefix("c-").and_then(|rest| rest.chars().next()).unwrap()),
    }
}
