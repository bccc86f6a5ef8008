//! A history that is published, subscribed to and walked is the same history, entry by entry (RFC 5005, SPEC H.11).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use backissue_core::feed::{FeedDocument, Origin, Tombstone, parse};
use backissue_core::history::record::CopyWalk;
use backissue_core::history::walk::copy::entries_only;
use backissue_core::history::{
    ArchiveFailure, Arrival, EntryBody, HistoryRecord, HistoryStatus, KeptEntry,
};
use backissue_core::lint::{Delivered, Headers, Level, Survey};
use backissue_core::publish::{
    ArchiveSize, DocumentPlan, DocumentRank, HistoryOutline, Outline, PublishedEntry,
    PublishedFeed, write_document,
};
use backissue_core::schedule::TimingHeaders;
use chrono::{DateTime, TimeDelta, Utc};

use super::published_press::{FEED, Press};
use super::{Answer, Reader, document};
use crate::feeds::corpus::tell;

/// The address of the folder with the copy.
const COPY: &str = "https://copy.example/press/";

/// Returns the documents that publish what a reader knows of its feed, by file name.
pub fn published(source: &Reader, size: ArchiveSize) -> Vec<(DocumentPlan, String)> {
    let mut history = HistoryOutline::of_record(&source.record);
    let known = source.rows.iter().zip(&source.kept).zip(&source.bodies);
    history.entries = (0_u32..)
        .zip(known)
        .filter_map(|(seq, ((row, kept), body))| Outline::of(seq, row, kept, Some(body)))
        .collect();
    let feed = PublishedFeed {
        id: "tag:press.example,2020:feed".into(),
        title: "روزنامه & Press".into(),
        language: Some("fa".into()),
        rights: Some("© Press".into()),
        source: Some(FEED.into()),
        base: COPY.into(),
        ..PublishedFeed::default()
    };
    let plans = DocumentPlan::all(&history, size, source.now);
    let written = plans.into_iter().map(|plan| {
        let kept = |seq: &u32| source.kept[*seq as usize].clone();
        let entries: Vec<PublishedEntry> = plan
            .entries
            .iter()
            .map(|seq| PublishedEntry::of(kept(seq), Some(source.bodies[*seq as usize].clone())))
            .collect();
        let deleted = plan.deleted.iter().map(kept);
        let tombstones: Vec<Tombstone> =
            deleted.map(|kept| Tombstone { id: kept.id, when: kept.deleted.unwrap() }).collect();
        let text = write_document(&feed, &plan, &entries, &tombstones);
        (plan, text)
    });
    written.collect()
}

/// Returns a reader of the copy, and lets it walk.
fn subscribe(now: DateTime<Utc>) -> Reader {
    let mut reader = Reader::of(&format!("{COPY}feed.atom"));
    reader.now = now;
    (reader.policy.run_documents, reader.policy.day_documents) = (10_000, 10_000);
    (reader.policy.run_entries, reader.policy.run_bytes) = (1_000_000, u64::MAX);
    reader.policy.barren_documents = 10_000;
    reader
}

fn poll(reader: &mut Reader, documents: &[(DocumentPlan, String)]) {
    let by_name: BTreeMap<String, &String> =
        documents.iter().map(|(plan, text)| (format!("{COPY}{}", plan.name), text)).collect();
    reader.poll(&mut |url: &str| match by_name.get(url) {
        Some(text) => document(url, text.as_bytes()),
        None => Answer::Status(404),
    });
}

/// Returns a reader of the feed that knows only what another reader's copy has.
fn read_copy(now: DateTime<Utc>, documents: &[(DocumentPlan, String)]) -> Reader {
    let mut reader = Reader { url: FEED.to_owned(), ..subscribe(now) };
    let policy = reader.policy;
    let mut copy = CopyWalk::new(&format!("{COPY}feed.atom"));
    while let Some(request) = copy.next(&policy, reader.now) {
        reader.now += TimeDelta::seconds(2);
        let name = request.url.strip_prefix(COPY).unwrap();
        let Some((_, text)) = documents.iter().find(|(plan, _)| plan.name == name) else {
            copy.failed(
                &ArchiveFailure::Status { status: 404, retry_after: None },
                &policy,
                reader.now,
            );
            continue;
        };
        let Answer::Document(url, mut document) = document(&request.url, text.as_bytes()) else {
            panic!("a document is served");
        };
        let names_feed = entries_only(&mut document, &reader.record);
        let (url, fetched_at, document) = (&*url, reader.now, &*document);
        let arrival = Arrival { url, public: true, fetched_at, wire_bytes: 1_000, document };
        let merging = copy.arrived(&reader.record, (&arrival, names_feed), &policy).unwrap();
        let before = reader.counters.next_seq;
        reader.merge(document, &merging);
        copy.merged(before..reader.counters.next_seq, &policy);
    }
    assert_eq!(copy.entries().len(), reader.rows.len());
    assert_eq!(reader.record, HistoryRecord::default(), "a copy proves nothing");
    reader
}

/// Everything of an entry that must not change.
#[derive(Debug, PartialEq)]
struct Seen {
    listed: DateTime<Utc>,
    kept: KeptEntry,
    body: EntryBody,
}

/// Returns all entries by ID. Atom needs a time of the last change, so a missing one is replaced as the documents do.
fn seen(reader: &Reader) -> BTreeMap<String, Seen> {
    let rows = reader.rows.iter().zip(&reader.kept).zip(&reader.bodies);
    let live = rows.filter(|((row, _), _)| row.flags.is_live());
    live.map(|((_, kept), body)| {
        let listed = kept.listed();
        // XML has no way to write this character.
        let text = |text: &Option<String>| text.as_ref().map(|text| text.replace('\u{fffe}', ""));
        let (summary, content) = (text(&body.summary), text(&body.content));
        let edited = body.previous.as_ref().map(|previous| previous.at);
        let body = EntryBody { summary, content, previous: None };
        let mut kept = kept.clone();
        // An entry without any date changed when it was listed, so that an edit does not move it.
        let edited = edited.filter(|_| kept.published.is_some());
        kept.updated = kept.updated.or(edited).or(Some(listed));
        kept.former = Vec::new();
        // A web address as the ID of an entry without a link is its link (SPEC G.57).
        let address = Some(kept.id.clone()).filter(|id| id.starts_with("http"));
        kept.link = kept.link.or(address);
        (kept.first_seen, kept.placed, kept.deleted) = (DateTime::UNIX_EPOCH, None, None);
        kept.rank = backissue_core::history::Rank::new(
            None,
            None,
            backissue_core::history::kept::Position::Page,
            DateTime::UNIX_EPOCH,
        );
        // A publication with two IDs has one of them, depending on which copy came last.
        kept.id = kept.id.replace("new", "old");
        (kept.id.clone(), Seen { listed, kept, body })
    })
    .collect()
}

/// Returns the dates of the list with the IDs of each date, and the places of gaps. Gaps without an entry between them are one.
fn list(reader: &Reader, ends_with_gap: bool) -> Vec<String> {
    let mut rows: BTreeMap<(std::cmp::Reverse<DateTime<Utc>>, u8), Vec<String>> = BTreeMap::new();
    for (row, kept) in reader.rows.iter().zip(&reader.kept) {
        if row.flags.is_live() {
            let names = rows.entry((std::cmp::Reverse(kept.listed()), 0)).or_default();
            names.push(kept.id.replace("new", "old"));
        }
    }
    for (_, gap) in reader.gaps() {
        rows.insert((std::cmp::Reverse(gap.listed()), 1), vec!["gap".into()]);
    }
    let mut list: Vec<String> = Vec::new();
    for ((date, _), mut names) in rows {
        names.sort();
        let row = if names == ["gap"] { "gap".to_owned() } else { format!("{} {names:?}", date.0) };
        if row != "gap" || list.last() != Some(&row) {
            list.push(row);
        }
    }
    if ends_with_gap && list.last().is_some_and(|last| last != "gap") {
        list.push("gap".into());
    }
    list
}

fn compare(source: &Reader, copy: &Reader, what: &str) {
    let (expected, found) = (seen(source), seen(copy));
    for (id, entry) in &expected {
        assert_eq!(found.get(id), Some(entry), "{what}: {id}");
    }
    let (ids, known) = (copy.ids(), source.ids());
    let more: Vec<&&str> = ids.iter().filter(|id| !known.contains(*id)).collect();
    assert_eq!(copy.ids().len(), source.ids().len(), "{what}: {more:?}");
}

/// Follows a publisher for a while, and publishes what is known in between and at the end.
fn republish(seed: u64) -> Vec<(DocumentPlan, String)> {
    let mut press = Press::new(seed);
    let size = match press.chance.below(3) {
        0 => ArchiveSize::Month,
        1 => ArchiveSize::Entries(1 + press.chance.below(12) as usize),
        _ => ArchiveSize::Entries(100),
    };
    let mut source = Reader::of(FEED);
    source.policy.run_documents = 10_000;
    source.policy.day_documents = 10_000;
    let mut faithful: Option<Reader> = None;
    let polls = 1 + press.chance.below(5);
    for _ in 0..polls {
        let count = press.chance.below(60) as usize;
        let now = press.publish(count);
        source.now = if faithful.is_some() { now.max(source.now) } else { now };
        source.poll(&mut |url: &str| press.answer(url));
        let documents = published(&source, size);
        let copy = faithful.get_or_insert_with(|| subscribe(now));
        copy.now = source.now;
        poll(copy, &documents);
        // An archive that answers later gives entries to the archives of the copy, which nobody requests again.
        if press.refused.is_empty() {
            compare(&source, copy, &format!("seed {seed}, a subscriber from the beginning"));
        }
    }
    let documents = published(&source, size);
    assert_eq!(documents, published(&source, size), "seed {seed}: the same bytes");
    let mut copy = subscribe(source.now);
    poll(&mut copy, &documents);
    compare(&source, &copy, &format!("seed {seed}"));
    compare(&source, &read_copy(source.now, &documents), &format!("seed {seed}, as a copy"));
    let has_beginning = HistoryOutline::of_record(&source.record).has_beginning;
    assert_eq!(list(&copy, false), list(&source, !has_beginning), "seed {seed}: gaps");
    let is_whole = documents.iter().all(|(plan, _)| {
        [&plan.prev, &plan.next].into_iter().flatten().all(|link| !link.is_missing)
    });
    let status = copy.record.status();
    let is_complete = matches!(status, HistoryStatus::Complete(_));
    assert_eq!(is_whole, is_complete, "seed {seed}: {status:?}");
    for deleted in source.kept.iter().zip(&source.rows).filter(|(_, row)| row.flags.is_deleted()) {
        assert!(!copy.ids().contains(&deleted.0.id.as_str()), "seed {seed}: {}", deleted.0.id);
    }
    for (plan, text) in &documents {
        assert_eq!(
            plan.rank == DocumentRank::Archive,
            text.contains("<fh:archive/>"),
            "seed {seed}"
        );
    }
    lint(&documents, source.now, seed);
    documents
}

/// Checks the documents as a publisher does. The press itself publishes entries without a title and a text.
fn lint(documents: &[(DocumentPlan, String)], now: DateTime<Utc>, seed: u64) {
    let delivered = |url: &str| {
        let name = url.strip_prefix(COPY)?.to_owned();
        documents.iter().find(|(plan, _)| plan.name == name).map(|(_, text)| text)
    };
    let times = TimingHeaders { cache_control: Some("max-age=600"), ..TimingHeaders::default() };
    let headers = Headers {
        content_type: Some("application/atom+xml"),
        etag: true,
        last_modified: true,
        times,
        link: None,
        im: None,
        vary: None,
    };
    let deliver = |url: &str, text: &str, survey: Option<&mut Survey>| {
        let delivered = Delivered {
            asked: url,
            answered: url,
            public: true,
            status: 200,
            hops: Vec::new(),
            headers,
            wire_bytes: 100,
            bytes: text.as_bytes(),
        };
        match survey {
            Some(survey) => {
                survey.arrived(&delivered, now);
                None
            }
            None => Some(Survey::begin(&delivered, now)),
        }
    };
    let feed = format!("{COPY}feed.atom");
    let mut survey = deliver(&feed, delivered(&feed).unwrap(), None).unwrap();
    while let Some(request) = survey.next(now) {
        match delivered(&request.url) {
            Some(text) => {
                deliver(&request.url, text, Some(&mut survey));
            }
            None => survey.failed(&ArchiveFailure::Status { status: 404, retry_after: None }, now),
        }
    }
    let findings = survey.into_report().findings;
    let wrong: Vec<_> = findings
        .iter()
        .filter(|finding| {
            finding.level != Level::Note && !finding.message.contains("neither title nor text")
        })
        .collect();
    assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}");
}

/// Validates documents with the grammar of RFC 4287. Returns `false` if there is no program for it.
fn are_valid(documents: &[Vec<(DocumentPlan, String)>]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (number, documents) in documents.iter().enumerate() {
        for (plan, text) in documents {
            let file = folder.path().join(format!("{number}-{}", plan.name));
            std::fs::write(&file, text).unwrap();
            files.push(file);
        }
    }
    for files in files.chunks(500) {
        let grammar = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/atom.rng");
        let run =
            Command::new("xmllint").args(["--noout", "--relaxng", grammar]).args(files).output();
        let Ok(output) = run else { return false };
        let report = String::from_utf8_lossy(&output.stderr);
        let wrong: Vec<&str> =
            report.lines().filter(|line| !line.ends_with(" validates")).take(5).collect();
        assert!(output.status.success(), "{wrong:#?}");
    }
    true
}

#[test]
fn published_and_walked_history_is_the_same_history() {
    let seeds = std::env::var("BACKISSUE_PUBLISHED").ok().and_then(|count| count.parse().ok());
    let last = seeds.unwrap_or(24);
    // In these histories entries arrive late.
    let late = [59, 290, 391].into_iter().filter(|seed| *seed > last);
    let documents: Vec<_> = (1..=last).chain(late).map(republish).collect();
    let count: usize = documents.iter().map(Vec::len).sum();
    assert!(count > documents.len(), "{count}");
    if !are_valid(&documents) {
        tell("skipped the grammar of RFC 4287: xmllint is not installed");
    }
}

/// Returns the documents below a folder that have the most entries, each of another feed.
fn largest(folder: &Path, found: &mut Vec<(usize, PathBuf, FeedDocument)>) {
    for place in std::fs::read_dir(folder).unwrap() {
        let path = place.unwrap().path();
        if path.is_dir() {
            largest(&path, found);
            continue;
        }
        let origin = Origin { url: Some("https://real.example/feed"), content_type: None };
        let document = parse(&std::fs::read(&path).unwrap(), &origin);
        let title = |document: &FeedDocument| document.head.title.clone();
        let is_known = found.iter().any(|(_, _, known)| title(known) == title(&document));
        if document.kind.is_feed() && !document.is_truncated() && !is_known {
            found.push((document.entries.len(), path, document));
        }
    }
    found.sort_by_key(|(entries, _, _)| std::cmp::Reverse(*entries));
    found.truncate(5);
}

#[test]
fn real_documents_are_the_same_after_publishing() {
    let Some(folder) = std::env::var_os("BACKISSUE_CORPUS") else {
        tell("BACKISSUE_CORPUS is not set: nothing is checked");
        return;
    };
    let mut found = Vec::new();
    largest(Path::new(&folder), &mut found);
    for (entries, path, document) in &found {
        let mut source = Reader::of("https://real.example/feed");
        source.take("https://real.example/feed", document, true);
        let documents = published(&source, ArchiveSize::Month);
        let mut copy = subscribe(source.now);
        poll(&mut copy, &documents);
        tell(&format!("{}: {entries} entries, {} documents", path.display(), documents.len()));
        compare(&source, &copy, &path.display().to_string());
        are_valid(&[documents]);
    }
    assert_eq!(found.len(), 5);
}
