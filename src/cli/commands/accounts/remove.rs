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
use backissue_core::history::FeedKey;

/// Runs `backissue account remove`. Its feeds become local ones first, so that an undo restores feeds that are polled.
pub(super) fn remove(desk: &CommandContext, args: &AccountRemoveArgs) -> Result<Done, Failure> {
    check_name(desk, &args.name)?;
    let (file, _) = read_accounts(desk)?;
    let (name, keep, at) = (args.name.clone(), args.keep, clock::now());
    let (requests, feeds, count) = desk.inspect(move |engine| {
        let feeds = || account_sync::feeds_of(engine, &name);
        let brought = feeds().filter(|feed| account_sync::is_brought(feed)).count();
        let keys: Vec<FeedKey> = feeds().map(|feed| feed.key).collect();
        (account_sync::leave(engine, &name, keep, at), keys, brought)
    })?;
    let all = feeds.len();
    let unsent = desk.look(move |store| store.unsent_marks(&feeds))?;
    if unsent > 0 {
        let marks = counted_words(unsent, "mark was", "marks were");
        desk.tell(&format!("{marks} never sent to '{}'", args.name));
    }
    for request in requests {
        desk.change(request)?;
    }
    login::forget(Some(file), &args.name).map_err(Failure::new)?;
    let name = args.name.clone();
    desk.look(move |store| store.change_account_state(&name, |_| None))?;
    let feeds = |count| counted_words(count, "feed", "feeds");
    if args.keep {
        desk.put(&format!(
            "'{}' removed; {} kept and polled here from now on",
            args.name,
            feeds(all)
        ));
    } else {
        let own = all.saturating_sub(count);
        let own = match own {
            0 => String::new(),
            1 => "; 1 feed of yours stays".to_owned(),
            own => format!("; {} of yours stay", feeds(own)),
        };
        desk.put(&format!(
            "'{}' removed, and unsubscribed from {} here{own}; nothing changed on the server · 'backissue undo' restores the feeds",
            args.name,
            feeds(count)
        ));
    }
    Ok(Done::All)
}
