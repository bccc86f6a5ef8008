//! Random stories of two installations that sync with each other, one as the server of the other: marks and labels on both sides, new
//! entries, quiet and whole syncs, and kills of either side. In the end both have the same, and no mark is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::devices::{Served, add_device};
use crate::support::binary::Program;
use crate::support::dice::Dice;
use crate::support::site::{Site, answer};

/// Number of steps of a story.
const STEPS: u64 = 14;

struct Story {
    /// The publisher, with the number of its entries.
    site: Site,
    published: Arc<AtomicUsize>,
    home: Program,
    away: Program,
    served: Option<Served>,
    address: String,
    dice: Dice,
    /// Entries that were marked here or there since both were equal, by link: only one side may mark one, so that it is clear what
    /// counts.
    touched: BTreeSet<String>,
    /// What each entry must be: read and starred.
    wanted: BTreeMap<String, (bool, bool)>,
    told: Vec<String>,
}

/// The number, read and starred of each entry, by link.
fn entries(program: &Program) -> BTreeMap<String, (String, (bool, bool))> {
    let list = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let entry = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let state = (entry["read"] == true, entry["starred"] == true);
        (text("link"), (text("number"), state))
    };
    list.as_array().unwrap().iter().map(entry).collect()
}

impl Story {
    fn begin(seed: u64) -> Self {
        let published = Arc::new(AtomicUsize::new(8));
        let count = Arc::clone(&published);
        let site = Site::start(move |request| {
            let items: String = (0..count.load(Ordering::SeqCst))
                .map(|at| {
                    format!(
                        "<item><guid>g{at}</guid><title>Entry {at}</title><link>http://site.example{}/{at}</link></item>",
                        request.path()
                    )
                })
                .collect();
            let body =
                format!("<rss version='2.0'><channel><title>Press</title>{items}</channel></rss>");
            answer(200, &[("content-type", "application/rss+xml")], body)
        });
        let (home, away) = (Program::new(), Program::new());
        home.run(&["add", &site.at("/one.xml"), &site.at("/two.xml"), "--tag", "News"]).with(0);
        let password = add_device(&home, "laptop");
        let served = Served::serve(&home);
        let address = served.host().to_owned();
        let base = format!("http://{address}/api/greader.php");
        let add = ["account", "add", &base, "--user", "laptop", "--name", "home"];
        away.run_with(&add, format!("{password}\n").as_bytes()).with(0);
        let wanted = entries(&home).into_iter().map(|(link, (_, state))| (link, state)).collect();
        Self {
            site,
            published,
            home,
            away,
            served: Some(served),
            address,
            dice: Dice::of(seed, "devices", 0),
            touched: BTreeSet::new(),
            wanted,
            told: vec![format!("seed {seed}")],
        }
    }

    /// Marks some entries on one side.
    fn mark(&mut self) {
        let is_home = self.dice.one_in(2);
        let side = if is_home { &self.home } else { &self.away };
        let known = entries(side);
        let free: Vec<&String> =
            known.keys().filter(|link| !self.touched.contains(*link)).collect();
        let mut numbers = Vec::new();
        let (mark, value, is_star) = *self.dice.pick(&[
            ("read", true, false),
            ("unread", false, false),
            ("starred", true, true),
            ("unstarred", false, true),
        ]);
        for _ in 0..=self.dice.roll(4).min(free.len() as u64) {
            let Some(link) = (!free.is_empty()).then(|| *self.dice.pick(&free)) else { return };
            numbers.push(known[link].0.as_str());
            self.touched.insert(link.clone());
            let state = self.wanted.entry(link.clone()).or_default();
            *(if is_star { &mut state.1 } else { &mut state.0 }) = value;
        }
        side.run(&[&["mark", mark][..], &numbers].concat()).with(0);
        self.told.push(format!("{} {mark} {numbers:?}", if is_home { "home" } else { "away" }));
    }

    fn sync(&mut self) {
        if self.dice.one_in(3) {
            let pause = Duration::from_millis(20 + self.dice.roll(300));
            self.away.killed_after(&["account", "sync"], pause);
            self.told.push("a sync is killed".to_owned());
            return;
        }
        let how: &[&str] = if self.dice.one_in(3) {
            &["account", "sync", "--whole"]
        } else {
            &["account", "sync"]
        };
        let ended = self.away.run(how);
        self.told.push(format!("{how:?} {ended:?}"));
        if ended.status == Some(0) {
            self.touched.clear();
        }
    }

    /// Kills what serves, perhaps while the other side syncs, and starts it again at the same address.
    fn kill_home(&mut self) {
        let pause = Duration::from_millis(50 + self.dice.roll(400));
        std::thread::scope(|scope| {
            let away = &self.away;
            let syncing = scope.spawn(move || away.run(&["account", "sync"]));
            std::thread::sleep(pause);
            self.served = None;
            syncing.join().unwrap();
        });
        self.served = Some(Served::start(&self.home, &["serve", "--sync", &self.address]));
        self.told.push("home is killed during a sync".to_owned());
    }

    fn step(&mut self) {
        match self.dice.roll(8) {
            0..=3 => self.mark(),
            4 => {
                self.published.fetch_add(1, Ordering::SeqCst);
                self.home.run(&["poll", "--all"]).with(0);
                let new = entries(&self.home).into_keys();
                for link in new {
                    self.wanted.entry(link).or_default();
                }
                self.told.push("new entries".to_owned());
            }
            5 => self.kill_home(),
            _ => self.sync(),
        }
    }

    fn end(mut self) {
        for how in [&["account", "sync"][..], &["account", "sync", "--whole"]] {
            self.away.run(how).with(0);
        }
        let states = |program: &Program| {
            let all = entries(program).into_iter();
            all.map(|(link, (_, state))| (link, state)).collect::<BTreeMap<_, _>>()
        };
        let (home, away) = (states(&self.home), states(&self.away));
        assert_eq!(home, self.wanted, "home: {:#?}", self.told);
        assert_eq!(away, self.wanted, "away: {:#?}", self.told);
        self.served = None;
        assert!(!self.site.asked("/one.xml").is_empty());
    }
}

/// A night runs more: `BACKISSUE_INTERLEAVINGS` is the number of seeds, `BACKISSUE_FIRST_SEED` the first one.
#[test]
fn two_installations_are_equal_after_any_story() {
    let number = |name: &str| std::env::var(name).ok().and_then(|count| count.parse::<u64>().ok());
    let first = number("BACKISSUE_FIRST_SEED").unwrap_or(0);
    for seed in first..first + number("BACKISSUE_INTERLEAVINGS").unwrap_or(2) {
        let mut story = Story::begin(seed);
        for _ in 0..STEPS {
            story.step();
        }
        story.end();
    }
}
