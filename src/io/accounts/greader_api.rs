//! The requests of a sync in the Google Reader API.

use super::connection::{FailureKind, SyncFailure};
use super::server::Server;
use crate::io::http::api_calls::{ApiAnswer, ApiLogin};
use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::{self, GatheredIds, RemoteFeed, RemoteItem, RemoteTags};
use backissue_core::accounts::api_call::{ApiCall, MarkAction, SubscriptionEdit};
use backissue_core::accounts::greader::{self, IdsWanted, READING_LIST};

/// Number of ids to ask for in one answer after a server failed at more.
const SMALL_PAGE: u32 = 1_000;
/// Number of ids that a sync asks for first, to see whether there is anything new.
const NEWEST: u32 = 100;

impl Server {
    /// Logs in with the password.
    pub(super) fn greader_login(&mut self) -> Result<(), SyncFailure> {
        let password = self.password()?;
        let call = greader::login(&self.account.user, &password);
        (self.account.login, self.token) = (None, None);
        let answer = self.greader_send(&call)?;
        if answer.status != 200 {
            return Err(self.greader_refused(answer));
        }
        let login = self.connection.read(answers::read_login(&answer.body))?;
        self.secrets.add_token(&login);
        self.account.login = Some(login);
        self.login_changed = true;
        Ok(())
    }

    fn greader_send(&mut self, call: &ApiCall) -> Result<ApiAnswer, SyncFailure> {
        let login = self.account.login.as_ref();
        let login = login.map(|login| ApiLogin::Authorization(format!("GoogleLogin auth={login}")));
        self.connection.send(call, login)
    }

    fn greader_refused(&self, mut answer: ApiAnswer) -> SyncFailure {
        self.mask(&mut answer);
        let login = if self.dialect.wants_app_key {
            "refuses the login: this service answers only to registered applications"
        } else {
            "refuses the user name or the API password; check them there and add the account again"
        };
        self.connection.refused(&answer, login, None)
    }

    /// Sends a request that `make` creates with the token. If the login is no longer valid, logs in again and repeats it once.
    fn ask(
        &mut self,
        make: &dyn Fn(&str) -> ApiCall,
        with_token: bool,
    ) -> Result<Vec<u8>, SyncFailure> {
        for is_last in [false, true] {
            if self.account.login.is_none() {
                self.greader_login()?;
            }
            let token = if with_token { self.token()? } else { Some(String::new()) };
            let mut answer = match token {
                Some(token) => self.greader_send(&make(&token))?,
                None => ApiAnswer { status: 401, ..ApiAnswer::default() },
            };
            match answer.status {
                200 => {
                    self.mask(&mut answer);
                    return Ok(answer.body);
                }
                401 if !is_last => (self.account.login, self.token) = (None, None),
                _ => return Err(self.greader_refused(answer)),
            }
        }
        Err(SyncFailure::other("the login is not accepted"))
    }

    /// Returns the token for changes; `None` if the login is no longer valid.
    fn token(&mut self) -> Result<Option<String>, SyncFailure> {
        if self.token.is_none() {
            let answer = self.greader_send(&greader::token())?;
            match answer.status {
                200 => {
                    let token = self.connection.read(answers::read_token(&answer.body))?;
                    self.secrets.add_token(&token);
                    self.token = Some(token);
                }
                401 => return Ok(None),
                _ => return Err(self.greader_refused(answer)),
            }
        }
        Ok(self.token.clone())
    }

    /// Returns the subscriptions.
    pub(super) fn greader_subscriptions(&mut self) -> Result<Vec<RemoteFeed>, SyncFailure> {
        let body = self.ask(&|_| greader::subscriptions(), false)?;
        self.connection.read(answers::read_subscriptions(&body, self.dialect.widens_titles))
    }

    /// Returns all ids of a stream. With `known`, stops at the first page without an unknown id; the first page is short then.
    pub(super) fn ids(
        &mut self,
        stream: &str,
        unread: bool,
        known: Option<&dyn Fn(&ItemId) -> bool>,
    ) -> Result<GatheredIds, SyncFailure> {
        let mut gathered = GatheredIds::default();
        let first = if known.is_some() { NEWEST } else { self.dialect.ids_a_page };
        self.page(&mut gathered, stream, unread, first)?;
        let mut start = 0;
        while gathered.continuation.is_some() {
            let page = gathered.ids.get(start..).unwrap_or_default();
            if known.is_some_and(|known| page.iter().all(known)) {
                break;
            }
            start = gathered.ids.len();
            self.page(&mut gathered, stream, unread, self.dialect.ids_a_page)?;
        }
        Ok(gathered)
    }

    /// Returns the unread entries; `None` if there are several pages of them and `is_as_before` of the first one.
    pub(super) fn unread_ids(
        &mut self,
        is_as_before: impl FnOnce(&[ItemId]) -> bool,
    ) -> Result<Option<GatheredIds>, SyncFailure> {
        let mut gathered = GatheredIds::default();
        self.page(&mut gathered, READING_LIST, true, self.dialect.ids_a_page)?;
        if is_as_before(&gathered.ids) && gathered.continuation.is_some() {
            return Ok(None);
        }
        while gathered.continuation.is_some() {
            self.page(&mut gathered, READING_LIST, true, self.dialect.ids_a_page)?;
        }
        Ok(Some(gathered))
    }

    /// Gathers the next page of a stream.
    fn page(
        &mut self,
        gathered: &mut GatheredIds,
        stream: &str,
        unread: bool,
        count: u32,
    ) -> Result<(), SyncFailure> {
        let continuation = gathered.continuation.clone();
        let wanted = IdsWanted { stream, unread, count, continuation: continuation.as_deref() };
        let body = match self.ask(&|_| greader::item_ids(&wanted), false) {
            Err(failure) if failure.kind.is_too_much() && count > SMALL_PAGE => {
                self.dialect.ids_a_page = SMALL_PAGE;
                return self.page(gathered, stream, unread, SMALL_PAGE);
            }
            body => body?,
        };
        self.connection.read(gathered.add(&body))
    }

    /// Returns entries with their texts. Those that the server does not have are left out, and so is one whose answer alone is
    /// larger than any answer may be.
    pub(super) fn items(&mut self, ids: &[ItemId]) -> Result<Vec<RemoteItem>, SyncFailure> {
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
        self.connection.read(answers::read_items(&body, self.dialect.widens_titles))
    }

    /// Changes marks on the server.
    pub(super) fn greader_mark(
        &mut self,
        action: MarkAction,
        ids: &[ItemId],
    ) -> Result<(), SyncFailure> {
        let body = self.ask(&|token| greader::mark(token, action, ids), true)?;
        self.connection.read(answers::read_ok(&body))
    }

    /// Returns the names of labels and folders.
    pub(super) fn tags(&mut self) -> Result<RemoteTags, SyncFailure> {
        let body = self.ask(&|_| greader::tags(), false)?;
        self.connection.read(answers::read_tags(&body))
    }

    /// Labels entries on the server, or removes the label from them.
    pub(super) fn label(
        &mut self,
        name: &str,
        set: bool,
        ids: &[ItemId],
    ) -> Result<(), SyncFailure> {
        let body = self.ask(&|token| greader::label(token, name, set, ids), true)?;
        self.connection.read(answers::read_ok(&body))
    }

    /// Changes a subscription on the server.
    pub(super) fn greader_edit(
        &mut self,
        stream: &str,
        edit: &SubscriptionEdit<'_>,
    ) -> Result<Option<String>, SyncFailure> {
        let edited = self.ask(&|token| greader::edit_subscription(token, stream, edit), true);
        let edited = edited.and_then(|body| self.connection.read(answers::read_ok(&body)));
        match (edited, edit) {
            // Some servers can only add feeds.
            (Err(failure), SubscriptionEdit::Add(url))
                if failure.kind == FailureKind::Other && self.dialect.name.is_empty() =>
            {
                let body = self.ask(&|token| greader::quick_add(token, url), true);
                let added =
                    body.and_then(|body| self.connection.read(answers::read_quick_add(&body)));
                added.map(Some).map_err(|_| failure)
            }
            (edited, _) => edited.map(|()| None),
        }
    }
}
