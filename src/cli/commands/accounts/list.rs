//! `backissue account list` and `backissue account log`.

use serde_json::json;

use super::{check_name, read_accounts};
use crate::cli::Done;
use crate::cli::args_account::AccountLogArgs;
use crate::cli::context::CommandContext;
use crate::cli::json_list::JsonList;
use crate::cli::session::Failure;
use crate::engine::entries::account_sync::feeds_of;
use crate::io::accounts::sync_words::words;

/// Runs `backissue account list`.
pub(super) fn list(desk: &CommandContext, in_json: bool) -> Result<Done, Failure> {
    let (_, accounts) = read_accounts(desk)?;
    let states = desk.look(|store| store.account_states())?;
    let mut document = in_json.then(|| JsonList::new(desk));
    if accounts.is_empty() && !in_json {
        desk.tell("no accounts: 'backissue account add ADDRESS' adds one");
    }
    for account in accounts {
        let name = account.name.clone();
        let feeds = desk.inspect(move |engine| feeds_of(engine, &name).count())?;
        let newest = states.get(&account.name).and_then(|state| state.log.last());
        if let Some(list) = &mut document {
            list.push(&json!({
                "name": account.name,
                "api": account.api,
                "user": account.user,
                "feeds": feeds,
                "last_sync": newest.map(|line| line.at.to_rfc3339()),
                "failure": newest.and_then(|line| line.failure.clone()),
            }));
        } else {
            let told = newest.map_or_else(
                || "never synced".to_owned(),
                |line| format!("{}: {}", line.at.format("%Y-%m-%d %H:%M UTC"), words(line)),
            );
            desk.put(&format!("{}  {}  {feeds} feeds\n  {told}", account.name, account.place()));
        }
    }
    if let Some(list) = document {
        list.end();
    }
    Ok(Done::All)
}

/// Runs `backissue account log`.
pub(super) fn log(desk: &CommandContext, args: &AccountLogArgs) -> Result<Done, Failure> {
    if let Some(name) = &args.name {
        check_name(desk, name)?;
    }
    let states = desk.look(|store| store.account_states())?;
    let wanted = |name: &String| args.name.as_ref().is_none_or(|wanted| wanted == name);
    let mut document = args.json.then(|| JsonList::new(desk));
    for (name, state) in states.iter().filter(|(name, _)| wanted(name)) {
        for line in &state.log {
            if let Some(list) = &mut document {
                list.push(&json!({
                    "account": name,
                    "at": line.at.to_rfc3339(),
                    "ms": line.ms,
                    "requests": line.requests,
                    "bytes_sent": line.sent_bytes,
                    "bytes_received": line.received_bytes,
                    "new": line.new,
                    "changed_here": line.marked,
                    "sent": line.sent,
                    "subscriptions_changed": line.feeds,
                    "unsubscribed": line.unsubscribed,
                    "kept": line.kept,
                    "held": line.held,
                    "held_marks": line.held_marks,
                    "not_taken": line.untaken,
                    "dropped": line.dropped,
                    "refused": line.refused,
                    "failure": line.failure,
                }));
            } else {
                let at = line.at.format("%Y-%m-%d %H:%M:%S UTC");
                desk.put(&format!("{at}  {name}: {}", words(line)));
            }
        }
    }
    if let Some(list) = document {
        list.end();
    }
    Ok(Done::All)
}
