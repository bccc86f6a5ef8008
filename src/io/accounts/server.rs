//! The requests of a sync to the server of one account, and what its answers mean.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tokio::runtime::Handle;
use url::Url;

use super::account_file::Account;
use crate::engine::poll::fetch::FetchFailure;
use crate::io::http::Http;
use crate::io::http::api_calls::{ApiAnswer, ApiRequest};
use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::{
    self, AnswerFault, GatheredIds, RemoteFeed, RemoteItem, RemoteTags,
};
use backissue_core::accounts::dialect::{Dialect, bases};
use backissue_core::accounts::greader::{self, ApiCall, IdsWanted, MarkAction, SubscriptionEdit};
use backissue_core::feed::text::one_line;

/// Interval between checks whether the sync was cancelled.
const CANCEL_LOOK: Duration = Duration::from_millis(100);
/// Number of ids to ask for in one answer after a server failed at more.
const SMALL_PAGE: u32 = 1_000;
/// Number of ids that a sync asks for first, to see whether there is anything new.
const NEWEST: u32 = 100;

/// Why a sync cannot go on; a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncFailure {
    /// The sentence.
    pub text: String,
    /// What the failure calls for.
    pub kind: FailureKind,
}

/// What a failure of a sync calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The server refuses the login: the user must act.
    Login,
    /// The server asks for a pause, of this number of seconds if it says so.
    Pause(Option<u32>),
    /// The server failed or is slow, perhaps because the request asked for too much.
    TooMuch,
    /// The answer is larger than any may be.
    TooLarge,
    /// Anything else; it may pass.
    Other,
    /// The program ends or the user cancelled.
    Cancelled,
}

impl FailureKind {
    /// Checks whether a smaller request may succeed.
    pub const fn is_too_much(self) -> bool {
        matches!(self, Self::TooMuch | Self::TooLarge)
    }
}

impl SyncFailure {
    /// Creates a failure that may pass.
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
    /// Bytes of bodies received, as they came over the wire.
    pub received: u64,
}

/// The server of an account.
pub struct Server {
    http: Arc<Http>,
    runtime: Handle,
    account: Account,
    base: Url,
    dialect: Dialect,
    token: Option<String>,
    /// `true` while the API is searched for.
    is_new: bool,
    /// `true` if the login in the account was renewed and should be stored.
    pub login_changed: bool,
    /// Requests and bytes so far.
    pub usage: Usage,
    is_cancelled: Box<dyn Fn() -> bool + Send>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Server").field(&self.account).finish()
    }
}

impl Server {
    /// Creates the client of an account.
    pub fn new(http: Arc<Http>, runtime: Handle, account: Account) -> Result<Self, SyncFailure> {
        let base = Url::parse(&account.api).map_err(|error| {
            SyncFailure::other(format!(
                "the address of account '{}' is wrong: {error}",
                account.name
            ))
        })?;
        let dialect = Dialect::of(&base);
        let (token, usage) = (None, Usage::default());
        let is_cancelled = Box::new(|| false);
        Ok(Self {
            http,
            runtime,
            account,
            base,
            dialect,
            token,
            is_new: false,
            login_changed: false,
            usage,
            is_cancelled,
        })
    }

    /// Ends requests when this function returns `true`.
    #[must_use]
    pub fn cancelled_by(self, is_cancelled: impl Fn() -> bool + Send + 'static) -> Self {
        Self { is_cancelled: Box::new(is_cancelled), ..self }
    }

    /// Finds the API below the address of the account and logs in. Sets the address of the account to the base that answered.
    pub fn discover(&mut self) -> Result<(), SyncFailure> {
        let mut refused: Option<SyncFailure> = None;
        self.is_new = true;
        for base in bases(&self.base) {
            (self.dialect, self.base) = (Dialect::of(&base), base);
            match self.login() {
                Ok(()) => {
                    self.account.api = self.base.as_str().trim_end_matches('/').to_owned();
                    return Ok(());
                }
                Err(failure) => {
                    let is_login = failure.kind == FailureKind::Login;
                    if refused.is_none() || is_login {
                        refused = Some(failure);
                    }
                }
            }
        }
        Err(refused.unwrap_or_else(|| SyncFailure::other("the address names no server")))
    }

    /// Returns the account with its present login.
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// Number of entries to mark in one request.
    pub const fn marks_a_request(&self) -> usize {
        self.dialect.marks_a_request
    }

    /// Number of entries to ask for in one request.
    pub const fn entries_a_request(&self) -> usize {
        self.dialect.entries_a_request
    }

    /// `true` if labels of entries can be shared with the server.
    pub const fn has_labels(&self) -> bool {
        self.dialect.has_labels
    }

    fn login(&mut self) -> Result<(), SyncFailure> {
        let password = self.account.password().map_err(SyncFailure::other)?;
        let call = greader::login(&self.account.user, &password);
        (self.account.login, self.token) = (None, None);
        let answer = self.send(&call)?;
        if answer.status != 200 {
            return Err(self.refused(&answer));
        }
        let login = self.read(answers::read_login(&answer.body))?;
        self.account.login = Some(login);
        self.login_changed = true;
        Ok(())
    }

    fn send(&mut self, call: &ApiCall) -> Result<ApiAnswer, SyncFailure> {
        let login = self.account.login.as_ref();
        let request = ApiRequest {
            url: call.address(&self.base),
            form: call.form.clone(),
            authorization: login.map(|login| format!("GoogleLogin auth={login}")),
        };
        self.usage.requests = self.usage.requests.saturating_add(1);
        let sent = call.form.as_ref().map_or(0, String::len);
        self.usage.sent = self.usage.sent.saturating_add(sent as u64);
        let (tell, answered) = channel();
        let http = Arc::clone(&self.http);
        // A separate task: when the program ends, it is dropped, and with it the sender.
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

    /// Sends a request that `make` creates with the token. If the login is no longer valid, logs in again and repeats it once.
    fn ask(
        &mut self,
        make: &dyn Fn(&str) -> ApiCall,
        with_token: bool,
    ) -> Result<Vec<u8>, SyncFailure> {
        for is_last in [false, true] {
            if self.account.login.is_none() {
                self.login()?;
            }
            let token = if with_token { self.token()? } else { Some(String::new()) };
            let answer = match token {
                Some(token) => self.send(&make(&token))?,
                None => ApiAnswer { status: 401, ..ApiAnswer::default() },
            };
            match answer.status {
                200 => return Ok(answer.body),
                401 if !is_last => (self.account.login, self.token) = (None, None),
                _ => return Err(self.refused(&answer)),
            }
        }
        Err(SyncFailure::other("the login is not accepted"))
    }

    /// Returns the token for changes; `None` if the login is no longer valid.
    fn token(&mut self) -> Result<Option<String>, SyncFailure> {
        if self.token.is_none() {
            let answer = self.send(&greader::token())?;
            match answer.status {
                200 => self.token = Some(self.read(answers::read_token(&answer.body))?),
                401 => return Ok(None),
                _ => return Err(self.refused(&answer)),
            }
        }
        Ok(self.token.clone())
    }

    /// Returns the subscriptions.
    pub fn subscriptions(&mut self) -> Result<Vec<RemoteFeed>, SyncFailure> {
        let body = self.ask(&|_| greader::subscriptions(), false)?;
        self.read(answers::read_subscriptions(&body, self.dialect.widens_titles))
    }

    /// Returns all ids of a stream. With `known`, stops at the first page without an unknown id; the first page is short then.
    pub fn ids(
        &mut self,
        stream: &str,
        unread: bool,
        known: Option<&dyn Fn(&ItemId) -> bool>,
    ) -> Result<GatheredIds, SyncFailure> {
        let mut gathered = GatheredIds::default();
        let mut count = if known.is_some() { NEWEST } else { self.dialect.ids_a_page };
        loop {
            let (before, continuation) = (gathered.ids.len(), gathered.continuation.clone());
            let wanted = IdsWanted { stream, unread, count, continuation: continuation.as_deref() };
            let body = match self.ask(&|_| greader::item_ids(&wanted), false) {
                Err(failure) if failure.kind.is_too_much() && count > SMALL_PAGE => {
                    self.dialect.ids_a_page = SMALL_PAGE;
                    count = SMALL_PAGE;
                    continue;
                }
                body => body?,
            };
            self.read(gathered.add(&body))?;
            let page = gathered.ids.get(before..).unwrap_or_default();
            let is_known = known.is_some_and(|known| page.iter().all(known));
            if gathered.continuation.is_none() || is_known {
                return Ok(gathered);
            }
            count = self.dialect.ids_a_page;
        }
    }

    /// Returns entries with their texts. Those that the server does not have are left out, and so is one whose answer alone is
    /// larger than any answer may be.
    pub fn items(&mut self, ids: &[ItemId]) -> Result<Vec<RemoteItem>, SyncFailure> {
        let body = match self.ask(&|token| greader::contents(token, ids), true) {
            Err(failure) if failure.kind == FailureKind::TooLarge => {
                let (first, second) = ids.split_at(ids.len() / 2);
                if first.is_empty() {
                    return Ok(Vec::new());
                }
                let mut items = self.items(first)?;
                items.extend(self.items(second)?);
                return Ok(items);
            }
            body => body?,
        };
        self.read(answers::read_items(&body, self.dialect.widens_titles))
    }

    /// Changes marks on the server.
    pub fn mark(&mut self, action: MarkAction, ids: &[ItemId]) -> Result<(), SyncFailure> {
        let body = self.ask(&|token| greader::mark(token, action, ids), true)?;
        self.read(answers::read_ok(&body))
    }

    /// Returns the names of labels and folders.
    pub fn tags(&mut self) -> Result<RemoteTags, SyncFailure> {
        let body = self.ask(&|_| greader::tags(), false)?;
        self.read(answers::read_tags(&body))
    }

    /// Labels entries on the server, or removes the label from them.
    pub fn label(&mut self, name: &str, set: bool, ids: &[ItemId]) -> Result<(), SyncFailure> {
        let body = self.ask(&|token| greader::label(token, name, set, ids), true)?;
        self.read(answers::read_ok(&body))
    }

    /// Changes a subscription on the server.
    pub fn edit(&mut self, stream: &str, edit: &SubscriptionEdit<'_>) -> Result<(), SyncFailure> {
        let body = self.ask(&|token| greader::edit_subscription(token, stream, edit), true)?;
        self.read(answers::read_ok(&body))
    }

    fn place(&self) -> String {
        format!("the server of account '{}' at {}", self.account.name, self.base)
    }

    fn read<T>(&self, answer: Result<T, AnswerFault>) -> Result<T, SyncFailure> {
        answer.map_err(|fault| {
            let why = if fault == AnswerFault::WebPage && self.is_new {
                "answered with a web page: this is not the address of its API".to_owned()
            } else {
                fault.to_string()
            };
            SyncFailure::other(format!("{} {why}", self.place()))
        })
    }

    /// Explains an answer without success.
    fn refused(&self, answer: &ApiAnswer) -> SyncFailure {
        let place = self.place();
        let pause = || {
            let seconds = answer.retry_after.as_deref().and_then(|text| text.trim().parse().ok());
            FailureKind::Pause(seconds)
        };
        let (kind, why) = match answer.status {
            401 | 403 if self.dialect.wants_app_key => {
                let why = "refuses the login: this service answers only to registered applications";
                (FailureKind::Login, why.to_owned())
            }
            401 | 403 => {
                let why = "refuses the user name or the API password; check them there and add the account again";
                (FailureKind::Login, why.to_owned())
            }
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
                let body = answer.body.get(..200).unwrap_or(&answer.body);
                let body = one_line(&String::from_utf8_lossy(body), 80);
                let is_fault = matches!(status, 500 | 502 | 504);
                let kind = if is_fault { FailureKind::TooMuch } else { FailureKind::Other };
                (kind, format!("answered {status} '{body}'"))
            }
        };
        SyncFailure { text: format!("{place} {why}"), kind }
    }
}
