//! Browsing a long history: jumping to a date, and reading a feed from the beginning, oldest entry first.

use chrono::{DateTime, Months, NaiveDate, Utc};
use chrono_tz::Tz;

use super::entry_list::rows_around;
use super::load_rows;
use crate::engine::change::MarkChange;
use crate::engine::entries::rows::{RowOrder, RowsWanted, Seek, SeekTarget};
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::state::feeds_pane::{FeedsRow, PlaceList};
use crate::ui::state::layout::Pane;
use backissue_core::feed::dates::calendar::day_start;
use backissue_core::history::{EntryKey, Flag};

/// Jumps to the entries of a typed year, month or day in the open list.
pub fn go_to(cx: &mut Cx<'_>, typed: &str) {
    let Some((from, until)) = read_stretch(typed, cx.app.engine.zone) else {
        let text = format!("'{}' is not a date: type 2014, 2014-03 or 2014-03-09", typed.trim());
        return cx.complain(text);
    };
    if !cx.app.ui.list.order.is_by_date() {
        let text = if cx.app.ui.search.is_some() {
            "results are sorted by relevance, not by date: add after:2014 or before:2014-03 to the search"
        } else {
            "this list is not sorted by date: {sort} sorts it"
        };
        return cx.say(text);
    }
    let list = &mut cx.app.ui.list;
    if list.total == 0 {
        return;
    }
    cx.app.ui.focus = Pane::Entries;
    // Select the newest row before the end of the period or, if the oldest entries come first, the first row of the period.
    let date = if list.order.is_oldest_first() { from } else { until };
    (list.waiting, list.is_due) = (true, true);
    let number = list.number;
    let rows = rows_around(cx.app.ui.viewport.entries_rows.into());
    cx.read_rows(RowsWanted { date: Some(date), ..RowsWanted::at(number, 0, rows) });
}

/// Returns the first and the last second of the typed year, month or day, in the user's time zone. Returns `None` if the text is
/// not a date.
fn read_stretch(typed: &str, zone: Tz) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let typed = typed.trim().trim_start_matches("goto").trim();
    let parts: Vec<&str> = typed.split('-').collect();
    let day = |text: &str| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let (first, next) = match parts.as_slice() {
        [_] => {
            let first = day(&format!("{typed}-01-01"))?;
            (first, first.checked_add_months(Months::new(12))?)
        }
        [_, _] => {
            let first = day(&format!("{typed}-01"))?;
            (first, first.checked_add_months(Months::new(1))?)
        }
        [_, _, _] => (day(typed)?, day(typed)?.succ_opt()?),
        _ => return None,
    };
    let start = |day: NaiveDate| day_start(day, zone);
    Some((start(first), start(next).checked_sub_signed(chrono::TimeDelta::seconds(1))?))
}

/// Shows the selected feed from the beginning and selects the first unopened entry, or switches back to newest first.
pub fn turn_round(cx: &mut Cx<'_>) {
    let Some(FeedsRow::Feed(..)) = cx.app.ui.feeds.selected_row() else {
        return cx.say("select a feed first: {from-beginning} reads it from the beginning");
    };
    let oldest_first = cx.app.ui.list.order != RowOrder::FromBeginning;
    cx.app.ui.focus = Pane::Entries;
    let order = if oldest_first { RowOrder::FromBeginning } else { cx.app.ui.chosen_order() };
    cx.say(order_words(order));
    let begun = cx.out.len();
    load_rows::open_list(cx);
    if !oldest_first {
        return;
    }
    cx.app.ui.list.order = RowOrder::FromBeginning;
    let query = load_rows::build_query(cx.app, cx.now);
    cx.app.ui.list.gaps.clone_from(&query.gaps);
    // The query of the reopened list is not needed.
    cx.out.truncate(begun);
    let rows = rows_around(cx.app.ui.viewport.entries_rows.into());
    cx.read_rows(RowsWanted {
        rebuild: Some(query),
        seek: Some(Seek { from: 0, down: true, what: SeekTarget::Unopened }),
        asked: Some(0),
        ..RowsWanted::at(cx.app.ui.list.number, 0, rows)
    });
}

/// Sorts the entries of the open list in the next order, which is remembered for this list.
pub fn sort_entries(cx: &mut Cx<'_>) {
    let several = !cx.app.ui.is_list_of_one_feed();
    let order = match cx.app.ui.list.order {
        RowOrder::NewestFirst => RowOrder::OldestFirst,
        RowOrder::OldestFirst => RowOrder::ByTitle,
        RowOrder::ByTitle if several => RowOrder::ByFeed,
        RowOrder::ByTitle | RowOrder::ByFeed => RowOrder::ByReceived,
        RowOrder::ByReceived if several => RowOrder::RareFirst,
        RowOrder::ByReceived
        | RowOrder::RareFirst
        | RowOrder::FromBeginning
        | RowOrder::BestFirst => RowOrder::NewestFirst,
    };
    cx.say(format!("entries: {}", order_words(order)));
    if cx.app.ui.search.is_some() {
        (cx.app.ui.list.order, cx.app.ui.list.is_due) = (order, true);
        return load_rows::refresh_list(cx);
    }
    let list = cx.app.ui.feeds.selected_row().map(PlaceList::of).unwrap_or_default();
    cx.app.ui.orders.retain(|(other, _)| *other != list);
    if order != cx.app.ui.usual_order(&list) {
        cx.app.ui.orders.push((list, order));
    }
    load_rows::reopen_list(cx);
}

const fn order_words(order: RowOrder) -> &'static str {
    match order {
        RowOrder::NewestFirst => "newest first",
        RowOrder::OldestFirst => "oldest first",
        RowOrder::ByTitle => "by title",
        RowOrder::ByFeed => "by feed",
        RowOrder::ByReceived => "by arrival, latest first",
        RowOrder::RareFirst => "by how rarely their feeds publish",
        RowOrder::FromBeginning => "from the beginning, oldest first",
        RowOrder::BestFirst => "best match first",
    }
}

/// Counts an entry as read because it was opened while its feed is read from the beginning. Entries from the feed's history, which
/// start out as read, are counted too.
pub fn mark_opened(cx: &mut Cx<'_>, key: EntryKey) {
    cx.app.ui.list.opened = cx.app.ui.list.opened.saturating_add(1);
    cx.ask(Request::Mark(MarkChange { keys: vec![key], flag: Flag::Opened, value: true }));
}

/// Formats the progress while a feed is read from the beginning, such as `312 of 1,204 read`. Returns `None` in other lists.
pub fn describe_progress(app: &App) -> Option<String> {
    let list = &app.ui.list;
    let total = list.total.saturating_sub(list.gaps.len());
    (list.order == RowOrder::FromBeginning)
        .then(|| format!("{} of {} read", group_thousands(list.opened), group_thousands(total)))
}

/// Formats a number with commas as thousands separators.
fn group_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::browsing::*;

    #[test]
    fn years_months_and_days_are_parsed() {
        for (typed, from, until) in [
            ("2014", "2014-01-01T00:00:00Z", "2014-12-31T23:59:59Z"),
            (" goto 2014-03 ", "2014-03-01T00:00:00Z", "2014-03-31T23:59:59Z"),
            ("2014-03-09", "2014-03-09T00:00:00Z", "2014-03-09T23:59:59Z"),
        ] {
            let expected: [DateTime<Utc>; 2] = [from, until].map(|text| text.parse().unwrap());
            let (from, until) = read_stretch(typed, Tz::UTC).unwrap();
            assert_eq!([from, until], expected, "{typed}");
        }
        for typed in ["", "March", "2014-13", "2014-02-30", "1-2-3-4"] {
            assert_eq!(read_stretch(typed, Tz::UTC), None, "{typed}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1204, "1,204"), (1_000_000, "1,000,000")] {
            assert_eq!(group_thousands(number), text);
        }
    }
}
