//! Requests to the server of an account as values, whatever its API, and the changes that they carry.

use url::Url;
use url::form_urlencoded::Serializer;

/// Kind of a request, and of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// GET without a body.
    Get,
    /// POST of a urlencoded form.
    PostForm,
    /// POST of a JSON document.
    PostJson,
    /// PUT of a JSON document, or without a body.
    Put,
    /// DELETE without a body.
    Delete,
}

/// A request below the base address of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiCall {
    /// Kind of the request.
    pub verb: Verb,
    /// Path and query, to be appended to the base address.
    pub path: String,
    /// Body; empty if it has none.
    pub body: String,
}

impl ApiCall {
    /// Creates a request.
    pub const fn new(verb: Verb, path: String, body: String) -> Self {
        Self { verb, path, body }
    }

    /// Creates a GET.
    pub const fn get(path: String) -> Self {
        Self::new(Verb::Get, path, String::new())
    }

    /// Returns the address of the request.
    pub fn address(&self, base: &Url) -> String {
        format!("{}{}", base.as_str().trim_end_matches('/'), self.path)
    }
}

/// Returns pairs in the form of a query.
pub(super) fn encoded<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A change of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkAction {
    /// Mark as read.
    Read,
    /// Mark as unread.
    Unread,
    /// Star.
    Star,
    /// Remove the star.
    Unstar,
}

/// A change of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEdit<'a> {
    /// Subscribe to an address.
    Add(&'a str),
    /// Unsubscribe.
    Remove,
    /// Change the title.
    Rename(&'a str),
    /// Move the feed from one folder to another. `None` means no folder.
    Move(Option<&'a str>, Option<&'a str>),
}
