//! The overlays, each with its state.

use super::layout::Pane;
use super::plan_pane::PlanPane;
use crate::ui::overlays::edit_form::EditForm;
use crate::ui::overlays::filter_form::FilterForm;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::scroll_list::ScrollList;
use backissue_core::history::FeedKey;

/// An overlay above the panes.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The keys that work in the current context.
    Help(HelpPane),
    /// An input line.
    Prompt(Prompt),
    /// A choice between the feeds that a page names.
    Choice(Choice),
    /// A pending lookup of a typed address, with the ID of the addition (the pending subscription).
    Looking(u32),
    /// A question to confirm with `y`.
    Question(Question),
    /// The command palette.
    Palette(Palette),
    /// The plan of a feed.
    Plan(Box<PlanPane>),
    /// The coming polls of all feeds.
    Timetable(TimetablePane),
    /// The settings of a feed.
    Edit(Box<EditForm>),
    /// A filter being created or edited.
    FilterDialog(Box<FilterForm>),
    /// The list of all filters.
    FilterList(FilterList),
    /// Feeds that were unsubscribed within the last week.
    Removed(ScrollList),
}

impl Overlay {
    /// Checks whether the overlay shows feeds. If so, commands apply to its feed.
    pub const fn is_about_feeds(&self) -> bool {
        matches!(self, Self::Plan(_) | Self::Timetable(_))
    }

    /// Returns the feed that commands apply to while the overlay is open.
    pub const fn feed(&self) -> Option<FeedKey> {
        match self {
            Self::Plan(pane) => Some(pane.feed),
            Self::Timetable(pane) => pane.feed,
            Self::Help(_)
            | Self::Prompt(_)
            | Self::Choice(_)
            | Self::Looking(_)
            | Self::Question(_)
            | Self::Palette(_)
            | Self::Edit(_)
            | Self::FilterDialog(_)
            | Self::FilterList(_)
            | Self::Removed(_) => None,
        }
    }
}

/// A choice between the feeds that a page names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// ID of the addition that waits for the choice.
    pub addition: u32,
    /// Selection among the feeds.
    pub list: ScrollList,
}

/// A question in the bottom line: `y` confirms it, `n` and Esc cancel it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Text of the question.
    pub text: String,
    /// Action that `y` confirms.
    pub asks: Asks,
}

/// The action that a question asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    /// Unsubscribe from these feeds.
    Unsubscribe(Vec<FeedKey>),
    /// Request this address without encryption.
    AskPlainly(String),
}

/// The open help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPane {
    /// First visible line.
    pub top: usize,
    /// Filter for the lines.
    pub filter: Prompt,
    /// `true` if the filter has the focus.
    pub typing: bool,
}

/// The open palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// The typed text.
    pub line: Prompt,
    /// Matching commands as indexes in the command table, best match first.
    pub found: Vec<usize>,
    /// Selection among the matches.
    pub list: ScrollList,
    /// Pane that had the focus.
    pub(in crate::ui) focus: Pane,
}

/// The open timetable.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimetablePane {
    /// Selected poll.
    pub list: ScrollList,
    /// Feed of the selected poll. The selection follows this feed when polls move.
    pub feed: Option<FeedKey>,
    /// Total cost of all feeds. `None` if it must be computed.
    pub sums: Option<Sums>,
    /// Minute for which the total was computed.
    pub(in crate::ui) summed: i64,
}

/// The total cost of all feeds that are polled automatically.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    /// Number of feeds.
    pub feeds: u32,
    /// Polls per day.
    pub polls_a_day: f64,
    /// Average delay of a publication in minutes, averaged over the feeds.
    pub delay_minutes: f64,
    /// Number of polls per day saved if the pace of every feed were one step slower.
    pub saved_a_day: f64,
}

/// The open filter list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilterList {
    /// Selected filter.
    pub list: ScrollList,
}
