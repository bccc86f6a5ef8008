//! Feeds without publisher hints: their publication rhythm is learned and shown, and learning can be switched off.

use backissue::engine::poll::learn;
use backissue::engine::request::{Effect, Input, Request};
use backissue::ui::effect::ScreenEffect;
use backissue::ui::update::{ScreenInput, update};
use backissue_core::history::FeedKey;
use backissue_core::schedule::{Pace, SettledBy};
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use crate::support::store_port::Kind;
use crate::support::world::{World, start};

const DESK: &str = "https://desk.example/feed";
const FEED: FeedKey = FeedKey(1);
/// Number of entries in the served document.
const ENTRIES: usize = 20;

/// Returns the publication times: 9:02 and 15:32 on working days, each delayed by at most three minutes.
fn publications() -> Vec<DateTime<Utc>> {
    let monday = start() - TimeDelta::hours(10);
    let days = (-3..60).filter(|day: &i64| day.rem_euclid(7) < 5);
    let times = days.flat_map(|day| {
        [542, 932].map(|minute| {
            monday + TimeDelta::days(day) + TimeDelta::minutes(minute + day.rem_euclid(4))
        })
    });
    times.collect()
}

fn document(now: DateTime<Utc>, hints: &str) -> String {
    let visible: Vec<DateTime<Utc>> = publications().into_iter().filter(|at| *at <= now).collect();
    let items = visible.iter().rev().take(ENTRIES).map(|at| {
        let (id, date) = (at.timestamp(), at.to_rfc2822());
        format!("<item><guid isPermaLink=\"false\">{id}</guid><title>No. {id}</title><pubDate>{date}</pubDate></item>")
    });
    format!(
        "<rss version=\"2.0\"><channel><title>Evening Desk</title><link>https://desk.example/</link><description/>{hints}{}</channel></rss>",
        items.collect::<String>()
    )
}

fn desk(hints: &str) -> World {
    let mut world = World::subscribed(120, 60, &[(DESK, &document(start(), hints), &[])]);
    world.app.ui.notice = None;
    world.press("<end>");
    world
}

/// Returns the text of the plan pane without line ends.
fn pane(world: &mut World) -> String {
    let screen = world.draw();
    let lines = screen.lines().filter_map(|line| line.split('│').nth(2));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Runs the engine from one wake time to the next and returns the times of the polls.
fn run(world: &mut World, hints: &str, time: TimeDelta) -> Vec<DateTime<Utc>> {
    let end = world.now + time;
    let mut polls = Vec::new();
    while let Some(next) = world.app.engine.timetable.next().filter(|at| *at < end) {
        world.now = next.max(world.now);
        world.serve(DESK, &document(world.now, hints));
        let before = world.requests.len();
        world.tell(Input::Tick);
        if world.requests.len() > before {
            polls.push(world.now);
        }
    }
    world.now = end;
    polls
}

/// Returns the mean number of minutes from a publication to the next poll.
fn mean_delay(polls: &[DateTime<Utc>], from: DateTime<Utc>, to: DateTime<Utc>) -> f64 {
    let times = publications().into_iter().filter(|at| *at >= from && *at < to);
    let delays: Vec<i64> = times
        .filter_map(|at| {
            Some((polls.iter().find(|poll| **poll >= at)?.timestamp() - at.timestamp()) / 60)
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
    let mean = delays.iter().sum::<i64>() as f64 / delays.len() as f64;
    mean
}

fn settled(world: &World) -> SettledBy {
    world.app.engine.feeds[&FEED].plan.settled_by
}

#[test]
fn feed_without_hints_is_learned_and_polled_on_time() {
    let mut world = desk("");
    run(&mut world, "", TimeDelta::weeks(4));
    assert_eq!(settled(&world), SettledBy::Learned);
    let from = world.now;
    let polls = run(&mut world, "", TimeDelta::weeks(1));
    let delay = mean_delay(&polls, from, world.now - TimeDelta::days(1));
    #[expect(clippy::cast_precision_loss, reason = "some hundred polls")]
    let even = 7.0 * 1440.0 / polls.len() as f64 / 2.0;
    assert!(delay < even / 3.0, "{delay} min, evenly {even} min, {} polls", polls.len());
    for gap in polls.windows(2) {
        let minutes = (gap[1] - gap[0]).num_minutes();
        assert!((15..=1443).contains(&minutes), "{minutes}");
    }
    world.press("i");
    let screen = world.draw();
    assert!(screen.contains("When it posts") && screen.contains("learned from"), "{screen}");
    assert!(screen.contains("later polls: ") && screen.contains('◉'), "{screen}");
    assert!(screen.contains("Next poll ") && screen.contains(", because "), "{screen}");
    assert!(screen.contains("it usually posts "), "{screen}");
}

#[test]
fn with_learning_off_the_default_interval_stays() {
    let mut world = desk("");
    let mut chosen = world.app.engine.feeds[&FEED].record.chosen();
    chosen.feed_settings.learn = Some(false);
    world.tell(Request::Set(FEED, Box::new(chosen.clone())));
    run(&mut world, "", TimeDelta::weeks(3));
    assert_eq!(settled(&world), SettledBy::Default);
    assert_eq!(world.app.engine.feeds[&FEED].state.facts.learned, None);
    world.press("i");
    let pane = pane(&mut world);
    assert!(pane.contains("learning is off for this feed"), "{pane}");
    chosen.feed_settings.learn = None;
    world.tell(Request::Set(FEED, Box::new(chosen)));
    assert_eq!(settled(&world), SettledBy::Learned, "what was observed meanwhile counts at once");
}

#[test]
fn publisher_hints_override_learning_but_both_are_shown() {
    let hints = "<ttl>120</ttl>";
    let mut world = desk(hints);
    run(&mut world, hints, TimeDelta::weeks(3));
    assert_eq!(settled(&world), SettledBy::Ttl);
    world.press("i");
    let pane = pane(&mut world);
    assert!(pane.contains("the publisher says how often)"), "{pane}");
    assert_eq!(world.app.engine.feeds[&FEED].state.facts.learned, None);
}

#[test]
fn pace_moves_polls_and_a_restart_does_not() {
    let mut world = desk("");
    run(&mut world, "", TimeDelta::weeks(4));
    let week = |world: &World| {
        let feed = &world.app.engine.feeds[&FEED];
        let end = world.now + TimeDelta::weeks(1);
        learn::polls_until(feed, world.app.engine.salt, world.now, end).len()
    };
    let normal = week(&world);
    let planned = world.app.engine.feeds[&FEED].plan;
    let reloaded = world.reload().engine.feeds[&FEED].plan;
    assert_eq!(reloaded, planned, "a restart");
    world.press("+");
    assert!(week(&world) > normal, "more often");
    assert_eq!(world.reload().engine.feeds[&FEED].plan, world.app.engine.feeds[&FEED].plan);
    world.press("=-");
    assert!(week(&world) <= normal, "never more");
    world.press("=");
    assert_eq!(week(&world), normal);
    assert_eq!(world.app.engine.feeds[&FEED].state.facts.settings.pace, Pace::Normal);
}

#[test]
fn learning_runs_once_a_day_after_a_poll_and_first_frame() {
    let mut world = desk("");
    run(&mut world, "", TimeDelta::weeks(2));
    let mut model = world.reload();
    let now = world.now;
    let effects = backissue::ui::update::begin(&mut model, now);
    let learns = |effect: &ScreenEffect| {
        matches!(effect, ScreenEffect::Engine(Effect::Learn(_))) || Kind::ReadsRhythm.starts(effect)
    };
    assert!(!effects.iter().any(learns), "{effects:?}");
    assert!(!update(&mut model, now, ScreenInput::Resized(80, 24)).iter().any(learns));
    world.poll(FEED);
    let learned = |world: &World| {
        let learned = world.app.engine.feeds[&FEED].state.facts.learned.clone();
        learned.and_then(|learned| learned.plan).map(|plan| plan.learned_at)
    };
    let mut times = vec![learned(&world).unwrap()];
    for _ in 0..48 {
        run(&mut world, "", TimeDelta::hours(3));
        times.extend(learned(&world));
    }
    times.dedup();
    assert!(times.len() >= 4, "{times:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= TimeDelta::days(1)), "{times:?}");
}

#[test]
fn learned_plan_survives_a_restart_without_relearning() {
    let mut world = desk("");
    run(&mut world, "", TimeDelta::weeks(2));
    let plan = |world: &World| {
        let facts = &world.app.engine.feeds[&FEED].state.facts;
        facts.learned.as_ref().and_then(|learned| learned.plan.clone())
    };
    let known = plan(&world).unwrap();
    let mut times = vec![known.learned_at];
    let mut settled_by_plan = 0;
    for _ in 0..48 {
        world.restart();
        let polls = run(&mut world, "", TimeDelta::hours(3));
        if let Some(plan) = plan(&world) {
            times.push(plan.learned_at);
            settled_by_plan += usize::from(!polls.is_empty());
        } else {
            assert!(polls.is_empty(), "a poll brings the plan back");
        }
        assert_eq!(settled(&world), SettledBy::Learned);
    }
    times.dedup();
    // The loop covers six days with one learned poll time each; a publication at an unexpected hour is learned on the same day.
    assert!(settled_by_plan > 8 && (4..=7).contains(&times.len()), "{settled_by_plan} {times:?}");
}

#[test]
fn marked_hours_become_an_editable_undoable_rule() {
    let mut world = desk("");
    run(&mut world, "", TimeDelta::weeks(4));
    world.press("iM");
    let screen = world.draw();
    assert!(screen.contains("Mon, 10:00 to 11:00") && screen.contains("Space marks"), "{screen}");
    world.press("h jjjjlll");
    let screen = world.draw();
    assert!(screen.contains("Mon to Fri, 9:00 to 13:00"), "{screen}");
    world.press("<enter>");
    let screen = world.draw();
    assert!(screen.contains("Your rule (change the interval): Mon-Fri 9:00-13:00"), "{screen}");
    world.press("<backspace><backspace><backspace><backspace> UTC<enter>");
    let rules = |world: &World| world.app.engine.feeds[&FEED].record.feed_settings.rules.clone();
    assert_eq!(rules(&world).len(), 1, "{}", world.notice());
    assert_eq!((rules(&world)[0].start_hour, rules(&world)[0].end_hour), (Some(9), Some(12)));
    assert_eq!(
        world.reload().engine.feeds[&FEED].record.feed_settings.rules,
        rules(&world),
        "it is kept"
    );
    let screen = world.draw();
    assert!(
        screen.contains("Interval rules") && screen.contains("from hour 9 to hour 12"),
        "{screen}"
    );
    assert!(screen.contains("rules come first)"), "{screen}");
    assert_eq!(settled(&world), SettledBy::OwnRules);
    world.press("M");
    while !world.draw().contains("Mon, 10:00") {
        world.press("h");
    }
    world.press("<enter>");
    assert!(world.draw().contains("Your rule (empty removes it): Mon-Fri 9:00-13:00"));
    for _ in 0..40 {
        world.press("<backspace>");
    }
    world.press("2h sat<enter>");
    assert_eq!((rules(&world)[0].minutes, rules(&world)[0].start_day), (120, Some(6)));
    world.press("u");
    assert_eq!(rules(&world)[0].start_day, Some(1));
    world.press("u");
    assert!(rules(&world).is_empty());
    assert_eq!(world.app.engine.zone, Tz::UTC);
}

#[test]
fn timetable_shows_poll_cost_and_possible_savings() {
    let hourly = document(start(), "<ttl>60</ttl>");
    let daily = document(start(), "<ttl>360</ttl>").replace("Evening Desk", "Tide Table");
    let feeds =
        [(DESK, hourly.as_str(), &[][..]), ("https://tide.example/feed", daily.as_str(), &[])];
    let mut world = World::subscribed(140, 30, &feeds);
    world.app.ui.notice = None;
    world.press("<end>P");
    let screen = world.draw();
    assert!(screen.contains("2 feeds: 28 polls a day, average delay about 1h"), "{screen}");
    assert!(screen.contains("polling them less often would save 14 a day"), "{screen}");
    assert!(screen.contains("24 a day, delay  30m"), "{screen}");
    assert!(screen.contains("4.0 a day, delay   3h"), "{screen}");
    world.press("+");
    let screen = world.draw();
    assert!(screen.contains("average delay") && !screen.contains(": 28 polls"), "{screen}");
}
