//! The edit dialog: the keys of the form in which the reader edits a feed, and saving it.

use chrono::{DateTime, Utc};

use super::edit_form::EditForm;
use super::prompt::Typed;
use crate::engine::feeds::setting_row::{FeedSettingRow, form_lines};
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::panes::selected_feed;
use crate::ui::state::overlay::Overlay;

/// Opens the form of the selected feed.
pub fn open(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let selected = selected_feed::selected_feed(app, now);
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
pub fn clicked(app: &mut App, line: usize) -> Vec<ScreenEffect> {
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
