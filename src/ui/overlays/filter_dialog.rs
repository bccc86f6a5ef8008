//! The dialog of a rule: proposed from an entry, changed line by line, with a preview of what it hits.

use chrono::{DateTime, Utc};

use super::edit_dialog::EditValue;
use super::filter_list;
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::entries::entry_filters::FilterPreview;
use crate::engine::request::Request;
use crate::engine::wording::telling;
use crate::filters::{Action, EntryFilter, FilterScope, read_until, until_text};
use crate::history::{EntryKey, FeedKey};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// The form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterForm {
    /// The rule as it was opened; number 0: a new one.
    before: EntryFilter,
    /// The lines, in order.
    pub rows: Vec<RuleRow>,
    /// Place of the line that takes the keys.
    pub selected: usize,
    /// Why it cannot be saved, as a sentence.
    pub problem: Option<String>,
    /// What it would hit; `None`: that is being looked for.
    pub preview: Option<FilterPreview>,
    /// The number of the preview that was asked for last.
    asked: u64,
    /// The rule it was asked for.
    asked_for: Option<EntryFilter>,
    /// What the line of feeds offers.
    reaches: Vec<FilterScope>,
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

const ACTIONS: [&str; 4] = ["hide them", "mark them read", "star them", "label them"];

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
struct Offer {
    feed: Option<FeedKey>,
    title: String,
    author: Option<String>,
}

impl FilterForm {
    fn new(app: &App, rule: EntryFilter, offer: &Offer) -> Self {
        let reaches = reaches(app, &rule, offer.feed);
        let names = reaches.iter().map(|reach| reach_words(app, reach)).collect();
        let chosen = reaches.iter().position(|reach| *reach == rule.scope).unwrap_or(0);
        let action = match rule.action {
            Action::Hide => 0,
            Action::Read => 1,
            Action::Star => 2,
            Action::Label(_) => 3,
        };
        let until = rule.until.map(|until| until_text(until, app.engine.zone)).unwrap_or_default();
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
    fn show_label(&mut self) {
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

    fn text(&self, field: FilterField) -> &str {
        let row = self.rows.iter().find(|row| row.field == field);
        match row.map(|row| &row.value) {
            Some(EditValue::Line(prompt)) => prompt.text.trim(),
            Some(EditValue::Choice { .. }) | None => "",
        }
    }

    fn chosen(&self, field: FilterField) -> usize {
        let row = self.rows.iter().find(|row| row.field == field);
        match row.map(|row| &row.value) {
            Some(EditValue::Choice { chosen, .. }) => *chosen,
            Some(EditValue::Line(_)) | None => 0,
        }
    }

    /// The rule that the form says, or why it is none.
    fn rule(&self, app: &App, now: DateTime<Utc>) -> Result<EntryFilter, String> {
        let until = self.text(FilterField::Until);
        let as_before = self.before.until.filter(|at| until_text(*at, app.engine.zone) == until);
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
                None => read_until(until, now, app.engine.zone)?,
            },
        };
        rule.check().map_err(|flaw| flaw.to_string())?;
        Ok(rule)
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
        self.show_label();
    }

    /// The right arrow in an empty line takes what the entry has there.
    fn take_offer(&mut self) -> bool {
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

fn line(field: FilterField, text: &str, hint: &str, offered: Option<String>) -> RuleRow {
    let mut prompt = Prompt::new(PromptPurpose::Condition);
    prompt.insert(text);
    let offer = offered.as_ref().map(|offered| format!("; → takes '{offered}'"));
    let hint = format!("{hint}{}", offer.unwrap_or_default());
    RuleRow { field, value: EditValue::Line(prompt), hint, offered }
}

/// What the line of feeds offers: the feed of the entry, its tags, the rule's own, all feeds, all tags.
fn reaches(app: &App, rule: &EntryFilter, feed: Option<FeedKey>) -> Vec<FilterScope> {
    let mut reaches: Vec<FilterScope> = feed.map(FilterScope::Feed).into_iter().collect();
    let tags_of = |feed: &FeedKey| app.engine.feeds.get(feed).map(|feed| feed.record.tags.clone());
    let own = feed.as_ref().and_then(tags_of).unwrap_or_default();
    let all = app.engine.feeds.keys().filter_map(tags_of).flatten();
    reaches.push(FilterScope::Everywhere);
    reaches.extend(own.into_iter().chain(all).map(FilterScope::Tag));
    if feed.is_none() {
        reaches.extend(app.engine.feeds.keys().copied().map(FilterScope::Feed));
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

fn reach_words(app: &App, reach: &FilterScope) -> String {
    match reach {
        FilterScope::Everywhere => "all feeds".into(),
        FilterScope::Tag(tag) => format!("feeds with the tag {tag}"),
        FilterScope::Feed(feed) => {
            let title = app.engine.feeds.get(feed).map(|feed| feed.record.shown_title());
            format!("'{}'", title.unwrap_or("a feed given up"))
        }
    }
}

/// What `m` does: the dialog of a rule made from the selected entry, or in the subscriptions pane the list of rules.
pub fn mute(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.focus == Pane::Feeds {
        return filter_list::open(app, now);
    }
    let Some(row) = app.ui.list.selected_row() else {
        return filter_list::open(app, now);
    };
    let Some(EntryKey { feed, .. }) = row.key.entry() else {
        app.ui.say(now, "a filter is made from an entry: select one");
        return Vec::new();
    };
    // Of a hidden entry the rule is opened that hides it.
    let hides =
        |id: &&u32| app.engine.filters.get(**id).is_some_and(|rule| rule.action == Action::Hide);
    if let Some(id) = row.ruled.iter().find(hides).copied().filter(|_| row.flags.is_hidden()) {
        return edit(app, now, id);
    }
    let opened = app.ui.reader.as_ref().map(|reader| &reader.entry);
    let opened = opened.filter(|entry| row.key.entry() == Some(entry.key));
    let author = opened.and_then(|entry| entry.kept.author.clone()).or_else(|| row.author.clone());
    let title = telling(&row.title);
    let rule = EntryFilter {
        scope: FilterScope::Feed(feed),
        title: title.clone(),
        ..EntryFilter::default()
    };
    show(app, now, rule, &Offer { feed: Some(feed), title, author })
}

/// The dialog of a rule that there is.
pub fn edit(app: &mut App, now: DateTime<Utc>, id: u32) -> Vec<ScreenEffect> {
    let Some(rule) = app.engine.filters.get(id).cloned() else { return Vec::new() };
    show(app, now, rule, &Offer::default())
}

/// The dialog of a rule from nothing.
pub fn create(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    show(app, now, EntryFilter::default(), &Offer::default())
}

fn show(app: &mut App, now: DateTime<Utc>, rule: EntryFilter, offer: &Offer) -> Vec<ScreenEffect> {
    let form = FilterForm::new(app, rule, offer);
    app.ui.lay_over(Overlay::FilterDialog(Box::new(form)));
    preview(app, now)
}

/// A key in the form.
pub fn pressed(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::FilterDialog(form)) = &mut app.ui.overlay else { return Vec::new() };
    let typing = form.line_mut().is_some();
    match key.code {
        Code::Up | Code::BackTab => form.walk(false),
        Code::Down | Code::Tab => form.walk(true),
        Code::Left if !typing => form.turn(false),
        Code::Right | Code::Char(' ') if !typing => form.turn(true),
        Code::Right if form.take_offer() => {}
        Code::Esc => app.ui.uncover(),
        Code::Char('c') if key.ctrl => app.ui.uncover(),
        Code::Enter => return save(app, now),
        Code::Char(_)
        | Code::Backspace
        | Code::Delete
        | Code::Left
        | Code::Right
        | Code::PageUp
        | Code::PageDown
        | Code::Home
        | Code::End
        | Code::Insert
        | Code::Alt(_)
        | Code::Function(_) => {
            form.line_mut().map(|prompt| prompt.key(key));
        }
    }
    preview(app, now)
}

/// Text was pasted into the form.
pub fn pasted(app: &mut App, now: DateTime<Utc>, text: &str) -> Vec<ScreenEffect> {
    let Some(Overlay::FilterDialog(form)) = &mut app.ui.overlay else { return Vec::new() };
    if let Some(prompt) = form.line_mut() {
        prompt.insert(text);
    }
    preview(app, now)
}

/// A click on a line selects it.
pub fn clicked(app: &mut App, _: DateTime<Utc>, line: usize) -> Vec<ScreenEffect> {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::FilterDialog(form)) = &mut app.ui.overlay
        && place < form.rows.len()
    {
        form.selected = place;
    }
    Vec::new()
}

fn save(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::FilterDialog(form)) = &app.ui.overlay else { return Vec::new() };
    let rule = form.rule(app, now);
    let saved = rule.and_then(|rule| app.try_ask(now, Request::SaveFilter(Box::new(rule))));
    match saved {
        Ok(effects) => {
            app.ui.uncover();
            effects
        }
        Err(why) => {
            if let Some(Overlay::FilterDialog(form)) = &mut app.ui.overlay {
                form.problem = Some(why);
            }
            Vec::new()
        }
    }
}

/// Asks what the rule would hit, if the form says another one than before.
fn preview(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::FilterDialog(form)) = &app.ui.overlay else { return Vec::new() };
    let read = form.rule(app, now);
    let number = app.ui.filter_previews.saturating_add(1);
    let Some(Overlay::FilterDialog(form)) = &mut app.ui.overlay else { return Vec::new() };
    match read {
        Err(why) => {
            (form.problem, form.preview, form.asked_for) = (Some(why), None, None);
            Vec::new()
        }
        Ok(rule) => {
            form.problem = None;
            if form.asked_for.as_ref() == Some(&rule) {
                return Vec::new();
            }
            form.asked = number;
            form.asked_for = Some(rule.clone());
            app.ui.filter_previews = number;
            vec![ScreenEffect::PreviewFilter(number, Box::new(rule))]
        }
    }
}

/// What it would hit is known.
pub fn previewed(app: &mut App, number: u64, preview: &FilterPreview) {
    let covered = app.ui.overlay.iter_mut().chain(&mut app.ui.beneath);
    for overlay in covered {
        if let Overlay::FilterDialog(form) = overlay
            && form.asked == number
        {
            form.preview = Some(preview.clone());
        }
    }
}
