//! The subscriptions pane: smart lists first, then tags with their feeds, then feeds without a tag.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::attention;
use super::entry_list::ListQuery;
use super::entry_list::Scope;
use super::entry_list::Show;
use super::gap_rows;
use super::saved_searches;
use super::search_pane;
use super::tag_tree;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::model::Model;
use crate::history::FeedKey;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// Rows that move are ordered anew after this time at the soonest.
const RESORT_SECONDS: i64 = 2;

/// The subscriptions pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedsPane {
    /// Its rows, in order.
    pub rows: Vec<FeedsRow>,
    /// Place of the selected row.
    pub selected: usize,
    /// Place of the first row on the screen.
    pub top: usize,
    /// How the feeds are ordered.
    pub order: SortOrder,
    /// Plans or sums have changed since the rows were ordered.
    pub stale: bool,
    /// When they were ordered.
    pub ordered: Option<DateTime<Utc>>,
    /// Tags of which what stands below them is not shown.
    pub folded: BTreeSet<String>,
}

/// How the feeds are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortOrder {
    /// Under their tags, by title.
    #[default]
    Title,
    /// The most unread first.
    Unread,
    /// The next to be polled first.
    NextPoll,
}

/// One row of the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedsRow {
    /// All unread entries.
    AllUnread,
    /// Entries of today.
    Today,
    /// Starred entries.
    Starred,
    /// What is missing of all feeds.
    Gaps,
    /// Feeds in trouble.
    Attention,
    /// A saved search, by its number.
    Search(u32),
    /// A tag, with its feeds and those of the tags below it, each once.
    Tag(String, Vec<FeedKey>),
    /// A feed, so many steps below the top: as a part of its tag, one more than that.
    Feed(FeedKey, usize),
}

impl FeedsPane {
    /// The selected row.
    pub fn selected_row(&self) -> Option<&FeedsRow> {
        self.rows.get(self.selected)
    }

    /// Moves `top` so that the selected row is on a screen of `height` rows, and no row is left out for want of
    /// room that there is.
    pub fn keep_in_sight(&mut self, height: usize) {
        self.top = self.top.min(self.selected).min(self.rows.len().saturating_sub(height));
        if height > 0 && self.selected >= self.top.saturating_add(height) {
            self.top = self.selected.saturating_sub(height.saturating_sub(1));
        }
    }
}

/// Makes the rows anew; the selection stays on the row it was on.
pub fn rebuild(model: &mut Model) {
    use FeedsRow::{AllUnread, Attention, Gaps, Starred, Today};
    let selected = model.screen.feeds.selected_row().cloned();
    let mut rows = vec![AllUnread, Today, Starred, Gaps, Attention];
    rows.extend(model.searches.list.iter().map(|search| FeedsRow::Search(search.id)));
    match model.screen.feeds.order {
        SortOrder::Title => rows.extend(under_tags(model)),
        SortOrder::Unread => {
            let unread = |feed: &Subscription| std::cmp::Reverse(feed.counters.unread);
            rows.extend(flat(by_title(model), |key| model.feeds.get(key).map(unread)));
        }
        SortOrder::NextPoll => {
            // Those that are never polled come last.
            let next = |feed: &Subscription| feed.plan.next_poll;
            let never_last = |at: Option<DateTime<Utc>>| (at.is_none(), at);
            let key = |key: &FeedKey| never_last(model.feeds.get(key).and_then(next));
            rows.extend(flat(by_title(model), key));
        }
    }
    let pane = &mut model.screen.feeds;
    // A feed may stand under several tags: the nearest row of it is the one that was selected.
    let before = pane.selected;
    let place = selected.and_then(|row| {
        let places = rows.iter().enumerate().filter(|(_, other)| same(other, &row));
        places.map(|(place, _)| place).min_by_key(|place| place.abs_diff(before))
    });
    pane.rows = rows;
    pane.selected = place.unwrap_or_else(|| pane.selected.min(pane.rows.len().saturating_sub(1)));
    pane.stale = false;
}

fn by_title(model: &Model) -> Vec<FeedKey> {
    let mut by_title: Vec<FeedKey> = model.feeds.keys().copied().collect();
    by_title.sort_by_cached_key(|key| {
        let title = model.feeds.get(key).map(|feed| in_order(feed.record.shown_title()));
        (title, *key)
    });
    by_title
}

/// Feeds without their tags, in another order; of equals the first by title comes first.
fn flat<K: Ord>(mut feeds: Vec<FeedKey>, by: impl Fn(&FeedKey) -> K) -> Vec<FeedsRow> {
    feeds.sort_by_key(by);
    feeds.into_iter().map(|key| FeedsRow::Feed(key, 0)).collect()
}

/// The tree of tags with their feeds, then feeds without a tag.
fn under_tags(model: &Model) -> Vec<FeedsRow> {
    let titled = by_title(model);
    let mut rows = tag_tree::rows(model, &titled, &model.screen.feeds.folded);
    let tagless =
        |key: &&FeedKey| model.feeds.get(key).is_some_and(|feed| feed.record.tags.is_empty());
    rows.extend(titled.iter().filter(tagless).map(|key| FeedsRow::Feed(*key, 0)));
    rows
}

/// The next order: by title under tags, by unread, by next poll.
pub fn sort_next(model: &mut Model, now: DateTime<Utc>) {
    let (order, words) = match model.screen.feeds.order {
        SortOrder::Title => (SortOrder::Unread, "the most unread first"),
        SortOrder::Unread => (SortOrder::NextPoll, "the next to be polled first"),
        SortOrder::NextPoll => (SortOrder::Title, "by tag and title"),
    };
    model.screen.feeds.order = order;
    rebuild(model);
    model.screen.feeds.ordered = Some(now);
    let height = usize::from(model.screen.viewport.feeds_rows);
    model.screen.feeds.keep_in_sight(height);
    model.screen.say(now, format!("feeds: {words}"));
}

/// Orders by next poll anew when plans have changed, but not more often than a reader can follow; the selection
/// stays on its feed.
pub fn resort(model: &mut Model, now: DateTime<Utc>) {
    let pane = &model.screen.feeds;
    if !pane.stale || pane.order != SortOrder::NextPoll || !model.screen.is_on() {
        return;
    }
    let lately = pane.ordered.is_some_and(|at| {
        (0..RESORT_SECONDS).contains(&now.signed_duration_since(at).num_seconds())
    });
    if !lately {
        rebuild(model);
        model.screen.feeds.ordered = Some(now);
        let height = usize::from(model.screen.viewport.feeds_rows);
        model.screen.feeds.keep_in_sight(height);
    }
}

/// The feed that a key is about: that of the open plan or of the timetable's selection, else that of the selected
/// row of the Attention list, of the selected entry, or the selected feed.
pub fn selected_feed(model: &Model, now: DateTime<Utc>) -> Option<FeedKey> {
    match &model.screen.overlay {
        Some(Overlay::Plan(pane)) => return Some(pane.feed),
        Some(Overlay::Timetable(pane)) => return pane.feed,
        Some(
            Overlay::Help(_)
            | Overlay::Prompt(_)
            | Overlay::Choice(_)
            | Overlay::Palette(_)
            | Overlay::Edit(_)
            | Overlay::Mute(_)
            | Overlay::Rules(_),
        )
        | None => {}
    }
    if attention::is_open(model) {
        return attention::selected(model, now).map(|concern| concern.feed);
    }
    let row = model.screen.list.selected_row();
    match (model.screen.focus, row, model.screen.feeds.selected_row()) {
        (Pane::Entries | Pane::Reader, Some(row), _) => Some(row.key.feed()),
        (_, _, Some(FeedsRow::Feed(key, _))) => Some(*key),
        (
            _,
            _,
            Some(
                FeedsRow::AllUnread
                | FeedsRow::Today
                | FeedsRow::Starred
                | FeedsRow::Gaps
                | FeedsRow::Attention
                | FeedsRow::Search(_)
                | FeedsRow::Tag(..),
            )
            | None,
        ) => None,
    }
}

/// A title as people order it: without regard to case, numbers by their value.
fn in_order(title: &str) -> Vec<(u64, String)> {
    let mut parts: Vec<(u64, String)> = Vec::new();
    for char in title.to_lowercase().chars() {
        match (char.to_digit(10).map(u64::from), parts.last_mut()) {
            (Some(digit), Some((number, text))) if text.is_empty() => {
                *number = number.saturating_mul(10).saturating_add(digit);
            }
            (Some(digit), _) => parts.push((digit, String::new())),
            (None, Some((u64::MAX, text))) => text.push(char),
            (None, _) => parts.push((u64::MAX, char.into())),
        }
    }
    parts
}

/// Whether two rows stand for the same thing, though a tag may have other feeds now.
fn same(a: &FeedsRow, b: &FeedsRow) -> bool {
    match (a, b) {
        (FeedsRow::Tag(a, _), FeedsRow::Tag(b, _)) => a == b,
        (FeedsRow::Feed(a, _), FeedsRow::Feed(b, _)) => a == b,
        (a, b) => a == b,
    }
}

/// The entries that the selected row stands for.
pub fn query(model: &Model, now: DateTime<Utc>) -> ListQuery {
    let screen = &model.screen;
    if let Some(matching) = screen.search.as_ref().and_then(|search| search.matching.as_ref()) {
        return search_pane::query(model, matching, now);
    }
    let everything = |show, since| ListQuery {
        scope: Scope::Everything,
        show,
        since,
        keep: screen.list.keep.clone(),
        gaps: Vec::new(),
        order: screen.list.order,
    };
    let feeds = |feeds| ListQuery { scope: Scope::Feeds(feeds), ..everything(screen.show, None) };
    let query = match screen.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread) => everything(Show::Unread, None),
        Some(FeedsRow::Today) => everything(screen.show, Some(day_start(now, model.zone))),
        Some(FeedsRow::Starred) => everything(Show::Starred, None),
        Some(FeedsRow::Gaps) => {
            let keep = BTreeSet::new();
            let gaps = gap_rows::everywhere(model, now);
            return ListQuery { show: Show::All, keep, gaps, ..feeds(Vec::new()) };
        }
        Some(FeedsRow::Attention) => feeds(Vec::new()),
        Some(FeedsRow::Search(id)) => match saved_searches::matching(model, now, *id) {
            Some(matching) => ListQuery {
                scope: Scope::Found(Box::new(matching)),
                ..everything(screen.show, None)
            },
            None => feeds(Vec::new()),
        },
        Some(FeedsRow::Tag(_, keys)) => feeds(keys.clone()),
        Some(FeedsRow::Feed(key, _)) => feeds(vec![*key]),
    };
    ListQuery { gaps: gap_rows::in_query(model, &query, now), ..query }
}

/// Whether entries of a feed can be in the open list.
pub fn concerns(model: &Model, feed: FeedKey) -> bool {
    if model.screen.search.is_some() {
        // The index says itself when it holds more.
        return false;
    }
    match model.screen.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread | FeedsRow::Today | FeedsRow::Starred) => true,
        Some(FeedsRow::Gaps | FeedsRow::Attention | FeedsRow::Search(_)) => false,
        Some(FeedsRow::Tag(_, keys)) => keys.contains(&feed),
        Some(FeedsRow::Feed(key, _)) => *key == feed,
    }
}

/// Unread entries of a row.
pub fn unread(model: &Model, row: &FeedsRow) -> u32 {
    let of = |key: &FeedKey| model.feeds.get(key).map_or(0, |feed| feed.counters.unread);
    match row {
        FeedsRow::AllUnread => model.unread(),
        FeedsRow::Today => model.screen.today,
        FeedsRow::Starred => model.starred(),
        FeedsRow::Gaps | FeedsRow::Attention => 0,
        FeedsRow::Search(id) => model.searches.unread.get(id).copied().unwrap_or(0),
        FeedsRow::Tag(_, keys) => keys.iter().map(of).fold(0, u32::saturating_add),
        FeedsRow::Feed(key, _) => of(key),
    }
}

/// The first instant of today in the reader's zone. Where clocks go forward at midnight, the day begins with the
/// first time that exists.
pub fn day_start(now: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
    let midnight = now.with_timezone(&zone).date_naive().and_time(NaiveTime::MIN);
    let mut quarters = (0..=12)
        .filter_map(|quarter| midnight.checked_add_signed(TimeDelta::minutes(quarter * 15)));
    let first = quarters.find_map(|time| zone.from_local_datetime(&time).earliest());
    first.map_or(now, |local| local.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::feeds_pane::*;

    #[test]
    fn titles_stand_in_the_order_people_expect() {
        let mut titles = ["Feed 10", "feed 9", "Zebra", "alpha", "3 birds", "Feed", "20 birds"];
        titles.sort_by_cached_key(|title| in_order(title));
        assert_eq!(titles, ["3 birds", "20 birds", "alpha", "Feed", "feed 9", "Feed 10", "Zebra"]);
    }

    #[test]
    fn a_day_without_midnight_begins_with_its_first_time() {
        let noon = Utc.with_ymd_and_hms(2026, 4, 24, 10, 0, 0).unwrap();
        // Clocks in Cairo go from 00:00 to 01:00 on that day.
        assert_eq!(
            day_start(noon, Tz::Africa__Cairo),
            Utc.with_ymd_and_hms(2026, 4, 23, 22, 0, 0).unwrap()
        );
        assert_eq!(day_start(noon, Tz::UTC), Utc.with_ymd_and_hms(2026, 4, 24, 0, 0, 0).unwrap());
    }
}
