//! The keys: one table of key, place and command, which the help and the README are drawn from.

use super::screen::Pane;

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

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Next row, or a line down.
    Down,
    /// Previous row, or a line up.
    Up,
    /// Pane to the left.
    Left,
    /// Pane to the right.
    Right,
    /// First row.
    First,
    /// Last row.
    Last,
    /// Half a page down.
    HalfDown,
    /// Half a page up.
    HalfUp,
    /// A page down.
    PageDown,
    /// A page up.
    PageUp,
    /// Page down, then next unread.
    Space,
    /// Open.
    Enter,
    /// Back, then quit.
    Back,
    /// Next unread entry.
    NextUnread,
    /// Previous unread entry.
    PreviousUnread,
    /// Next entry while reading.
    NextEntry,
    /// Previous entry while reading.
    PreviousEntry,
    /// Search the whole store.
    Search,
    /// Keep the search as a list.
    SaveSearch,
    /// Read or unread.
    ToggleRead,
    /// Mark the list read.
    MarkAll,
    /// Star or unstar.
    Star,
    /// Undo.
    Undo,
    /// Do again what was undone.
    Redo,
    /// Open in the browser.
    Open,
    /// Subscribe.
    Add,
    /// Poll the selected feed.
    Poll,
    /// Poll all that may be polled.
    PollAll,
    /// All, unread, starred.
    Show,
    /// Unsubscribe; on a gap: hide it.
    Unsubscribe,
    /// Older entries.
    History,
    /// To a date.
    GoTo,
    /// From the beginning, or newest first.
    TurnRound,
    /// The plan of the selected feed.
    Plan,
    /// The coming polls.
    Timetable,
    /// Times of the plan in UTC, or in the reader's zone.
    Zone,
    /// In a plan: mark hours of the week for a rule.
    Outline,
    /// The selected feed more often.
    MoreOften,
    /// The selected feed less often.
    LessOften,
    /// The selected feed as recommended.
    NormallyOften,
    /// Edit the selected feed.
    Edit,
    /// Another order of the feeds.
    Sort,
    /// The command palette.
    Palette,
    /// Help.
    Help,
    /// A digit of a link's number.
    Digit(char),
    /// End at once.
    Quit,
}

impl Command {
    /// Whether it moves or leaves the help; any other key only closes it.
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
                | Self::Help
                | Self::Quit
        )
    }
}

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
    binding("A", &[Key::char('A')], &[], Command::MarkAll, "mark this list read (u takes it back)"),
    binding("s", &[Key::char('s')], ENTRIES, Command::Star, "star, or take the star away"),
    binding(
        "u Ctrl-z",
        &[Key::char('u'), Key::ctrl('z')],
        &[],
        Command::Undo,
        "undo the last mark or change",
    ),
    binding("Ctrl-y", &[Key::ctrl('y')], &[], Command::Redo, "do again what was undone"),
    binding("o", &[Key::char('o')], ENTRIES, Command::Open, "open the entry in the browser"),
    binding(
        "1-9",
        &[],
        READER,
        Command::Digit('1'),
        "follow a link of the entry; Enter ends a longer number",
    ),
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
    binding("f", &[Key::char('f')], LISTS, Command::Show, "show all, unread or starred entries"),
    binding(
        ": Ctrl-p",
        &[Key::char(':'), Key::ctrl('p')],
        &[],
        Command::Palette,
        "every command by its name; 'goto 2014-03' takes what stands behind it along",
    ),
    binding("?", &[Key::char('?')], &[], Command::Help, "the keys that work here"),
    binding("Ctrl-c", &[Key::ctrl('c')], &[], Command::Quit, "end at once; everything is saved"),
];

/// What a key means in a pane; `None`: nothing.
pub fn command(key: Key, pane: Pane) -> Option<Command> {
    if let Key { code: Code::Char(digit @ '0'..='9'), ctrl: false } = key {
        return (pane == Pane::Reader).then_some(Command::Digit(digit));
    }
    let fits = |binding: &&Binding| works_in(binding, pane) && binding.codes.contains(&key);
    BINDINGS.iter().find(fits).map(|binding| binding.command)
}

/// Whether a binding works in a pane.
pub fn works_in(binding: &Binding, pane: Pane) -> bool {
    binding.panes.is_empty() || binding.panes.contains(&pane)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn digits_belong_to_the_reader() {
        assert_eq!(command(Key::char('3'), Pane::Reader), Some(Command::Digit('3')));
        assert_eq!(command(Key::char('3'), Pane::Entries), None);
    }
}
