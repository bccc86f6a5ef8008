//! The bottom of the screen: an input line, the last message, or the progress of polls; and the line of hints with the most
//! important keys of the current context.

use backissue_core::feed::characters::is_hidden;
use backissue_core::history::FeedKey;
use backissue_core::words;
use chrono::{DateTime, TimeDelta, Utc};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::engine::backfill::walks;
use crate::engine::downloads::progress;
use crate::engine::entries::account_state::SyncProgress;
use crate::engine::entries::rows::RowKey;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble;
use crate::engine::politeness::host_queue::{WaitsFor, is_loopback, site_of};
use crate::engine::poll::poll_stage::PollStage;
use crate::ui::app::{ANSWER_STAYS, App, Tour};
use crate::ui::keys::key::shown;
use crate::ui::keys::key_bindings::place_of;
use crate::ui::overlays::edit_dialog;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::panes::attention;
use crate::ui::reader::find_in_text;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{ListOf, Overlay, PickList};
use crate::view::{cells, pane, theme};

/// Time in seconds for which a message is shown. A key press hides the message earlier.
const NOTICE_SECONDS: i64 = 12;
/// Maximum number of lines for a message. All lines except the bottom one cover part of the panes.
const NOTICE_LINES: usize = 3;
/// Minimum width of the feed name in a status line that also contains other text, in cells.
const NAME_CELLS_MIN: usize = 12;
/// Maximum number of lines for the instructions of the tour.
const TOUR_LINES: usize = 2;

/// Draws the bottom line. Returns the first screen row that it covers, because a long message takes several lines and covers part
/// of the panes.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    (panes, area): (Rect, Rect),
    app: &App,
    now: DateTime<Utc>,
) -> u16 {
    if let Some(Overlay::Prompt(prompt) | Overlay::Pick(PickList { line: prompt, .. })) =
        &app.ui.overlay
    {
        let search = app.ui.search.as_ref();
        let offered = edit_dialog::offer_tags(app, prompt).join(" · ");
        let flaw = search.and_then(|search| search.flaw.as_deref());
        let flaw = flaw.map(|flaw| (flaw, theme::TROUBLE));
        let behind = flaw.or((!offered.is_empty()).then_some((offered.as_str(), theme::DIM)));
        draw_prompt(frame, area, prompt, behind);
        return area.y;
    }
    if let Some(Overlay::Help(help)) = &app.ui.overlay
        && help.typing
    {
        draw_prompt(frame, area, &help.filter, None);
        return area.y;
    }
    let begun = match app.ui.begun.as_slice() {
        [] => String::new(),
        begun => format!(" {} …", shown(begun)),
    };
    let help = app.ui.words(if app.ui.has_hints() { "" } else { " {help} help " });
    let hint = format!("{begun}{}{help}", sideways_hint(app));
    let room = usize::from(area.width).saturating_sub(cells::width(&hint));
    let notice = app.ui.notice.as_ref().filter(|notice| {
        let stays = if notice.stays { ANSWER_STAYS } else { TimeDelta::seconds(NOTICE_SECONDS) };
        notice.trouble || now.signed_duration_since(notice.at) < stays
    });
    let question = question(app);
    let wrapped = |text: &str, style: Style| {
        // A message can contain text from servers or files, so hidden characters are removed.
        let text: String = text.chars().filter(|char| !is_hidden(*char)).collect();
        let lines = cells::wrap(&text, room.saturating_sub(1), NOTICE_LINES);
        lines.into_iter().map(move |line| (line, style)).collect::<Vec<_>>()
    };
    let mut lines = match (&question, notice) {
        (Some(question), _) => wrapped(question, theme::KEY),
        (None, Some(notice)) if notice.trouble => wrapped(&notice.text, theme::TROUBLE),
        // Running syncs and polls are shown after the message.
        (None, Some(notice)) => {
            let running = sync_progress(app).into_iter().chain(poll_progress(app));
            let parts: Vec<String> = std::iter::once(notice.text.clone()).chain(running).collect();
            wrapped(&parts.join(" · "), theme::TEXT)
        }
        (None, None) => vec![(idle_line(app, now, room), theme::DIM)],
    };
    let mut top = area.y;
    let (last, style) = lines.pop().unwrap_or_default();
    if !lines.is_empty() {
        let lines: Vec<Line<'_>> = lines
            .into_iter()
            .map(|(line, style)| Line::styled(format!(" {line}"), style))
            .collect();
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.y);
        top = area.y.saturating_sub(rows);
        let above = Rect { y: top, height: rows, ..area };
        if !app.ui.appearance.plain {
            top = raise_border(frame, panes, top);
        }
        frame.render_widget(Clear, above);
        frame.render_widget(Paragraph::new(lines), above);
    }
    let line = Line::from(vec![
        Span::styled(cells::fit(&format!(" {last}"), room), style),
        Span::styled(hint, theme::DIM),
    ]);
    frame.render_widget(Paragraph::new(line), area);
    top
}

/// Draws the lower border of the panes directly above the rows that a message covers. Returns the first screen row that was
/// changed.
fn raise_border(frame: &mut Frame<'_>, panes: Rect, covered: u16) -> u16 {
    let (Some(border), Some(row)) = (panes.bottom().checked_sub(1), covered.checked_sub(1)) else {
        return covered;
    };
    if covered > border || row <= panes.y {
        return covered;
    }
    let buffer = frame.buffer_mut();
    for x in panes.x..panes.right() {
        let Some(cell) = buffer.cell((x, border)).cloned() else { continue };
        if let Some(place) = buffer.cell_mut((x, row)) {
            *place = cell;
        }
    }
    row
}

/// Returns a hint about the keys that scroll sideways. It is empty unless a visible line is wider than the pane.
fn sideways_hint(app: &App) -> String {
    let reading = app.ui.focus == Pane::Reader && app.ui.overlay.is_none();
    if !reading || find_in_text::slack_in_sight(app) == 0 {
        return String::new();
    }
    let keys = ["scroll-left", "scroll-right"].map(|name| {
        place_of(name).map(|place| app.ui.settings.keys.keys_of(place)).unwrap_or_default()
    });
    let keys = keys.join(" ");
    if keys.trim().is_empty() { String::new() } else { format!(" {} sideways ", keys.trim()) }
}

/// Returns the instructions of the tour as lines for a screen of the given width. Returns no lines if the tour is not running.
pub(in crate::view) fn tour_lines(app: &App, columns: u16) -> Vec<Line<'static>> {
    let room = usize::from(columns).saturating_sub(2);
    let tour = app.ui.tour.and_then(|tour: Tour| tour.line(app));
    let lines = tour.map(|tour| cells::wrap(&tour, room, TOUR_LINES)).unwrap_or_default();
    lines.into_iter().map(|line| Line::styled(format!(" {line}"), theme::KEY)).collect()
}

/// Draws an input line. `behind` is an error or a suggestion that is shown after the typed text.
fn draw_prompt(frame: &mut Frame<'_>, area: Rect, prompt: &Prompt, behind: Option<(&str, Style)>) {
    let width = usize::from(area.width);
    let label = cells::cut(prompt.label(), width.saturating_sub(12));
    let room = width.saturating_sub(cells::width(&label)).saturating_sub(1);
    let before = prompt.text.get(..prompt.cursor).unwrap_or_default();
    // If the text before the cursor is too long, only its end is shown.
    let from = before.char_indices().map(|(at, _)| at).chain([before.len()]);
    let from = from
        .into_iter()
        .find(|&at| cells::width(before.get(at..).unwrap_or_default()) <= room)
        .unwrap_or(0);
    let shown = prompt.text.get(from..).unwrap_or_default();
    let line = Line::from(vec![
        Span::styled(label.clone(), theme::KEY),
        Span::styled(
            cells::cut(shown, room),
            if prompt.is_selected { theme::SELECTED_ELSEWHERE } else { theme::TEXT },
        ),
        behind.map(|(text, style)| Span::styled(format!("   {text}"), style)).unwrap_or_default(),
    ]);
    frame.render_widget(Paragraph::new(line), area);
    let cursor =
        cells::width(&label).saturating_add(cells::width(before.get(from..).unwrap_or_default()));
    let column = area.x.saturating_add(u16::try_from(cursor).unwrap_or(u16::MAX));
    frame.set_cursor_position(Position::new(column.min(area.right().saturating_sub(1)), area.y));
}

/// Describes what needs the user's attention, the progress of polls, and the next poll.
fn idle_line(app: &App, now: DateTime<Utc>, room: usize) -> String {
    let mut parts = Vec::new();
    let concerns = trouble::count(&app.engine, now);
    if concerns > 0 {
        parts.push(format!("{concerns} in Attention"));
    }
    if let Some(since) = app.engine.reachability.offline_since {
        let since = since.with_timezone(&app.engine.zone).format("%H:%M");
        let is_here = |feed: &Subscription| is_loopback(&feed.record.url);
        let what = match app.engine.reachability.wants_sign_in {
            true => "the network requires a sign-in",
            // Feeds on this machine are still polled.
            false if app.engine.feeds.values().any(is_here) => "no network beyond this machine",
            false => "no network",
        };
        parts.push(format!("{what} since {since}, retrying every minute"));
    }
    // While the user chooses between feeds, no address is being looked up.
    let is_open = |id: &u32| matches!(&app.ui.overlay, Some(Overlay::List(open)) if open.of == ListOf::Choice(*id));
    let additions = app.engine.additions.iter();
    let looking = additions.filter(|(id, addition)| addition.ended.is_none() && !is_open(id));
    parts.extend(looking.map(|(_, addition)| {
        format!("looking for a feed at {} …", addition.wanted.address.trim())
    }));
    parts.extend(sync_progress(app));
    parts.extend(selected_trouble(app, room));
    parts.extend(back_fills(app, room));
    parts.extend(progress::summary(&app.engine.downloads));
    parts.extend(app.ui.serving.as_ref().map(|address| format!("devices at {address}")));
    if app.engine.polls.is_empty() {
        parts.extend(next_poll(app, now));
    } else {
        parts.extend(selected_wait(app, now, room));
        parts.extend(poll_progress(app));
    }
    parts.join(" · ")
}

/// Returns the text of the open question, or a description of the address lookup that keeps keys from the panes. Returns `None` if
/// neither is open.
fn question(app: &App) -> Option<String> {
    match &app.ui.overlay {
        Some(Overlay::Question(question)) => Some(question.text.clone()),
        Some(Overlay::Looking(id)) => {
            let addition = app.engine.additions.get(id)?;
            let address = addition.wanted.address.trim();
            let cancels = app.ui.words("{close} cancels");
            Some(format!("looking for a feed at {address} … · {cancels}"))
        }
        Some(_) | None => None,
    }
}

/// Describes the progress of the running sync of an account. Returns `None` if no sync is running.
fn sync_progress(app: &App) -> Option<String> {
    let SyncProgress { account, what, done, all } = app.engine.sync_progress.as_ref()?;
    Some(format!("{account}: {what}, {done} of {all}"))
}

/// Describes the progress of the running polls. Returns `None` if no poll is running.
fn poll_progress(app: &App) -> Option<String> {
    let run = &app.engine.poll_run;
    if app.engine.polls.is_empty() {
        return None;
    }
    let done = format!("checking {} of {}", run.done(), run.asked());
    let counts = [(run.new, "new"), (run.failed, "failed")].into_iter();
    let counts =
        counts.filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    Some(std::iter::once(done).chain(counts).collect::<Vec<_>>().join(" · "))
}

/// Describes the running fetches of older entries: the progress if there is only one, or their number.
fn back_fills(app: &App, room: usize) -> Option<String> {
    let mut walking = app.engine.backfills.keys().filter_map(|key| app.engine.feeds.get(key));
    let (first, more) = (walking.next()?, walking.count());
    if more > 0 {
        return Some(format!("fetching the history of {} feeds", more.saturating_add(1)));
    }
    let progress = walks::progress(&app.engine, first)?;
    Some(told_of(first, ": ", &progress, room))
}

/// Describes why a request for the selected feed has to wait. Returns `None` if it does not wait.
fn selected_wait(app: &App, now: DateTime<Utc>, room: usize) -> Option<String> {
    let FeedsRow::Feed(key, _) = app.ui.feeds.selected_row()? else { return None };
    app.engine.polls.get(key).filter(|poll| poll.stage == PollStage::Waiting)?;
    let feed = app.engine.feeds.get(key)?;
    let waits =
        app.engine.host_queue.waits_for(&feed.record.url, now, &app.engine.settings.network);
    let site = site_of(&feed.record.url);
    let what = match waits {
        WaitsFor::Start(_) => "for the end of the startup pause".to_owned(),
        WaitsFor::Network(_) => "for the network".to_owned(),
        WaitsFor::Site => format!("for another request to {site}"),
        WaitsFor::Spacing(_) => format!("for the pause between requests to {site}"),
        WaitsFor::Turn => "for its turn".to_owned(),
    };
    Some(told_of(feed, " waits ", &what, room))
}

/// Describes the problem of the selected feed. Returns `None` if it has none.
fn selected_trouble(app: &App, room: usize) -> Option<String> {
    let FeedsRow::Feed(key, _) = app.ui.feeds.selected_row()? else { return None };
    let feed = app.engine.feeds.get(key).filter(|_| app.ui.focus == Pane::Feeds)?;
    // If the plan of this feed is open, it already shows the problem.
    if planned(app) == Some(*key) {
        return None;
    }
    Some(told_of(feed, ": ", feed.state.trouble.as_deref()?, room))
}

/// Combines the name of a feed and a text in one line. If there is too little room, the name is shortened, because the text is more
/// important.
fn told_of(feed: &Subscription, between: &str, text: &str, room: usize) -> String {
    let rest = cells::width(between).saturating_add(cells::width(text)).saturating_add(1);
    let left = room.saturating_sub(rest).max(NAME_CELLS_MIN);
    format!("{}{between}{text}", cells::cut(feed.record.shown_title(), left))
}

/// Returns the feed whose plan is open. Returns `None` if no plan is open.
fn planned(app: &App) -> Option<FeedKey> {
    let Some(Overlay::Plan(pane)) = &app.ui.overlay else { return None };
    Some(pane.feed)
}

fn next_poll(app: &App, now: DateTime<Utc>) -> Option<String> {
    if !app.engine.settings.poll.automatic {
        return Some("feeds are polled only when you ask".to_owned());
    }
    let at = app.engine.timetable.next()?;
    let (_, key) = app.engine.timetable.iter().next()?;
    let feed = app.engine.feeds.get(key).filter(|_| planned(app) != Some(*key))?;
    let why = feed.plan.settled_by.in_words();
    Some(format!("next check: {} {} ({why})", feed.record.shown_title(), words::coming(at, now)))
}

/// The name of a command, and a description of its effect in one or two words.
type Hint = (&'static str, &'static str);

const FEEDS: [Hint; 5] = [
    ("open", "entries"),
    ("poll", "check now"),
    ("add", "add"),
    ("plan", "next check"),
    ("search", "search"),
];
const ENTRIES: [Hint; 5] = [
    ("open", "read"),
    ("next-unread", "next unread"),
    ("star", "star"),
    ("mark-all-read", "all read"),
    ("search", "search"),
];
const READER: [Hint; 5] = [
    ("read-on", "read on"),
    ("next-unread", "next unread"),
    ("star", "star"),
    ("open-in-browser", "browser"),
    ("back", "back"),
];
const GAP: [Hint; 3] = [("open", "go on"), ("next-unread", "next unread"), ("search", "search")];
const STORE: [Hint; 2] = [("open", "fix"), ("back", "back")];
/// Hints for the Attention list. The selected row shows its own keys.
const ATTENTION: [Hint; 2] = [("undo", "undo"), ("back", "back")];
const PLAN: [Hint; 5] = [
    ("poll", "check now"),
    ("more-often", "more often"),
    ("less-often", "less often"),
    ("steps", "why"),
    ("back", "close"),
];
const TIMETABLE: [Hint; 5] = [
    ("poll", "check now"),
    ("more-often", "more often"),
    ("less-often", "less often"),
    ("plan", "why"),
    ("back", "close"),
];
const HELP: [Hint; 3] = [("search", "find"), ("down", "down"), ("close", "close")];

/// Draws the line of hints, if there is room for it.
pub(in crate::view) fn draw_hints(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) {
    if area.height == 0 {
        return;
    }
    let help = key_of(app, "help");
    let end = if help.is_empty() { String::new() } else { format!("{help} ") };
    let room = usize::from(area.width).saturating_sub(cells::width(&end) + HELP_WORD.len() + 2);
    let mut spans = Vec::new();
    let mut used = 0_usize;
    for (name, words) in hints(app, now) {
        let key = key_of(app, name);
        let cells = cells::width(&key).saturating_add(words.len()).saturating_add(4);
        if key.is_empty() || used.saturating_add(cells) > room {
            continue;
        }
        used = used.saturating_add(cells);
        spans.push(Span::styled(format!(" {key}"), theme::KEY));
        spans.push(Span::styled(format!(" {words}  "), theme::DIM));
    }
    if !end.is_empty() {
        spans.push(Span::raw(" ".repeat(room.saturating_sub(used).saturating_add(1))));
        spans.push(Span::styled(end, theme::KEY));
        spans.push(Span::styled(HELP_WORD, theme::DIM));
    }
    pane::put(frame, &[Line::from(spans)], area);
}

/// The word after the key that opens the help.
const HELP_WORD: &str = "help";

/// Returns the first key of the command with the given name. Returns an empty string if it has no key.
fn key_of(app: &App, name: &str) -> String {
    app.ui.settings.keys.key(name).unwrap_or_default()
}

/// Returns the hints for the current context. There are none while a dialog is open, because dialogs show their own keys.
fn hints(app: &App, now: DateTime<Utc>) -> &'static [Hint] {
    match (&app.ui.overlay, app.ui.focus) {
        _ if app.engine.feeds.is_empty() => &[],
        (None, Pane::Feeds) => &FEEDS,
        (None, Pane::Entries) if attention::is_open(app) => {
            match attention::selected_concern(app, now) {
                Some(concern) if concern.feed == trouble::STORE => &STORE,
                Some(_) | None => &ATTENTION,
            }
        }
        (None, Pane::Entries) => match app.ui.list.selected_row().map(|row| row.key) {
            Some(RowKey::Gap(..)) => &GAP,
            Some(RowKey::Entry(_)) | None => &ENTRIES,
        },
        (None, Pane::Reader) => &READER,
        (Some(Overlay::Plan(_)), _) => &PLAN,
        (Some(Overlay::Timetable(_)), _) => &TIMETABLE,
        // While the user types a filter in the help, keys enter text instead of running commands.
        (Some(Overlay::Help(help)), _) if !help.typing => &HELP,
        (Some(_), _) => &[],
    }
}
