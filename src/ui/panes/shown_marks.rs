//! Updates flags, such as read and starred, of the rows in memory and of the open entry.

use std::collections::BTreeSet;

use crate::engine::change::MarkChange;
use crate::engine::event::MarksChanged;
use crate::ui::app::App;
use backissue_core::history::{EntryKey, Flag};

/// Applies changed flags to the rows in memory and to the open entry.
pub fn show_marks(app: &mut App, changed: &MarksChanged) {
    let &MarksChanged { mark: MarkChange { ref keys, flag, value }, stays, undone } = changed;
    let wanted: BTreeSet<&EntryKey> = keys.iter().collect();
    let list = &mut app.ui.list;
    // Rows that were requested before may arrive with the flags of before.
    if list.waiting {
        (list.stale, list.is_due) = (true, true);
    }
    for row in &mut list.rows {
        if let Some(key) = row.key.entry().filter(|key| wanted.contains(key)) {
            row.flags = row.flags.with(flag, value);
            if stays {
                list.keep.insert(key);
            }
        }
        for (_, flags) in row.also.iter_mut().filter(|(key, _)| wanted.contains(key)) {
            *flags = flags.with(flag, value);
        }
    }
    if !stays {
        for key in keys {
            list.keep.remove(key);
        }
    }
    if undone && flag == Flag::Opened {
        list.opened = if value {
            list.opened.saturating_add(keys.len())
        } else {
            list.opened.saturating_sub(keys.len())
        };
    }
    if let Some(reader) = &mut app.ui.reader
        && wanted.contains(&reader.entry.key)
    {
        reader.entry.flags = reader.entry.flags.with(flag, value);
    }
}
