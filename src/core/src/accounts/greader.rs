//! Requests of the Google Reader API, as values.
//!
//! Every request names the format of its answer, every POST carries the token, short fields come before the many ids, and ids are in
//! their long form: each of these was needed by some server.

use super::api_call::{ApiCall, MarkAction, SubscriptionEdit, Verb, encoded};
use super::item_id::ItemId;

/// Streams that every server has.
pub const READING_LIST: &str = "user/-/state/com.google/reading-list";
/// The starred entries.
pub const STARRED: &str = "user/-/state/com.google/starred";
const READ: &str = "user/-/state/com.google/read";
const LABEL: &str = "user/-/label/";

fn get(name: &str, parameters: &[(&str, &str)]) -> ApiCall {
    let query = encoded(parameters.iter().copied());
    let separator = if query.is_empty() { "" } else { "?" };
    ApiCall::get(format!("/reader/api/0/{name}{separator}{query}"))
}

fn post<'p>(name: &str, fields: impl IntoIterator<Item = (&'p str, &'p str)>) -> ApiCall {
    ApiCall::new(Verb::PostForm, format!("/reader/api/0/{name}"), encoded(fields))
}

/// Requests the login. It is a POST, so that no log of the server contains the password.
pub fn login(user: &str, password: &str) -> ApiCall {
    let form = encoded([("Email", user), ("Passwd", password)]);
    ApiCall::new(Verb::PostForm, "/accounts/ClientLogin".to_owned(), form)
}

/// Requests the token that every POST must carry.
pub fn token() -> ApiCall {
    get("token", &[])
}

/// Requests the subscriptions.
pub fn subscriptions() -> ApiCall {
    get("subscription/list", &[("output", "json")])
}

/// Requests the names of folders and labels.
pub fn tags() -> ApiCall {
    get("tag/list", &[("output", "json")])
}

/// Returns the stream of the entries with a label. Ask only for a label that the server named: for others, some servers list all entries.
pub fn label_stream(name: &str) -> String {
    format!("{LABEL}{name}")
}

/// Requests to label entries, or to remove the label from them.
pub fn label(token: &str, name: &str, set: bool, ids: &[ItemId]) -> ApiCall {
    let (field, label) = (if set { "a" } else { "r" }, label_stream(name));
    with_ids("edit-tag", &[("T", token), (field, &label)], ids)
}

/// A page of the ids of a stream, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdsWanted<'a> {
    /// The stream.
    pub stream: &'a str,
    /// `true` to leave out read entries.
    pub unread: bool,
    /// Number of ids wanted.
    pub count: u32,
    /// Where the page before ended.
    pub continuation: Option<&'a str>,
}

/// Requests a page of ids.
pub fn item_ids(wanted: &IdsWanted<'_>) -> ApiCall {
    let count = wanted.count.to_string();
    let mut parameters = vec![("output", "json"), ("s", wanted.stream), ("n", count.as_str())];
    if wanted.unread {
        parameters.push(("xt", READ));
    }
    parameters.extend(wanted.continuation.map(|continuation| ("c", continuation)));
    get("stream/items/ids", &parameters)
}

/// Requests entries with their texts.
pub fn contents(token: &str, ids: &[ItemId]) -> ApiCall {
    with_ids("stream/items/contents", &[("T", token), ("output", "json")], ids)
}

fn with_ids(name: &str, fields: &[(&str, &str)], ids: &[ItemId]) -> ApiCall {
    let long: Vec<String> = ids.iter().map(ItemId::long).collect();
    let ids = long.iter().map(|id| ("i", id.as_str()));
    post(name, fields.iter().copied().chain(ids))
}

/// Requests a change of marks.
pub fn mark(token: &str, action: MarkAction, ids: &[ItemId]) -> ApiCall {
    let field = match action {
        MarkAction::Read => ("a", READ),
        MarkAction::Unread => ("r", READ),
        MarkAction::Star => ("a", STARRED),
        MarkAction::Unstar => ("r", STARRED),
    };
    with_ids("edit-tag", &[("T", token), field], ids)
}

/// Requests a change of the subscription with this stream. `Add` needs no stream.
pub fn edit_subscription(token: &str, stream: &str, edit: &SubscriptionEdit<'_>) -> ApiCall {
    let folder = |name: &str| format!("{LABEL}{name}");
    let (stream, action, more) = match edit {
        SubscriptionEdit::Add(url) => (format!("feed/{url}"), "subscribe", Vec::new()),
        SubscriptionEdit::Remove => (stream.to_owned(), "unsubscribe", Vec::new()),
        SubscriptionEdit::Rename(title) => {
            (stream.to_owned(), "edit", vec![("t", (*title).to_owned())])
        }
        SubscriptionEdit::Move(from, to) => {
            let more = to.map(|to| ("a", folder(to))).into_iter();
            let more = more.chain(from.map(|from| ("r", folder(from))));
            (stream.to_owned(), "edit", more.collect())
        }
    };
    let fixed = [("T", token), ("ac", action), ("s", stream.as_str())];
    let more = more.iter().map(|(name, value)| (*name, value.as_str()));
    post("subscription/edit", fixed.into_iter().chain(more))
}

/// Requests a new subscription from servers without the usual request for changes.
pub fn quick_add(token: &str, url: &str) -> ApiCall {
    post("subscription/quickadd", [("T", token), ("quickadd", url)])
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn requests_are_written_so_that_every_server_reads_them() {
        let ids = [ItemId::read("1234").unwrap(), ItemId::read("1235").unwrap()];
        let first = "tag%3Agoogle.com%2C2005%3Areader%2Fitem%2F00000000000004d2";
        let second = "tag%3Agoogle.com%2C2005%3Areader%2Fitem%2F00000000000004d3";
        let marked = mark("t&", MarkAction::Unread, &ids).body;
        assert_eq!(
            marked,
            format!("T=t%26&r=user%2F-%2Fstate%2Fcom.google%2Fread&i={first}&i={second}"),
            "the short fields are first"
        );
        let labelled = label("t", "To do/1", true, &ids).body;
        assert!(labelled.starts_with("T=t&a=user%2F-%2Flabel%2FTo+do%2F1&i=tag"), "{labelled}");
        let contents = contents("t", &ids).body;
        assert_eq!(contents, format!("T=t&output=json&i={first}&i={second}"));
        let wanted =
            IdsWanted { stream: READING_LIST, unread: true, count: 100, continuation: Some("9") };
        assert_eq!(
            item_ids(&wanted).path,
            "/reader/api/0/stream/items/ids?output=json&s=user%2F-%2Fstate%2Fcom.google%2Freading-list&n=100\
             &xt=user%2F-%2Fstate%2Fcom.google%2Fread&c=9"
        );
        let login = login("ann", "a&b=c");
        assert!(!login.path.contains("a&b") && login.body.contains("Passwd=a%26b%3Dc"));
        let base = Url::parse("https://a.example/api/greader.php").unwrap();
        assert_eq!(token().address(&base), "https://a.example/api/greader.php/reader/api/0/token");
    }

    #[test]
    fn changes_of_subscriptions_name_stream_title_and_folders() {
        for (edit, form) in [
            (
                SubscriptionEdit::Add("https://a.example/f?x=1"),
                "ac=subscribe&s=feed%2Fhttps%3A%2F%2Fa.example%2Ff%3Fx%3D1",
            ),
            (SubscriptionEdit::Remove, "ac=unsubscribe&s=feed%2F4"),
            (SubscriptionEdit::Rename("One & two"), "ac=edit&s=feed%2F4&t=One+%26+two"),
            (
                SubscriptionEdit::Move(Some("Old"), Some("New")),
                "ac=edit&s=feed%2F4&a=user%2F-%2Flabel%2FNew&r=user%2F-%2Flabel%2FOld",
            ),
            (
                SubscriptionEdit::Move(Some("Old"), None),
                "ac=edit&s=feed%2F4&r=user%2F-%2Flabel%2FOld",
            ),
        ] {
            let call = edit_subscription("t", "feed/4", &edit);
            assert_eq!(call.body, format!("T=t&{form}"));
        }
    }
}
