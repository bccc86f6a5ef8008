//! The overlays above the panes, each with its state, such as a list from which the user picks an item, or the contents of the plan
//! pane.

use std::sync::Arc;

use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::schedule::learning::{LearnedPlan, Publications};
use backissue_core::schedule::{Facts, Pace, Plan, Restriction};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::feeds_pane::FeedsRow;
use super::reader::LinkHints;
use crate::engine::poll::poll_log::PollLogEntry;
use crate::engine::request::Request;
use crate::ui::keys::command_table::{COMMANDS, synonyms};
use crate::ui::overlays::form::{AccountForm, EditForm, FilterForm};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::scroll_list::ScrollList;

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
        if let Self::Plan(pane) = self {
            return Some(pane.feed);
        }
        if let Self::Timetable(pane) = self { pane.feed } else { None }
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

/// The contents of a list over the panes.
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
    /// The sources of older entries of this feed.
    Older(FeedKey),
    /// The years of the history of this feed.
    Timeline(FeedKey),
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
    /// Subscribe to these addresses.
    Subscribe(Vec<String>),
    /// Unsubscribe from these feeds.
    Unsubscribe(Vec<FeedKey>),
    /// Send this request.
    Request(Box<Request>),
    /// Answer the question for which this account waits. The answer affects these feeds.
    Account(String, Vec<FeedKey>),
    /// Answer the request of this device.
    Device(String),
    /// Remove this account. The user chooses whether its feeds are kept.
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

/// Text that the list shows beside a label that does not exist yet.
const NEW_LABEL: &str = "new label";

/// The state of a list from which the user picks an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickList {
    /// Input line with the typed letters.
    pub line: Prompt,
    /// All items.
    pub items: Vec<PickItem>,
    /// Indexes of the matching items, with the best match first.
    pub found: Vec<usize>,
    /// The selected match and the first visible one.
    pub list: ScrollList,
}

/// An item that the user can pick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickItem {
    /// Name of the item.
    pub name: String,
    /// What the item is or does, or its tags.
    pub detail: String,
    /// What happens if the user picks the item.
    pub target: PickTarget,
}

/// What happens if the user picks an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickTarget {
    /// The list of this row of the subscriptions pane is opened.
    Row(FeedsRow),
    /// This label is set on entries, or removed.
    Label(String),
    /// The command at this index is run. An index beyond the end of the command table means one of the own commands.
    Command(usize),
}

impl PickList {
    /// Returns the selected item.
    pub fn selected_item(&self) -> Option<&PickItem> {
        self.items.get(*self.found.get(self.list.selected)?)
    }

    /// Lists items, the best matches of the typed text first.
    pub(in crate::ui) fn new(line: Prompt, items: Vec<PickItem>) -> Self {
        let mut picks = Self { line, items, found: Vec::new(), list: ScrollList::default() };
        picks.search();
        picks
    }

    /// Splits the typed text into the name of a command and the text after the name.
    pub(in crate::ui) fn written(&self) -> (&str, &str) {
        let text = self.line.text.trim();
        text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
    }

    /// Finds the items that match the typed text. A label that does not exist yet is offered as a new one.
    pub(in crate::ui) fn search(&mut self) {
        self.items.retain(|item| item.detail != NEW_LABEL);
        let typed = self.line.text.trim().to_owned();
        let (word, argument) = self.written();
        let row_of = |item: &PickItem| match item.target {
            PickTarget::Command(at) => COMMANDS.get(at).filter(|row| row.name == word),
            PickTarget::Row(_) | PickTarget::Label(_) => None,
        };
        // If the typed text is the whole name of a command, this command is the first match, even if another one matches better.
        // If an argument that the command takes follows the name, the command is the only match. If it takes no argument, all
        // typed words are searched for, as in 'mark read', and the command only matches if nothing else does.
        let whole = self.items.iter().position(|item| row_of(item).is_some());
        let takes =
            argument.is_empty() || self.items.iter().filter_map(row_of).any(|row| row.takes);
        let others = match whole {
            Some(_) if takes && !argument.is_empty() => Vec::new(),
            Some(_) | None => rank(&self.items, &typed),
        };
        let exact = whole.filter(|_| takes || others.is_empty());
        let others = others.into_iter().filter(|place| Some(*place) != exact);
        self.found = exact.into_iter().chain(others).collect();
        let is_new = !typed.is_empty() && self.items.iter().all(|item| item.name != typed);
        if self.line.purpose == PromptPurpose::Label && is_new {
            let target = PickTarget::Label(typed.clone());
            self.items.push(PickItem { name: typed, detail: NEW_LABEL.to_owned(), target });
            self.found.push(self.items.len().saturating_sub(1));
        }
        self.list = ScrollList::default();
    }
}

/// Returns the indexes of the items that match the typed text, best match first. A command also matches by its description and by
/// names that other programs use for it. Such matches rank lower than matches of a whole part of its name.
pub(in crate::ui) fn rank(items: &[PickItem], typed: &str) -> Vec<usize> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let mut letters = Vec::new();
    let mut scored: Vec<((u32, u32), usize)> = (0..)
        .zip(items)
        .filter_map(|(place, item)| {
            let score = pattern.score(Utf32Str::new(&item.name, &mut letters), &mut matcher);
            let by_name = score.map(|score| score.saturating_add(1));
            // Fuzzy matches in a long description are meaningless, so every typed word must occur literally in the description.
            let is_command = matches!(item.target, PickTarget::Command(_));
            let help = item.detail.to_lowercase();
            let is_called =
                |word: &String| synonyms(&item.name).any(|other| other.starts_with(word));
            let by_help =
                is_command && words.iter().all(|word| help.contains(word) || is_called(word));
            // Scattered letters of a name are weaker evidence than the beginning of a synonym.
            let nearness = match typed.len() {
                _ if item.name.to_lowercase() == typed.trim().to_lowercase() => 3,
                3.. if is_command && item.name.contains(typed) => 2,
                3.. if by_help && words.iter().any(is_called) => 1,
                _ => 0,
            };
            Some(((nearness, by_name.max(by_help.then_some(1))?), place))
        })
        .collect();
    scored.sort_by_key(|&(score, place)| (std::cmp::Reverse(score), place));
    scored.into_iter().map(|(_, place)| place).collect()
}

/// The state of the plan pane.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPane {
    /// The feed whose plan is shown.
    pub feed: FeedKey,
    /// Index of the first visible line.
    pub top: usize,
    /// `true` if times are in UTC instead of the user's zone.
    pub utc: bool,
    /// `true` if all steps that led to the plan are shown, with times to the second.
    pub unfolded: bool,
    /// Hours that the user is marking for an interval rule. `None` if no hours are being marked.
    pub outline: Option<HourSelection>,
    /// Contents of the page that is shown.
    pub page: PlanPage,
    /// Publication times of the feed. `None` while they are being read from the store.
    pub publications: Option<Arc<Publications>>,
    /// Plan that was learned from the publication times of the feed, even if it does not determine the polls.
    pub learned: Option<Arc<LearnedPlan>>,
    /// Explanation of the position of the feed's entries in a list ordered by how rarely feeds publish. `None` in other lists.
    pub ranked: Option<String>,
    /// Last polls of the feed, newest first. `None` while they are being read from the store.
    pub polls: Option<Vec<PollLogEntry>>,
}

/// The contents of the plan pane for a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPage {
    /// Sentence that describes the next poll, its reason, and how to poll now.
    pub sentence: String,
    /// The plan of the feed, with the steps that led to it.
    pub plan: Plan,
    /// Reason that delays the polls of the feed regardless of the plan. `None` if nothing delays them.
    pub held_up: Option<String>,
    /// What would change at each pace that the user can choose.
    pub paces: Vec<PaceEffect>,
    /// What the user can do about the plan.
    pub advice: Vec<Advice>,
    /// Restrictions on polling that still apply.
    pub floors: Vec<Restriction>,
    /// The hours and days in which the publisher requests no polls, in words, and whether the plan respects them.
    pub skips: Option<String>,
    /// The interval rules of the feed, in the order in which they were defined.
    pub rules: Vec<RuleRow>,
    /// Publication rhythm of the feed. `None` while the publication times are being read from the store.
    pub rhythm: Option<RhythmPicture>,
    /// Chart of the intervals in the current week. `None` if all hours have the same interval.
    pub week: Option<WeekPicture>,
    /// Inputs that the page was built from. If they change, the page is rebuilt.
    pub(in crate::ui) made_from: MadeFrom,
}

/// The inputs that a page of the plan pane is built from.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct MadeFrom {
    pub(in crate::ui) facts: Facts,
    pub(in crate::ui) minute: i64,
    pub(in crate::ui) zone: Tz,
    pub(in crate::ui) held_up: Option<String>,
    pub(in crate::ui) known: KnownPublications,
}

/// The known publication times of a feed, and the plan learned from them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KnownPublications {
    pub(crate) publications: Option<Arc<Publications>>,
    pub(crate) learned: Option<Arc<LearnedPlan>>,
}

/// What would change if the user chose a pace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaceEffect {
    /// The pace that the user can choose.
    pub pace: Pace,
    /// `true` if this is the current pace of the feed.
    pub in_force: bool,
    /// Resulting interval and next poll, or the reason why this pace changes nothing. Empty if [`PlanPage::sentence`] already
    /// states the interval.
    pub words: String,
}

/// One interval rule of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// Interval between polls in seconds.
    pub interval_seconds: i64,
    /// Hours and days when the rule applies, in words.
    pub when: String,
    /// `true` if the rule applies now.
    pub in_force: bool,
}

/// The intervals in the hours of the current week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeekPicture {
    /// The 168 hours of the week. The first is Monday 00:00 in the displayed time zone.
    pub hours: Vec<WeekHour>,
    /// Index of the current hour.
    pub now: Option<usize>,
    /// All distinct intervals in seconds, shortest first.
    pub intervals: Vec<u32>,
}

/// One hour of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeekHour {
    /// Interval that applies at the start of the hour, in seconds.
    pub interval_seconds: u32,
    /// `true` if the publisher requests no polls in this hour.
    pub skipped: bool,
}

/// Advice about something that the user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Name of the command that performs the action. Empty if none does.
    pub command: &'static str,
    /// Description of what the action does.
    pub text: String,
    /// Time from which the action is possible. `None` means that it is possible now.
    pub from: Option<DateTime<Utc>>,
}

impl Advice {
    pub(in crate::ui) fn now(command: &'static str, text: impl Into<String>) -> Self {
        Self { command, text: text.into(), from: None }
    }
}

/// Number of shades for the hours of a week, not counting shade 0, which means that almost no publications are expected.
pub const SHADES: u8 = 4;

/// The publication rhythm of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct RhythmPicture {
    /// Number of publications with known times.
    pub publications: usize,
    /// A sentence that explains why nothing is known if there are no publications.
    pub unknown: &'static str,
    /// Summary of the learned rhythm as one sentence without the full stop. `None` if no rhythm was learned.
    pub sentence: Option<String>,
    /// Reason why the learned rhythm does not determine the polls. `None` if it does.
    pub not_followed: Option<&'static str>,
    /// Times of the coming polls, earliest first.
    pub coming: Vec<DateTime<Utc>>,
    /// The 168 hours of the week. The first is Monday 00:00 in the displayed time zone.
    pub hours: Vec<RhythmHour>,
    /// `true` if the shades show expected publications. `false` if they show observed publications.
    pub foretold: bool,
    /// Number of publications expected in the busiest hour of the week or, without a learned plan, observed in it.
    pub busiest: f64,
    /// Index of the current hour.
    pub now: usize,
}

/// One hour of the week in the publication rhythm.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RhythmHour {
    /// Number of publications observed in this hour.
    pub published: u32,
    /// Number of publications expected in this hour each week or, without a learned plan, the number observed.
    pub expected: f64,
    /// Shade of the hour, from 0 (almost nothing expected) to [`SHADES`] (the maximum).
    pub shade: u8,
    /// `true` if the feed is polled in this hour within the next week.
    pub polled: bool,
}

/// Hours of the week that the user is marking for an interval rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourSelection {
    /// Position of the cursor: the day (0 is Monday) and the hour.
    pub cursor: (u8, u8),
    /// Day and hour of the corner where the marking started. `None` if it has not started yet.
    pub corner: Option<(u8, u8)>,
}

impl HourSelection {
    /// Returns the first and last marked day, and the first and last marked hour.
    pub fn bounds(&self) -> ((u8, u8), (u8, u8)) {
        let (day, hour) = self.cursor;
        let (from_day, from_hour) = self.corner.unwrap_or(self.cursor);
        ((day.min(from_day), day.max(from_day)), (hour.min(from_hour), hour.max(from_hour)))
    }

    /// Checks whether an hour of the week is marked.
    pub fn contains(&self, hour: usize) -> bool {
        let ((first_day, last_day), (first_hour, last_hour)) = self.bounds();
        let (day, hour) = (hour / 24, hour % 24);
        (usize::from(first_day)..=usize::from(last_day)).contains(&day)
            && (usize::from(first_hour)..=usize::from(last_hour)).contains(&hour)
    }

    pub(in crate::ui) fn step(&mut self, days: i8, hours: i8) {
        let (day, hour) = self.cursor;
        let moved = |at: u8, by: i8, count: i8| {
            let at = i8::try_from(at).unwrap_or(0).saturating_add(by).rem_euclid(count);
            u8::try_from(at).unwrap_or(0)
        };
        self.cursor = (moved(day, days, 7), moved(hour, hours, 24));
    }
}
