//! Confirmations before an action, and the messages that answer a request.

use backissue::engine::request::Request;
use backissue::ui::state::pending::ImportedList;
use backissue::ui::update::ScreenInput;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::support::world::{World, rss};

const NOTES: &str = "https://orchard.example/feed";
const TOWER: &str = "https://tower.example/feed";

fn world() -> World {
    let notes = rss("Orchard Notes", &[("n1", "Wax", 1, ""), ("n2", "Frost", 2, "")]);
    let tower = rss("Bell Tower", &[("b1", "Vespers", 3, "")]);
    World::subscribed(100, 30, &[(NOTES, &notes, &[]), (TOWER, &tower, &[])])
}

fn bottom(world: &mut World) -> String {
    let screen = world.draw();
    let hints = usize::from(world.app.ui.has_hints());
    screen.lines().rev().nth(hints).unwrap_or_default().trim().to_owned()
}

#[test]
fn escape_closes_what_is_open_and_never_ends_the_program() {
    let mut world = world();
    world.press("<enter><enter>i<esc><esc><esc><esc><esc>");
    assert!(!world.quit);
    assert_eq!(world.notice(), "nothing is open · q quits");
    assert_eq!(world.app.awaited_at_end(), None);
    world.app.engine.unsaved = 2;
    let awaited = world.app.awaited_at_end();
    assert_eq!(awaited.as_deref(), Some("quitting: waiting for 2 unsaved changes …"));
    world.press("q");
    assert!(world.quit);
}

#[test]
fn unsubscribing_with_unread_entries_asks_first() {
    let mut world = world();
    world.press("Gj");
    world.press("D");
    assert_eq!(bottom(&mut world), "Unsubscribe from 'Orchard Notes' (2 entries, 2 unread)? y/n");
    for keys in ["j", "<enter>", "A"] {
        world.press(keys);
        assert!(bottom(&mut world).starts_with("Unsubscribe"), "{keys} is no answer");
    }
    world.press("n");
    assert_eq!((world.app.engine.feeds.len(), world.app.engine.unread()), (2, 3));
    assert_eq!(world.notice(), "cancelled: nothing was changed");
    world.press("Dy");
    assert_eq!(world.app.engine.feeds.len(), 1);
    assert_eq!(world.notice(), "unsubscribed from 'Orchard Notes' · u undo");
}

#[test]
fn empty_feed_is_removed_at_once_from_the_feed_list() {
    let mut world = world();
    world.press("GAlD");
    assert!(bottom(&mut world).ends_with("? y/n"), "the keys were with its entries");
    world.press("<esc>hD");
    assert_eq!(world.app.engine.feeds.len(), 1);
}

#[test]
fn poll_result_stays_one_line_despite_keys() {
    let mut world = world();
    world.press("G");
    world.pass(TimeDelta::minutes(2));
    world.press("r");
    assert_eq!(world.notice(), "nothing new in Orchard Notes (checked just now)");
    world.press("j");
    assert!(bottom(&mut world).starts_with("nothing new in Orchard Notes"));
    world.pass(TimeDelta::seconds(10));
    assert!(!bottom(&mut world).starts_with("nothing new"), "ten seconds are over");
    world.press("r");
    assert_eq!(world.notice(), "nothing new in Orchard Notes (checked 10 s ago)");
    world.pass(TimeDelta::minutes(6));
    world.serve(NOTES, &rss("Orchard Notes", &[("n3", "Ice", 0, ""), ("n1", "Wax", 1, "")]));
    world.network.remove(TOWER);
    world.press("R");
    world.wait(3);
    assert_eq!(world.notice(), "1 new in Orchard Notes · 1 failed: ! shows which");
}

#[test]
fn imported_lists_first_poll_reports_at_its_end() {
    let mut world = world();
    let list = ["https://one.example/f", "https://two.example/f"];
    world.serve(list[0], &rss("One", &[("a", "A", 1, "")]));
    let wanted = list.map(|address| backissue::engine::feeds::addition::Subscribe {
        address: address.into(),
        ..Default::default()
    });
    let refused = vec!["line 7: an outline without an address (Old)".to_owned()];
    let list = ImportedList { wanted: wanted.to_vec(), refused, ..ImportedList::default() };
    world.tell(ScreenInput::ListRead(Box::new(list)));
    assert_eq!(
        world.notice(),
        "2 added · left out: line 7: an outline without an address (Old) · u undo"
    );
    world.wait(3);
    assert_eq!(
        world.notice(),
        "2 added · left out: line 7: an outline without an address (Old) · 1 new in One · 1 failed: ! shows which"
    );
}

#[test]
fn import_and_its_tags_are_undone_and_redone_by_one_key() {
    let mut world = world();
    let new = ["https://one.example/f", "https://two.example/f", NOTES];
    let wanted = new.map(|address| backissue::engine::feeds::addition::Subscribe {
        address: address.into(),
        tags: vec!["imported".into()],
        ..Default::default()
    });
    let list = ImportedList { wanted: wanted.to_vec(), ..ImportedList::default() };
    world.tell(ScreenInput::ListRead(Box::new(list)));
    assert_eq!(world.notice(), "2 added, 1 already subscribed · u undo");
    world.press("u<enter>");
    assert_eq!(world.notice(), "import undone: 2 feeds; Ctrl-y brings them back");
    assert_eq!(world.app.engine.feeds.len(), 2);
    assert!(world.feed(1).record.tags.is_empty(), "its tag came with the import");
    world.wait(3);
    assert!(world.app.ui.asked_polls.is_empty(), "no one waits for their polls");
    world.press("<c-y>");
    assert_eq!(world.notice(), "import redone: 2 feeds");
    assert_eq!(world.app.engine.feeds.len(), 4);
    assert_eq!(world.feed(1).record.tags, ["imported"]);
    world.reopen();
    world.press("u<enter>");
    assert_eq!(world.app.engine.feeds.len(), 2, "another session undoes it too");
}

#[test]
fn keys_during_an_address_lookup_reach_nothing_below() {
    let mut world = world();
    world.press("ahttps://slow.example/");
    // The effects of Enter are not performed, so the address is still being looked up when the next keys are pressed.
    let key = backissue::ui::keys::key::Key::code(backissue::ui::keys::key::Code::Enter);
    let asked = backissue::ui::update::update(&mut world.app, world.now, ScreenInput::Key(key));
    let before = (world.app.ui.feeds.selected, world.app.ui.focus);
    for keys in ["j", "<enter>", "A", "D", "y"] {
        world.press(keys);
    }
    assert_eq!((world.app.ui.feeds.selected, world.app.ui.focus), before);
    assert_eq!((world.app.engine.unread(), world.app.engine.feeds.len()), (3, 2));
    assert_eq!(bottom(&mut world), "looking for a feed at https://slow.example/ … · Esc cancels");
    world.serve("https://slow.example/", &rss("Slow", &[("s", "S", 1, "")]));
    world.perform(asked);
    assert_eq!(world.app.engine.feeds.len(), 3);
    assert!(world.app.ui.overlay.is_none());
    world.press("ahttps://slow.example/2");
    backissue::ui::update::update(&mut world.app, world.now, ScreenInput::Key(key));
    world.press("<esc>");
    assert!(world.app.ui.overlay.is_none());
    assert_eq!(world.notice(), "cancelled: nothing was changed");
    world.tell(Request::Unsubscribe(FeedKey(3)));
}

#[test]
fn plain_http_for_a_schemeless_address_is_asked_first() {
    let mut world = world();
    world.serve("http://old.example/feed", &rss("Old Mill", &[("m1", "Flour", 1, "")]));
    world.press("aold.example/feed<enter>");
    world.pass(TimeDelta::seconds(5));
    let question = "old.example has no secure connection: over http, others could read or change what you see. Use";
    assert!(world.draw().contains(question), "{}", world.draw());
    assert_eq!(bottom(&mut world), "http? y/n");
    world.press("n");
    assert_eq!(world.app.engine.feeds.len(), 2);
    world.press("aold.example/feed<enter>");
    world.pass(TimeDelta::seconds(5));
    world.press("y");
    world.pass(TimeDelta::seconds(5));
    let added = world.app.engine.feeds.values().last().map(|feed| feed.record.url.clone());
    assert_eq!(added.as_deref(), Some("http://old.example/feed"));
    // If the user types an address with its scheme, the program does not offer to try another scheme.
    world.press("ahttps://new.example/feed<enter>");
    world.pass(TimeDelta::seconds(5));
    assert!(!bottom(&mut world).ends_with("? y/n"), "{}", bottom(&mut world));
}

#[test]
fn the_log_is_shown_in_a_pager() {
    let mut world = world();
    world.press(":log<enter>");
    let [run] = world.ran.as_slice() else { panic!("{:?}", world.ran) };
    assert_eq!((run.command.program(), run.command.on_terminal), ("less", true));
    assert_eq!(run.input, backissue::engine::external_run::RunInput::Log);
}

#[test]
fn failed_feeds_are_listed_and_addresses_copied() {
    let mut world = world();
    world.network.remove(TOWER);
    world.poll(FeedKey(2));
    world.press("/wax<enter>!");
    assert!(world.draw().contains("1/1"), "{}", world.draw());
    world.press("y");
    assert_eq!(world.copied, [TOWER]);
    assert_eq!(world.notice(), format!("copied the feed's address: {TOWER}"));
    world.press("D");
    assert_eq!(bottom(&mut world), "Unsubscribe from 'Bell Tower' (1 entry, 1 unread)? y/n");
}

#[test]
fn welcome_after_the_last_removal_explains_undo() {
    let mut world = world();
    assert!(!world.draw().contains(":removed"));
    world.press("GDyGDy");
    for _ in 0..2 {
        let screen = world.draw();
        assert!(screen.contains("You removed 2 feeds in the last week:"), "{screen}");
        assert!(screen.contains("u  undo the last change"), "{screen}");
        assert!(screen.contains(":removed  lists them; Enter restores one"), "{screen}");
        world.reopen();
    }
    world.press("u<enter>");
    assert_eq!(world.app.engine.feeds.len(), 1);
}

#[test]
fn view_key_reports_its_effect_or_why_it_has_none() {
    let mut world = world();
    world.press("f");
    assert!(world.notice().starts_with("this list always shows unread entries"));
    world.press("Gf");
    assert_eq!(world.notice(), "showing unread entries only");
    world.press("/wax<enter>f");
    assert!(world.notice().starts_with("a search covers all entries"), "{}", world.notice());
}

#[test]
fn narrow_screen_full_screen_key_says_text_is_alone() {
    let mut world = world();
    world.resize(40, 12);
    world.press("G<enter><enter>z");
    let said = "the text already fills the screen: only one pane fits";
    assert_eq!((world.notice(), world.app.ui.zoomed), (said, false));
}

#[test]
fn a_message_of_two_lines_leaves_the_panes_a_lower_border() {
    let mut world = world();
    world.resize(60, 20);
    world.press(":layout two<enter>");
    world.resize(50, 20);
    world.press(":layout two<enter>");
    let screen = world.draw();
    let lines: Vec<&str> = screen.lines().collect();
    let told = lines.iter().position(|line| line.contains("layout two: ")).unwrap();
    assert!(told < 18, "it has two lines: {screen}");
    assert!(lines[told - 1].starts_with('└') && lines[told - 1].ends_with('┘'), "{screen}");
}

#[test]
fn form_taller_than_the_screen_shows_its_selected_line() {
    let mut world = world();
    world.resize(40, 12);
    world.press("Ge");
    assert!(world.draw().contains(" 2/18 ┘"), "{}", world.draw());
    world.press("<down>");
    assert!(world.draw().contains(" 3/18 ┘"), "{}", world.draw());
    world.resize(100, 30);
    assert!(!world.draw().contains("/18"), "{}", world.draw());
}
