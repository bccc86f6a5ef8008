//! The requests of a sync in the Google Reader API and in the API of Miniflux.

use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::{
    self, AnswerFault, GatheredIds, RemoteFeed, RemoteItem, RemoteTags,
};
use backissue_core::accounts::api_call::{ApiCall, MarkAction, SubscriptionEdit};
use backissue_core::accounts::greader::{self, IdsWanted, READING_LIST};
use backissue_core::accounts::miniflux::{
    self, Counts, ENTRIES_A_PAGE, EntriesPage, EntriesWanted, NO_FOLDER,
};
use url::Url;

use super::account_file::ApiKind;
use super::server::{FailureKind, Server, SyncFailure, secured};
use crate::io::http::api_calls::{ApiAnswer, ApiLogin};

/// Number of ids to request at once after the server failed at more.
const SMALL_ID_PAGE: u32 = 1_000;
/// Number of ids that a sync requests first, to check whether there are new entries.
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

    /// Sends the request that `make` creates from the token. If the login is no longer valid, logs in again and repeats the
    /// request once.
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

    /// Returns the token for changes, or `None` if the login is no longer valid.
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

    /// Returns all ids of a stream. If `known` is given, starts with a short page, and stops at the first page on which all ids
    /// are known.
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

    /// Returns the unread entries. Returns `None` if there is more than one page and `is_as_before` returns `true` for the first
    /// page.
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

    /// Requests the next page of a stream and adds it.
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
            Err(failure) if failure.kind.is_too_much() && count > SMALL_ID_PAGE => {
                self.dialect.ids_a_page = SMALL_ID_PAGE;
                return self.page(gathered, stream, unread, SMALL_ID_PAGE);
            }
            body => body?,
        };
        self.connection.read(gathered.add(&body))
    }

    /// Returns entries with their texts. Entries that the server does not have are left out, and so is an entry that alone makes
    /// an answer larger than the limit.
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
            // Some servers support only this request for new feeds.
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

/// Number of entries to request at once after the server failed at more.
const SMALL_PAGE: u32 = 25;
/// Maximum number of entries that a page leaves out because each alone makes an answer larger than the limit.
const SKIPPED_MAX: u32 = 1_000;
/// Messages for a rejected login.
const WRONG_LOGIN: &str = "refuses the user name or the password; add the account again with the password of its web page, or with an API token and without a user";
const WRONG_TOKEN: &str =
    "refuses the API token; make one there under Settings, API Keys, and add the account again";

impl Server {
    /// Checks whether there is a Miniflux server at the base address. Miniflux is recognised by how it rejects a request without
    /// a login, so that no other server receives the password in the form of this API.
    pub(super) fn is_miniflux(&mut self) -> Result<bool, SyncFailure> {
        let (base, is_known) = (self.connection.base.clone(), !self.dialect.name.is_empty());
        if is_known && base.scheme() == "https" {
            return Ok(false);
        }
        let answer = match self.connection.send(&miniflux::me(), None) {
            Ok(answer) => answer,
            Err(failure) if failure.kind == FailureKind::TooLarge => return Ok(false),
            Err(failure) => return Err(failure),
        };
        let to = answer.location.as_deref().filter(|_| (300..400).contains(&answer.status));
        let to = to.and_then(|to| Url::parse(to).ok()).filter(|to| {
            base.scheme() == "http" && to.scheme() == "https" && to.host() == base.host()
        });
        if let Some(to) = to {
            // Do this now, because otherwise the login would be sent without encryption.
            self.connection.base = secured(&base, &to);
            return self.is_miniflux();
        }
        Ok(!is_known && answer.status == 401 && miniflux::read_error(&answer.body).is_some())
    }

    /// Checks the password or the API token.
    pub(super) fn miniflux_login(&mut self) -> Result<(), SyncFailure> {
        let body = self.miniflux_ask(&miniflux::me())?;
        self.connection.read(miniflux::read_me(&body))?;
        (self.account.kind, self.account.login) = (ApiKind::Miniflux, None);
        Ok(())
    }

    fn miniflux_send(&mut self, call: &ApiCall) -> Result<ApiAnswer, SyncFailure> {
        let secret = match &self.miniflux.secret {
            Some(secret) => secret.clone(),
            None => self.password()?,
        };
        self.miniflux.secret = Some(secret.clone());
        let user = &self.account.user;
        let login = if user.is_empty() {
            ApiLogin::Token(secret)
        } else {
            ApiLogin::Basic(user.clone(), secret)
        };
        let mut answer = self.connection.send(call, Some(login))?;
        self.mask(&mut answer);
        self.miniflux.clock = answer.date.or(self.miniflux.clock);
        Ok(answer)
    }

    fn miniflux_ask(&mut self, call: &ApiCall) -> Result<Vec<u8>, SyncFailure> {
        let answer = self.miniflux_send(call)?;
        if (200..300).contains(&answer.status) {
            return Ok(answer.body);
        }
        Err(self.miniflux_refused(&answer))
    }

    fn miniflux_refused(&self, answer: &ApiAnswer) -> SyncFailure {
        let login = if self.account.user.is_empty() { WRONG_TOKEN } else { WRONG_LOGIN };
        self.connection.refused(answer, login, miniflux::read_error(&answer.body))
    }

    pub(super) fn miniflux_subscriptions(&mut self) -> Result<Vec<RemoteFeed>, SyncFailure> {
        let body = self.miniflux_ask(&miniflux::feeds())?;
        self.connection.read(miniflux::read_feeds(&body))
    }

    /// Returns the numbers of unread and read entries of each feed.
    pub(super) fn counters(&mut self) -> Result<Counts, SyncFailure> {
        let body = self.miniflux_ask(&miniflux::counters())?;
        self.connection.read(miniflux::read_counters(&body))
    }

    /// Returns a page of entries, and how many entries at its start were left out because each alone makes an answer larger than
    /// the limit.
    pub(super) fn entries(
        &mut self,
        wanted: &EntriesWanted,
    ) -> Result<(EntriesPage, u32), SyncFailure> {
        let most = self.miniflux.page_max.unwrap_or(ENTRIES_A_PAGE);
        let usual = self.miniflux.page.unwrap_or(most).min(most);
        let limit = if wanted.limit == 0 { usual } else { wanted.limit };
        let mut wanted = EntriesWanted { limit, ..wanted.clone() };
        loop {
            match self.miniflux_ask(&miniflux::entries(&wanted)) {
                Err(failure) if failure.kind == FailureKind::TooLarge => {
                    if wanted.limit > 1 {
                        wanted.limit = wanted.limit.div_euclid(4).max(1);
                        self.miniflux.page = Some(wanted.limit);
                    } else if wanted.skip < SKIPPED_MAX {
                        wanted.skip = wanted.skip.saturating_add(1);
                    } else {
                        return Err(failure);
                    }
                }
                Err(failure) if failure.kind.is_too_much() && wanted.limit > SMALL_PAGE => {
                    self.miniflux.page_max = Some(SMALL_PAGE);
                    wanted.limit = SMALL_PAGE;
                }
                body => {
                    let page = self.connection.read(miniflux::read_entries(&body?))?;
                    // After large entries, increase the size of pages again.
                    self.miniflux.page = self.miniflux.page.map(|page| page.saturating_mul(2));
                    return Ok((page, wanted.skip));
                }
            }
        }
    }

    /// Returns the number of starred entries.
    pub(super) fn count_starred(&mut self) -> Result<u64, SyncFailure> {
        let wanted = EntriesWanted { starred: true, limit: 1, ..EntriesWanted::default() };
        self.entries(&wanted).map(|(page, _)| page.total)
    }

    pub(super) fn miniflux_mark(
        &mut self,
        action: MarkAction,
        ids: &[ItemId],
    ) -> Result<(), SyncFailure> {
        match action {
            MarkAction::Read => self.change_marks(&miniflux::set_read(ids, true)).map(|_| ()),
            MarkAction::Unread => self.change_marks(&miniflux::set_read(ids, false)).map(|_| ()),
            MarkAction::Star => self.star(ids, true),
            MarkAction::Unstar => self.star(ids, false),
        }
    }

    fn star(&mut self, ids: &[ItemId], is_starred: bool) -> Result<(), SyncFailure> {
        if !self.miniflux.toggles {
            self.miniflux.toggles = !self.change_marks(&miniflux::set_starred(ids, is_starred))?;
            if !self.miniflux.toggles {
                return Ok(());
            }
        }
        for id in ids {
            self.change_marks(&miniflux::toggle_star(id))?;
        }
        Ok(())
    }

    /// Sends a change of marks. Returns whether the server supports the request. If the change failed because entries were
    /// deleted, the check after it notices that.
    fn change_marks(&mut self, call: &ApiCall) -> Result<bool, SyncFailure> {
        let answer = self.miniflux_send(call)?;
        match answer.status {
            200..300 | 404 | 500 => Ok(true),
            400 => Ok(false),
            _ => Err(self.miniflux_refused(&answer)),
        }
    }

    pub(super) fn miniflux_edit(
        &mut self,
        stream: &str,
        edit: &SubscriptionEdit<'_>,
    ) -> Result<Option<String>, SyncFailure> {
        if let SubscriptionEdit::Add(address) = edit {
            let body = self.miniflux_ask(&miniflux::add_feed(address))?;
            return self.connection.read(miniflux::read_new_feed(&body)).map(Some);
        }
        let feed = miniflux::feed_of(stream);
        let feed = feed.ok_or(AnswerFault::Unreadable(format!("'{stream}' is no feed")));
        let feed = self.connection.read(feed)?;
        let call = match edit {
            SubscriptionEdit::Add(_) => return Ok(None),
            SubscriptionEdit::Remove => miniflux::remove_feed(feed),
            SubscriptionEdit::Rename(title) => miniflux::rename_feed(feed, title),
            SubscriptionEdit::Move(_, to) => {
                let category = self.category(to.unwrap_or(NO_FOLDER))?;
                miniflux::move_feed(feed, category)
            }
        };
        let answer = self.miniflux_send(&call)?;
        let is_gone = answer.status == 404 && *edit == SubscriptionEdit::Remove;
        if is_gone || (200..300).contains(&answer.status) {
            return Ok(None);
        }
        Err(self.miniflux_refused(&answer))
    }

    /// Returns the number of a category, and creates the category if it does not exist. Miniflux ignores case when it compares
    /// titles.
    fn category(&mut self, title: &str) -> Result<u64, SyncFailure> {
        let mut known = if let Some(known) = self.miniflux.categories.take() {
            known
        } else {
            let body = self.miniflux_ask(&miniflux::categories())?;
            self.connection.read(miniflux::read_categories(&body))?
        };
        let same = known.iter().find(|(_, known)| known == title);
        let lower = title.to_lowercase();
        let same = same.or_else(|| known.iter().find(|(_, known)| known.to_lowercase() == lower));
        let number = if let Some((number, _)) = same {
            *number
        } else {
            let body = self.miniflux_ask(&miniflux::add_category(title))?;
            let number = self.connection.read(miniflux::read_new_category(&body))?;
            known.push((number, title.to_owned()));
            number
        };
        self.miniflux.categories = Some(known);
        Ok(number)
    }
}
