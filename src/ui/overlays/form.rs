//! A form whose lines are either text inputs or choices between a few words. One line has the focus. There are forms for the
//! settings of a feed, for a filter, and for the login of an account on a server.

use backissue_core::InputFlaw;
use backissue_core::feed::Zone;
use backissue_core::filters::{Action, EntryFilter, FilterScope, read_until, until_text};
use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

use super::prompt::{Prompt, PromptPurpose, TypedText};
use crate::engine::entries::filter_work::FilterPreview;
use crate::engine::feeds::setting_row::{Chosen, FeedSettingRow, FormLine};
use crate::engine::feeds::setting_table::form_lines;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::settings::{Secret, Settings};
use crate::engine::state::Engine;
use crate::ui::effect::NewLogin;
use crate::ui::keys::key::{Code, Key};

/// A form with input lines. A value of type `F` identifies each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form<F> {
    /// The input lines, in display order.
    pub rows: Vec<FormRow<F>>,
    /// Index of the line that has the focus.
    pub selected: usize,
    /// A sentence that explains why the form could not be saved. `None` if there was no problem.
    pub problem: Option<String>,
}

/// One input line of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormRow<F> {
    /// Identifies the line within the form.
    pub field: F,
    /// The text or choice that the user edits.
    pub value: FormValue,
    /// Hint that is shown while the line is empty, such as the value that applies without an input.
    pub hint: String,
    /// Suggested text. If the line is empty, the right arrow key inserts the suggested text.
    pub offered: Option<String>,
}

/// The contents of an input line in a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormValue {
    /// A text that the user types.
    Line(Prompt),
    /// A choice between a few words.
    Choice {
        /// The words to choose from.
        words: Vec<String>,
        /// Index of the chosen word.
        chosen: usize,
    },
}

/// What to do after a key was pressed in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormOutcome {
    /// Keep the form open.
    Open,
    /// Save the form.
    Save,
    /// Close the form without saving.
    GiveUp,
}

impl<F> Form<F> {
    /// Creates a form in which the line at index `selected` has the focus.
    pub const fn new(rows: Vec<FormRow<F>>, selected: usize) -> Self {
        Self { rows, selected, problem: None }
    }

    /// Handles a key in the form.
    pub fn press(&mut self, key: Key) -> FormOutcome {
        let typing = self.typed_line().is_some();
        match key.code {
            Code::Up | Code::BackTab => self.select_next(false),
            Code::Down | Code::Tab => self.select_next(true),
            Code::Left if !typing => self.choose_next(false),
            Code::Right | Code::Char(' ') if !typing => self.choose_next(true),
            Code::Right if self.take_offer() => {}
            Code::Enter => return FormOutcome::Save,
            Code::Esc => return FormOutcome::GiveUp,
            Code::Char('c') if key.ctrl => return FormOutcome::GiveUp,
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
                self.problem = None;
                let typed = self.typed_line_mut().map(|line| line.key(key));
                debug_assert!(!matches!(typed, Some(TypedText::Done | TypedText::Cancelled)));
            }
        }
        FormOutcome::Open
    }

    /// Inserts pasted text into the focused line, if it is a text line.
    pub fn paste(&mut self, text: &str) {
        if let Some(line) = self.typed_line_mut() {
            line.insert(text);
        }
    }

    /// Gives the focus to the clicked line, if a line was clicked.
    pub const fn click(&mut self, place: usize) {
        if place < self.rows.len() {
            self.selected = place;
        }
    }

    /// Returns the text input of the focused line. Returns `None` if the line is a choice.
    pub fn typed_line(&self) -> Option<&Prompt> {
        match self.rows.get(self.selected).map(|row| &row.value) {
            Some(FormValue::Line(prompt)) => Some(prompt),
            Some(FormValue::Choice { .. }) | None => None,
        }
    }

    /// Returns the text input of the focused line for modification. Returns `None` if the line is a choice.
    fn typed_line_mut(&mut self) -> Option<&mut Prompt> {
        match self.rows.get_mut(self.selected).map(|row| &mut row.value) {
            Some(FormValue::Line(prompt)) => Some(prompt),
            Some(FormValue::Choice { .. }) | None => None,
        }
    }

    /// Gives the focus to the next (`true`) or previous line, wrapping around.
    fn select_next(&mut self, down: bool) {
        self.selected = next_place(self.selected, self.rows.len(), down);
    }

    /// Chooses the next (`true`) or previous word in the focused line, wrapping around.
    fn choose_next(&mut self, forward: bool) {
        let value = self.rows.get_mut(self.selected).map(|row| &mut row.value);
        if let Some(FormValue::Choice { words, chosen }) = value {
            *chosen = next_place(*chosen, words.len(), forward);
        }
    }

    /// Inserts the suggested text into the focused line. Returns `false` if there is no suggestion or the line is not empty.
    fn take_offer(&mut self) -> bool {
        let Some(row) = self.rows.get_mut(self.selected) else { return false };
        let (FormValue::Line(prompt), Some(offered)) = (&mut row.value, &row.offered) else {
            return false;
        };
        let empty = prompt.text.is_empty();
        if empty {
            prompt.insert(offered);
        }
        empty
    }
}

impl<F: PartialEq> Form<F> {
    /// Returns the trimmed text of the line for a field. Returns an empty string if the field has no text input.
    pub fn text(&self, field: &F) -> &str {
        match self.value(field) {
            Some(FormValue::Line(prompt)) => prompt.text.trim(),
            Some(FormValue::Choice { .. }) | None => "",
        }
    }

    /// Returns the index of the chosen word in the line for a field. Returns 0 if the field is not a choice.
    pub fn chosen(&self, field: &F) -> usize {
        match self.value(field) {
            Some(FormValue::Choice { chosen, .. }) => *chosen,
            Some(FormValue::Line(_)) | None => 0,
        }
    }

    fn value(&self, field: &F) -> Option<&FormValue> {
        self.rows.iter().find(|row| row.field == *field).map(|row| &row.value)
    }
}

/// Returns the index after (`true`) or before `place`, wrapping around in a list of `count` items.
fn next_place(place: usize, count: usize, forward: bool) -> usize {
    let count = count.max(1);
    let step = if forward { 1 } else { count.saturating_sub(1) };
    place.saturating_add(step).checked_rem(count).unwrap_or(0)
}

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

/// A form that creates or edits a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterForm {
    /// The filter when the form was opened. If its ID is 0, it is a new filter.
    pub(in crate::ui) before: EntryFilter,
    /// The input lines of the form.
    pub form: Form<FilterField>,
    /// The entries that the edited filter matches. `None` while the preview is pending.
    pub preview: Option<FilterPreview>,
    /// Number of the last requested preview. Previews with other numbers are outdated.
    pub(in crate::ui) asked: u64,
    /// The filter that the last preview was requested for.
    pub(in crate::ui) asked_for: Option<EntryFilter>,
    /// The choices in the line that selects which feeds the filter applies to.
    scopes: Vec<FilterScope>,
}

/// An input line of the filter form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterField {
    /// What the filter does with the entries that it matches.
    Action,
    /// The label to add, if the action is to add a label.
    Label,
    /// The feeds that the filter applies to.
    Scope,
    /// The query that an entry must meet.
    Query,
    /// The date when the filter expires.
    Until,
}

const ACTIONS: [&str; 5] = ["hide", "mark read", "star", "download", "label"];
const QUERY_HINT: &str = "anything; a query as in a search: title:wax -author:lee";
/// Index of the action "download" among the choices for the action.
const DOWNLOAD_ACTION: usize = 3;
/// Index of the action "add a label" among the choices for the action.
const LABEL_ACTION: usize = 4;

impl FilterField {
    /// Returns the label of the input line.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Label => "label",
            Self::Scope => "applies to",
            Self::Query => "matches",
            Self::Until => "until",
        }
    }
}

/// Suggestions for a filter that is created from an entry.
#[derive(Debug, Clone, Default)]
pub(in crate::ui) struct Offer {
    pub(in crate::ui) feed: Option<FeedKey>,
    /// A query that the right arrow key inserts.
    pub(in crate::ui) query: Option<String>,
}

impl FilterForm {
    pub(in crate::ui) fn new(engine: &Engine, filter: EntryFilter, offer: &Offer) -> Self {
        let scopes = list_scopes(engine, &filter, offer.feed);
        let names = scopes.iter().map(|scope| scope_words(engine, scope)).collect();
        let chosen = scopes.iter().position(|scope| *scope == filter.scope).unwrap_or(0);
        let action = match filter.action {
            Action::Hide => 0,
            Action::Read => 1,
            Action::Star => 2,
            Action::Download => DOWNLOAD_ACTION,
            Action::Label(_) => LABEL_ACTION,
        };
        let until = filter.until.map(|until| until_text(until, engine.zone)).unwrap_or_default();
        let words = ACTIONS.iter().map(ToString::to_string).collect();
        let choice = |field, words, chosen| FormRow {
            field,
            value: FormValue::Choice { words, chosen },
            hint: String::new(),
            offered: None,
        };
        let rows = vec![
            choice(FilterField::Action, words, action),
            choice(FilterField::Scope, names, chosen),
            text_row(FilterField::Query, &filter.query, QUERY_HINT, offer.query.clone()),
            text_row(FilterField::Until, &until, "no end; 7d, 2w, 6m or a date", None),
        ];
        // The query (the third line) gets the focus, because it is the first line that most users edit.
        let form = Form::new(rows, 2);
        let (preview, asked, asked_for) = (None, 0, None);
        let mut edited = Self { before: filter, form, preview, asked, asked_for, scopes };
        edited.show_label();
        edited
    }

    /// Shows the input line for the label if the chosen action adds a label, and hides it otherwise.
    fn show_label(&mut self) {
        let wanted = self.form.chosen(&FilterField::Action) == LABEL_ACTION;
        let stands = self.form.rows.iter().any(|row| row.field == FilterField::Label);
        if wanted && !stands {
            let label = self.before.action.label().unwrap_or_default();
            self.form.rows.insert(
                1,
                text_row(FilterField::Label, label, "a word; search for it with tag:", None),
            );
            if self.form.selected > 0 {
                self.form.selected = self.form.selected.saturating_add(1);
            }
        } else if stands && !wanted {
            self.form.rows.retain(|row| row.field != FilterField::Label);
            self.form.selected = self.form.selected.saturating_sub(1);
        }
    }

    /// Handles a key in the form.
    pub(in crate::ui) fn press(&mut self, key: Key) -> FormOutcome {
        let outcome = self.form.press(key);
        self.show_label();
        outcome
    }

    /// Returns the filter that the form describes. If it is invalid, the error is a sentence that explains why.
    pub(in crate::ui) fn read(
        &self,
        engine: &Engine,
        now: DateTime<Utc>,
    ) -> Result<EntryFilter, InputFlaw> {
        let until = self.form.text(&FilterField::Until);
        let as_before = self.before.until.filter(|at| until_text(*at, engine.zone) == until);
        let filter = EntryFilter {
            id: self.before.id,
            action: match self.form.chosen(&FilterField::Action) {
                1 => Action::Read,
                2 => Action::Star,
                DOWNLOAD_ACTION => Action::Download,
                LABEL_ACTION => Action::Label(
                    self.form.text(&FilterField::Label).trim_start_matches('#').to_owned(),
                ),
                _ => Action::Hide,
            },
            scope: self
                .scopes
                .get(self.form.chosen(&FilterField::Scope))
                .cloned()
                .unwrap_or_default(),
            query: self.form.text(&FilterField::Query).to_owned(),
            until: match as_before {
                Some(until) => Some(until),
                None => read_until(until, now, engine.zone)?,
            },
        };
        filter.check().map_err(|flaw| flaw.to_string())?;
        Ok(filter)
    }
}

fn text_row(
    field: FilterField,
    text: &str,
    hint: &str,
    offered: Option<String>,
) -> FormRow<FilterField> {
    let mut prompt = Prompt::new(PromptPurpose::Condition);
    prompt.insert(text);
    let offer = offered.as_ref().map(|offered| format!("; → inserts '{offered}'"));
    let hint = format!("{hint}{}", offer.unwrap_or_default());
    FormRow { field, value: FormValue::Line(prompt), hint, offered }
}

/// Lists the choices for the feeds that a filter applies to: the feed of the entry, its tags, the filter's current scope, all
/// feeds, and all tags.
fn list_scopes(engine: &Engine, filter: &EntryFilter, feed: Option<FeedKey>) -> Vec<FilterScope> {
    let mut scopes: Vec<FilterScope> = feed.map(FilterScope::Feed).into_iter().collect();
    let tags_of = |feed: &FeedKey| engine.feeds.get(feed).map(|feed| feed.record.tags.clone());
    let own = feed.as_ref().and_then(tags_of).unwrap_or_default();
    let all = engine.feeds.keys().filter_map(tags_of).flatten();
    scopes.push(FilterScope::Everywhere);
    scopes.extend(own.into_iter().chain(all).map(FilterScope::Tag));
    if feed.is_none() {
        scopes.extend(engine.feeds.keys().copied().map(FilterScope::Feed));
    }
    scopes.push(filter.scope.clone());
    let mut each_once: Vec<FilterScope> = Vec::new();
    for scope in scopes {
        if !each_once.contains(&scope) {
            each_once.push(scope);
        }
    }
    each_once
}

fn scope_words(engine: &Engine, scope: &FilterScope) -> String {
    match scope {
        FilterScope::Everywhere => "all feeds".into(),
        FilterScope::ByHand => "entries labelled by hand".into(),
        FilterScope::Tag(tag) => format!("feeds with the tag {tag}"),
        FilterScope::Feed(feed) => {
            let title = engine.feeds.get(feed).map(|feed| feed.record.shown_title());
            format!("'{}'", title.unwrap_or("a removed feed"))
        }
    }
}

const SERVER: &str = "server";
const USER: &str = "user";
const PASSWORD: &str = "password";

/// The form in which the user types the login of an account on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountForm {
    /// The input lines, each identified by its label.
    pub form: Form<&'static str>,
    /// `true` while the response of the server is pending.
    pub is_waiting: bool,
    /// Address of an unencrypted server about which the user was warned.
    pub(in crate::ui) warned_of: Option<String>,
}

impl AccountForm {
    pub(in crate::ui) fn new() -> Self {
        let row = |label, purpose, hint: &str| FormRow {
            field: label,
            value: FormValue::Line(Prompt::new(purpose)),
            hint: hint.to_owned(),
            offered: None,
        };
        let rows = vec![
            row(SERVER, PromptPurpose::Field(SERVER), "its address, such as rss.example"),
            row(
                USER,
                PromptPurpose::Field(USER),
                "empty: the password is an API token of Miniflux",
            ),
            row(PASSWORD, PromptPurpose::Password, "FreshRSS: the API password"),
        ];
        Self { form: Form::new(rows, 0), is_waiting: false, warned_of: None }
    }

    /// Returns the typed login. If a required line is empty, the error is the index of this line and a sentence.
    pub(in crate::ui) fn login(&self) -> Result<NewLogin, (usize, String)> {
        let (address, user) = (self.form.text(&SERVER), self.form.text(&USER));
        // A password can begin or end with a space.
        let password = self.form.rows.iter().find_map(|row| match &row.value {
            FormValue::Line(prompt) if row.field == PASSWORD => Some(prompt.text.clone()),
            FormValue::Line(_) | FormValue::Choice { .. } => None,
        });
        let password = password.unwrap_or_default();
        if address.is_empty() {
            return Err((0, "type the address of the server".to_owned()));
        }
        if password.is_empty() {
            return Err((2, "type the password, or the API token".to_owned()));
        }
        let (address, user) = (address.to_owned(), user.to_owned());
        Ok(NewLogin { address, user, password: Secret::new(password) })
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::overlays::form::*;
    use crate::ui::overlays::prompt::PromptPurpose;

    /// Returns a form with a text input, a choice between three words, and a text input with a suggestion.
    fn form() -> Form<&'static str> {
        let line = |field, offered: Option<&str>| FormRow {
            field,
            value: FormValue::Line(Prompt::new(PromptPurpose::Condition)),
            hint: String::new(),
            offered: offered.map(str::to_owned),
        };
        let words = ["hide", "star", "label"].map(str::to_owned).into();
        let choice = FormRow {
            field: "action",
            value: FormValue::Choice { words, chosen: 0 },
            hint: String::new(),
            offered: None,
        };
        Form::new(vec![line("title", None), choice, line("author", Some("Ada"))], 0)
    }

    fn press(form: &mut Form<&'static str>, keys: &[Code]) {
        for code in keys {
            assert_eq!(form.press(Key::code(*code)), FormOutcome::Open, "{code:?}");
        }
    }

    #[test]
    fn the_selection_goes_around_both_ends() {
        let mut form = form();
        press(&mut form, &[Code::Up]);
        assert_eq!(form.selected, 2);
        press(&mut form, &[Code::Tab]);
        assert_eq!(form.selected, 0);
        press(&mut form, &[Code::Down, Code::BackTab, Code::BackTab]);
        assert_eq!(form.selected, 2);
    }

    #[test]
    fn arrows_and_blanks_choose_a_word_and_letters_change_none() {
        let mut form = form();
        press(&mut form, &[Code::Down, Code::Right, Code::Char(' '), Code::Char('x')]);
        assert_eq!(form.chosen(&"action"), 2);
        press(&mut form, &[Code::Right]);
        assert_eq!(form.chosen(&"action"), 0, "around the end");
        press(&mut form, &[Code::Left]);
        assert_eq!((form.chosen(&"action"), form.text(&"action")), (2, ""));
    }

    #[test]
    fn text_is_typed_and_pasted_into_the_selected_line_alone() {
        let mut form = form();
        press(&mut form, &[Code::Char('a'), Code::Char(' '), Code::Left, Code::Char('b')]);
        form.paste("c\n");
        assert_eq!((form.text(&"title"), form.text(&"author")), ("abc", ""));
        form.click(1);
        form.paste("x");
        assert_eq!((form.text(&"title"), form.chosen(&"title")), ("abc", 0));
    }

    #[test]
    fn right_arrow_fills_only_an_empty_line() {
        let mut form = form();
        form.click(2);
        press(&mut form, &[Code::Right]);
        assert_eq!(form.text(&"author"), "Ada");
        press(&mut form, &[Code::Backspace, Code::Right, Code::Char('b')]);
        assert_eq!(form.text(&"author"), "Adb");
        form.click(0);
        press(&mut form, &[Code::Right]);
        assert_eq!(form.text(&"title"), "", "nothing is offered there");
    }

    #[test]
    fn typing_clears_the_problem_and_moving_does_not() {
        let mut form = form();
        form.problem = Some("too short".into());
        press(&mut form, &[Code::Down, Code::Up]);
        assert!(form.problem.is_some());
        press(&mut form, &[Code::Char('a')]);
        assert_eq!(form.problem, None);
    }

    #[test]
    fn enter_saves_and_escape_cancels_in_any_field() {
        for place in 0..3 {
            let mut form = form();
            form.click(place);
            assert_eq!(form.press(Key::code(Code::Enter)), FormOutcome::Save);
            assert_eq!(form.press(Key::code(Code::Esc)), FormOutcome::GiveUp);
            assert_eq!(form.press(Key::ctrl('c')), FormOutcome::GiveUp);
        }
    }

    #[test]
    fn click_below_the_last_line_selects_nothing() {
        let mut form = form();
        form.click(3);
        assert_eq!(form.selected, 0);
        let mut empty: Form<&'static str> = Form::new(Vec::new(), 0);
        press(&mut empty, &[Code::Down, Code::Up, Code::Right, Code::Char('a')]);
        assert_eq!(empty.selected, 0);
    }
}

#[cfg(test)]
mod filter_form_tests {
    use crate::ui::keys::key::Code;
    use crate::ui::overlays::form::*;
    use crate::ui::sample_app::{app_with, noon};

    fn fields(edited: &FilterForm) -> Vec<FilterField> {
        edited.form.rows.iter().map(|row| row.field).collect()
    }

    #[test]
    fn label_field_is_shown_only_for_label_filters() {
        let app = app_with(&[("Orchard", &[])]);
        let mut edited = FilterForm::new(&app.engine, EntryFilter::default(), &Offer::default());
        assert!(!fields(&edited).contains(&FilterField::Label));
        edited.form.click(0);
        edited.press(Key::code(Code::Left));
        assert_eq!(
            fields(&edited)[..3],
            [FilterField::Action, FilterField::Label, FilterField::Scope]
        );
        assert_eq!(edited.form.selected, 0);
        edited.press(Key::code(Code::Right));
        assert_eq!((edited.form.selected, fields(&edited).len()), (0, 4));
    }

    #[test]
    fn opening_a_filter_changes_nothing() {
        let app = app_with(&[("Orchard", &["garden"])]);
        for (action, scope) in [
            (Action::Hide, FilterScope::Everywhere),
            (Action::Star, FilterScope::Tag("garden".into())),
            (Action::Label("wax".into()), FilterScope::Feed(FeedKey(1))),
            (Action::Read, FilterScope::Feed(FeedKey(9))),
            (Action::Download, FilterScope::Feed(FeedKey(1))),
        ] {
            let (id, query) = (7, "frost".to_owned());
            let filter = EntryFilter { id, action, scope, query, ..EntryFilter::default() };
            let edited = FilterForm::new(&app.engine, filter.clone(), &Offer::default());
            assert_eq!(edited.read(&app.engine, noon()), Ok(filter));
        }
    }

    #[test]
    fn entry_values_are_offered_and_accepted_by_arrow() {
        let app = app_with(&[("Orchard", &[])]);
        let offer = Offer { feed: Some(FeedKey(1)), query: Some("author:lee".into()) };
        let mut edited = FilterForm::new(&app.engine, EntryFilter::default(), &offer);
        assert!(edited.read(&app.engine, noon()).is_err(), "it would hit everything");
        edited.press(Key::code(Code::Right));
        let filter = edited.read(&app.engine, noon()).unwrap();
        assert_eq!((filter.query.as_str(), filter.scope), ("author:lee", FilterScope::Everywhere));
    }
}
