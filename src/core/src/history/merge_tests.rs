//! Tests for merging documents: new entries, edits, copies, unchanged flags.

use super::*;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
}

fn entry(id: &str, title: &str, updated: Option<i64>) -> Entry {
    Entry {
        id: id.into(),
        title: Some(title.into()),
        updated: updated.map(at),
        content: Some(format!("<p>{title}</p>")),
        ..Entry::default()
    }
}

fn document(entries: Vec<Entry>) -> FeedDocument {
    FeedDocument { entries, ..FeedDocument::default() }
}

fn polled(seconds: i64) -> DocumentPlace {
    DocumentPlace { position: Position::Subscription, fetched_at: at(seconds) }
}

/// Returns what the store would contain after `merged` was written.
fn known(merged: &Merged) -> Known {
    let mut known = Known::new();
    for (&seq, entry) in &merged.entries {
        let found = KnownEntry { seq, row: entry.row, kept: entry.kept.clone() };
        known.entry(entry.row.identity).or_default().push(found);
    }
    known
}

#[test]
fn row_hash_covers_what_is_kept_with_the_text() {
    let stated = |title: &str, updated: i64| Entry {
        link: Some("https://a.example/1?utm_source=feed".into()),
        author: Some("N. N.".into()),
        summary: Some("short".into()),
        categories: vec!["b".into(), "a".into()],
        enclosures: vec![crate::feed::Enclosure {
            url: "https://a.example/1.mp3".into(),
            ..Default::default()
        }],
        ..entry("a", title, Some(updated))
    };
    let first =
        merge(&document(vec![stated("A", 0)]), polled(0), &Known::new(), Counters::default());
    let changed = document(vec![stated("B", 9)]);
    let second = merge(&changed, polled(9), &known(&first), first.counters);
    for MergedEntry { row, kept, body, .. } in [&first, &second].map(|merged| &merged.entries[&0]) {
        let body = body.clone().unwrap();
        assert_eq!(kept_content_hash(kept, body.clone()), row.content);
        let other = EntryBody { content: Some("<p>C</p>".into()), ..body };
        assert_ne!(kept_content_hash(kept, other), row.content);
    }
    assert_ne!(first.entries[&0].row.content, second.entries[&0].row.content);
}

#[test]
fn entries_never_seen_are_new_and_unread() {
    let merged = merge(
        &document(vec![entry("a", "A", None), entry("b", "B", None)]),
        polled(0),
        &Known::new(),
        Counters::default(),
    );
    assert_eq!((merged.new, merged.edited), (2, 0));
    assert_eq!(
        merged.counters,
        Counters { unread: 2, total: 2, starred: 0, next_seq: 2, ..Counters::default() }
    );
}

#[test]
fn the_same_document_again_adds_and_edits_nothing() {
    let first = merge(
        &document(vec![entry("a", "A", None)]),
        polled(0),
        &Known::new(),
        Counters::default(),
    );
    let again =
        merge(&document(vec![entry("a", "A", None)]), polled(60), &known(&first), first.counters);
    assert_eq!((again.new, again.edited), (0, 0));
    assert_eq!(again.counters, first.counters);
    assert!(again.entries.values().all(|entry| entry.body.is_none()));
}

#[test]
fn changed_title_edits_the_entry_and_keeps_its_marks() {
    let mut first = merge(
        &document(vec![entry("a", "A", None)]),
        polled(0),
        &Known::new(),
        Counters::default(),
    );
    first.entries.get_mut(&0).unwrap().row.flags = Flags(3);
    let again =
        merge(&document(vec![entry("a", "B", None)]), polled(60), &known(&first), first.counters);
    assert_eq!((again.new, again.edited), (0, 1));
    let edited = &again.entries[&0];
    assert_eq!((edited.kept.title.as_deref(), edited.kept.first_seen), (Some("B"), at(0)));
    assert_eq!(edited.row.flags, Flags(3));
}

#[test]
fn older_copy_never_replaces_a_newer_one() {
    let first = merge(
        &document(vec![entry("a", "new", Some(50))]),
        polled(60),
        &Known::new(),
        Counters::default(),
    );
    let again = merge(
        &document(vec![entry("a", "old", Some(10))]),
        polled(120),
        &known(&first),
        first.counters,
    );
    assert!(again.entries.is_empty());
}

#[test]
fn equal_hashes_of_different_ids_do_not_merge_entries() {
    let first = merge(
        &document(vec![entry("a", "A", None)]),
        polled(0),
        &Known::new(),
        Counters::default(),
    );
    let mut colliding = known(&first).into_values().next().unwrap();
    colliding[0].kept.id = "other".into();
    let known = Known::from([(identity_hash("a"), colliding)]);
    let again = merge(&document(vec![entry("a", "A", None)]), polled(60), &known, first.counters);
    assert_eq!(again.new, 1);
    assert!(again.entries.contains_key(&1));
}

#[test]
fn later_update_wins_among_copies_in_one_document() {
    let twice = document(vec![
        entry("a", "one", Some(1)),
        entry("a", "two", Some(2)),
        entry("a", "three", Some(2)),
    ]);
    let merged = merge(&twice, polled(10), &Known::new(), Counters::default());
    assert_eq!(merged.entries[&0].kept.title.as_deref(), Some("two"));
    assert_eq!(merged.new, 1);
}

#[test]
fn an_entry_known_by_the_sha256_of_its_id_is_the_same() {
    // Title, link and date differ, so only the ids connect them.
    let polled_entry = entry("urn:a", "A", Some(5));
    let served = entry(&hashed_identity("urn:a"), "Other", None);
    let page = DocumentPlace { position: Position::Page, fetched_at: at(1) };
    for (first, first_place, second, second_place) in
        [(&polled_entry, polled(0), &served, page), (&served, page, &polled_entry, polled(2))]
    {
        let before =
            merge(&document(vec![first.clone()]), first_place, &Known::new(), Counters::default());
        let both = document(vec![entry("urn:b", "B", None), second.clone()]);
        let after = merge(&both, second_place, &known(&before), before.counters);
        assert_eq!(after.new, 1, "only b is new: {second:?}");
        let kept = after.entries.get(&0).map(|entry| entry.kept.id.as_str());
        assert_eq!(kept.unwrap_or("urn:a"), "urn:a", "the id of the publisher wins");
        assert!(!has_renamed(&both, &Merging::at(second_place), &known(&before)));
    }
}
