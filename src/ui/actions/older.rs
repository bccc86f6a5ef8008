//! The list of sources from which older entries of a feed may come. Nothing is requested before one is chosen.

use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

use crate::engine::backfill::elsewhere::{SourceKind, sources};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::panes::attention;
use crate::ui::state::overlay::{ListOf, OpenList};

/// The list of sources.
pub static LIST: ListKind = ListKind {
    title: "Older entries",
    empty: "nowhere else to look",
    lines: 2,
    toggles: &[Command::History],
    count: |app, _, of| {
        let ListOf::Older(feed) = of else { return 0 };
        app.engine.feeds.get(&feed).map_or(0, |feed| sources(&app.engine, feed).len())
    },
    actions: &[
        action(&[Command::Enter], "fetches them", |app, now, open| {
            let (feed, kind) = selected(app, open)?;
            app.ui.uncover();
            Some(match kind {
                SourceKind::Adaptor(adaptor) => app.ask(now, Request::ReadElsewhere(feed, adaptor)),
                SourceKind::Copy(url) => app.ask(now, Request::ReadCopy(feed, url)),
                SourceKind::OtherCopy => {
                    app.ui.open_prompt(Prompt::new(PromptPurpose::Copy(feed)));
                    Vec::new()
                }
            })
        }),
        action(&[Command::Unsubscribe], "forgets a copy", |app, now, open| {
            let (feed, SourceKind::Copy(url)) = selected(app, open)? else { return None };
            Some(app.ask(now, Request::ForgetCopy(feed, url)))
        }),
    ],
    ..ListKind::PLAIN
};

/// Returns the feed of an open list, and the selected source.
fn selected(app: &App, open: OpenList) -> Option<(FeedKey, SourceKind)> {
    let ListOf::Older(feed) = open.of else { return None };
    let sources = sources(&app.engine, app.engine.feeds.get(&feed)?);
    Some((feed, sources.get(open.list.selected)?.kind.clone()))
}

/// Lists where older entries of the selected feed may be.
pub fn list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    match attention::selected_feed(app, now) {
        Some(feed) => list_panel::toggle(app, now, ListOf::Older(feed), &LIST),
        None => app.ui.say_only(now, "select a feed first"),
    }
}

/// Reads a copy of the selected feed at a typed address.
pub fn read_copy(app: &mut App, now: DateTime<Utc>, url: &str) -> Vec<ScreenEffect> {
    match attention::selected_feed(app, now) {
        Some(feed) => app.ask(now, Request::ReadCopy(feed, url.to_owned())),
        None => app.ui.say_only(now, "select a feed first"),
    }
}
