//! Adds an account: checks what the user typed, logs in, and stores the account.

use std::sync::Arc;

use tokio::runtime::Handle;
use url::Url;

use super::account_file::{Account, AccountFile};
use super::connection::FailureKind;
use super::server::Server;
use crate::engine::feeds::addresses::web_address;
use crate::io::http::Http;
use crate::ui::effect::NewLogin;
use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::{InputFlaw, flaw};

/// Why an account cannot be stored.
pub const NO_FOLDER: &str = "there is no folder for the configuration, so no account can be stored";

/// Returns the address of a server as it was typed. The error is a sentence.
pub fn server_address(typed: &str) -> Result<Url, InputFlaw> {
    let address = web_address(typed)?;
    let url = Url::parse(&address).map_err(|error| format!("'{typed}': {error}"))?;
    if url.password().is_some() || !url.username().is_empty() {
        return Err("leave the login out of the address: it is asked for".into());
    }
    Ok(url)
}

/// Returns the name of an account here: the host of its server, unless it was named.
pub fn name_of(named: Option<&str>, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let usual = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    named.map_or(usual, |name| one_line(name, NAME_MAX))
}

/// Creates an account without a password. An empty user means that the password will be an API token. The error is a sentence: another
/// user has an account of this name.
pub fn new_account(
    file: &AccountFile,
    url: &Url,
    name: Option<&str>,
    user: &str,
) -> Result<Account, InputFlaw> {
    let (name, user) = (name_of(name, url), user.trim());
    if name.trim().is_empty() {
        return Err("the name of the account is empty: leave out --name to use its host".into());
    }
    let is_other = |other: &&Account| {
        other.name == name && other.user != user && !user.is_empty() && !other.user.is_empty()
    };
    if let Some(other) = file.read()?.iter().find(is_other) {
        let user = one_line(&other.user, NAME_MAX);
        return Err(flaw!(
            "there is an account '{name}' of the user '{user}' already: give this one another name with --name"
        ));
    }
    let (api, user) = (url.to_string(), user.to_owned());
    Ok(Account { name, api, user, ..Account::default() })
}

/// Logs in and stores the account with its password. `typed` is the address of the server as the user typed it. Blocks while the server answers. The error is a sentence.
pub fn log_in(
    http: Arc<Http>,
    runtime: Handle,
    file: &AccountFile,
    account: Account,
    typed: &str,
) -> Result<Account, InputFlaw> {
    let plain = account.api.replacen("https://", "http://", 1);
    let unencrypted = Account { api: plain.clone(), ..account.clone() };
    let server = Server::new(Arc::clone(&http), runtime.clone(), account);
    let mut server = server.map_err(|failure| failure.text)?;
    server.discover().map_err(|failure| {
        let is_bare = !typed.contains("://") && failure.kind == FailureKind::Other;
        let other = Server::new(http, runtime, unencrypted).ok().filter(|_| is_bare);
        if other.is_some_and(|mut other| other.answers()) {
            format!("{}; without encryption it answers: type {plain} to use that", failure.text)
        } else {
            failure.text
        }
    })?;
    let account = server.account().clone();
    // An account with an API token may have no user.
    let is_same = |other: &&Account| {
        other.name != account.name && other.api == account.api && other.user == account.user
    };
    let mut known = file.read()?;
    known.retain(|other| !other.user.is_empty());
    if let Some(other) = known.iter().find(is_same) {
        return Err(flaw!("the account '{}' is of this user on this server already", other.name));
    }
    let stored = account.clone();
    file.change(|accounts| {
        accounts.retain(|other| other.name != stored.name);
        accounts.push(stored);
    })?;
    Ok(account)
}

/// Adds the account that was typed in the reader. Returns its name; the error is a sentence.
pub fn add(
    http: Arc<Http>,
    runtime: Handle,
    file: Option<AccountFile>,
    typed: &NewLogin,
) -> Result<String, InputFlaw> {
    let file = file.ok_or(NO_FOLDER)?;
    let url = server_address(&typed.address)?;
    let account = new_account(&file, &url, None, &typed.user)?;
    let password = Some(typed.password.reveal().to_owned());
    log_in(http, runtime, &file, Account { password, ..account }, &typed.address)
        .map(|account| account.name)
}

/// Removes an account with its login from the file. The error is a sentence.
pub fn forget(file: Option<AccountFile>, name: &str) -> Result<(), InputFlaw> {
    let file = file.ok_or(NO_FOLDER)?;
    file.change(|accounts| accounts.retain(|account| account.name != name))
}

/// Returns what the user should know about the account: a sentence, if there is one.
pub fn without_labels(account: &Account) -> Option<&'static str> {
    let is_shared = Server::labels_of(account);
    (!is_shared).then_some("labels of entries stay here: this server has none that can be shared")
}
