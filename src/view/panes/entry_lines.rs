//! Lays out an entry's text, with everything below it, for the reader pane.

use super::{enclosure_list, link_list};
use crate::ui::effect::RenderWork;
use crate::ui::reader::lines::Rendered;
use crate::view::html::{self, Column};

/// Lays out an entry: its text, its attached files, and its list of links.
pub fn lay_out(wanted: &RenderWork) -> Rendered {
    let column = Column { width: usize::from(wanted.width), slides: wanted.slides };
    let mut rendered = html::render(&wanted.html, wanted.base.as_deref(), column);
    enclosure_list::append(&mut rendered, &wanted.enclosures, wanted.width);
    link_list::append(&mut rendered, wanted.width);
    rendered
}
