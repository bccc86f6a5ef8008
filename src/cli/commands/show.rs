//! `backissue show`: one entry.

use crate::cli::Done;
use crate::cli::args::{Options, ShowArgs};
use crate::cli::session::{self, Failure};
use crate::history::EntryKey;
use crate::io::console;
use crate::ui::reader::lines::StyledLine;
use crate::view::html::{self, Column};
use crate::view::panes::entry_text;

/// Columns of the text.
const WIDTH: Column = Column { width: 80, slides: false };

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &ShowArgs) -> Result<Done, Failure> {
    let key: EntryKey = args.entry.parse().map_err(Failure::new)?;
    let mut store = session::open_store(options)?;
    let Some((kept, _)) = store.entry(key)? else {
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
    let base = kept.link.clone();
    if args.text {
        for line in &html::render(markup, base.as_deref(), WIDTH).lines {
            console::put(StyledLine::text(line).trim_end());
        }
        return Ok(Done::All);
    }
    console::put(&entry_text::head(&kept, None));
    console::put(entry_text::body(markup, base.as_deref()).trim_end_matches('\n'));
    Ok(Done::All)
}
