//! The application state: the engine, and the state of the screen: which pane has the focus, what is selected, and what is open.
//! Also what the commands of the screen work with: that state, the time, and a list of the effects that they start.

use backissue_core::feed::text::counted_words;
use backissue_core::history::timeline::MonthCounts;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::Marks;
use chrono::{DateTime, TimeDelta, Utc};

use super::effect::{ScreenEffect, ask_store};
use super::keys::key::Key;
use super::keys::key_bindings::Sentence;
use super::overlays::prompt::Prompt;
use super::panes::entry_list::{Headings, Listing, RowShape};
use super::scroll_list::ScrollList;
use super::settings::{LayoutChoice, ScreenSettings, ShownFeeds};
use super::state::feeds_pane::{FeedsPane, FeedsRow, MarkedRows, PlaceList, ScreenPlace};
use super::state::layout::{Arrangement, Pane, PaneLayout, Viewport};
use super::state::overlay::{Overlay, PlanPane};
use super::state::pending::{AskedPolls, Counted, RunningSequence, TypedAhead, WaitingRun};
use super::state::reader::{CountedReading, Find, Pictures, ReadAhead, ReadLater, Reader, Search};
use super::theme::colours::Appearance;
use crate::engine::entries::entry_view::ReadingPosition;
use crate::engine::entries::rows::{RowOrder, RowsWanted, Show};
use crate::engine::poll::poll_stage::PollStage;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// The engine together with the state of the screen.
#[derive(Debug, Clone)]
pub struct App {
    /// The part of the program that does not depend on the screen. Its state changes only through requests and inputs; see
    /// [`Cx::ask`].
    pub engine: Engine,
    /// The state of the screen.
    pub ui: Ui,
}

impl App {
    /// Describes the work that must finish before the program can exit. Returns `None` if there is no such work.
    pub fn awaited_at_end(&self) -> Option<String> {
        let engine = &self.engine;
        let asked = engine.polls.values().filter(|poll| poll.stage != PollStage::Waiting).count();
        let counted = |count: usize, one: &str, more: &str| {
            (count > 0).then(|| counted_words(count, one, more))
        };
        let answers = counted(asked, "pending request", "pending requests");
        let unsaved = usize::try_from(engine.unsaved).unwrap_or(usize::MAX);
        let changes = counted(unsaved, "unsaved change", "unsaved changes");
        let awaited = answers.into_iter().chain(changes).collect::<Vec<_>>();
        (!awaited.is_empty()).then(|| format!("quitting: waiting for {} …", awaited.join(" and ")))
    }

    /// Returns the title for the terminal window.
    pub fn title(&self) -> String {
        match self.engine.unread() {
            0 => "backissue".to_owned(),
            unread => format!("backissue · {unread} unread"),
        }
    }
}

/// Minimum width of the screen for two panes side by side, in columns.
pub const SIDE_BY_SIDE_COLUMNS: u16 = 60;
/// Minimum width of the screen for three panes side by side, in columns.
pub const THREE_COLUMNS: u16 = 100;
/// Minimum height of the screen for the entries above the reader, in rows.
pub const STACKED_ROWS: u16 = 20;
/// Minimum height of the screen for a line of key hints, in rows.
const HINT_ROWS: u16 = 18;

/// The state of the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ui {
    /// State of the tour. `None` if the tour is not running.
    pub tour: Option<Tour>,
    /// Names of the other readers whose files were found at the start, for the welcome pane.
    pub found_readers: Vec<String>,
    /// Address at which devices are served. `None` if they are not served.
    pub serving: Option<String>,
    /// Width and height of the terminal in columns and rows.
    pub size: (u16, u16),
    /// Pane that has the keyboard focus.
    pub focus: Pane,
    /// State of the subscriptions pane.
    pub feeds: FeedsPane,
    /// Which entries of a list are shown: all, unread or starred ones.
    pub show: Show,
    /// The open entry list.
    pub list: Listing,
    /// Selection in the Attention list.
    pub attention: ScrollList,
    /// The open entry in the reader pane.
    pub reader: Option<Reader>,
    /// Entries by month of the feed whose timeline was opened last.
    pub months: Option<(FeedKey, MonthCounts)>,
    /// Topmost overlay.
    pub overlay: Option<Overlay>,
    /// Overlays covered by the topmost one, which are shown again when it is closed. The last one is the uppermost. There is at
    /// most one overlay of each kind.
    pub beneath: Vec<Overlay>,
    /// First keys of an unfinished key sequence.
    pub begun: Vec<Key>,
    /// Number typed before a movement; 0 if there is none.
    pub count: u32,
    /// Feeds and entries marked for a common action.
    pub marked: MarkedRows,
    /// List and entry to restore when the screen starts.
    pub returns_to: Option<Box<ScreenPlace>>,
    /// Orders that the user chose for lists. Other lists have the newest entry first.
    pub orders: Vec<(PlaceList, RowOrder)>,
    /// What the user read since the program started, and what was counted of it.
    pub counted: CountedReading,
    /// `true` if feeds without unread entries are hidden, as the user chose with a key. `None` uses the configured setting.
    pub hides_read_feeds: Option<bool>,
    /// Name of the theme that the user chose with a key. `None` uses the configured theme.
    pub theme: Option<String>,
    /// `true` if the terminal reported a light background, `false` if it reported a dark one.
    pub is_light: Option<bool>,
    /// Layout that the user chose with a key. `None` uses the configured layout.
    pub layout: Option<LayoutChoice>,
    /// Share of the entries pane that the user chose, in percent. `None` uses the configured one.
    pub list_share: Option<u16>,
    /// `true` while the user moves the border between the entries and the text with the mouse.
    pub is_border_held: bool,
    /// Number of times the user requested a full redraw. A change of this number causes the redraw.
    pub redraws: u32,
    /// Requested polls whose results have not been reported yet.
    pub asked_polls: Vec<AskedPolls>,
    /// The last message in the status line.
    pub notice: Option<Notice>,
    /// Positions and sizes of the panes, measured when the screen was last drawn.
    pub viewport: Viewport,
    /// Settings from the configuration file.
    pub settings: ScreenSettings,
    /// Numbers of today's unread entries and of those in the saved searches.
    pub counts: Counted,
    /// Start of the day for which today's unread entries were counted.
    pub today_since: Option<DateTime<Utc>>,
    /// State of the pictures in the open entry.
    pub pictures: Pictures,
    /// External commands, each with the entry that must be read from the store before the command can start.
    pub pipes: Vec<WaitingRun>,
    /// Own commands whose program has not ended yet.
    pub sequences: Vec<RunningSequence>,
    /// Number of steps that ran a program.
    pub sequences_begun: u32,
    /// Link of the text for the command that is being typed.
    pub piped_link: Option<String>,
    /// The search for a text in the open entry. `None` if no such search is open.
    pub find: Option<Find>,
    /// Number of the last requested filter preview.
    pub filter_previews: u64,
    /// Keys and pasted texts that wait until the screen shows what they apply to.
    pub typed: TypedAhead,
    /// Entry that is being read from the store for display.
    pub opening: Option<EntryKey>,
    /// Entries that were read from the store before the user opens them.
    pub ahead: ReadAhead,
    /// Open entry that is marked as read later.
    pub read_later: Option<ReadLater>,
    /// Entry that the user closed last, with its reading position, which may not be saved in the store yet.
    pub left: Option<(EntryKey, Option<ReadingPosition>)>,
    /// The open search. `None` if no search is open.
    pub search: Option<Box<Search>>,
    /// Words to highlight in titles and texts.
    pub marks: Marks,
    /// External command that the user last piped an entry to.
    pub piped: Option<String>,
    /// Number of entries that are not in the search index yet.
    pub unindexed: u32,
    /// Action that waits for requested rows.
    pub then: Option<OnRowsLoaded>,
    /// Theme, colours and other display properties.
    pub appearance: Appearance,
    /// `true` if the reader pane fills the screen while it has the focus.
    pub zoomed: bool,
    /// `true` if the terminal reported that its window lost the focus.
    pub unfocused: bool,
}

/// Minimum time for which the result of an earlier request stays in the status line even if keys are pressed.
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
    /// `true` if the message is the result of an earlier request. Such a message is not removed by the next key.
    pub stays: bool,
}

/// An action to run when requested rows have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRowsLoaded {
    /// Open the entry that a seek has found. If it found none, continue with the next feed.
    Open,
    /// Open the entry that a seek has found in the open list. If it found none, stay in this list.
    OpenHere,
    /// Open the first unread entry of the list, which was opened for this purpose.
    OpenFirstUnread,
    /// Restore the entry that was selected when the program was last closed.
    ComeBack {
        /// The entry to restore.
        entry: EntryKey,
        /// `true` if the text of the entry was open.
        is_open: bool,
        /// The pane that had the focus.
        pane: Pane,
    },
}

impl Ui {
    /// Returns the current arrangement of the panes on the screen.
    pub fn arrangement(&self) -> Arrangement {
        if self.zoomed && self.focus == Pane::Reader {
            return Arrangement::Narrow;
        }
        self.usual_arrangement()
    }

    /// Returns the arrangement of the panes if the reader does not fill the screen.
    pub fn usual_arrangement(&self) -> Arrangement {
        if self.appearance.plain {
            return Arrangement::Narrow;
        }
        let (columns, rows) = self.size;
        let usual = match (self.layout_choice(), columns) {
            (LayoutChoice::One, _) | (_, 0..SIDE_BY_SIDE_COLUMNS) => Arrangement::Narrow,
            (LayoutChoice::Three, THREE_COLUMNS..) => Arrangement::Wide,
            (LayoutChoice::Two, _) => Arrangement::Stacked,
            (LayoutChoice::Auto | LayoutChoice::Three, _) => PaneLayout::of(columns).arrangement,
        };
        let too_low = usual == Arrangement::Stacked && rows < STACKED_ROWS;
        if too_low { Arrangement::Medium } else { usual }
    }

    /// Returns the widths of the panes for their current arrangement. While nothing is open, the list also gets the columns of
    /// the reader, which is enough to show each entry on one line.
    pub fn pane_layout(&self) -> PaneLayout {
        let arranged = |arrangement| PaneLayout::arranged(self.size.0, arrangement);
        let layout = arranged(self.usual_arrangement());
        if layout.arrangement != Arrangement::Wide || self.has_text() {
            return layout;
        }
        let PaneLayout { lines, names, .. } = arranged(Arrangement::Stacked);
        PaneLayout { lines, names, ..layout }
    }

    /// Returns the entry whose text is open, or will be when it was read from the store.
    pub fn read_entry(&self) -> Option<EntryKey> {
        self.opening.or_else(|| self.reader.as_ref().map(|reader| reader.entry.key))
    }

    /// Checks whether all entries of the open list belong to one feed, so that the rows need not show its name.
    pub fn is_list_of_one_feed(&self) -> bool {
        self.search.is_none() && matches!(self.feeds.selected_row(), Some(FeedsRow::Feed(..)))
    }

    /// Returns how the rows of the open list are drawn. In a list of one feed, each row has its date instead of a heading for each
    /// day, because such a list rarely has two entries of one day.
    pub fn row_shape(&self) -> RowShape {
        let one_feed = self.is_list_of_one_feed();
        let plain = self.appearance.plain;
        let headings = if self.list.order == RowOrder::RareFirst && !one_feed {
            Headings::Frequencies
        } else if self.list.order.is_by_date() && (plain || !one_feed) {
            Headings::Days
        } else {
            Headings::None
        };
        RowShape { headings, lines: if plain { 1 } else { usize::from(self.pane_layout().lines) } }
    }

    /// Returns the order of the entries in the list of the selected row.
    pub fn chosen_order(&self) -> RowOrder {
        let list = self.feeds.selected_row().map(PlaceList::of).unwrap_or_default();
        let chosen = self.orders.iter().find(|(other, _)| *other == list);
        chosen.map_or_else(|| self.usual_order(&list), |(_, order)| *order)
    }

    /// Returns the order of a list for which the user chose none.
    pub fn usual_order(&self, list: &PlaceList) -> RowOrder {
        match (list, self.settings.order.rows()) {
            (PlaceList::Reading, _) => RowOrder::RareFirst,
            // All entries of one feed are equally rare.
            (PlaceList::Feed(_), RowOrder::RareFirst) => RowOrder::NewestFirst,
            (_, order) => order,
        }
    }

    /// Checks whether feeds without unread entries are hidden.
    pub fn hides_read_feeds(&self) -> bool {
        self.hides_read_feeds.unwrap_or(self.settings.feeds == ShownFeeds::Unread)
    }

    /// Returns the layout that the user wants: the one chosen with a key or, if none was chosen, the configured one.
    pub const fn layout_choice(&self) -> LayoutChoice {
        if let Some(chosen) = self.layout { chosen } else { self.settings.layout }
    }

    /// Returns the share of the entries pane that the user wants, in percent: the one chosen with a key or the mouse, or else the
    /// configured one.
    pub const fn list_share(&self) -> Option<u16> {
        if self.list_share.is_some() { self.list_share } else { self.settings.list_share }
    }

    /// Checks whether the reader has something to show: a text, or the explanation of a gap.
    pub fn has_text(&self) -> bool {
        self.reader.is_some()
            || self.opening.is_some()
            || self.focus == Pane::Reader
            || self.explains_gap()
    }

    /// Checks whether a line of key hints is shown at the bottom.
    pub const fn has_hints(&self) -> bool {
        self.settings.hints && self.size.1 >= HINT_ROWS && !self.appearance.plain
    }

    /// Checks whether the program has a screen, as opposed to running in the background.
    pub const fn is_on(&self) -> bool {
        self.size.0 > 0
    }

    /// Opens an overlay on top of the others. An overlay of the same kind that is already open is replaced.
    pub fn lay_over(&mut self, overlay: Overlay) {
        let kind = std::mem::discriminant(&overlay);
        self.beneath.extend(self.overlay.take());
        self.beneath.retain(|other| std::mem::discriminant(other) != kind);
        self.overlay = Some(overlay);
    }

    /// Opens an input line on top of other overlays.
    pub fn open_prompt(&mut self, prompt: Prompt) {
        self.lay_over(Overlay::Prompt(prompt));
    }

    /// Checks whether an open overlay covers the panes. Input lines do not cover them.
    pub fn covers_panes(&self) -> bool {
        let mut over = self.beneath.iter().chain(&self.overlay);
        over.any(|overlay| {
            !matches!(
                overlay,
                Overlay::Prompt(_) | Overlay::Question(_) | Overlay::Looking(_) | Overlay::Hints(_)
            )
        })
    }

    /// Checks whether a gap is selected. In this case, the reader pane explains the gap instead of showing an entry.
    pub fn explains_gap(&self) -> bool {
        self.list.selected_row().is_some_and(|row| row.key.entry().is_none())
    }

    /// Returns the entry whose text is shown in the reader pane. Returns `None` while the pane explains a gap.
    pub fn shown_reader(&self) -> Option<&Reader> {
        self.reader.as_ref().filter(|_| !self.explains_gap())
    }

    /// Returns the entry whose text is shown in the reader pane, for modification.
    pub fn shown_reader_mut(&mut self) -> Option<&mut Reader> {
        let explains_gap = self.explains_gap();
        self.reader.as_mut().filter(|_| !explains_gap)
    }

    /// Closes the topmost overlay and shows the overlay underneath, if there is one.
    pub fn uncover(&mut self) {
        self.overlay = self.beneath.pop();
    }

    /// Returns the open plan pane, even if other overlays cover it.
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
    pub fn say(&mut self, now: DateTime<Utc>, text: impl Sentence) {
        self.show(now, text, (false, false));
    }

    /// Shows a message about a change in the status line, with the key that undoes the change.
    pub fn say_undoable(&mut self, now: DateTime<Utc>, text: impl Sentence) {
        let keys = &self.settings.keys;
        self.say(now, format!("{}{}", text.shown(keys), keys.undo_hint()));
    }

    /// Shows the result of an earlier request in the status line.
    pub fn answer(&mut self, now: DateTime<Utc>, text: impl Sentence) {
        self.show(now, text, (false, true));
    }

    /// Reports a problem in the status line.
    pub fn complain(&mut self, now: DateTime<Utc>, text: impl Sentence) {
        self.show(now, text, (true, false));
    }

    fn show(&mut self, now: DateTime<Utc>, text: impl Sentence, (trouble, stays): (bool, bool)) {
        let text = text.shown(&self.settings.keys);
        self.notice = Some(Notice { text, at: now, trouble, stays });
    }

    /// Replaces each command name in braces in a text by the key of this command.
    pub fn words(&self, text: &'static str) -> String {
        self.settings.keys.words(text)
    }
}

/// The state of the tour of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tour {
    pub(super) step: usize,
}

/// The context of a command.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The screen and the engine.
    pub app: &'a mut App,
    /// The time of the input.
    pub now: DateTime<Utc>,
    /// The effects to perform, in order.
    pub out: Vec<ScreenEffect>,
}

impl<'a> Cx<'a> {
    /// Creates a context without effects.
    pub const fn new(app: &'a mut App, now: DateTime<Utc>) -> Self {
        Self { app, now, out: Vec::new() }
    }

    /// Runs `does` in a context, and returns the effects that it started.
    pub fn run(
        app: &'a mut App,
        now: DateTime<Utc>,
        does: impl FnOnce(&mut Self),
    ) -> Vec<ScreenEffect> {
        let mut cx = Self::new(app, now);
        does(&mut cx);
        cx.out
    }

    /// Requests rows of a list from the store.
    pub fn read_rows(&mut self, wanted: RowsWanted) {
        self.out.push(ask_store(Job::ReadRows(wanted)));
    }

    /// Shows a message in the status line.
    pub fn say(&mut self, text: impl Sentence) {
        self.app.ui.say(self.now, text);
    }

    /// Shows a message about a change in the status line, with the key that undoes the change.
    pub fn say_undoable(&mut self, text: impl Sentence) {
        self.app.ui.say_undoable(self.now, text);
    }

    /// Reports a problem in the status line.
    pub fn complain(&mut self, text: impl Sentence) {
        self.app.ui.complain(self.now, text);
    }

    /// Shows the result of an earlier request in the status line.
    pub fn answer(&mut self, text: impl Sentence) {
        self.app.ui.answer(self.now, text);
    }
}
