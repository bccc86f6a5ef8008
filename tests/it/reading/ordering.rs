//! The order of entries, hidden feeds, counts, and feeds kept out of the list of all unread entries.

use backissue::engine::change::MarkChange;
use backissue::engine::request::Request;
use backissue::ui::panes::feeds_pane;
use backissue::ui::settings::{CountStyle, ListOrder, ShownFeeds};
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::words::frequency::Frequency;

use crate::support::rss::{numbered, rss, two_feeds};
use crate::support::world::World;

#[test]
fn entries_are_sorted_by_date_title_feed_and_arrival() {
    let mut world = two_feeds();
    world.press("<enter>");
    assert_eq!(world.titles(), ["Wax", "Ladders", "Vespers"]);
    let mut seen = Vec::new();
    for _ in 0..6 {
        world.press("S");
        seen.push((world.notice().to_owned(), world.titles().join(" ")));
    }
    let expected = [
        ("entries: oldest first", "Vespers Ladders Wax"),
        ("entries: by title", "Ladders Vespers Wax"),
        ("entries: by feed", "Vespers Wax Ladders"),
        ("entries: by arrival, latest first", "Wax Ladders Vespers"),
        ("entries: by how rarely their feeds publish", "Wax Ladders Vespers"),
        ("entries: newest first", "Wax Ladders Vespers"),
    ];
    let seen: Vec<(&str, &str)> =
        seen.iter().map(|(notice, titles)| (notice.as_str(), titles.as_str())).collect();
    assert_eq!(seen, expected);
}

#[test]
fn the_order_of_each_list_is_remembered() {
    let mut world = two_feeds();
    world.press("<enter>S");
    assert_eq!(world.titles(), ["Vespers", "Ladders", "Wax"]);
    world.press("hGg");
    assert_eq!(world.titles(), ["Vespers", "Ladders", "Wax"], "opened again");
    world.press("G");
    assert_eq!(world.titles(), ["Wax", "Ladders"], "another list has its own order");
    world.press("g");
    world.end_and_come_back();
    assert_eq!(world.titles(), ["Vespers", "Ladders", "Wax"]);
}

#[test]
fn a_later_entry_arrives_first() {
    let mut world = two_feeds();
    let notes = rss("Orchard Notes", &[("n3", "Old but late", 90, ""), ("n2", "Wax", 1, "")]);
    world.serve("https://orchard.example/feed", &notes);
    world.pass(chrono::TimeDelta::hours(2));
    world.poll(FeedKey(1));
    world.press("g<enter>SSSS");
    assert_eq!(world.titles()[0], "Old but late");
}

/// A monthly, a weekly, a daily and a new feed, and one that publishes all the time.
fn feeds_of_all_kinds() -> World {
    let feed = |title: &str, count, hours| {
        (format!("https://{}.example/", title.to_lowercase()), numbered(title, title, count, hours))
    };
    let feeds = [
        feed("Wire", 20, 1),
        feed("New", 2, 2),
        feed("Daily", 9, 24),
        feed("Weekly", 9, 168),
        feed("Monthly", 5, 700),
    ];
    let feeds: Vec<(&str, &str, &[&str])> =
        feeds.iter().map(|(url, body)| (url.as_str(), body.as_str(), [].as_slice())).collect();
    World::subscribed(80, 24, &feeds)
}

/// Returns how often each feed publishes, in the order of the open list, with its first row.
fn order(world: &World) -> Vec<(&str, &str)> {
    let rows = world.app.ui.list.rows.iter();
    let mut order: Vec<(&str, &str)> =
        rows.map(|row| (row.frequency.map_or("", Frequency::words), row.title.as_str())).collect();
    order.dedup_by_key(|(words, _)| *words);
    order
}

#[test]
fn entries_of_feeds_that_rarely_publish_come_first() {
    let mut world = feeds_of_all_kinds();
    world.app.ui.settings.order = ListOrder::Rare;
    world.press("Gg<enter>");
    let expected = [
        ("about monthly", "Monthly 1"),
        ("about weekly", "Weekly 1"),
        ("new here", "New 1"),
        ("about daily", "Daily 1"),
        ("several times a day", "Wire 1"),
    ];
    assert_eq!(order(&world), expected);
    insta::assert_snapshot!("rare_first", world.draw());
    world.press("ji");
    assert!(world.draw().contains("as about monthly: 5 entries in "));
}

#[test]
fn the_rarest_feed_is_the_one_whose_row_shows_a_story() {
    let story = "<p><a href='https://far.example/harvest'>the harvest</a></p>";
    let essays = [("e1", "Essay", 10, story), ("e2", "Old", 700, ""), ("e3", "Older", 1400, "")];
    let essays = rss("Essays", &essays);
    let wire = numbered("Wire", "Wire", 20, 1).replace("site.example", "wire.example");
    let (newer, older) = wire.split_once("<title>Wire 15").unwrap();
    let wire = format!("{newer}<title>Wire 15{}", older.replacen("<p>Text.</p>", story, 1));
    let feeds: [(&str, &str, &[&str]); 2] =
        [("https://wire.example/feed", &wire, &[]), ("https://essays.example/feed", &essays, &[])];
    let mut world = World::subscribed(120, 30, &feeds);
    let titles =
        |world: &World| -> Vec<String> { world.titles().into_iter().map(str::to_owned).collect() };
    world.press("Gg<enter>");
    let by_date = titles(&world);
    assert!(by_date.contains(&"Wire 15".to_owned()) && !by_date.contains(&"Essay".to_owned()));
    world.app.ui.settings.order = ListOrder::Rare;
    world.press("hGg<enter>");
    assert_eq!(titles(&world)[..3], ["Essay", "Old", "Older"]);
    assert!(!titles(&world).contains(&"Wire 15".to_owned()));
    // Where its row was, it stays.
    world.press("Y");
    assert_eq!(world.app.ui.list.selected_row().unwrap().title, "Essay");
    assert!(titles(&world).contains(&"Wire 15".to_owned()));
}

#[test]
fn nothing_moves_in_a_list_of_rare_feeds() {
    let mut world = feeds_of_all_kinds();
    world.app.ui.settings.order = ListOrder::Rare;
    world.press("Gg<enter>jj");
    let before: Vec<String> = world.titles().into_iter().map(str::to_owned).collect();
    assert_eq!(before[2], "Monthly 3");
    // The new feed publishes so often that it would be far below the others, if the list was opened now.
    let url = world.feed(2).record.url.clone();
    world.serve(&url, &numbered("New", "New", 30, 1));
    world.pass(chrono::TimeDelta::hours(2));
    world.poll(FeedKey(2));
    let selected = world.app.ui.list.selected_row().map(|row| row.title.clone());
    assert_eq!(selected.as_deref(), Some("Monthly 3"));
    let mut after = world.titles();
    after.retain(|title| before.iter().any(|known| known == title));
    assert_eq!(after, before);
    assert!(order(&world).iter().any(|(words, _)| *words == "new here"));
    world.press("hGg");
    assert!(order(&world).iter().all(|(words, _)| *words != "new here"), "opened again");
}

#[test]
fn read_entries_and_quiet_feeds_come_last() {
    let mut world = feeds_of_all_kinds();
    let mut chosen = world.feed(5).record.chosen();
    chosen.feed_settings.quiet = true;
    world.tell(Request::Set(FeedKey(5), Box::new(chosen)));
    world.tell(Request::Mark(MarkChange {
        keys: vec![EntryKey { feed: FeedKey(4), seq: 0 }],
        flag: Flag::Read,
        value: true,
    }));
    world.app.ui.settings.order = ListOrder::Rare;
    world.press("Gg<enter>");
    assert_eq!(order(&world)[0], ("about weekly", "Weekly 2"), "{:?}", order(&world));
    assert!(order(&world).iter().all(|(_, title)| !title.starts_with("Monthly")));
    world.press("h/feed:/y$/<enter>SSSSS");
    assert_eq!(
        order(&world),
        [("about weekly", "Weekly 2"), ("about daily", "Daily 1"), ("", "Weekly 1")]
    );
    assert!(world.draw().contains("read, or of quiet feeds"), "{}", world.draw());
}

#[test]
fn todays_reading_is_chosen_once_a_day_and_ends() {
    let mut world = feeds_of_all_kinds();
    world.app.ui.settings.reading = 6;
    feeds_pane::rebuild_rows(&mut world.app);
    world.press("Ggj<enter>");
    let today = ["Monthly 1", "Monthly 2", "Weekly 1", "New 1", "Daily 1", "Wire 1"];
    assert_eq!(world.titles(), today);
    insta::assert_snapshot!("todays_reading", world.draw());
    world.press("<enter>nnnnn");
    assert_eq!(world.app.engine.unread(), 39);
    world.press("n");
    assert_eq!(world.notice(), "that was today's: 39 more wait");
    world.press("q");
    let done = "that was today's: 39 more wait";
    assert!(world.draw().contains(done), "{}", world.draw());
    world.press("hgj");
    let mut titles = world.titles();
    titles.sort_by_key(|title| today.iter().position(|other| other == title));
    assert_eq!(titles, today, "opened again");
    world.pass(chrono::TimeDelta::days(1));
    world.press("gj");
    let tomorrow = ["Monthly 3", "Monthly 4", "Monthly 5", "Weekly 2", "Weekly 3", "Weekly 4"];
    assert_eq!(world.titles(), tomorrow);
}

#[test]
fn read_feeds_are_hidden_and_the_selected_one_stays() {
    let mut world = two_feeds();
    world.press("c");
    assert_eq!(world.notice(), "feeds with unread entries only");
    assert!(world.draw().contains("Bell Tower"));
    world.press("GkA");
    assert!(world.draw().contains("Bell Tower"), "it is selected");
    world.press("g");
    world.pass(chrono::TimeDelta::seconds(5));
    let screen = world.draw();
    let feeds = |screen: &str| screen.lines().filter(|line| line.starts_with("│   Bell")).count();
    assert_eq!(feeds(&screen), 0, "{screen}");
    world.end_and_come_back();
    assert_eq!(feeds(&world.draw()), 0, "remembered");
    world.press("c");
    assert_eq!(feeds(&world.draw()), 1);
}

#[test]
fn setting_hides_read_feeds_from_the_start() {
    let mut world = two_feeds();
    world.app.ui.settings.feeds = ShownFeeds::Unread;
    world.press("A");
    world.pass(chrono::TimeDelta::seconds(5));
    let screen = world.draw();
    assert!(!screen.contains("│   Orchard Notes"), "{screen}");
}

#[test]
fn counts_are_numbers_dots_or_nothing() {
    let mut world = two_feeds();
    let row = |world: &mut World| {
        let screen = world.draw();
        let line = screen.lines().find(|line| line.starts_with("│   Orchard")).unwrap();
        line.chars().take(24).collect::<String>()
    };
    assert!(row(&mut world).ends_with(" 2"), "{}", row(&mut world));
    world.app.ui.settings.counts = CountStyle::Dot;
    assert!(row(&mut world).ends_with(" •"), "{}", row(&mut world));
    world.app.ui.settings.counts = CountStyle::None;
    assert!(row(&mut world).ends_with("  "), "{}", row(&mut world));
}

#[test]
fn a_quiet_feed_is_not_in_all_unread() {
    let mut world = two_feeds();
    let mut chosen = world.feed(1).record.chosen();
    chosen.feed_settings.quiet = true;
    world.tell(Request::Set(FeedKey(1), Box::new(chosen)));
    world.press("Gg");
    assert_eq!(world.titles(), ["Vespers"]);
    let screen = world.draw();
    assert!(screen.contains("● All unread         1"), "{screen}");
    world.press("G");
    assert_eq!(world.titles(), ["Wax", "Ladders"], "its own list has them");
    world.press("ug");
    assert_eq!(world.titles().len(), 3);
}
