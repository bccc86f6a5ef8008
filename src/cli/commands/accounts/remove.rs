//! `backissue account remove`.

use super::{check_name, read_accounts};
use crate::cli::Done;
use crate::cli::args_account::AccountRemoveArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::entries::account_sync::FeedSync;
use crate::engine::request::Request;
use crate::io::clock;
use backissue_core::accounts::subscriptions::AgreedFeed;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// Runs `backissue account remove`. Its feeds become local ones first, so that an undo restores feeds that are polled.
pub(super) fn remove(desk: &CommandContext, args: &AccountRemoveArgs) -> Result<Done, Failure> {
    check_name(desk, &args.name)?;
    let (file, _) = read_accounts(desk)?;
    let name = args.name.clone();
    let feeds = desk.inspect(move |engine| {
        let of = engine.feeds.values();
        let of = of.filter(|feed| feed.record.feed_settings.account.as_ref() == Some(&name));
        let chosen = of.map(|feed| {
            let mut chosen = feed.record.chosen();
            (chosen.feed_settings.account, chosen.feed_settings.polled_here) = (None, false);
            (feed.key, chosen)
        });
        chosen.collect::<Vec<_>>()
    })?;
    let keys: Vec<FeedKey> = feeds.iter().map(|(feed, _)| *feed).collect();
    let set = feeds.into_iter().map(|(feed, chosen)| Request::Set(feed, Box::new(chosen)));
    desk.change(Request::Together(set.collect()))?;
    let (at, disconnected) = (clock::now(), keys.clone());
    let disconnect =
        move |feed| FeedSync { agreed: Some(AgreedFeed::default()), ..FeedSync::new(feed, at) };
    desk.change(Request::Sync(disconnected.into_iter().map(disconnect).collect()))?;
    file.change(|accounts| accounts.retain(|account| account.name != args.name))
        .map_err(Failure::new)?;
    let name = args.name.clone();
    desk.look(move |store| store.change_account_state(&name, |_| None))?;
    let count = counted_words(keys.len(), "feed", "feeds");
    if args.keep {
        desk.put(&format!("'{}' removed; {count} kept and polled here from now on", args.name));
    } else {
        let removed = keys.into_iter().map(Request::Unsubscribe).collect();
        desk.change(Request::Together(removed))?;
        desk.put(&format!(
            "'{}' removed, and unsubscribed from {count} here; nothing changed on the server · 'backissue undo' restores the feeds",
            args.name
        ));
    }
    Ok(Done::All)
}
