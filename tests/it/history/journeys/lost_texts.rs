//! Texts that are lost with a store come back from the archives that they came from.

use backissue::history::EntryKey;
use backissue::io::store::{Stay, Store};
use chrono::TimeDelta;

use super::{FEED, NOTES, archive, serve_orchard, subscribe};
use crate::support::world::World;

#[test]
fn texts_from_archives_that_were_lost_with_a_store_are_asked_for_again_by_themselves() {
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
    std::fs::write(world.folder.path().join("store/db"), vec![7; 3_000_000]).unwrap();
    world.store = Store::open_or_recover(world.folder.path(), world.now, Stay::Short).unwrap().0;
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
