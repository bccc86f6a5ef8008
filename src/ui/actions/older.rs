//! The list of sources from which older entries of a feed may come. Nothing is requested before one is chosen.

use backissue_core::history::FeedKey;

use crate::engine::backfill::elsewhere::{SourceKind, sources};
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::keys::command_table::Command;
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
        action(&[Command::Enter], "fetches them", |cx, open| {
            let (feed, kind) = selected(cx.app, open)?;
            cx.app.ui.uncover();
            match kind {
                SourceKind::Adaptor(adaptor) => cx.ask(Request::ReadElsewhere(feed, adaptor)),
                SourceKind::Copy(url) => cx.ask(Request::ReadCopy(feed, url)),
                SourceKind::OtherCopy => {
                    cx.app.ui.open_prompt(Prompt::new(PromptPurpose::Copy(feed)));
                }
            }
            Some(())
        }),
        action(&[Command::Unsubscribe], "forgets a copy", |cx, open| {
            let (feed, SourceKind::Copy(url)) = selected(cx.app, open)? else { return None };
            cx.ask(Request::ForgetCopy(feed, url));
            Some(())
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

/// Opens the list of sources from which older entries of the selected feed may come.
pub fn list(cx: &mut Cx<'_>) {
    match attention::selected_feed(cx.app, cx.now) {
        Some(feed) => list_panel::toggle(cx, ListOf::Older(feed), &LIST),
        None => cx.say("select a feed first"),
    }
}

/// Reads a copy of the selected feed at a typed address.
pub fn read_copy(cx: &mut Cx<'_>, url: &str) {
    match attention::selected_feed(cx.app, cx.now) {
        Some(feed) => cx.ask(Request::ReadCopy(feed, url.to_owned())),
        None => cx.say("select a feed first"),
    }
}
