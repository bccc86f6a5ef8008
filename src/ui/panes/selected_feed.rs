//! Finds the feed that a key applies to.

use chrono::{DateTime, Utc};

use super::attention;
use crate::engine::feeds::subscription::Subscription;
use crate::ui::app::App;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use backissue_core::history::FeedKey;

/// Returns the feed that a key applies to. In the plan pane or the timetable, this is the feed of the open plan or of the selected
/// poll. Otherwise, it is the feed of the selected problem in the Attention list, of the selected entry, or of the selected row in
/// the subscriptions pane.
pub fn selected_feed(app: &App, now: DateTime<Utc>) -> Option<FeedKey> {
    if let Some(overlay) = app.ui.overlay.as_ref().filter(|overlay| overlay.is_about_feeds()) {
        return overlay.feed();
    }
    if attention::is_open(app) {
        return attention::selected_concern(app, now).map(|concern| concern.feed);
    }
    if let Some(row) = app.ui.list.selected_row().filter(|_| app.ui.focus != Pane::Feeds) {
        return Some(row.key.feed());
    }
    app.ui.feeds.selected_row().and_then(FeedsRow::feed)
}

/// Returns the feed that a key applies to (see [`selected_feed`]), with its subscription.
pub fn selected_subscription(app: &App, now: DateTime<Utc>) -> Option<(FeedKey, &Subscription)> {
    let feed = selected_feed(app, now)?;
    Some((feed, app.engine.feeds.get(&feed)?))
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::selected_feed::*;
    use crate::ui::sample_app::{app_with, fill_list, noon, select};
    use crate::ui::state::overlay::{Overlay, TimetablePane};

    #[test]
    fn keys_act_on_the_feed_of_the_focused_pane() {
        let mut app = app_with(&[("Orchard", &[]), ("Tower", &[])]);
        assert_eq!(selected_feed(&app, noon()), None, "all unread entries are no feed");
        select(&mut app, &FeedsRow::Feed(FeedKey(2), 0));
        assert_eq!(selected_feed(&app, noon()), Some(FeedKey(2)));
        fill_list(&mut app, 1);
        assert_eq!(selected_feed(&app, noon()), Some(FeedKey(2)));
        app.ui.focus = Pane::Entries;
        assert_eq!(selected_feed(&app, noon()), Some(FeedKey(1)), "the feed of the entry");
    }

    #[test]
    fn timetable_has_precedence_even_without_a_feed() {
        let mut app = app_with(&[("Orchard", &[]), ("Tower", &[])]);
        select(&mut app, &FeedsRow::Feed(FeedKey(2), 0));
        let mut pane = TimetablePane { feed: Some(FeedKey(1)), ..TimetablePane::default() };
        app.ui.lay_over(Overlay::Timetable(pane));
        assert_eq!(selected_feed(&app, noon()), Some(FeedKey(1)));
        pane.feed = None;
        app.ui.lay_over(Overlay::Timetable(pane));
        assert_eq!(selected_feed(&app, noon()), None);
        app.ui.overlay = None;
        assert_eq!(selected_feed(&app, noon()), Some(FeedKey(2)));
    }
}
