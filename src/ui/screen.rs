//! The state of the screen: which pane has the focus, what is selected, and what is open.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::keys::key::Key;
use super::overlays::prompt::Prompt;
use super::panes::entry_list::Listing;
use super::scroll_list::ScrollList;
use super::settings::{LayoutChoice, ScreenSettings};
use super::state::asked_polls::AskedPolls;
use super::state::counted::Counted;
use super::state::feeds_pane::FeedsPane;
use super::state::layout::{Arrangement, Pane, Viewport};
use super::state::marked::MarkedRows;
use super::state::overlay::Overlay;
use super::state::pictures::Pictures;
use super::state::plan_pane::PlanPane;
use super::state::read_ahead::Ahead;
use super::state::reader::Reader;
use super::state::screen_place::ScreenPlace;
use super::state::search::Search;
use super::theme::appearance::Appearance;
use crate::engine::entries::loaded_entry::ReadingPosition;
use crate::engine::entries::rows::Show;
use crate::engine::external::external_command::ExternalCommand;
use backissue_core::history::EntryKey;
use backissue_core::search::Marks;

/// Minimum width for two panes side by side, in columns.
pub const SIDE_BY_SIDE_COLUMNS: u16 = 60;
/// Minimum width for three panes side by side, in columns.
pub const THREE_COLUMNS: u16 = 100;
/// Minimum height for the entries above the reader, in rows.
pub const STACKED_ROWS: u16 = 20;
/// Minimum height for a line of hints, in rows.
const HINT_ROWS: u16 = 18;

/// The state of the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ui {
    /// The tour, while it is running.
    pub tour: Option<Tour>,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Pane that has the keyboard focus.
    pub focus: Pane,
    /// State of the subscriptions pane.
    pub feeds: FeedsPane,
    /// Filter for the entries of the open list.
    pub show: Show,
    /// The open entry list.
    pub list: Listing,
    /// Selection in the Attention list.
    pub attention: ScrollList,
    /// The open entry.
    pub reader: Option<Reader>,
    /// Topmost overlay.
    pub overlay: Option<Overlay>,
    /// Overlays covered by the topmost one, to be shown again when it closes. The last one is on top; each kind occurs once.
    pub beneath: Vec<Overlay>,
    /// First keys of an unfinished key sequence.
    pub begun: Vec<Key>,
    /// Feeds and entries marked for a common action.
    pub marked: MarkedRows,
    /// Place to restore when the screen starts.
    pub returns_to: Option<Box<ScreenPlace>>,
    /// Layout chosen with a key, if any.
    pub layout: Option<LayoutChoice>,
    /// Number of times the user requested a full redraw.
    pub redraws: u32,
    /// Requested polls whose results have not been reported yet.
    pub asked_polls: Vec<AskedPolls>,
    /// The last message.
    pub notice: Option<Notice>,
    /// Sizes measured at the last draw.
    pub viewport: Viewport,
    /// Settings from the configuration file.
    pub settings: ScreenSettings,
    /// Number of today's unread entries.
    pub today: Counted<u32>,
    /// Start of the day that the unread entries were counted for.
    pub today_since: Option<DateTime<Utc>>,
    /// Number of unread entries in each saved search.
    pub found: Counted<BTreeMap<u32, u32>>,
    /// The pictures of entries.
    pub pictures: Pictures,
    /// Commands waiting for the entry that they will receive.
    pub pipes: Vec<(EntryKey, ExternalCommand)>,
    /// Number of the last filter preview.
    pub filter_previews: u64,
    /// Entry that is being read from the store for display.
    pub opening: Option<EntryKey>,
    /// Entries read from the store before the user opens them.
    pub ahead: Ahead,
    /// Entry that the user closed last, with its reading position, which may not be saved yet.
    pub left: Option<(EntryKey, Option<ReadingPosition>)>,
    /// The open search.
    pub search: Option<Box<Search>>,
    /// Words to highlight in titles and texts.
    pub marks: Marks,
    /// Last external command that received an entry.
    pub piped: Option<String>,
    /// Number of entries missing from the search index.
    pub unindexed: u32,
    /// Action to run when the requested rows have arrived.
    pub then: Option<OnRowsLoaded>,
    /// Theme, colours and other display properties.
    pub appearance: Appearance,
    /// `true` if the reader pane fills the screen while it has the focus.
    pub zoomed: bool,
    /// `true` if the terminal reported that its window lost the focus.
    pub unfocused: bool,
}

/// Time for which an answer remains visible even if keys are pressed.
pub const ANSWER_STAYS: TimeDelta = TimeDelta::seconds(10);

/// A message in the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Text of the message.
    pub text: String,
    /// Time when the message appeared.
    pub at: DateTime<Utc>,
    /// `true` if the message reports a problem.
    pub trouble: bool,
    /// `true` if the message answers an earlier request. Such a message is not cleared by the next key.
    pub stays: bool,
}

/// An action to run when rows have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRowsLoaded {
    /// Open the entry that was found. If there is none, continue with the next feed.
    Open,
    /// Open the entry that was found in this list, if there is one.
    OpenHere,
    /// Open the first unread entry of the list, which was just opened for that purpose.
    OpenFirstUnread,
    /// Show an entry as it was when the program ended.
    ComeBack {
        /// The entry.
        entry: EntryKey,
        /// `true` if its text was open.
        is_open: bool,
        /// The pane that had the focus.
        pane: Pane,
    },
}

impl Ui {
    /// Returns the current arrangement of the panes.
    pub fn arrangement(&self) -> Arrangement {
        if self.zoomed && self.focus == Pane::Reader {
            return Arrangement::Narrow;
        }
        self.usual_arrangement()
    }

    /// Returns the arrangement of the panes when the reader is not zoomed.
    pub const fn usual_arrangement(&self) -> Arrangement {
        if self.appearance.plain {
            return Arrangement::Narrow;
        }
        let (columns, rows) = self.size;
        match (self.layout_choice(), columns) {
            (LayoutChoice::One, _) | (_, 0..SIDE_BY_SIDE_COLUMNS) => Arrangement::Narrow,
            (LayoutChoice::Three, THREE_COLUMNS..) => Arrangement::Wide,
            (LayoutChoice::Two, _) if rows >= STACKED_ROWS => Arrangement::Stacked,
            (LayoutChoice::Auto | LayoutChoice::Three, 0..80) => Arrangement::Narrow,
            (LayoutChoice::Two, _) | (LayoutChoice::Auto | LayoutChoice::Three, 80..120) => {
                Arrangement::Medium
            }
            (LayoutChoice::Auto, _) => Arrangement::Wide,
        }
    }

    /// Returns the wanted layout: the one chosen with a key, or the configured one.
    pub const fn layout_choice(&self) -> LayoutChoice {
        if let Some(chosen) = self.layout { chosen } else { self.settings.layout }
    }

    /// Checks whether a line of hints is shown at the bottom.
    pub const fn has_hints(&self) -> bool {
        self.settings.hints && self.size.1 >= HINT_ROWS && !self.appearance.plain
    }

    /// Checks whether the program runs with a screen.
    pub const fn is_on(&self) -> bool {
        self.size.0 > 0
    }

    /// Opens an overlay on top. Each kind of overlay is open at most once.
    pub fn lay_over(&mut self, overlay: Overlay) {
        let kind = std::mem::discriminant(&overlay);
        self.beneath.extend(self.overlay.take());
        self.beneath.retain(|other| std::mem::discriminant(other) != kind);
        self.overlay = Some(overlay);
    }

    /// Opens an input line.
    pub fn open_prompt(&mut self, prompt: Prompt) {
        self.lay_over(Overlay::Prompt(prompt));
    }

    /// Checks whether an overlay hides the panes. Input lines do not.
    pub fn covers_panes(&self) -> bool {
        let mut over = self.beneath.iter().chain(&self.overlay);
        over.any(|overlay| {
            !matches!(overlay, Overlay::Prompt(_) | Overlay::Question(_) | Overlay::Looking(_))
        })
    }

    /// Checks whether a gap is selected. The reader pane then explains the gap instead of showing an entry.
    pub fn explains_gap(&self) -> bool {
        self.list.selected_row().is_some_and(|row| row.key.entry().is_none())
    }

    /// Returns the entry whose text is visible in the reader pane.
    pub fn shown_reader(&self) -> Option<&Reader> {
        self.reader.as_ref().filter(|_| !self.explains_gap())
    }

    /// Returns the visible entry for modification.
    pub fn shown_reader_mut(&mut self) -> Option<&mut Reader> {
        let explains_gap = self.explains_gap();
        self.reader.as_mut().filter(|_| !explains_gap)
    }

    /// Closes the topmost overlay and shows the one underneath.
    pub fn uncover(&mut self) {
        self.overlay = self.beneath.pop();
    }

    /// Returns the plan pane, even if other overlays cover it.
    pub fn plan_pane_mut(&mut self) -> Option<&mut PlanPane> {
        let open = self.overlay.iter_mut().chain(&mut self.beneath);
        open.into_iter().find_map(|overlay| {
            if let Overlay::Plan(pane) = overlay { Some(&mut **pane) } else { None }
        })
    }

    /// Closes the plan pane, even if other overlays cover it.
    pub fn close_plan(&mut self) {
        let is_plan = |overlay: &Overlay| matches!(overlay, Overlay::Plan(_));
        self.beneath.retain(|overlay| !is_plan(overlay));
        if self.overlay.as_ref().is_some_and(is_plan) {
            self.uncover();
        }
    }

    /// Shows a message in the status line.
    pub fn say(&mut self, now: DateTime<Utc>, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), at: now, trouble: false, stays: false });
    }

    /// Shows the result of an earlier request in the status line.
    pub fn answer(&mut self, now: DateTime<Utc>, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), at: now, trouble: false, stays: true });
    }

    /// Reports a problem in the status line.
    pub fn complain(&mut self, now: DateTime<Utc>, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), at: now, trouble: true, stays: false });
    }
}

/// The state of the tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tour {
    pub(in crate::ui) step: usize,
}
