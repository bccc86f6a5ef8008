//! What a world makes without its store: documents, lines of the screen, texts laid out.

use std::sync::Arc;

use backissue::app::effect::{RenderWanted, RenderedEntry};
use backissue::app::learning::LearnWanted;
use backissue::app::msg::Msg;
use backissue::schedule::learning::learn;
use backissue::view;
use chrono::TimeDelta;

use crate::world::start;

/// The text of a row of cells; the cell behind a wide character is a part of it.
pub fn line_of(row: &[ratatui::buffer::Cell]) -> String {
    let mut line = String::new();
    let mut hidden = 0_usize;
    for cell in row {
        if hidden > 0 {
            hidden -= 1;
            continue;
        }
        line.push_str(cell.symbol());
        hidden = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
    }
    line
}

/// An RSS document with a title and entries `(guid, title, hours before the start, markup)`.
pub fn rss(title: &str, entries: &[(&str, &str, i64, &str)]) -> String {
    let mut items = String::new();
    for (guid, title, hours, markup) in entries {
        let date = (start() - TimeDelta::hours(*hours)).to_rfc2822();
        let item = format!(
            "<item><guid isPermaLink=\"false\">{guid}</guid><title>{title}</title><pubDate>{date}</pubDate>\
             <link>https://site.example/{guid}</link><description><![CDATA[{markup}]]></description></item>"
        );
        items.push_str(&item);
    }
    format!(
        "<rss version=\"2.0\"><channel><title>{title}</title><link>https://site.example/</link><description/>{items}</channel></rss>"
    )
}

pub fn rendered(wanted: &RenderWanted) -> Msg {
    let rendered = view::entry_lines::lay_out(wanted);
    Msg::Rendered(Box::new(RenderedEntry {
        key: wanted.key,
        source: wanted.source,
        width: wanted.width,
        rendered,
    }))
}

pub fn learned(wanted: &LearnWanted) -> Msg {
    let plan = learn(&wanted.publications, &wanted.terms, wanted.now);
    Msg::Learned(wanted.feed, plan.map(Arc::new))
}
