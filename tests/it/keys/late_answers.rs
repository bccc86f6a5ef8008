//! Keys that arrive before the answers to what earlier keys asked for, as over a slow connection: each acts as it does if its user
//! waits for the screen before every key.
//!
//! `BACKISSUE_LATE_KEYS=5000` presses 5000 keys, `BACKISSUE_FIRST_SEED=7` begins with another sequence.

use std::collections::VecDeque;
use std::env;

use backissue::ui::effect::ScreenEffect;
use backissue::ui::update::{ScreenInput, update};
use backissue_core::history::{EntryKey, FeedKey, Flags};

use super::random_keys::Dice;
use crate::support::named_keys::named_key;
use crate::support::rss::rss;
use crate::support::world::World;
use backissue::ui::keys::key::Key;

/// Number of keys unless `BACKISSUE_LATE_KEYS` is set.
const KEYS: u64 = 600;
/// Number of keys in a sequence.
const SEQUENCE: usize = 40;
const SIZES: [(u16, u16); 5] = [(120, 40), (60, 20), (100, 30), (200, 50), (40, 12)];
const TITLES: [&str; 6] = ["Swarm", "Wax", "Vespers", "Ladders", "Matins", "Honey"];
/// Sequences of keys to choose from. A sequence that is listed several times is chosen more often. Spaces separate its keys.
const TYPED: &[&str] = &[
    "j",
    "j",
    "j",
    "k",
    "k",
    "J",
    "J",
    "K",
    "n",
    "n",
    "p",
    "space",
    "space",
    "enter",
    "enter",
    "h",
    "l",
    "l",
    "tab",
    "g",
    "G",
    "s",
    "s",
    "s",
    "N",
    "N",
    "N",
    "x",
    "X",
    "d",
    "u",
    "u",
    "c-y",
    "c-d",
    "c-u",
    "down",
    "up",
    "pgdn",
    "pgup",
    "f",
    "S",
    "B",
    "z",
    "L",
    "esc",
    "/ w a x enter",
    "/ s w enter",
    "# l a t e r enter",
    "b n i n e enter",
    "b f e e d space 2 enter",
    ": s t a r enter",
    "? j esc",
    "i esc",
    "j j j j",
    "n n",
    "space space space",
    "A",
    "U",
    "c",
    "@ 2 0 2 6 enter",
    "5 j",
];

fn key(name: &str) -> Key {
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => Key::char(char),
        _ if name == "space" => Key::char(' '),
        _ => named_key(name),
    }
}

/// Returns a world with four feeds of short and long texts.
fn world((columns, rows): (u16, u16)) -> World {
    let long = "<p>Queen cells again, and the bees are loud.</p>".repeat(30);
    let names = ["Feed 1", "Feed 2", "Nine", "Tower"];
    let documents: Vec<String> = (0..4_usize)
        .map(|feed| {
            let items: Vec<(String, String, i64)> = (0..12_i64)
                .map(|at| {
                    let place = feed.saturating_add(usize::try_from(at).unwrap());
                    let title = format!("{} {at}", TITLES[place % TITLES.len()]);
                    (format!("f{feed}e{at}"), title, at * 5 + 1)
                })
                .collect();
            let items: Vec<(&str, &str, i64, &str)> = items
                .iter()
                .map(|(id, title, hours)| {
                    let text = if hours % 2 == 0 { long.as_str() } else { "<p>short</p>" };
                    (id.as_str(), title.as_str(), *hours, text)
                })
                .collect();
            rss(names[feed], &items)
        })
        .collect();
    let urls = [
        "https://a.example/f",
        "https://b.example/f",
        "https://c.example/f",
        "https://d.example/f",
    ];
    let tags: [&[&str]; 4] = [&["bees"], &["bees"], &[], &["towers"]];
    let feeds: Vec<(&str, &str, &[&str])> =
        (0..4).map(|at| (urls[at], documents[at].as_str(), tags[at])).collect();
    World::subscribed(columns, rows, &feeds)
}

/// Marks and labels of all entries, and what is selected and open.
type State = (Vec<(EntryKey, Flags, Vec<u32>)>, String, Option<EntryKey>);

fn state(world: &mut World) -> State {
    let keys =
        (1..=4).flat_map(|feed| (0..12).map(move |seq| EntryKey { feed: FeedKey(feed), seq }));
    let entries = world.store.entries(&keys.collect::<Vec<_>>()).unwrap();
    let marks = entries.into_iter().map(|entry| (entry.key, entry.flags, entry.ruled)).collect();
    let selected = world.app.ui.list.selected_row().map(|row| row.title.clone());
    let open = world.app.ui.shown_reader().map(|reader| reader.entry.key);
    (marks, selected.unwrap_or_default(), open)
}

/// Answers that are under way: those of the store, and those of other threads. Each thread answers in order.
#[derive(Default)]
struct UnderWay {
    store: VecDeque<ScreenEffect>,
    others: VecDeque<ScreenEffect>,
}

impl UnderWay {
    fn add(&mut self, effects: Vec<ScreenEffect>) {
        for effect in effects {
            match effect {
                ScreenEffect::Engine(_) => self.store.push_back(effect),
                _ => self.others.push_back(effect),
            }
        }
    }

    fn take(&mut self, others: bool) -> Option<ScreenEffect> {
        if others && let Some(effect) = self.others.pop_front() {
            return Some(effect);
        }
        self.store.pop_front().or_else(|| self.others.pop_front())
    }
}

fn press_late(world: &mut World, keys: &[&str], dice: &mut Dice) {
    let mut under_way = UnderWay::default();
    for name in keys.iter().flat_map(|typed| typed.split(' ')) {
        under_way.add(update(&mut world.app, world.now, ScreenInput::Key(key(name))));
        for _ in 0..dice.roll(4).saturating_sub(1) {
            match dice.roll(3) {
                0 => under_way.add(world.measure()),
                lane => {
                    if let Some(effect) = under_way.take(lane == 1) {
                        under_way.add(world.perform_one(effect));
                    }
                }
            }
        }
    }
    loop {
        under_way.add(world.measure());
        let Some(effect) = under_way.take(dice.roll(2) == 0) else { break };
        under_way.add(world.perform_one(effect));
    }
    for _ in 0..3 {
        world.draw();
    }
}

fn press_calmly(world: &mut World, keys: &[&str]) {
    for name in keys.iter().flat_map(|typed| typed.split(' ')) {
        world.tell(ScreenInput::Key(key(name)));
        for _ in 0..3 {
            world.draw();
        }
    }
}

/// Returns what differs at the end of a sequence of keys, late and calm.
fn differences(seed: u64, keys: &[&str], size: (u16, u16)) -> Vec<String> {
    let (mut late, mut calm) = (world(size), world(size));
    late.draw();
    calm.draw();
    press_late(&mut late, keys, &mut Dice(seed));
    press_calmly(&mut calm, keys);
    let [late, calm] = [state(&mut late), state(&mut calm)];
    let marks = late.0.iter().zip(&calm.0).filter(|(late, calm)| late != calm);
    let mut found: Vec<String> = marks.map(|both| format!("{both:?}")).collect();
    if (&late.1, late.2) != (&calm.1, calm.2) {
        found.push(format!("selected and open: {:?} {:?}", (late.1, late.2), (calm.1, calm.2)));
    }
    found
}

/// Removes keys as long as the rest still ends differently.
fn shrunk(seed: u64, mut keys: Vec<&str>, size: (u16, u16)) -> Vec<&str> {
    let mut length = keys.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at + length <= keys.len() {
            let mut less = keys.clone();
            less.drain(at..at + length);
            if (seed..seed + 6).any(|seed| !differences(seed, &less, size).is_empty()) {
                keys = less;
            } else {
                at += length;
            }
        }
        length /= 2;
    }
    keys
}

#[test]
fn late_answers_change_nothing() {
    let stated = |name: &str| env::var(name).ok().and_then(|number| number.parse().ok());
    let first: u64 = stated("BACKISSUE_FIRST_SEED").unwrap_or(1);
    let sequences =
        stated("BACKISSUE_LATE_KEYS").unwrap_or(KEYS) / u64::try_from(SEQUENCE).unwrap();
    let mut unequal = Vec::new();
    for number in first..first + sequences {
        let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let size = SIZES[dice.roll(SIZES.len())];
        let mut keys: Vec<&str> = Vec::new();
        while keys.len() < SEQUENCE {
            keys.push(TYPED[dice.roll(TYPED.len())]);
        }
        let seed = dice.0;
        if !differences(seed, &keys, size).is_empty() {
            let keys = shrunk(seed, keys, size);
            let found = (seed..seed + 6).map(|seed| differences(seed, &keys, size));
            let found = found.max_by_key(Vec::len);
            unequal.push((number, size, keys.join(" "), found));
            if unequal.len() >= 3 {
                break;
            }
        }
    }
    assert!(unequal.is_empty(), "{unequal:#?}");
}
