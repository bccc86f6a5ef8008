//! Hints that were read but cannot be followed, and hints that look like a mistake.

use chrono_tz::Tz;

use super::bounds::Bounds;
use super::explain::wording::{duration_words, rule_words};
use super::facts::Facts;
use super::holds::bans::Skips;
use super::interval::rules::rule_mask;
use super::limits::RULES_MAX;
use crate::feed::hints::SUSPICIOUS_TTL_MINUTES;
use crate::feed::{Flaw, Zone};

/// What is wrong with the hints of a feed, so that they are not followed or not as they stand: what was dropped when the
/// document was read, and what planning finds.
pub fn planning_flaws(facts: &Facts) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = facts.hints.flaws.clone();
    flaws.extend(offered_push(facts));
    flaws.extend(whole_week_skipped(facts));
    flaws.extend(ttl_in_seconds(facts));
    flaws.extend(too_many_rules(facts));
    flaws.extend(crossed_bounds(facts));
    for rule in facts.hints.intervals.iter().take(RULES_MAX) {
        if rule_mask(rule).is_none() {
            flaws.push(flaw(
                "interval",
                rule.minutes.to_string(),
                "a number is out of range: rule dropped",
            ));
        }
        if let Zone::Named(name) = &rule.zone
            && name.parse::<Tz>().is_err()
        {
            flaws.push(flaw("interval", name.clone(), "unknown time zone: read as UTC"));
        }
    }
    flaws
}

fn flaw(element: &str, text: String, reason: &str) -> Flaw {
    Flaw { element: element.to_owned(), text, reason: reason.to_owned() }
}

/// SPEC S0.11.
fn offered_push(facts: &Facts) -> Option<Flaw> {
    let reason = "offers push, which a reader at home cannot receive: polled instead";
    facts.hints.offers_push.then(|| flaw("push", "cloud or hub".to_owned(), reason))
}

/// SPEC G.2.
fn whole_week_skipped(facts: &Facts) -> Option<Flaw> {
    let Skips::WholeWeek = Skips::from_facts(facts) else { return None };
    let hints = &facts.hints;
    let element = if hints.skip_hours.len() >= 24 { "skipHours" } else { "skipDays" };
    let text = format!("{} hours, {} days", hints.skip_hours.len(), hints.skip_days.len());
    Some(flaw(element, text, "covers the whole week: ignored"))
}

/// SPEC G.3: never corrected silently, only said.
fn ttl_in_seconds(facts: &Facts) -> Option<Flaw> {
    let hints = &facts.hints;
    if hints.flaws.iter().any(|flaw| flaw.element == "ttl") {
        return None;
    }
    let ttl = hints.ttl_minutes.filter(|&ttl| ttl >= SUSPICIOUS_TTL_MINUTES)?;
    let gap = i64::from(facts.learned.as_ref()?.interval_seconds);
    let looks_wrong = gap < i64::from(ttl) * 60 / 10;
    let news = duration_words(gap);
    let reason =
        format!("looks like seconds, since news comes about every {news}: read as minutes");
    looks_wrong.then(|| flaw("ttl", ttl.to_string(), &reason))
}

/// SPEC A.8: an edit that crosses the bounds is refused; where they come crossed, this is said.
fn crossed_bounds(facts: &Facts) -> Option<Flaw> {
    let bounds = Bounds::from_facts(facts);
    let maximum = i64::from(facts.settings.max_seconds);
    let crossed = !bounds.fixed && maximum < bounds.min;
    crossed.then(|| {
        flaw("maximum", duration_words(maximum), "less than the minimum: the minimum counts")
    })
}

fn too_many_rules(facts: &Facts) -> Option<Flaw> {
    let first_ignored = facts.hints.intervals.get(RULES_MAX)?;
    let reason = format!("only the first {RULES_MAX} rules count: further ones ignored");
    Some(flaw("interval", rule_words(first_ignored), &reason))
}
