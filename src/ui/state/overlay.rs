//! The overlays above the panes, each with its state.

use super::pick_list::PickList;
use super::plan_pane::PlanPane;
use super::reading::LinkHints;
use crate::engine::request::Request;
use crate::ui::overlays::accounts::account_form::AccountForm;
use crate::ui::overlays::edit_form::EditForm;
use crate::ui::overlays::filter_form::FilterForm;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::scroll_list::ScrollList;
use backissue_core::history::{EntryKey, FeedKey};

/// An overlay above the panes.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The help, which lists the keys that work in the current context.
    Help(HelpPane),
    /// An input line.
    Prompt(Prompt),
    /// A pending lookup of a typed address. The number is the ID of the addition (the pending subscription).
    Looking(u32),
    /// A question that the user confirms with `y`.
    Question(AskedQuestion),
    /// The polling plan of a feed.
    Plan(Box<PlanPane>),
    /// The timetable, with the coming polls of all feeds.
    Timetable(TimetablePane),
    /// The edit dialog for the settings of a feed.
    Edit(Box<EditForm>),
    /// The dialog that adds an account on a server.
    Account(Box<AccountForm>),
    /// The dialog that creates or edits a filter.
    FilterDialog(Box<FilterForm>),
    /// Hints on the links of the open text.
    Hints(LinkHints),
    /// A list to pick from: feeds, tags and lists to jump to, labels, or commands (the palette).
    Pick(PickList),
    /// A list of one of several kinds.
    List(OpenList),
}

impl Overlay {
    /// Checks whether the overlay shows polls of feeds. While it is open, commands apply to the feed that it shows or selects.
    pub const fn is_about_feeds(&self) -> bool {
        matches!(self, Self::Plan(_) | Self::Timetable(_))
    }

    /// Returns the feed that commands apply to while this overlay is open.
    pub const fn feed(&self) -> Option<FeedKey> {
        match self {
            Self::Plan(pane) => Some(pane.feed),
            Self::Timetable(pane) => pane.feed,
            Self::Help(_)
            | Self::Prompt(_)
            | Self::Looking(_)
            | Self::Question(_)
            | Self::Edit(_)
            | Self::Account(_)
            | Self::FilterDialog(_)
            | Self::Pick(_)
            | Self::Hints(_)
            | Self::List(_) => None,
        }
    }
}

/// The state of an open list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenList {
    /// What it lists.
    pub of: ListOf,
    /// The selected row and the first visible one.
    pub list: ScrollList,
}

/// What a list over the panes contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOf {
    /// The feeds that were found on a page, for the addition (the pending subscription) that waits for the choice.
    Choice(u32),
    /// The accounts on servers.
    Accounts,
    /// All filters.
    Filters,
    /// The feeds that were unsubscribed within the last week.
    Removed,
    /// The downloads.
    Downloads,
    /// The programs with which an entry can be shared.
    Share,
}

/// A question in the bottom line: `y` confirms the action, `n` and Esc cancel it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedQuestion {
    /// Text of the question.
    pub text: String,
    /// Action that is performed if the user confirms it.
    pub asks: Asks,
}

/// An action that needs a confirmation by the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Asks {
    /// Unsubscribe from these feeds.
    Unsubscribe(Vec<FeedKey>),
    /// Send this request.
    Request(Box<Request>),
    /// Answer what this account waits for; it holds these feeds.
    Account(String, Vec<FeedKey>),
    /// Remove this account; what becomes of its feeds is asked.
    LeaveAccount(String),
    /// Open the pages of these entries in the browser.
    OpenPages(Vec<(EntryKey, String)>),
    /// Request this address without encryption, to subscribe to it or to change the address of a feed to it.
    AskPlainly(String, Option<FeedKey>),
}

/// The state of the open help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPane {
    /// Index of the first visible line.
    pub top: usize,
    /// Input line with the words that filter the commands in the help.
    pub filter: Prompt,
    /// `true` while the user is typing in the filter line.
    pub typing: bool,
}

/// The state of the open timetable.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimetablePane {
    /// The selected poll and the first visible one.
    pub list: ScrollList,
    /// Feed of the selected poll. When the order of polls changes, the selection stays on this feed.
    pub feed: Option<FeedKey>,
    /// Total polling cost of all feeds. `None` if it must be computed.
    pub sums: Option<Sums>,
    /// The minute (since 1970) for which the total cost was computed.
    pub(in crate::ui) summed: i64,
}

/// The total polling cost of all feeds that are polled automatically.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    /// Number of feeds that are polled automatically.
    pub feeds: u32,
    /// Number of polls per day, for all feeds together.
    pub polls_a_day: f64,
    /// Average time in minutes between a publication and the poll that finds it, averaged over the feeds.
    pub delay_minutes: f64,
    /// Number of polls per day that would be saved if the pace of every feed were one step slower.
    pub saved_a_day: f64,
}
