//! Tests for the sentences that describe what was learned and how certain it is.

use super::*;
use crate::feed::DayOfWeek;

const WEEK: i64 = 7 * 1440;

fn peak(days: PeakDays, clock: &str, times_mean: f64) -> Peak {
    let (hour, minute) = clock.split_once(':').expect("a time");
    let number = |text: &str| text.parse::<u16>().expect("a number");
    Peak { days, minute: number(hour) * 60 + number(minute), times_mean }
}

fn rhythm(publications: usize, observed_minutes: i64, peaks: Vec<Peak>) -> LearnedRhythm {
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let rate_per_week = publications as f64 * 10_080.0 / observed_minutes as f64;
    LearnedRhythm {
        publications,
        observed_minutes,
        whole_days: false,
        arrivals: publications,
        has_dates: true,
        rate_per_week,
        shares: [0.0, 0.2, 0.3, 0.4, 0.1],
        polls_per_week: 20.0,
        interval_seconds: 3600,
        delay_minutes: 12.0,
        even_delay_minutes: 250.0,
        peaks,
        zone: Zone::Utc,
        hours: Vec::new(),
    }
}

#[test]
fn two_days_of_posts_give_times_but_no_days() {
    let peaks = vec![
        peak(PeakDays::Working, "07:30", 3.0),
        peak(PeakDays::Working, "12:01", 9.0),
        peak(PeakDays::Working, "18:00", 8.0),
        peak(PeakDays::Weekend, "12:10", 4.0),
        peak(PeakDays::One(DayOfWeek::Tuesday), "16:00", 30.0),
        peak(PeakDays::One(DayOfWeek::Monday), "09:00", 20.0),
    ];
    let said = rhythm(12, 2 * 1440, peaks).sentence();
    assert_eq!(
        said,
        "learned from 12 publications in 2 days: it seems to post around 12:00 and 18:00 (UTC)"
    );
}

#[test]
fn little_data_is_reported_as_tentative() {
    let peaks = || vec![peak(PeakDays::Working, "09:00", 9.0)];
    for (publications, minutes, certain) in [
        (29, 6 * WEEK, false),
        (30, 3 * WEEK - 1, false),
        (30, 3 * WEEK, true),
        (60, 2 * WEEK, false),
    ] {
        let rhythm = rhythm(publications, minutes, peaks());
        let said = rhythm.sentence();
        assert_eq!(rhythm.is_certain(), certain, "{said}");
        assert_eq!(said.contains("seems to post on working days around 09:00"), !certain, "{said}");
        assert_eq!(said.contains("usually posts on working days around 09:00"), certain, "{said}");
        assert_eq!(said.contains("delay is about 12 min instead of 4 h 10 min"), certain, "{said}");
    }
}

#[test]
fn shared_time_is_named_once_and_weekdays_after_three_weeks() {
    let peaks = vec![
        peak(PeakDays::Working, "07:30", 9.0),
        peak(PeakDays::Weekend, "07:40", 8.0),
        peak(PeakDays::One(DayOfWeek::Tuesday), "16:02", 20.0),
    ];
    let said = rhythm(60, 6 * WEEK, peaks.clone()).sentence();
    let expected = "usually posts every day around 07:30 and on Tuesdays around 16:00 (UTC)";
    assert!(said.contains(expected), "{said}");
    let said = rhythm(60, 2 * WEEK, peaks).sentence();
    assert!(said.ends_with("it seems to post every day around 07:30 (UTC)"), "{said}");
}

#[test]
fn without_a_fixed_time_the_frequency_is_named() {
    let any_time = |publications, weeks: i64| {
        let peaks = vec![peak(PeakDays::Working, "09:00", 2.5)];
        let shares = [0.0, 0.1, 0.1, 0.2, 0.6];
        LearnedRhythm { shares, ..rhythm(publications, weeks * WEEK, peaks) }
    };
    for (publications, weeks, expected) in [
        (8, 20, "it seems to post about monthly, at no set time"),
        (30, 30, "it posts about once a week, at no set time"),
        (30, 10, "it posts about 3 times a week, at no set time"),
        (42, 6, "it posts about once a day, at no set time"),
        (300, 4, "it posts about 11 times a day, at no set time"),
    ] {
        let said = any_time(publications, weeks).sentence();
        assert!(said.contains(expected), "{said}");
    }
    assert!(any_time(7, 30).sentence().ends_with(": too few to see a pattern"));
}

#[test]
fn busy_feed_has_its_times_beside_its_frequency() {
    let peaks = vec![peak(PeakDays::Working, "09:00", 9.0), peak(PeakDays::Working, "11:00", 8.0)];
    let said = rhythm(280, 2 * WEEK, peaks.clone()).sentence();
    let expected =
        "it seems to post about 20 times a day, most often on working days around 09:00 and 11:00";
    assert!(said.contains(expected), "{said}");
    let said = rhythm(42, 2 * WEEK, peaks).sentence();
    assert!(said.contains("it seems to post on working days around 09:00 and 11:00"), "{said}");
}

#[test]
fn saved_delay_is_named_only_after_seen_arrivals() {
    let dated = |arrivals| {
        let peaks = vec![peak(PeakDays::Working, "09:00", 9.0)];
        LearnedRhythm { arrivals, ..rhythm(60, 6 * WEEK, peaks) }.sentence()
    };
    assert!(dated(7).ends_with("usually posts on working days around 09:00 (UTC)"), "{}", dated(7));
    assert!(dated(8).ends_with("the average delay is about 12 min instead of 4 h 10 min"));
}

#[test]
fn dates_that_are_only_old_are_called_old() {
    let said = |has_dates| LearnedRhythm { has_dates, ..rhythm(0, WEEK, Vec::new()) }.sentence();
    assert_eq!(said(true), "nothing was learned: all its dates are more than twelve weeks old");
    assert_eq!(said(false), "nothing was learned: no publication with a usable date was seen");
}
