//! The dialog of a rule: proposed from an entry, changed line by line, with a preview of what it hits.

use chrono::{DateTime, Utc};

use super::filter_form::{FilterForm, Offer};
use crate::engine::entries::entry_filters::FilterPreview;
use crate::engine::request::Request;
use crate::engine::wording::telling;
use crate::filters::{Action, EntryFilter, FilterScope};
use crate::history::EntryKey;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::state::overlay::Overlay;

/// Proposes a filter made from the selected entry.
pub fn propose(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(row) = app.ui.list.selected_row() else { return Vec::new() };
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
    let form = FilterForm::new(&app.engine, rule, offer);
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
pub fn clicked(app: &mut App, line: usize) -> Vec<ScreenEffect> {
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
    let rule = form.rule(&app.engine, now);
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
    let read = form.rule(&app.engine, now);
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
