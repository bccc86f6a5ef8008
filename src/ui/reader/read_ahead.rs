//! Reads the entries that the user is likely to open next from the store, so that they appear as soon as a key is pressed.

use crate::engine::entries::rows::SeekTarget;
use crate::engine::request::ScreenRequest;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use backissue_core::history::EntryKey;

/// Requests the entries that the user is likely to open after the open one, and drops all other entries read in advance.
pub fn ask_ahead(app: &mut App, sought: SeekTarget) -> Vec<ScreenEffect> {
    let list = &app.ui.list;
    let rows = || {
        let behind = list.selected.saturating_add(1)..;
        behind.map_while(|place| list.row(place)).filter_map(|row| Some((row.key.entry()?, row)))
    };
    let unread = rows().find(|(_, row)| sought.takes(row.flags));
    let mut wanted: Vec<EntryKey> =
        rows().next().into_iter().chain(unread).map(|(key, _)| key).collect();
    wanted.dedup();
    let ahead = &mut app.ui.ahead.entries;
    ahead.retain(|(key, _)| wanted.contains(key));
    wanted.retain(|wanted| ahead.iter().all(|(key, _)| key != wanted));
    ahead.extend(wanted.iter().map(|key| (*key, None)));
    wanted.into_iter().map(|key| ask_store(ScreenRequest::Entry(key))).collect()
}
