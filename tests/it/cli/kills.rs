//! Kills (SIGKILL) during every kind of write: no acknowledged write is lost, and the store stays sound.
//!
//! `BACKISSUE_KILLS=200 cargo test --test it cli::kills -- --nocapture` makes 200 kills and prints a table. Kills during
//! hand-overs are in `hand_overs`, which `BACKISSUE_HAND_OVERS` extends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::support::binary::Program;
use crate::support::dice::Dice;
use crate::support::site::{Site, answer};

/// Number of kills unless `BACKISSUE_KILLS` is set: one for each kind of work.
const FEW: usize = 6;
/// Number of entries in the feed's first document, and number of archives of the feed.
const FIRST: u32 = 8;
const ARCHIVES: u32 = 3;
/// Maximum time from the start of a command to its kill, in milliseconds; most commands have ended by then.
const KILLED_WITHIN_MS: u64 = 240;

fn entry(id: &str) -> String {
    format!(
        "<entry><id>urn:{id}</id><title>{id}</title><updated>2026-01-01T00:00:00Z</updated>\
         <content>{}</content></entry>",
        "some words ".repeat(400)
    )
}

fn document(links: &str, entries: impl Iterator<Item = String>) -> String {
    let mut text = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <title>Mill</title><id>urn:mill</id><updated>2026-01-01T00:00:00Z</updated>{links}"
    );
    entries.for_each(|id| text.push_str(&entry(&id)));
    text.write_str("</feed>").unwrap();
    text
}

/// Starts a site with a feed that has `FIRST + grown` entries, and its archives.
fn site(grown: Arc<AtomicU32>) -> Site {
    Site::start(move |request| {
        let path = request.path().to_owned();
        let archive = path.strip_prefix("/archive/").and_then(|number| number.parse::<u32>().ok());
        let body = match archive {
            None => {
                let last = FIRST + grown.load(Ordering::SeqCst);
                let link = format!("<link rel='prev-archive' href='/archive/{ARCHIVES}'/>");
                document(&link, (0..last).rev().map(|number| format!("new-{number}")))
            }
            Some(number) => {
                let older = match number {
                    1 => String::new(),
                    _ => format!("<link rel='prev-archive' href='/archive/{}'/>", number - 1),
                };
                let ids = (0..5).map(|place| format!("archive-{number}-{place}"));
                document(&format!("<fh:archive/>{older}"), ids)
            }
        };
        answer(200, &[], body)
    })
}

/// What is in the store: the titles of all entries and of the starred ones, and the number of filters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Kept {
    entries: BTreeSet<String>,
    starred: BTreeSet<String>,
    filters: usize,
}

fn kept(program: &Program) -> Kept {
    let titles = |more: &[&str]| -> BTreeSet<String> {
        let listed = program.run(&[&["entries", "--limit", "1000", "--json"], more].concat());
        let listed = listed.with(0).json();
        let listed = listed.as_array().unwrap().iter();
        // A row without a title is a gap, which marks where an archive walk was interrupted.
        listed.filter_map(|entry| Some(entry["title"].as_str()?.to_owned())).collect()
    };
    let filters = program.run(&["filters", "--json"]).with(0).out.matches("nothing-").count();
    Kept { entries: titles(&[]), starred: titles(&["--starred"]), filters }
}

/// Kinds of work during which the program is killed, in turn.
const WORK: [&str; FEW] = ["polls", "walks", "marks", "filters", "compaction", "restore"];

#[test]
fn killed_program_keeps_acknowledged_writes() {
    let stated = std::env::var("BACKISSUE_KILLS").ok().and_then(|count| count.parse().ok());
    let grown = Arc::new(AtomicU32::new(0));
    let (site, program) = (site(Arc::clone(&grown)), Program::new());
    program.run(&["add", &site.at("/feed")]).with(0);
    let backup = program.path("all.backup").to_str().unwrap().to_owned();
    let mut dice = Dice::of(11, "kills", 0);
    let mut table: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for number in 0..stated.unwrap_or(FEW) {
        let work = WORK[number % WORK.len()];
        let pattern = format!("nothing-{number}");
        let before = kept(&program);
        let args: Vec<&str> = match work {
            "polls" => {
                grown.fetch_add(1, Ordering::SeqCst);
                vec!["poll", "1", "--force"]
            }
            "walks" => vec!["history", "1", "--reread"],
            "marks" => vec!["mark", "starred", "--all"],
            "filters" => vec!["filters", "add", "--title", &pattern, "--hide"],
            "compaction" => vec!["doctor", "--compact"],
            _ => {
                program.run(&["backup", &backup]).with(0);
                vec!["restore", &backup]
            }
        };
        let while_ = dice.roll(KILLED_WITHIN_MS);
        program.killed_after(&args, Duration::from_millis(while_));
        let doctor = program.run(&["doctor"]);
        assert_eq!(doctor.status, Some(0), "kill {number} in {work}: {doctor:#?}");
        let after = kept(&program);
        let lost = before.entries.difference(&after.entries).count()
            + before.starred.difference(&after.starred).count()
            + before.filters.saturating_sub(after.filters);
        let all_or_none = after.starred == before.starred || after.starred == after.entries;
        assert!(all_or_none, "kill {number} in {work}: some are starred");
        let (times, all) = table.entry(work).or_default();
        (*times, *all) = (*times + 1, *all + u32::try_from(lost).unwrap());
        if work == "marks" && after.starred.len() == after.entries.len() {
            program.run(&["mark", "unstarred", "--all"]).with(0);
        }
    }
    let mut out = std::io::stdout().lock();
    for (work, (times, lost)) in &table {
        writeln!(out, "{work:12} {times:4} kills, {lost} lost").unwrap();
    }
    assert!(table.values().all(|(_, lost)| *lost == 0), "{table:?}");
}
