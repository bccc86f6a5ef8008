//! Random keys on the demo's feeds at every size: nothing panics, nothing is drawn outside the screen, and all changes can be
//! undone.
//!
//! `BACKISSUE_KEYS=5000` presses 5000 keys.

use std::fmt::Write as _;

use backissue::engine::feeds::subscription::SubscriptionRecord;
use backissue::ui::keys::mouse::{Gesture, Mouse};
use backissue::ui::update::ScreenInput;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, Flags};

use crate::support::demo_world::demo_world;
use crate::support::world::World;

/// Number of keys unless `BACKISSUE_KEYS` is set.
const KEYS: usize = 600;
/// Number of keys in a stretch; after each stretch all its changes are undone.
const STRETCH: usize = 40;
const SIZES: [(u16, u16); 6] = [(160, 50), (100, 30), (60, 20), (40, 12), (119, 9), (12, 4)];
/// Keys that are not characters, and characters that should be pressed more often than a random choice would.
const NAMED: [&str; 28] = [
    "<enter>",
    "<esc>",
    "<tab>",
    "<up>",
    "<down>",
    "<left>",
    "<right>",
    "<home>",
    "<end>",
    "<pgup>",
    "<pgdn>",
    "<backspace>",
    "<c-d>",
    "<c-u>",
    "<c-y>",
    "<c-z>",
    "<c-p>",
    "<c-n>",
    "j",
    "l",
    "h",
    " ",
    "m",
    "t",
    "F",
    "D",
    ">",
    "<lt>",
];

/// A pseudo-random number generator (xorshift).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(below).unwrap()).unwrap()
    }

    /// Returns a random click or wheel step at a position on the screen or just outside it.
    fn mouse(&mut self, columns: u16, rows: u16) -> Mouse {
        let gestures = [
            Gesture::Click,
            Gesture::Click,
            Gesture::Click,
            Gesture::WheelDown,
            Gesture::WheelUp,
            Gesture::WheelLeft,
            Gesture::WheelRight,
        ];
        let mut below = |most: u16| u16::try_from(self.roll(usize::from(most) + 1)).unwrap();
        let (column, row) = (below(columns), below(rows));
        Mouse { gesture: gestures[self.roll(gestures.len())], column, row }
    }

    fn key(&mut self) -> String {
        if self.roll(3) == 0 {
            return NAMED[self.roll(NAMED.len())].to_owned();
        }
        let char = char::from(b' ' + u8::try_from(self.roll(95)).unwrap());
        // `World::press` would read `<` as the start of a key name, so another character replaces it.
        if char == '<' { "漢".to_owned() } else { char.to_string() }
    }
}

/// Returns everything that the user can change: subscriptions, marks of all entries, and filters.
fn state(world: &mut World) -> (Vec<SubscriptionRecord>, Vec<Flags>, Vec<EntryFilter>) {
    let keys: Vec<EntryKey> = world
        .app
        .engine
        .feeds
        .values()
        .flat_map(|feed| (0..feed.counters.next_seq).map(|seq| EntryKey { feed: feed.key, seq }))
        .collect();
    let entries = world.store.entries(&keys).unwrap();
    let records = world.app.engine.feeds.values().map(|feed| feed.record.clone()).collect();
    let rules = world.store.saved_filters().unwrap();
    assert_eq!(rules, world.app.engine.filters.list, "filters are durable");
    (records, entries.into_iter().map(|entry| entry.flags).collect(), rules)
}

#[test]
fn random_keys_break_nothing_and_can_be_undone() {
    let stated = std::env::var("BACKISSUE_KEYS").ok().and_then(|count| count.parse().ok());
    let keys: usize = stated.unwrap_or(KEYS);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut world = demo_world(100, 30);
    world.rest();
    let mut changes = 0;
    for stretch in 0..keys.div_ceil(STRETCH) {
        let (columns, rows) = SIZES[stretch % SIZES.len()];
        world.resize(columns, rows);
        let before = state(&mut world);
        let mut pressed = String::new();
        for _ in 0..STRETCH {
            if dice.roll(6) == 0 {
                let mouse = dice.mouse(columns, rows);
                write!(pressed, "{mouse:?}").ok();
                world.tell(ScreenInput::Mouse(mouse));
                world.draw();
                continue;
            }
            let key = dice.key();
            pressed.push_str(&key);
            world.press(&key);
        }
        for _ in 0..8 {
            if world.app.ui.overlay.is_some() {
                world.press("<esc>");
            }
        }
        changes += usize::from(state(&mut world) != before);
        for _ in 0..=STRETCH {
            world.press("u");
        }
        assert_eq!(world.notice(), "nothing to undo", "after {pressed}");
        assert_eq!(state(&mut world), before, "after {pressed}");
        world.quit = false;
    }
    assert!(changes * 8 > keys / STRETCH, "keys at random change something: {changes} times");
}
