//! `backissue show`: prints one entry.

use crate::cli::Done;
use crate::cli::args::ShowArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::ui::reader::lines::StyledLine;
use crate::view::html::{self, Column};
use crate::view::panes::entry_text;
use backissue_core::history::EntryKey;

/// Width of the printed text, in columns.
const WIDTH: Column = Column { width: 80, slides: false };

/// Runs `backissue show`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &ShowArgs) -> Result<Done, Failure> {
    let key: EntryKey = args.entry.parse().map_err(Failure::new)?;
    let Ok(entry) = desk.look(move |store| store.read_entry(key))? else {
        return Err(no_entry(key));
    };
    let view = desk.engine()?.view_of(entry);
    let (_, markup, base) = view.text();
    if args.html {
        desk.put(markup);
        return Ok(Done::All);
    }
    if args.text {
        for line in &html::render(markup, base, WIDTH).lines {
            desk.put(StyledLine::text(line).trim_end());
        }
        return Ok(Done::All);
    }
    desk.put(&entry_text::head(&view));
    if let Some(words) = view.entry.kept.former_id_words() {
        desk.put(&words);
    }
    desk.put(entry_text::body(&view).trim_end_matches('\n'));
    Ok(Done::All)
}

/// The error for a number that no entry has.
pub(in crate::cli) fn no_entry(key: EntryKey) -> Failure {
    Failure::new(format!("there is no entry {key}; 'backissue entries' lists them"))
}
