//! Tests of the division of a history into documents.

use chrono::{DateTime, TimeDelta, Utc};

use super::plan::{HistoryOutline, Outline, *};

fn day(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).unwrap() + TimeDelta::days(number)
}

/// Returns a history with one entry on each of these days since 1 January 2026.
fn history(
    days: impl IntoIterator<Item = i64>,
    gaps: &[i64],
    has_beginning: bool,
) -> HistoryOutline {
    let entry = |number: i64| Outline {
        key: u32::try_from(number).unwrap(),
        listed: day(number),
        bytes: 1_000,
        changed: None,
        polled: Some(day(number)),
        is_deleted: false,
    };
    let gaps = gaps.iter().map(|number| day(*number)).collect();
    HistoryOutline { entries: days.into_iter().map(entry).collect(), gaps, has_beginning }
}

/// Describes documents: name, number of entries, and the names to which they link; a missing one is in parentheses.
fn told(plans: &[DocumentPlan]) -> Vec<String> {
    let link = |link: &Option<PlannedLink>| match link {
        None => "-".to_owned(),
        Some(link) if link.is_missing => format!("({})", link.name),
        Some(link) => link.name.clone(),
    };
    let plan = |plan: &DocumentPlan| {
        format!(
            "{} {} < {} > {}",
            plan.name,
            plan.entries.len(),
            link(&plan.prev),
            link(&plan.next)
        )
    };
    plans.iter().map(plan).collect()
}

#[test]
fn months_that_are_over_are_archives() {
    let plans = DocumentPlan::all(&history(0..75, &[], true), ArchiveSize::Month, day(75));
    assert_eq!(
        told(&plans),
        [
            "2026-01.atom 31 < - > 2026-02.atom",
            "2026-02.atom 28 < 2026-01.atom > -",
            "feed.atom 30 < 2026-02.atom > -",
        ]
    );
    let newest: Vec<u32> = (45..75).rev().collect();
    assert_eq!(plans.last().unwrap().entries, newest);
    // On the first day of a month, the former month can still get entries.
    let early = DocumentPlan::all(&history(0..59, &[], true), ArchiveSize::Month, day(59));
    assert_eq!(told(&early).len(), 2);
}

#[test]
fn months_with_few_entries_share_an_archive() {
    let plans = DocumentPlan::all(
        &history((0..52).map(|week| week * 7), &[], true),
        ArchiveSize::Month,
        day(370),
    );
    assert_eq!(
        told(&plans),
        [
            "2026-01.atom 18 < - > 2026-05.atom",
            "2026-05.atom 17 < 2026-01.atom > 2026-09.atom",
            "2026-09.atom 17 < 2026-05.atom > -",
            "feed.atom 30 < 2026-09.atom > -",
        ]
    );
}

#[test]
fn at_most_two_archives_are_repeated_as_a_whole() {
    let plans = DocumentPlan::all(&history(0..75, &[], true), ArchiveSize::Entries(5), day(75));
    assert_eq!(plans.last().unwrap().entries.len(), 15);
}

#[test]
fn full_archives_keep_their_entries_when_more_arrive() {
    let at = |count| {
        DocumentPlan::all(&history(0..count, &[], true), ArchiveSize::Entries(20), day(400))
    };
    let (before, after) = (at(119), at(161));
    assert_eq!((before.len(), after.len()), (6, 9));
    for (old, new) in before.iter().zip(&after).take(5) {
        assert_eq!((&old.name, &old.entries, &old.prev), (&new.name, &new.entries, &new.prev));
    }
    assert_eq!(before.last().unwrap().entries.len(), 30, "the usual number of newest entries");
}

#[test]
fn a_gap_lies_between_documents_that_state_it() {
    let plans = DocumentPlan::all(&history(0..75, &[40, 70], true), ArchiveSize::Month, day(75));
    assert_eq!(
        told(&plans),
        [
            "2026-01.atom 31 < - > 2026-02.atom",
            "2026-02.atom 9 < 2026-01.atom > (missing-20260210T000000Z.atom)",
            "2026-02-2.atom 19 < 2026-02.atom > 2026-03.atom",
            "2026-03.atom 11 < 2026-02-2.atom > (missing-20260312T000000Z.atom)",
            "feed.atom 5 < 2026-03.atom > -",
        ]
    );
}

#[test]
fn oldest_document_links_to_what_is_missing_before_it() {
    let with = |gaps: &[i64], has_beginning| {
        told(&DocumentPlan::all(&history(5..8, gaps, has_beginning), ArchiveSize::Month, day(9)))
    };
    assert_eq!(with(&[], true), ["feed.atom 3 < - > -"]);
    assert_eq!(with(&[], false), ["feed.atom 3 < (earlier.atom) > -"]);
    assert_eq!(with(&[5, 4], true), ["feed.atom 3 < (missing-20260105T000000Z.atom) > -"]);
    assert_eq!(with(&[8], false)[1], "feed.atom 0 < 2026-01.atom > -", "nothing newer is known");
    assert_eq!(
        told(&DocumentPlan::all(&history([], &[], false), ArchiveSize::Month, day(0))).len(),
        1
    );
}

#[test]
fn only_a_whole_history_in_one_document_is_complete() {
    let rank = |history: &HistoryOutline, size| {
        DocumentPlan::all(history, size, day(400)).last().unwrap().rank
    };
    let month = ArchiveSize::Month;
    assert_eq!(rank(&history(0..50, &[], true), month), DocumentRank::Complete);
    assert_eq!(rank(&history(0..51, &[], true), month), DocumentRank::Subscription);
    assert_eq!(rank(&history(0..60, &[], true), ArchiveSize::Entries(100)), DocumentRank::Complete);
    assert_eq!(rank(&history(0..9, &[], false), month), DocumentRank::Subscription);
    assert_eq!(rank(&history(0..9, &[3], true), month), DocumentRank::Subscription);
}

#[test]
fn late_changes_of_archived_entries_are_repeated_for_a_month() {
    let mut known = history(0..100, &[], true);
    known.entries[3].changed = Some(day(99));
    known.entries[5].changed = Some(day(50));
    known.entries[7].changed = Some(day(98));
    known.entries[7].is_deleted = true;
    let plans = DocumentPlan::all(&known, ArchiveSize::Month, day(100));
    let feed = plans.last().unwrap();
    assert_eq!((feed.entries[0], feed.entries.len()), (3, 31));
    assert_eq!(feed.deleted, [7]);
    assert_eq!((plans[0].entries.contains(&3), &plans[0].deleted), (true, &vec![7]));
}

#[test]
fn entries_that_arrive_after_their_archive_are_repeated() {
    let repeated = |late: &dyn Fn(&mut Outline)| {
        let mut known = history(0..100, &[], true);
        for entry in &mut known.entries[3..6] {
            late(entry);
        }
        let plans = DocumentPlan::all(&known, ArchiveSize::Month, day(100));
        let newest: Vec<u32> = (70..100).rev().collect();
        let entries = &plans.last().unwrap().entries;
        assert!(entries.ends_with(&newest), "{entries:?}");
        entries[..entries.len() - newest.len()].to_vec()
    };
    assert_eq!(repeated(&|late| late.polled = Some(day(90))), [5, 4, 3]);
    assert_eq!(repeated(&|early| early.polled = Some(day(31))), [0; 0], "the archive was open");
    assert_eq!(repeated(&|old| old.polled = Some(day(60))), [0; 0], "more than 30 days ago");
    assert_eq!(repeated(&|walked| walked.polled = None), [0; 0], "from an archive");
    let large = |late: &mut Outline| (late.polled, late.bytes) = (Some(day(90)), 60_000);
    assert_eq!(repeated(&large), [5, 4], "at most 128 KiB");
}

#[test]
fn changed_entries_of_the_window_leave_room_for_older_ones() {
    let mut known = history(0..100, &[], true);
    for entry in &mut known.entries[70..75] {
        (entry.changed, entry.bytes) = (Some(day(99)), 60_000);
    }
    known.entries[4].polled = Some(day(90));
    let plans = DocumentPlan::all(&known, ArchiveSize::Entries(10), day(100));
    assert!(plans.last().unwrap().entries.contains(&4), "{:?}", plans.last().unwrap().entries);
}

#[test]
fn only_the_latest_of_many_late_entries_are_repeated() {
    let mut known = history(0..400, &[], true);
    for (number, entry) in (0..).zip(&mut known.entries[..300]) {
        entry.polled = Some(day(380) + TimeDelta::minutes(number));
    }
    let plans = DocumentPlan::all(&known, ArchiveSize::Month, day(400));
    let entries = &plans.last().unwrap().entries;
    assert_eq!((entries[0], entries[99], entries[100]), (299, 200, 399));
}

#[test]
fn late_entries_never_complete_three_archives_in_a_row() {
    let with = |late: &[usize]| {
        let mut known = history(0..75, &[], true);
        for place in late {
            known.entries[*place].polled = Some(day(74) + TimeDelta::hours(1));
        }
        let plans = DocumentPlan::all(&known, ArchiveSize::Entries(2), day(75));
        plans.last().unwrap().entries.clone()
    };
    assert_eq!(with(&[]), [74, 73, 72, 71, 70], "two archives and the newest entry");
    assert_eq!(with(&[68]), [68, 74, 73, 72, 71, 70], "half of the third archive");
    assert_eq!(with(&[68, 69]), [69, 68, 74, 73, 72, 71], "half of the second archive instead");
    let six = [60, 61, 62, 63, 64, 65];
    assert_eq!(with(&six), [65, 64, 63, 62, 61, 74, 73, 72, 71, 70], "one is left out");
}

#[test]
fn archives_end_by_size_but_never_between_equal_dates() {
    let mut known = history(0..60, &[], true);
    for entry in &mut known.entries {
        entry.bytes = 200_000;
    }
    let sizes = |known: &HistoryOutline, size| -> Vec<usize> {
        let plans = DocumentPlan::all(known, size, day(400));
        plans.iter().map(|plan| plan.entries.len()).take(3).collect()
    };
    assert_eq!(sizes(&known, ArchiveSize::Entries(50)), [2, 2, 2]);
    for entry in &mut known.entries[1..5] {
        (entry.listed, entry.bytes) = (day(1), 1_000);
    }
    assert_eq!(sizes(&known, ArchiveSize::Entries(2)), [1, 4, 2]);
}
