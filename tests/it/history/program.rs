//! Archive walks of the real binary over loopback: they are retried after faults, killed fifty times, and measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use backissue::io::http_server::{ServedAnswer, ServedRequest};
use serde_json::Value;

use crate::support::binary::Program;
use crate::support::site::{Site, answer};

/// Configuration without a practical limit on archives a day, and without pauses between requests to this machine.
const CONFIGURATION: &str =
    "[network]\nspace_loopback = false\n[history]\narchives_a_day = 100000\n";
const KILLS: u32 = 50;

/// An archived feed: its number of archives, the entries in each, and the archives that are answered with an error status until
/// `healed` is set.
#[derive(Clone)]
struct Press {
    archives: usize,
    entries: usize,
    faulty: BTreeMap<usize, u16>,
    healed: Arc<AtomicBool>,
}

impl Press {
    fn new(archives: usize, entries: usize) -> Self {
        Self { archives, entries, faulty: BTreeMap::new(), healed: Arc::default() }
    }

    fn document(&self, number: usize) -> String {
        let mut text = String::from(
            "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
             <title>Press</title><id>urn:press</id><updated>2026-01-01T00:00:00Z</updated>",
        );
        if number < self.archives {
            text.push_str("<fh:archive/><link rel='current' href='/press.atom'/>");
        }
        if number > 0 {
            write!(text, "<link rel='prev-archive' href='/archive/{}.atom'/>", number - 1).unwrap();
        }
        for entry in (number * self.entries..(number + 1) * self.entries).rev() {
            let date = chrono::DateTime::from_timestamp(
                1_300_000_000 + i64::try_from(entry).unwrap() * 3600,
                0,
            );
            let date = date.unwrap().to_rfc3339();
            write!(
                text,
                "<entry><id>urn:e{entry}</id><title>Entry {entry}</title><updated>{date}</updated>\
                 <content>Some text of entry {entry}, as long as a short note is.</content></entry>"
            )
            .unwrap();
        }
        text.push_str("</feed>");
        text
    }

    fn answer(&self, request: &ServedRequest) -> ServedAnswer {
        let headers = [("content-type", "application/atom+xml")];
        let path = request.path();
        let archive = path.strip_prefix("/archive/").and_then(|name| name.strip_suffix(".atom"));
        match archive.and_then(|number| number.parse::<usize>().ok()) {
            None if path == "/press.atom" => answer(200, &headers, self.document(self.archives)),
            Some(number) if number < self.archives => {
                let status =
                    self.faulty.get(&number).filter(|_| !self.healed.load(Ordering::Relaxed));
                match status {
                    Some(200) => answer(200, &headers, "{\"nonsense\": true"),
                    Some(status) => answer(*status, &[], ""),
                    None => answer(200, &headers, self.document(number)),
                }
            }
            None | Some(_) => answer(404, &[], ""),
        }
    }

    fn serve(&self) -> Site {
        let press = self.clone();
        Site::start(move |request| press.answer(&request))
    }

    fn whole(&self) -> usize {
        (self.archives + 1) * self.entries
    }
}

fn program() -> Program {
    let program = Program::new();
    program.write("config.toml", CONFIGURATION);
    program
}

fn history(program: &Program) -> Value {
    serde_json::from_str(&program.run(&["history", "1", "--json"]).with(0).out).unwrap()
}

fn gaps(program: &Program) -> Vec<Value> {
    let rows = program.run(&["entries", "1", "--json"]).with(0).out;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    rows.into_iter().filter(|row| row["kind"] == "gap").collect()
}

#[test]
fn gap_is_listed_in_place_and_a_retry_fills_it() {
    let mut press = Press::new(4, 3);
    press.faulty.insert(2, 403);
    let (site, program) = (press.serve(), program());
    let added = program.run(&["add", &site.at("/press.atom")]).with(0);
    assert!(
        added.out.contains("history complete except 1 gap: 1 archive back to 2011"),
        "{added:#?}"
    );
    let rows = program.run(&["entries", "1", "--json"]).with(0).out;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["entry", "entry", "entry", "entry", "entry", "entry", "gap"]);
    let gap = &rows[6];
    assert_eq!((&gap["code"], &gap["status"]), (&"G1".into(), &403.into()));
    assert_eq!(gap["url"], site.at("/archive/2.atom"));

    let refused = program.run(&["history", "1", "--retry"]).with(1);
    assert!(refused.out.contains("answered 403"), "{refused:#?}");
    press.healed.store(true, Ordering::Relaxed);
    let healed = program.run(&["history", "1", "--retry"]).with(0);
    assert!(healed.out.contains("9 entries recovered"), "{healed:#?}");
    assert!(healed.out.contains("complete history: 4 archives back to 2011"), "{healed:#?}");
    let feeds: Value =
        serde_json::from_str(&program.run(&["feeds", "--json"]).with(0).out).unwrap();
    assert_eq!(feeds[0]["history"]["state"], "complete");
    assert_eq!((&feeds[0]["unread"], &feeds[0]["total"]), (&3.into(), &15.into()));
}

#[test]
fn subscription_is_reported_before_archives_are_fetched() {
    use std::io::BufRead as _;
    let (site, program) = (Press::new(2, 3).serve(), Program::new());
    program.write("config.toml", "[network]\narchive_spacing = \"60s\"\n");
    let mut adding = program.start(&["add", &site.at("/press.atom")]);
    let mut lines = std::io::BufReader::new(adding.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("subscribed: 1 'Press'"));
    assert_eq!(lines.next().unwrap().unwrap(), "  3 entries");
    assert!(adding.try_wait().unwrap().is_none(), "the walk is still under way");
    assert!(site.asked("/archive/1.atom").is_empty());
    adding.kill().unwrap();
    adding.wait().unwrap();

    let program = super::program::program();
    let told = program.run(&["add", &site.at("/press.atom")]).with(0).out;
    let history = "  6 older entries; complete history: 2 archives back to 2011";
    assert!(told.lines().any(|line| line == history), "{told}");
}

#[test]
fn poll_catches_up_by_default_and_asks_at_a_cap() {
    let press = Press::new(30, 2);
    let (site, program) = (press.serve(), program());
    program.run(&["add", &site.at("/press.atom"), "--no-poll"]).with(0);
    program.run(&["poll", "--no-history"]).with(0);
    assert!(site.asked("/archive/29.atom").is_empty());
    let polled = program.run(&["poll", "--all", "--json"]).with(0).out;
    let polled: Value = serde_json::from_str(&polled).unwrap();
    assert_eq!((&polled["archives"], &polled["from_archives"]), (&20.into(), &40.into()));
    assert_eq!(gaps(&program)[0]["code"], "G3");
    let standing = &history(&program)["history"];
    assert_eq!(standing["text"], "20 archives read so far");
    assert_eq!(standing["state"], "partial");
    program.run(&["history", "Press", "--continue"]).with(0);
    let known = history(&program);
    assert_eq!(known["history"]["state"], "complete");
    assert_eq!(known["archives"].as_array().unwrap().len(), 30);
    let before = site.asked("/archive/5.atom").len();
    program.run(&["history", "1", "--reread"]).with(0);
    assert_eq!(site.asked("/archive/29.atom").len(), before + 1);
}

#[test]
fn program_killed_fifty_times_keeps_fetched_entries() {
    let mut press = Press::new(60, 10);
    press.faulty.extend([(11, 500), (25, 404), (37, 200), (48, 403)]);
    let (site, program) = (press.serve(), program());
    program.run(&["add", &site.at("/press.atom"), "--no-poll"]).with(0);
    let mut seed = 7_u64;
    for _ in 0..KILLS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let action = if seed >> 63 == 0 { "--continue" } else { "--retry" };
        let command: &[&str] = if (seed >> 60).is_multiple_of(4) {
            &["poll", "--all"]
        } else {
            &["history", "1", action]
        };
        program.killed_after(command, Duration::from_millis(20 + (seed >> 32) % 80));
        if seed & 0xf00 == 0 {
            press.healed.store(true, Ordering::Relaxed);
        }
    }
    press.healed.store(true, Ordering::Relaxed);
    program.run(&["poll", "--all"]).with(0);
    for _ in 0..4 {
        program.run(&["history", "1", "--retry"]).with(0);
        program.run(&["history", "1", "--continue"]).with(0);
    }
    let known = history(&program);
    assert_eq!(known["history"]["text"], "complete history", "{known:#}");
    let rows = program.run(&["entries", "1", "--json"]).with(0).out;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    let ids: BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!((rows.len(), ids.len()), (press.whole(), press.whole()), "each entry once");
    // Each kill may lose one answer that arrived but was not yet written, so each kill may cause one repeated request.
    let healthy = (0..press.archives).filter(|number| !press.faulty.contains_key(number));
    let asked = healthy.map(|number| site.asked(&format!("/archive/{number}.atom")).len());
    let again: usize = asked.map(|times| times - 1).sum();
    assert!(again <= KILLS as usize, "{again} fetched twice");
    assert!(program.run(&["doctor"]).with(0).out.contains("no errors found"));
}

#[test]
fn twenty_archives_of_fifty_entries_are_walked_in_two_seconds() {
    let press = Press::new(20, 50);
    let (site, program) = (press.serve(), program());
    program.run(&["add", &site.at("/press.atom"), "--no-poll"]).with(0);
    let began = Instant::now();
    program.run(&["poll"]).with(0);
    let took = began.elapsed();
    assert_eq!(history(&program)["history"]["state"], "complete");
    // A release build may take two seconds; a debug build is slower.
    let most = if cfg!(debug_assertions) { 20 } else { 2 };
    assert!(took < Duration::from_secs(most), "{took:?}");
}
