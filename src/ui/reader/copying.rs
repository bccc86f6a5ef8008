//! Copies the link of the selected entry, or the address of the selected feed, to the clipboard.

use chrono::{DateTime, Utc};

use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::panes::{attention, selected_feed};
use crate::ui::state::layout::Pane;
use backissue_core::feed::text::one_line;

/// Maximum number of bytes to copy to the clipboard. Terminals reject longer texts.
const COPIED_MAX: usize = 8 * 1024;
/// Maximum width of the copied link in the status line, in cells.
const TOLD_CELLS: usize = 200;

/// Copies the address of the selected feed if the subscriptions pane has the focus or the Attention list is open. Otherwise, copies
/// the link of the selected entry.
pub fn copy_link(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let of_feed = app.ui.focus == Pane::Feeds || attention::is_open(app);
    let link = if of_feed {
        let selected = selected_feed::selected_subscription(app, now);
        selected.map(|(_, subscription)| subscription.record.url.clone())
    } else {
        let link = app.ui.list.selected_row().and_then(|row| row.link.as_deref());
        link.map(|link| app.ui.settings.link(link).into_owned())
    };
    let what = if of_feed { "copied the feed's address" } else { "copied" };
    copy(app, now, what, &link.unwrap_or_default())
}

/// Copies a link, and then says so with the given words.
pub fn copy(app: &mut App, now: DateTime<Utc>, what: &str, link: &str) -> Vec<ScreenEffect> {
    let link = clean_link(link);
    if link.is_empty() || link.len() > COPIED_MAX {
        return app.ui.say_only(now, "there is no link to copy here");
    }
    let told = format!("{what}: {}", one_line(&link, TOLD_CELLS));
    vec![ScreenEffect::Copy { text: link, told }]
}

/// Removes white space and control characters from a link. A terminal, or a program that the link is pasted into, could interpret
/// them as commands.
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
