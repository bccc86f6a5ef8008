//! The keys: one table of key, place and command, which the help and the README are drawn from.

use super::command::Command;
use super::key::{Code, Key};
use crate::ui::screen::Pane;

/// One line of the table.
#[derive(Debug)]
pub struct Binding {
    /// The keys, as a person writes them.
    pub keys: &'static str,
    /// What they do, as help and README say it.
    pub help: &'static str,
    /// The panes they work in; empty: all.
    pub panes: &'static [Pane],
    codes: &'static [Key],
    command: Command,
}

impl Binding {
    /// Each of them.
    pub const fn codes(&self) -> &'static [Key] {
        self.codes
    }

    /// What the keys mean.
    pub const fn command(&self) -> Command {
        self.command
    }
}

const FEEDS: &[Pane] = &[Pane::Feeds];
const LISTS: &[Pane] = &[Pane::Feeds, Pane::Entries];
const ENTRIES: &[Pane] = &[Pane::Entries, Pane::Reader];
const READER: &[Pane] = &[Pane::Reader];

const fn binding(
    keys: &'static str,
    codes: &'static [Key],
    panes: &'static [Pane],
    command: Command,
    help: &'static str,
) -> Binding {
    Binding { keys, help, panes, codes, command }
}

/// Every key. The first line that fits wins.
pub const BINDINGS: &[Binding] = &[
    binding(
        "j ↓",
        &[Key::char('j'), Key::code(Code::Down)],
        &[],
        Command::Down,
        "next row, or a line down",
    ),
    binding(
        "k ↑",
        &[Key::char('k'), Key::code(Code::Up)],
        &[],
        Command::Up,
        "previous row, or a line up",
    ),
    binding(
        "l → Tab",
        &[Key::char('l'), Key::code(Code::Right), Key::code(Code::Tab)],
        &[],
        Command::Right,
        "pane to the right",
    ),
    binding(
        "h ←",
        &[Key::char('h'), Key::code(Code::Left), Key::code(Code::BackTab)],
        &[],
        Command::Left,
        "pane to the left",
    ),
    binding(
        "g Home",
        &[Key::char('g'), Key::code(Code::Home)],
        &[],
        Command::First,
        "first row, or the beginning",
    ),
    binding(
        "G End",
        &[Key::char('G'), Key::code(Code::End)],
        &[],
        Command::Last,
        "last row, or the end",
    ),
    binding("Ctrl-d", &[Key::ctrl('d')], &[], Command::HalfDown, "half a page down"),
    binding("Ctrl-u", &[Key::ctrl('u')], &[], Command::HalfUp, "half a page up"),
    binding("PgDn", &[Key::code(Code::PageDown)], &[], Command::PageDown, "a page down"),
    binding("PgUp", &[Key::code(Code::PageUp)], &[], Command::PageUp, "a page up"),
    binding(
        "Space",
        &[Key::char(' ')],
        &[],
        Command::Space,
        "a page down, then the next unread entry",
    ),
    binding(
        "Enter",
        &[Key::code(Code::Enter)],
        &[],
        Command::Enter,
        "open; on a gap: retry, or continue",
    ),
    binding(
        "q Esc",
        &[Key::char('q'), Key::code(Code::Esc)],
        &[],
        Command::Back,
        "back, then quit",
    ),
    binding(
        "n",
        &[Key::char('n')],
        &[],
        Command::NextUnread,
        "next unread entry, in the next feed if need be",
    ),
    binding("p", &[Key::char('p')], &[], Command::PreviousUnread, "previous unread entry"),
    binding("J", &[Key::char('J')], ENTRIES, Command::NextEntry, "next entry while reading"),
    binding(
        "K",
        &[Key::char('K')],
        ENTRIES,
        Command::PreviousEntry,
        "previous entry while reading",
    ),
    binding("N", &[Key::char('N')], ENTRIES, Command::ToggleRead, "mark read, or unread again"),
    binding(
        "/",
        &[Key::char('/')],
        &[],
        Command::Search,
        "search all entries, as you type: words, \"phrases\", -exclusion, feed: tag: title: is: after:",
    ),
    binding(
        "Ctrl-s",
        &[Key::ctrl('s')],
        &[],
        Command::SaveSearch,
        "keep the open search as a list of its own; there e renames it and D gives it up",
    ),
    binding(
        "m",
        &[Key::char('m')],
        &[],
        Command::Mute,
        "mute: a filter made from this entry, with a preview of what it hits; in the feeds: all filters",
    ),
    binding(
        "t",
        &[Key::char('t')],
        &[],
        Command::Tags,
        "tags of the feed, with commas; on a tag: another name for it",
    ),
    binding(
        "F",
        &[Key::char('F')],
        &[],
        Command::Filters,
        "filters: what is hidden, marked read, starred or labelled by itself",
    ),
    binding("A", &[Key::char('A')], &[], Command::MarkAll, "mark this list read (u takes it back)"),
    binding("s", &[Key::char('s')], ENTRIES, Command::Star, "star, or take the star away"),
    binding("u", &[Key::char('u')], &[], Command::Undo, "undo the last mark or change"),
    binding("Ctrl-y", &[Key::ctrl('y')], &[], Command::Redo, "do again what was undone"),
    binding("o", &[Key::char('o')], ENTRIES, Command::Open, "open the entry in the browser"),
    binding(
        "v",
        &[Key::char('v')],
        ENTRIES,
        Command::FullText,
        "full text of the page the entry links to; again: the feed's text",
    ),
    binding(
        "V",
        &[Key::char('V')],
        &[],
        Command::FullTextAlways,
        "always the full text for this feed, or no longer (u takes it back)",
    ),
    binding(
        "I",
        &[Key::char('I')],
        ENTRIES,
        Command::Pictures,
        "pictures in the text, for this session, or none; they are fetched only while they are on",
    ),
    binding(
        "E",
        &[Key::char('E')],
        ENTRIES,
        Command::Enclosure,
        "open the first file that is attached to the entry",
    ),
    binding(
        "|",
        &[Key::char('|')],
        ENTRIES,
        Command::Pipe,
        "hand the entry to a command, as text or JSON; ! in front gives it the terminal",
    ),
    binding(
        "1-9",
        &[],
        READER,
        Command::Digit('1'),
        "follow a link of the entry; Enter ends a longer number",
    ),
    binding(
        "y",
        &[Key::char('y')],
        &[],
        Command::CopyLink,
        "copy the link of the entry, or of the selected feed",
    ),
    binding(
        "z",
        &[Key::char('z')],
        ENTRIES,
        Command::Zoom,
        "the reader alone on the screen, and back",
    ),
    binding(
        ">",
        &[Key::char('>')],
        READER,
        Command::ScrollRight,
        "tables and code wider than the pane: what is on the right",
    ),
    binding("<", &[Key::char('<')], READER, Command::ScrollLeft, "and what is on the left"),
    binding("a", &[Key::char('a')], &[], Command::Add, "add a subscription"),
    binding(
        "D",
        &[Key::char('D')],
        LISTS,
        Command::Unsubscribe,
        "unsubscribe from the selected feed, or hide a gap (u takes it back)",
    ),
    binding(
        "H",
        &[Key::char('H')],
        &[],
        Command::History,
        "history: continue, retry, load an older page; stop while it is fetched",
    ),
    binding(
        "@",
        &[Key::char('@')],
        &[],
        Command::GoTo,
        "go to a date: 2014, 2014-03 or 2014-03-09",
    ),
    binding(
        "B",
        &[Key::char('B')],
        &[],
        Command::TurnRound,
        "read the feed from its beginning, oldest first, where you were; again: newest first",
    ),
    binding("r", &[Key::char('r')], &[], Command::Poll, "poll the selected feed or list"),
    binding("R", &[Key::char('R')], &[], Command::PollAll, "poll all that may be polled"),
    binding("i", &[Key::char('i')], &[], Command::Plan, "plan of the feed: when next, and why"),
    binding("+", &[Key::char('+')], &[], Command::MoreOften, "poll the feed more often"),
    binding("-", &[Key::char('-')], &[], Command::LessOften, "poll the feed less often"),
    binding("=", &[Key::char('=')], &[], Command::NormallyOften, "poll the feed as recommended"),
    binding(
        "e",
        &[Key::char('e')],
        &[],
        Command::Edit,
        "edit the feed: title, tags, how often, bounds, history",
    ),
    binding(
        "P",
        &[Key::char('P')],
        &[],
        Command::Timetable,
        "timetable: the coming polls in order",
    ),
    binding("U", &[Key::char('U')], &[], Command::Zone, "in a plan: UTC, or your own time zone"),
    binding(
        "M",
        &[Key::char('M')],
        &[],
        Command::Outline,
        "in a plan: mark hours of the week and give them an interval of your own",
    ),
    binding("S", &[Key::char('S')], FEEDS, Command::Sort, "sort by title, unread or next poll"),
    binding(
        "f",
        &[Key::char('f')],
        LISTS,
        Command::Show,
        "show all, unread or starred entries, or those that filters hide",
    ),
    binding(
        "T",
        &[Key::char('T')],
        &[],
        Command::Theme,
        "the next theme; ':theme light' chooses one",
    ),
    binding(
        ": Ctrl-p",
        &[Key::char(':'), Key::ctrl('p')],
        &[],
        Command::Palette,
        "every command by its name; 'goto 2014-03' takes what stands behind it along",
    ),
    binding("?", &[Key::char('?')], &[], Command::Help, "the keys that work here"),
    binding(
        "Ctrl-z",
        &[Key::ctrl('z')],
        &[],
        Command::Suspend,
        "back to the shell for a while; fg goes on",
    ),
    binding("Ctrl-c", &[Key::ctrl('c')], &[], Command::Quit, "end at once; everything is saved"),
];

/// Whether a binding works in a pane.
pub fn works_in(binding: &Binding, pane: Pane) -> bool {
    binding.panes.is_empty() || binding.panes.contains(&pane)
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::keymap::*;

    #[test]
    fn no_key_means_two_things_in_one_pane() {
        for pane in [Pane::Feeds, Pane::Entries, Pane::Reader] {
            let here: Vec<&Binding> =
                BINDINGS.iter().filter(|binding| works_in(binding, pane)).collect();
            for (place, binding) in here.iter().enumerate() {
                for other in here.iter().skip(place + 1) {
                    assert!(
                        !binding.codes.iter().any(|key| other.codes.contains(key)),
                        "{} and {}",
                        binding.keys,
                        other.keys
                    );
                }
            }
        }
    }
}
