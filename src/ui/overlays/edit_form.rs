//! What the reader chose for a feed, as a form of a few lines.

use super::prompt::{Prompt, PromptPurpose};
use crate::engine::feeds::setting_row::{FeedSettingRow, FormLine, form_lines};
use crate::engine::feeds::setting_table::Chosen;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::settings::Settings;
use crate::feed::Zone;
use crate::history::FeedKey;

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
    pub(in crate::ui) zone: Zone,
    /// What was chosen before, for what the form leaves alone.
    pub(in crate::ui) before: Chosen,
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
    pub(in crate::ui) fn new(
        feed: FeedKey,
        record: &SubscriptionRecord,
        settings: &Settings,
        zone: Zone,
    ) -> Self {
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

    pub(in crate::ui) fn walk(&mut self, down: bool) {
        let count = self.rows.len().max(1);
        let step = if down { 1 } else { count.saturating_sub(1) };
        self.selected = self.selected.saturating_add(step).checked_rem(count).unwrap_or(0);
    }

    pub(in crate::ui) fn turn(&mut self, forward: bool) {
        if let Some(row) = self.rows.get_mut(self.selected) {
            row.value.turn(forward);
        }
    }

    /// What the form says; else the line that is wrong and a sentence.
    pub(in crate::ui) fn chosen(&self) -> Result<Chosen, (usize, String)> {
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
pub(in crate::ui) fn form_row(
    setting: &FeedSettingRow,
    line: FormLine,
    before: &Chosen,
    hint: String,
) -> EditRow {
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
