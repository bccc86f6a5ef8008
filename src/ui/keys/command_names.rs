//! The names of commands: what the palette is searched by.

use super::command::Command;

/// The name of a command.
pub const fn name(command: Command) -> &'static str {
    match command {
        Command::Down => "down",
        Command::Up => "up",
        Command::Left => "left",
        Command::Right => "right",
        Command::First => "first",
        Command::Last => "last",
        Command::HalfDown => "half-page-down",
        Command::HalfUp => "half-page-up",
        Command::PageDown => "page-down",
        Command::PageUp => "page-up",
        Command::Space => "read-on",
        Command::Enter => "open",
        Command::Back => "back",
        Command::NextUnread => "next-unread",
        Command::PreviousUnread => "previous-unread",
        Command::NextEntry => "next-entry",
        Command::PreviousEntry => "previous-entry",
        Command::ToggleRead => "toggle-read",
        Command::MarkAll => "mark-all-read",
        Command::Star => "star",
        Command::Undo => "undo",
        Command::Redo => "redo",
        Command::Open => "open-in-browser",
        Command::Enclosure => "enclosure",
        Command::FullText => "full-text",
        Command::FullTextAlways => "full-text-always",
        Command::Pictures => "pictures",
        Command::Pipe => "pipe",
        Command::Add => "add",
        Command::Poll => "poll",
        Command::PollAll => "poll-all",
        Command::Show => "show",
        Command::Unsubscribe => "unsubscribe",
        Command::History => "history",
        Command::GoTo => "goto",
        Command::TurnRound => "from-beginning",
        Command::Plan => "plan",
        Command::Timetable => "timetable",
        Command::Zone => "time-zone",
        Command::MoreOften => "more-often",
        Command::LessOften => "less-often",
        Command::NormallyOften => "normally-often",
        Command::Outline => "own-rule",
        Command::Edit => "edit",
        Command::Sort => "sort",
        Command::Search => "search",
        Command::SaveSearch => "save-search",
        Command::Theme => "theme",
        Command::Zoom => "zoom",
        Command::ScrollLeft => "scroll-left",
        Command::ScrollRight => "scroll-right",
        Command::CopyLink => "copy-link",
        Command::Suspend => "suspend",
        Command::Tags => "tags",
        Command::Mute => "mute",
        Command::Filters => "filters",
        Command::Palette => "command",
        Command::Help => "help",
        Command::Digit(_) => "link",
        Command::Quit => "quit",
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::command_names::*;
    use crate::ui::keys::keymap::BINDINGS;

    #[test]
    fn every_command_has_a_name_of_its_own_that_can_be_typed() {
        let mut names: Vec<&str> = BINDINGS.iter().map(|binding| name(binding.command())).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let typed = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(|name| typed(name)), "{names:?}");
    }
}
