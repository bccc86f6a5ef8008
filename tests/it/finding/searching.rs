//! Searching in the terminal interface: typing a query, opening a hit, leaving the results, refining the query.

use crate::support::world::{World, rss};
use backissue::engine::entries::rows::RowOrder;
use backissue::engine::request::Input;
use backissue::ui::keys::key::{Code, Key};
use backissue::ui::state::layout::Pane;
use backissue::ui::state::overlay::Overlay;
use backissue::ui::update::ScreenInput;
use backissue_core::history::FeedKey;

fn orchard() -> World {
    let notes = rss(
        "Orchard Notes",
        &[
            ("n3", "Frost report", 1, "<p>The late frost.</p>"),
            ("n2", "Grafting wax", 30, "<p>Warm it; frost harms.</p>"),
            ("n1", "Pruning", 31, "<p>Sharp shears.</p>"),
        ],
    );
    let tower = rss("Bell Tower", &[("b1", "Vespers", 3, "<p>Six in the frost.</p>")]);
    let mut world = World::subscribed(
        120,
        36,
        &[
            ("https://orchard.example/feed", &notes, &["garden"]),
            ("https://tower.example/feed", &tower, &["sound"]),
        ],
    );
    world.app.ui.notice = None;
    world
}

#[test]
fn results_follow_each_key_and_enter_opens_one() {
    let mut world = orchard();
    world.press("/fr");
    assert_eq!(world.titles(), ["Frost report", "Vespers", "Grafting wax"]);
    assert_eq!(world.app.ui.list.order, RowOrder::BestFirst);
    world.press("ost feed:bell");
    assert_eq!(world.titles(), ["Vespers"]);
    world.press("<c-w>");
    assert_eq!(world.titles().len(), 3);
    world.press("<down><enter>");
    assert_eq!(world.app.ui.focus, Pane::Entries);
    assert!(world.app.ui.overlay.is_none());
    world.press("<enter>");
    let reader = world.app.ui.reader.as_ref().unwrap();
    assert_eq!(reader.entry.kept.title.as_deref(), Some("Vespers"));
    assert!(world.draw().contains("Search: frost"));
}

#[test]
fn escape_goes_back_to_where_one_was() {
    let mut world = orchard();
    world.press("jjjjjj<enter>j<enter>");
    let before = world.app.ui.clone();
    assert_eq!(before.focus, Pane::Reader);
    for keys in [
        "<c-f>frost<esc>",
        "<c-f>frost<enter><enter><esc><esc>",
        "<c-f><enter>",
        "<c-f><esc>",
        "<c-f>x<back><enter>",
    ] {
        world.press(keys);
        let after = &world.app.ui;
        assert!(after.search.is_none() && after.overlay.is_none(), "{keys}");
        assert_eq!(
            (after.focus, after.feeds.selected),
            (before.focus, before.feeds.selected),
            "{keys}"
        );
        assert_eq!(after.list.selected, before.list.selected, "{keys}");
        assert_eq!(after.list.selected_row().unwrap().key, before.list.selected_row().unwrap().key);
        assert_eq!(after.list.rows.len(), before.list.rows.len(), "{keys}");
        let title =
            |screen: &backissue::ui::app::Ui| screen.reader.as_ref().map(|reader| reader.entry.key);
        assert_eq!(title(after), title(&before), "{keys}");
    }
}

#[test]
fn invalid_query_says_why_it_fails() {
    let mut world = orchard();
    world.press("/frost titel:x");
    assert_eq!(world.titles().len(), 0, "what was found before the colon: no 'titel'");
    assert!(world.draw().contains("there is no field 'titel:'; did you mean 'title:'?"));
    world.press("<c-w>title:report");
    assert_eq!(world.titles(), ["Frost report"]);
}

#[test]
fn marks_and_moves_work_in_what_was_found() {
    let mut world = orchard();
    world.press("/frost is:unread<enter>");
    assert_eq!(world.titles().len(), 3);
    world.press("<enter><esc>s");
    assert_eq!(world.titles().len(), 3, "read entries stay until the list is reopened");
    assert_eq!(world.app.engine.starred(), 1);
    world.press("/<end> -zebra");
    assert_eq!(world.titles().len(), 2, "asked again");
    world.press("<enter>A");
    assert_eq!(world.feed(1).counters.unread, 1);
    world.press("u");
    assert_eq!(world.app.engine.unread(), 3);
}

#[test]
fn late_rows_of_an_earlier_key_are_dropped() {
    let mut world = orchard();
    world.press("/frost");
    let list = &world.app.ui.list;
    let late = backissue::engine::entries::rows::RowsLoaded {
        list: list.number - 1,
        total: 0,
        offset: 0,
        rows: Vec::new(),
        found: None,
        asked: None,
        seek: false,
        dated: false,
        opened: None,
        sharing: 0,
    };
    world.tell(crate::support::store_port::rows_read(late));
    assert_eq!(world.titles().len(), 3);
}

#[test]
fn open_search_shows_newly_indexed_entries() {
    let mut world = orchard();
    world.press("/frost<enter>");
    let more = rss("Bell Tower", &[("b2", "Matins in frost", 0, "<p>Cold.</p>")]);
    world.serve("https://tower.example/feed", &more);
    world.poll(FeedKey(2));
    assert_eq!(world.titles().len(), 3, "the index lags behind");
    world.tell(Input::Indexed { missing: 0 });
    assert_eq!(world.titles().len(), 4);
}

#[test]
fn only_an_open_or_changed_search_forces_indexing() {
    let mut world = orchard();
    world.press("j<enter>k<esc>");
    world.poll(FeedKey(2));
    assert_eq!(world.hurried, 0, "no search is open");
    let mut hurried = 0;
    let mut has_hurried =
        |world: &World| std::mem::replace(&mut hurried, world.hurried) < world.hurried;
    world.press("/");
    assert!(has_hurried(&world), "a search is opened");
    world.press("frost");
    assert!(has_hurried(&world), "it is changed");
    world.press("<down><enter><enter><esc>");
    assert!(!has_hurried(&world), "what was found is read");
    world.press("/<c-s><enter>");
    has_hurried(&world);
    world.press("<esc>gj");
    assert!(!has_hurried(&world), "other lists are viewed");
    world.press("jjjj");
    assert!(has_hurried(&world), "a saved search is opened");
    world.tell(Input::Indexed { missing: 0 });
    world.poll(FeedKey(2));
    assert!(!has_hurried(&world), "it is shown again");
}

/// What is missing at the end of a query is left out while it is typed, and told when Enter ends the typing.
#[test]
fn enter_tells_what_is_missing_in_a_query() {
    let mut world = orchard();
    for (typed, told) in [
        ("frost OR", "there is nothing after 'OR'"),
        ("(", "this '(' is not closed"),
        ("frost (a", "this '(' is not closed"),
        ("/fro", "has no '/' at its end"),
        ("++", "this has no word to search for"),
    ] {
        world.press(&format!("/{typed}<enter>"));
        let screen = world.draw();
        assert!(screen.contains(told), "{typed}: {screen}");
        assert!(matches!(world.app.ui.overlay, Some(Overlay::Prompt(_))), "{typed}");
        world.press("<esc>");
    }
    world.press("/frost OR<enter><backspace><backspace><enter>");
    assert_eq!((world.titles().len(), world.app.ui.overlay.is_none()), (3, true));
}

#[test]
fn typed_expression_is_answered_from_the_newest_texts() {
    let numbered =
        |number: i64| (format!("n{number}"), number, format!("<p>It rained {number}.</p>"));
    let written: Vec<(String, i64, String)> = (1..=60).map(numbered).collect();
    let entries: Vec<(&str, &str, i64, &str)> = written
        .iter()
        .map(|(id, hours, text)| (id.as_str(), "Weather", *hours, text.as_str()))
        .collect();
    let notes = rss("Orchard Notes", &entries);
    let mut world = World::subscribed(120, 36, &[("https://orchard.example/feed", &notes, &[])]);
    world.press("//ained 59/");
    let screen = world.draw();
    assert!(screen.contains("Enter searches all texts") && world.titles().is_empty(), "{screen}");
    assert!(screen.contains("Nothing found in the newest entries."), "{screen}");
    world.press("<enter>");
    let screen = world.draw();
    assert!(!screen.contains("searches all texts") && world.titles() == ["Weather"], "{screen}");
}

#[test]
fn empty_search_mentions_unindexed_entries() {
    let mut world = orchard();
    world.press("/matins");
    world.tell(Input::Indexed { missing: 3 });
    let screen = world.draw();
    assert!(screen.contains("Nothing found yet: 3 entries are"), "{screen}");
    world.tell(Input::Indexed { missing: 0 });
    assert!(world.draw().contains("Nothing found. All words"));
}

#[test]
fn any_keys_in_a_search_leave_a_drawable_screen() {
    let mut world = orchard();
    for (place, size) in [(120, 36), (90, 24), (40, 12), (39, 5)].into_iter().enumerate() {
        world.resize(size.0, size.1);
        world.press("/");
        for char in "-\"fr漢:* is:gap feed:".chars().skip(place) {
            world.tell(ScreenInput::Key(Key::char(char)));
            world.draw();
        }
        for code in [Code::Up, Code::Down, Code::PageDown, Code::Left, Code::Delete, Code::Enter] {
            world.tell(ScreenInput::Key(Key::code(code)));
            world.draw();
        }
        world.press("jkngGhl@2014<enter><esc><esc>");
        while matches!(world.app.ui.overlay, Some(Overlay::Prompt(_))) {
            world.press("<esc>");
        }
    }
    assert!(world.app.ui.search.is_none());
}

#[test]
fn search_is_saved_renamed_removed_and_restored() {
    let mut world = orchard();
    world.press("/frost<c-s>");
    assert_eq!(world.titles(), ["Frost report", "Vespers", "Grafting wax"], "newest first");
    assert!(world.app.ui.search.is_none());
    let screen = world.draw();
    assert!(screen.contains("⌕ frost              3"), "{screen}");
    assert!(screen.contains("Name of the search: frost"), "{screen}");
    world.press("<esc>/fros");
    let shown = world.titles().len();
    world.press("<c-s><esc>");
    assert_eq!((world.titles().len(), shown), (3, 3), "it finds what was shown");
    world.press("u");
    world.press("<esc>/frost");
    world.press("<esc>");
    let saved: Vec<_> = world.app.engine.saved_searches.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(saved, ["frost*"]);
    world.press("gjjjjj");
    world.press("<enter><enter>");
    assert!(world.draw().contains("⌕ frost              2"), "one was read");
    world.restart();
    world.press("jjjjj");
    assert!(world.draw().contains("⌕ frost              2"), "kept across a restart");
    world.press("e<c-u>Cold nights<enter>");
    assert!(world.draw().contains("⌕ Cold nights        2"));
    world.press("D");
    assert!(!world.draw().contains("Cold nights"));
    world.press("u");
    assert!(world.draw().contains("⌕ Cold nights        2"));
    world.press("u");
    assert!(world.draw().contains("⌕ frost"), "the name is undone too");
    assert_eq!(world.reload().engine.saved_searches, world.app.engine.saved_searches);
}

#[test]
fn back_leaves_text_results_and_list_in_order() {
    let mut world = orchard();
    world.press("<enter><enter><c-f>frost<enter><enter>");
    assert_eq!(world.app.ui.focus, Pane::Reader, "a result is read");
    world.press("q");
    assert_eq!((world.app.ui.focus, world.app.ui.search.is_some()), (Pane::Entries, true));
    world.press("q");
    assert_eq!((world.app.ui.focus, world.app.ui.search.is_some()), (Pane::Entries, false));
    world.press("q");
    assert_eq!(world.app.ui.focus, Pane::Feeds);
}

#[test]
fn results_show_their_day_in_narrow_lists_too() {
    let mut world = orchard();
    world.resize(60, 20);
    world.press("/frost<enter>");
    assert!(world.draw().contains("1 Mar"), "{}", world.draw());
}
