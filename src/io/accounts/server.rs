//! The server of an account: the connection to it, which counts requests and explains failed answers; its API, with the requests
//! that both APIs have; and the login that adds an account.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::{AnswerFault, RemoteFeed};
use backissue_core::accounts::api_call::{ApiCall, MarkAction, SubscriptionEdit};
use backissue_core::accounts::greader::{Dialect, bases};
use backissue_core::accounts::miniflux::{self, MARKS_A_REQUEST};
use backissue_core::accounts::secrets::Secrets;
use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::schedule::retry_after_seconds;
use backissue_core::{InputFlaw, flaw};
use tokio::runtime::Handle;
use url::Url;

use super::account_file::{Account, AccountFile, ApiKind};
use crate::engine::feeds::addresses::web_address;
use crate::engine::poll::fetch::FetchFailure;
use crate::io::clock;
use crate::io::http::Http;
use crate::io::http::api_calls::{ApiAnswer, ApiLogin, ApiRequest};
use crate::ui::effect::NewLogin;

/// Interval between checks whether the sync was cancelled.
const CANCEL_LOOK: Duration = Duration::from_millis(100);
/// Time limit of a request. Servers on slow disks need seconds for a change of many marks.
const TIME_MAX: Duration = Duration::from_mins(2);
/// Time limit of all requests that search for the API of a new account, because the user waits for them.
const SEARCH_MAX: Duration = Duration::from_secs(30);

/// Why a sync cannot continue, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncFailure {
    /// The sentence.
    pub text: String,
    /// How to react to the failure.
    pub kind: FailureKind,
}

/// How to react to a failure of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The server rejects the login, so the user must act.
    Login,
    /// The server requests a pause, of this number of seconds if it states one.
    Pause(Option<u32>),
    /// The server failed or is slow, perhaps because the request asked for too much.
    TooMuch,
    /// The answer is larger than the limit.
    TooLarge,
    /// Something could not be written here.
    Unwritten,
    /// Any other failure, which may be temporary.
    Other,
    /// The program ends, or the user cancelled the sync.
    Cancelled,
}

impl FailureKind {
    /// Returns the number of seconds for which the server asked to be left alone.
    pub const fn pause(self) -> Option<u32> {
        if let Self::Pause(seconds) = self { seconds } else { None }
    }

    /// Checks whether a smaller request may succeed.
    pub const fn is_too_much(self) -> bool {
        matches!(self, Self::TooMuch | Self::TooLarge)
    }

    /// How much the failure of one address says about the server, if several addresses are tried. An API that rejects the login
    /// says more than an API that fails, and that says more than a web page.
    pub(super) const fn weight(self) -> u8 {
        match self {
            Self::Login => 2,
            Self::Pause(_) | Self::TooMuch | Self::TooLarge => 1,
            Self::Unwritten | Self::Other | Self::Cancelled => 0,
        }
    }
}

impl SyncFailure {
    /// Creates a failure that may be temporary.
    pub fn other(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: FailureKind::Other }
    }

    /// Creates the failure of a sync that was interrupted.
    pub fn cancelled() -> Self {
        let text = "the sync was interrupted; the next one continues from here".to_owned();
        Self { text, kind: FailureKind::Cancelled }
    }
}

/// Requests and bytes of a sync.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of requests.
    pub requests: u32,
    /// Bytes of bodies sent.
    pub sent: u64,
    /// Bytes of bodies received, before decompression.
    pub received: u64,
}

/// The connection to a server.
pub(super) struct Connection {
    http: Arc<Http>,
    runtime: Handle,
    /// Name of the account.
    name: String,
    /// Base address of the API.
    pub(super) base: Url,
    /// Time left for the search for the API of a new account; `None` for an account whose API is known.
    pub(super) search_time: Option<Duration>,
    /// Requests and bytes so far.
    pub(super) usage: Usage,
    /// Checks whether to cancel the request in progress.
    pub(super) is_cancelled: Box<dyn Fn() -> bool + Send>,
}

impl Connection {
    /// Creates the connection to the server with this address.
    pub(super) fn new(
        http: Arc<Http>,
        runtime: Handle,
        name: &str,
        address: &str,
    ) -> Result<Self, SyncFailure> {
        let base = Url::parse(address).map_err(|error| {
            SyncFailure::other(format!("the address of account '{name}' is wrong: {error}"))
        })?;
        let is_cancelled = Box::new(|| false);
        let (name, usage) = (name.to_owned(), Usage::default());
        Ok(Self { http, runtime, name, base, search_time: None, usage, is_cancelled })
    }

    /// Sends a request and returns the answer, whatever its status.
    pub(super) fn send(
        &mut self,
        call: &ApiCall,
        login: Option<ApiLogin>,
    ) -> Result<ApiAnswer, SyncFailure> {
        let (url, body) = (call.address(&self.base), call.body.clone());
        let (begun, time) = (clock::precise_now(), self.search_time.unwrap_or(TIME_MAX));
        let request = ApiRequest { url, verb: call.verb, body, login, time };
        self.usage.requests = self.usage.requests.saturating_add(1);
        self.usage.sent = self.usage.sent.saturating_add(call.body.len() as u64);
        let (tell, answered) = channel();
        let http = Arc::clone(&self.http);
        // Use a separate task. When the program ends, the task is dropped, and with it the sender.
        self.runtime.spawn(async move {
            tell.send(http.call(&request).await).ok();
        });
        let answer = loop {
            match answered.recv_timeout(CANCEL_LOOK) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Timeout) if !(self.is_cancelled)() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(SyncFailure::cancelled());
                }
            }
        };
        let taken = clock::precise_now().signed_duration_since(begun).to_std().unwrap_or_default();
        self.search_time = self.search_time.map(|left| left.saturating_sub(taken));
        let answer = answer.map_err(|failure| {
            let kind = if matches!(failure, FetchFailure::TooLarge(_)) {
                FailureKind::TooLarge
            } else if matches!(failure, FetchFailure::Timeout { .. }) {
                FailureKind::TooMuch
            } else {
                FailureKind::Other
            };
            SyncFailure { text: format!("{}: {failure}", self.place()), kind }
        })?;
        self.usage.received = self.usage.received.saturating_add(answer.wire_bytes);
        Ok(answer)
    }

    /// Returns the name of the server for messages.
    pub(super) fn place(&self) -> String {
        format!("the server of account '{}' at {}", self.name, self.base)
    }

    /// Starts the search for the API of a new account, which has a time limit.
    pub(super) const fn start_search(&mut self) {
        self.search_time = Some(SEARCH_MAX);
    }

    /// Turns an answer that cannot be read into a failure.
    pub(super) fn read<T>(&self, answer: Result<T, AnswerFault>) -> Result<T, SyncFailure> {
        answer.map_err(|fault| {
            let why = if fault == AnswerFault::WebPage && self.search_time.is_some() {
                "answered with a web page: this is not the address of its API".to_owned()
            } else {
                fault.to_string()
            };
            SyncFailure::other(format!("{} {why}", self.place()))
        })
    }

    /// Turns an answer without success into a failure. `login` is the text for a rejected login, and `told` is what the server
    /// says about the failure.
    pub(super) fn refused(
        &self,
        answer: &ApiAnswer,
        login: &str,
        told: Option<String>,
    ) -> SyncFailure {
        let place = self.place();
        let pause = || {
            let stated = answer.retry_after.as_deref();
            let seconds = stated.and_then(|text| retry_after_seconds(text, clock::now()));
            FailureKind::Pause(seconds)
        };
        let is_page = answer.body.trim_ascii_start().starts_with(b"<");
        let is_json = answer.body.starts_with(b"{");
        let (kind, why) = match answer.status {
            401 if answer.asks_basic && !is_json => (
                FailureKind::Other,
                "is behind a proxy that asks for a login of its own: give it as a header of this address, with [[network.headers]] in the configuration".to_owned(),
            ),
            403 if is_page || answer.wall.is_some() => {
                let who = answer.wall.unwrap_or("a proxy or a service against bots");
                (FailureKind::Other, format!("is not reached: {who} in front of it refuses programs"))
            }
            401 | 403 => (FailureKind::Login, login.to_owned()),
            429 => (pause(), "asks for fewer requests".to_owned()),
            503 => (pause(), "is down for maintenance, or its API is switched off".to_owned()),
            300..=399 => {
                let to = answer.location.as_deref().unwrap_or("another address");
                let why = format!(
                    "redirects to {}: if it moved, add the account with its new address",
                    one_line(to, 300)
                );
                (FailureKind::Other, why)
            }
            404 | 405 => (FailureKind::Other, "has no API at this address".to_owned()),
            status => {
                let start = answer.body.get(..200).unwrap_or(&answer.body);
                let start = || one_line(&String::from_utf8_lossy(start), 80);
                let body = told.unwrap_or_else(start);
                let is_fault = matches!(status, 500 | 502 | 504);
                let kind = if is_fault { FailureKind::TooMuch } else { FailureKind::Other };
                (kind, format!("answered {status} '{body}'"))
            }
        };
        SyncFailure { text: format!("{place} {why}"), kind }
    }
}

/// The server of an account.
pub struct Server {
    pub(super) connection: Connection,
    pub(super) account: Account,
    pub(super) dialect: Dialect,
    /// The token that the Google Reader API requires with each change; `None` until it was requested.
    pub(super) token: Option<String>,
    pub(super) miniflux: MinifluxSession,
    /// The secrets that were sent to the server.
    pub(super) secrets: Secrets,
    /// `true` if the login in the account was renewed and should be stored.
    pub login_changed: bool,
}

/// State of the session with a Miniflux server.
#[derive(Default)]
pub(super) struct MinifluxSession {
    /// Password or API token.
    pub(super) secret: Option<String>,
    /// Numbers and titles of the categories, once they were read.
    pub(super) categories: Option<Vec<(u64, String)>>,
    /// Number of entries to request next, if answers were too large.
    pub(super) page: Option<u32>,
    /// Maximum number of entries to request, if the server failed at more.
    pub(super) page_max: Option<u32>,
    /// Whether the server supports only a request that toggles a star.
    pub(super) toggles: bool,
    /// Time in the last answer of the server by its clock, in Unix seconds.
    pub(super) clock: Option<i64>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Server").field(&self.account).finish()
    }
}

/// Returns an address with https instead of http, and with the port of `secure`.
pub(super) fn secured(base: &Url, secure: &Url) -> Url {
    let mut base = base.clone();
    // These fail only for addresses without a host.
    base.set_scheme("https").and_then(|()| base.set_port(secure.port())).ok();
    base
}

impl Server {
    /// Creates the client of an account.
    pub fn new(http: Arc<Http>, runtime: Handle, account: Account) -> Result<Self, SyncFailure> {
        let connection = Connection::new(http, runtime, &account.name, &account.api)?;
        let mut secrets = Secrets::default();
        account.password.iter().for_each(|password| secrets.add_password(&account.user, password));
        account.login.iter().for_each(|login| secrets.add_token(login));
        Ok(Self {
            dialect: Dialect::of(&connection.base),
            connection,
            account,
            token: None,
            miniflux: MinifluxSession::default(),
            secrets,
            login_changed: false,
        })
    }

    /// Sets the function that cancels requests: they end when it returns `true`.
    #[must_use]
    pub fn cancelled_by(mut self, is_cancelled: impl Fn() -> bool + Send + 'static) -> Self {
        self.connection.is_cancelled = Box::new(is_cancelled);
        self
    }

    /// Finds the API below the address of the account and logs in. Sets the address of the account to the base that answered, and
    /// its API. If the account has no user, searches for Miniflux only, because the Google Reader API has no tokens.
    pub fn discover(&mut self) -> Result<(), SyncFailure> {
        let mut refused: Option<SyncFailure> = None;
        self.connection.start_search();
        let mut secure: Option<Url> = None;
        for base in bases(&self.connection.base) {
            let base = secure.as_ref().map_or_else(|| base.clone(), |to| secured(&base, to));
            (self.dialect, self.connection.base) = (Dialect::of(&base), base);
            let is_miniflux = match self.is_miniflux() {
                Ok(is_miniflux) => is_miniflux,
                Err(failure) => {
                    refused.get_or_insert(failure);
                    continue;
                }
            };
            let is_secure = self.connection.base.scheme() == "https";
            secure = secure.or_else(|| is_secure.then(|| self.connection.base.clone()));
            let logged_in = match (is_miniflux, self.account.user.is_empty()) {
                (true, true) => self.miniflux_login(),
                // The Google Reader API of Miniflux may have another password.
                (true, false) => {
                    self.miniflux_login().or_else(|why| self.greader_login().map_err(|_| why))
                }
                (false, true) => continue,
                (false, false) => self.greader_login(),
            };
            match logged_in {
                Ok(()) => {
                    let base = self.connection.base.as_str().trim_end_matches('/');
                    base.clone_into(&mut self.account.api);
                    return Ok(());
                }
                Err(failure) if is_miniflux => return Err(failure),
                Err(failure) => {
                    let weight = failure.kind.weight();
                    if refused.as_ref().is_none_or(|known| known.kind.weight() < weight) {
                        refused = Some(failure);
                    }
                }
            }
        }
        let place = self.connection.place();
        Err(refused.unwrap_or_else(|| {
            SyncFailure::other(format!(
                "{place} is no Miniflux, and other servers have no API tokens: name the user with --user"
            ))
        }))
    }

    /// Returns the password of the account. From now on, it is masked in answers.
    pub(super) fn password(&mut self) -> Result<String, SyncFailure> {
        let password = self.account.password().map_err(SyncFailure::other)?;
        self.secrets.add_password(&self.account.user, &password);
        Ok(password)
    }

    /// Masks the secrets of the account in an answer.
    pub(super) fn mask(&self, answer: &mut ApiAnswer) {
        let is_data = answer.status == 200 && matches!(answer.body.first(), Some(b'{' | b'['));
        self.secrets.mask(&mut answer.body, is_data);
        answer.location = answer.location.take().map(|location| {
            let mut location = location.into_bytes();
            self.secrets.mask(&mut location, false);
            String::from_utf8_lossy(&location).into_owned()
        });
    }

    /// Checks whether the server answers at all, without being redirected.
    pub(super) fn answers(&mut self) -> bool {
        self.connection.send(&miniflux::me(), None).is_ok_and(|answer| answer.location.is_none())
    }

    /// Returns the account with its current login.
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the API of the server.
    pub const fn kind(&self) -> ApiKind {
        self.account.kind
    }

    /// Returns the requests and bytes so far.
    pub const fn usage(&self) -> Usage {
        self.connection.usage
    }

    /// Returns the number of entries to mark in one request.
    pub const fn marks_a_request(&self) -> usize {
        match self.kind() {
            ApiKind::GoogleReader => self.dialect.marks_a_request,
            ApiKind::Miniflux => MARKS_A_REQUEST,
        }
    }

    /// Returns the number of entries to request at once.
    pub(super) const fn entries_a_request(&self) -> usize {
        self.dialect.entries_a_request
    }

    /// Returns whether labels of entries can be synced with the server.
    pub(super) const fn has_labels(&self) -> bool {
        match self.kind() {
            ApiKind::GoogleReader => self.dialect.has_labels,
            ApiKind::Miniflux => false,
        }
    }

    /// Returns whether labels of entries can be synced with the server of this account.
    pub fn labels_of(account: &Account) -> bool {
        let is_known = |base: Url| Dialect::of(&base).has_labels;
        account.kind == ApiKind::GoogleReader && Url::parse(&account.api).is_ok_and(is_known)
    }

    /// Returns the host of the server.
    pub(super) fn host(&self) -> &str {
        self.connection.base.host_str().unwrap_or_default()
    }

    /// Returns the subscriptions.
    pub(super) fn subscriptions(&mut self) -> Result<Vec<RemoteFeed>, SyncFailure> {
        match self.kind() {
            ApiKind::GoogleReader => self.greader_subscriptions(),
            ApiKind::Miniflux => self.miniflux_subscriptions(),
        }
    }

    /// Changes marks on the server.
    pub(super) fn mark(&mut self, action: MarkAction, ids: &[ItemId]) -> Result<(), SyncFailure> {
        match self.kind() {
            ApiKind::GoogleReader => self.greader_mark(action, ids),
            ApiKind::Miniflux => self.miniflux_mark(action, ids),
        }
    }

    /// Changes a subscription on the server. Returns the stream of a new subscription, if the server returns it.
    pub(super) fn edit(
        &mut self,
        stream: &str,
        edit: &SubscriptionEdit<'_>,
    ) -> Result<Option<String>, SyncFailure> {
        match self.kind() {
            ApiKind::GoogleReader => self.greader_edit(stream, edit),
            ApiKind::Miniflux => self.miniflux_edit(stream, edit),
        }
    }
}

/// Error message if an account cannot be stored.
pub const NO_FOLDER: &str = "there is no folder for the configuration, so no account can be stored";

/// Returns the address of a server that the user typed. The error is a sentence.
pub fn server_address(typed: &str) -> Result<Url, InputFlaw> {
    let address = web_address(typed)?;
    let url = Url::parse(&address).map_err(|error| format!("'{typed}': {error}"))?;
    if url.password().is_some() || !url.username().is_empty() {
        return Err("leave the login out of the address: it is asked for".into());
    }
    Ok(url)
}

/// Returns the name of an account: the given name, or else the host of its server.
pub fn name_of(named: Option<&str>, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let usual = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    named.map_or(usual, |name| one_line(name, NAME_MAX))
}

/// Creates an account without a password. An empty user means that the password will be an API token. Fails if the name is empty
/// or if another user has an account with this name. The error is a sentence.
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

/// Logs in and stores the account with its password. `typed` is the address of the server as the user typed it. Blocks until the
/// server has answered. The error is a sentence.
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

/// Adds an account that was entered in the reader. Returns its name. The error is a sentence.
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

/// Returns a sentence about the account that the user should see, if there is one.
pub fn without_labels(account: &Account) -> Option<&'static str> {
    let is_shared = Server::labels_of(account);
    (!is_shared).then_some("labels of entries stay here: this server has none that can be shared")
}
