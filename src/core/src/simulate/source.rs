//! Input files of the simulator: publication times, rules and budgets of feeds, as JSON (UX 5).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::week_rules::{WEEK, WeekRules};
use crate::feed::hints::INTERVAL_MINUTES_MAX;
use crate::schedule::learning::Rectangle;
use crate::{InputFlaw, flaw};

/// Maximum number of publications of one feed.
const MINUTES_MAX: usize = 1_000_000;

/// The publication times of one feed, read from an input file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SimulatedFeed {
    /// Name of the feed.
    pub name: String,
    /// First minute of the feed's data, in minutes since 1970.
    pub start: i64,
    /// Minute after the last minute of the feed's data.
    pub end: i64,
    /// Minutes from which the publications are visible, in ascending order and without duplicates.
    pub minutes: Vec<i64>,
    /// Name of the group of feeds whose results include this feed.
    #[serde(default)]
    pub panel: String,
}

/// Parses one line of a file of feeds. The error is a phrase that describes the problem.
pub fn read_source(line: &str) -> Result<SimulatedFeed, InputFlaw> {
    let mut source: SimulatedFeed =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    let span = source.end.checked_sub(source.start).unwrap_or(0);
    if source.start < 0 || span <= 0 || span > 520 * WEEK {
        return Err(
            "\"start\" and \"end\" must be minutes since 1970, at most ten years apart".into()
        );
    }
    if source.minutes.len() > MINUTES_MAX {
        return Err(flaw!("more than {MINUTES_MAX} publications"));
    }
    source.minutes.sort_unstable();
    source.minutes.dedup();
    source.minutes.retain(|minute| (source.start - WEEK..source.end + WEEK).contains(minute));
    Ok(source)
}

/// The interval rules of one feed, as stated in the input file.
#[derive(Debug, Deserialize)]
struct RulesText {
    default: f64,
    #[serde(default)]
    rules: Vec<RuleText>,
}

/// A rectangle of the week and its interval. Days are numbered from 1 to 7 and hours from 0 to 23; both ends are included.
/// Days and hours wrap around independently.
#[derive(Debug, Deserialize)]
struct RuleText {
    startday: usize,
    endday: usize,
    starthour: usize,
    endhour: usize,
    interval: f64,
}

/// Parses a file of interval rules. The keys of the result are the names of the feeds.
pub fn read_rules(text: &str) -> Result<BTreeMap<String, WeekRules>, InputFlaw> {
    let stated: BTreeMap<String, RulesText> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    stated.into_iter().map(|(name, rules)| Ok((name, week_rules(&rules)?))).collect()
}

fn week_rules(stated: &RulesText) -> Result<WeekRules, InputFlaw> {
    let interval = |minutes: f64| {
        let usable =
            minutes.is_finite() && (1.0..=f64::from(INTERVAL_MINUTES_MAX)).contains(&minutes);
        usable.then_some(minutes).ok_or_else(|| format!("an interval of {minutes} minutes"))
    };
    let mut rules = WeekRules::flat(interval(stated.default)?);
    for rule in &stated.rules {
        let days_ok = (1..=7).contains(&rule.startday) && (1..=7).contains(&rule.endday);
        if !days_ok || rule.starthour > 23 || rule.endhour > 23 {
            return Err("days are 1 to 7, hours 0 to 23".into());
        }
        let rectangle = Rectangle {
            day: rule.startday - 1,
            days: (rule.endday + 7 - rule.startday) % 7 + 1,
            hour: rule.starthour,
            hours: (rule.endhour + 24 - rule.starthour) % 24 + 1,
        };
        rules.mark(rectangle, interval(rule.interval)?);
    }
    Ok(rules)
}

/// The polling budget of a feed, as stated in the input file.
#[derive(Debug, Deserialize)]
struct Budget {
    rules_per_week: f64,
}

/// Parses a file of polling budgets. The result contains the number of polls per week for each feed name.
pub fn read_budgets(text: &str) -> Result<BTreeMap<String, f64>, InputFlaw> {
    let budgets: BTreeMap<String, Budget> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let wrong = budgets
        .iter()
        .find(|(_, budget)| budget.rules_per_week.is_nan() || budget.rules_per_week <= 0.0);
    match wrong {
        Some((name, _)) => Err(flaw!("\"rules_per_week\" of {name} must be above 0")),
        None => {
            Ok(budgets.into_iter().map(|(name, budget)| (name, budget.rules_per_week)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_is_read_with_its_minutes_in_order() {
        let line = r#"{"name":"a","start":100,"end":400,"minutes":[200,150,200],"items":3}"#;
        let source = read_source(line).expect("readable");
        assert_eq!((source.minutes.as_slice(), source.panel.as_str()), (&[150, 200][..], ""));
        for bad in [
            "",
            "[]",
            r#"{"name":"a","start":5,"end":5,"minutes":[]}"#,
            r#"{"name":"a","start":-9223372036854775808,"end":9223372036854775807,"minutes":[]}"#,
            r#"{"name":"a","start":0,"end":10}"#,
        ] {
            assert!(read_source(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rules_are_cells_of_days_and_hours() {
        let text = r#"{"a":{"default":100.5,"rules":[
            {"startday":6,"endday":7,"starthour":21,"endhour":0,"interval":240}]}}"#;
        let rules = read_rules(text).expect("readable");
        let rules = rules.get("a").expect("there");
        assert_eq!((rules.interval(5 * 24 + 21), rules.interval(6 * 24)), (240.0, 240.0));
        assert_eq!((rules.interval(5 * 24), rules.interval(5 * 24 + 20)), (240.0, 100.5));
        assert!((rules.interval(0) - 100.5).abs() < 1e-9);
        assert!(read_rules(r#"{"a":{"default":0}}"#).is_err());
        let day = r#"{"a":{"default":9,"rules":[{"startday":0,"endday":8,"starthour":0,"endhour":0,"interval":5}]}}"#;
        assert!(read_rules(day).is_err());
    }

    #[test]
    fn budgets_must_be_positive() {
        let budgets = read_budgets(r#"{"a":{"rules_per_week":50.5,"x":1}}"#);
        assert_eq!(budgets.expect("readable").get("a"), Some(&50.5));
        assert!(read_budgets(r#"{"a":{"rules_per_week":0}}"#).is_err());
    }
}
