//! Random damage in every file of a store: nothing panics, data outside the damage is intact, and the store is sound afterwards.
//!
//! `BACKISSUE_DAMAGES=500 cargo test --test it store::damages -- --nocapture` runs 500 cases of damage and prints a table;
//! `BACKISSUE_DAMAGES=17..18` runs only case 17.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use backissue::engine::change::MarkChange;
use backissue::engine::change::undo_stack::{SavedStep, Step, StepChanges};
use backissue::engine::change::value::{ChangeId, SavedSearch};
use backissue::engine::entries::entry_view::ReadingPosition;
use backissue::engine::feeds::subscription::HistoryCommit;
use backissue::io::store::{SessionLength, Store};
use backissue_core::filters::EntryFilter;
use backissue_core::history::gap::Edge;
use backissue_core::history::{ArchiveNode, EntryKey, FeedKey, Flag, HistoryRecord};
use chrono::NaiveDate;
use tempfile::TempDir;

use super::record_places::{RecordPlaces, Thing, records_of};
use super::{at, entry, polled};

/// Number of damaged stores to test if `BACKISSUE_DAMAGES` is not set.
const FEW: usize = 6;
const FEEDS: u32 = 8;
const SESSIONS: u32 = 5;
const DAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 2, 2).unwrap();

/// Pseudo-random number generator that yields the same sequence in every run.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

fn text(seed: u32) -> String {
    let mut chance = Chance(u64::from(seed));
    // A text of more than half a megabyte is stored in a separate record.
    let words = if seed.is_multiple_of(97) { 90_000 } else { 60 + chance.below(200) };
    (0..words).map(|_| format!("{:05} ", chance.below(100_000))).collect()
}

/// Creates a store that was used in several sessions; the last session is not in a backup.
fn build(folder: &Path) {
    for session in 0..SESSIONS {
        let mut store = Store::open(folder).unwrap();
        for feed in 1..=FEEDS {
            let first = session * 12 + 1;
            let entries = (first..first + 12)
                .map(|id| entry(feed * 1000 + id, &text(feed * 1000 + id)))
                .collect();
            let second = i64::from(session) * 1000 + i64::from(feed);
            store.commit(&polled(FeedKey(feed), second, entries)).unwrap();
            let keys: Vec<EntryKey> = (first - 1..first + feed)
                .map(|seq| EntryKey { feed: FeedKey(feed), seq })
                .collect();
            store.mark(&keys, Flag::Read, true).unwrap();
            store.mark(&keys[..1], Flag::Starred, true).unwrap();
        }
        arrange(&mut store, session);
        store.sync().unwrap();
        if session == 2 {
            store.back_up_daily(DAY).unwrap();
        }
    }
}

fn address(feed: u32, archive: u32) -> String {
    format!("https://site.example/{feed}/archive-{archive}.xml")
}

/// Writes the user's data other than entries, some of it in every session.
fn arrange(store: &mut Store, session: u32) {
    for feed in 1..=FEEDS {
        if feed.is_multiple_of(2) {
            let newer = session.checked_sub(1).map(|before| address(feed, before));
            let node =
                ArchiveNode { url: address(feed, session), prev: newer, ..Default::default() };
            let head = address(feed, session);
            let record = HistoryRecord {
                archived: true,
                archives: session + 1,
                own: vec![format!("https://site.example/{feed}.xml")],
                head: Some(Edge { url: head.clone(), key: head.clone(), ..Edge::default() }),
                settled: Some(head.clone()),
                ..HistoryRecord::default()
            };
            let (feed, nodes) = (FeedKey(feed), vec![(head, Some(node))]);
            let commit =
                HistoryCommit { feed, record: std::sync::Arc::new(record), nodes, document: None };
            store.keep_history(&commit).unwrap();
        }
        let (key, offset) = (EntryKey { feed: FeedKey(feed), seq: session }, session + 7);
        store.save_place(key, Some(ReadingPosition { offset, of: 1000 + feed })).unwrap();
        let id = u64::from(session * 100 + feed);
        let step = Step::Marked(MarkChange { flag: Flag::Read, value: true, keys: vec![key] });
        let saved = SavedStep { id: ChangeId(id), at: at(i64::from(session)), step, undone: false };
        store.save_steps(&StepChanges { kept: vec![saved], gone: Vec::new() }).unwrap();
    }
    let words = format!("words that no entry has {session}");
    let filter = EntryFilter { id: 1, query: words.clone(), ..EntryFilter::default() };
    store.save_filters(&[filter]).unwrap();
    store.save_searches(&[SavedSearch { id: 1, name: words.clone(), text: words }]).unwrap();
}

/// Returns the user's data in the store. An archive also counts as present if the program will fetch it again automatically
/// because the archive's texts were lost.
fn picture(store: &mut Store) -> BTreeMap<Thing, String> {
    let mut found = BTreeMap::new();
    found.insert(Thing::Filters, format!("{:?}", store.saved_filters().unwrap()));
    found.insert(Thing::Searches, format!("{:?}", store.saved_searches().unwrap()));
    for saved in store.saved_steps().unwrap() {
        found.insert(Thing::Step(saved.id.0), format!("{:?}", saved.step));
    }
    for saved in store.subscriptions().unwrap() {
        found.insert(Thing::Feed(saved.key), format!("{:?}", saved.record));
        let (history, nodes) = (&saved.history, store.nodes(saved.key).unwrap());
        if saved.key.0.is_multiple_of(2) {
            let head = history.head.as_ref().map(|head| &head.key);
            found.insert(Thing::History(saved.key), format!("{:?} {head:?}", history.own));
        }
        let is_walked = history.run.rereading && history.has_work();
        for archive in (0..SESSIONS).map(|session| address(saved.key.0, session)) {
            if is_walked || nodes.find(&archive).is_some() {
                found.insert(Thing::Archive(saved.key, archive), String::new());
            }
        }
        for seq in 0..saved.counters.next_seq {
            let key = EntryKey { feed: saved.key, seq };
            let Ok(Some((kept, flags))) = store.entry(key) else { continue };
            found.insert(Thing::Entry(key), format!("{kept:?}"));
            let marks = (flags.is_read(), flags.is_starred());
            found.insert(Thing::Marks(key), format!("{marks:?}"));
            if let Some(place) = store.place(key).unwrap() {
                found.insert(Thing::Position(key), format!("{place:?}"));
            }
            let body = store.body(key).ok().flatten().and_then(|body| body.content);
            found.insert(Thing::Text(key), body.unwrap_or_default());
        }
    }
    found
}

/// Creates a temporary folder, in memory if the system has `/dev/shm`.
pub(super) fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(file.file_name());
        if file.file_type().unwrap().is_dir() {
            copy(&file.path(), &target);
        } else {
            fs::copy(file.path(), target).unwrap();
        }
    }
}

pub(super) fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder).unwrap().flatten() {
        if file.file_type().unwrap().is_dir() {
            files.extend(files_of(&file.path()));
        } else {
            files.push(file.path());
        }
    }
    files.sort();
    files
}

/// A damaged range of bytes in a file.
struct Damage {
    /// The file, relative to the data folder.
    file: PathBuf,
    /// The kind of the file, for the printed table.
    kind: String,
    how: &'static str,
    /// The positions of the damaged bytes.
    place: Range<usize>,
}

/// Damages a random range of bytes in one of the files of a data folder.
fn damage(data: &Path, chance: &mut Chance) -> Damage {
    // Half of the cases damage the pack, which holds everything.
    let files = files_of(data);
    let in_pack = chance.below(2) == 0;
    let path =
        if in_pack { data.join("store.pack") } else { files[chance.below(files.len())].clone() };
    let mut bytes = fs::read(&path).unwrap();
    let at = chance.below(bytes.len());
    let (how, place) = match chance.below(3) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
            ("a bit", at..at + 1)
        }
        1 => {
            let end = (at + 4096).min(bytes.len());
            bytes[at..end].fill(0);
            ("4 kB of zeros", at..end)
        }
        _ => {
            let end = bytes.len();
            bytes.truncate(at);
            ("cut off", at..end)
        }
    };
    fs::write(&path, bytes).unwrap();
    let file = path.strip_prefix(data).unwrap().to_owned();
    let mut parts = file.iter().map(|part| part.to_string_lossy().into_owned());
    let first = parts.next().unwrap();
    let kind = if first == "store" { parts.next().unwrap() } else { first };
    let kind = if kind.starts_with("snap") { "snap".into() } else { kind };
    Damage { file, kind, how, place }
}

/// What one case of damage destroyed.
#[derive(Default)]
struct Outcome {
    /// Number of lost items whose only copy was in the damaged bytes.
    inside: usize,
    /// Lost items that have a copy outside the damaged bytes.
    outside: Vec<Thing>,
}

/// Opens a damaged store, then performs `doctor --repair` and `backup`; returns the user's data that remains.
fn survive(data: &Path, what: &str) -> BTreeMap<Thing, String> {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let (mut store, _) = Store::open_or_recover(data, at(100), SessionLength::Short).unwrap();
        // As `doctor --repair` does.
        let checked = store.check(true);
        if checked.is_err() {
            drop(store);
            store = Store::open(data).unwrap();
        }
        let health = checked.or_else(|_| store.check(true)).unwrap();
        if health.is_pack_damaged {
            store.compact(|_, _| ()).unwrap();
            store = Store::open(data).unwrap();
        }
        let health = store.check(false).unwrap();
        assert!(health.findings.is_empty(), "{what}: {:?}", health.findings);
        drop(store);
        let mut store = Store::open(data).unwrap();
        store.back_up(std::io::sink(), None).unwrap();
        picture(&mut store)
    }));
    opened.unwrap_or_else(|_| panic!("{what}: it panicked"))
}

/// Compares the user's data before and after the damage, and returns what was lost.
fn compare(
    before: &BTreeMap<Thing, String>,
    after: &BTreeMap<Thing, String>,
    inside: &BTreeSet<&(String, Vec<u8>)>,
) -> Outcome {
    let mut outcome = Outcome::default();
    for thing in before.iter().filter(|(thing, value)| after.get(*thing) != Some(*value)) {
        if records_of(thing.0).iter().any(|record| inside.contains(record)) {
            outcome.inside += 1;
        } else {
            outcome.outside.push(thing.0.clone());
        }
    }
    outcome
}

/// Prints a line, even if the test harness captures output.
pub(crate) fn say(line: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    out.write_fmt(line).and_then(|()| out.write_all(b"\n")).unwrap();
}

fn middle(mut numbers: Vec<usize>) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// Returns the numbers of the cases that `BACKISSUE_DAMAGES` requests.
fn asked() -> Range<usize> {
    let Ok(text) = std::env::var("BACKISSUE_DAMAGES") else { return 0..FEW };
    let (first, last) = text.split_once("..").unwrap_or(("0", &text));
    first.parse().unwrap()..last.parse().unwrap()
}

#[test]
fn any_damage_leaves_the_rest_and_a_sound_store() {
    let sound = folder();
    build(sound.path());
    let before = picture(&mut Store::open(sound.path()).unwrap());
    let other = folder();
    copy(sound.path(), other.path());
    let places = RecordPlaces::find(other.path());
    let (large, records) = places.count();
    assert!(large > 30, "{large}");
    let mut chance = Chance(7);
    let mut table: BTreeMap<(String, &'static str), Vec<Outcome>> = BTreeMap::new();
    let asked = asked();
    for number in 0..asked.end {
        let data = folder();
        copy(sound.path(), data.path());
        let damage = damage(data.path(), &mut chance);
        if !asked.contains(&number) {
            continue;
        }
        let what =
            format!("damage {number}: {} in {:?} at {:?}", damage.how, damage.file, damage.place);
        let after = survive(data.path(), &what);
        let is_pack = damage.file == Path::new("store.pack");
        let inside = if is_pack { places.within(&damage.place) } else { BTreeSet::new() };
        let outcome = compare(&before, &after, &inside);
        if !outcome.outside.is_empty() {
            let lost: Vec<String> =
                outcome.outside.iter().map(|thing| places.told(thing)).collect();
            say(format_args!("{what}: lost outside: {lost:#?}"));
        }
        table.entry((damage.kind, damage.how)).or_default().push(outcome);
    }
    say(format_args!(
        "{} things in {records} records before: subscriptions, entries, marks, texts, archives, changes, ...",
        before.len()
    ));
    tell(&table);
    let lost = table.values().flatten().map(|outcome| outcome.outside.len()).sum::<usize>();
    assert_eq!(lost, 0, "things are lost that were not in the damaged bytes");
}

/// Prints a table of the outcomes by kind of file and kind of damage.
fn tell(table: &BTreeMap<(String, &'static str), Vec<Outcome>>) {
    say(format_args!(
        "file       damage         times  lost inside: median  worst  outside: median  worst"
    ));
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let row = |name: &str, how: &str, inside: &[usize], outside: &[usize]| {
        let worst = |numbers: &[usize]| numbers.iter().max().copied().unwrap_or_default();
        let (at_worst, worst_outside) = (worst(inside), worst(outside));
        let (usual, outside) = (middle(inside.to_vec()), middle(outside.to_vec()));
        let times = inside.len();
        say(format_args!(
            "{name:10} {how:14} {times:5} {usual:20} {at_worst:6} {outside:16} {worst_outside:6}"
        ));
    };
    for ((file, how), outcomes) in table {
        let within: Vec<usize> = outcomes.iter().map(|outcome| outcome.inside).collect();
        let others: Vec<usize> = outcomes.iter().map(|outcome| outcome.outside.len()).collect();
        row(file, how, &within, &others);
        inside.extend(within);
        outside.extend(others);
    }
    row("all", "", &inside, &outside);
}
