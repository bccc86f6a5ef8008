//! Finds hints that were read but cannot be followed, and hints that look like mistakes.

use chrono_tz::Tz;

use super::bounds::Bounds;
use super::explain::wording::rule_words;
use super::facts::Facts;
use super::holds::bans::Skips;
use super::interval::rules::rule_mask;
use super::limits::RULES_MAX;
use crate::feed::{Flaw, Zone};
use crate::words::duration_words;

/// Returns the flaws in a feed's hints: those found when the document was read, and those found while planning. A hint with a flaw
/// is ignored, followed only in part, or followed although it looks like a mistake.
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

/// Reports an offer of push updates, which is not used (SPEC S0.11).
fn offered_push(facts: &Facts) -> Option<Flaw> {
    let reason = "offers push, which needs a public address: polled instead";
    facts.hints.offers_push.then(|| flaw("push", "cloud or hub".to_owned(), reason))
}

/// Reports skip hints that cover the whole week (SPEC G.2).
fn whole_week_skipped(facts: &Facts) -> Option<Flaw> {
    let Skips::WholeWeek = Skips::from_facts(facts) else { return None };
    let hints = &facts.hints;
    let element = if hints.skip_hours.len() >= 24 { "skipHours" } else { "skipDays" };
    let text = format!("{} hours, {} days", hints.skip_hours.len(), hints.skip_days.len());
    Some(flaw(element, text, "covers the whole week: ignored"))
}

/// Reports a ttl that looks like seconds. The value is never corrected silently (SPEC G.3).
fn ttl_in_seconds(facts: &Facts) -> Option<Flaw> {
    let hints = &facts.hints;
    if hints.flaws.iter().any(|flaw| flaw.element == "ttl") {
        return None;
    }
    hints.ttl_like_seconds(i64::from(facts.learned.as_ref()?.interval_seconds))
}

/// Reports a maximum below the minimum. The settings screen rejects such a maximum, but it can come from another source (SPEC A.8).
fn crossed_bounds(facts: &Facts) -> Option<Flaw> {
    let bounds = Bounds::from_facts(facts);
    let maximum = i64::from(facts.settings.max_seconds);
    let crossed = !bounds.fixed && maximum < bounds.min;
    crossed.then(|| {
        flaw("maximum", duration_words(maximum), "less than the minimum: the minimum applies")
    })
}

fn too_many_rules(facts: &Facts) -> Option<Flaw> {
    let first_ignored = facts.hints.intervals.get(RULES_MAX)?;
    let reason = format!("only the first {RULES_MAX} rules are used; the others are ignored");
    Some(flaw("interval", rule_words(first_ignored), &reason))
}
