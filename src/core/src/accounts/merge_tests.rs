//! Property test: whatever happens on both sides, and wherever a sync is interrupted, both sides are equal in the end.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::api_call::{ItemId, MarkAction};
use super::marks::{KnownMarks, Marks, ServerMarks};

/// Number of steps of a sync. A sync can be interrupted after each.
const STEPS: u8 = 7;

#[derive(Debug, Clone)]
enum Event {
    /// A mark is changed here or on the server.
    Mark { here: bool, item: u8, star: bool, value: bool },
    /// The server has another entry. If `met` is set, this side already had the entry from a feed, with these marks
    /// (read, starred).
    Add { item: u8, met: Option<(bool, bool)> },
    /// The server deletes an entry.
    Delete(u8),
    /// A sync that is interrupted after some steps, while marks are changed here. If `lies` is set, the server answers `OK` but
    /// does nothing.
    Sync { steps: u8, meanwhile: Vec<(u8, bool, bool)>, lies: bool },
}

/// The state of both sides. Local marks are stored with the entry, and the agreed marks are written together with them.
#[derive(Debug, Default)]
struct World {
    there: BTreeMap<ItemId, Marks>,
    here: BTreeMap<ItemId, KnownMarks>,
    met: BTreeMap<ItemId, Marks>,
    /// For each mark, the sides that changed it, with the last value that each set.
    acted: BTreeMap<(ItemId, bool), BTreeMap<bool, bool>>,
    toggles: bool,
}

fn id(item: u8) -> ItemId {
    ItemId::read(&item.to_string()).unwrap()
}

fn set(marks: &mut Marks, star: bool, value: bool) -> bool {
    let mark = if star { &mut marks.is_starred } else { &mut marks.is_read };
    std::mem::replace(mark, value) != value
}

impl World {
    fn mark(&mut self, here: bool, item: u8, star: bool, value: bool) {
        let key = id(item);
        let marks = if here {
            self.here.get_mut(&key).map(|known| &mut known.local)
        } else {
            self.there.get_mut(&key)
        };
        if marks.is_some_and(|marks| set(marks, star, value)) {
            self.acted.entry((key, star)).or_default().insert(here, value);
        }
    }

    fn lists(&self) -> ServerMarks {
        let with = |test: fn(&Marks) -> bool| -> BTreeSet<ItemId> {
            self.there.iter().filter(|(_, marks)| test(marks)).map(|(id, _)| id.clone()).collect()
        };
        ServerMarks { unread: with(|it| !it.is_read), starred: with(|it| it.is_starred) }
    }

    /// Merges the pulled marks into the present local ones in one step, as the store does, for entries that exist on the server.
    fn apply(&mut self, lists: &ServerMarks) {
        let doubtful: BTreeSet<ItemId> = lists.doubtful(&self.here).into_iter().collect();
        let exists: BTreeSet<ItemId> = self.there.keys().cloned().collect();
        self.here.retain(|id, _| !doubtful.contains(id) || exists.contains(id));
        for (id, known) in &mut self.here {
            if exists.contains(id) {
                *known = known.merged(lists.of(id));
            }
        }
    }

    fn sync(&mut self, steps: u8, meanwhile: &[(u8, bool, bool)], lies: bool) {
        let mut during = meanwhile.iter();
        let mut lists = ServerMarks::default();
        let mut pending = BTreeMap::new();
        for step in 0..steps {
            match step {
                0 => lists = self.lists(),
                1 => {
                    let all: Vec<ItemId> = self.there.keys().cloned().collect();
                    for id in all {
                        if !self.here.contains_key(&id) {
                            let remote = lists.of(&id);
                            let known = match self.met.get(&id) {
                                Some(local) => KnownMarks::first(*local, remote),
                                None => KnownMarks::first(remote, remote),
                            };
                            self.here.insert(id, known);
                        }
                    }
                }
                2 => self.apply(&lists),
                3 => pending = lists.to_send(&self.here),
                4 => {
                    for (action, ids) in &pending {
                        for id in ids {
                            let Some(known) = self.here.get_mut(id) else { continue };
                            let star = matches!(action, MarkAction::Star | MarkAction::Unstar);
                            set(&mut known.sent, star, true);
                        }
                    }
                }
                5 => {
                    for (action, ids) in pending.iter().filter(|_| !lies) {
                        for id in ids {
                            let Some(marks) = self.there.get_mut(id) else { continue };
                            let (star, value) = match action {
                                MarkAction::Read => (false, true),
                                MarkAction::Unread => (false, false),
                                MarkAction::Star => (true, true),
                                MarkAction::Unstar => (true, false),
                            };
                            let had = if star { marks.is_starred } else { marks.is_read };
                            set(marks, star, if self.toggles { !had } else { value });
                        }
                    }
                }
                _ => {
                    let lists = self.lists();
                    self.apply(&lists);
                }
            }
            if let Some(&(item, star, value)) = during.next() {
                self.mark(true, item, star, value);
            }
        }
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let item = 1..6_u8;
    let event = prop_oneof![
        4 => (any::<bool>(), item.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(here, item, star, value)| Event::Mark { here, item, star, value }),
        2 => (item.clone(), any::<Option<(bool, bool)>>()).prop_map(|(item, met)| Event::Add { item, met }),
        1 => item.clone().prop_map(Event::Delete),
        3 => (0..=STEPS, prop::collection::vec((item, any::<bool>(), any::<bool>()), 0..4), any::<bool>())
            .prop_map(|(steps, meanwhile, lies)| Event::Sync { steps, meanwhile, lies }),
    ];
    prop::collection::vec(event, 1..40)
}

proptest! {
    #[test]
    fn both_sides_become_equal_and_no_action_is_lost(events in events(), toggles in any::<bool>()) {
        let mut world = World { toggles, ..World::default() };
        let mut deleted = BTreeSet::new();
        for event in events {
            match event {
                Event::Mark { here, item, star, value } => world.mark(here, item, star, value),
                Event::Add { item, met } => {
                    // Ids are never reused.
                    if !deleted.contains(&item) && !world.there.contains_key(&id(item)) {
                        world.there.insert(id(item), Marks::default());
                        let met = met.map(|(is_read, is_starred)| Marks { is_read, is_starred });
                        if let Some(marks) = met {
                            world.met.insert(id(item), marks);
                            for (star, value) in [(false, marks.is_read), (true, marks.is_starred)] {
                                if value {
                                    world.acted.entry((id(item), star)).or_default().insert(true, true);
                                }
                            }
                        }
                    }
                }
                Event::Delete(item) => {
                    if world.there.remove(&id(item)).is_some() {
                        deleted.insert(item);
                    }
                }
                Event::Sync { steps, meanwhile, lies } => world.sync(steps, &meanwhile, lies),
            }
        }
        world.sync(STEPS, &[], false);
        for (id, marks) in &world.there {
            let known = world.here.get(id).copied();
            prop_assert_eq!(known, Some(KnownMarks::first(*marks, *marks)), "{:?}", id);
            for star in [false, true] {
                let value = if star { marks.is_starred } else { marks.is_read };
                let acted = world.acted.get(&(id.clone(), star));
                let values: BTreeSet<bool> = acted.map(|sides| sides.values().copied().collect()).unwrap_or_default();
                prop_assert!(values.is_empty() && !value || values.contains(&value), "{:?} {:?}", id, values);
            }
        }
    }
}
