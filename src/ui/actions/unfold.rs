//! Shows entries that share a row in rows of their own, and remembers that they are not the same story.

use backissue_core::history::EntryKey;

use crate::engine::store_work::Job;
use crate::ui::app::Cx;
use crate::ui::effect::ask_store;
use crate::ui::panes::load_rows;

/// Unfolds the selected row. If the row was already unfolded, its entries never share a row again because of a link to the same
/// page. A third call undoes the second one.
pub fn unfold(cx: &mut Cx<'_>) {
    let row = cx.app.ui.list.selected_row();
    let Some((row, key)) = row.and_then(|row| Some((row, row.key.entry()?))) else {
        return;
    };
    let fold = row.inside.clone();
    if !fold.entries.is_empty() {
        let entries: Vec<EntryKey> = fold.entries.into_iter().chain([key]).collect();
        let again = cx.app.ui.words("{unfold} again: not the same story");
        cx.say(format!("{} rows; {again}", entries.len()));
        for entry in entries {
            cx.app.ui.list.unfolded.entry(entry).or_default().extend(&fold.links);
        }
        return load_rows::refresh_list(cx);
    }
    let Some(links) = cx.app.ui.list.unfolded.get(&key).cloned() else {
        return cx.say("no other entry that links to the same page shares this row");
    };
    let is_back = !cx.app.ui.list.noted_apart.insert(key);
    if is_back {
        cx.app.ui.list.noted_apart.remove(&key);
        cx.app.ui.list.unfolded.retain(|_, other| *other != links);
    }
    let again = cx.app.ui.words("{unfold} again takes it back");
    cx.say(if is_back {
        "they share a row again".to_owned()
    } else {
        format!("noted: not the same story · {again}")
    });
    cx.out.push(ask_store(Job::KeepApart(links)));
    if is_back {
        load_rows::refresh_list(cx);
    }
}
