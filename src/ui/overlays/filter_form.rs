//! The form in which the user creates or edits a filter: its input lines, and the filter that they describe.

use backissue_core::InputFlaw;
use chrono::{DateTime, Utc};

use super::form::{Form, FormOutcome, FormRow, FormValue};
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::entries::filter_work::FilterPreview;
use crate::engine::state::Engine;
use crate::ui::keys::key::Key;
use backissue_core::filters::{Action, EntryFilter, FilterScope, read_until, until_text};
use backissue_core::history::FeedKey;

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

/// What the form suggests for a filter that is made from an entry.
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

#[cfg(test)]
mod tests {
    use crate::ui::keys::key::Code;
    use crate::ui::overlays::filter_form::*;
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
