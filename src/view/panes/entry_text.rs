//! Formats an entry as plain text, for the command line and for external commands.

use std::fmt::Write;

use crate::ui::reader::lines::StyledLine;
use crate::view::html::{self, Column};
use backissue_core::history::KeptEntry;

/// Width of the formatted text, in columns.
const WIDTH: usize = 80;

/// Returns the title, feed, author, date and link of an entry, one per line.
pub fn head(kept: &KeptEntry, feed: Option<&str>) -> String {
    let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
    let lines = [
        kept.title.as_deref(),
        feed,
        kept.author.as_deref(),
        Some(dated.as_str()),
        kept.link.as_deref(),
    ];
    lines.into_iter().flatten().fold(String::new(), |text, line| text + line + "\n")
}

/// Returns the text of an entry, followed by the list of the links in it.
pub fn body(markup: &str, base: Option<&str>) -> String {
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
pub fn markdown(kept: &KeptEntry, feed: &str, markup: &str) -> String {
    let plain = |text: &str| html::markdown(&escape_html(text), None).trim().to_owned();
    let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
    let about = [Some(feed), kept.author.as_deref(), Some(&dated)];
    let about: Vec<String> = about.into_iter().flatten().map(plain).collect();
    let link = kept.link.as_deref().map(|link| format!("<{link}>\n\n")).unwrap_or_default();
    let body = html::markdown(markup, kept.link.as_deref());
    format!("# {}\n\n{}\n\n{link}{body}", plain(kept.shown_title()), about.join(" · "))
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
