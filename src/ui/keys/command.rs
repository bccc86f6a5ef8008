//! What can be commanded, by a key or by name.

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
    /// A filter made from the entry.
    Mute,
    /// The filters.
    Filters,
    /// The tags of a feed, or the name of a tag.
    Tags,
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
    /// Open the attached file.
    Enclosure,
    /// Pictures in the text, or none.
    Pictures,
    /// The full text of the page, or the feed's.
    FullText,
    /// Always the full text for this feed.
    FullTextAlways,
    /// Hand the entry to a command.
    Pipe,
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
    /// The next theme.
    Theme,
    /// The reader pane alone, and back.
    Zoom,
    /// What is wider than the pane: what is on its left.
    ScrollLeft,
    /// And on its right.
    ScrollRight,
    /// Copy the link of the entry or feed.
    CopyLink,
    /// Stop until the shell lets it go on.
    Suspend,
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
