//! Tests of the open entry list and its rows in memory.

use chrono::DateTime;
use chrono_tz::Tz;

use super::entry_list::{Headings, Listing, RowShape};
use crate::engine::entries::rows::{ROWS_AT_ONCE_MAX, Row, RowKey, RowsLoaded, RowsWanted};
use backissue_core::history::{EntryKey, FeedKey, Flags};

/// Lists with day headings and one line for each entry.
const DAYS: RowShape = RowShape { headings: Headings::Days, lines: 1 };

fn row(seq: u32, day: i64) -> Row {
    let key = RowKey::Entry(EntryKey { feed: FeedKey(1), seq });
    let listed = DateTime::from_timestamp(1_700_000_000 - day * 86_400, 0).unwrap();
    Row::bare(key, Flags::NEW, listed, "")
}

fn listing(rows: usize) -> Listing {
    let rows: Vec<Row> =
        (0..rows).map(|n| row(u32::try_from(n).unwrap(), i64::try_from(n / 3).unwrap())).collect();
    Listing { total: rows.len(), rows, ..Listing::default() }
}

#[test]
fn selection_stays_visible_with_day_headings_counted() {
    let mut list = listing(30);
    list.selected = 8;
    list.keep_in_sight(6, DAYS, Tz::UTC);
    // Rows 5 to 8 take four lines, and the headings of two days take the other two lines.
    assert_eq!(list.top, 5);
    list.selected = 2;
    list.keep_in_sight(6, DAYS, Tz::UTC);
    assert_eq!(list.top, 2);
    list.selected = 8;
    list.keep_in_sight(6, RowShape { headings: Headings::None, lines: 2 }, Tz::UTC);
    assert_eq!(list.top, 6, "three rows of two lines");
}

#[test]
fn visible_rows_load_first_and_others_before_the_edge() {
    let all = listing(1000).rows;
    let mut list = Listing { total: 1000, ..Listing::default() };
    (list.selected, list.top) = (500, 480);
    let mut asked = Vec::new();
    while let Some(wanted) = list.wanted(40) {
        asked.push((wanted.offset, wanted.rows));
        list.offset = wanted.offset;
        list.rows = all.iter().skip(wanted.offset).take(wanted.rows).cloned().collect();
    }
    assert_eq!(asked, [(470, 50), (430, 130)]);
    list.selected = 510;
    assert_eq!(list.wanted(40).map(|wanted| (wanted.offset, wanted.rows)), Some((390, 210)));
    list.waiting = true;
    assert_eq!(list.wanted(40), None);
}

/// Fills the list with the rows that the store would return for a request.
fn answered(list: &mut Listing, all: &[Row], wanted: &RowsWanted) {
    let count = wanted.rows.min(ROWS_AT_ONCE_MAX);
    list.offset = wanted.offset.min(all.len().saturating_sub(count));
    list.rows = all.iter().skip(list.offset).take(count).cloned().collect();
}

#[test]
fn loading_ends_with_all_visible_rows_present() {
    let all = listing(3000).rows;
    for total in [1, 23, 24, 240, 241, 700, 3000] {
        let all = &all[..total];
        for height in [0, 1, 11, 50, 239, 240, 241, 300, 1500, 60_000] {
            let mut list = Listing { total, ..Listing::default() };
            for selected in [0, total / 3, total / 2, total - 1, 0] {
                list.selected = selected;
                list.keep_in_sight(height.max(1), DAYS, Tz::UTC);
                let mut asked = 0;
                while let Some(wanted) = list.wanted(height) {
                    answered(&mut list, all, &wanted);
                    asked += 1;
                    assert!(asked < 12, "{total} {height} {selected}");
                }
                let height = height.min(ROWS_AT_ONCE_MAX / 2);
                let top = list.top.max(selected.saturating_sub(height));
                let there = (top..total.min(top + height)).all(|place| list.row(place).is_some());
                assert!(there, "{total} {height} {selected}");
            }
        }
    }
}

#[test]
fn loaded_rows_are_not_requested_again_at_list_ends() {
    let mut list = listing(30);
    for selected in [0, 15, 29] {
        list.selected = selected;
        assert_eq!(list.wanted(40), None, "{selected}");
    }
}

#[test]
fn new_entries_above_do_not_move_the_screen() {
    let mut list = listing(20);
    (list.selected, list.top) = (6, 4);
    let rows = listing(25).rows;
    list.take(RowsLoaded {
        list: 0,
        total: 25,
        offset: 0,
        rows,
        found: Some(11),
        asked: Some(6),
        seek: false,
        dated: false,
        opened: None,
        sharing: 0,
    });
    assert_eq!((list.selected, list.top), (11, 9));
}

#[test]
fn a_list_that_shrank_keeps_a_valid_selection() {
    let mut list = listing(20);
    list.selected = 19;
    list.take(RowsLoaded {
        list: 0,
        total: 3,
        offset: 0,
        rows: listing(3).rows,
        found: None,
        asked: None,
        seek: false,
        dated: false,
        opened: None,
        sharing: 0,
    });
    assert_eq!(list.selected, 2);
}
