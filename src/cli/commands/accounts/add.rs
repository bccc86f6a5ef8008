//! `backissue account add`: logs in in the process of the user, who may have to type the password, and then starts the first sync in
//! the process that has the store.

use std::io::{BufRead, IsTerminal, Read};

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use url::Url;

use super::{NO_FOLDER, read_accounts, sync};
use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args_account::AccountAddArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::{self, Failure, block_on};
use crate::engine::feeds::addresses::web_address;
use crate::engine::politeness::host_queue::is_loopback;
use crate::io::accounts::account_file::{Account, AccountFile};
use crate::io::accounts::server::Server;
use crate::io::console;
use crate::io::http::{Http, Limits};
use backissue_core::feed::text::{NAME_MAX, one_line};

/// Environment variable with the password.
const VARIABLE: &str = "BACKISSUE_ACCOUNT_PASSWORD";
/// Longest password that is read, in bytes.
const PASSWORD_MAX: u64 = 4_096;

/// Logs in and stores the account.
pub(in crate::cli) fn log_in(options: &Options, args: &AccountAddArgs) -> Result<(), Failure> {
    let settings = session::read_settings(options)?;
    let file = AccountFile::of(&settings).ok_or_else(|| Failure::new(NO_FOLDER))?;
    if options.offline {
        return Err(Failure::new("an account cannot be added with --offline"));
    }
    let url = server_address(&args.address)?;
    let name = name_of(args, &url);
    if url.scheme() == "http" && !is_loopback(url.as_str()) {
        console::tell("this server is not encrypted: others could read your password");
    }
    let user = match &args.user {
        Some(user) => user.clone(),
        None => typed_line("user name: ")?,
    };
    if user.trim().is_empty() {
        return Err(Failure::new("the user name is empty: name the user with --user"));
    }
    let accounts = file.read().map_err(Failure::new)?;
    let other = accounts.iter().find(|other| other.name == name && other.user != user);
    if let Some(other) = other {
        let user = one_line(&other.user, NAME_MAX);
        return Err(Failure::new(format!(
            "there is an account '{name}' of the user '{user}' already: give this one another name with --name"
        )));
    }
    let mut account = Account { name, api: url.into(), user, ..Account::default() };
    match &args.password_command {
        Some(command) => account.password_command = Some(command.clone()),
        None => account.password = Some(typed_password()?),
    }
    let account = block_on(async move {
        let runtime = tokio::runtime::Handle::current();
        let http = Http::new(&settings.network, Limits::default()).map_err(Failure::new)?;
        let logged_in = tokio::task::spawn_blocking(move || {
            let mut server = Server::new(http.into(), runtime, account)?;
            server.discover()?;
            Ok(server.account().clone())
        });
        let logged_in = logged_in.await.map_err(|_| Failure::new("the login failed"))?;
        logged_in
            .map_err(|failure: crate::io::accounts::server::SyncFailure| Failure::new(failure.text))
    })?;
    let (api, path) = (account.api.clone(), file.path().display().to_string());
    let change = |accounts: &mut Vec<Account>| {
        accounts.retain(|other| other.name != account.name);
        accounts.push(account);
    };
    file.change(change).map_err(Failure::new)?;
    console::tell(&format!(
        "logged in at {api}; the account is stored in {path}, readable only by you"
    ));
    Ok(())
}

/// Runs the first sync of the account that was just added.
pub(super) fn sync_first(desk: &CommandContext, args: &AccountAddArgs) -> Result<Done, Failure> {
    let name = name_of(args, &server_address(&args.address)?);
    let (file, _) = read_accounts(desk)?;
    sync::sync_accounts(desk, &file, &[name], true)
}

fn server_address(typed: &str) -> Result<Url, Failure> {
    let address = web_address(typed).map_err(Failure::new)?;
    let url = Url::parse(&address).map_err(|error| Failure::new(format!("'{typed}': {error}")))?;
    if url.password().is_some() || !url.username().is_empty() {
        return Err(Failure::new("leave the login out of the address: it is asked for"));
    }
    Ok(url)
}

fn name_of(args: &AccountAddArgs, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let usual = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    args.name.as_deref().map_or(usual, |name| one_line(name, NAME_MAX))
}

/// Returns the password from the environment, the terminal, or standard input.
fn typed_password() -> Result<String, Failure> {
    let password = if let Ok(password) = std::env::var(VARIABLE) {
        password
    } else if std::io::stdin().is_terminal() {
        let hidden = hidden_line("API password: ");
        hidden.map_err(|error| Failure::new(format!("the password cannot be read: {error}")))?
    } else {
        first_line(PASSWORD_MAX)?
    };
    if password.is_empty() {
        return Err(Failure::new(format!(
            "the password is empty: type it, set {VARIABLE}, or name a command with --password-command"
        )));
    }
    Ok(password)
}

fn typed_line(prompt: &str) -> Result<String, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new("name the user with --user"));
    }
    console::put_piece(prompt);
    first_line(PASSWORD_MAX)
}

fn first_line(max: u64) -> Result<String, Failure> {
    let mut line = String::new();
    let read = std::io::stdin().lock().take(max).read_line(&mut line);
    read.map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Reads a line from the terminal without showing it.
fn hidden_line(prompt: &str) -> std::io::Result<String> {
    console::put_piece(prompt);
    enable_raw_mode()?;
    let typed = hidden_keys();
    disable_raw_mode()?;
    console::put("");
    typed
}

fn hidden_keys() -> std::io::Result<String> {
    let mut typed = String::new();
    loop {
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let code = key.code;
        let is_cancel = is_control && matches!(code, KeyCode::Char('c' | 'd'));
        if code == KeyCode::Enter {
            return Ok(typed);
        } else if code == KeyCode::Esc || is_cancel {
            return Err(std::io::Error::other("cancelled"));
        } else if code == KeyCode::Backspace {
            typed.pop();
        } else if let KeyCode::Char(char) = code
            && !is_control
        {
            typed.push(char);
        }
    }
}
