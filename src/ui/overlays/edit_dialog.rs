//! The edit dialog: what the reader chose for a feed, as a form of a few lines.

use chrono::{DateTime, Utc};

use super::prompt::{Prompt, PromptPurpose, Typed};
use crate::engine::feeds::setting_row::{FeedSettingRow, FormLine, form_lines};
use crate::engine::feeds::setting_table::Chosen;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::engine::settings::Settings;
use crate::feed::Zone;
use crate::history::FeedKey;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::panes::feeds_pane;
use crate::ui::state::overlay::Overlay;

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
    /// What stands before the line.
    pub label: &'static str,
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
        let title = record.title.as_deref().unwrap_or(&record.url);
        let before = record.chosen();
        let lines = form_lines().into_iter();
        let rows = lines
            .map(|(setting, line)| form_row(setting, line, &before, (line.hint)(settings, title)))
            .collect();
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
        for (place, (row, (setting, _))) in self.rows.iter().zip(form_lines()).enumerate() {
            let text = match &row.value {
                EditValue::Line(prompt) => prompt.text.trim(),
                EditValue::Choice { chosen, .. } => {
                    setting.choices().get(*chosen).map_or("", |(word, _)| *word)
                }
            };
            setting.set(&mut chosen, text, &self.zone).map_err(|why| (place, why))?;
        }
        Ok(chosen)
    }
}

/// The line of a setting with what is chosen before.
fn form_row(setting: &FeedSettingRow, line: FormLine, before: &Chosen, hint: String) -> EditRow {
    let (text, choices) = (setting.text(before), setting.choices());
    if choices.is_empty() {
        let mut prompt = Prompt::new(PromptPurpose::Field(line.label));
        prompt.insert(&text);
        return EditRow { label: line.label, value: EditValue::Line(prompt), hint };
    }
    let hint = if hint.is_empty() { hint } else { format!("({hint})") };
    let words = choices.iter().map(|(_, word)| (*word).to_owned()).collect();
    let chosen = choices.iter().position(|(word, _)| *word == text).unwrap_or(0);
    EditRow { label: line.label, value: EditValue::Choice { words, chosen }, hint }
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
            let is_min = |(setting, _): &(&FeedSettingRow, _)| setting.name == "min";
            let place = form_lines().iter().position(is_min).unwrap_or(0);
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
