//! The edit dialog: handles keys in the form for a feed's settings, and saves the settings.

use chrono::{DateTime, Utc};

use super::edit_form::EditForm;
use super::feed_choice;
use super::form::FormOutcome;
use crate::engine::feeds::setting_row::FeedSettingRow;
use crate::engine::feeds::setting_table::form_lines;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::Key;
use crate::ui::panes::selected_feed;
use crate::ui::state::overlay::Overlay;

/// Opens the edit form for the selected feed.
pub fn open_form(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some((feed, subscription)) = selected_feed::selected_subscription(app, now) else {
        return app.ui.say_only(now, "select a feed first: {edit} edits one feed");
    };
    let edited = EditForm::new(
        feed,
        &subscription.record,
        &app.engine.settings,
        learn::zone_of(app.engine.zone),
    );
    app.ui.lay_over(Overlay::Edit(Box::new(edited)));
    Vec::new()
}

/// Handles a key in the edit form.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Edit(edited)) = &mut app.ui.overlay else { return Vec::new() };
    match edited.form.press(key) {
        FormOutcome::Open => {}
        FormOutcome::GiveUp => app.ui.uncover(),
        FormOutcome::Save => return save_form(app, now),
    }
    Vec::new()
}

/// Inserts pasted text into the edit form.
pub fn paste_text(app: &mut App, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Edit(edited)) = &mut app.ui.overlay {
        edited.form.paste(text);
    }
    Vec::new()
}

/// Selects the clicked input line.
pub fn click_line(app: &mut App, line: usize) -> Vec<ScreenEffect> {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Edit(edited)) = &mut app.ui.overlay {
        edited.form.click(place);
    }
    Vec::new()
}

/// Saves the edited settings, unless an input line contains an invalid value. A new address is requested before it is used.
fn save_form(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Edit(edited)) = &app.ui.overlay else { return Vec::new() };
    let (feed, chosen) = (edited.feed, edited.chosen());
    let address = edited.new_address().map(str::to_owned);
    let unchanged = chosen.as_ref().is_ok_and(|chosen| *chosen == edited.before);
    let changed = match chosen {
        Err(wrong) => Err(wrong),
        Ok(chosen) => {
            let is_min = |(setting, _): &(&FeedSettingRow, _)| setting.name == "min";
            let place =
                form_lines().iter().position(is_min).map_or(0, |line| line.saturating_add(1));
            app.try_ask(now, Request::Set(feed, Box::new(chosen)))
                .map_err(|why| (place, why.into()))
        }
    };
    match changed {
        Ok(mut effects) => {
            app.ui.uncover();
            if let Some(address) = address {
                effects.extend(feed_choice::move_to(app, now, feed, address));
                return effects;
            }
            let title = app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
            let text = if unchanged {
                "nothing was changed".to_owned()
            } else {
                format!("'{title}' was changed{}", app.ui.settings.keys.undo_hint())
            };
            app.ui.say(now, text);
            effects
        }
        Err((place, why)) => {
            if let Some(Overlay::Edit(edited)) = &mut app.ui.overlay {
                (edited.form.selected, edited.form.problem) = (place, Some(why));
            }
            Vec::new()
        }
    }
}
