//! Rows that were asked for before a key and come after it change nothing the key did.

use backissue::app::effect::Effect;
use backissue::app::key::{Code, Key};
use backissue::app::listing::RowsLoaded;
use backissue::app::msg::{LoadedEntry, Msg};
use backissue::app::update::update;
use backissue::app::walking::refresh_list;
use backissue::feed::Entry;
use backissue::history::rank::Position;
use backissue::history::{Flags, KeptEntry, Rank};

use crate::world::{World, rss, start};

/// A list of three with the first selected, and the rows of a refresh that is under way.
fn refreshing() -> (World, Msg) {
    let items = [("a", "Wax", 1, "a"), ("b", "Ladders", 2, "b"), ("c", "Vespers", 3, "c")];
    let feed = rss("Orchard Notes", &items);
    let mut world = World::subscribed(120, 36, &[("https://orchard.example/feed", &feed, &[])]);
    world.press("l");
    let asked = refresh_list(&mut world.model, start());
    let [Effect::LoadRows(wanted)] = asked.as_slice() else { panic!("{asked:?}") };
    let list = &world.model.screen.list;
    let found = wanted.around.and_then(|key| list.rows.iter().position(|row| row.key == key));
    let (rows, total) = (list.rows.clone(), list.total);
    let (list, opened) = (wanted.list, None);
    let loaded = RowsLoaded { list, total, offset: 0, rows, found, seek: false, opened };
    (world, Msg::RowsLoaded(loaded))
}

#[test]
fn the_selection_stays_where_a_key_put_it_meanwhile() {
    let (mut world, rows) = refreshing();
    world.press("j");
    world.tell(rows);
    assert_eq!(world.model.screen.list.selected, 1);
}

#[test]
fn an_entry_that_was_opened_meanwhile_is_shown() {
    let (mut world, rows) = refreshing();
    world.press("j");
    let enter = Msg::Key(Key::code(Code::Enter));
    let asked = update(&mut world.model, start(), enter);
    let Some(Effect::LoadEntry(key)) = asked.first() else { panic!("{asked:?}") };
    world.tell(rows);
    let entry = Entry { id: "b".into(), title: Some("Ladders".into()), ..Entry::default() };
    let rank = Rank::new(None, None, Position::Subscription, start());
    let kept = KeptEntry::of(&entry, start(), rank);
    let loaded = LoadedEntry {
        key: *key,
        kept,
        flags: Flags::NEW,
        body: None,
        ruled: Vec::new(),
        place: None,
        full: None,
    };
    world.tell(Msg::EntryLoaded(Box::new(loaded)));
    let shown = world.model.screen.reader.as_ref().map(|reader| reader.entry.key);
    assert_eq!(shown, Some(*key));
}
