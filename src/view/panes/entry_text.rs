//! Formats an entry as plain text, for the command line and for external commands.

use std::fmt::Write;

use crate::engine::entries::entry_view::EntryView;
use crate::ui::reader::lines::StyledLine;
use crate::view::html::{self, Column};
use backissue_core::feed::outgoing::{escaped_attribute, escaped_text};

/// Width of the formatted text, in columns.
const WIDTH: usize = 80;

/// Returns the title, feed, author, date and link of an entry, one per line.
pub fn head(view: &EntryView) -> String {
    let kept = &view.entry.kept;
    let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
    let lines = [
        kept.title.as_deref(),
        Some(view.feed.title.as_str()).filter(|title| !title.is_empty()),
        kept.author.as_deref(),
        Some(dated.as_str()),
        kept.link.as_deref(),
    ];
    lines.into_iter().flatten().fold(String::new(), |text, line| text + line + "\n")
}

/// Returns the text of an entry, followed by the list of the links in it.
pub fn body(view: &EntryView) -> String {
    let (_, markup, base) = view.text();
    let rendered = html::render(markup, base, Column { width: WIDTH, slides: false });
    let mut text = String::new();
    for line in &rendered.lines {
        text.push_str(StyledLine::text(line).trim_end());
        text.push('\n');
    }
    for (number, link) in (1..).zip(&rendered.links) {
        if number == 1 {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        writeln!(text, "[{number}] {}", link.url).ok();
    }
    text
}

/// Returns an entry as Markdown: its title, feed, author, date and link, and its text.
pub fn markdown(view: &EntryView) -> String {
    let kept = &view.entry.kept;
    let (_, markup, base) = view.text();
    let plain = |text: &str| html::markdown(&escaped_text(text), None).trim().to_owned();
    let about: Vec<String> = about(view).iter().map(|part| plain(part)).collect();
    let link = kept.link.as_deref().map(|link| format!("<{link}>\n\n")).unwrap_or_default();
    let body = html::markdown(markup, base);
    format!("# {}\n\n{}\n\n{link}{body}", plain(kept.shown_title()), about.join(" · "))
}

/// Returns an entry as the inside of an XHTML `body`: its title, feed, author, date and link, and its text.
pub fn xhtml(view: &EntryView) -> String {
    let kept = &view.entry.kept;
    let (_, markup, base) = view.text();
    let about: Vec<String> = about(view).iter().map(|part| escaped_text(part)).collect();
    let link = kept.link.as_deref().map(escaped_attribute);
    let link = link.map(|link| format!("<p><a href=\"{link}\">{link}</a></p>\n"));
    let title = escaped_text(kept.shown_title());
    let (about, link) = (about.join(" · "), link.unwrap_or_default());
    let body = html::xhtml(markup, base);
    format!("<h1>{title}</h1>\n<p>{about}</p>\n{link}{body}")
}

/// Returns the feed, author and date of an entry.
fn about(view: &EntryView) -> Vec<String> {
    let kept = &view.entry.kept;
    let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
    let parts = [Some(view.feed.title.clone()), kept.author.clone(), Some(dated)];
    parts.into_iter().flatten().collect()
}
