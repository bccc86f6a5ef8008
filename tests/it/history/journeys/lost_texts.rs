//! Texts of entries that were lost with a store are fetched again from the archives they came from.

use backissue::io::store::{SessionLength, Store};
use backissue_core::history::EntryKey;
use chrono::TimeDelta;

use super::{FEED, NOTES, archive, serve_orchard, subscribe};
use crate::store::damage::{destroy, plant_where};
use crate::support::world::World;

#[test]
fn archive_texts_lost_with_a_store_are_refetched() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    let asked = |world: &World, name: &str| {
        world.asked().iter().filter(|url| **url == archive(name)).count()
    };
    assert_eq!((asked(&world, "2026-01"), asked(&world, "2026-02")), (1, 1));
    let entries = world.feed(1).counters.next_seq;
    let keys: Vec<EntryKey> = (0..entries).map(|seq| EntryKey { feed: FEED, seq }).collect();
    let texts = |world: &World| {
        keys.iter().filter(|key| world.store.body(**key).unwrap().is_some()).count()
    };
    let before = texts(&world);
    world.store.back_up_daily(world.now.date_naive()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    world.store = Store::open(elsewhere.path()).unwrap();
    destroy(world.folder.path());
    world.store =
        Store::open_or_recover(world.folder.path(), world.now, SessionLength::Short).unwrap().0;
    assert_eq!(texts(&world), 0, "a daily backup holds no texts");
    world.restart();
    for _ in 0..30 {
        world.pass(TimeDelta::hours(1));
        world.wait(2);
        world.rest();
    }
    assert_eq!((asked(&world, "2026-01"), asked(&world, "2026-02")), (2, 2));
    assert_eq!(texts(&world), before);
    assert_eq!(world.feed(1).history.status().text(), "complete history");
}

#[test]
fn after_a_repair_only_damaged_archives_are_walked_again() {
    for tree in ["history", "nodes"] {
        let mut world = World::new(120, 36);
        serve_orchard(&mut world);
        subscribe(&mut world, &format!("{NOTES}index.atom"));
        world.rest();
        let elsewhere = tempfile::tempdir().unwrap();
        world.store = Store::open(elsewhere.path()).unwrap();
        plant_where(world.folder.path(), tree, |_| true);
        world.store = Store::open(world.folder.path()).unwrap();
        let found = world.store.check(true).unwrap().findings;
        assert!(found.iter().all(|finding| finding.repaired), "{tree}: {found:?}");
        assert_eq!(world.store.check(false).unwrap().findings, [], "{tree}");
        world.restart();
        assert_eq!(world.feed(1).state.validators.etag, None, "{tree}: a 304 would not help");
        for _ in 0..30 {
            world.pass(TimeDelta::hours(1));
            world.wait(2);
            world.rest();
        }
        for name in ["2026-02", "2026-01", "2025-12"] {
            let asked = world.asked().iter().filter(|url| **url == archive(name)).count();
            assert_eq!(asked, if tree == "nodes" { 2 } else { 1 }, "{tree}: {name}");
        }
        assert_eq!(world.feed(1).history.status().text(), "complete history", "{tree}");
        assert_eq!(world.store.check(false).unwrap().findings, [], "{tree}");
    }
}
