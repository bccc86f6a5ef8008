//! Random interleavings of what happens on both sides of an account: marks, labels, entries, failures and killed syncs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::labels::{label_in, labelled};
use super::{BAZQUX, FRESHRSS, Habits, MINIFLUX, add, marks};
use crate::support::binary::Program;
use crate::support::dice::Dice;
use crate::support::greader_double::{GreaderDouble, State as GreaderState};
use crate::support::miniflux_double::{MinifluxDouble, State as MinifluxState};

/// The label that both sides use.
const LABEL: &str = "later";
/// Number of steps of an interleaving.
const STEPS: u64 = 14;

/// A server, and what another client does there.
enum Server {
    Greader(GreaderDouble, Habits),
    Miniflux(MinifluxDouble),
}

impl Server {
    fn start(kind: u64) -> Self {
        let habits = match kind {
            0 => FRESHRSS,
            1 => MINIFLUX,
            2 => BAZQUX,
            version => return Self::Miniflux(MinifluxDouble::start(version == 3, 9)),
        };
        Self::Greader(GreaderDouble::start(habits), habits)
    }

    fn add(&self, program: &Program) {
        match self {
            Self::Greader(server, _) => add(program, server, "secret").with(0),
            Self::Miniflux(server) => {
                super::miniflux::add(program, server, Some("ann"), "secret").with(0)
            }
        };
    }

    fn publish(&self, feed: u64, number: u64) {
        match self {
            Self::Greader(server, _) => {
                server.publish(usize::try_from(feed).unwrap(), number..=number);
            }
            Self::Miniflux(server) => server.publish(feed, number..=number),
        }
    }

    fn marks(&self) -> Vec<(u64, bool, bool)> {
        match self {
            Self::Greader(server, _) => server.marks(),
            Self::Miniflux(server) => server.marks(),
        }
    }

    fn mark(&self, number: u64, is_star: bool, value: bool) {
        let set = |read: &mut bool, star: &mut bool| *if is_star { star } else { read } = value;
        match self {
            Self::Greader(server, _) => {
                if let Some(item) = server.state().items.get_mut(&number) {
                    set(&mut item.is_read, &mut item.is_starred);
                }
            }
            Self::Miniflux(server) => {
                server.state().mark(number, |item| set(&mut item.is_read, &mut item.is_starred));
            }
        }
    }

    fn delete(&self, number: u64) {
        match self {
            Self::Greader(server, _) => {
                let GreaderState { items, labels, .. } = &mut *server.state();
                items.remove(&number);
                for labelled in labels.values_mut() {
                    labelled.remove(&number);
                }
            }
            Self::Miniflux(server) => drop(server.state().items.remove(&number)),
        }
    }

    /// Lets a kind of request fail, or none.
    fn fail(&self, which: Option<u64>) {
        let places = ["edit-tag", "items/ids", "items/contents", "subscription/list"];
        let calls = [("PUT", "entries"), ("GET", "entries"), ("GET", "counters"), ("GET", "feeds")];
        let place = which.and_then(|which| usize::try_from(which).ok());
        match self {
            Self::Greader(server, _) => {
                let GreaderState { instead, .. } = &mut *server.state();
                instead.clear();
                instead.extend(place.map(|place| (places[place], (503, "not now".to_owned()))));
            }
            Self::Miniflux(server) => {
                let MinifluxState { instead, .. } = &mut *server.state();
                instead.clear();
                instead.extend(place.map(|place| (calls[place], (503, "not now".to_owned()))));
            }
        }
    }

    /// The entries with the label. `None` if the server has no labels.
    fn labelled(&self) -> Option<BTreeSet<u64>> {
        match self {
            Self::Greader(server, FRESHRSS) => {
                Some(server.state().labels.get(LABEL).cloned().unwrap_or_default())
            }
            Self::Greader(..) | Self::Miniflux(_) => None,
        }
    }

    fn label(&self, number: u64, set: bool) {
        let Self::Greader(server, FRESHRSS) = self else { return };
        let mut state = server.state();
        let labelled = state.labels.entry(LABEL.to_owned()).or_default();
        if set {
            labelled.insert(number)
        } else {
            labelled.remove(&number)
        };
    }
}

/// What was done to a mark since the last sync that succeeded: its last value on each side.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    here: Option<bool>,
    there: Option<bool>,
}

/// What is expected: by entry, and whether it is the star (or the read mark).
type Expected = BTreeMap<(u64, bool), Done>;

struct Story {
    program: Program,
    server: Server,
    dice: Dice,
    newest: u64,
    expected: Expected,
    labelled_here: BTreeSet<u64>,
    told: Vec<String>,
}

impl Story {
    fn begin(seed: u64, kind: u64) -> Self {
        let (program, server) = (Program::new(), Server::start(kind));
        for number in 1..=12 {
            server.publish(1 + number % 2, number);
        }
        server.add(&program);
        Self {
            program,
            server,
            dice: Dice::of(seed, "interleavings", kind),
            newest: 12,
            expected: Expected::new(),
            labelled_here: BTreeSet::new(),
            told: Vec::new(),
        }
    }

    /// A random entry that both sides have, its number here, and its marks here.
    fn entry(&mut self) -> Option<(u64, String, [bool; 2])> {
        let there: BTreeSet<u64> = self.server.marks().into_iter().map(|it| it.0).collect();
        let entries = self.program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
        let number = |entry: &serde_json::Value| {
            entry["link"].as_str().unwrap().rsplit('/').next().unwrap().parse::<u64>().unwrap()
        };
        let both: Vec<_> =
            entries.as_array().unwrap().iter().filter(|it| there.contains(&number(it))).collect();
        if both.is_empty() {
            return None;
        }
        let entry = self.dice.pick(&both);
        let here = entry["number"].as_str().unwrap().to_owned();
        let marks = ["read", "starred"].map(|mark| entry[mark].as_bool().unwrap());
        Some((number(entry), here, marks))
    }

    fn mark_here(&mut self) {
        let Some((number, here, marks)) = self.entry() else { return };
        let is_star = self.dice.one_in(3);
        let value = !marks[usize::from(is_star)];
        let word = match (is_star, value) {
            (false, true) => "read",
            (false, false) => "unread",
            (true, true) => "starred",
            (true, false) => "unstarred",
        };
        self.program.run(&["mark", word, &here]).with(0);
        self.expected.entry((number, is_star)).or_default().here = Some(value);
        self.told.push(format!("{number} {word} here"));
    }

    fn mark_there(&mut self) {
        let all = self.server.marks();
        let &(number, read, star) = self.dice.pick(&all);
        let is_star = self.dice.one_in(3);
        let value = !if is_star { star } else { read };
        self.server.mark(number, is_star, value);
        self.expected.entry((number, is_star)).or_default().there = Some(value);
        self.told.push(format!("{number} star {is_star} {value} there"));
    }

    fn step(&mut self) {
        match self.dice.roll(12) {
            0..=3 => self.mark_here(),
            4 | 5 => self.mark_there(),
            6 => {
                self.newest += 1;
                self.server.publish(1 + self.newest % 2, self.newest);
                self.told.push(format!("{} published", self.newest));
            }
            7 => {
                let all = self.server.marks();
                let number = self.dice.pick(&all).0;
                self.server.delete(number);
                self.told.push(format!("{number} deleted there"));
            }
            8 => {
                let Some((number, ..)) = self.entry() else { return };
                let is_here = self.dice.one_in(2);
                if is_here && self.server.labelled().is_some() {
                    label_in(&self.program, 1 + number % 2, number, LABEL);
                    self.labelled_here.insert(number);
                } else if !self.labelled_here.contains(&number) {
                    self.server.label(number, self.dice.one_in(2));
                }
                self.told.push(format!("{number} labelled, here {is_here}"));
            }
            9 => {
                let which = self.dice.roll(4);
                self.server.fail(Some(which));
                self.program.run(&["account", "sync"]);
                self.server.fail(None);
                self.told.push(format!("sync with failures of {which}"));
            }
            10 => {
                let milliseconds = 10 + self.dice.roll(150);
                self.program
                    .killed_after(&["account", "sync"], Duration::from_millis(milliseconds));
                self.told.push(format!("sync killed after {milliseconds} ms"));
            }
            _ => {
                self.program.run(&["account", "sync"]).with(0);
                self.check_marks();
            }
        }
    }

    /// Checks, after a sync, that no action is lost.
    fn check_marks(&mut self) {
        self.told.push("sync".to_owned());
        let there: BTreeMap<u64, [bool; 2]> = self
            .server
            .marks()
            .into_iter()
            .map(|(number, read, star)| (number, [read, star]))
            .collect();
        for ((number, is_star), done) in std::mem::take(&mut self.expected) {
            let (Some(marks), true) =
                (there.get(&number), done.here.is_none() || done.there.is_none())
            else {
                continue;
            };
            let value = done.here.or(done.there).unwrap();
            assert_eq!(
                marks[usize::from(is_star)],
                value,
                "{number}, star: {is_star}: {:#?}",
                self.told
            );
        }
    }

    /// Ends with both sides equal.
    fn end(mut self) {
        self.program.run(&["account", "sync", "--whole"]).with(0);
        self.check_marks();
        self.program.run(&["account", "sync", "--whole"]).with(0);
        let there = self.server.marks();
        let numbers: BTreeSet<u64> = there.iter().map(|it| it.0).collect();
        let here = marks(&self.program);
        let shared: Vec<_> = here.into_iter().filter(|it| numbers.contains(&it.0)).collect();
        assert_eq!(shared, there, "{:#?}", self.told);
        let Some(theirs) = self.server.labelled() else { return };
        if theirs.is_empty() && self.labelled_here.is_empty() {
            return;
        }
        let mut ours = labelled(&self.program, LABEL);
        ours.retain(|number| numbers.contains(number));
        assert_eq!(ours, theirs, "{:#?}", self.told);
        self.labelled_here.retain(|number| numbers.contains(number));
        assert!(self.labelled_here.is_subset(&theirs), "{:#?}", self.told);
    }
}

/// A night runs more: `BACKISSUE_INTERLEAVINGS` is the number of seeds.
#[test]
fn every_interleaving_ends_with_equal_sides() {
    let seeds = std::env::var("BACKISSUE_INTERLEAVINGS").ok().and_then(|count| count.parse().ok());
    for seed in 0..seeds.unwrap_or(2) {
        for kind in 0..5 {
            let mut story = Story::begin(seed, kind);
            for _ in 0..STEPS {
                story.step();
            }
            story.told.push(format!("seed {seed}, kind {kind}"));
            story.end();
        }
    }
}
