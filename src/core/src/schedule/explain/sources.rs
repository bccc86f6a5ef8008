//! Describes in a sentence which source determines the interval, and which other sources it overrides.

use super::wording::rule_words;
use crate::feed::{IntervalRule, Period, SyHint};
use crate::schedule::facts::Facts;
use crate::schedule::holds::bans::Skips;
use crate::schedule::recommend::{IntervalSource, Recommendation, RecommendedCourse, flat_sources};
use crate::schedule::target_time::TargetTime;
use crate::words::duration_words;

/// Describes the source of the recommendation, its interval, the sources it outranks and what was learned from the
/// feed's publications.
pub(in crate::schedule) fn source_sentence(
    facts: &Facts,
    recommendation: &Recommendation,
    target: &TargetTime,
) -> String {
    let by_rules = matches!(recommendation.course, RecommendedCourse::Rules(_));
    let sentence = match target.rule {
        Some(rule) => binding_rule_sentence(facts, recommendation.source, rule, target.raw),
        None if by_rules => {
            let instead = flat_sentence(facts, target.source, target.raw);
            format!("no interval rule covers this hour; {instead}")
        }
        None => learned_sentence(facts, target)
            .unwrap_or_else(|| flat_sentence(facts, target.source, target.raw)),
    };
    let outranked = outranked(facts, recommendation, target);
    let outranked =
        if outranked.is_empty() { String::new() } else { format!(" (it overrides {outranked})") };
    let skips = skips_note(facts).map(|note| format!("; {note}")).unwrap_or_default();
    let learned = facts.learned.as_ref().filter(|_| target.source != IntervalSource::Learned);
    let observed = learned.map(|learned| {
        let gap = duration_words(i64::from(learned.interval_seconds));
        format!("; judging by when it posts, a poll about every {gap} would be enough")
    });
    format!("{sentence}{outranked}{skips}{}", observed.unwrap_or_default())
}

fn binding_rule_sentence(facts: &Facts, source: IntervalSource, rule: usize, raw: i64) -> String {
    let (whose, rules): (&str, &[IntervalRule]) = if source == IntervalSource::OwnRules {
        ("your", &facts.settings.own_rules)
    } else {
        ("the publisher's", &facts.hints.intervals)
    };
    let when = rules.get(rule).map(rule_words).unwrap_or_default();
    format!("{whose} interval rule {}: every {} {when}", rule + 1, duration_words(raw))
}

fn flat_sentence(facts: &Facts, source: IntervalSource, seconds: i64) -> String {
    let every = duration_words(seconds);
    match source {
        IntervalSource::Fixed => {
            format!("your fixed interval of {every} replaces every recommendation")
        }
        IntervalSource::ArchiveDocument => {
            "this is an archive document, which never changes".to_owned()
        }
        IntervalSource::Sy => facts.hints.sy.map_or_else(String::new, |sy| sy_sentence(sy, &every)),
        IntervalSource::Ttl => format!("the publisher's ttl of {every}"),
        IntervalSource::RefreshRate => format!("the publisher's refreshRate of {every}"),
        IntervalSource::BoilerplateSy => {
            format!(
                "every {every}, which WordPress writes into every feed, so it has little weight"
            )
        }
        IntervalSource::Learned => format!("learned: a poll about every {every}"),
        IntervalSource::Default | IntervalSource::OwnRules | IntervalSource::Rules => {
            format!("no interval is stated or known, so the default of {every}")
        }
    }
}

/// Describes whether a plan was learned from when or how often the feed posts; `None` if no plan was learned. Another part of the
/// view shows the details.
fn learned_sentence(facts: &Facts, target: &TargetTime) -> Option<String> {
    let learned = facts.learned.as_ref().filter(|_| target.source == IntervalSource::Learned)?;
    let placed = learned.plan.as_ref()?.is_placed();
    let what = if placed { "when it posts" } else { "how often it posts" };
    Some(format!("learned from {what}"))
}

fn sy_sentence(sy: SyHint, every: &str) -> String {
    let times = match sy.frequency {
        0 | 1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    };
    let period = match sy.period {
        Period::Hourly => "an hour",
        Period::Daily => "a day",
        Period::Weekly => "a week",
        Period::Monthly => "a month",
        Period::Yearly => "a year",
    };
    let counted = if sy.base.is_some() { ", counted from the stated base" } else { "" };
    format!("the publisher updates {times} {period}: every {every}{counted}")
}

/// Lists lower-ranked sources of the publisher or the user that also state an interval.
fn outranked(facts: &Facts, recommendation: &Recommendation, target: &TargetTime) -> String {
    let above_rules =
        matches!(recommendation.source, IntervalSource::Fixed | IntervalSource::OwnRules);
    let rules = above_rules && !facts.hints.intervals.is_empty();
    let rules = rules.then(|| "the publisher's interval rules".to_owned());
    let below = flat_sources(facts).filter(|stated| stated.source != target.source);
    let below = below.filter_map(|stated| {
        let name = stated.source.settled_by().hint_name();
        (!name.is_empty()).then(|| format!("{name} {}", duration_words(stated.seconds)))
    });
    rules.into_iter().chain(below).collect::<Vec<_>>().join(", ")
}

/// Explains why the skip hours and days that the feed states do not apply; `None` if they apply or there are none.
fn skips_note(facts: &Facts) -> Option<&'static str> {
    match Skips::from_facts(facts) {
        Skips::None | Skips::Kept(_) | Skips::WholeWeek => None,
        Skips::ReplacedByRules => Some("the rules also replace skipHours and skipDays"),
        Skips::ReplacedBySy => Some("sy also replaces skipHours and skipDays"),
        Skips::SwitchedOff => Some("you switched off skipHours and skipDays"),
    }
}
