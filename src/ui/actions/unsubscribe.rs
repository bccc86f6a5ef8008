//! Unsubscribing by a key: where more than an empty feed may be lost by accident, the reader is asked first.

use chrono::{DateTime, Utc};

use crate::engine::request::Request;
use crate::history::FeedKey;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::outcome::KeyOutcome;
use crate::ui::panes::attention;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Overlay, Question};

/// Unsubscribes from the selected feed. Asks first if the feed is not what has the keys, or has entries that are unread or
/// starred.
pub fn unsubscribe_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let concerned = || attention::selected_concern(app, now).map(|concern| concern.feed);
    let selected = app.ui.feeds.selected_row().and_then(FeedsRow::feed);
    let Some(feed) = selected.or_else(concerned) else {
        app.ui.say(now, "select the feed to unsubscribe from");
        return Vec::new();
    };
    let Some(subscription) = app.engine.feeds.get(&feed) else { return Vec::new() };
    let counters = subscription.counters;
    let has_keys = app.ui.focus == Pane::Feeds || attention::is_open(app);
    if has_keys && counters.unread == 0 && counters.starred == 0 {
        return app.ask(now, Request::Unsubscribe(feed));
    }
    let title = subscription.record.shown_title();
    let counts = [
        Some(counted(counters.total, "entry", "entries")),
        (counters.unread > 0).then(|| format!("{} unread", counters.unread)),
        (counters.starred > 0).then(|| format!("{} starred", counters.starred)),
    ];
    let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = format!("Unsubscribe from '{title}' ({counts})? y/n");
    app.ui.lay_over(Overlay::Question(Question { text, unsubscribes: vec![feed] }));
    Vec::new()
}

fn counted(count: u32, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

/// A key while the question is asked: y does it, n and Esc do not, any other key does nothing.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Question(question)) = &app.ui.overlay else { return KeyOutcome::Passed };
    match key {
        Key { code: Code::Char('c'), ctrl: true } => return KeyOutcome::Passed,
        Key { code: Code::Char('y' | 'Y'), ctrl: false } => {
            let feeds: Vec<FeedKey> = question.unsubscribes.clone();
            app.ui.uncover();
            let effects = feeds.into_iter().map(|feed| app.ask(now, Request::Unsubscribe(feed)));
            return KeyOutcome::Done(effects.flatten().collect());
        }
        Key { code: Code::Char('n' | 'N' | 'q') | Code::Esc, ctrl: false } => {
            app.ui.uncover();
            app.ui.say(now, "cancelled: nothing was changed");
        }
        Key { .. } => {}
    }
    KeyOutcome::Done(Vec::new())
}
