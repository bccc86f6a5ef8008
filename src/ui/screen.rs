//! What is on the screen: which pane has the focus, what is selected, what is open.

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
use super::state::marked::Marked;
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

/// Columns from which on two panes can stand side by side.
pub const SIDE_BY_SIDE_COLUMNS: u16 = 60;
/// Columns from which on three panes can.
pub const THREE_COLUMNS: u16 = 100;
/// Rows from which on the entries can stand above the reader.
pub const STACKED_ROWS: u16 = 20;
/// Rows from which on there is one for hints.
const HINT_ROWS: u16 = 18;

/// The state of the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ui {
    /// The tour, as long as it lasts.
    pub tour: Option<Tour>,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The pane that takes the keys.
    pub focus: Pane,
    /// Subscriptions.
    pub feeds: FeedsPane,
    /// Which entries of the open list are shown.
    pub show: Show,
    /// Entries.
    pub list: Listing,
    /// Where the reader is in the Attention list.
    pub attention: ScrollList,
    /// The entry being read.
    pub reader: Option<Reader>,
    /// What lies over the panes.
    pub overlay: Option<Overlay>,
    /// What lies below that and is seen again when it is closed; the topmost last, each kind once.
    pub beneath: Vec<Overlay>,
    /// Keys typed of a longer sequence.
    pub begun: Vec<Key>,
    /// What is marked, to do something with all of it.
    pub marked: Marked,
    /// Where to go back to when the screen begins.
    pub returns_to: Option<Box<ScreenPlace>>,
    /// How the panes are arranged, where a key chose that.
    pub layout: Option<LayoutChoice>,
    /// So often the reader wanted everything drawn anew.
    pub redraws: u32,
    /// Polls that were asked for and whose answers are still to be told.
    pub asked_polls: Vec<AskedPolls>,
    /// The last message.
    pub notice: Option<Notice>,
    /// Sizes measured when the screen was drawn last.
    pub viewport: Viewport,
    /// What is configured.
    pub settings: ScreenSettings,
    /// Unread entries of today.
    pub today: Counted<u32>,
    /// When the day began that they were counted for.
    pub today_since: Option<DateTime<Utc>>,
    /// Unread entries that each saved search finds.
    pub found: Counted<BTreeMap<u32, u32>>,
    /// The pictures of entries.
    pub pictures: Pictures,
    /// Commands that wait for the entry they are handed.
    pub pipes: Vec<(EntryKey, ExternalCommand)>,
    /// Numbers the previews of filters.
    pub filter_previews: u64,
    /// The entry that is being read from the store to be shown.
    pub opening: Option<EntryKey>,
    /// Entries read before they are opened.
    pub ahead: Ahead,
    /// The entry that was left last, and where: it may not be written yet.
    pub left: Option<(EntryKey, Option<ReadingPosition>)>,
    /// The search that is open.
    pub search: Option<Box<Search>>,
    /// The words that are marked in titles and texts.
    pub marks: Marks,
    /// The command that an entry was handed to last.
    pub piped: Option<String>,
    /// Entries the search index is still to take.
    pub unindexed: u32,
    /// What to do when the rows that were asked for have come.
    pub then: Option<Then>,
    /// How it looks.
    pub appearance: Appearance,
    /// The reader pane takes the whole screen while it has the keys.
    pub zoomed: bool,
    /// The terminal said that it does not have the keys.
    pub unfocused: bool,
}

/// An answer stays this long, whatever keys are pressed.
pub const ANSWER_STAYS: TimeDelta = TimeDelta::seconds(10);

/// A message in the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What it says.
    pub text: String,
    /// When it was said.
    pub at: DateTime<Utc>,
    /// It tells of a trouble.
    pub trouble: bool,
    /// It answers what was asked a while ago: keys do not take it away at once.
    pub stays: bool,
}

/// What to do when rows have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Open the entry that was found; else go on to the next feed.
    Open,
    /// Open the entry that was found in this list, if there is one.
    OpenHere,
    /// Open the first unread entry; the list was just opened for it.
    OpenFirstUnread,
    /// Show an entry as it was when the program ended.
    ComeBack {
        /// The entry.
        entry: EntryKey,
        /// Its text was open.
        is_open: bool,
        /// The pane that had the keys.
        pane: Pane,
    },
}

impl Ui {
    /// How the panes are arranged now.
    pub fn arrangement(&self) -> Arrangement {
        if self.zoomed && self.focus == Pane::Reader {
            return Arrangement::Narrow;
        }
        self.usual_arrangement()
    }

    /// How the panes are arranged when the reader does not have the screen alone.
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

    /// How the panes are wanted: as chosen by a key, else as configured.
    pub const fn layout_choice(&self) -> LayoutChoice {
        if let Some(chosen) = self.layout { chosen } else { self.settings.layout }
    }

    /// Whether the keys that matter stand at the bottom.
    pub const fn has_hints(&self) -> bool {
        self.settings.hints && self.size.1 >= HINT_ROWS && !self.appearance.plain
    }

    /// Whether there is a screen at all.
    pub const fn is_on(&self) -> bool {
        self.size.0 > 0
    }

    /// Lays something over what is open. A kind of overlay is open once at most.
    pub fn lay_over(&mut self, overlay: Overlay) {
        let kind = std::mem::discriminant(&overlay);
        self.beneath.extend(self.overlay.take());
        self.beneath.retain(|other| std::mem::discriminant(other) != kind);
        self.overlay = Some(overlay);
    }

    /// Opens a line to type in.
    pub fn open_prompt(&mut self, prompt: Prompt) {
        self.lay_over(Overlay::Prompt(prompt));
    }

    /// Whether something hides the panes; a line being typed does not.
    pub fn covers_panes(&self) -> bool {
        let mut over = self.beneath.iter().chain(&self.overlay);
        over.any(|overlay| {
            !matches!(overlay, Overlay::Prompt(_) | Overlay::Question(_) | Overlay::Looking(_))
        })
    }

    /// Whether a gap is selected: the reader pane explains it, whatever entry was read before.
    pub fn explains_gap(&self) -> bool {
        self.list.selected_row().is_some_and(|row| row.key.entry().is_none())
    }

    /// The entry whose text is in the reader pane.
    pub fn shown_reader(&self) -> Option<&Reader> {
        self.reader.as_ref().filter(|_| !self.explains_gap())
    }

    /// The same, to be changed.
    pub fn shown_reader_mut(&mut self) -> Option<&mut Reader> {
        let explains_gap = self.explains_gap();
        self.reader.as_mut().filter(|_| !explains_gap)
    }

    /// Takes away what lies over everything; what lay beneath is open again.
    pub fn uncover(&mut self) {
        self.overlay = self.beneath.pop();
    }

    /// The plan pane, wherever it lies.
    pub fn plan_pane_mut(&mut self) -> Option<&mut PlanPane> {
        let open = self.overlay.iter_mut().chain(&mut self.beneath);
        open.into_iter().find_map(|overlay| {
            if let Overlay::Plan(pane) = overlay { Some(&mut **pane) } else { None }
        })
    }

    /// Closes the plan pane, wherever it lies.
    pub fn close_plan(&mut self) {
        let is_plan = |overlay: &Overlay| matches!(overlay, Overlay::Plan(_));
        self.beneath.retain(|overlay| !is_plan(overlay));
        if self.overlay.as_ref().is_some_and(is_plan) {
            self.uncover();
        }
    }

    /// Says something in the status line.
    pub fn say(&mut self, now: DateTime<Utc>, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), at: now, trouble: false, stays: false });
    }

    /// Says in the status line what came of something that was asked for a while ago.
    pub fn answer(&mut self, now: DateTime<Utc>, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), at: now, trouble: false, stays: true });
    }

    /// Tells of a trouble in the status line.
    pub fn complain(&mut self, now: DateTime<Utc>, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), at: now, trouble: true, stays: false });
    }
}

/// The tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tour {
    pub(in crate::ui) step: usize,
}
