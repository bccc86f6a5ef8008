//! The list of sources from which older entries of a feed may come. Nothing is requested before one is chosen.

use crate::engine::backfill::elsewhere::sources;
use crate::engine::request::Request;
use crate::ui::keys::commands::Command;
use crate::ui::overlays::list_panel::{ListKind, action};
use crate::ui::state::overlay::ListOf;

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
    actions: &[action(&[Command::Enter], "fetches them", |app, now, open| {
        let ListOf::Older(feed) = open.of else { return None };
        let sources = sources(&app.engine, app.engine.feeds.get(&feed)?);
        let adaptor = sources.get(open.list.selected)?.adaptor;
        app.ui.uncover();
        Some(app.ask(now, Request::ReadElsewhere(feed, adaptor)))
    })],
    ..ListKind::PLAIN
};
