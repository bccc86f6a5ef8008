//! Copying the link of what is selected to the clipboard.

use chrono::{DateTime, Utc};

use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::panes::{attention, selected_feed};
use crate::ui::state::layout::Pane;
use backissue_core::feed::text::one_line;

/// Bytes of a text that is copied at most: terminals refuse long ones.
const COPIED_MAX: usize = 8 * 1024;
/// Cells of it that the status line repeats.
const TOLD_CELLS: usize = 200;

/// Copies the address of the selected feed, also of one that needs attention, or the link of the entry that is selected or read.
pub fn copy_link(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let of_feed = app.ui.focus == Pane::Feeds || attention::is_open(app);
    let link = if of_feed {
        let selected = selected_feed::selected_subscription(app, now);
        selected.map(|(_, subscription)| subscription.record.url.clone())
    } else {
        app.ui.list.selected_row().and_then(|row| row.link.clone())
    };
    let link = link.map(|link| clean_link(&link)).filter(|link| !link.is_empty());
    let Some(link) = link.filter(|link| link.len() <= COPIED_MAX) else {
        app.ui.say(now, "there is no link to copy here");
        return Vec::new();
    };
    let what = if of_feed { "copied the feed's address" } else { "copied" };
    app.ui.say(now, format!("{what}: {}", one_line(&link, TOLD_CELLS)));
    vec![ScreenEffect::Copy(link)]
}

/// What a terminal, or whoever pastes it, could take for a command is left out.
fn clean_link(link: &str) -> String {
    link.chars().filter(|char| !char.is_control() && !char.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use crate::ui::reader::copying::*;

    #[test]
    fn a_link_is_copied_without_controls_and_line_ends() {
        assert_eq!(
            clean_link("https://a.example/\u{1b}]52;\u{7}x\n rm"),
            "https://a.example/]52;xrm"
        );
    }
}
