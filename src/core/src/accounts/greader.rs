//! Requests of the Google Reader API as values, and a table of how servers differ in it.
//!
//! Every request names the format of its answer, every POST contains the token, short fields come before the list of ids, and ids
//! are in their long form. Each of these rules is necessary for at least one server.

use url::Url;

use super::api_call::{ApiCall, ItemId, MarkAction, SubscriptionEdit, Verb, encoded};

/// The stream of all entries. Every server has it.
pub const READING_LIST: &str = "user/-/state/com.google/reading-list";
/// The starred entries.
pub const STARRED: &str = "user/-/state/com.google/starred";
pub(super) const READ: &str = "user/-/state/com.google/read";
const LABEL: &str = "user/-/label/";

fn get(name: &str, parameters: &[(&str, &str)]) -> ApiCall {
    let query = encoded(parameters.iter().copied());
    let separator = if query.is_empty() { "" } else { "?" };
    ApiCall::get(format!("/reader/api/0/{name}{separator}{query}"))
}

fn post<'p>(name: &str, fields: impl IntoIterator<Item = (&'p str, &'p str)>) -> ApiCall {
    ApiCall::new(Verb::PostForm, format!("/reader/api/0/{name}"), encoded(fields))
}

/// Requests the login. It is a POST, so that the password is not in the log of the server.
pub fn login(user: &str, password: &str) -> ApiCall {
    let form = encoded([("Email", user), ("Passwd", password)]);
    ApiCall::new(Verb::PostForm, "/accounts/ClientLogin".to_owned(), form)
}

/// Requests the token that every POST must contain.
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

/// Returns the stream of the entries with a label. Use it only for labels that the server listed: for unknown labels, some
/// servers return all entries.
pub fn label_stream(name: &str) -> String {
    format!("{LABEL}{name}")
}

/// Requests that entries get a label, or that it is removed from them.
pub fn label(token: &str, name: &str, set: bool, ids: &[ItemId]) -> ApiCall {
    let (field, label) = (if set { "a" } else { "r" }, label_stream(name));
    with_ids("edit-tag", &[("T", token), (field, &label)], ids)
}

/// A page of the ids of a stream, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdsWanted<'a> {
    /// The stream.
    pub stream: &'a str,
    /// Whether to leave out read entries.
    pub unread: bool,
    /// Number of ids wanted.
    pub count: u32,
    /// Continuation of the previous page; `None` for the first page.
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

/// Requests a change of the subscription with this stream. `Add` ignores the stream.
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

/// Requests a new subscription from servers that reject the usual request for a change.
pub fn quick_add(token: &str, url: &str) -> ApiCall {
    post("subscription/quickadd", [("T", token), ("quickadd", url)])
}

/// Limits and special behaviour of a kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Name of the server software or service; empty if it is not known.
    pub name: &'static str,
    /// Number of ids to request in one answer.
    pub ids_a_page: u32,
    /// Number of entries to request in one answer.
    pub entries_a_request: usize,
    /// Number of entries to mark in one request.
    pub marks_a_request: usize,
    /// Whether entries can have labels, and the server lists these.
    pub has_labels: bool,
    /// Whether titles contain full-width forms of `&`, `<` and `>` instead of these characters.
    pub widens_titles: bool,
    /// Whether the service answers only applications that are registered with it.
    pub wants_app_key: bool,
}

/// Values that every known server accepts.
const USUAL: Dialect = Dialect {
    name: "",
    ids_a_page: 10_000,
    entries_a_request: 250,
    marks_a_request: 250,
    has_labels: false,
    widens_titles: false,
    wants_app_key: false,
};

/// The end of a host or path, and the dialect of servers with such an address.
const TABLE: [(&str, Dialect); 4] = [
    (
        "greader.php",
        Dialect {
            name: "FreshRSS",
            ids_a_page: 50_000,
            has_labels: true,
            widens_titles: true,
            ..USUAL
        },
    ),
    (
        "inoreader.com",
        Dialect {
            name: "Inoreader",
            ids_a_page: 1_000,
            entries_a_request: 100,
            has_labels: true,
            wants_app_key: true,
            ..USUAL
        },
    ),
    ("theoldreader.com", Dialect { name: "The Old Reader", ..USUAL }),
    ("bazqux.com", Dialect { name: "BazQux", ..USUAL }),
];

impl Dialect {
    /// Determines the dialect from the address of the API. Miniflux cannot be recognised by its address, but needs no special
    /// dialect.
    pub fn of(base: &Url) -> Self {
        let host = base.host_str().unwrap_or_default();
        let is_host = |name: &str| {
            let rest = host.strip_suffix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let found = TABLE.iter().find(|(sign, _)| base.path().ends_with(sign) || is_host(sign));
        found.map_or(USUAL, |(_, dialect)| *dialect)
    }
}

/// Ends of paths of web pages and other APIs. Users copy such addresses from the browser or from the settings of a server.
const COPIED_ENDS: &str = "index.php fever.php api i p v1 unread starred history feeds categories settings \
     integrations login search";

/// Returns the possible base addresses of the API for an address that the user typed, in the order in which to try them.
pub fn bases(typed: &Url) -> Vec<Url> {
    let mut plain = typed.clone();
    plain.set_query(None);
    plain.set_fragment(None);
    let path = plain.path().trim_end_matches('/').to_owned();
    let at = |path: &str, suffix: &str| {
        let mut base = plain.clone();
        base.set_path(&format!("{path}{suffix}"));
        base
    };
    let ours = "greader.php";
    if let Some((before, after)) = path.split_once(ours).filter(|(_, rest)| !rest.contains('.'))
        && (after.is_empty() || after.starts_with('/'))
    {
        return vec![at(before, ours)];
    }
    let usual = at(&path, "");
    if Dialect::of(&usual) != USUAL {
        return vec![usual];
    }
    let mut root = path.as_str();
    let shorter = |root: &'_ str| {
        let (rest, end) = root.rsplit_once('/')?;
        COPIED_ENDS
            .split_ascii_whitespace()
            .any(|known| known == end)
            .then(|| rest.trim_end_matches('/').len())
    };
    while let Some(length) = shorter(root) {
        root = root.get(..length).unwrap_or_default();
    }
    let apis =
        |path: &str| [at(path, ""), at(path, "/api/greader.php"), at(path, "/p/api/greader.php")];
    if root == path { apis(root).to_vec() } else { [&apis(root)[..], &[usual]].concat() }
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

    #[test]
    fn servers_are_told_by_their_address() {
        for (address, name, tried) in [
            ("https://a.example/api/greader.php", "FreshRSS", 1),
            ("https://a.example/p/api/greader.php/", "FreshRSS", 1),
            ("https://www.inoreader.com/", "Inoreader", 1),
            ("https://theoldreader.com", "The Old Reader", 1),
            ("https://bazqux.com", "BazQux", 1),
            ("https://notbazqux.com", "", 3),
            ("https://miniflux.example/sub/?x=1#y", "", 3),
            ("https://a.example/api/greader.php/reader/api/0", "FreshRSS", 1),
            ("https://a.example/i/?a=normal", "", 4),
        ] {
            let bases = bases(&Url::parse(address).unwrap());
            assert_eq!((Dialect::of(&bases[0]).name, bases.len()), (name, tried), "{address}");
        }
        for typed in [
            "i/?a=normal",
            "i/index.php",
            "api/",
            "api/fever.php",
            "index.php",
            "p/i/",
            "v1",
            "v1/",
            "unread",
        ] {
            for root in ["", "sub/", "index/"] {
                let bases =
                    bases(&Url::parse(&format!("https://a.example/{root}{typed}")).unwrap());
                let texts: Vec<&str> = bases.iter().take(3).map(Url::as_str).collect();
                let root = root.trim_end_matches('/');
                let slash = if root.is_empty() { "" } else { "/" };
                assert_eq!(texts[0], format!("https://a.example/{root}"), "{typed}");
                assert_eq!(texts[1], format!("https://a.example{slash}{root}/api/greader.php"));
                assert_eq!(texts[2], format!("https://a.example{slash}{root}/p/api/greader.php"));
            }
        }
        let bases = bases(&Url::parse("https://a.example/sub/?x=1").unwrap());
        let texts: Vec<&str> = bases.iter().map(Url::as_str).collect();
        assert_eq!(
            texts,
            [
                "https://a.example/sub",
                "https://a.example/sub/api/greader.php",
                "https://a.example/sub/p/api/greader.php"
            ]
        );
    }
}
