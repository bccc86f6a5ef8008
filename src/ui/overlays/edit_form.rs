//! The form in which the user edits the settings of a feed.

use super::form::{Form, FormRow, FormValue};
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::setting_row::{FeedSettingRow, FormLine};
use crate::engine::feeds::setting_table::form_lines;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::settings::Settings;
use backissue_core::feed::Zone;
use backissue_core::history::FeedKey;

/// Label of the first line of the form, which contains the address of the feed.
const ADDRESS: &str = "address";

/// The form in which the user edits the settings of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditForm {
    /// The feed whose settings are edited.
    pub feed: FeedKey,
    /// The address of the feed when the form was opened.
    address: String,
    /// The input lines of the form, each identified by its label.
    pub form: Form<&'static str>,
    /// Time zone of interval rules that do not specify one.
    zone: Zone,
    /// The settings when the form was opened. Settings without an input line keep these values.
    pub(in crate::ui) before: Chosen,
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
        let address = FormRow {
            field: ADDRESS,
            value: FormValue::Line(Prompt::filled(
                PromptPurpose::Field(ADDRESS),
                record.url.clone(),
            )),
            hint: "unchanged".into(),
            offered: None,
        };
        let lines = form_lines().into_iter();
        let rows = lines
            .map(|(setting, line)| form_row(setting, line, &before, (line.hint)(settings, title)));
        let rows = std::iter::once(address).chain(rows).collect();
        Self { feed, address: record.url.clone(), form: Form::new(rows, 1), zone, before }
    }

    /// Returns the typed address if it differs from the address of the feed.
    pub(in crate::ui) fn new_address(&self) -> Option<&str> {
        Some(self.form.text(&ADDRESS)).filter(|text| !text.is_empty() && *text != self.address)
    }

    /// Returns the edited settings. If a line is invalid, the error is the index of this line and a sentence about it.
    pub(in crate::ui) fn chosen(&self) -> Result<Chosen, (usize, String)> {
        let mut chosen = self.before.clone();
        let rows = self.form.rows.iter().enumerate().skip(1);
        for ((place, row), (setting, _)) in rows.zip(form_lines()) {
            let text = match &row.value {
                FormValue::Line(prompt) => prompt.text.trim(),
                FormValue::Choice { chosen, .. } => {
                    setting.choices().get(*chosen).map_or("", |(word, _)| *word)
                }
            };
            setting.set(&mut chosen, text, &self.zone).map_err(|why| (place, why.into()))?;
        }
        Ok(chosen)
    }
}

/// Creates the input line for a setting, filled with the current value of the setting.
fn form_row(
    setting: &FeedSettingRow,
    line: FormLine,
    before: &Chosen,
    hint: String,
) -> FormRow<&'static str> {
    let (text, choices) = (setting.text(before), setting.choices());
    if choices.is_empty() {
        let mut prompt = Prompt::new(PromptPurpose::Field(line.label));
        prompt.insert(&text);
        let value = FormValue::Line(prompt);
        return FormRow { field: line.label, value, hint, offered: None };
    }
    let hint = if hint.is_empty() { hint } else { format!("({hint})") };
    let words = choices.iter().map(|(_, word)| (*word).to_owned()).collect();
    let chosen = choices.iter().position(|(word, _)| *word == text).unwrap_or(0);
    let value = FormValue::Choice { words, chosen };
    FormRow { field: line.label, value, hint, offered: None }
}
