//! `backissue open`: opens an entry's page in the user's browser.

use crate::cli::Done;
use crate::cli::args_changes::OpenArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::change::MarkChange;
use crate::engine::request::Request;
use backissue_core::history::{EntryKey, Flag};

/// Runs `backissue open`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &OpenArgs) -> Result<Done, Failure> {
    let key: EntryKey = args.entry.parse().map_err(Failure::new)?;
    let found = desk.look(move |store| match store.date_of(key)? {
        Some(_) => store.entry(key),
        None => Ok(None),
    })?;
    let Some((kept, _)) = found else {
        return Err(Failure::new(format!(
            "there is no entry {key}; 'backissue entries' lists them"
        )));
    };
    let Some(link) = kept.link else {
        return Err(Failure::new(format!(
            "entry {key} has no link; 'backissue show {key}' shows its text"
        )));
    };
    desk.open_link(&link)?;
    if !args.keep_unread {
        let keys =
            desk.look(move |store| store.plan_mark(&[key], (Flag::Opened, true, false)))?.changing;
        if !keys.is_empty() {
            desk.change(Request::Mark(MarkChange { keys, flag: Flag::Opened, value: true }))?;
        }
    }
    desk.put(&format!("opened {link}"));
    Ok(Done::All)
}
