//! Imports subscriptions from a file and exports subscriptions to a file.

use chrono::{DateTime, Utc};

use super::poll_answers;
use crate::engine::feeds::export::subscriptions_text;
use crate::engine::request::Request;
use crate::engine::save_searches::with_new;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::imported_list::ImportedList;
use backissue_core::feed::text::counted_words;

/// Maximum number of rejected lines of an imported file that the message names. Further rejected lines are only counted.
const REFUSED_NAMED: usize = 3;

/// Requests the import of the subscription list in the file at `path`.
pub fn import_file(app: &mut App, now: DateTime<Utc>, path: &str) -> Vec<ScreenEffect> {
    app.ask(now, Request::ImportFile(path.trim().to_owned()))
}

/// Requests the export of the subscriptions to a file.
pub fn export_list(app: &App, path: &str) -> Vec<ScreenEffect> {
    let text = subscriptions_text(app.engine.feeds.values().map(|feed| &feed.record));
    vec![ScreenEffect::Export { path: path.trim().to_owned(), text }]
}

/// Subscribes to every feed in an imported list. The results of the first polls of these feeds are reported together when the last
/// poll ends.
pub fn import_list(app: &mut App, now: DateTime<Utc>, list: ImportedList) -> Vec<ScreenEffect> {
    let ImportedList { wanted, searches, mut refused } = list;
    app.engine.imported = None;
    let mut effects = app.ask(now, Request::Import(wanted));
    let before = app.engine.saved_searches.len();
    let list = with_new(&app.engine.saved_searches, searches);
    let saved = match list.len().saturating_sub(before) {
        0 => String::new(),
        saved => {
            effects.extend(app.ask(now, Request::SaveSearches(list)));
            format!(", {} saved", counted_words(saved, "search", "searches"))
        }
    };
    let imported = app.engine.imported.clone().unwrap_or_default();
    refused.extend(imported.bad.iter().map(|(address, why)| format!("{address}: {why}")));
    let known = match imported.known.len() {
        0 => String::new(),
        known => format!(", {known} already subscribed"),
    };
    let mut named: Vec<String> = refused.iter().take(REFUSED_NAMED).cloned().collect();
    let more = refused.len().saturating_sub(named.len());
    if more > 0 {
        named.push(format!("and {more} more ('backissue import' lists all)"));
    }
    let left_out = if named.is_empty() {
        String::new()
    } else {
        format!(" · left out: {}", named.join("; "))
    };
    let said = format!("{} added{known}{saved}{left_out}", imported.added.len());
    let is_changed = !imported.added.is_empty() || !saved.is_empty();
    let undo = if is_changed { app.ui.settings.keys.undo_hint() } else { String::new() };
    if app.engine.is_polling_by_itself() && !app.engine.offline {
        poll_answers::wait_for_import(app, imported.added.into_iter().collect(), &said);
    }
    app.ui.answer(now, format!("{said}{undo}"));
    effects
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addition::Subscribe;
    use crate::ui::actions::lists::*;
    use crate::ui::sample_app::{app_with, noon};

    #[test]
    fn list_is_imported_and_rejected_lines_are_named() {
        let mut app = app_with(&[("Orchard", &[])]);
        let wanted = |address: &str| Subscribe { address: address.into(), ..Subscribe::default() };
        let list = ImportedList {
            wanted: vec![wanted("https://a.example/f"), wanted("https://feed1.example/")],
            searches: vec![("Cold".into(), "frost".into())],
            refused: (1..=5).map(|line| format!("line {line}: no address")).collect(),
        };
        import_list(&mut app, noon(), list);
        assert_eq!(
            app.ui.notice.map(|notice| notice.text).as_deref(),
            Some(
                "1 added, 1 already subscribed, 1 search saved · left out: line 1: no address; line 2: no address; \
                 line 3: no address; and 2 more ('backissue import' lists all) · u undo"
            )
        );
        assert_eq!(app.engine.saved_searches[0].text, "frost");
        assert_eq!(app.ui.asked_polls.len(), 1, "its first poll is waited for");
    }
}
