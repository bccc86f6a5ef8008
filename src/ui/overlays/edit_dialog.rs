//! The edit dialog: what the reader chose for a feed, as a form of a few lines.

use chrono::{DateTime, Utc};

use super::prompt::{Prompt, PromptPurpose, Typed};
use crate::engine::durations::{interval_minutes, interval_text};
use crate::engine::feeds::interval_rules;
use crate::engine::feeds::subscription::{Chosen, SubscriptionRecord};
use crate::engine::feeds::tags::normal_tags;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::engine::settings::{HistoryMode, PollSettings, Settings};
use crate::feed::Zone;
use crate::history::{Adaptor, FeedKey};
use crate::schedule::Pace;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::panes::feeds_pane;
use crate::ui::screen::Overlay;

/// The form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditForm {
    /// The feed.
    pub feed: FeedKey,
    /// Its address, which is only shown.
    pub address: String,
    /// The lines, in order.
    pub rows: Vec<EditRow>,
    /// Place of the line that takes the keys.
    pub selected: usize,
    /// Why it cannot be saved, as a sentence.
    pub problem: Option<String>,
    /// The zone of rules that name none.
    zone: Zone,
    /// What was chosen before, for what the form leaves alone.
    before: Chosen,
}

/// One line of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRow {
    /// What it is about.
    pub field: EditField,
    /// What stands in it.
    pub value: EditValue,
    /// What an empty line means, or what is configured.
    pub hint: String,
}

/// What stands in a line of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditValue {
    /// Text being typed.
    Line(Prompt),
    /// One of a few words.
    Choice {
        /// The words.
        words: Vec<String>,
        /// Place of the chosen one.
        chosen: usize,
    },
}

/// What a line of the form is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditField {
    /// The reader's own title.
    Title,
    /// Tags.
    Tags,
    /// More or less often.
    Pace,
    /// Shortest interval.
    Min,
    /// Longest interval.
    Max,
    /// A fixed interval.
    Every,
    /// The rhythm is learned.
    Learn,
    /// Interval rules of the reader's own.
    Rules,
    /// Entries are shown with the text of their pages.
    FullText,
    /// Cache lifetimes are not believed.
    IgnoreCacheLifetime,
    /// Skip windows are not kept.
    IgnoreSkips,
    /// Whether archives are walked.
    History,
    /// Where older entries are looked for that the publisher does not offer.
    Archives,
}

const PACES: &[&str] = &["as configured", "more", "normal", "less"];
const SWITCH: &[&str] = &["no", "yes"];
const LEARN: &[&str] = &["as configured", "yes", "no"];
const ARCHIVES: &[&str] = &["none", "WordPress pages", "Internet Archive"];
const HISTORY: &[&str] = &["as configured", "auto", "ask", "off"];

impl EditField {
    /// What stands before the line.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Tags => "tags",
            Self::Pace => "how often",
            Self::Min => "shortest interval",
            Self::Max => "longest interval",
            Self::Every => "fixed interval",
            Self::Learn => "learn its rhythm",
            Self::Rules => "own rules",
            Self::FullText => "always the full text",
            Self::IgnoreCacheLifetime => "ignore cache lifetime",
            Self::IgnoreSkips => "ignore skip hours and days",
            Self::History => "history",
            Self::Archives => "archives from elsewhere",
        }
    }
}

impl EditValue {
    /// The next or the previous word, where there are words.
    pub fn turn(&mut self, forward: bool) {
        if let Self::Choice { words, chosen } = self {
            let count = words.len().max(1);
            let step = if forward { 1 } else { count.saturating_sub(1) };
            *chosen = chosen.saturating_add(step).checked_rem(count).unwrap_or(0);
        }
    }
}

impl EditForm {
    fn new(feed: FeedKey, record: &SubscriptionRecord, settings: &Settings, zone: Zone) -> Self {
        let wishes = &record.wishes;
        let chosen = |found: Option<usize>| found.map_or(0, |place| place.saturating_add(1));
        let pace = wishes.pace.and_then(|pace| Pace::ALL.iter().position(|other| *other == pace));
        let history = wishes
            .history
            .and_then(|mode| HistoryMode::ALL.iter().position(|other| *other == mode));
        let archives = wishes
            .archives
            .and_then(|chosen| Adaptor::ALL.iter().position(|other| *other == chosen));
        let span = |minutes: Option<u32>| minutes.map(interval_text).unwrap_or_default();
        let configured = |minutes| format!("{}, as configured", interval_text(minutes));
        let poll: &PollSettings = &settings.poll;
        let title = record.title.clone().unwrap_or_else(|| record.url.clone());
        let rows = vec![
            line(EditField::Title, record.own_title.as_deref().unwrap_or_default(), title),
            line(EditField::Tags, &record.tags.join(", "), "none; several with commas".into()),
            choice(EditField::Pace, PACES, chosen(pace), poll.pace.word()),
            line(EditField::Min, &span(wishes.min_minutes), configured(poll.min_minutes)),
            line(EditField::Max, &span(wishes.max_minutes), configured(poll.max_minutes)),
            line(EditField::Every, &span(wishes.fixed_minutes), "as recommended".into()),
            choice(
                EditField::Learn,
                LEARN,
                wishes.learn.map_or(0, |learn| if learn { 1 } else { 2 }),
                if poll.learn { "yes" } else { "no" },
            ),
            line(
                EditField::Rules,
                &interval_rules::rules_text(&wishes.rules),
                "none; like Mon-Fri 9:00-18:00 45m; Sat 2h".into(),
            ),
            choice(
                EditField::IgnoreCacheLifetime,
                SWITCH,
                usize::from(wishes.ignore_cache_lifetime),
                "",
            ),
            choice(EditField::IgnoreSkips, SWITCH, usize::from(wishes.ignore_skips), ""),
            choice(EditField::History, HISTORY, chosen(history), settings.history.mode.word()),
            choice(EditField::Archives, ARCHIVES, chosen(archives), "not a standard"),
            choice(EditField::FullText, SWITCH, usize::from(wishes.full_text), ""),
        ];
        let before = record.chosen();
        Self { feed, address: record.url.clone(), rows, selected: 0, problem: None, zone, before }
    }

    /// The line that takes the keys, if text is typed in it.
    pub fn line_mut(&mut self) -> Option<&mut Prompt> {
        match self.rows.get_mut(self.selected).map(|row| &mut row.value) {
            Some(EditValue::Line(prompt)) => Some(prompt),
            Some(EditValue::Choice { .. }) | None => None,
        }
    }

    fn walk(&mut self, down: bool) {
        let count = self.rows.len().max(1);
        let step = if down { 1 } else { count.saturating_sub(1) };
        self.selected = self.selected.saturating_add(step).checked_rem(count).unwrap_or(0);
    }

    fn turn(&mut self, forward: bool) {
        if let Some(row) = self.rows.get_mut(self.selected) {
            row.value.turn(forward);
        }
    }

    /// What the form says; else the line that is wrong and a sentence.
    fn chosen(&self) -> Result<Chosen, (usize, String)> {
        let mut chosen = self.before.clone();
        for (place, row) in (0_usize..).zip(&self.rows) {
            read(row, &mut chosen, &self.zone).map_err(|why| (place, why))?;
        }
        Ok(chosen)
    }
}

fn line(field: EditField, text: &str, hint: String) -> EditRow {
    let mut prompt = Prompt::new(PromptPurpose::Field(field));
    prompt.insert(text);
    EditRow { field, value: EditValue::Line(prompt), hint }
}

fn choice(
    field: EditField,
    words: &'static [&'static str],
    chosen: usize,
    configured: &str,
) -> EditRow {
    let hint = if configured.is_empty() { String::new() } else { format!("({configured})") };
    let words = words.iter().map(ToString::to_string).collect();
    EditRow { field, value: EditValue::Choice { words, chosen }, hint }
}

/// Reads a line of the form into what is chosen.
fn read(row: &EditRow, into: &mut Chosen, zone: &Zone) -> Result<(), String> {
    let (text, place) = match &row.value {
        EditValue::Line(prompt) => (prompt.text.trim(), 0),
        EditValue::Choice { chosen, .. } => ("", *chosen),
    };
    let interval = || if text.is_empty() { Ok(None) } else { interval_minutes(text).map(Some) };
    let own = place.checked_sub(1);
    let wishes = &mut into.wishes;
    match row.field {
        EditField::Title => into.own_title = (!text.is_empty()).then(|| text.to_owned()),
        // A tag that holds a comma is only kept where nothing was typed.
        EditField::Tags if text == into.tags.join(", ").trim() => {}
        EditField::Tags => into.tags = normal_tags(text.split(',')),
        EditField::Pace => wishes.pace = own.and_then(|own| Pace::ALL.get(own).copied()),
        EditField::Min => wishes.min_minutes = interval()?,
        EditField::Max => wishes.max_minutes = interval()?,
        EditField::Every => wishes.fixed_minutes = interval()?,
        EditField::Learn => wishes.learn = own.map(|own| own == 0),
        EditField::Rules => wishes.rules = interval_rules::read_rules(text, zone)?,
        EditField::FullText => wishes.full_text = place == 1,
        EditField::IgnoreCacheLifetime => wishes.ignore_cache_lifetime = place == 1,
        EditField::IgnoreSkips => wishes.ignore_skips = place == 1,
        EditField::History => {
            wishes.history = own.and_then(|own| HistoryMode::ALL.get(own).copied());
        }
        EditField::Archives => {
            wishes.archives = own.and_then(|own| Adaptor::ALL.get(own).copied());
        }
    }
    Ok(())
}

/// Opens the form of the selected feed.
pub fn open(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let selected = feeds_pane::selected_feed(app, now);
    let Some((feed, subscription)) =
        selected.and_then(|key| Some((key, app.engine.feeds.get(&key)?)))
    else {
        app.ui.say(now, "select a feed first: e edits one feed");
        return Vec::new();
    };
    let form = EditForm::new(
        feed,
        &subscription.record,
        &app.engine.settings,
        learn::zone_of(app.engine.zone),
    );
    app.ui.lay_over(Overlay::Edit(Box::new(form)));
    Vec::new()
}

/// A key in the form.
pub fn pressed(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Edit(form)) = &mut app.ui.overlay else { return Vec::new() };
    let typing = form.line_mut().is_some();
    match key.code {
        Code::Up | Code::BackTab => form.walk(false),
        Code::Down | Code::Tab => form.walk(true),
        Code::Left if !typing => form.turn(false),
        Code::Right | Code::Char(' ') if !typing => form.turn(true),
        Code::Esc => app.ui.uncover(),
        Code::Enter => return save(app, now),
        Code::Char('c') if key.ctrl => app.ui.uncover(),
        Code::Char(_)
        | Code::Alt(_)
        | Code::Function(_)
        | Code::Insert
        | Code::Backspace
        | Code::Delete
        | Code::Left
        | Code::Right
        | Code::PageUp
        | Code::PageDown
        | Code::Home
        | Code::End => {
            form.problem = None;
            let typed = form.line_mut().map(|prompt| prompt.key(key));
            debug_assert!(!matches!(typed, Some(Typed::Done | Typed::Cancelled)));
        }
    }
    Vec::new()
}

/// Text was pasted into the form.
pub fn pasted(app: &mut App, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Edit(form)) = &mut app.ui.overlay
        && let Some(prompt) = form.line_mut()
    {
        prompt.insert(text);
    }
    Vec::new()
}

/// A click on a line selects it; the first line shows the address.
pub fn clicked(app: &mut App, _: DateTime<Utc>, line: usize) -> Vec<ScreenEffect> {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line).checked_sub(1);
    if let Some(Overlay::Edit(form)) = &mut app.ui.overlay
        && let Some(place) = place.filter(|&place| place < form.rows.len())
    {
        form.selected = place;
    }
    Vec::new()
}

/// Saves the form, unless something in it cannot be.
fn save(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Edit(form)) = &app.ui.overlay else { return Vec::new() };
    let feed = form.feed;
    let unchanged = form.chosen().is_ok_and(|chosen| chosen == form.before);
    let changed = match form.chosen() {
        Err(wrong) => Err(wrong),
        Ok(chosen) => {
            let place = form.rows.iter().position(|row| row.field == EditField::Min).unwrap_or(0);
            app.try_ask(now, Request::Set(feed, Box::new(chosen))).map_err(|why| (place, why))
        }
    };
    match changed {
        Ok(effects) => {
            app.ui.uncover();
            let title = app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
            let text = if unchanged {
                "nothing was changed".to_owned()
            } else {
                format!("'{title}' is changed · u undo")
            };
            app.ui.say(now, text);
            effects
        }
        Err((place, why)) => {
            if let Some(Overlay::Edit(form)) = &mut app.ui.overlay {
                (form.selected, form.problem) = (place, Some(why));
            }
            Vec::new()
        }
    }
}
