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
//!
//! The timetable lists the coming polls of all feeds by time, each with the main reason for its time.

use backissue_core::feed::hints::INTERVAL_MINUTES_MAX;
use backissue_core::history::FeedKey;
use backissue_core::schedule::{Pace, PlanStep, SettledBy, Value};
use backissue_core::words;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::plan_week::{
    LineInk, SENTENCE_LINES, heading, instant, outline_lines, rhythm_lines, sentence, week_lines,
};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::poll_log::{PollCause, PollLogEntry};
use crate::engine::start_external::source_words;
use crate::ui::app::App;
use crate::ui::overlays::hour_selection::cost_of_feed;
use crate::ui::state::overlay::{PaceEffect, PlanPane, Sums, TimetablePane};
use crate::view::{cells, pane, theme};

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
    lines.extend(poll_lines(shown.polls.as_deref(), ink));
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
    heading(&mut lines, "When it is not polled");
    for floor in floors {
        let text = format!("before {}: {}", instant(floor.until, ink), floor.reason);
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
    if let Some(ranked) = &shown.ranked {
        lines.extend(sentence(ranked, ink.width, theme::TEXT));
    }
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

/// Maximum number of polls that are shown.
const POLLS_SHOWN: usize = 20;
/// Width of the column with the times of the polls, in cells.
const TIME_CELLS: usize = 18;

/// Returns the lines that show the last polls, newest first. `polls` is `None` while they are being read from the store.
fn poll_lines(polls: Option<&[PollLogEntry]>, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    heading(&mut lines, "Recent polls");
    let Some(polls) = polls else {
        lines.push(Line::styled("…", theme::DIM));
        return lines;
    };
    if polls.is_empty() {
        lines.push(Line::styled("none so far", theme::DIM));
        return lines;
    }
    let shown = polls.get(..polls.len().min(POLLS_SHOWN)).unwrap_or_default();
    // In the row of marks, the newest poll is on the right, as on a time axis.
    let mut marks: Vec<Span<'_>> = shown.iter().rev().map(mark_span).collect();
    if ink.width >= 60 {
        let legend = "   ● new  · nothing new  ! failed, newest last";
        marks.push(Span::styled(legend, theme::DIM));
    }
    lines.push(Line::from(marks));
    for poll in shown {
        lines.extend(line(poll, ink));
    }
    lines
}

fn mark(poll: &PollLogEntry) -> (&'static str, Style) {
    if poll.trouble.is_some() {
        ("!", theme::TROUBLE)
    } else if poll.new > 0 || poll.edited > 0 {
        ("●", theme::TEXT)
    } else {
        ("·", theme::DIM)
    }
}

fn mark_span(poll: &PollLogEntry) -> Span<'static> {
    let (sign, style) = mark(poll);
    Span::styled(sign, style)
}

fn line(poll: &PollLogEntry, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let (sign, style) = mark(poll);
    let status = poll.status.map_or_else(|| "–".to_owned(), |status| status.to_string());
    let what = match (&poll.trouble, poll.new, poll.edited) {
        (Some(trouble), _, _) => trouble.clone(),
        (None, 0, 0) => "nothing new".to_owned(),
        (None, new, 0) => format!("{new} new"),
        (None, new, edited) => format!("{new} new, {edited} edited"),
    };
    let bytes = words::byte_words(poll.wire_bytes);
    let cause = match poll.cause {
        PollCause::Due => "",
        PollCause::Asked => ", manual",
        PollCause::Forced => ", forced",
        PollCause::Subscribed => ", first poll",
    };
    let time = cells::fit(&instant(poll.at, ink), TIME_CELLS.min(ink.width / 2));
    let head = format!("{sign} {time} {status:>3} {bytes:>7}  ");
    let room = ink.width.saturating_sub(cells::width(&head));
    if room >= 20 {
        let text = cells::cut(&format!("{what}{cause}"), room);
        return vec![Line::styled(format!("{head}{text}"), style)];
    }
    let mut lines = vec![Line::styled(cells::cut(head.trim_end(), ink.width), style)];
    lines.extend(
        sentence(&format!("{what}{cause}"), ink.width.saturating_sub(2), style).into_iter().map(
            |mut line| {
                line.spans.insert(0, Span::raw("  "));
                line
            },
        ),
    );
    lines
}

/// Minimum width of the timetable for a column with the reason of each poll, in cells.
const TIMETABLE_WIDE: usize = 84;
/// Minimum width of the timetable for a column with the polling cost of each feed, in cells.
const COSTS: usize = 52;
/// Width of the column with the polling cost of a feed, in cells.
const COST_CELLS: usize = 23;
/// Number of lines for the total polling cost of all feeds.
const SUM_LINES: usize = 2;
/// Width of the column with the reason of a poll, in cells.
const REASON_CELLS: usize = 28;

/// Draws the timetable. Returns the area of its rows.
pub(in crate::view) fn draw_timetable(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    shown: TimetablePane,
    now: DateTime<Utc>,
) -> Rect {
    pane::clear_beside(frame, area);
    let count = app.engine.timetable.len();
    let place = format!("{}/{count}", shown.list.selected.saturating_add(1).min(count));
    let automatic = app.engine.settings.poll.automatic;
    let title = app.ui.words(if automatic {
        "Timetable ─ {open} opens the plan, {back} closes"
    } else {
        "Timetable ─ polled only when you ask ─ {open} opens the plan, {back} closes"
    });
    let inside = pane::counted(frame, area, &title, &place, true);
    let (inside, bottom) = with_sums(inside);
    let width = usize::from(inside.width);
    let coming = (0_usize..).zip(app.engine.timetable.iter());
    let coming = coming.skip(shown.list.top).take(usize::from(inside.height));
    let mut lines: Vec<Line<'_>> = coming
        .map(|(place, (at, feed))| {
            let line = row(app, at, *feed, width, now);
            if place == shown.list.selected { line.patch_style(theme::SELECTED) } else { line }
        })
        .collect();
    if count == 0 {
        lines.push(Line::styled(" no polls are planned", theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    if let Some(sums) = shown.sums.filter(|sums| sums.feeds > 0 && automatic) {
        let words = cells::wrap(&sums_words(&sums), width.saturating_sub(2), SUM_LINES);
        let lines = words.into_iter().map(|line| Line::styled(format!(" {line}"), theme::DIM));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), bottom);
    }
    inside
}

/// Splits the area into the area of the rows and, if there is enough room, the area of the total cost below them.
fn with_sums(area: Rect) -> (Rect, Rect) {
    let lines = if usize::from(area.height) >= SUM_LINES.saturating_mul(3) { SUM_LINES } else { 0 };
    let lines = u16::try_from(lines).unwrap_or(0);
    let [rows, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(lines)]).areas(area);
    (rows, bottom)
}

/// Describes the total polling cost of all feeds, and how many polls a slower pace would save.
fn sums_words(sums: &Sums) -> String {
    let feeds = if sums.feeds == 1 { "1 feed".into() } else { format!("{} feeds", sums.feeds) };
    let saving = if sums.saved_a_day >= 0.5 {
        format!("; polling them less often would save {:.0} a day", sums.saved_a_day)
    } else {
        String::new()
    };
    format!(
        "{feeds}: {:.0} polls a day, average delay about {}{saving}",
        sums.polls_a_day.max(1.0),
        wait_words(sums.delay_minutes)
    )
}

fn wait_words(minutes: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "limited to one year")]
    let seconds = (minutes.clamp(0.0, f64::from(INTERVAL_MINUTES_MAX)) * 60.0) as i64;
    words::span_words(seconds)
}

fn row(
    app: &App,
    at: DateTime<Utc>,
    key: FeedKey,
    width: usize,
    now: DateTime<Utc>,
) -> Line<'static> {
    let Some(feed) = app.engine.feeds.get(&key) else { return Line::default() };
    let day = if at.signed_duration_since(now).num_days() < 6 { "%a %H:%M" } else { "%-d %b" };
    let time = at.with_timezone(&app.engine.zone).format(day).to_string();
    let away = words::span_words(at.signed_duration_since(now).num_seconds());
    let head = format!(" {time:<9} {away:>4}  ");
    let title = format!("{} {}", feed.record.shown_title(), pace_sign(feed));
    let why = feed.plan.settled_by.in_words();
    let reason_cells = if width >= TIMETABLE_WIDE { REASON_CELLS } else { 0 };
    let cost = cost_of_feed(feed).map(|cost| {
        let polls = cost.polls_a_day;
        let polls = if polls < 9.95 { format!("{polls:.1}") } else { format!("{polls:.0}") };
        format!(" {polls:>4} a day, delay {:>4}", wait_words(cost.delay_minutes))
    });
    let cost_cells = if width >= COSTS { COST_CELLS } else { 0 };
    let room = width.saturating_sub(cells::width(&head)).saturating_sub(reason_cells);
    let room = room.saturating_sub(cost_cells);
    Line::from(vec![
        Span::raw(head),
        Span::raw(cells::fit(title.trim_end(), room)),
        Span::raw(cells::fit(&cost.unwrap_or_default(), cost_cells)),
        Span::styled(cells::fit(&format!(" {why}"), reason_cells), theme::DIM),
    ])
}
