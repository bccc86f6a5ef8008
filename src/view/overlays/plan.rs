//! The plan pane: the next poll, the way to it step by step, what can be done, rules, the week, the last polls.
//!
//! ```text
//! ┌ Plan ─ Orchard Notes ▲ ─ times in UTC, U changes ──────────┐
//! │ Next poll Mon 2 Mar 10:15, in 15m                          │
//! │ settled by the publisher's ttl · every 15 min              │
//! │                                                            │
//! │ Why then                                                   │
//! │ recommendation  30 min           the publisher's ttl …     │
//! │ pace            30 min → 15 min  halved to 15 min          │
//! └────────────────────────────────────────────────────────────┘
//! ```

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::plan_lines::{Ink, SENTENCE_LINES, heading, instant, sentence};
use super::plan_polls;
use super::plan_rhythm::{outline_lines, rhythm_lines};
use super::plan_week::week_lines;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::plans::{settled_words, stage_words};
use crate::schedule::{Pace, PlanStep, Value, duration_words};
use crate::ui::app::App;
use crate::ui::state::plan_pane::{PaceEffect, PlanPane};
use crate::view::{cells, pane, theme, when};

/// From this width on a step stands on one line with its values beside it.
const WIDE: usize = 72;
/// Cells of a name before its text.
const NAME_CELLS: usize = 15;
/// Cells of the values of a step.
const VALUE_CELLS: usize = 30;
/// Draws the pane; answers with its lines and the place of its rows.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    shown: &PlanPane,
    now: DateTime<Utc>,
) -> (u16, Rect) {
    pane::clear_beside(frame, area);
    let Some(feed) = app.engine.feeds.get(&shown.feed) else {
        return (0, Rect::default());
    };
    let zone = if shown.utc { Tz::UTC } else { app.engine.zone };
    let title = format!("Plan ─ {} {}", feed.record.shown_title(), pace_sign(feed));
    let other = match (app.engine.zone, shown.utc) {
        (Tz::UTC, _) => "",
        (_, true) => "U: your time · ",
        (_, false) => "U: UTC · ",
    };
    let place = format!("times in {} · {other}q closes", zone.name());
    let inside = pane::counted(frame, area, title.trim_end(), &place, true);
    let ink = Ink { width: usize::from(inside.width).saturating_sub(1), zone, now };
    let lines = lines(feed, shown, ink);
    let count = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let last = lines.len().saturating_sub(usize::from(inside.height));
    let seen: Vec<Line<'_>> = lines
        .into_iter()
        .skip(shown.top.min(last))
        .take(usize::from(inside.height))
        .map(|mut line| {
            line.spans.insert(0, Span::raw(" "));
            line
        })
        .collect();
    frame.render_widget(Paragraph::new(seen), inside);
    (count, inside)
}

/// ▲ more often, ▼ less often.
pub(in crate::view) const fn pace_sign(feed: &Subscription) -> &'static str {
    match feed.record.feed_settings.pace {
        Some(Pace::More) => "▲",
        Some(Pace::Less) => "▼",
        Some(Pace::Normal) | None => "",
    }
}

fn lines(feed: &Subscription, shown: &PlanPane, ink: Ink) -> Vec<Line<'static>> {
    if let Some(outline) = shown.outline {
        return outline_lines(shown, outline, ink);
    }
    let page = &shown.page;
    let mut lines = answer(feed, shown, ink);
    heading(&mut lines, "Why then");
    for step in &page.plan.steps {
        lines.extend(step_lines(step, ink));
    }
    heading(&mut lines, "What you can do");
    for advice in &page.advice {
        let from = advice.from.map(|at| format!(", {}", when::relative(at, ink.now)));
        let text = format!("{}{}", advice.text, from.unwrap_or_default());
        lines.extend(keyed(advice.key, &text, ink));
    }
    let coming = page.plan.next_poll.is_some();
    for effect in page.paces.iter().filter(|_| coming) {
        lines.extend(keyed(pace_key(effect.pace), &effect_words(effect, page.placed, ink), ink));
    }
    if coming {
        lines.extend(restriction_lines(shown, ink));
    }
    lines.extend(rule_lines(shown, ink));
    let interval = page.plan.binding_seconds.filter(|_| !page.placed);
    lines.extend(week_lines(page.week.as_ref(), interval, ink.width));
    lines.extend(rhythm_lines(shown, ink));
    lines.extend(plan_polls::poll_lines(shown.polls.as_deref(), ink));
    if !page.plan.flaws.is_empty() {
        heading(&mut lines, "Hints that cannot be followed");
        for flaw in &page.plan.flaws {
            let text = format!("{} '{}': {}", flaw.element, flaw.text, flaw.reason);
            lines.extend(sentence(&text, ink.width, theme::TEXT));
        }
    }
    lines
}

/// Floors that have not passed, and hours to skip.
fn restriction_lines(shown: &PlanPane, ink: Ink) -> Vec<Line<'static>> {
    let page = &shown.page;
    let mut lines = Vec::new();
    heading(&mut lines, "What holds it back now");
    for floor in &page.floors {
        let text = format!("until {}: {}", instant(floor.until, ink), floor.reason);
        lines.extend(sentence(&text, ink.width, theme::TEXT));
    }
    if let Some(skips) = &page.skips {
        lines.extend(sentence(skips, ink.width, theme::TEXT));
    }
    if page.floors.is_empty() && page.skips.is_none() {
        let nothing = "nothing: no cache lifetime, no waiting time, no hours to skip";
        lines.extend(sentence(nothing, ink.width, theme::DIM));
    }
    lines
}

/// When, by what, and how it went so far.
fn answer(feed: &Subscription, shown: &PlanPane, ink: Ink) -> Vec<Line<'static>> {
    let plan = &shown.page.plan;
    let next = match plan.next_poll {
        None => "Never polled by itself".to_owned(),
        Some(at) if at <= ink.now => "Next poll: now".to_owned(),
        Some(at) => {
            format!("Next poll {}, {}", when::minute(at, ink.zone), when::relative(at, ink.now))
        }
    };
    let mut lines = sentence(&next, ink.width, theme::UNREAD);
    let interval = plan.binding_seconds.map(|seconds| interval_words(seconds, shown.page.placed));
    if plan.next_poll.is_some() {
        let (why, interval) = (settled_words(plan.settled_by), interval.unwrap_or_default());
        let settled = format!("settled by: {why}{interval}");
        lines.extend(sentence(&settled, ink.width, theme::TEXT));
    }
    if let Some(held_up) = &shown.page.held_up {
        lines.extend(sentence(held_up, ink.width, theme::HEADING));
    }
    let facts = &feed.state.facts;
    let read = facts.last_ok.map_or_else(
        || "never read so far".to_owned(),
        |at| format!("last read {}, {}", when::minute(at, ink.zone), when::relative(at, ink.now)),
    );
    lines.extend(sentence(&read, ink.width, theme::DIM));
    if let Some(trouble) = &feed.state.trouble {
        let since = feed.state.failing_since.filter(|_| !feed.is_gone());
        let since = since.map(|at| format!(", failing since {}", when::minute(at, ink.zone)));
        let text = format!("{trouble}{}", since.unwrap_or_default());
        lines.extend(sentence(&text, ink.width, theme::TROUBLE));
    }
    lines
}

/// A plan that places polls has no interval, only the time until its next one.
fn interval_words(seconds: u32, placed: bool) -> String {
    let words = duration_words(i64::from(seconds));
    if placed { format!(" · {words} after the last one") } else { format!(" · every {words}") }
}

fn step_lines(step: &PlanStep, ink: Ink) -> Vec<Line<'static>> {
    let name = stage_words(step.stage);
    let values = match (step.before, step.after) {
        (Some(before), Some(after)) if before != after => {
            format!("{} → {}", value(before, ink), value(after, ink))
        }
        (Some(_), Some(after)) => format!("{}, as before", value(after, ink)),
        (None, Some(after)) => value(after, ink),
        (before, None) => before.map(|before| value(before, ink)).unwrap_or_default(),
    };
    if ink.width >= WIDE {
        let indent = NAME_CELLS.saturating_add(VALUE_CELLS);
        let reason = cells::wrap(&step.reason, ink.width.saturating_sub(indent), SENTENCE_LINES);
        let mut reason = reason.into_iter();
        let mut lines = vec![Line::from(vec![
            Span::styled(cells::fit(name, NAME_CELLS), theme::HEADING),
            Span::raw(cells::fit(&values, VALUE_CELLS)),
            Span::raw(reason.next().unwrap_or_default()),
        ])];
        lines.extend(reason.map(|line| Line::raw(format!("{}{line}", " ".repeat(indent)))));
        return lines;
    }
    let values = cells::cut(&values, ink.width.saturating_sub(NAME_CELLS));
    let mut lines = vec![Line::from(vec![
        Span::styled(cells::fit(name, NAME_CELLS), theme::HEADING),
        Span::raw(values),
    ])];
    let reason = cells::wrap(&step.reason, ink.width.saturating_sub(2), SENTENCE_LINES);
    lines.extend(reason.into_iter().map(|line| Line::raw(format!("  {line}"))));
    lines
}

fn value(value: Value, ink: Ink) -> String {
    match value {
        Value::Seconds(seconds) => duration_words(seconds),
        Value::At(at) => instant(at, ink),
    }
}

const fn pace_key(pace: Pace) -> &'static str {
    match pace {
        Pace::More => "+",
        Pace::Normal => "=",
        Pace::Less => "-",
    }
}

/// What a pace would bring.
fn effect_words(effect: &PaceEffect, placed: bool, ink: Ink) -> String {
    let name = match effect.pace {
        Pace::More => "more often",
        Pace::Normal => "as recommended",
        Pace::Less => "less often",
    };
    let next = match effect.next_poll {
        None => "never".to_owned(),
        Some(at) if at <= ink.now => "at once".to_owned(),
        Some(at) => instant(at, ink),
    };
    let interval = effect
        .interval_seconds
        .filter(|_| !placed)
        .map(|seconds| format!(", every {}", duration_words(i64::from(seconds))));
    let now = if effect.in_force { " (as it is)" } else { "" };
    format!("{name}: {next}{} ({}){now}", interval.unwrap_or_default(), effect.settled_by)
}

/// The interval rules as a table.
fn rule_lines(shown: &PlanPane, ink: Ink) -> Vec<Line<'static>> {
    let rules = &shown.page.rules;
    let mut lines = Vec::new();
    if rules.is_empty() {
        return lines;
    }
    heading(&mut lines, "Interval rules");
    for (number, rule) in (1_usize..).zip(rules) {
        let (mark, style) = if rule.in_force { ("▶", theme::UNREAD) } else { (" ", theme::TEXT) };
        let left = format!("{mark}{number:>2}  {}", duration_words(rule.interval_seconds));
        let left = cells::fit(&left, NAME_CELLS);
        let room = ink.width.saturating_sub(NAME_CELLS);
        let mut when = cells::wrap(&rule.when, room, SENTENCE_LINES).into_iter();
        let first = when.next().unwrap_or_default();
        lines.push(Line::styled(format!("{left}{first}"), style));
        let rest = when.map(|line| format!("{}{line}", " ".repeat(NAME_CELLS)));
        lines.extend(rest.map(|line| Line::styled(line, style)));
    }
    lines
}

/// A key with what it does.
fn keyed(key: &'static str, text: &str, ink: Ink) -> Vec<Line<'static>> {
    let indent = if key.is_empty() { 0 } else { 2 };
    let mut words = cells::wrap(text, ink.width.saturating_sub(indent), SENTENCE_LINES).into_iter();
    let first = words.next().unwrap_or_default();
    let mut lines =
        vec![Line::from(vec![Span::styled(cells::fit(key, indent), theme::KEY), Span::raw(first)])];
    lines.extend(words.map(|line| Line::raw(format!("{}{line}", " ".repeat(indent)))));
    lines
}
