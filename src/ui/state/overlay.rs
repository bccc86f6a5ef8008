//! What can lie over the panes, each with its state.

use super::layout::Pane;
use super::plan_pane::PlanPane;
use crate::ui::overlays::edit_form::EditForm;
use crate::ui::overlays::filter_form::FilterForm;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::scroll_list::ScrollList;
use backissue_core::history::FeedKey;

/// What lies over the panes.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The keys that work here.
    Help(HelpPane),
    /// A line being typed.
    Prompt(Prompt),
    /// A page names several feeds: which one?
    Choice(Choice),
    /// An address is looked at, by the number of its addition.
    Looking(u32),
    /// A question that y answers.
    Question(Question),
    /// The command palette.
    Palette(Palette),
    /// The plan of a feed.
    Plan(Box<PlanPane>),
    /// The coming polls of all feeds.
    Timetable(TimetablePane),
    /// What the reader chose for a feed.
    Edit(Box<EditForm>),
    /// A filter being made or changed.
    FilterDialog(Box<FilterForm>),
    /// All filters.
    FilterList(FilterList),
    /// The feeds that were unsubscribed from within a week.
    Removed(ScrollList),
}

impl Overlay {
    /// Whether it is about a feed, or about one feed after the other: commands are about that feed then.
    pub const fn is_about_feeds(&self) -> bool {
        matches!(self, Self::Plan(_) | Self::Timetable(_))
    }

    /// The feed that commands are about while it is open.
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
    /// The addition that waits for it.
    pub addition: u32,
    /// The selected feed.
    pub list: ScrollList,
}

/// A question on the bottom line: `y` does what it asks about, `n` and Esc leave everything as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What it says.
    pub text: String,
    /// What `y` does.
    pub asks: Asks,
}

/// What a question asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    /// These feeds are given up.
    Unsubscribe(Vec<FeedKey>),
    /// This address is asked without encryption.
    AskPlainly(String),
}

/// The open help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPane {
    /// First line shown.
    pub top: usize,
    /// What the lines must hold.
    pub filter: Prompt,
    /// The filter has the keys.
    pub typing: bool,
}

/// The open palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// What was typed.
    pub line: Prompt,
    /// The commands it may mean, as places in the table of keys, best first.
    pub found: Vec<usize>,
    /// The selected one among them.
    pub list: ScrollList,
    /// The pane the keys were with.
    pub(in crate::ui) focus: Pane,
}

/// The timetable on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimetablePane {
    /// The selected poll.
    pub list: ScrollList,
    /// The feed it belongs to: the selection follows it when others move.
    pub feed: Option<FeedKey>,
    /// What all feeds cost together; `None`: to be summed up.
    pub sums: Option<Sums>,
    /// The minute for which they were summed up.
    pub(in crate::ui) summed: i64,
}

/// What all feeds that are polled by themselves cost together, by their recommendations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    /// How many feeds.
    pub feeds: u32,
    /// Polls a day.
    pub polls_a_day: f64,
    /// How long a publication of a feed waits, minutes, on average over the feeds.
    pub delay_minutes: f64,
    /// Polls a day that would be saved if every feed were polled one pace less often.
    pub saved_a_day: f64,
}

/// The open list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilterList {
    /// The selected rule.
    pub list: ScrollList,
}
