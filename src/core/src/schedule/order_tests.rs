//! Tests for the worked examples of SPEC B.6, B.7, H.2 and H.3, and for the hint pitfalls of SPEC G.

use super::super::facts::{Facts, FeedStatus, Learned, PollFailure, ScheduleSettings};
use super::super::plan::{PlanKind, SettledBy};
use super::super::specimens::*;
use super::*;
use crate::feed::{DayOfWeek, Hints, IntervalRule, Period, SyHint};
use crate::schedule::holds::cache::{CacheState, TimingHeaders};
use crate::schedule::holds::retry_after::Wait;
use crate::schedule::limits::Pace;

const TEN: &str = "03-02 10:00";

/// Computes the plan at the time of the last attempt, without jitter, and checks the next poll and what determined it.
fn check(name: &str, facts: &Facts, next: &str, settled_by: SettledBy) {
    let now = facts.last_try.or(facts.last_ok).expect("polled before");
    let plan = decide(facts, now, 0.0);
    let expected = (Some(at(next)), settled_by);
    assert_eq!((plan.next_poll, plan.settled_by), expected, "{name}: {:#?}", plan.steps);
    assert_eq!(plan.decision(), decide_time(facts, now, 0.0), "{name}");
    assert!(plan.steps.iter().all(|step| !step.reason.is_empty()), "{name}");
}

fn silent(last_ok: &str) -> Facts {
    Facts { last_ok: Some(at(last_ok)), ..Facts::default() }
}

fn cached(mut facts: Facts, cache_control: &str, age: Option<&str>) -> Facts {
    let headers =
        TimingHeaders { cache_control: Some(cache_control), age, ..TimingHeaders::default() };
    facts.cache = facts.last_ok.map(|at| CacheState::of_document(&headers, at));
    facts
}

/// Creates a failing feed: last success at 09:00, last attempt at 10:00.
fn failing(failures: u32, failure: PollFailure, ttl: u32) -> Facts {
    let (last_try, failure) = (Some(at(TEN)), Some(failure));
    Facts { last_try, failures, failure, ..with_ttl(ttl, "03-02 09:00") }
}

fn wordpress(mut facts: Facts) -> Facts {
    facts.hints.sy = Some(SyHint { period: Period::Hourly, frequency: 1, base: None });
    facts.hints.generator = Some("https://WordPress.org/?v=6.5".to_owned());
    facts
}

fn skipping(mut facts: Facts, hours: &[u8]) -> Facts {
    facts.hints.skip_hours = hours.to_vec();
    facts
}

fn paced(mut facts: Facts, pace: Pace) -> Facts {
    facts.settings.pace = pace;
    facts
}

fn fixed(mut facts: Facts, minutes: u32) -> Facts {
    facts.settings.fixed_seconds = Some(minutes * 60);
    facts
}

#[test]
fn recommendations_and_bounds() {
    check("B1", &silent(TEN), "03-02 11:00", SettledBy::Default);
    check("B2", &with_ttl(30, TEN), "03-02 10:30", SettledBy::Ttl);
    check("B3", &with_ttl(5, TEN), "03-02 10:15", SettledBy::Minimum);
    check("B4", &with_ttl(100_000, TEN), "03-03 10:00", SettledBy::Maximum);
    check("B5", &paced(with_ttl(30, TEN), Pace::More), "03-02 10:15", SettledBy::Ttl);
    check("B5", &paced(with_ttl(30, TEN), Pace::Less), "03-02 11:00", SettledBy::Ttl);
    let mut atom = silent(TEN);
    atom.hints.refresh_rate_ms = Some(900_000);
    check("B25", &atom, "03-02 10:15", SettledBy::RefreshRate);
    atom.hints.refresh_rate_ms = Some(900);
    check("B26", &atom, "03-02 11:00", SettledBy::Default);
}

#[test]
fn cache_lifetimes_are_floors() {
    let ttl = |minutes| with_ttl(minutes, TEN);
    let lifetime = SettledBy::CacheLifetime;
    check("B6", &cached(ttl(30), "max-age=3600", None), "03-02 11:00", lifetime);
    check("B7", &cached(ttl(30), "max-age=3600", Some("1800")), "03-02 10:30", SettledBy::Ttl);
    check("B8", &cached(ttl(60), "max-age=7200", Some("600")), "03-02 11:50", lifetime);
    check("B9", &cached(ttl(30), "max-age=31536000", None), "03-02 16:00", lifetime);
    check("B10", &cached(ttl(30), "max-age=172800", None), "03-04 10:00", lifetime);
    let mut disbelieved = cached(ttl(30), "max-age=3600", None);
    disbelieved.settings.ignore_cache_lifetime = true;
    check("switched off", &disbelieved, "03-02 10:30", SettledBy::Ttl);
    let rules = cached(with_rules(set_p(), TEN), "max-age=3600", None);
    check("also above rules", &rules, "03-02 11:00", lifetime);
}

#[test]
fn failures_back_off_the_poll() {
    let mut refused = failing(1, PollFailure::Status(503), 60);
    let headers = TimingHeaders { retry_after: Some("7200"), ..TimingHeaders::default() };
    refused.retry_after = Wait::of_answer(503, &headers, at(TEN));
    check("B11", &refused, "03-02 12:00", SettledBy::RetryAfter);
    check("B12", &failing(1, PollFailure::Unanswered, 60), "03-02 11:00", SettledBy::BackOff);
    check("B13", &failing(4, PollFailure::Unanswered, 60), "03-02 12:00", SettledBy::BackOff);
    let never_ok = Facts { last_ok: None, ..failing(1, PollFailure::Unanswered, 30) };
    check("never read", &never_ok, "03-02 10:30", SettledBy::BackOff);
    for (failure, next) in [
        (PollFailure::Status(404), "03-02 10:15"),
        (PollFailure::Status(429), "03-02 11:00"),
        (PollFailure::Status(402), "03-02 14:00"),
        (PollFailure::Status(403), "03-02 14:00"),
        (PollFailure::Status(451), "03-02 14:00"),
        (PollFailure::Status(401), "03-03 10:00"),
        (PollFailure::Status(407), "03-03 10:00"),
        (PollFailure::TooLarge, "03-03 10:00"),
        (PollFailure::Unreadable, "03-02 10:15"),
    ] {
        check(&format!("{failure:?}"), &failing(1, failure, 15), next, SettledBy::BackOff);
    }
    check("capped", &failing(99, PollFailure::Unanswered, 15), "03-03 10:00", SettledBy::BackOff);
    let dead = Facts { standing: FeedStatus::Dead, ..failing(40, PollFailure::Status(404), 15) };
    let archive = Facts { standing: FeedStatus::Archive, ..with_ttl(30, TEN) };
    check("archive", &archive, "03-03 10:00", SettledBy::Maximum);
    check("dead", &dead, "03-09 10:00", SettledBy::Dead);
}

#[test]
fn failing_feed_is_polled_no_sooner_than_a_healthy_one() {
    // The busy hours end at 18:00, so the shorter interval must not apply after a failure at 18:00.
    let mut facts = with_rules(set_p(), "03-02 17:30");
    facts.last_try = Some(at("03-02 18:00"));
    (facts.failures, facts.failure) = (1, Some(PollFailure::Unanswered));
    check("after hours", &facts, "03-02 22:00", SettledBy::BackOff);
    facts.last_try = Some(at("03-02 06:00"));
    facts.last_ok = Some(at("03-02 05:00"));
    check("up to the busy hours", &facts, "03-02 09:00", SettledBy::Rules);
    facts.last_ok = Some(at("03-02 01:00"));
    check("up to the busy hours", &facts, "03-02 09:00", SettledBy::BackOff);
    facts.last_try = Some(at("03-02 18:01"));
    facts.host_wait = Wait::of_answer(
        429,
        &TimingHeaders { retry_after: Some("36000"), ..TimingHeaders::default() },
        at("03-02 18:01"),
    );
    check("whole host", &facts, "03-03 04:01", SettledBy::RetryAfter);
}

#[test]
fn rules_and_sy_disable_skip_windows_but_boilerplate_not() {
    let mut all = skipping(with_rules(set_p(), TEN), &[10]);
    all.hints.ttl_minutes = Some(5);
    check("B14", &all, "03-02 10:30", SettledBy::Rules);
    let sy = with_sy(Period::Hourly, 2, None, TEN);
    check("B15", &skipping(sy, &[10]), "03-02 10:30", SettledBy::Sy);
    check("B16", &skipping(wordpress(silent(TEN)), &[11]), "03-02 12:00", SettledBy::SkipHours);
    check("B17", &wordpress(with_ttl(30, TEN)), "03-02 10:30", SettledBy::Ttl);
    check("boilerplate", &wordpress(silent(TEN)), "03-02 11:00", SettledBy::BoilerplateSy);
    let learned = Facts { learned: Some(Learned::every(7200)), ..silent(TEN) };
    check("learned", &learned, "03-02 12:00", SettledBy::Learned);
    check("above boilerplate", &wordpress(learned), "03-02 12:00", SettledBy::Learned);
}

#[test]
fn skip_window_postpones_a_poll_to_its_end() {
    let windows = |last| with_windows(with_ttl(60, last));
    check("B18", &windows("03-02 05:10"), "03-02 12:00", SettledBy::SkipHours);
    check("B19", &windows("03-07 23:30"), "03-09 00:00", SettledBy::SkipDays);
    check("B20", &windows("03-07 05:30"), "03-07 12:00", SettledBy::SkipHours);
    let mut off = windows("03-02 05:10");
    off.settings.ignore_skips = true;
    check("switched off", &off, "03-02 06:10", SettledBy::Ttl);
    let odd = skipping(with_ttl(60, "03-02 00:05"), &[1, 3, 5, 7]);
    check("sparse hours", &odd, "03-02 02:00", SettledBy::SkipHours);
    let weekend = bounded(with_ttl(60, "03-06 23:30"), 15, 240);
    let mut weekend = weekend;
    weekend.hints.skip_days = vec![DayOfWeek::Saturday, DayOfWeek::Sunday];
    check("a ban goes past MAX", &weekend, "03-09 00:00", SettledBy::SkipDays);
}

#[test]
fn a_ban_on_the_whole_week_is_ignored_and_reported() {
    let all: Vec<u8> = (0..24).collect();
    let facts = skipping(with_ttl(60, TEN), &all);
    check("B21", &facts, "03-02 11:00", SettledBy::Ttl);
    let plan = decide(&facts, at(TEN), 0.0);
    assert_eq!(plan.flaws.len(), 1);
    assert_eq!(plan.flaws[0].element, "skipHours");
    let mut days = with_ttl(60, TEN);
    days.hints.skip_days = DayOfWeek::ALL.to_vec();
    assert_eq!(decide(&days, at(TEN), 0.0).flaws[0].element, "skipDays");
}

#[test]
fn a_fixed_interval_replaces_all_recommendations_but_no_floor() {
    check("B22", &fixed(with_ttl(120, TEN), 10), "03-02 10:10", SettledBy::Fixed);
    let floored = cached(fixed(silent(TEN), 10), "max-age=3600", None);
    check("B23", &floored, "03-02 11:00", SettledBy::CacheLifetime);
    check("hard minimum", &fixed(silent(TEN), 1), "03-02 10:05", SettledBy::Minimum);
    let paced = paced(fixed(silent(TEN), 10_000), Pace::Less);
    check("neither pace nor MAX", &paced, "03-09 08:40", SettledBy::Fixed);
}

#[test]
fn stopped_feed_is_never_polled() {
    for (standing, settled_by) in [
        (FeedStatus::Gone, SettledBy::Gone),
        (FeedStatus::Stopped, SettledBy::Stopped),
        (FeedStatus::Paused, SettledBy::Paused),
    ] {
        let plan = decide(&Facts { standing, ..with_ttl(30, TEN) }, at(TEN), 0.3);
        assert_eq!((plan.next_poll, plan.kind), (None, PlanKind::Never), "B24");
        assert_eq!((plan.settled_by, plan.binding_seconds), (settled_by, None));
    }
    let mut finished = with_ttl(30, TEN);
    finished.hints.expired = true;
    assert_eq!(decide(&finished, at(TEN), 0.0).settled_by, SettledBy::Expired);
    finished.settings.ignore_expired = true;
    check("resumed", &finished, "03-02 10:30", SettledBy::Ttl);
}

#[test]
fn slots_are_met_once_each() {
    use Period::{Daily, Hourly, Weekly};
    let base = |text: &str| Some(text.parse().expect("an instant"));
    let (noon, new_year) = (base("2000-01-01T12:00:00Z"), base("2026-01-01T00:00:00Z"));
    let (monday, future) = (base("2026-01-05T00:00:00Z"), base("2030-06-01T07:20:00Z"));
    for (period, frequency, base, last, next) in [
        (Hourly, 2, noon, "03-02 10:05", "03-02 10:30"),
        (Hourly, 2, noon, "03-02 10:30", "03-02 11:00"),
        (Hourly, 3, base("1970-01-01T08:20:00Z"), "03-02 10:05", "03-02 10:20"),
        (Daily, 4, monday, "03-02 12:01", "03-02 18:00"),
        (Daily, 4, monday, "03-02 06:00", "03-02 12:00"),
        (Daily, 5, new_year, TEN, "03-02 14:24"),
        (Daily, 1, future, TEN, "03-03 07:20"),
    ] {
        let facts = with_sy(period, frequency, base, last);
        check("B.6", &facts, next, SettledBy::Sy);
        assert_eq!(decide_time(&facts, at(last), 0.0).kind, PlanKind::Slot);
    }
    let weekly = with_sy(Weekly, 1, base("2026-01-05T09:00:00Z"), "03-04 10:00");
    check("B.6", &weekly, "03-05 10:00", SettledBy::Maximum);
    check("B.6", &bounded(weekly, 15, 20_000), "03-09 09:00", SettledBy::Sy);
    let halved = paced(with_sy(Hourly, 1, noon, "03-02 10:05"), Pace::More);
    check("halved steps", &halved, "03-02 10:30", SettledBy::Sy);
    let doubled = paced(with_sy(Hourly, 1, noon, "03-02 10:05"), Pace::Less);
    check("doubled steps", &doubled, "03-02 12:00", SettledBy::Sy);
    let busy = with_sy(Hourly, 12, noon, "03-02 10:05");
    check("below MIN", &busy, "03-02 10:20", SettledBy::Minimum);
}

#[test]
fn the_documents_of_the_syntax_chapter_plan_as_stated() {
    let noon = Some("2000-01-01T12:00:00Z".parse().expect("an instant"));
    let sy = Some(SyHint { period: Period::Hourly, frequency: 2, base: noon });
    let full = |intervals: Vec<IntervalRule>| Hints {
        ttl_minutes: Some(120),
        sy,
        skip_hours: vec![0, 10],
        skip_days: vec![DayOfWeek::Sunday],
        intervals,
        ..Hints::default()
    };
    let facts = |hints| Facts { hints, last_ok: Some(at(TEN)), ..Facts::default() };
    check("H.2", &facts(full(set_p())), "03-02 10:30", SettledBy::Rules);
    let without_rules = full(Vec::new());
    check("H.2, no sched", &facts(without_rules.clone()), "03-02 10:30", SettledBy::Sy);
    let only_ttl = Hints { sy: None, ..without_rules.clone() };
    check("H.2, no sched, no sy", &facts(only_ttl), "03-02 12:00", SettledBy::Ttl);
    let no_base = Hints { sy: sy.map(|sy| SyHint { base: None, ..sy }), ..without_rules };
    let plan = decide(&facts(no_base), at(TEN), 0.0);
    assert_eq!((plan.next_poll, plan.kind), (Some(at("03-02 10:30")), PlanKind::Interval));
    let mut atom = with_rules(set_w(), "03-06 21:30");
    atom.hints.refresh_rate_ms = Some(900_000);
    check("H.3", &atom, "03-06 22:00", SettledBy::Rules);
    atom.hints.intervals.clear();
    check("H.3, no sched", &atom, "03-06 21:45", SettledBy::RefreshRate);
}

#[test]
fn own_rules_override_the_publisher_but_keep_skip_windows() {
    let settings = ScheduleSettings { own_rules: set_p(), ..ScheduleSettings::default() };
    let facts = Facts { settings, ..with_ttl(120, TEN) };
    check("own rules", &facts, "03-02 10:30", SettledBy::OwnRules);
    check("own rules, skip", &skipping(facts, &[10]), "03-02 11:00", SettledBy::SkipHours);
}

#[test]
fn an_uncovered_hour_names_the_source_that_fills_it() {
    let mut facts = with_rules(set_n(), "03-07 12:00");
    facts.hints.ttl_minutes = Some(120);
    check("N", &facts, "03-07 14:00", SettledBy::Ttl);
    let plan = decide(&facts, at("03-07 12:00"), 0.0);
    let reason = "no interval rule covers this hour; the publisher's ttl of 2 h";
    assert_eq!(plan.steps[0].reason, reason);
}

#[test]
fn a_ttl_that_looks_like_seconds_is_reported_and_not_corrected() {
    let learned = Some(Learned::every(1800));
    let facts = Facts { learned: learned.clone(), ..with_ttl(3600, TEN) };
    let plan = decide(&facts, at(TEN), 0.0);
    assert_eq!(plan.next_poll, Some(at("03-03 10:00")));
    assert_eq!((plan.flaws.len(), plan.flaws[0].element.as_str()), (1, "ttl"));
    let plausible = Facts { learned, ..with_ttl(60, TEN) };
    assert!(decide(&plausible, at(TEN), 0.0).flaws.is_empty());
}

#[test]
fn rule_boundary_settles_the_poll_despite_bounds() {
    let held = bounded(with_rules(set_p(), "03-02 06:00"), 60, 1440);
    check("boundary", &held, "03-02 09:00", SettledBy::Rules);
    let held = bounded(with_rules(set_p(), TEN), 60, 1440);
    check("interval", &held, "03-02 11:00", SettledBy::Minimum);
}

#[test]
fn restart_keeps_the_last_poll_and_floors() {
    let facts = cached(with_ttl(30, TEN), "max-age=3600", Some("60"));
    let stored = serde_json::to_string(&facts).expect("facts can be stored");
    let restored: Facts = serde_json::from_str(&stored).expect("facts can be read back");
    assert_eq!(restored, facts);
    check("restored", &restored, "03-02 10:59", SettledBy::CacheLifetime);
}
