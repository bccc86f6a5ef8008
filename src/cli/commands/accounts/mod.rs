//! `backissue account`: accounts on servers.

pub(in crate::cli) mod add;
mod list;
mod remove;
mod sync;

use crate::cli::Done;
use crate::cli::args_account::{AccountAction, AccountArgs};
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::io::accounts::account_file::{Account, AccountFile};
use crate::io::accounts::login::NO_FOLDER;

/// Runs `backissue account`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &AccountArgs) -> Result<Done, Failure> {
    match &args.action {
        AccountAction::Add(args) => add::sync_first(desk, args),
        AccountAction::List(args) => list::list(desk, args.json),
        AccountAction::Remove(args) => remove::remove(desk, args),
        AccountAction::Sync(args) => sync::sync_named(desk, args),
        AccountAction::Log(args) => list::log(desk, args),
    }
}

/// Returns the file of accounts, and the accounts.
fn read_accounts(desk: &CommandContext) -> Result<(AccountFile, Vec<Account>), Failure> {
    let file = desk.inspect(|engine| AccountFile::of(&engine.settings))?;
    let file = file.ok_or_else(|| Failure::new(NO_FOLDER))?;
    let accounts = file.read().map_err(Failure::new)?;
    Ok((file, accounts))
}

/// Checks that there is an account of this name.
pub(super) fn check_name(desk: &CommandContext, name: &str) -> Result<(), Failure> {
    let (_, accounts) = read_accounts(desk)?;
    if accounts.iter().any(|account| account.name == name) {
        return Ok(());
    }
    Err(Failure::new(format!("there is no account '{name}': see 'backissue account list'")))
}

/// Syncs one account and prints a line about it.
pub(super) fn sync_one(desk: &CommandContext, name: &str) -> Result<Done, Failure> {
    let (file, _) = read_accounts(desk)?;
    sync::sync_accounts(desk, &file, &[name.to_owned()], false)
}
