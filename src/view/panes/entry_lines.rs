//! An entry's text with everything below it, laid out for the reader pane.

use super::enclosure_list;
use super::link_list;
use crate::engine::effect::RenderWanted;
use crate::ui::reader::lines::Rendered;
use crate::view::html;
use crate::view::html::Column;

/// Lays an entry out: its text, its attached files, where its links lead.
pub fn lay_out(wanted: &RenderWanted) -> Rendered {
    let column = Column { width: usize::from(wanted.width), slides: wanted.slides };
    let mut rendered = html::render(&wanted.html, wanted.base.as_deref(), column);
    enclosure_list::append(&mut rendered, &wanted.enclosures, wanted.width);
    link_list::append(&mut rendered, wanted.width);
    rendered
}
