//! Saves entries as a Markdown file.

use chrono::{DateTime, Utc};

use super::labels::chosen_entries;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};

/// Opens the input line for the path of the file.
pub fn ask_path(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if chosen_entries(app).is_empty() {
        app.ui.say(now, "select an entry first, then save it");
    } else {
        app.ui.open_prompt(Prompt::new(PromptPurpose::Save));
    }
    Vec::new()
}

/// Requests to write the marked entries or, if none is marked, the selected one to the file at `path`. The marks stay, because the file may be refused.
pub fn save(app: &mut App, now: DateTime<Utc>, path: &str) -> Vec<ScreenEffect> {
    let keys = chosen_entries(app);
    if keys.is_empty() || path.trim().is_empty() {
        return app.ui.say_only(now, "select an entry first, then save it");
    }
    let entries = keys.into_iter().map(|key| (key, app.engine.feed_of_entry(key.feed)));
    let entries = entries.collect();
    vec![ScreenEffect::SaveEntries { path: path.trim().to_owned(), entries }]
}
