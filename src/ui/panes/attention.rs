//! The Attention list: feeds with problems, each with the reason and a remedy that takes one key press (UX 2). The module also
//! determines the feed that a key applies to, in any list.

use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble::{self, Concern, Remedy, concerns};
use crate::engine::feeds::unsubscribe;
use crate::engine::request::{Request, TroubleAnswer};
use crate::ui::app::{App, Cx};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, Overlay};

/// Number of screen lines for each problem: the title, and the beginning of the reason. The selected one has more.
pub const ROW_LINES: usize = 2;

/// Checks whether the Attention list is open.
pub fn is_open(app: &App) -> bool {
    app.ui.search.is_none() && matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Attention))
}

/// Returns the index of the problem at a visible line of the list, and whether the line names the remedy of the selected
/// problem.
pub fn problem_at(app: &App, line: usize) -> (usize, bool) {
    let viewport = app.ui.viewport;
    let [top, extra] = [viewport.attention_top, viewport.attention_extra].map(usize::from);
    let above = app.ui.attention.selected.saturating_sub(top).saturating_mul(ROW_LINES);
    let end = above.saturating_add(ROW_LINES).saturating_add(extra);
    if (above..end).contains(&line) {
        return (app.ui.attention.selected, line.saturating_add(1) == end);
    }
    let line = if line < end { line } else { line.saturating_sub(extra) };
    (top.saturating_add(line / ROW_LINES), false)
}

/// Returns the selected problem. Returns `None` if the Attention list is not open or the subscriptions pane has the focus.
pub fn selected_concern(app: &App, now: DateTime<Utc>) -> Option<Concern> {
    if !is_open(app) || app.ui.focus == Pane::Feeds {
        return None;
    }
    let mut list = concerns(&app.engine, now);
    let place = app.ui.attention.selected.min(list.len().checked_sub(1)?);
    Some(list.swap_remove(place))
}

/// Applies the remedy that is suggested for the selected problem.
pub fn apply_remedy(cx: &mut Cx<'_>) {
    let Some(concern) = selected_concern(cx.app, cx.now) else { return };
    match (concern.account, concern.remedy) {
        (Some(name), Remedy::Answer) => {
            ask_about_account(cx.app, &name);
        }
        (Some(device), Remedy::AnswerDevice) => {
            let what = unsubscribe::removals_held(&cx.app.engine, &device);
            let text = what.map(|what| format!("The device '{device}' asks: {what}? y/n"));
            cx.app.ui.overlay = text
                .map(|text| Overlay::Question(AskedQuestion { text, asks: Asks::Device(device) }));
        }
        (Some(_), _) => cx.ask(Request::SyncAccounts),
        (None, remedy) => cx.ask(Request::Trouble(concern.feed, trouble::answer(remedy))),
    }
}

/// Asks the user the question for whose answer an account waits.
fn ask_about_account(app: &mut App, name: &str) {
    let Some(account) = app.engine.accounts.iter().find(|account| account.name == name) else {
        return;
    };
    let Some(what) = account.waits.words() else { return };
    let text = format!("'{name}': {what}? y yes, n take what the server has, Esc later");
    let asks = Asks::Account(name.to_owned(), account.waits.feeds.clone());
    app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks }));
}

/// Dismisses the selected problem, so that it is no longer listed.
pub fn note_trouble(cx: &mut Cx<'_>) {
    let Some(concern) = selected_concern(cx.app, cx.now) else { return };
    if concern.account.is_some() {
        let why = if concern.remedy == Remedy::AnswerDevice {
            "a device is listed until you answer"
        } else {
            "an account is listed until its sync succeeds and nothing waits"
        };
        return cx.say(why);
    }
    cx.ask(Request::Trouble(concern.feed, TroubleAnswer::Note));
}

/// Returns the feed that a key applies to. In the plan pane or the timetable, this is the feed of the open plan or of the selected
/// poll. Otherwise, it is the feed of the selected problem in the Attention list, of the selected entry, or of the selected row in
/// the subscriptions pane.
pub fn selected_feed(app: &App, now: DateTime<Utc>) -> Option<FeedKey> {
    if let Some(overlay) = app.ui.overlay.as_ref().filter(|overlay| overlay.is_about_feeds()) {
        return overlay.feed();
    }
    if is_open(app) {
        return selected_concern(app, now).map(|concern| concern.feed);
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
    use crate::ui::panes::attention::*;
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
