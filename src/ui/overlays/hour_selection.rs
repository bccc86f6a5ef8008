//! Lets the user mark a rectangle of hours of the week in the plan pane, to set an interval rule for these hours (SPEC B.2 rank
//! 0.5: the user's interval rules). The module also contains the timetable: the coming polls of all feeds, ordered by time.

use backissue_core::feed::IntervalRule;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::PRICE_MINUTES;
use backissue_core::schedule::{self, Cost, Pace};
use chrono_tz::Tz;

use super::plan_pane;
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::feeds::setting_table::{RULES_MAX, read_rule, rule_text};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::learn::zone_of;
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::keys::key::{Code, Key};
use crate::ui::scroll_list::Distance;
use crate::ui::state::overlay::{HourSelection, Overlay, PlanPane, Sums, TimetablePane};

/// Interval in minutes that is proposed if the publication rhythm of the feed is unknown.
const PROPOSED_MINUTES: u32 = 60;
/// Proposed intervals are rounded down to a multiple of this number of minutes.
const ROUND_MINUTES: u32 = 5;

/// Starts to mark hours. The cursor is on the current hour.
pub fn begin_selection(cx: &mut Cx<'_>) {
    let zone = cx.app.engine.zone;
    let Some(Overlay::Plan(pane)) = &mut cx.app.ui.overlay else {
        return cx.say("{own-rule} works in a feed's plan: {plan} opens it");
    };
    let hour = plan_pane::hour_of_week(cx.now, if pane.utc { Tz::UTC } else { zone });
    let part = |number: usize| u8::try_from(number).unwrap_or(0);
    pane.outline = Some(HourSelection { cursor: (part(hour / 24), part(hour % 24)), corner: None });
    pane.top = 0;
}

/// Handles a key while hours are being marked. Returns `None` if no hours are being marked.
pub fn press_key(cx: &mut Cx<'_>, key: Key) -> Option<()> {
    let Some(Overlay::Plan(pane)) = &mut cx.app.ui.overlay else { return None };
    let outline = pane.outline.as_mut()?;
    match key.code {
        Code::Left | Code::Char('h') => outline.step(0, -1),
        Code::Right | Code::Char('l') => outline.step(0, 1),
        Code::Up | Code::Char('k') => outline.step(-1, 0),
        Code::Down | Code::Char('j') => outline.step(1, 0),
        Code::Home | Code::Char('g') => outline.cursor.1 = 0,
        Code::End | Code::Char('G') => outline.cursor.1 = 23,
        Code::Char(' ') | Code::Enter if outline.corner.is_some() => {
            propose_rule(cx);
            return Some(());
        }
        Code::Char(' ') => outline.corner = Some(outline.cursor),
        Code::Enter => {
            change_or_begin(cx);
            return Some(());
        }
        Code::Esc | Code::Char('q') if outline.corner.is_some() => outline.corner = None,
        Code::Esc | Code::Char('q' | 'M') => pane.outline = None,
        Code::Char('c') if key.ctrl => pane.outline = None,
        Code::Char(_)
        | Code::Alt(_)
        | Code::Function(_)
        | Code::Insert
        | Code::Tab
        | Code::BackTab
        | Code::Backspace
        | Code::Delete
        | Code::PageUp
        | Code::PageDown => {
            cx.say("arrows move, Space marks a corner, Enter continues, Esc cancels");
        }
    }
    Some(())
}

/// Handles Enter before the first corner of the rectangle is set: if a rule of the user applies to the hour at the cursor, opens
/// this rule for editing; otherwise, sets the corner.
fn change_or_begin(cx: &mut Cx<'_>) {
    let zone = cx.app.engine.zone;
    let Some(Overlay::Plan(pane)) = &mut cx.app.ui.overlay else { return };
    let Some(outline) = &mut pane.outline else { return };
    let feed = pane.feed;
    let place = usize::from(outline.cursor.0) * 24 + usize::from(outline.cursor.1);
    let shown = if pane.utc { Tz::UTC } else { zone };
    let facts = cx.app.engine.feeds.get(&feed).map(|feed| &feed.state.facts);
    let own = facts.filter(|facts| !facts.settings.own_rules.is_empty()).and_then(|facts| {
        let at = plan_pane::week_hours(cx.now, shown)?.get(place).copied()?;
        let rule = schedule::rule_in_force(facts, at)?;
        Some((rule, rule_text(facts.settings.own_rules.get(rule)?)))
    });
    match own {
        Some((place, text)) => ask_rule(cx.app, feed, Some(place), &text),
        None => outline.corner = Some(outline.cursor),
    }
}

/// Opens the input line for an interval rule, filled with a proposal for the marked hours.
fn propose_rule(cx: &mut Cx<'_>) {
    let zone = cx.app.engine.zone;
    let Some(Overlay::Plan(pane)) = &cx.app.ui.overlay else { return };
    let Some(outline) = pane.outline else { return };
    let feed = pane.feed;
    let ((first_day, last_day), (first_hour, last_hour)) = outline.bounds();
    let shown = if pane.utc { Tz::UTC } else { zone };
    let rule = IntervalRule {
        minutes: proposed_minutes(cx.app, pane, outline),
        start_hour: Some(first_hour),
        end_hour: Some(last_hour),
        start_day: Some(first_day.saturating_add(1)),
        end_day: Some(last_day.saturating_add(1)),
        zone: zone_of(shown),
    };
    let own =
        cx.app.engine.feeds.get(&feed).map_or(0, |feed| feed.record.feed_settings.rules.len());
    if own >= RULES_MAX {
        return cx.say(format!("you can set at most {RULES_MAX} rules for a feed"));
    }
    ask_rule(cx.app, feed, None, &rule_text(&rule));
}

/// Returns the interval, within the user's limits, at which the delay of publications costs as much as the polls (SCHEDULING 3).
fn proposed_minutes(app: &App, pane: &PlanPane, outline: HourSelection) -> u32 {
    let hours = pane.page.rhythm.iter().flat_map(|rhythm| rhythm.hours.iter().enumerate());
    let marked = hours.filter(|(hour, _)| outline.contains(*hour)).map(|(_, hour)| hour.expected);
    let (sum, count) = marked.fold((0.0, 0_u32), |(sum, count), hour| (sum + hour, count + 1));
    let rate = sum / f64::from(count.max(1)) / 60.0;
    let Some(feed) = app.engine.feeds.get(&pane.feed) else { return PROPOSED_MINUTES };
    let settings = &feed.state.facts.settings;
    let (min, max) = (settings.min_seconds / 60, settings.max_seconds / 60);
    if rate <= 0.0 || !pane.page.rhythm.as_ref().is_some_and(|rhythm| rhythm.foretold) {
        return PROPOSED_MINUTES.clamp(min, max.max(min));
    }
    let minutes = (2.0 * PRICE_MINUTES / rate).sqrt().min(f64::from(max));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than a year")]
    let minutes = minutes as u32 / ROUND_MINUTES * ROUND_MINUTES;
    minutes.clamp(min, max.max(min)).max(1)
}

fn ask_rule(app: &mut App, feed: FeedKey, replaces: Option<usize>, text: &str) {
    let mut prompt = Prompt::new(PromptPurpose::Rule { feed, replaces });
    prompt.insert(text);
    app.ui.open_prompt(prompt);
}

/// Saves the typed interval rule. If the line is empty, deletes the rule that was being edited.
pub fn set_rule(cx: &mut Cx<'_>, (feed, replaces): (FeedKey, Option<usize>), text: &str) {
    let utc = cx.app.ui.plan_pane_mut().is_some_and(|pane| pane.utc);
    let zone = zone_of(if utc { Tz::UTC } else { cx.app.engine.zone });
    let Some(subscription) = cx.app.engine.feeds.get(&feed) else { return };
    let mut chosen = subscription.record.chosen();
    let title = subscription.record.shown_title().to_owned();
    let rules = &mut chosen.feed_settings.rules;
    let text = text.trim();
    let told = if text.is_empty() {
        if let Some(place) = replaces.filter(|place| *place < rules.len()) {
            rules.remove(place);
        }
        format!("'{title}': your rule was removed{}", cx.app.ui.settings.keys.undo_hint())
    } else {
        let rule = match read_rule(text, &zone) {
            Ok(rule) => rule,
            Err(why) => {
                return cx.complain(why.to_string());
            }
        };
        let told = format!(
            "'{title}': your rule is {}{}",
            rule_text(&rule),
            cx.app.ui.settings.keys.undo_hint()
        );
        match replaces.and_then(|place| rules.get_mut(place)) {
            Some(place) => *place = rule,
            None => rules.push(rule),
        }
        told
    };
    let asked = cx.try_ask(Request::Set(feed, Box::new(chosen)));
    if let Some(pane) = cx.app.ui.plan_pane_mut() {
        pane.outline = None;
    }
    match asked {
        Ok(()) => cx.say(told),
        Err(why) => cx.complain(why),
    }
}

impl Sums {
    fn of(app: &App) -> Self {
        let mut sums = Self::default();
        for subscription in app.engine.feeds.values() {
            let facts = &subscription.state.facts;
            let pace = facts.settings.pace;
            let Some(cost) = schedule::cost_at_pace(facts, pace) else { continue };
            let less = match pace {
                Pace::More => Pace::Normal,
                Pace::Normal | Pace::Less => Pace::Less,
            };
            let fewer = schedule::cost_at_pace(facts, less).map_or(0.0, |cost| cost.polls_a_day);
            sums.feeds = sums.feeds.saturating_add(1);
            sums.polls_a_day += cost.polls_a_day;
            sums.saved_a_day += cost.polls_a_day - fewer;
            sums.delay_minutes += cost.delay_minutes;
        }
        sums.delay_minutes /= f64::from(sums.feeds.max(1));
        sums
    }
}

/// Returns the polling cost of a feed. Returns `None` if the feed is not polled automatically.
pub fn cost_of_feed(subscription: &Subscription) -> Option<Cost> {
    let facts = &subscription.state.facts;
    schedule::cost_at_pace(facts, facts.settings.pace)
}

/// Opens or closes the timetable.
pub fn toggle_timetable(app: &mut App) {
    if matches!(app.ui.overlay, Some(Overlay::Timetable(_))) {
        app.ui.uncover();
        return;
    }
    let first = app.engine.timetable.iter().next().map(|(_, feed)| *feed);
    app.ui.lay_over(Overlay::Timetable(TimetablePane { feed: first, ..TimetablePane::default() }));
}

/// Opens the plan pane for the feed of the selected poll.
pub fn open_selected_plan(cx: &mut Cx<'_>) {
    if let Some(Overlay::Timetable(TimetablePane { feed: Some(feed), .. })) = cx.app.ui.overlay {
        plan_pane::open_plan(cx, feed);
    }
}

/// Moves the selection in the timetable.
pub fn scroll_timetable(app: &mut App, down: bool, distance: Distance) -> bool {
    if let Some(Overlay::Timetable(TimetablePane { mut list, .. })) = app.ui.overlay {
        let steps = distance.steps(app.ui.viewport.overlay_rows);
        list.step(down, steps, app.engine.timetable.len());
        select_place(app, list.selected);
    }
    true
}

/// Selects the clicked poll; a click on the selected poll opens the plan of its feed.
pub fn click_line(cx: &mut Cx<'_>, line: usize) {
    let Some(Overlay::Timetable(TimetablePane { mut list, .. })) = cx.app.ui.overlay else {
        return;
    };
    if list.click(list.top.saturating_add(line), cx.app.engine.timetable.len()) {
        return open_selected_plan(cx);
    }
    select_place(cx.app, list.selected);
}

/// Selects the poll at an index of the timetable.
pub fn select_place(app: &mut App, place: usize) {
    let count = app.engine.timetable.len();
    let place = place.min(count.saturating_sub(1));
    let feed = app.engine.timetable.iter().nth(place).map(|(_, feed)| *feed);
    let rows = usize::from(app.ui.viewport.overlay_rows).max(1);
    if let Some(Overlay::Timetable(pane)) = &mut app.ui.overlay {
        (pane.list.selected, pane.feed) = (place, feed);
        pane.list.keep_in_sight(count, rows);
    }
}

/// Updates the total cost of all feeds in the open timetable, at most once a minute. With many feeds, an update after every poll
/// would take too much time.
pub fn sum_up(cx: &mut Cx<'_>) {
    let Some(Overlay::Timetable(pane)) = cx.app.ui.overlay else { return };
    let minute = cx.now.timestamp().div_euclid(60);
    if pane.sums.is_some() && pane.summed == minute {
        return;
    }
    let sums = Some(Sums::of(cx.app));
    if let Some(Overlay::Timetable(pane)) = &mut cx.app.ui.overlay {
        (pane.sums, pane.summed) = (sums, minute);
    }
}

/// Keeps the same feed selected and visible after the order of polls in the timetable has changed.
pub fn refresh_selection(app: &mut App) {
    let Some(Overlay::Timetable(pane)) = app.ui.overlay else { return };
    let at = |place: usize| app.engine.timetable.iter().nth(place).map(|(_, feed)| *feed);
    let place = if pane.feed.is_some() && at(pane.list.selected) == pane.feed {
        pane.list.selected
    } else {
        let found = app.engine.timetable.iter().position(|(_, feed)| Some(*feed) == pane.feed);
        found.unwrap_or(pane.list.selected)
    };
    select_place(app, place);
}
