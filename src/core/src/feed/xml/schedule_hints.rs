//! Reads the polling hints in a head section: `ttl`, `skipHours`, `skipDays`, `sy:*`, `refreshRate` and interval rules (SPEC S0.5
//! to S0.11, A.5.2, H.1). An invalid hint is dropped without affecting the other hints.

use std::collections::BTreeSet;

use super::links;
use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::dates::date::parse_date;
use crate::feed::flaws::{Flaws, HintFlaws};
use crate::feed::hints::{
    DayOfWeek, Hints, INTERVAL_MINUTES_MAX, IntervalRule, Period, SyHint, Zone,
};

/// Maximum number of interval rules kept per feed (SPEC 0, `RULES_MAX`).
const RULES_MAX: usize = 64;
/// Reason for dropping a hint that was already stated.
const SECOND: &str = "a second one: only the first is used";
/// Maximum number of updates per period in `sy:updateFrequency`.
const FREQUENCY_MAX: u32 = 99_999;

/// Reads the polling hints among the direct children of `parents`, the elements that form the head section.
pub(in crate::feed) fn read_hints(parents: &[XmlElement<'_, '_>], flaws: &mut Flaws) -> Hints {
    let mut reader = HintReader::default();
    let mut flaws = HintFlaws::new(flaws);
    for element in parents.iter().flat_map(|parent| parent.children()) {
        reader.read_element(element, &mut flaws);
    }
    let hints = reader.finish(&mut flaws);
    Hints { flaws: flaws.into_list(), ..hints }
}

/// Polling hints found so far.
#[derive(Default)]
struct HintReader {
    hints: Hints,
    hours: BTreeSet<u8>,
    days: BTreeSet<DayOfWeek>,
    period: Option<String>,
    frequency: Option<String>,
    base: Option<String>,
    /// Interval rules written without a namespace. They are used only if there are no rules with a namespace.
    plain_rules: Vec<IntervalRule>,
}

impl HintReader {
    fn read_element(&mut self, element: XmlElement<'_, '_>, flaws: &mut HintFlaws<'_>) {
        let text = || element.text().trim().to_owned();
        match (element.ns(), element.local()) {
            (Ns::Rss, "ttl") if self.hints.ttl_minutes.is_none() => {
                self.hints.ttl_minutes = read_ttl(&text(), flaws);
            }
            (Ns::Rss, "ttl") => flaws.add("ttl", &text(), SECOND),
            (Ns::Rss, "skiphours") => {
                for hour in skipped(element, "hour", 24, flaws) {
                    self.add_skipped_hour(&hour, flaws);
                }
            }
            (Ns::Rss, "skipdays") => {
                for day in skipped(element, "day", 7, flaws) {
                    self.add_skipped_day(&day, flaws);
                }
            }
            (Ns::Rss, "schedule") => add_cdf_schedule(&mut self.plain_rules, element, flaws),
            (Ns::Sy, "updateperiod") => self.period = self.period.take().or_else(|| Some(text())),
            (Ns::Sy, "updatefrequency") => {
                self.frequency = self.frequency.take().or_else(|| Some(text()));
            }
            (Ns::Sy, "updatebase") => self.base = self.base.take().or_else(|| Some(text())),
            (Ns::Atom, "refreshrate") if self.hints.refresh_rate_ms.is_some() => {
                flaws.add("refreshRate", &text(), SECOND);
            }
            (Ns::Atom, "refreshrate") => {
                self.hints.refresh_rate_ms = read_refresh_rate(&text(), flaws);
            }
            (Ns::Schedule, "interval") => {
                add_rule_element(&mut self.hints.intervals, element, flaws);
            }
            (Ns::Rss | Ns::Atom, "interval") => {
                add_rule_element(&mut self.plain_rules, element, flaws);
            }
            (Ns::Rss, "cloud") => self.hints.offers_push = true,
            (Ns::Atom | Ns::Rss, "link") => {
                self.hints.offers_push |= links::relation(element) == "hub";
            }
            _ => {}
        }
    }

    fn add_skipped_hour(&mut self, text: &str, flaws: &mut HintFlaws<'_>) {
        match text.trim().parse::<u8>() {
            Ok(24) => self.hours.insert(0),
            Ok(hour @ 0..=23) => self.hours.insert(hour),
            _ => {
                flaws.add("skipHours", text, "not an hour from 0 to 24");
                false
            }
        };
    }

    fn add_skipped_day(&mut self, text: &str, flaws: &mut HintFlaws<'_>) {
        let name = text.trim().to_ascii_lowercase();
        let day = DayOfWeek::ALL
            .iter()
            .find(|day| name.len() >= 3 && day.name().to_ascii_lowercase().starts_with(&name));
        match day {
            Some(day) => {
                self.days.insert(*day);
            }
            None => flaws.add("skipDays", text, "not a day of the week"),
        }
    }

    fn finish(mut self, flaws: &mut HintFlaws<'_>) -> Hints {
        if self.hours.len() == 24 || self.days.len() == 7 {
            let element = if self.hours.len() == 24 { "skipHours" } else { "skipDays" };
            flaws.add(element, "", "the whole week is excluded: this will be ignored");
        }
        self.hints.skip_hours = self.hours.into_iter().collect();
        self.hints.skip_days = self.days.into_iter().collect();
        self.hints.sy = read_sy_hint(self.period, self.frequency, self.base, flaws);
        if self.hints.intervals.is_empty() {
            self.hints.intervals = self.plain_rules;
        } else if !self.plain_rules.is_empty() {
            flaws.add("interval", "", "rules without a namespace are dropped if others have one");
        }
        self.hints
    }
}

/// Returns the items of a list of hours or days: the texts of its child elements, or the words of its own text if it has no child
/// elements.
fn skipped(
    list: XmlElement<'_, '_>,
    name: &str,
    most: usize,
    flaws: &mut HintFlaws<'_>,
) -> Vec<String> {
    for other in list.children().filter(|child| child.local().strip_suffix('s') == Some(name)) {
        flaws.add_once(other.raw(), "", "dropped: the element has another name in RSS");
    }
    let named = list.children().filter(|child| child.local() == name);
    let stated: Vec<String> = named.take(most).map(|child| child.text().into_owned()).collect();
    if list.children().next().is_some() {
        return stated;
    }
    let text = list.text();
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| !word.is_empty()).take(most).map(str::to_owned).collect()
}

/// Adds an interval rule for the schedule of a CDF channel: `<SCHEDULE><INTERVALTIME DAY= HOUR= MIN= /></SCHEDULE>`.
fn add_cdf_schedule(
    rules: &mut Vec<IntervalRule>,
    schedule: XmlElement<'_, '_>,
    flaws: &mut HintFlaws<'_>,
) {
    let Some(time) = schedule.children().find(|child| child.local() == "intervaltime") else {
        flaws.add("SCHEDULE", "", "without INTERVALTIME: dropped");
        return;
    };
    let part = |name: &str, minutes: u32| -> Option<u32> {
        let stated = time.attribute(name);
        stated.map_or(Some(0), |text| text.parse::<u32>().ok()?.checked_mul(minutes))
    };
    let parts = [part("day", 1440), part("hour", 60), part("min", 1)];
    let minutes = parts.into_iter().try_fold(0_u32, |sum, part| sum.checked_add(part?));
    let minutes = minutes.map(|minutes| minutes.to_string()).unwrap_or_default();
    add_rule(rules, &StatedRule { minutes, ..StatedRule::default() }, flaws);
}

fn read_ttl(text: &str, flaws: &mut HintFlaws<'_>) -> Option<u32> {
    let minutes = text.parse().ok().filter(|minutes| (1..=INTERVAL_MINUTES_MAX).contains(minutes));
    if minutes.is_none() {
        flaws.add("ttl", text, "not a number of minutes from 1 to 527 040");
    }
    minutes
}

fn read_refresh_rate(text: &str, flaws: &mut HintFlaws<'_>) -> Option<u64> {
    let rate = text.parse().ok().filter(|rate| *rate >= 1_000);
    if rate.is_none() {
        flaws.add("refreshRate", text, "not a number of milliseconds (at least 1000)");
    }
    rate
}

fn read_sy_hint(
    period: Option<String>,
    frequency: Option<String>,
    base: Option<String>,
    flaws: &mut HintFlaws<'_>,
) -> Option<SyHint> {
    const PERIODS: [Period; 5] =
        [Period::Hourly, Period::Daily, Period::Weekly, Period::Monthly, Period::Yearly];
    if period.is_none() && frequency.is_none() && base.is_none() {
        return None;
    }
    // If a period or base is stated, an invalid frequency is read as 1. Otherwise the invalid frequency is ignored.
    let is_alone = period.is_none() && base.is_none();
    let period = match period {
        None => Period::Daily,
        Some(text) => {
            let known =
                PERIODS.iter().find(|period| period.word().eq_ignore_ascii_case(&text)).copied();
            if known.is_none() {
                flaws.add("sy:updatePeriod", &text, "unknown period: the sy hint was dropped");
            }
            known?
        }
    };
    let frequency = match frequency.map(|text| (read_frequency(&text), text)) {
        None => 1,
        Some((Some(frequency), _)) => frequency,
        Some((None, text)) => {
            flaws.add("sy:updateFrequency", &text, "not a number from 1 to 99 999: not used");
            if is_alone {
                return None;
            }
            1
        }
    };
    let base = base.and_then(|text| {
        let read = parse_date(&text);
        if read.is_none() {
            flaws.add("sy:updateBase", &text, "not a date: the hint has no phase");
        }
        read
    });
    Some(SyHint { period, frequency, base })
}

fn read_frequency(text: &str) -> Option<u32> {
    text.parse().ok().filter(|frequency| (1..=FREQUENCY_MAX).contains(frequency))
}

/// Adds the interval rule that an element states, or records why the rule was dropped.
fn add_rule_element(
    rules: &mut Vec<IntervalRule>,
    element: XmlElement<'_, '_>,
    flaws: &mut HintFlaws<'_>,
) {
    let attribute = |name| element.attribute(name).map(std::borrow::Cow::into_owned);
    let stated = StatedRule {
        minutes: element.text().trim().to_owned(),
        start_hour: attribute("starthour"),
        end_hour: attribute("endhour"),
        start_day: attribute("startday"),
        end_day: attribute("endday"),
        zone: attribute("tz"),
    };
    add_rule(rules, &stated, flaws);
}

/// An interval rule, with its values as written.
#[derive(Debug, Default)]
pub(in crate::feed) struct StatedRule {
    pub(in crate::feed) minutes: String,
    pub(in crate::feed) start_hour: Option<String>,
    pub(in crate::feed) end_hour: Option<String>,
    pub(in crate::feed) start_day: Option<String>,
    pub(in crate::feed) end_day: Option<String>,
    pub(in crate::feed) zone: Option<String>,
}

/// Adds an interval rule. If the rule is invalid or there are already too many rules, records why the rule was dropped (SPEC
/// A.5.2).
pub(in crate::feed) fn add_rule(
    rules: &mut Vec<IntervalRule>,
    stated: &StatedRule,
    flaws: &mut HintFlaws<'_>,
) {
    if rules.len() >= RULES_MAX {
        flaws.add_once("interval", "", "more than 64 rules: the rest was left out");
        return;
    }
    match read_rule(stated, flaws) {
        Ok(rule) => rules.push(rule),
        Err((text, reason)) => flaws.add("interval", text, reason),
    }
}

fn read_rule<'s>(
    stated: &'s StatedRule,
    flaws: &mut HintFlaws<'_>,
) -> Result<IntervalRule, (&'s str, &'static str)> {
    const HOUR: &str = "an hour from 0 to 24 was expected: the rule was dropped";
    const DAY: &str = "a day from 0 to 7 was expected: the rule was dropped";
    const MINUTES: &str = "minutes from 1 to 527 040 were expected: the rule was dropped";
    let number = |text: &'s Option<String>, most: u8, reason: &'static str| match text.as_deref() {
        None => Ok(None),
        Some(text) => match text.trim().parse::<u8>() {
            Ok(number) if number <= most => Ok(Some(number)),
            _ => Err((text, reason)),
        },
    };
    let minutes =
        stated.minutes.parse().ok().filter(|minutes| (1..=INTERVAL_MINUTES_MAX).contains(minutes));
    let sunday = |day: Option<u8>| day.map(|day| if day == 0 { 7 } else { day });
    Ok(IntervalRule {
        minutes: minutes.ok_or((stated.minutes.as_str(), MINUTES))?,
        start_hour: number(&stated.start_hour, 24, HOUR)?
            .map(|hour| if hour == 24 { 0 } else { hour }),
        end_hour: number(&stated.end_hour, 24, HOUR)?.map(|hour| hour.min(23)),
        start_day: sunday(number(&stated.start_day, 7, DAY)?),
        end_day: sunday(number(&stated.end_day, 7, DAY)?),
        zone: zone_or_utc(stated.zone.as_deref().unwrap_or_default(), flaws),
    })
}

/// Returns the time zone of an interval rule. If the zone is unknown, records a flaw and returns UTC.
fn zone_or_utc(text: &str, flaws: &mut HintFlaws<'_>) -> Zone {
    let text = text.trim();
    if text.is_empty() {
        return Zone::Utc;
    }
    read_zone(text).unwrap_or_else(|| {
        flaws.add("interval", text, "unknown time zone: read as UTC");
        Zone::Utc
    })
}

/// Parses a time zone as written in interval rules: `UTC`, `+05:30`, `Europe/Berlin`. Returns `None` if the zone is unknown.
pub fn read_zone(text: &str) -> Option<Zone> {
    if ["UTC", "GMT", "Z"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
        return Some(Zone::Utc);
    }
    if let Some(minutes) = read_offset(text) {
        return Some(if minutes == 0 { Zone::Utc } else { Zone::Offset(minutes) });
    }
    text.parse::<chrono_tz::Tz>().is_ok().then(|| Zone::Named(text.to_owned()))
}

/// Parses a zone offset `+HH:MM` or `-HH:MM` of up to 14:00. Returns minutes east of UTC.
fn read_offset(text: &str) -> Option<i16> {
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(hours) || !digits(minutes) {
        return None;
    }
    let (hours, minutes): (i16, i16) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= 840).then_some(sign * total)
}

#[cfg(test)]
#[path = "schedule_hints_tests.rs"]
mod tests;
