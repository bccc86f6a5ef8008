//! `backissue account sync`.

use super::read_accounts;
use crate::cli::Done;
use crate::cli::args_account::AccountSyncArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::entries::account_sync;
use crate::io::accounts::account_file::AccountFile;
use crate::io::accounts::session::SyncWish;
use crate::io::accounts::sync_account::sync;
use crate::io::accounts::sync_words::words;
use crate::io::clock;

/// Runs `backissue account sync`.
pub(super) fn sync_named(desk: &CommandContext, args: &AccountSyncArgs) -> Result<Done, Failure> {
    let (file, accounts) = read_accounts(desk)?;
    let names = if args.names.is_empty() {
        accounts.into_iter().map(|account| account.name).collect()
    } else {
        args.names.clone()
    };
    if names.is_empty() {
        return Err(Failure::new("there is no account: add one with 'backissue account add'"));
    }
    if args.yes || args.no {
        for name in &names {
            answer(desk, name, args.yes)?;
        }
    }
    sync_accounts(desk, &file, &names, args.whole)
}

/// Answers what an account waits for.
fn answer(desk: &CommandContext, name: &str, yes: bool) -> Result<(), Failure> {
    let mut states = desk.look(|store| store.account_states())?;
    let held = states.remove(name).map(|state| state.held).unwrap_or_default();
    let (name, at) = (name.to_owned(), clock::now());
    let requests =
        desk.inspect(move |engine| account_sync::answer(engine, &name, held, at, yes))?;
    for request in requests {
        desk.change(request)?;
    }
    Ok(())
}

/// Syncs these accounts and prints a line for each.
pub(super) fn sync_accounts(
    desk: &CommandContext,
    file: &AccountFile,
    names: &[String],
    whole: bool,
) -> Result<Done, Failure> {
    let mut done = Done::All;
    for name in names {
        let progress = |what: &str, part: usize, all: usize| {
            desk.show_progress(format!("{name}: {what}"), part as u64, all as u64);
        };
        let synced = sync(desk.hand(), file, name, SyncWish { whole }, &progress);
        desk.end_progress();
        match synced {
            Ok(line) => {
                desk.put(&format!("{name}: {}", words(&line)));
                if line.untaken > 0
                    || line.held > 0
                    || line.held_marks > 0
                    || line.refused.is_some()
                {
                    done = Done::WithFailures;
                }
            }
            Err(failure) if names.len() == 1 => return Err(Failure::new(failure.text)),
            Err(failure) => {
                desk.tell(&format!("backissue: {}", failure.text));
                done = Done::WithFailures;
            }
        }
    }
    Ok(done)
}
