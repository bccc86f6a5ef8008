//! Tests of the evidence that entries with different ids are the same publication.

use super::*;

/// Link, title and stated second of an entry.
type Written = (&'static str, &'static str, i64);

/// Entries that are in both documents, first and last.
const TOP: Written = ("https://a.example/top", "Top", 8);
const OTHER: Written = ("https://a.example/other", "Other", 9);

fn signs((link, title, date): Written) -> Signs {
    let text = |text: &'static str| Some(text).filter(|text| !text.is_empty());
    let date = DateTime::from_timestamp(date, 0).filter(|_| date > 0);
    Signs::from_parts("urn:id", text(link), text(title), date)
}

fn find(before: &[Written], document: &[Written]) -> Same {
    let is_known = |written: &Written| [TOP, OTHER].contains(written);
    let ids = |written: &[Written], from: u64| -> Vec<u64> {
        let numbered = (from..).zip(written);
        let id = |(number, written)| {
            if is_known(written) { written.2.cast_unsigned() } else { number }
        };
        numbered.map(id).collect()
    };
    let former = before.iter().enumerate().filter(|(_, written)| !is_known(written));
    let former: Vec<Former> = former
        .map(|(at, w)| Former { signs: signs(*w), is_recent: true, place: Some(at) })
        .collect();
    let places = 0..document.len();
    let unknown = places.filter(|at| !is_known(&document[*at])).collect();
    let mut found = Same::new();
    let comparison = Comparison {
        document: &document.iter().map(|w| signs(*w)).collect::<Vec<_>>(),
        unknown: &unknown,
        former: &former,
        order: (&ids(document, 100), &ids(before, 1_000)),
        is_replaced: false,
        moves: false,
    };
    comparison.find_same(&mut found);
    found
}

/// Checks whether the first unknown entry of a document matches the first former entry.
fn check(reason: &str, before: &[Written], document: &[Written], expected: bool) {
    let found = find(before, document);
    let first = document.iter().position(|written| ![TOP, OTHER].contains(written));
    let same = first.and_then(|first| found.get(&first)).map(|(place, _)| *place);
    assert_eq!(same == Some(0), expected, "{reason}: {found:?}");
}

/// A second with a time of day, and one that may be midnight somewhere.
const TIME: i64 = 86_400 + 12_345;
const DAY: i64 = 86_400;

#[test]
fn evidence_table_rows_decide_as_stated() {
    let old = ("http://a.example/1", "One", TIME);
    check("link and title", &[old], &[("http://a.example/1", "One", 5), OTHER], true);
    check("kept twice", &[old, old], &[old, OTHER], false);
    check("title and time", &[old], &[("http://b.example/x", "One", TIME), OTHER], true);
    let of_a_day = ("http://a.example/1", "One", DAY);
    check("title and day", &[of_a_day], &[("http://b.example/x", "One", DAY), OTHER], false);
    check("title alone", &[old], &[("http://b.example/x", "One", 5), OTHER], false);
    check("https", &[old], &[("https://www.a.example/1/", "One", 0), OTHER], true);
    check("host", &[old], &[("https://b.example/1", "One", 0)], true);
    check(
        "another site beside it",
        &[old],
        &[("https://b.example/1", "One", 0), ("http://a.example/2", "Two", 0)],
        false,
    );
    check("edited", &[old], &[("http://a.example/1", "One, corrected", TIME), OTHER], true);
    check("the only entry", &[old], &[("http://a.example/1", "Two", 3)], false);
    check(
        "one link for all",
        &[old],
        &[("http://a.example/1", "Two", 3), ("http://a.example/1", "Three", 3)],
        false,
    );
    let root = ("https://a.example/", "One", TIME);
    check("the root of a site", &[root], &[("https://a.example/", "Two", 3), OTHER], false);
    check("nothing in common", &[old], &[("https://a.example/9", "Nine", 9)], false);
    check("without anything", &[("", "", 0)], &[("", "", 0)], false);
}

#[test]
fn shared_link_proves_nothing_without_equal_dates() {
    let show = |title, date| ("https://radio.example/show", title, date);
    let week = [show("Monday", TIME), show("Tuesday", TIME + DAY)];
    let (next, again) = ([show("Monday", 7 * DAY + 5), show("Tuesday", 8 * DAY + 5)], week);
    check("the next week", &week, &next, false);
    check("a session number in each id", &week, &again, true);
    check("undated", &[show("A", 0), show("B", 0)], &[show("A", 0), show("B", 0)], false);
    check("one of the next week", &week, &[next[0], OTHER], false);
    let home = ("https://a.example/", "One", 0);
    check("a home page", &[home], &[home, OTHER], false);
}

#[test]
fn place_between_known_entries_identifies_an_edited_entry() {
    let was = ("https://a.example/1", "One", TIME);
    let edited = |date| ("https://a.example/1", "One, corrected", date);
    check("in the middle", &[TOP, was, OTHER], &[TOP, edited(5), OTHER], true);
    check("where new entries appear", &[was, OTHER], &[edited(5), OTHER], false);
    check("there, without a date", &[was, OTHER], &[edited(0), OTHER], true);
    check("moved", &[was, TOP, OTHER], &[TOP, edited(5), OTHER], false);
}

#[test]
fn undated_entries_move_only_with_half_of_those_that_left() {
    let on = |host: &'static str, title| {
        let path = match (host, title) {
            ("old", "One") => "https://blog.example/1",
            ("old", "Two") => "https://blog.example/2",
            (_, "One") => "https://mail.blog.example/1",
            _ => "https://other.example/2",
        };
        (path, title, 0)
    };
    let (one, two) = (on("old", "One"), on("old", "Two"));
    check("one of two flips", &[one, two, OTHER], &[on("new", "One"), OTHER], true);
    let gone = [one, two, ("https://c.example/3", "Three", 0), OTHER];
    check("one of three", &gone, &[on("new", "One"), OTHER], false);
    check("a stranger", &[two, one, OTHER], &[on("new", "Two"), one, OTHER], false);
}

#[test]
fn attached_file_and_title_identify_an_episode() {
    let episode = |title, file: &str| {
        let file = Enclosure { url: file.into(), ..Enclosure::default() };
        signs(("", title, 0)).with_file(&[file])
    };
    let before = episode("Herons", "https://cdn.example/3.mp3?token=a");
    let former = [Former { signs: before, is_recent: true, place: Some(0) }];
    for (title, file, expected) in [
        ("Herons", "https://cdn.example/3.mp3?token=b", true),
        ("Herons", "https://cdn.example/4.mp3", false),
        ("Cranes", "https://cdn.example/3.mp3", false),
    ] {
        let mut found = Same::new();
        let comparison = Comparison {
            document: &[episode(title, file)],
            unknown: &BTreeSet::from([0]),
            former: &former,
            order: (&[1], &[2]),
            is_replaced: true,
            moves: false,
        };
        comparison.find_same(&mut found);
        assert_eq!(!found.is_empty(), expected, "{title} {file}");
    }
}

#[test]
fn entry_gone_from_recent_documents_needs_more_than_a_link() {
    let was = signs(("https://a.example/1", "One", 1));
    let former = [Former { signs: was, is_recent: false, place: None }];
    let comparison = Comparison {
        document: &[signs(("https://a.example/1", "Another year", 1)), signs(OTHER)],
        unknown: &BTreeSet::from([0, 1]),
        former: &former,
        order: (&[1, 2], &[]),
        is_replaced: false,
        moves: false,
    };
    let mut found = Same::new();
    comparison.find_same(&mut found);
    assert_eq!(found, Same::new());
}

#[test]
fn known_id_always_identifies_its_entry() {
    assert_eq!(find(&[OTHER], &[OTHER]), Same::new());
}
