//! The Attention list and the bottom line agree, and reasons are shown whole.

use backissue::engine::poll::fetch::{AnswerHeaders, BotWall};
use backissue::ui::keys::mouse::{Gesture, Mouse};
use backissue::ui::update::ScreenInput;
use backissue_core::history::FeedKey;

use crate::support::world::{World, rss};

const ORCHARD: &str = "https://orchard.example/feed";
const TOWER: &str = "https://tower.example/feed";

/// Returns a world with one feed behind a bot wall and one that fails.
fn world() -> World {
    let feed = |title| rss(title, &[("n1", "Wax", 1, "")]);
    let (orchard, tower) = (feed("Orchard"), feed("Tower"));
    let mut world = World::subscribed(100, 30, &[(ORCHARD, &orchard, &[]), (TOWER, &tower, &[])]);
    let wall = Some(BotWall { service: "Cloudflare", is_certain: true });
    world.refuse(ORCHARD, 403, AnswerHeaders { wall, ..AnswerHeaders::default() });
    world.refuse(TOWER, 500, AnswerHeaders::default());
    world.poll(FeedKey(1));
    world.poll(FeedKey(2));
    world
}

#[test]
fn bottom_line_counts_what_attention_lists() {
    let mut world = world();
    world.app.ui.notice = None;
    let screen = world.draw();
    assert!(screen.lines().any(|line| line.starts_with(" 2 in Attention · ")), "{screen}");
    assert!(!screen.contains(" failing"), "{screen}");
}

#[test]
fn a_dismissed_problem_is_shown_again_by_undo() {
    let mut world = world();
    let listed = |world: &mut World| {
        world.app.ui.notice = None;
        world.draw().lines().any(|line| line.starts_with(" 2 in Attention · "))
    };
    world.press("!N");
    assert!(!listed(&mut world));
    world.press("u");
    assert!(listed(&mut world));
    world.press("<c-y>");
    assert!(!listed(&mut world));
}

#[test]
fn long_reason_of_the_selected_problem_is_shown_whole() {
    let mut world = world();
    world.resize(44, 30);
    world.press("!<enter>");
    let screen = world.draw();
    assert!(screen.contains(" address."), "the reason is whole: {screen}");
    let row = screen.lines().position(|line| line.contains("Tower")).unwrap();
    let (column, row) = (5, u16::try_from(row).unwrap());
    world.tell(ScreenInput::Mouse(Mouse { gesture: Gesture::Click, column, row }));
    assert_eq!(world.app.ui.attention.selected, 1, "the problem below the tall one was clicked");
    assert!(!world.draw().contains(" address."), "{}", world.draw());
}

#[test]
fn problems_are_two_lines_each_and_the_selected_one_says_all() {
    let mut world = world();
    for (keys, first) in [("!", 3..=5), ("j", 2..=2)] {
        world.press(keys);
        let screen = world.draw();
        let line = |text: &str| screen.lines().position(|line| line.contains(text)).unwrap();
        let title = |text: &str| line(&format!("│ {text}"));
        assert!(first.contains(&(title("Tower") - title("Orchard"))), "{screen}");
        assert!(screen.contains("⏎ retry now · N noted"), "{screen}");
    }
    world.press("qgj");
    world.press("!");
    assert_eq!(world.app.ui.attention.selected, 0, "it is opened anew");
}

#[test]
fn list_that_gets_shorter_shows_all_that_fits() {
    let urls: Vec<String> = (1..=8).map(|at| format!("https://f{at}.example/feed")).collect();
    let document = rss("Tower", &[("n1", "Wax", 1, "")]);
    let feeds: Vec<_> = urls.iter().map(|url| (url.as_str(), document.as_str(), &[][..])).collect();
    let mut world = World::subscribed(60, 16, &feeds);
    for (url, number) in urls.iter().zip(1..) {
        world.refuse(url, 500, AnswerHeaders::default());
        world.poll(FeedKey(number));
    }
    world.press("!G");
    assert_eq!(world.app.ui.attention.selected, 7);
    for (url, number) in urls.iter().zip(1..).take(4) {
        world.serve(url, &document);
        world.pass(chrono::TimeDelta::hours(8));
        world.poll(FeedKey(number));
    }
    let screen = world.draw();
    assert!(screen.contains("4/4"), "{screen}");
    assert_eq!(screen.matches(" failing").count(), 4, "{screen}");
}

#[test]
fn missing_network_is_told_apart_from_this_machine() {
    let mut world = world();
    world.app.engine.reachability.offline_since = Some(world.now);
    world.app.ui.notice = None;
    assert!(world.draw().contains(" no network since 10:"), "{}", world.draw());
    let here = rss("Here", &[("n1", "Wax", 1, "")]);
    world.serve("http://127.0.0.1:9/feed", &here);
    world.subscribe_to_all(vec![backissue::engine::feeds::addition::Subscribe {
        address: "http://127.0.0.1:9/feed".into(),
        ..Default::default()
    }]);
    world.app.ui.notice = None;
    assert!(world.draw().contains(" no network beyond this machine since 10:"), "{}", world.draw());
}
