//! A filter as a form: what its lines say, and the filter that they make.

use chrono::{DateTime, Utc};

use super::edit_form::EditValue;
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::entries::entry_filters::FilterPreview;
use crate::engine::state::Engine;
use crate::filters::{Action, EntryFilter, FilterScope, read_until, until_text};
use crate::history::FeedKey;

/// The form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterForm {
    /// The rule as it was opened; number 0: a new one.
    pub(in crate::ui) before: EntryFilter,
    /// The lines, in order.
    pub rows: Vec<RuleRow>,
    /// Place of the line that takes the keys.
    pub selected: usize,
    /// Why it cannot be saved, as a sentence.
    pub problem: Option<String>,
    /// What it would hit; `None`: that is being looked for.
    pub preview: Option<FilterPreview>,
    /// The number of the preview that was asked for last.
    pub(in crate::ui) asked: u64,
    /// The rule it was asked for.
    pub(in crate::ui) asked_for: Option<EntryFilter>,
    /// What the line of feeds offers.
    pub(in crate::ui) reaches: Vec<FilterScope>,
}

/// One line of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// What it is about.
    pub field: FilterField,
    /// What stands in it.
    pub value: EditValue,
    /// What an empty line means.
    pub hint: String,
    /// What the entry has there: the right arrow takes it into an empty line.
    pub offered: Option<String>,
}

/// What a line of the form is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterField {
    /// What is done.
    Action,
    /// The label, where that is done.
    Label,
    /// Whose entries.
    Reach,
    /// The title.
    Title,
    /// The author.
    Author,
    /// The text.
    Text,
    /// How long it holds.
    Until,
}

pub(in crate::ui) const ACTIONS: [&str; 4] =
    ["hide them", "mark them read", "star them", "label them"];

impl FilterField {
    /// What stands before the line.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Action => "do",
            Self::Label => "label",
            Self::Reach => "entries of",
            Self::Title => "title has",
            Self::Author => "author has",
            Self::Text => "text has",
            Self::Until => "until",
        }
    }
}

/// What an entry offers for a rule.
#[derive(Debug, Clone, Default)]
pub(in crate::ui) struct Offer {
    pub(in crate::ui) feed: Option<FeedKey>,
    pub(in crate::ui) title: String,
    pub(in crate::ui) author: Option<String>,
}

impl FilterForm {
    pub(in crate::ui) fn new(engine: &Engine, rule: EntryFilter, offer: &Offer) -> Self {
        let reaches = reaches(engine, &rule, offer.feed);
        let names = reaches.iter().map(|reach| reach_words(engine, reach)).collect();
        let chosen = reaches.iter().position(|reach| *reach == rule.scope).unwrap_or(0);
        let action = match rule.action {
            Action::Hide => 0,
            Action::Read => 1,
            Action::Star => 2,
            Action::Label(_) => 3,
        };
        let until = rule.until.map(|until| until_text(until, engine.zone)).unwrap_or_default();
        let words = ACTIONS.iter().map(ToString::to_string).collect();
        let choice = |field, words, chosen| RuleRow {
            field,
            value: EditValue::Choice { words, chosen },
            hint: String::new(),
            offered: None,
        };
        let title = (!offer.title.is_empty()).then(|| offer.title.clone());
        let rows = vec![
            choice(FilterField::Action, words, action),
            choice(FilterField::Reach, names, chosen),
            line(FilterField::Title, &rule.title, "anything", title),
            line(FilterField::Author, &rule.author, "anybody", offer.author.clone()),
            line(
                FilterField::Text,
                &rule.text,
                "anything; words, \"a phrase\" or /expression/",
                None,
            ),
            line(FilterField::Until, &until, "for good; 7d, 2w, 6m, or a day", None),
        ];
        let mut form = Self {
            before: rule,
            rows,
            selected: 2,
            problem: None,
            preview: None,
            asked: 0,
            asked_for: None,
            reaches,
        };
        form.show_label();
        form
    }

    /// The line that takes the keys, if text is typed in it.
    pub fn line_mut(&mut self) -> Option<&mut Prompt> {
        match self.rows.get_mut(self.selected).map(|row| &mut row.value) {
            Some(EditValue::Line(prompt)) => Some(prompt),
            Some(EditValue::Choice { .. }) | None => None,
        }
    }

    /// The line of the label stands there only where a label is given.
    pub(in crate::ui) fn show_label(&mut self) {
        let wanted = self.chosen(FilterField::Action) == 3;
        let stands = self.rows.iter().any(|row| row.field == FilterField::Label);
        if wanted && !stands {
            let label = self.before.action.label().unwrap_or_default();
            self.rows.insert(1, line(FilterField::Label, label, "a word; tag: finds it", None));
            self.selected = if self.selected > 0 { self.selected.saturating_add(1) } else { 0 };
        } else if stands && !wanted {
            self.rows.retain(|row| row.field != FilterField::Label);
            self.selected = self.selected.saturating_sub(1);
        }
    }

    pub(in crate::ui) fn text(&self, field: FilterField) -> &str {
        let row = self.rows.iter().find(|row| row.field == field);
        match row.map(|row| &row.value) {
            Some(EditValue::Line(prompt)) => prompt.text.trim(),
            Some(EditValue::Choice { .. }) | None => "",
        }
    }

    pub(in crate::ui) fn chosen(&self, field: FilterField) -> usize {
        let row = self.rows.iter().find(|row| row.field == field);
        match row.map(|row| &row.value) {
            Some(EditValue::Choice { chosen, .. }) => *chosen,
            Some(EditValue::Line(_)) | None => 0,
        }
    }

    /// The rule that the form says, or why it is none.
    pub(in crate::ui) fn rule(
        &self,
        engine: &Engine,
        now: DateTime<Utc>,
    ) -> Result<EntryFilter, String> {
        let until = self.text(FilterField::Until);
        let as_before = self.before.until.filter(|at| until_text(*at, engine.zone) == until);
        let rule = EntryFilter {
            id: self.before.id,
            action: match self.chosen(FilterField::Action) {
                1 => Action::Read,
                2 => Action::Star,
                3 => {
                    Action::Label(self.text(FilterField::Label).trim_start_matches('#').to_owned())
                }
                _ => Action::Hide,
            },
            scope: self.reaches.get(self.chosen(FilterField::Reach)).cloned().unwrap_or_default(),
            title: self.text(FilterField::Title).to_owned(),
            author: self.text(FilterField::Author).to_owned(),
            text: self.text(FilterField::Text).to_owned(),
            until: match as_before {
                Some(until) => Some(until),
                None => read_until(until, now, engine.zone)?,
            },
        };
        rule.check().map_err(|flaw| flaw.to_string())?;
        Ok(rule)
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
        self.show_label();
    }

    /// The right arrow in an empty line takes what the entry has there.
    pub(in crate::ui) fn take_offer(&mut self) -> bool {
        let Some(row) = self.rows.get_mut(self.selected) else { return false };
        let (EditValue::Line(prompt), Some(offered)) = (&mut row.value, &row.offered) else {
            return false;
        };
        let empty = prompt.text.is_empty();
        if empty {
            prompt.insert(offered);
        }
        empty
    }
}

pub(in crate::ui) fn line(
    field: FilterField,
    text: &str,
    hint: &str,
    offered: Option<String>,
) -> RuleRow {
    let mut prompt = Prompt::new(PromptPurpose::Condition);
    prompt.insert(text);
    let offer = offered.as_ref().map(|offered| format!("; → takes '{offered}'"));
    let hint = format!("{hint}{}", offer.unwrap_or_default());
    RuleRow { field, value: EditValue::Line(prompt), hint, offered }
}

/// What the line of feeds offers: the feed of the entry, its tags, the rule's own, all feeds, all tags.
pub(in crate::ui) fn reaches(
    engine: &Engine,
    rule: &EntryFilter,
    feed: Option<FeedKey>,
) -> Vec<FilterScope> {
    let mut reaches: Vec<FilterScope> = feed.map(FilterScope::Feed).into_iter().collect();
    let tags_of = |feed: &FeedKey| engine.feeds.get(feed).map(|feed| feed.record.tags.clone());
    let own = feed.as_ref().and_then(tags_of).unwrap_or_default();
    let all = engine.feeds.keys().filter_map(tags_of).flatten();
    reaches.push(FilterScope::Everywhere);
    reaches.extend(own.into_iter().chain(all).map(FilterScope::Tag));
    if feed.is_none() {
        reaches.extend(engine.feeds.keys().copied().map(FilterScope::Feed));
    }
    reaches.push(rule.scope.clone());
    let mut each_once: Vec<FilterScope> = Vec::new();
    for reach in reaches {
        if !each_once.contains(&reach) {
            each_once.push(reach);
        }
    }
    each_once
}

pub(in crate::ui) fn reach_words(engine: &Engine, reach: &FilterScope) -> String {
    match reach {
        FilterScope::Everywhere => "all feeds".into(),
        FilterScope::Tag(tag) => format!("feeds with the tag {tag}"),
        FilterScope::Feed(feed) => {
            let title = engine.feeds.get(feed).map(|feed| feed.record.shown_title());
            format!("'{}'", title.unwrap_or("a feed given up"))
        }
    }
}
