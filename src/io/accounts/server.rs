//! The server of an account: finds its API, and makes the requests that every API has.

use std::sync::Arc;

use tokio::runtime::Handle;
use url::Url;

use super::account_file::{Account, ApiKind};
use super::connection::{Connection, SyncFailure, Usage};
use crate::io::http::Http;
use crate::io::http::api_calls::ApiAnswer;
use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::RemoteFeed;
use backissue_core::accounts::api_call::{MarkAction, SubscriptionEdit};
use backissue_core::accounts::greader::{Dialect, bases};
use backissue_core::accounts::miniflux::{self, MARKS_A_REQUEST};
use backissue_core::accounts::secrets::Secrets;

/// The server of an account.
pub struct Server {
    pub(super) connection: Connection,
    pub(super) account: Account,
    pub(super) dialect: Dialect,
    /// What the Google Reader API wants with each change.
    pub(super) token: Option<String>,
    pub(super) miniflux: MinifluxSession,
    /// The secrets that were sent to the server.
    pub(super) secrets: Secrets,
    /// `true` if the login in the account was renewed and should be stored.
    pub login_changed: bool,
}

/// What is known of a Miniflux during a sync.
#[derive(Default)]
pub(super) struct MinifluxSession {
    /// Password or API token.
    pub(super) secret: Option<String>,
    /// Numbers and titles of the categories, once they were read.
    pub(super) categories: Option<Vec<(u64, String)>>,
    /// Number of entries to ask for next, if answers were too large.
    pub(super) page: Option<u32>,
    /// Largest number of entries to ask for, if the server failed at more.
    pub(super) page_max: Option<u32>,
    /// `true` if it only has stars that a request toggles.
    pub(super) toggles: bool,
    /// Clock of the server in its last answer, in Unix seconds.
    pub(super) clock: Option<i64>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Server").field(&self.account).finish()
    }
}

/// Returns an address with encryption, at the port of `secure`.
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

    /// Ends requests when this function returns `true`.
    #[must_use]
    pub fn cancelled_by(mut self, is_cancelled: impl Fn() -> bool + Send + 'static) -> Self {
        self.connection.is_cancelled = Box::new(is_cancelled);
        self
    }

    /// Finds the API below the address of the account and logs in. Sets the address of the account to the base that answered, and its
    /// API. Without a user, only Miniflux is looked for, because the other API has no tokens.
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
                // Its Google Reader API can have another password.
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

    /// Returns the password of the account, which is masked in answers from now on.
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

    /// Checks whether the server answers at all.
    pub(super) fn answers(&mut self) -> bool {
        self.connection.send(&miniflux::me(), None).is_ok_and(|answer| answer.location.is_none())
    }

    /// Returns the account with its present login.
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// The API of the server.
    pub const fn kind(&self) -> ApiKind {
        self.account.kind
    }

    /// Requests and bytes so far.
    pub const fn usage(&self) -> Usage {
        self.connection.usage
    }

    /// Number of entries to mark in one request.
    pub const fn marks_a_request(&self) -> usize {
        match self.kind() {
            ApiKind::GoogleReader => self.dialect.marks_a_request,
            ApiKind::Miniflux => MARKS_A_REQUEST,
        }
    }

    /// Number of entries to ask for in one request.
    pub(super) const fn entries_a_request(&self) -> usize {
        self.dialect.entries_a_request
    }

    /// `true` if labels of entries can be shared with the server.
    pub(super) const fn has_labels(&self) -> bool {
        match self.kind() {
            ApiKind::GoogleReader => self.dialect.has_labels,
            ApiKind::Miniflux => false,
        }
    }

    /// `true` if labels of entries can be shared with the server of this account.
    pub fn labels_of(account: &Account) -> bool {
        let is_known = |base: Url| Dialect::of(&base).has_labels;
        account.kind == ApiKind::GoogleReader && Url::parse(&account.api).is_ok_and(is_known)
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

    /// Changes a subscription on the server. Returns the stream of a new one if the server names it.
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
