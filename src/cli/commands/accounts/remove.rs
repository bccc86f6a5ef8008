//! `backissue account remove`.

use super::{check_name, read_accounts};
use crate::cli::Done;
use crate::cli::args_account::AccountRemoveArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::entries::account_sync;
use crate::io::accounts::login;
use crate::io::clock;
use backissue_core::feed::text::counted_words;

/// Runs `backissue account remove`. Its feeds become local ones first, so that an undo restores feeds that are polled.
pub(super) fn remove(desk: &CommandContext, args: &AccountRemoveArgs) -> Result<Done, Failure> {
    check_name(desk, &args.name)?;
    let (file, _) = read_accounts(desk)?;
    let (name, keep, at) = (args.name.clone(), args.keep, clock::now());
    let (requests, count) = desk.inspect(move |engine| {
        (
            account_sync::leave(engine, &name, keep, at),
            account_sync::feeds_of(engine, &name).count(),
        )
    })?;
    for request in requests {
        desk.change(request)?;
    }
    login::forget(Some(file), &args.name).map_err(Failure::new)?;
    let name = args.name.clone();
    desk.look(move |store| store.change_account_state(&name, |_| None))?;
    let count = counted_words(count, "feed", "feeds");
    if args.keep {
        desk.put(&format!("'{}' removed; {count} kept and polled here from now on", args.name));
    } else {
        desk.put(&format!(
            "'{}' removed, and unsubscribed from {count} here; nothing changed on the server · 'backissue undo' restores the feeds",
            args.name
        ));
    }
    Ok(Done::All)
}
