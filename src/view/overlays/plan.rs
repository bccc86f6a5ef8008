//! The plan pane: the next poll and its reason in one sentence, possible actions, rules, the week, and the last polls. The
//! steps that produced the plan can be unfolded.
//!
//! ```text
//! ┌ Plan ─ Orchard Notes ▲ ─ w why · times in UTC · U changes ─┐
//! │ Next poll in 15 minutes, because you want it twice as often│
//! │ as the publisher asks: about every 15 minutes; r polls now.│
//! │ last read 12m ago                                          │
//! │                                                            │
//! │ What you can do                                            │
//! │ e edits: set 'fixed interval' to choose your own            │
//! └────────────────────────────────────────────────────────────┘
//! ```

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::plan_lines::{LineInk, SENTENCE_LINES, heading, instant, sentence};
use super::plan_polls;
use super::plan_rhythm::{outline_lines, rhythm_lines};
use super::plan_week::week_lines;
use crate::engine::external::feed_sources::source_words;
use crate::engine::feeds::subscription::Subscription;
use crate::ui::app::App;
use crate::ui::state::plan_pane::{PaceEffect, PlanPane};
use crate::view::{cells, pane, theme};
use backissue_core::schedule::{Pace, PlanStep, SettledBy, Value};
use backissue_core::words;

/// Minimum width of the pane in cells, so that the reason for a step is on the same line as its values.
const WIDE: usize = 72;
/// Width of the column with the names, in cells.
const NAME_CELLS: usize = 15;
/// Width of the column with the values of a step, in cells.
const VALUE_CELLS: usize = 30;
/// Draws the plan pane. Returns the number of lines of the whole plan and the area of the visible ones.
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
        (_, true) => "{time-zone}: your time · ",
        (_, false) => "{time-zone}: UTC · ",
    };
    let keys = &app.ui.settings.keys;
    let steps = keys.words(if shown.unfolded { "{steps} folds" } else { "{steps} why" });
    let ends = [keys.words(other), keys.words("{back} closes")].concat();
    let place = format!("{steps} · times in {} · {ends}", zone.name());
    let inside = pane::counted(frame, area, title.trim_end(), &place, true);
    let width = usize::from(inside.width).saturating_sub(1);
    let ink = LineInk { width, zone, now, seconds: shown.unfolded, keys };
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

/// Returns the symbol for the pace of a feed: ▲ for more frequent polls, ▼ for less frequent polls, or an empty string.
pub(in crate::view) const fn pace_sign(feed: &Subscription) -> &'static str {
    match feed.record.feed_settings.pace {
        Some(Pace::More) => "▲",
        Some(Pace::Less) => "▼",
        Some(Pace::Normal) | None => "",
    }
}

fn lines(feed: &Subscription, shown: &PlanPane, ink: LineInk<'_>) -> Vec<Line<'static>> {
    if let Some(outline) = shown.outline {
        return outline_lines(shown, outline, ink);
    }
    let page = &shown.page;
    let mut lines = answer(feed, shown, ink);
    if shown.unfolded {
        heading(&mut lines, "Why at this time");
        for step in &page.plan.steps {
            lines.extend(step_lines(step, ink));
        }
    }
    let coming = page.plan.next_poll.is_some();
    lines.extend(advice_lines(shown, coming, ink));
    if coming {
        lines.extend(restriction_lines(shown, ink));
    }
    lines.extend(rule_lines(shown, ink));
    lines.extend(week_lines(page.week.as_ref(), ink.width));
    lines.extend(rhythm_lines(shown, ink));
    lines.extend(plan_polls::poll_lines(shown.polls.as_deref(), ink));
    if !page.plan.flaws.is_empty() {
        heading(&mut lines, "Ignored scheduling hints");
        for flaw in &page.plan.flaws {
            let text = format!("{} '{}': {}", flaw.element, flaw.text, flaw.reason);
            lines.extend(sentence(&text, ink.width, theme::TEXT));
        }
    }
    lines
}

/// Lists what the user can do and, if the feed is polled at all, what would change at each pace.
fn advice_lines(shown: &PlanPane, coming: bool, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let page = &shown.page;
    let mut lines = Vec::new();
    if page.advice.is_empty() && !coming {
        return lines;
    }
    heading(&mut lines, "What you can do");
    for advice in &page.advice {
        let from = advice.from.map(|at| format!(" {}", words::relative(at, ink.now)));
        let text = format!("{}{}", advice.text, from.unwrap_or_default());
        lines.extend(keyed(advice.command, &text, ink));
    }
    for effect in page.paces.iter().filter(|_| coming) {
        lines.extend(keyed(pace_command(effect.pace), &effect_words(effect), ink));
    }
    lines
}

/// Lists restrictions that still apply and are not mentioned above, and the hours in which the publisher requests no polls.
fn restriction_lines(shown: &PlanPane, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let page = &shown.page;
    let mut lines = Vec::new();
    let told = |until| shown.unfolded || page.plan.next_poll == Some(until);
    let floors: Vec<_> = page.floors.iter().filter(|floor| !told(floor.until)).collect();
    if floors.is_empty() && page.skips.is_none() {
        return lines;
    }
    heading(&mut lines, "What delays the next poll");
    for floor in floors {
        let text = format!("until {}: {}", instant(floor.until, ink), floor.reason);
        lines.extend(sentence(&text, ink.width, theme::TEXT));
    }
    if let Some(skips) = &page.skips {
        lines.extend(sentence(skips, ink.width, theme::TEXT));
    }
    lines
}

/// Describes the next poll, its reason, and the result of the last poll.
fn answer(feed: &Subscription, shown: &PlanPane, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let mut lines = sentence(&shown.page.sentence, ink.width, theme::UNREAD);
    if let Some(held_up) = &shown.page.held_up {
        lines.extend(sentence(held_up, ink.width, theme::HEADING));
    }
    let last_ok = feed.state.facts.last_ok;
    let never = shown.page.plan.settled_by != SettledBy::FirstPoll;
    let read = last_ok.map(|at| format!("last read {}", words::relative(at, ink.now)));
    let read = read.or_else(|| never.then(|| "not read yet".to_owned()));
    lines.extend(read.map(|read| Line::styled(read, theme::DIM)));
    if let Some(source) = source_words(&feed.record.url) {
        lines.extend(sentence(&source, ink.width, theme::DIM));
    }
    if let Some(trouble) = feed.state.trouble.as_deref().filter(|_| !feed.is_gone()) {
        let since = feed.state.failing_since;
        let since = since.map(|at| format!(", failing since {}", words::minute(at, ink.zone)));
        let text = format!("{trouble}{}", since.unwrap_or_default());
        lines.extend(sentence(&text, ink.width, theme::TROUBLE));
    }
    lines
}

fn step_lines(step: &PlanStep, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let name = step.stage.in_words();
    let values = match (step.before, step.after) {
        (Some(before), Some(after)) if before != after => {
            format!("{} → {}", value(before, ink), value(after, ink))
        }
        (Some(_), Some(after)) => format!("{}, unchanged", value(after, ink)),
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

fn value(value: Value, ink: LineInk<'_>) -> String {
    match value {
        Value::Seconds(seconds) => words::duration_words(seconds),
        Value::At(at) => instant(at, ink),
    }
}

const fn pace_command(pace: Pace) -> &'static str {
    match pace {
        Pace::More => "more-often",
        Pace::Normal => "normally-often",
        Pace::Less => "less-often",
    }
}

/// Describes what would change if the user chose a pace.
fn effect_words(effect: &PaceEffect) -> String {
    let name = match effect.pace {
        Pace::More => "more often",
        Pace::Normal => "as recommended",
        Pace::Less => "less often",
    };
    let now = if effect.in_force { " (current)" } else { "" };
    let colon = if effect.words.is_empty() { "" } else { ": " };
    format!("{name}{colon}{}{now}", effect.words)
}

/// Formats the interval rules as a table.
fn rule_lines(shown: &PlanPane, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let rules = &shown.page.rules;
    let mut lines = Vec::new();
    if rules.is_empty() {
        return lines;
    }
    heading(&mut lines, "Interval rules");
    for (number, rule) in (1_usize..).zip(rules) {
        let (mark, style) = if rule.in_force { ("▶", theme::UNREAD) } else { (" ", theme::TEXT) };
        let left = format!("{mark}{number:>2}  {}", words::duration_words(rule.interval_seconds));
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

/// Formats the key of a command, if there is one, and a description of what it does.
fn keyed(command: &str, text: &str, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let key = if command.is_empty() { String::new() } else { ink.keys.key_of(command) };
    let indent = if key.is_empty() { 0 } else { cells::width(&key).saturating_add(1) };
    let mut words = cells::wrap(text, ink.width.saturating_sub(indent), SENTENCE_LINES).into_iter();
    let first = words.next().unwrap_or_default();
    let mut lines = vec![Line::from(vec![
        Span::styled(cells::fit(&key, indent), theme::KEY),
        Span::raw(first),
    ])];
    lines.extend(words.map(|line| Line::raw(format!("{}{line}", " ".repeat(indent)))));
    lines
}
