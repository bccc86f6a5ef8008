//! Lists the links of an entry below its text: each number with its address.

use crate::ui::reader::lines::{Rendered, Role, StyledLine, StyledSpan};
use crate::view::cells;
use backissue_core::feed::text::one_line;

/// Adds the list of links below the text.
pub(in crate::view) fn append(rendered: &mut Rendered, width: u16) {
    if rendered.links.is_empty() {
        return;
    }
    rendered.lines.push(StyledLine::default());
    for (number, link) in (1_usize..).zip(&rendered.links) {
        let number_text = format!("[{number}]");
        let room = usize::from(width).saturating_sub(cells::width(&number_text).saturating_add(1));
        let address = cells::cut(&one_line(&link.url, room.saturating_mul(2)), room);
        let link = u16::try_from(number).ok();
        let span = |text: String, role| StyledSpan { text, role, link, ..StyledSpan::default() };
        let spans =
            vec![span(number_text, Role::LinkNumber), span(format!(" {address}"), Role::Note)];
        rendered.lines.push(spans.into());
    }
}
