//! `backissue show`: one entry.

use super::Done;
use super::args::{Options, ShowArgs};
use super::session::{self, Failure};
use crate::app::lines::StyledLine;
use crate::history::EntryKey;
use crate::io::console;
use crate::view::html;

/// Columns of the text.
const WIDTH: u16 = 80;

/// Runs the command.
pub(super) fn run(options: &Options, args: &ShowArgs) -> Result<Done, Failure> {
    let key: EntryKey = args.entry.parse().map_err(Failure::new)?;
    let mut store = session::store(options)?;
    let Some((mut kept, _)) = store.entry(key)? else {
        return Err(Failure::new(format!(
            "there is no entry {key}; 'backissue entries' lists them"
        )));
    };
    let body = store.body(key)?;
    let markup = body.as_ref().and_then(|body| body.text()).unwrap_or_default();
    if args.html {
        console::put(markup);
        return Ok(Done::All);
    }
    let text = html::render(markup, kept.link.as_deref(), WIDTH);
    if !args.text {
        let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
        let head = [kept.title, kept.author, Some(dated), kept.link.take()];
        for line in head.into_iter().flatten() {
            console::put(&line);
        }
        console::put("");
    }
    for line in &text.lines {
        console::put(StyledLine::text(line).trim_end());
    }
    if !args.text && !text.links.is_empty() {
        console::put("");
        for (number, link) in (1..).zip(&text.links) {
            console::put(&format!("[{number}] {}", link.url));
        }
    }
    Ok(Done::All)
}
