//! Requests of the API of Miniflux (`/v1`), as values.
//!
//! Entries are listed by id, newest first, and the next page starts below the last id: marks that change meanwhile move no entry to
//! another page.

use serde_json::json;

use super::api_call::{ApiCall, Verb, encoded};
use super::item_id::ItemId;

/// Number of entries to request in one answer.
pub const ENTRIES_A_PAGE: u32 = 250;
/// Number of entries to mark in one request.
pub const MARKS_A_REQUEST: usize = 1_000;
/// Folder for feeds without a folder; each account has it from the beginning.
pub const NO_FOLDER: &str = "All";
const STREAM: &str = "feed/";

/// Returns the stream of a feed: its name in the Google Reader API of Miniflux, so that both APIs name the same feed.
pub fn stream_of(feed: u64) -> String {
    format!("{STREAM}{feed}")
}

/// Returns the number of the feed with this stream.
pub fn feed_of(stream: &str) -> Option<u64> {
    stream.strip_prefix(STREAM)?.parse().ok()
}

/// Requests the user of the login.
pub fn me() -> ApiCall {
    ApiCall::get("/v1/me".to_owned())
}

/// Requests the subscriptions with their categories.
pub fn feeds() -> ApiCall {
    ApiCall::get("/v1/feeds".to_owned())
}

/// Requests the categories, also those without feeds.
pub fn categories() -> ApiCall {
    ApiCall::get("/v1/categories".to_owned())
}

/// Requests the number of read and unread entries of each feed.
pub fn counters() -> ApiCall {
    ApiCall::get("/v1/feeds/counters".to_owned())
}

/// A page of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntriesWanted {
    /// Only entries of this feed.
    pub feed: Option<u64>,
    /// Only entries that were added or marked after this time of the server, in Unix seconds.
    pub changed_after: Option<i64>,
    /// Only starred entries.
    pub starred: bool,
    /// Only entries with a smaller id.
    pub before: Option<u64>,
    /// Number of entries to leave out at the start of the page.
    pub skip: u32,
    /// Number of entries wanted.
    pub limit: u32,
}

/// Requests a page of entries, with their texts and marks.
pub fn entries(wanted: &EntriesWanted) -> ApiCall {
    let mut query = vec![
        ("order", "id".to_owned()),
        ("direction", "desc".to_owned()),
        // Old versions list removed entries, too.
        ("status", "read".to_owned()),
        ("status", "unread".to_owned()),
        ("limit", wanted.limit.to_string()),
    ];
    if wanted.starred {
        query.push(("starred", "true".to_owned()));
    }
    query.extend(wanted.changed_after.map(|after| ("changed_after", after.max(1).to_string())));
    query.extend(wanted.before.map(|before| ("before_entry_id", before.to_string())));
    if wanted.skip > 0 {
        query.push(("offset", wanted.skip.to_string()));
    }
    let query = encoded(query.iter().map(|(name, value)| (*name, value.as_str())));
    let feed = wanted.feed.map(|feed| format!("/feeds/{feed}")).unwrap_or_default();
    ApiCall::get(format!("/v1{feed}/entries?{query}"))
}

/// Requests that entries become read or unread.
pub fn set_read(ids: &[ItemId], is_read: bool) -> ApiCall {
    let status = if is_read { "read" } else { "unread" };
    put("/v1/entries".to_owned(), &json!({ "entry_ids": numbers(ids), "status": status }))
}

/// Requests that entries get a star or lose it. Servers before 2.3.2 answer 400; they only have [`toggle_star`].
pub fn set_starred(ids: &[ItemId], is_starred: bool) -> ApiCall {
    put("/v1/entries".to_owned(), &json!({ "entry_ids": numbers(ids), "starred": is_starred }))
}

/// Requests that an entry without a star gets one, or that one with a star loses it.
pub fn toggle_star(id: &ItemId) -> ApiCall {
    let number = id.number().unwrap_or_default();
    ApiCall::new(Verb::Put, format!("/v1/entries/{number}/bookmark"), String::new())
}

/// Requests a subscription.
pub fn add_feed(address: &str) -> ApiCall {
    post("/v1/feeds", &json!({ "feed_url": address }))
}

/// Requests the end of a subscription.
pub fn remove_feed(feed: u64) -> ApiCall {
    ApiCall::new(Verb::Delete, format!("/v1/feeds/{feed}"), String::new())
}

/// Requests another title of a feed.
pub fn rename_feed(feed: u64, title: &str) -> ApiCall {
    put(format!("/v1/feeds/{feed}"), &json!({ "title": title }))
}

/// Requests another category of a feed.
pub fn move_feed(feed: u64, category: u64) -> ApiCall {
    put(format!("/v1/feeds/{feed}"), &json!({ "category_id": category }))
}

/// Requests a new category.
pub fn add_category(title: &str) -> ApiCall {
    post("/v1/categories", &json!({ "title": title }))
}

fn put(path: String, body: &serde_json::Value) -> ApiCall {
    ApiCall::new(Verb::Put, path, body.to_string())
}

fn post(path: &str, body: &serde_json::Value) -> ApiCall {
    ApiCall::new(Verb::PostJson, path.to_owned(), body.to_string())
}

fn numbers(ids: &[ItemId]) -> Vec<u64> {
    ids.iter().filter_map(ItemId::number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_form_that_every_version_reads() {
        let ids = [ItemId::of_number(7), ItemId::of_number(12)];
        let page = EntriesWanted { limit: 250, ..EntriesWanted::default() };
        let fixed = "order=id&direction=desc&status=read&status=unread&limit=250";
        let full = EntriesWanted {
            feed: Some(4),
            changed_after: Some(-5),
            starred: true,
            before: Some(9),
            skip: 1,
            ..page
        };
        for (call, verb, path, body) in [
            (entries(&page), Verb::Get, format!("/v1/entries?{fixed}"), ""),
            (
                entries(&full),
                Verb::Get,
                format!(
                    "/v1/feeds/4/entries?{fixed}&starred=true&changed_after=1&before_entry_id=9&offset=1"
                ),
                "",
            ),
            (
                set_read(&ids, false),
                Verb::Put,
                "/v1/entries".to_owned(),
                r#"{"entry_ids":[7,12],"status":"unread"}"#,
            ),
            (
                set_starred(&ids, true),
                Verb::Put,
                "/v1/entries".to_owned(),
                r#"{"entry_ids":[7,12],"starred":true}"#,
            ),
            (toggle_star(&ids[1]), Verb::Put, "/v1/entries/12/bookmark".to_owned(), ""),
            (
                add_feed("https://a.example/\"x"),
                Verb::PostJson,
                "/v1/feeds".to_owned(),
                r#"{"feed_url":"https://a.example/\"x"}"#,
            ),
            (remove_feed(3), Verb::Delete, "/v1/feeds/3".to_owned(), ""),
            (rename_feed(3, "A"), Verb::Put, "/v1/feeds/3".to_owned(), r#"{"title":"A"}"#),
            (move_feed(3, 8), Verb::Put, "/v1/feeds/3".to_owned(), r#"{"category_id":8}"#),
            (add_category("B"), Verb::PostJson, "/v1/categories".to_owned(), r#"{"title":"B"}"#),
        ] {
            assert_eq!(call, ApiCall::new(verb, path, body.to_owned()));
        }
        for (stream, feed) in [("feed/4", Some(4)), ("feed/https://a.example", None), ("4", None)] {
            assert_eq!(feed_of(stream), feed, "{stream}");
        }
        assert_eq!(feed_of(&stream_of(17)), Some(17));
    }
}
