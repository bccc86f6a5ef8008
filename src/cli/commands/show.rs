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
    let found = desk.look(move |store| {
        let kept = store.entry(key)?;
        kept.map(|(kept, _)| store.body(key).map(|body| (kept, body))).transpose()
    })?;
    let Some((kept, body)) = found else {
        return Err(no_entry(key));
    };
    let markup = body.as_ref().and_then(|body| body.text()).unwrap_or_default();
    if args.html {
        desk.put(markup);
        return Ok(Done::All);
    }
    let base = kept.link.clone();
    if args.text {
        for line in &html::render(markup, base.as_deref(), WIDTH).lines {
            desk.put(StyledLine::text(line).trim_end());
        }
        return Ok(Done::All);
    }
    desk.put(&entry_text::head(&kept, None));
    if let Some(words) = kept.former_id_words() {
        desk.put(&words);
    }
    desk.put(entry_text::body(markup, base.as_deref()).trim_end_matches('\n'));
    Ok(Done::All)
}

/// The error for a number that no entry has.
pub(in crate::cli) fn no_entry(key: EntryKey) -> Failure {
    Failure::new(format!("there is no entry {key}; 'backissue entries' lists them"))
}
