//! What the world of the tests answers without a store: lines of a text, a plan that was learned, rows of cells.

use std::sync::Arc;

use backissue::engine::effect::RenderWanted;
use backissue::engine::effect::RenderedEntry;
use backissue::engine::learn::LearnWanted;
use backissue::engine::msg::Msg;
use backissue::schedule::learning::learn;

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

pub fn rendered(wanted: &RenderWanted) -> Msg {
    let (rendered, source) = (backissue::view::panes::entry_lines::lay_out(wanted), wanted.source);
    let (key, width) = (wanted.key, wanted.width);
    Msg::Rendered(Box::new(RenderedEntry { key, source, width, rendered }))
}

pub fn learned(wanted: &LearnWanted) -> Msg {
    let plan = learn(&wanted.publications, &wanted.terms, wanted.now);
    Msg::Learned(wanted.feed, plan.map(Arc::new))
}
