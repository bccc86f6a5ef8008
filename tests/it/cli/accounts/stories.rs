//! Random stories of what a person does here, what the phone does, syncs, kills and restored backups: every subscription that the
//! program removes from the server is one that the person removed, and many at once were answered.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::undoing::with_feeds;
use crate::support::binary::{Ended, Program};
use crate::support::dice::Dice;
use crate::support::greader_double::GreaderDouble;

/// Number of steps of a story.
const STEPS: u64 = 16;
/// Number of feeds of the account at the beginning.
const FEEDS: usize = 14;

struct Story {
    program: Program,
    server: GreaderDouble,
    dice: Dice,
    /// Addresses that a step of the person removed, and whether a question was answered.
    named: BTreeMap<String, bool>,
    /// Addresses that were ever removed here.
    ever: BTreeSet<String>,
    backup: Option<String>,
    next: usize,
    told: Vec<String>,
}

impl Story {
    fn begin(seed: u64) -> Self {
        let (program, server) = with_feeds(FEEDS);
        server.count_requests();
        Self {
            program,
            server,
            dice: Dice::of(seed, "stories", 0),
            named: BTreeMap::new(),
            ever: BTreeSet::new(),
            backup: None,
            next: FEEDS + 1,
            told: Vec::new(),
        }
    }

    /// The numbers of the subscriptions here, by address.
    fn here(&self) -> BTreeMap<String, String> {
        let feeds = self.program.run(&["feeds", "--json"]).with(0).json();
        let feed = |feed: &serde_json::Value| {
            let number = feed["number"].to_string();
            (feed["url"].as_str().unwrap().to_owned(), number.trim_matches('"').to_owned())
        };
        feeds.as_array().unwrap().iter().map(feed).collect()
    }

    /// A step of the person, perhaps answered with yes if it is refused.
    fn act(&mut self, args: &[&str]) {
        let before = self.here();
        let mut ended = self.program.run(args);
        let is_asked = ended.err.contains("--yes");
        if is_asked && self.dice.one_in(2) {
            ended = self.program.run(&[args, &["--yes"]].concat());
            self.noted(&before, true);
        } else {
            self.noted(&before, false);
        }
        self.told.push(format!("{args:?}: {} {}", ended.out.trim(), ended.err.trim()));
    }

    /// Notes what a step removed here and what it restored.
    fn noted(&mut self, before: &BTreeMap<String, String>, is_answered: bool) {
        let after = self.here();
        for gone in before.keys().filter(|url| !after.contains_key(*url)) {
            self.named.insert(gone.clone(), is_answered);
            self.ever.insert(gone.clone());
        }
        self.named.retain(|url, _| !after.contains_key(url));
    }

    fn unsubscribe(&mut self) {
        let here = self.here();
        let count = 1 + self.dice.roll(7);
        let mut args = vec!["unsubscribe"];
        let numbers: Vec<&str> = here.values().map(String::as_str).collect();
        for _ in 0..count.min(numbers.len() as u64) {
            args.push(*self.dice.pick(&numbers));
        }
        if args.len() > 1 {
            self.act(&args);
        }
    }

    fn phone(&mut self) {
        let mut state = self.server.state();
        let numbers: Vec<usize> = state.feeds.keys().copied().collect();
        match self.dice.roll(4) {
            0 if numbers.len() > 6 => {
                let gone = *self.dice.pick(&numbers);
                state.feeds.remove(&gone);
                state.items.retain(|_, item| item.feed != gone);
                self.told.push(format!("the phone removes {gone}"));
            }
            1 if !numbers.is_empty() => {
                let renamed = *self.dice.pick(&numbers);
                state.feeds.get_mut(&renamed).unwrap().1 = format!("Renamed {}", self.told.len());
                self.told.push(format!("the phone renames {renamed}"));
            }
            _ => {
                let url = format!("https://{}.example/feed", self.next);
                state.feeds.insert(self.next, (url, format!("Phone {}", self.next)));
                self.told.push(format!("the phone adds {}", self.next));
                self.next += 1;
            }
        }
    }

    fn sync(&mut self) {
        let there: BTreeMap<usize, String> =
            self.server.state().feeds.iter().map(|(number, it)| (*number, it.0.clone())).collect();
        self.server.state().requests.clear();
        let ended: Option<Ended> = match self.dice.roll(6) {
            0 => {
                let milliseconds = 10 + self.dice.roll(150);
                let pause = Duration::from_millis(milliseconds);
                self.program.killed_after(&["account", "sync"], pause);
                None
            }
            1 => {
                self.named.extend(self.ever.iter().map(|url| (url.clone(), true)));
                Some(self.program.run(&["account", "sync", "--yes"]))
            }
            2 => Some(self.program.run(&["account", "sync", "--whole"])),
            _ => Some(self.program.run(&["account", "sync"])),
        };
        self.told.push(format!("sync: {ended:?}"));
        let mut unanswered = 0_usize;
        for (path, form) in &self.server.state().requests {
            if !path.contains("subscription/edit") || !form.contains("ac=unsubscribe") {
                continue;
            }
            let stream = form.split('&').find_map(|pair| pair.strip_prefix("s=")).unwrap();
            let number: usize = stream.rsplit("%2F").next().unwrap().parse().unwrap();
            let answered = self.named.get(&there[&number]);
            assert!(
                answered.is_some(),
                "{} was never removed here: {:#?}",
                there[&number],
                self.told
            );
            unanswered += usize::from(answered == Some(&false));
        }
        let is_many = unanswered > 5 || (unanswered >= 2 && unanswered * 10 > there.len());
        assert!(!is_many, "{unanswered} of {}, unanswered: {:#?}", there.len(), self.told);
        // What the phone did may have restored feeds here.
        let here = self.here();
        self.named.retain(|url, _| !here.contains_key(url));
    }

    fn step(&mut self) {
        match self.dice.roll(12) {
            0..=2 => self.unsubscribe(),
            3 | 4 => self.act(&["undo"]),
            5 => {
                let list = format!(
                    "https://{}.example/own\nhttps://{}.example/own\n",
                    self.next,
                    self.next + 1
                );
                self.next += 2;
                let list = self.program.write("list.txt", list);
                self.act(&["import", &list]);
            }
            6 | 7 => self.phone(),
            8 => {
                let path = self.program.path("backup").to_str().unwrap().to_owned();
                self.program.run(&["backup", &path]).with(0);
                self.backup = Some(path);
                self.told.push("backup".to_owned());
            }
            9 => {
                let Some(path) = self.backup.clone() else { return };
                self.program.run(&["restore", &path]).with(0);
                // No step since then removed anything.
                self.named.clear();
                let here = self.here();
                self.ever.extend(
                    (1..self.next)
                        .map(|number| format!("https://{number}.example/feed"))
                        .filter(|url| !here.contains_key(url)),
                );
                self.told.push("restore".to_owned());
            }
            _ => self.sync(),
        }
    }
}

/// A night runs more: `BACKISSUE_INTERLEAVINGS` is the number of seeds.
#[test]
fn removals_there_are_named_and_many_are_answered() {
    let seeds = std::env::var("BACKISSUE_INTERLEAVINGS").ok().and_then(|count| count.parse().ok());
    for seed in 0..seeds.unwrap_or(3) {
        let mut story = Story::begin(seed);
        story.told.push(format!("seed {seed}"));
        for _ in 0..STEPS {
            story.step();
        }
        story.sync();
    }
}
