//! Pictures and attached files that are fetched before the user opens the entries.

use chrono::TimeDelta;

use crate::support::rss::{NOTES, rss};
use crate::support::scripted::png;
use crate::support::world::World;
use backissue::engine::entries::ahead_work::Ahead;
use backissue::engine::poll::fetch::{AnswerHeaders, RequestKind};
use backissue::engine::request::Request;
use backissue_core::history::FeedKey;

const FEED: FeedKey = FeedKey(1);

fn picture(name: &str) -> String {
    format!("https://pictures.example/{name}")
}

fn image(name: &str) -> String {
    format!("<p>Text.</p><img src='{}' alt='{name}'>", picture(name))
}

/// Returns a page with a picture.
fn page(name: &str) -> String {
    let text = "The wax is warmed slowly, in water, and never over an open flame. ".repeat(12);
    let image = image(name);
    format!(
        "<html><body><article><h1>Wax</h1>{image}<p>{text}</p><p>{text}</p></article></body></html>"
    )
}

/// Returns a world with this feed, of which this is fetched ahead.
fn world(feed: &str, ahead: Option<Ahead>, full_text: bool) -> World {
    let mut world = World::subscribed(100, 30, &[(NOTES, feed, &[])]);
    let mut chosen = world.feed(1).record.chosen();
    (chosen.feed_settings.ahead, chosen.feed_settings.full_text) = (ahead, full_text);
    world.tell(Request::Set(FEED, Box::new(chosen)));
    world.draw();
    world
}

fn asked(world: &World, kind: RequestKind) -> Vec<&str> {
    let asked = world.requests.iter().filter(|request| request.kind == kind);
    asked.map(|request| request.url.rsplit('/').next().unwrap()).collect()
}

fn poll(world: &mut World, pauses: usize) {
    world.poll(FEED);
    world.wait(pauses);
}

fn blocks(screen: &str) -> usize {
    screen.lines().filter(|line| line.contains('▄') || line.contains('▀')).count()
}

#[test]
fn setting_and_texts_decide_which_pictures_are_fetched() {
    let wax = format!(
        "{}{}<img src='{}' width='1' height='1'>",
        image("a.png"),
        image("plan.svg"),
        picture("pixel.gif")
    );
    let pots = format!("{}{}{}", image("a.png"), image("b.png"), image("gone.png"));
    let read = image("c.png");
    let entries = [("n3", "Wax", 1, &*wax), ("n2", "Pots", 2, &*pots), ("n1", "Read", 3, &*read)];
    let none: &[&str] = &[];
    let both = &["n3", "n2"];
    for (ahead, full_text, pages, pictures) in [
        (None, true, none, none),
        (Some(Ahead::Files), true, none, none),
        (Some(Ahead::Pictures), false, none, &["a.png", "b.png", "gone.png"][..]),
        (Some(Ahead::All), false, both, &["a.png", "b.png", "gone.png"]),
        (Some(Ahead::All), true, both, &["p.png", "a.png", "b.png", "gone.png"]),
    ] {
        let mut world = world(&rss("Notes", &entries), ahead, full_text);
        world.serve("https://site.example/n3", &page("p.png"));
        for name in ["a.png", "b.png", "c.png", "p.png"] {
            world.serve_picture(&picture(name), png(60, 60));
        }
        world.refuse(&picture("gone.png"), 404, AnswerHeaders::default());
        world.press("<end><enter><end>N<left>");
        assert_eq!(asked(&world, RequestKind::Picture), none, "only a poll leads to requests");
        for _ in 0..3 {
            poll(&mut world, 40);
        }
        let told = format!("{ahead:?} {full_text}");
        assert_eq!(asked(&world, RequestKind::Page), pages, "{told}");
        assert_eq!(asked(&world, RequestKind::Picture), pictures, "{told}: each is requested once");
        world.app.engine.offline = true;
        poll(&mut world, 10);
        assert_eq!(asked(&world, RequestKind::Picture), pictures, "{told}");
    }
}

#[test]
fn entries_read_offline_as_online() {
    for (ahead, texts, drawn) in
        [(None, 0, 0), (Some(Ahead::Pictures), 0, 0), (Some(Ahead::All), 1, 1)]
    {
        let feed = rss("Notes", &[("n1", "Wax", 1, "<p>teaser</p>")]);
        let mut world = world(&feed, ahead, true);
        world.serve("https://site.example/n1", &page("p.png"));
        world.serve_picture(&picture("p.png"), png(120, 90));
        poll(&mut world, 20);
        world.network.clear();
        world.restart();
        world.app.engine.offline = true;
        world.requests.clear();
        world.press("<end><enter><enter>I");
        world.wait(2);
        let screen = world.draw();
        assert_eq!(
            screen.matches("The wax is warmed").count().min(1),
            texts,
            "{ahead:?}\n{screen}"
        );
        assert_eq!(blocks(&screen), drawn, "{ahead:?}\n{screen}");
        assert_eq!(world.asked(), [""; 0]);
    }
}

#[test]
fn damaged_picture_is_fetched_again() {
    let feed = rss("Notes", &[("n1", "Wax", 1, &image("a.png"))]);
    let mut world = world(&feed, Some(Ahead::Pictures), false);
    world.serve_picture(&picture("a.png"), png(120, 90));
    poll(&mut world, 10);
    let kept = world.store.folder().join("pictures");
    let kept = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&kept).unwrap();
    for damaged in [&whole[..0], &whole[..10], &whole[..picture("a.png").len() + 9]] {
        world.requests.clear();
        std::fs::write(&kept, damaged).unwrap();
        world.press("<end><enter><enter>I");
        world.wait(10);
        assert_eq!(blocks(&world.draw()), 1, "{}", world.draw());
        assert_eq!(asked(&world, RequestKind::Picture), ["a.png"], "{} bytes", damaged.len());
        assert_eq!(std::fs::read(&kept).unwrap(), whole);
        world.press("I");
        world.restart();
    }
}

#[test]
fn a_feed_has_a_number_of_pictures_and_bytes_a_day() {
    let mut large = png(9, 9);
    large.resize(7 * 1024 * 1024, 0);
    for (count, bytes, days) in [(130, png(9, 9), [100, 130]), (5, large, [3, 5])] {
        let pictures: String = (0..count).map(|number| image(&format!("{number}.png"))).collect();
        let entries: Vec<String> = pictures.split_inclusive("'>").map(str::to_owned).collect();
        let entries: Vec<String> = entries.chunks(10).map(<[String]>::concat).collect();
        let names: Vec<String> = (0..entries.len()).map(|number| format!("n{number}")).collect();
        let entries: Vec<_> = (1..)
            .zip(names.iter().zip(&entries))
            .map(|(hours, (name, markup))| (name.as_str(), name.as_str(), hours, markup.as_str()))
            .collect();
        let mut world = world(&rss("Notes", &entries), Some(Ahead::Pictures), false);
        for number in 0..count {
            world.serve_picture(&picture(&format!("{number}.png")), bytes.clone());
        }
        for (day, total) in days.into_iter().enumerate() {
            for _ in 0..2 {
                poll(&mut world, 400);
            }
            assert_eq!(asked(&world, RequestKind::Picture).len(), total, "on day {day}");
            world.restart();
            world.pass(TimeDelta::days(1));
        }
    }
}

#[test]
fn site_that_asks_for_a_wait_is_left_alone() {
    let text: String = ["a.png", "b.png", "c.png"].map(image).concat();
    let mut world = world(&rss("Notes", &[("n1", "Wax", 1, &text)]), Some(Ahead::Pictures), false);
    for name in ["a.png", "b.png", "c.png"] {
        world.refuse(&picture(name), 429, AnswerHeaders::default());
    }
    poll(&mut world, 40);
    poll(&mut world, 40);
    assert_eq!(asked(&world, RequestKind::Picture), ["a.png"]);
    for name in ["a.png", "b.png", "c.png"] {
        world.serve_picture(&picture(name), png(60, 60));
    }
    world.pass(TimeDelta::hours(2));
    poll(&mut world, 40);
    assert_eq!(asked(&world, RequestKind::Picture)[1..], ["a.png", "b.png", "c.png"]);
}

#[test]
fn opened_picture_goes_before_those_fetched_ahead() {
    let entries: Vec<(String, String)> =
        (0..20).map(|number| (format!("n{number}"), image(&format!("{number}.png")))).collect();
    let entries: Vec<_> = (1..)
        .zip(&entries)
        .map(|(hours, (name, text))| (name.as_str(), name.as_str(), hours, text.as_str()))
        .collect();
    let mut world = world(&rss("Notes", &entries), Some(Ahead::Pictures), false);
    for number in 0..20 {
        world.serve_picture(&picture(&format!("{number}.png")), png(60, 60));
    }
    world.poll(FEED);
    let before = asked(&world, RequestKind::Picture).len();
    world.press("<end><enter><end><enter>I");
    world.wait(4);
    assert!(blocks(&world.draw()) > 0, "{}", world.draw());
    let order = asked(&world, RequestKind::Picture);
    let place = order.iter().position(|name| *name == "19.png");
    assert!(place.is_some_and(|place| place <= before + 1), "{order:?}");
    world.press("I<left>");
    world.wait(200);
    assert_eq!(asked(&world, RequestKind::Picture).len(), 20, "each is requested once");
}

#[test]
fn undone_setting_and_ended_subscription_lead_to_no_requests() {
    let text: String = ["a.png", "b.png", "c.png"].map(image).concat();
    let feed = rss("Notes", &[("n1", "Wax", 1, &text)]);
    let new_world = || {
        let mut world = world(&feed, Some(Ahead::Pictures), false);
        for name in ["a.png", "b.png", "c.png"] {
            world.serve_picture(&picture(name), png(60, 60));
        }
        world
    };
    let mut undone = new_world();
    undone.press("u");
    assert_eq!(undone.feed(1).record.feed_settings.ahead, None);
    poll(&mut undone, 40);
    assert_eq!(asked(&undone, RequestKind::Picture), [""; 0]);
    let mut late = new_world();
    late.poll(FEED);
    let before = asked(&late, RequestKind::Picture).len();
    assert!((1..3).contains(&before), "some wait: {before}");
    late.press("u");
    late.wait(40);
    assert_eq!(asked(&late, RequestKind::Picture).len(), before, "undone while they wait");
    let mut ended = new_world();
    ended.poll(FEED);
    let before = asked(&ended, RequestKind::Picture).len();
    assert!((1..3).contains(&before), "some wait: {before}");
    ended.tell(Request::Unsubscribe(FEED));
    ended.wait(40);
    assert_eq!(asked(&ended, RequestKind::Picture).len(), before);
}

#[test]
fn files_of_new_entries_are_added_within_a_day() {
    let podcast = |count: usize| {
        let items: String = (0..count)
            .map(|number| {
                format!(
                    "<item><guid>{number}</guid><title>Ep {number}</title><enclosure type=\"audio/mpeg\" \
                     url=\"https://a.example/{number}.mp3\" length=\"9\"/></item>"
                )
            })
            .collect();
        format!("<rss version=\"2.0\"><channel><title>Pod</title>{items}</channel></rss>")
    };
    for (ahead, files) in [(None, 0), (Some(Ahead::Pictures), 0), (Some(Ahead::Files), 10)] {
        let mut world = world(&podcast(1), ahead, false);
        poll(&mut world, 2);
        assert_eq!(world.app.engine.downloads.list.len(), 0, "not the first document");
        world.serve(NOTES, &podcast(9));
        poll(&mut world, 2);
        assert_eq!(world.app.engine.downloads.list.len(), files.min(8), "{ahead:?}");
        world.serve(NOTES, &podcast(15));
        poll(&mut world, 2);
        assert_eq!(world.app.engine.downloads.list.len(), files, "{ahead:?}");
        world.press("<end>i");
        let told = world.draw().contains("10 of at most 10 files today");
        assert_eq!(told, files == 10, "{}", world.draw());
        world.press("<esc>");
        world.pass(TimeDelta::days(1));
        world.serve(NOTES, &podcast(16));
        poll(&mut world, 2);
        let next_day = if files > 0 { files + 1 } else { 0 };
        assert_eq!(world.app.engine.downloads.list.len(), next_day, "{ahead:?}");
    }
}
