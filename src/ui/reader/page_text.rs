//! Shows the fetched page of an entry, or the reason why it could not be fetched.

use chrono::{DateTime, Utc};

use super::lay_out;
use crate::engine::entries::full_text::FullText;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::reader::TextSource;
use backissue_core::history::EntryKey;

/// Message in the reader pane while the page of an entry is being fetched.
pub(in crate::ui) const ASKING: &str = "fetching the page of this entry …";

/// Stops waiting for the page of an entry, because it will not be fetched, and shows the reason.
pub fn drop_page(app: &mut App, now: DateTime<Utc>, key: EntryKey, why: &str) {
    if let Some(reader) = app.ui.reader.as_mut().filter(|reader| reader.waits_for(key)) {
        reader.source = TextSource::Feed;
        app.ui.complain(now, format!("no full text: {why}"));
    }
}

/// Shows the fetched page of an entry, if the reader pane waits for it.
pub fn show_page(
    app: &mut App,
    now: DateTime<Utc>,
    key: EntryKey,
    full: FullText,
    failed: Option<String>,
) -> Vec<ScreenEffect> {
    let open = app.ui.reader.as_mut().filter(|reader| reader.entry.key == key);
    let trouble = open.and_then(|reader| {
        let before = reader.entry.page().map(|page| page.html.clone());
        let is_new = failed.is_none() && before.as_ref() != Some(&full.html);
        reader.entry.full = Some(full);
        if is_new && reader.source == TextSource::Page {
            (reader.rendered, reader.width) = (None, 0);
        }
        match reader.source {
            TextSource::Waiting if failed.is_none() => reader.show(TextSource::Page),
            TextSource::Waiting => reader.source = TextSource::Feed,
            // The user switched back to the feed's text before the page arrived, so the feed's text stays visible.
            TextSource::Feed | TextSource::Page | TextSource::Changes => {}
        }
        failed.map(|why| format!("no full text: {why}"))
    });
    let asking = app.ui.notice.as_ref().is_some_and(|notice| notice.text == ASKING);
    if asking && trouble.is_none() {
        app.ui.notice = None;
    }
    if let Some(trouble) = trouble {
        app.ui.complain(now, trouble);
    }
    lay_out::ask_lines(app)
}
