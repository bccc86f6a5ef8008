//! Lays out the text of an entry for the reader pane, with the attached files and the links below it.

use super::{enclosure_list, link_list};
use crate::ui::effect::RenderWork;
use crate::ui::reader::lines::Rendered;
use crate::view::html::{self, Column};

/// Lays out an entry: its text, the list of its attached files, and the list of its links.
pub fn lay_out(wanted: &RenderWork) -> Rendered {
    let column = Column { width: usize::from(wanted.width), slides: wanted.slides };
    let mut rendered = html::render(&wanted.html, wanted.base.as_deref(), column);
    enclosure_list::append(&mut rendered, &wanted.enclosures, wanted.width);
    link_list::append(&mut rendered, wanted.width);
    rendered
}
