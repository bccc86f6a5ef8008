//! Filters: they are proposed from an entry, previewed, applied to existing and new entries, and undone.

use crate::support::store_port::{self, Kind};
use crate::support::world::{World, rss, start};
use backissue::engine::request::{Effect, Input, Request};
use backissue::ui::app::Cx;
use backissue::ui::effect::ScreenEffect;
use backissue::ui::state::layout::Pane;
use backissue::ui::state::overlay::Overlay;
use backissue::ui::update::update;
use backissue_core::filters::{Action, EntryFilter};
use backissue_core::history::{EntryKey, FeedKey, Flags};

const NOTES: &str = "https://orchard.example/feed";
const TOWER: &str = "https://tower.example/feed";

/// Returns a world with two feeds that have advertisements among their entries.
fn world() -> World {
    let notes = rss(
        "Orchard Notes",
        &[
            ("n4", "Sponsored: ladders", 1, "<p>Buy a ladder now.</p>"),
            ("n3", "Frost", 2, "<p>It was cold.</p>"),
            ("n2", "Sponsored: wax", 3, "<p>Buy wax.</p>"),
            ("n1", "Grafting", 4, "<p>Cut it slowly.</p>"),
        ],
    );
    let tower = rss(
        "Bell Tower",
        &[("b2", "Sponsored: ropes", 5, "<p>Buy ropes.</p>"), ("b1", "Vespers", 6, "<p>Six.</p>")],
    );
    World::subscribed(120, 36, &[(NOTES, &notes, &["garden"]), (TOWER, &tower, &["sound"])])
}

/// Returns the marks of all entries, the filters, and the number of unread entries.
fn state(world: &mut World) -> (Vec<Flags>, Vec<EntryFilter>, u64) {
    let keys: Vec<EntryKey> = world
        .app
        .engine
        .feeds
        .values()
        .flat_map(|feed| (0..feed.counters.next_seq).map(|seq| EntryKey { feed: feed.key, seq }))
        .collect();
    let entries = world.store.entries(&keys).unwrap();
    let flags = entries.into_iter().map(|entry| entry.flags).collect();
    assert_eq!(
        world.store.saved_filters().unwrap(),
        world.app.engine.filters.list,
        "filters are durable"
    );
    (flags, world.app.engine.filters.list.clone(), world.app.engine.unread())
}

/// Polls the first feed after its publisher added one entry.
fn publish(world: &mut World, guid: &str, title: &str) {
    let more = [(guid, title, 0, "<p>More.</p>"), ("n3", "Frost", 2, "<p>It was cold.</p>")];
    world.serve(NOTES, &rss("Orchard Notes", &more));
    world.poll(FeedKey(1));
}

#[test]
fn filter_from_an_entry_previews_and_hides_hits() {
    let mut world = world();
    assert_eq!(world.app.engine.unread(), 6);
    world.press("<enter>m");
    let screen = world.draw();
    assert!(screen.contains("matches 2 of 4 entries, 2 unread"), "{screen}");
    assert!(screen.contains("Sponsored: wax") && screen.contains("'Orchard Notes'"), "{screen}");
    world.press("<enter>");
    assert_eq!(world.notice(), "filter saved: 2 entries hidden · u undo");
    assert_eq!(world.titles(), ["Frost", "Grafting", "Sponsored: ropes", "Vespers"]);
    assert_eq!(world.app.engine.unread(), 4);
    world.press("u");
    assert_eq!((world.app.engine.unread(), world.titles().len()), (6, 6));
    assert_eq!(world.notice(), "undone: filter 'title:Sponsored' · 2 entries");
    world.press("<c-y>");
    assert_eq!((world.app.engine.unread(), world.titles().len()), (4, 4));
}

#[test]
fn new_entries_are_filtered_before_being_counted() {
    let mut world = world();
    world.press("<enter>m<enter>");
    publish(&mut world, "n5", "sponsored: shears");
    assert_eq!(world.app.engine.unread(), 4, "it never counted as unread");
    assert_eq!(world.app.engine.feeds[&FeedKey(1)].counters.next_seq, 5);
    publish(&mut world, "n6", "Pruning");
    assert_eq!(world.app.engine.unread(), 5);
    world.restart();
    publish(&mut world, "n7", "Sponsored: again");
    assert_eq!(world.app.engine.unread(), 5, "filters outlive a restart");
}

#[test]
fn undoing_a_filter_shows_entries_hidden_on_arrival() {
    let mut world = world();
    world.press("<enter>m<enter>");
    publish(&mut world, "n5", "Sponsored: shears");
    world.press("u");
    assert_eq!((world.app.engine.unread(), world.app.engine.filters.list.len()), (7, 0));
}

#[test]
fn hidden_entries_are_searchable_and_a_star_shows_one() {
    let mut world = world();
    world.press("<enter>m<enter>hGkk");
    assert_eq!(world.titles(), ["Frost", "Grafting"]);
    world.press("lfff");
    assert_eq!(world.titles(), ["Sponsored: ladders", "Sponsored: wax"]);
    world.press("m");
    let screen = world.draw();
    assert!(screen.contains("matches 2 of 4"), "the rule that hides it is opened: {screen}");
    world.press("<esc>s");
    world.press("hkl");
    world.press("f");
    world.press("/is:hidden<enter>");
    assert_eq!(world.titles(), ["Sponsored: wax"]);
    world.press("<esc>/sponsored is:hidden<enter>");
    assert_eq!(world.titles(), ["Sponsored: wax"]);
    world.press("<esc>/sponsored<enter>");
    assert_eq!(world.titles().len(), 2, "one has a star, one is of another feed");
}

#[test]
fn filter_marking_read_is_named_above_the_text() {
    let mut world = world();
    world.press("<enter>m<up><up><right><enter>");
    assert_eq!(world.notice(), "filter saved: 2 entries marked read · u undo");
    assert_eq!(world.app.engine.unread(), 4);
    world.press("hGkklg<enter>");
    let screen = world.draw();
    let reason = "marked read by filter 'title:Sponsored, in";
    assert!(screen.contains(reason), "{screen}");
    world.press("N");
    assert!(!world.draw().contains(reason), "it is unread now");
    world.press("uu");
    assert_eq!(world.app.engine.unread(), 6);
}

#[test]
fn label_is_listed_and_found_as_a_tag() {
    let mut world = world();
    world.press("<enter>m<up><up><left><down>ads<enter>");
    assert_eq!(world.notice(), "filter saved: 2 entries labelled #ads · u undo");
    assert_eq!(world.app.engine.filters.list[0].action, Action::Label("ads".into()));
    assert!(world.draw().contains("#ads"), "{}", world.draw());
    world.press("/tag:ads<enter>");
    assert_eq!(world.titles(), ["Sponsored: ladders", "Sponsored: wax"]);
    world.press("<esc>/-tag:ads<enter>");
    assert_eq!(world.titles().len(), 4);
    world.press("<esc>/tag:sound<enter>");
    assert_eq!(world.titles().len(), 2);
    world.press("<esc>u");
    assert!(!world.draw().contains("#ads"));
}

#[test]
fn changed_filter_shows_entries_it_no_longer_hits() {
    let mut world = world();
    world.press("<enter>m<enter>F<enter>");
    // These keys apply the filter to all feeds and replace its word by "ropes".
    world.press("<up><right><down><c-u>ropes<enter>");
    assert_eq!(world.notice(), "filter saved: 1 entry hidden, 2 entries shown again · u undo");
    world.press("<esc>");
    assert_eq!(world.titles().len(), 5);
    world.press("u");
    assert_eq!(world.titles().len(), 4);
    world.press("u");
    assert_eq!((world.titles().len(), world.app.engine.filters.list.len()), (6, 0));
}

#[test]
fn filter_is_removed_and_restored_by_undo() {
    let mut world = world();
    world.press("<enter>m<enter>hm");
    let screen = world.draw();
    assert!(screen.contains("hide: title:Sponsored, in 'Orchard Notes'"), "{screen}");
    assert!(screen.contains("matched 2 · 2 hidden now"), "{screen}");
    world.press("D");
    assert_eq!(world.notice(), "the filter was removed: 2 entries shown again · u undo");
    assert_eq!(world.app.engine.unread(), 6);
    world.press("u");
    assert_eq!((world.app.engine.unread(), world.app.engine.filters.list.len()), (4, 1));
    world.press("q");
    assert!(world.app.ui.overlay.is_none());
}

#[test]
fn entry_hidden_by_two_filters_needs_both_removed() {
    let mut world = world();
    world.press("<enter>m<enter>");
    world.press("hGkl");
    world.press("hm");
    world.press("a\"buy wax\"<enter>");
    assert_eq!(world.notice(), "filter saved: 0 entries hidden · u undo");
    world.press("gD");
    assert_eq!(world.notice(), "the filter was removed: 1 entry shown again · u undo");
    assert_eq!(world.app.engine.unread(), 5);
    world.press("D");
    assert_eq!(world.app.engine.unread(), 6);
    world.press("uuuu");
    assert_eq!((world.app.engine.unread(), world.app.engine.filters.list.len()), (6, 0));
}

#[test]
fn invalid_expression_is_reported_in_the_dialog() {
    let mut world = world();
    world.press("<enter>m<c-u>/(spon/");
    let screen = world.draw();
    assert!(
        screen.contains("'/(spon/' is not a valid regular expression: unclosed group"),
        "{screen}"
    );
    world.press("<enter>");
    assert!(matches!(world.app.ui.overlay, Some(Overlay::FilterDialog(_))), "it stays open");
    assert!(world.app.engine.filters.list.is_empty());
    world.press("<backspace>sored)/");
    assert!(world.draw().contains("matches 2 of 4"), "{}", world.draw());
    world.press("<c-u><up><right>");
    assert!(world.draw().contains("feeds with the tag") || world.draw().contains("all feeds"));
    world.press("<esc>");
    assert!(world.app.engine.filters.list.is_empty());
}

#[test]
fn filter_applies_until_its_end_time() {
    let mut world = world();
    world.press("<enter>m<up><up><up>7d<enter>");
    assert_eq!(world.app.engine.unread(), 4);
    publish(&mut world, "n5", "Sponsored: in its time");
    assert_eq!(world.app.engine.unread(), 4);
    world.pass(chrono::TimeDelta::days(8));
    publish(&mut world, "n6", "Sponsored: too late");
    assert_eq!(world.app.engine.unread(), 5, "hidden entries stay hidden, new ones are shown");
    world.press("F");
    assert!(world.draw().contains("expired 2026-03-09"), "{}", world.draw());
}

#[test]
fn archived_entries_are_filtered_without_becoming_unread() {
    let mut world = World::new(120, 36);
    crate::history::journeys::serve_orchard(&mut world);
    let rule = EntryFilter { id: 1, query: "title:/e/".into(), ..EntryFilter::default() };
    world.store.save_filters(std::slice::from_ref(&rule)).unwrap();
    world.app.engine.take_saved(Vec::new(), vec![rule]);
    crate::history::journeys::subscribe(&mut world, "https://orchard.example/notes/index.atom");
    world.rest();
    let (flags, ..) = state(&mut world);
    let old = flags.iter().filter(|flags| flags.is_from_history());
    let (hidden, shown): (Vec<&Flags>, Vec<&Flags>) = old.partition(|flags| flags.is_hidden());
    assert!(!hidden.is_empty() && hidden.len() + shown.len() > 2, "{flags:?}");
    assert!(flags.iter().all(|flags| !(flags.is_from_history() && flags.is_unread())));
}

#[test]
fn filters_marks_and_undo_return_to_the_start_state() {
    let mut world = world();
    world.press("<enter>");
    let start = state(&mut world);
    for keys in [
        "m<enter>",
        "s",
        "jm<up><up><right><enter>",
        "A",
        "F<enter><up><right><enter><esc>",
        "N",
        "FD<esc>",
        "m<up><up><right><right><enter>",
    ] {
        world.press(keys);
    }
    assert_ne!(state(&mut world), start);
    for _ in 0..20 {
        world.press("u");
    }
    assert_eq!(world.notice(), "nothing to undo");
    assert_eq!(state(&mut world), start);
    for _ in 0..20 {
        world.press("<c-y>");
    }
    for _ in 0..20 {
        world.press("u");
    }
    assert_eq!(state(&mut world), start);
}

#[test]
fn unrelated_error_does_not_stop_a_filter() {
    let mut world = world();
    let rule = EntryFilter { id: 1, query: "Sponsored".into(), ..EntryFilter::default() };
    let asked = Cx::run(&mut world.app, start(), |cx| cx.ask(Request::SaveFilter(Box::new(rule))));
    assert!(asked.first().is_some_and(|it| Kind::WritesFilters.starts(it)), "{asked:?}");
    world.tell(Input::Trouble("no browser".into()));
    world.tell(store_port::other_write_failed("no room"));
    let asked = update(&mut world.app, start(), store_port::filters_written().into());
    let finds =
        |effect: &ScreenEffect| matches!(effect, ScreenEffect::Engine(Effect::FindFilterHits(_)));
    assert!(asked.iter().any(finds), "{asked:?}");
}

#[test]
fn keys_act_on_the_text_that_is_read_when_its_row_is_lost() {
    let mut world = world();
    let title = |world: &World| world.app.ui.list.selected_row().unwrap().title.clone();
    let read = |world: &World| world.app.ui.reader.as_ref()?.entry.kept.title.clone();
    world.press("<enter>jj<enter>");
    assert_eq!(read(&world).as_deref(), Some("Sponsored: wax"));
    let query = "title:wax".to_owned();
    let hide = EntryFilter { action: Action::Hide, query, ..EntryFilter::default() };
    world.tell(Request::SaveFilter(Box::new(hide)));
    world.rest();
    assert_eq!((title(&world).as_str(), read(&world).is_some()), ("Sponsored: wax", true));
    world.press("s");
    assert!(world.app.ui.reader.as_ref().unwrap().entry.flags.is_starred());
    // Another process removes the other feed, and then this one.
    world.tell(Request::Unsubscribe(FeedKey(2)));
    world.rest();
    assert_eq!((title(&world).as_str(), read(&world).is_some()), ("Sponsored: wax", true));
    world.tell(Request::Unsubscribe(FeedKey(1)));
    world.rest();
    assert_eq!((read(&world), world.app.ui.focus), (None, Pane::Entries));
}

#[test]
fn labels_are_the_same_in_any_case() {
    let mut world = world();
    let key = EntryKey { feed: FeedKey(1), seq: 0 };
    let label = |name: &str, set| Request::Label { name: name.into(), keys: vec![key], set };
    let labelled = |world: &mut World| world.store.entries(&[key]).unwrap()[0].ruled.len();
    world.tell(label("later", true));
    assert_eq!(labelled(&mut world), 1);
    world.tell(label(" LATER", true));
    assert_eq!(world.app.engine.filters.list.len(), 1);
    world.tell(label("none", false));
    assert_eq!(world.notice(), "there is no label 'none'");
    world.tell(label("Later", false));
    assert_eq!((labelled(&mut world), world.app.engine.filters.list.len()), (0, 1));
}
