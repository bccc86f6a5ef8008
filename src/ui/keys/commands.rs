//! The command table: everything a user can do by key or by name. The help, the palette, `[keys]` and the documentation are
//! generated from it. [`super::run_command`] carries the commands out.

use super::key::Key;
use super::key_names;
use crate::ui::state::layout::Pane;

/// A command that the user runs with a key, or by name in the palette. Each command has a row in [`COMMANDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Down,
    Up,
    Right,
    Left,
    First,
    Last,
    HalfDown,
    HalfUp,
    PageDown,
    PageUp,
    Space,
    Enter,
    Back,
    Close,
    NextUnread,
    PreviousUnread,
    NextEntry,
    PreviousEntry,
    ToggleRead,
    Attention,
    Find,
    Search,
    SearchAll,
    SaveSearch,
    Mute,
    Tags,
    Filters,
    /// Marks a part of the open list as read.
    MarkList(MarkPart),
    Star,
    Label,
    ReadLater,
    MarkRow,
    MarkRange,
    UnsubscribeEnded,
    Undo,
    Redo,
    Open,
    OpenCopies,
    OpenComments,
    FullText,
    FullTextAlways,
    /// Shows what the publisher changed in the open entry.
    Changes,
    Pictures,
    Download,
    Downloads,
    Enclosure,
    Pipe,
    LinkHints,
    Share,
    /// Types one digit of the number of a link to open.
    Digit(char),
    CopyLink,
    Zoom,
    ScrollRight,
    ScrollLeft,
    Add,
    Unsubscribe,
    Removed,
    AccountAdd,
    /// Opens or closes the list of accounts on servers.
    Accounts,
    Import,
    Export,
    SaveEntries,
    History,
    RestoreWithdrawn,
    GoTo,
    Jump,
    ReadFromBeginning,
    Poll,
    PollAll,
    PollHere,
    Plan,
    MoreOften,
    LessOften,
    NormallyOften,
    Edit,
    Timetable,
    Zone,
    Steps,
    MarkHours,
    Sort,
    ReadFeeds,
    Show,
    Theme,
    Layout,
    Redraw,
    Palette,
    Help,
    Log,
    Suspend,
    Quit,
    /// Runs the own command with this number. It has no row in the command table.
    Own(usize),
}

/// The part of the open list that is marked as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkPart {
    All,
    Above,
    Below,
    /// The entries that are older than this number of days.
    OlderThan(i64),
}

/// One row of the command table.
#[derive(Debug)]
pub struct CommandRow {
    pub command: Command,
    /// Name of the command in the palette and in `[keys]`.
    pub name: &'static str,
    /// Default keys of the command, separated by spaces. The user can replace them in `[keys]`.
    pub keys: &'static str,
    /// Panes in which the keys of the command work. Empty means all panes.
    panes: &'static [Pane],
    pub help: &'static str,
}

const LISTS: &[Pane] = &[Pane::Feeds, Pane::Entries];
const ENTRIES: &[Pane] = &[Pane::Entries, Pane::Reader];
const READER: &[Pane] = &[Pane::Reader];

/// All commands, in the order in which the help shows them.
pub const COMMANDS: &[CommandRow] = &[
    command(Command::Down, "down", "j ↓").help("next row, or a line down"),
    command(Command::Up, "up", "k ↑").help("previous row, or a line up"),
    command(Command::Right, "right", "l → Tab").help("pane to the right"),
    command(Command::Left, "left", "h ← Shift-Tab").help("pane to the left"),
    command(Command::First, "first", "g Home").help("first row, or the beginning"),
    command(Command::Last, "last", "G End").help("last row, or the end"),
    command(Command::HalfDown, "half-page-down", "Ctrl-d").help("half a page down"),
    command(Command::HalfUp, "half-page-up", "Ctrl-u").help("half a page up"),
    command(Command::PageDown, "page-down", "PgDn").help("a page down"),
    command(Command::PageUp, "page-up", "PgUp").help("a page up"),
    command(Command::Space, "read-on", "Space").help("a page down, then the next unread entry"),
    command(Command::Enter, "open", "Enter")
        .help("open; on a gap (missing older entries): request them again"),
    command(Command::Back, "back", "q").help("back; in the feed list, quit"),
    command(Command::Close, "close", "Esc").help("close what is open; never quits"),
    command(Command::NextUnread, "next-unread", "n")
        .help("next unread entry, in the next feed if necessary"),
    command(Command::PreviousUnread, "previous-unread", "p").help("previous unread entry"),
    command(Command::NextEntry, "next-entry", "J")
        .only_in(ENTRIES)
        .help("next entry while reading"),
    command(Command::PreviousEntry, "previous-entry", "K")
        .only_in(ENTRIES)
        .help("previous entry while reading"),
    command(Command::ToggleRead, "toggle-read", "N").only_in(ENTRIES).help("mark read or unread"),
    command(Command::Attention, "attention", "!")
        .help("feeds that failed, moved or ended, and what you can do"),
    command(Command::Find, "find", "/")
        .only_in(READER)
        .help("find words in this text; n and N go to the next and previous hit"),
    command(Command::SearchAll, "search-all", "Ctrl-f").help("search all entries, also while reading a text"),
    command(Command::Search, "search", "/").only_in(LISTS).help(
        "search all entries as you type: words, \"phrases\", -exclusion, OR, feed: tag: \
         title: is: age:",
    ),
    command(Command::SaveSearch, "save-search", "Ctrl-s")
        .help("save the open search as a list; e renames the list, D removes it"),
    command(Command::Mute, "mute", "m").help(
        "mute: hide entries like this one, with a preview; in the feed list: all filters",
    ),
    command(Command::Tags, "tags", "t").help("edit the feed's tags; on a tag: rename it"),
    command(Command::Filters, "filters", "F")
        .help("filters: hide, mark read, star or label entries automatically"),
    command(Command::MarkList(MarkPart::All), "mark-all-read", "A").help("mark this list read (u undoes it)"),
    command(Command::MarkList(MarkPart::Above), "mark-above-read", "(")
        .only_in(ENTRIES)
        .help("mark the entries above this one read (u undoes it)"),
    command(Command::MarkList(MarkPart::Below), "mark-below-read", ")")
        .only_in(ENTRIES)
        .help("mark the entries below this one read (u undoes it)"),
    command(Command::MarkList(MarkPart::OlderThan(1)), "mark-day-read", "{")
        .help("mark the entries of this list that are older than a day read (u undoes it)"),
    command(Command::MarkList(MarkPart::OlderThan(7)), "mark-week-read", "}")
        .help("mark the entries of this list that are older than a week read (u undoes it)"),
    command(Command::Star, "star", "s").only_in(ENTRIES).help("star, or remove the star"),
    command(Command::Label, "label", "#")
        .only_in(ENTRIES)
        .help("label the entry, or the marked entries; again: remove the label"),
    command(Command::ReadLater, "read-later", "d")
        .only_in(ENTRIES)
        .help("label the entry #later, or remove this label; 'label:later' finds them"),
    command(Command::MarkRow, "mark", "x")
        .only_in(LISTS)
        .help("mark the row; the next action applies to all marked rows; Esc removes all marks"),
    command(Command::MarkRange, "mark-range", "X")
        .only_in(LISTS)
        .help("mark all rows from the last marked one to this one"),
    command(Command::UnsubscribeEnded, "unsubscribe-ended", "Z")
        .only_in(LISTS)
        .help("unsubscribe from all feeds that ended (u undoes it)"),
    command(Command::Undo, "undo", "u").help("undo the last mark or change"),
    command(Command::Redo, "redo", "Ctrl-y").help("redo what was undone"),
    command(Command::Open, "open-in-browser", "o")
        .only_in(ENTRIES)
        .help("open the entry in the browser; on a gap: the missing page"),
    command(Command::OpenCopies, "open-copies", "W").only_in(ENTRIES).help(
        "look up the entry's page, or the page missing at a gap, in the Internet Archive",
    ),
    command(Command::OpenComments, "open-comments", "C")
        .only_in(READER)
        .help("open the page with the comments on the entry"),
    command(Command::FullText, "full-text", "v")
        .only_in(ENTRIES)
        .help("show the full text of the linked page; again: the feed's text"),
    command(Command::FullTextAlways, "full-text-always", "V")
        .help("full text for all entries of this feed: on, then fetched ahead, then off (u undoes it)"),
    command(Command::Changes, "changes", "~")
        .only_in(READER)
        .help("show what the publisher changed in an edited entry; again: the text"),
    command(Command::Pictures, "pictures", "I")
        .only_in(ENTRIES)
        .help("show or hide pictures in the text; missing ones are fetched while shown"),
    command(Command::Download, "download", "E")
        .only_in(ENTRIES)
        .help("download the entry's first attached file; play it if it is there; 'download 2': the second file"),
    command(Command::Downloads, "downloads", "Q")
        .help("downloads: progress, pause, resume, play"),
    command(Command::Enclosure, "enclosure", "O")
        .only_in(ENTRIES)
        .help("open the entry's first attached file without downloading it"),
    command(Command::Pipe, "pipe", "|")
        .only_in(ENTRIES)
        .help("pipe the entry to a command, as text or JSON; a leading ! gives it the terminal"),
    command(Command::SaveEntries, "save", "")
        .only_in(ENTRIES)
        .help("save the entry, or the marked entries, as Markdown: 'save notes.md'"),
    command(Command::LinkHints, "link-hints", "f")
        .only_in(READER)
        .help("show a letter on each link; the letter opens it, y before it copies it"),
    command(Command::Share, "share", "Ctrl-b").only_in(ENTRIES).help(
        "share the entry with a program of yours: a menu of those in [share]",
    ),
    // One row for all digits. The key bindings replace the digit `1` by the digit that was typed.
    command(Command::Digit('1'), "link", "1-9")
        .only_in(READER)
        .help("follow the link with this number; Enter completes the number"),
    command(Command::CopyLink, "copy-link", "y")
        .help("copy the link of the entry, or the address of the selected feed"),
    command(Command::Zoom, "zoom", "z")
        .only_in(ENTRIES)
        .help("show only the text, or all panes"),
    command(Command::ScrollRight, "scroll-right", ">")
        .only_in(READER)
        .help("scroll wide tables and code to the right"),
    command(Command::ScrollLeft, "scroll-left", "<")
        .only_in(READER)
        .help("scroll wide tables and code to the left"),
    command(Command::Add, "add", "a").help("add a subscription"),
    command(Command::Unsubscribe, "unsubscribe", "D")
        .only_in(LISTS)
        .help("unsubscribe from the selected feed, or hide a gap (u undoes it)"),
    command(Command::Removed, "removed", "").help(
        "feeds you removed in the last week; Enter restores one as it was",
    ),
    command(Command::AccountAdd, "account-add", "")
        .help("add an account on a server, such as Miniflux or FreshRSS"),
    command(Command::Accounts, "accounts", "")
        .help("list the accounts on servers: their last sync, sync now, remove"),
    command(Command::Import, "import", "").help(
        "import subscriptions from a file: OPML, newsboat or newsraft urls, or one address per line",
    ),
    command(Command::Export, "export", "").help("export all subscriptions to an OPML file"),
    command(Command::History, "history", "H")
        .help("fetch older entries: continue, retry or load an older page; stop if already fetching"),
    command(Command::RestoreWithdrawn, "restore-withdrawn", "")
        .help("show the entries again that the selected feed took out of its document"),
    command(Command::GoTo, "goto", "@").help("go to a date: 2014, 2014-03 or 2014-03-09"),
    command(Command::Jump, "jump", "b")
        .help("jump to a feed, tag or list by some of its letters"),
    command(Command::ReadFromBeginning, "from-beginning", "B").help(
        "read the feed from the beginning, oldest first, where you left off; again: newest first",
    ),
    command(Command::Poll, "poll", "r").help("poll the selected feed or list for new entries"),
    command(Command::PollAll, "poll-all", "R").help("poll all feeds for new entries"),
    command(Command::PollHere, "poll-here", "&").help(
        "poll feeds of an account here, too, or leave them to its server (u undoes it)",
    ),
    command(Command::Plan, "plan", "i").help("show when the feed is polled next, and why"),
    command(Command::MoreOften, "more-often", "+").help("poll the feed more often"),
    command(Command::LessOften, "less-often", "-").help("poll the feed less often"),
    command(Command::NormallyOften, "normally-often", "=")
        .help("poll the feed as often as its publisher recommends"),
    command(Command::Edit, "edit", "e")
        .help("edit the feed: address, title, tags, polling, history"),
    command(Command::Timetable, "timetable", "P").help("timetable: the next poll of every feed"),
    command(Command::Zone, "time-zone", "U").help("in a plan: switch between UTC and your time zone"),
    command(Command::Steps, "steps", "w").help("in a plan: show or hide the steps that led to it"),
    command(Command::MarkHours, "own-rule", "M")
        .help("in a plan: mark hours of the week and set an interval for them"),
    command(Command::Sort, "sort", "S").help(
        "sort the feeds by title, unread or next poll; the entries of a list by date, title, feed or arrival",
    ),
    command(Command::ReadFeeds, "read-feeds", "c")
        .help("hide feeds without unread entries, or show them again"),
    command(Command::Show, "show", "f")
        .only_in(LISTS)
        .help("show all, unread, starred or hidden entries"),
    command(Command::Theme, "theme", "T").help("next theme; ':theme light' selects one"),
    command(Command::Layout, "layout", "L")
        .help("next layout: automatic, three panes, entries above the text, or one pane"),
    command(Command::Redraw, "redraw", "Ctrl-l").help("redraw the screen"),
    command(Command::Palette, "command", ": Ctrl-p")
        .help("find and run a command; arguments follow its name: 'goto 2014-03'"),
    command(Command::Help, "help", "?").help("show the keys that work here"),
    command(Command::Log, "log", "")
        .help("show recent activity and errors in a pager; '--verbose' logs more"),
    command(Command::Suspend, "suspend", "Ctrl-z")
        .help("suspend backissue; fg in the shell resumes it"),
    command(Command::Quit, "quit", "Ctrl-c").help("quit at once; everything is saved"),
];

const fn command(command: Command, name: &'static str, keys: &'static str) -> CommandRow {
    CommandRow { command, name, keys, panes: &[], help: "" }
}

impl CommandRow {
    const fn only_in(self, panes: &'static [Pane]) -> Self {
        Self { panes, ..self }
    }

    const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    pub fn works_in(&self, pane: Pane) -> bool {
        self.panes.is_empty() || self.panes.contains(&pane)
    }

    /// Parses the default keys of the command. A key range such as `1-9` is skipped.
    pub fn default_keys(&self) -> impl Iterator<Item = Key> {
        self.keys.split(' ').filter_map(|key| key_names::parse_key(key).ok())
    }
}

impl Command {
    /// Checks whether the command works while the help is open: it scrolls or closes the help. Any other command only closes the
    /// help.
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
                | Self::Close
                | Self::Help
                | Self::Quit
        )
    }

    /// Checks whether the command works while the plan pane or the timetable is open in the same way as without them.
    pub const fn works_over_panes(self) -> bool {
        self.works_in_help()
            || matches!(
                self,
                Self::Plan
                    | Self::Timetable
                    | Self::Palette
                    | Self::Theme
                    | Self::Layout
                    | Self::Redraw
                    | Self::Suspend
                    | Self::Zone
                    | Self::Steps
                    | Self::MarkHours
                    | Self::MoreOften
                    | Self::LessOften
                    | Self::NormallyOften
                    | Self::Edit
                    | Self::Poll
                    | Self::PollAll
                    | Self::Undo
                    | Self::Redo
                    | Self::Enter
            )
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::commands::*;

    #[test]
    fn every_command_has_a_unique_typeable_name() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let typed = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(|name| typed(name)), "{names:?}");
    }

    #[test]
    fn no_key_means_two_things_in_one_pane() {
        for pane in [Pane::Feeds, Pane::Entries, Pane::Reader] {
            let mut seen: Vec<(Key, &str)> = Vec::new();
            for row in COMMANDS.iter().filter(|row| row.works_in(pane)) {
                for key in row.default_keys() {
                    let other = seen.iter().find(|(taken, _)| *taken == key);
                    assert_eq!(other, None, "{key} of {}", row.name);
                    seen.push((key, row.name));
                }
            }
        }
    }
}
