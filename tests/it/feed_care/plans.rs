//! Journeys around polling plans: polling a feed more often, the plan pane, the timetable, the edit dialog, the sort order of
//! feeds.

use crate::support::store_port::{Kind, works};
use crate::support::world::{Scripted, World, rss};
use backissue::engine::entries::ahead_work::Ahead;
use backissue::engine::request::Input;
use backissue::engine::settings::HistoryMode;
use backissue::ui::keys::key::{Code, Key};
use backissue::ui::state::feeds_pane::FeedsRow;
use backissue::ui::state::overlay::Overlay;
use backissue::ui::update::ScreenInput;
use backissue_core::history::{Adaptor, FeedKey};
use backissue_core::schedule::Pace;
use chrono::TimeDelta;

const GAZETTE: &str = "https://gazette.example/feed";
const TOWER: &str = "https://tower.example/feed";
/// Interval rules: poll every half hour on weekdays from 9 to 17 hours, and every four hours at all other times.
pub const RULES: &str = "<interval xmlns=\"tag:backissue.example,2026:schedule\">240</interval>\
    <interval xmlns=\"tag:backissue.example,2026:schedule\" starthour=\"9\" endhour=\"17\" startday=\"1\" endday=\"5\">30</interval>";

/// Returns an RSS document with the polling hints `hints` in its channel.
pub fn hinting(title: &str, hints: &str) -> String {
    rss(title, &[("e1", "Ships", 1, "<p>In and out.</p>")])
        .replace("<description/>", &format!("<description/>{hints}"))
}

/// Returns a world with two feeds: a selected one with interval rules, and one with a `ttl` of 15 minutes, which is the minimum.
fn two_plans() -> World {
    let gazette = hinting("Harbour Gazette", RULES);
    let tower = hinting("Bell Tower", "<ttl>15</ttl>");
    let feeds = [(GAZETTE, gazette.as_str(), &["coast"][..]), (TOWER, tower.as_str(), &[])];
    let mut world = World::subscribed(120, 36, &feeds);
    world.app.ui.notice = None;
    world.press("jjjjjj");
    world
}

fn key(code: Code) -> ScreenInput {
    ScreenInput::Key(Key::code(code))
}

fn paced(world: &World) -> Option<Pace> {
    world.app.engine.feeds[&FeedKey(1)].record.feed_settings.pace
}

#[test]
fn more_often_changes_the_plan_and_survives_a_restart() {
    let mut world = two_plans();
    world.press("i");
    let before = world.draw();
    assert!(before.contains("Plan ─ Harbour Gazette"), "{before}");
    assert!(!before.contains("Why at this time"), "folded: {before}");
    world.press("w");
    assert!(before.contains("▶ 2  30 min    from hour 9 to hour 17"), "{before}");
    assert!(!before.contains('▲'), "{before}");
    let planned = world.app.engine.feeds[&FeedKey(1)].plan.next_poll;
    world.press("+");
    let after = world.draw();
    assert!(after.contains("halved to 15 min"), "{after}");
    assert!(after.lines().next().unwrap().contains('▲'), "in the pane's title: {after}");
    assert_eq!(after.matches('▲').count(), 2, "and in the list: {after}");
    assert!(world.notice().starts_with("more often: halved to 15 min · next check in"));
    assert!(world.app.engine.feeds[&FeedKey(1)].plan.next_poll < planned);
    let saved = world.reload();
    assert_eq!(saved.engine.feeds[&FeedKey(1)].record.feed_settings.pace, Some(Pace::More));
    assert_eq!(
        saved.engine.feeds[&FeedKey(1)].plan.due,
        world.app.engine.feeds[&FeedKey(1)].plan.due
    );
    world.press("u");
    assert_eq!(
        (paced(&world), world.app.engine.feeds[&FeedKey(1)].plan.next_poll),
        (None, planned)
    );
    assert!(world.draw().contains("Plan ─ Harbour Gazette"), "undo leaves the pane open");
    assert_eq!(world.reload().engine.feeds[&FeedKey(1)].record.feed_settings.pace, None);
}

#[test]
fn pace_limited_by_a_bound_says_no_effect() {
    let mut world = two_plans();
    world.press("<end>+");
    let held =
        "halved to 7 min 30 s, limited to the usual minimum of 15 min: the setting has no effect";
    assert!(world.notice().contains(held), "{}", world.notice());
    assert!(world.notice().contains("next check still in"), "{}", world.notice());
    world.press("+");
    assert_eq!(world.notice(), "already more often");
    world.press("=");
    assert!(
        world.notice().starts_with("as often as recommended · next check"),
        "{}",
        world.notice()
    );
    world.press("-");
    assert!(world.notice().starts_with("less often: doubled to 30 min"), "{}", world.notice());
    assert!(world.draw().contains('▼'));
    world.press("uuu");
    assert_eq!(world.app.engine.feeds[&FeedKey(2)].record.feed_settings.pace, None);
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
}

#[test]
fn pace_applies_to_the_feed_of_the_selected_entry() {
    let mut world = two_plans();
    for key in ["+", "-", "=", "i", "e"] {
        world.press("gjjjjj");
        assert!(matches!(world.app.ui.feeds.selected_row(), Some(FeedsRow::Tag(..))));
        world.press(key);
        assert!(world.notice().starts_with("select a feed first"), "{key}: {}", world.notice());
        world.press("g");
        world.press(key);
        assert!(world.notice().starts_with("select a feed first"), "{key}: {}", world.notice());
    }
    world.press("g<enter>");
    let feed = world.app.ui.list.selected_row().unwrap().key.feed();
    world.press("-");
    assert_eq!(world.app.engine.feeds[&feed].record.feed_settings.pace, Some(Pace::Less));
}

#[test]
fn gone_feed_says_why_polling_is_useless() {
    let mut world = two_plans();
    world.network.insert(GAZETTE.into(), Scripted { status: 410, ..Scripted::default() });
    world.pass(TimeDelta::minutes(2));
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    world.press("+");
    assert!(world.notice().contains("the publisher ended this feed (410)"), "{}", world.notice());
    world.press("i");
    let screen = world.draw();
    assert!(screen.contains("No automatic polls, because the publisher ended it."), "{screen}");
    assert_eq!(screen.matches("publisher ended").count(), 1, "said once: {screen}");
    assert!(screen.contains("D unsubscribes"), "{screen}");
}

#[test]
fn plan_starts_with_a_sentence_and_folded_steps() {
    let mut world = two_plans();
    // Make the screen wide enough to show the sentence on one line.
    world.resize(140, 36);
    world.press("<end>i");
    let screen = world.draw();
    let sentence =
        "Next poll in 17 minutes, because the publisher asks for a poll about every 15 minutes";
    assert!(screen.contains(sentence), "{screen}");
    assert!(!screen.contains("Why at this time") && screen.contains("w why"), "{screen}");
    assert_eq!(screen.matches("every 15 minutes").count(), 1, "nothing is repeated: {screen}");
    let held = "+ more often: no effect yet (it is already at the shortest";
    assert!(screen.contains(held), "{screen}");
    world.pass(TimeDelta::minutes(2));
    assert!(world.draw().contains("; r"), "{}", world.draw());
    world.press("w");
    let screen = world.draw();
    assert!(screen.contains("Why at this time") && screen.contains("w folds"), "{screen}");
    assert!(screen.contains("so that readers do not all"), "{screen}");
    world.press("w");
    assert!(!world.draw().contains("Why at this time"));
    world.press("qw");
    assert!(world.notice().starts_with("w works in a feed's plan"), "{}", world.notice());
}

#[test]
fn the_plan_follows_polls_while_it_is_open() {
    let mut world = two_plans();
    world.press("i");
    assert!(world.draw().contains("Next poll in 26 minutes"), "{}", world.draw());
    world.press("w");
    world.network.insert(GAZETTE.into(), Scripted { status: 500, ..Scripted::default() });
    world.pass(TimeDelta::minutes(2));
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    let screen = world.draw();
    assert!(screen.contains("answered 500") && screen.contains("back-off"), "{screen}");
    world.press("G");
    let screen = world.draw();
    assert!(screen.contains("●!"), "the marks of both polls: {screen}");
    assert!(screen.contains("manual"), "{screen}");
    assert!(!screen.contains("Next look"), "scrolled to the end: {screen}");
    world.press("gU");
    assert!(world.draw().contains("times in UTC"));
    world.press("i");
    assert_eq!(world.app.ui.overlay, None);
}

#[test]
fn plan_explains_skip_hours_and_can_ignore_them() {
    let hours = "<ttl>60</ttl><skipHours><hour>10</hour><hour>11</hour></skipHours>";
    let feed = hinting("Night Watch", hours);
    let mut world = World::subscribed(120, 50, &[(GAZETTE, &feed, &[])]);
    world.press("<end>iw");
    let screen = world.draw();
    assert!(screen.contains("moved out of the hours the publisher asks"), "{screen}");
    assert!(screen.contains("skip hours 10 to 11 (UTC): no polls then"), "{screen}");
    assert!(screen.contains("××"), "{screen}");
    world.press("e");
    for _ in 0..9 {
        world.tell(key(Code::Down));
    }
    world.press(" <enter>");
    let screen = world.draw();
    assert!(screen.contains("ignored, as you chose"), "{screen}");
    assert!(world.reload().engine.feeds[&FeedKey(1)].record.feed_settings.ignore_skips);
    world.press("u");
    assert!(!world.app.engine.feeds[&FeedKey(1)].record.feed_settings.ignore_skips);
}

#[test]
fn form_saves_title_tags_and_bounds_as_one_step() {
    let mut world = two_plans();
    world.press("e");
    world.press("My Gazette");
    world.tell(key(Code::Down));
    world.press("<c-u>sea/harbour, ships");
    for _ in 0..2 {
        world.tell(key(Code::Tab));
    }
    world.press("1h");
    world.press("<enter>");
    assert_eq!(world.notice(), "'My Gazette' was changed · u undo");
    let feed = &world.app.engine.feeds[&FeedKey(1)];
    assert_eq!(feed.record.shown_title(), "My Gazette");
    assert_eq!(feed.record.tags, ["sea/harbour", "ships"]);
    assert_eq!(
        (feed.record.feed_settings.min_minutes, feed.plan.binding_seconds),
        (Some(60), Some(3600))
    );
    assert!(world.draw().contains("▾ harbour"), "{}", world.draw());
    assert_eq!(
        world.reload().engine.feeds[&FeedKey(1)].record,
        world.app.engine.feeds[&FeedKey(1)].record
    );
    world.press("u");
    let feed = &world.app.engine.feeds[&FeedKey(1)];
    assert_eq!(
        (feed.record.shown_title(), feed.record.feed_settings.min_minutes),
        ("Harbour Gazette", None)
    );
    assert_eq!(feed.record.tags, ["coast"]);
}

#[test]
fn conflicting_bounds_are_refused_and_the_form_stays_open() {
    let mut world = two_plans();
    world.press("e");
    for _ in 0..3 {
        world.tell(key(Code::Down));
    }
    world.press("2d<enter>");
    let screen = world.draw();
    assert!(screen.contains("the shortest interval (2d) would be longer"), "{screen}");
    assert_eq!(world.app.engine.feeds[&FeedKey(1)].record.feed_settings.min_minutes, None);
    world.press("<c-u>soon<enter>");
    assert!(world.draw().contains("'soon' is not a duration"), "{}", world.draw());
    world.press("<esc>");
    assert_eq!(world.app.ui.overlay, None);
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
}

#[test]
fn text_is_pasted_into_the_form_and_choices_cycle() {
    let mut world = two_plans();
    world.press("e");
    world.tell(ScreenInput::Pasted("https://looks-like.example/an/address".into()));
    // Up from the title selects the address, up from there the last line; then up moves through the time unread, the quiet feeds, what
    // is fetched ahead, the full text, the archives and the history.
    world.tell(key(Code::Up));
    world.tell(key(Code::Up));
    world.tell(key(Code::Up));
    world.tell(key(Code::Up));
    world.tell(key(Code::Up));
    world.tell(key(Code::Left));
    world.tell(key(Code::Up));
    world.tell(key(Code::Up));
    world.tell(key(Code::Left));
    world.tell(key(Code::Up));
    world.tell(key(Code::Left));
    world.press("<enter>");
    let record = &world.app.engine.feeds[&FeedKey(1)].record;
    assert_eq!(record.own_title.as_deref(), Some("https://looks-like.example/an/address"));
    assert_eq!(record.feed_settings.history, Some(HistoryMode::Off));
    assert_eq!(record.feed_settings.archives, Some(Adaptor::InternetArchive));
    assert_eq!(record.feed_settings.ahead, Some(Ahead::All));
}

#[test]
fn timetable_lists_polls_and_leads_to_the_plan_and_back() {
    let mut world = two_plans();
    world.press("P");
    let screen = world.draw();
    let place = |words: &str| screen.lines().position(|line| line.contains(words)).unwrap();
    let tower = "17m  Bell Tower ";
    assert!(place(tower) < screen.lines().count(), "{screen}");
    assert!(screen.contains("the publisher's rules") && screen.contains("1/2"), "{screen}");
    world.press("j");
    assert!(world.draw().contains("2/2"));
    world.press("<enter>");
    assert!(world.draw().contains("Plan ─ Harbour Gazette"), "{}", world.draw());
    world.press("?");
    assert!(world.draw().contains("when the feed is polled next, and why"));
    world.press("?q");
    assert!(world.draw().contains("Timetable"), "back where it was opened: {}", world.draw());
    world.press("q");
    assert_eq!(world.app.ui.overlay, None);
    assert!(!world.quit);
}

#[test]
fn timetable_selection_follows_its_feed() {
    let mut world = two_plans();
    world.press("Pj");
    let selected = |world: &World| match world.app.ui.overlay {
        Some(Overlay::Timetable(pane)) => (pane.list.selected, pane.feed),
        _ => panic!("the timetable is open"),
    };
    assert_eq!(selected(&world), (1, Some(FeedKey(1))));
    world.press("+");
    let first = world.app.engine.timetable.iter().next().map(|(_, feed)| *feed);
    let expected = usize::from(first != Some(FeedKey(1)));
    assert_eq!(selected(&world), (expected, Some(FeedKey(1))));
    world.pass(TimeDelta::hours(20));
    world.pass(TimeDelta::seconds(5));
    assert_eq!(selected(&world).1, Some(FeedKey(1)));
}

#[test]
fn feeds_are_sorted_by_unread_by_next_poll_and_back() {
    let mut world = two_plans();
    let order = |world: &World| -> Vec<u32> {
        let rows = world.app.ui.feeds.rows.iter();
        rows.filter_map(|row| match row {
            FeedsRow::Feed(key, _) => Some(key.0),
            _ => None,
        })
        .collect()
    };
    assert_eq!(order(&world), [1, 2], "under its tag first");
    world.press("jS");
    assert_eq!(world.notice(), "feeds: most unread first");
    world.press("S");
    assert_eq!(order(&world), [2, 1], "15 minutes before 30");
    assert_eq!(world.app.ui.feeds.selected_row(), Some(&FeedsRow::Feed(FeedKey(2), 0)));
    world.pass(TimeDelta::seconds(3));
    world.press("-");
    world.press("-");
    world.pass(TimeDelta::seconds(3));
    world.press("<end>");
    world.press("S");
    assert_eq!(world.notice(), "feeds: by tag and title");
    assert!(world.app.ui.feeds.rows.iter().any(|row| matches!(row, FeedsRow::Tag(..))));
}

#[test]
fn unsubscribing_elsewhere_closes_the_plan() {
    let mut world = two_plans();
    world.press("i");
    world.app.engine.feeds.remove(&FeedKey(1));
    world.pass(TimeDelta::seconds(1));
    assert_eq!(world.app.ui.overlay, None);
    assert!(world.draw().contains("Feeds"));
}

#[test]
fn opening_a_plan_asks_the_store_once() {
    use backissue::ui::update::update;
    let mut world = two_plans();
    let now = world.now;
    let asked = update(&mut world.app, now, ScreenInput::Key(Key::char('i')));
    let wanted = [Kind::ReadsPolls(FeedKey(1)), Kind::ReadsPublications(FeedKey(1))];
    assert!(wanted.iter().all(|kind| asked.iter().any(|it| kind.starts(it))), "{asked:?}");
    assert_eq!(works(&asked), 2, "{asked:?}");
    assert!(matches!(&world.app.ui.overlay, Some(Overlay::Plan(pane)) if pane.polls.is_none()));
    world.draw();
    world.press("G");
    assert!(world.draw().contains("Recent polls"), "{}", world.draw());
}

#[test]
fn manual_polling_mode_polls_only_on_request() {
    let mut world = two_plans();
    world.pass(TimeDelta::minutes(2));
    let configure = |world: &mut World, automatic: bool| {
        let mut settings = world.app.engine.settings.clone();
        settings.poll.automatic = automatic;
        world.tell(Input::Reconfigured(Box::new(settings)));
    };
    configure(&mut world, false);
    world.press("i");
    let drawn = world.draw();
    assert!(drawn.contains("polled only when you ask"), "{drawn}");
    world.press("i");
    let asked = world.requests.len();
    world.pass(TimeDelta::days(2));
    assert_eq!(world.requests.len(), asked);
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.requests.len(), asked + 1, "a key asks");
    world.press("i");
    configure(&mut world, true);
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.requests.len(), asked + 2, "the other feed is due");
    let drawn = world.draw();
    assert!(!drawn.contains("polled only when you ask"), "{drawn}");
}
