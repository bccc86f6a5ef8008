//! `backissue account add`: logs in in the process of the user, who may have to type the password, and then starts the first sync in
//! the process that has the store.

use std::io::{BufRead, IsTerminal, Read};

use super::{read_accounts, sync};
use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args_account::AccountAddArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::{self, Failure, block_on};
use crate::engine::politeness::host_queue::is_loopback;
use crate::io::accounts::account_file::AccountFile;
use crate::io::accounts::login::{self, NO_FOLDER, server_address};
use crate::io::console;
use crate::io::http::{Http, Limits};
use crate::io::processes::start::ACCOUNT_PASSWORD;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Longest password that is read, in bytes.
const PASSWORD_MAX: u64 = 4_096;

/// Logs in and stores the account.
pub(in crate::cli) fn log_in(options: &Options, args: &AccountAddArgs) -> Result<(), Failure> {
    let settings = session::read_settings(options)?;
    let file = AccountFile::of(&settings).ok_or_else(|| Failure::new(NO_FOLDER))?;
    if options.offline {
        return Err(Failure::new("an account cannot be added with --offline"));
    }
    let url = server_address(&args.address).map_err(Failure::new)?;
    if url.scheme() == "http" && !is_loopback(url.as_str()) {
        console::tell("this server is not encrypted: others could read your password");
    }
    let user = match &args.user {
        Some(user) if user.trim().is_empty() => {
            let why = "the user name is empty: leave out --user to log in with an API token";
            return Err(Failure::new(why));
        }
        Some(user) => user.clone(),
        None => typed_user()?,
    };
    let account = login::new_account(&file, &url, args.name.as_deref(), &user);
    let mut account = account.map_err(Failure::new)?;
    if let Some(command) = &args.password_command {
        account.password_command = Some(command.clone());
    } else {
        let given = std::env::var(ACCOUNT_PASSWORD).ok();
        account.password = Some(typed_password(given, account.user.is_empty())?);
    }
    let path = file.path().display().to_string();
    let typed = args.address.clone();
    let account = block_on(async move {
        let runtime = tokio::runtime::Handle::current();
        let http = Http::new(&settings.network, Limits::default()).map_err(Failure::new)?;
        let logged_in = tokio::task::spawn_blocking(move || {
            login::log_in(http.into(), runtime, &file, account, &typed)
        });
        let logged_in = logged_in.await.map_err(|_| Failure::new("the login failed"))?;
        logged_in.map_err(Failure::new)
    })?;
    console::tell(&format!(
        "logged in at {}; the account is stored in {path}, readable only by you",
        account.api
    ));
    if let Some(sentence) = login::without_labels(&account) {
        console::tell(sentence);
    }
    Ok(())
}

/// Runs the first sync of the account that was just added.
pub(super) fn sync_first(desk: &CommandContext, args: &AccountAddArgs) -> Result<Done, Failure> {
    let url = server_address(&args.address).map_err(Failure::new)?;
    let name = login::name_of(args.name.as_deref(), &url);
    let (file, _) = read_accounts(desk)?;
    sync::sync_accounts(desk, &file, &[name], true)
}

/// Returns the password from the environment, the terminal, or standard input.
fn typed_password(given: Option<String>, is_token: bool) -> Result<String, Failure> {
    let (what, prompt) = if is_token {
        ("API token", "API token: ")
    } else {
        ("password", "password (FreshRSS: the API password): ")
    };
    let password = if let Some(password) = given {
        password
    } else if std::io::stdin().is_terminal() {
        let hidden = hidden_line(prompt);
        hidden.map_err(|error| Failure::new(format!("the {what} cannot be read: {error}")))?
    } else {
        first_line(PASSWORD_MAX)?
    };
    if password.is_empty() {
        return Err(Failure::new(format!(
            "the {what} is empty: type it, set {ACCOUNT_PASSWORD}, or name a command with --password-command"
        )));
    }
    Ok(password)
}

/// Returns the user; empty to log in with an API token.
fn typed_user() -> Result<String, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(String::new());
    }
    console::put_piece("user name (empty for an API token): ");
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
