//! Entry rows that were requested from the store before a key press and arrive after it do not undo the effect of the key.

use crate::support::rss::{numbered, rss};
use crate::support::store_port::{Kind, entry_read, entry_wanted, rows_read, rows_wanted};
use crate::support::world::{World, start};
use backissue::engine::entries::entry_view::LoadedEntry;
use backissue::engine::entries::rows::RowsLoaded;
use backissue::engine::request::Input;
use backissue::ui::app::Cx;
use backissue::ui::keys::key::{Code, Key, parse_key};
use backissue::ui::panes::load_rows::{open_list, refresh_list};
use backissue::ui::update::{ScreenInput, update};
use backissue_core::feed::Entry;
use backissue_core::history::kept::Position;
use backissue_core::history::{Flags, KeptEntry, Rank};
use chrono::TimeDelta;

/// Returns a world whose entry list has three entries with the first one selected, and the store's answer to a refresh of that
/// list, which has not arrived yet.
fn refreshing() -> (World, Input) {
    let items = [("a", "Wax", 1, "a"), ("b", "Ladders", 2, "b"), ("c", "Vespers", 3, "c")];
    let feed = rss("Orchard Notes", &items);
    let mut world = World::subscribed(120, 36, &[("https://orchard.example/feed", &feed, &[])]);
    world.press("l");
    let asked = Cx::run(&mut world.app, start(), refresh_list);
    let wanted = rows_wanted(&asked);
    let list = &world.app.ui.list;
    let found = wanted.around.and_then(|key| list.rows.iter().position(|row| row.key == key));
    let (rows, total) = (list.rows.clone(), list.total);
    let (list, asked, opened) = (wanted.list, wanted.asked, None);
    let (seek, dated) = (false, false);
    let (offset, sharing) = (0, 0);
    let loaded =
        RowsLoaded { list, total, sharing, offset, rows, found, asked, seek, dated, opened };
    (world, rows_read(loaded))
}

#[test]
fn selection_moved_while_loading_is_kept() {
    let (mut world, rows) = refreshing();
    world.press("j");
    world.tell(rows);
    assert_eq!(world.app.ui.list.selected, 1);
}

#[test]
fn entry_opened_while_loading_is_shown() {
    let (mut world, rows) = refreshing();
    world.press("j");
    let enter = ScreenInput::Key(Key::code(Code::Enter));
    let asked = update(&mut world.app, start(), enter);
    let key = entry_wanted(&asked);
    world.tell(rows);
    let entry = Entry { id: "b".into(), title: Some("Ladders".into()), ..Entry::default() };
    let rank = Rank::new(None, None, Position::Subscription, start());
    let kept = KeptEntry::from_copy(&entry, start(), rank);
    let loaded = LoadedEntry {
        key,
        kept,
        flags: Flags::NEW,
        body: None,
        text_gone: false,
        ruled: Vec::new(),
        place: None,
        full: None,
    };
    world.tell(entry_read(loaded));
    let shown = world.app.ui.reader.as_ref().map(|reader| reader.entry.key);
    assert_eq!(shown, Some(key));
}

#[test]
fn keys_typed_ahead_act_on_what_an_earlier_key_opens() {
    let hives = numbered("Hives", "Hive", 300, 1);
    let key = |code| ScreenInput::Key(Key::code(code));
    for (before, opens, then, title) in [
        ("<enter>", 'G', [Code::Char('s')].as_slice(), "Hive 300"),
        ("<enter>/hive 1", '7', &[Code::Enter, Code::Char('s')], "Hive 17"),
    ] {
        let mut world = World::subscribed(120, 36, &[("https://hives.example/feed", &hives, &[])]);
        world.press(before);
        let mut asked = update(&mut world.app, start(), key(Code::Char(opens)));
        for code in then {
            asked.extend(update(&mut world.app, start(), key(*code)));
        }
        assert_eq!(world.app.engine.starred(), 0, "{title}: it waits");
        world.perform(asked);
        let row = world.app.ui.list.selected_row().unwrap();
        assert_eq!((row.title.as_str(), row.flags.is_starred()), (title, true));
        assert_eq!(world.app.engine.starred(), 1, "{title}");
        // If the store does not answer, keys act on what is shown.
        drop(Cx::run(&mut world.app, start(), open_list));
        assert!(update(&mut world.app, start(), key(Code::Char('?'))).is_empty());
        assert!(world.app.ui.overlay.is_none());
        update(&mut world.app, start() + TimeDelta::seconds(4), key(Code::Esc));
        assert!(world.app.ui.overlay.is_none(), "the help was opened and closed");
        update(&mut world.app, start() + TimeDelta::seconds(4), key(Code::Char('?')));
        assert!(world.app.ui.overlay.is_some());
    }
}

/// What a key asks of the store is done before the next key acts on it.
#[test]
fn keys_at_once_do_what_they_do_one_by_one() {
    let hives = numbered("Hives", "Hive", 30, 1);
    let notes = rss("Bell Tower", &[("v", "Vespers", 40, "a"), ("w", "Matins", 41, "b")]);
    let feeds: [(&str, &str, &[&str]); 2] =
        [("https://tower.example/feed", &notes, &[]), ("https://hives.example/feed", &hives, &[])];
    let state = |keys: &str, at_once: bool| {
        let mut world = World::subscribed(120, 36, &feeds);
        world.press("l");
        if at_once {
            let keys = keys.split(' ').map(|key| parse_key(key).unwrap());
            let asked: Vec<_> = keys
                .flat_map(|key| update(&mut world.app, start(), ScreenInput::Key(key)))
                .collect();
            world.perform(asked);
        } else {
            for key in keys.split(' ') {
                world.tell(ScreenInput::Key(parse_key(key).unwrap()));
                world.draw();
            }
        }
        for _ in 0..4 {
            world.draw();
        }
        let rows = world.app.ui.list.rows.iter();
        let rows = rows.map(|row| (row.title.clone(), row.flags, row.ruled.clone()));
        (rows.collect::<Vec<_>>(), world.app.engine.unread(), world.app.engine.starred())
    };
    for keys in ["Space d u n", "Space d d", "Space d s u u", "d s j d u Ctrl-y", "z z n d N n"] {
        assert_eq!(state(keys, true), state(keys, false), "{keys}");
    }
}

#[test]
fn keys_typed_ahead_scroll_the_text_once_it_is_laid_out() {
    let text = "<p>Queen cells again</p>".repeat(80);
    let feed = rss("Hives", &[("a", "Swarm", 1, &text), ("b", "Wax", 2, "a")]);
    let mut world = World::subscribed(120, 36, &[("https://hives.example/feed", &feed, &[])]);
    world.press("l");
    let mut asked = Vec::new();
    for code in [Code::Enter, Code::Char('j'), Code::Char('j'), Code::Char('j')] {
        asked.extend(update(&mut world.app, start(), ScreenInput::Key(Key::code(code))));
    }
    world.perform(asked);
    world.draw();
    let reader = world.app.ui.reader.as_ref().unwrap();
    assert_eq!((reader.entry.kept.title.as_deref(), reader.scroll), (Some("Swarm"), 3));
}

#[test]
fn first_unread_entry_is_found_beyond_the_loaded_rows() {
    let hives = numbered("Hives", "Hive", 300, 1);
    let notes = rss("Bell Tower", &[("v", "Vespers", 1, "")]);
    let feeds: [(&str, &str, &[&str]); 2] =
        [("https://tower.example/feed", &notes, &[]), ("https://hives.example/feed", &hives, &[])];
    let mut world = World::subscribed(120, 36, &feeds);
    world.press("<enter>A");
    assert_eq!(world.app.engine.unread(), 0);
    // These keys make the oldest entry of one feed the only unread entry; then the list of the other feed is opened.
    world.press("GN");
    assert_eq!(world.app.engine.unread(), 1);
    world.press("hg");
    for _ in 0..20 {
        if world.titles() != ["Vespers"] {
            world.press("j");
        }
    }
    assert_eq!(world.titles(), ["Vespers"]);
    world.press("n");
    let reader = world.app.ui.reader.as_ref();
    assert_eq!(reader.and_then(|reader| reader.entry.kept.title.as_deref()), Some("Hive 300"));
    let rows = world.app.ui.list.rows.len();
    assert!(rows < 300, "{rows} are not all of them");
}

#[test]
fn change_during_a_partial_load_is_shown_afterwards() {
    let hives = numbered("Hives", "Hive", 300, 1);
    let mut world = World::subscribed(120, 36, &[("https://hives.example/feed", &hives, &[])]);
    // A finished poll marks the list as stale before the first rows of the list arrive.
    let asked = Cx::run(&mut world.app, start(), open_list);
    world.app.ui.list.stale = true;
    world.perform(asked);
    let list = &world.app.ui.list;
    assert!(!list.stale && !list.waiting, "it was rebuilt");
    let asked = update(&mut world.app, start(), Input::Tick.into());
    assert!(!asked.iter().any(|effect| Kind::ReadsRows.starts(effect)), "{asked:?}");
}

#[test]
fn backup_is_requested_at_startup() {
    let mut world = World::new(120, 36);
    let asked = update(&mut world.app, start(), Input::Tick.into());
    let backups = asked.iter().filter(|effect| Kind::BacksUp.starts(effect));
    assert_eq!(backups.count(), 1);
}

#[test]
fn backup_is_requested_daily_without_a_screen() {
    let mut world = World::new(120, 36);
    world.app.engine.attended = false;
    let mut asked = |lasts: bool, hours: i64| {
        world.app.engine.polls_by_itself = lasts;
        let asked = update(&mut world.app, start() + TimeDelta::hours(hours), Input::Tick.into());
        asked.iter().any(|effect| Kind::BacksUp.starts(effect))
    };
    assert!(!asked(false, 0), "a command that ends soon");
    let days: Vec<bool> = [0, 0, 24, 25, 48].map(|hours| asked(true, hours)).into();
    assert_eq!(days, [true, false, true, false, true]);
}
