//! Entries in the forms of other programs: bookmarks of browsers, and items of a JSON Feed.

use std::collections::BTreeSet;

use chrono::SubsecRound;
use serde_json::{Map, Value, json};

use crate::engine::entries::entry_view::{EntryView, time};
use backissue_core::feed::Enclosure;
use backissue_core::feed::outgoing::{escaped_attribute, outgoing_link};
use backissue_core::feed::text::{TITLE_MAX, one_line};

/// First lines of a file of bookmarks.
pub const BOOKMARKS_HEAD: &str = "<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>";
/// Last line of a file of bookmarks.
pub const BOOKMARKS_END: &str = "</DL><p>";
/// First lines of a JSON Feed, up to its items.
pub const JSON_FEED_HEAD: &str = "{
\"version\": \"https://jsonfeed.org/version/1.1\",
\"title\": \"Entries of backissue\",
\"items\": [";
/// Last line of a JSON Feed.
pub const JSON_FEED_END: &str = "]}";

/// Returns the lines of a bookmark. An entry without a web page has none.
pub fn bookmark(view: &EntryView) -> Option<String> {
    let EntryView { entry, feed, labels, .. } = view;
    let kept = &entry.kept;
    let link = kept.link.as_deref()?;
    if !["http://", "https://"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let tags = if labels.is_empty() {
        String::new()
    } else {
        // A comma separates tags.
        let labels: Vec<String> = labels.iter().map(|label| label.replace(',', " ")).collect();
        format!(" TAGS=\"{}\"", escaped(&labels.join(",")))
    };
    Some(format!(
        "    <DT><A HREF=\"{}\" ADD_DATE=\"{}\"{tags}>{}</A>\n    <DD>{}",
        escaped(link),
        kept.listed().timestamp().max(0),
        escaped(kept.shown_title()),
        escaped(&feed.title),
    ))
}

fn escaped(text: &str) -> String {
    escaped_attribute(&one_line(text, TITLE_MAX.saturating_mul(4)))
}

/// Returns an item of a JSON Feed. `ids` are those of earlier items: the id of an item occurs once, although two feeds may have the
/// same.
pub fn json_feed_item(view: &EntryView, ids: &mut BTreeSet<String>) -> Value {
    let EntryView { entry, feed, labels, .. } = view;
    let kept = &entry.kept;
    let feed_url = outgoing_link(&feed.url);
    let mut id = kept.id.clone();
    if ids.contains(&id) {
        id = format!("{} {id}", feed_url.as_deref().unwrap_or_default());
    }
    ids.insert(id.clone());
    let time_of =
        |at: Option<chrono::DateTime<chrono::Utc>>| time(at.map(|at| at.trunc_subsecs(0)));
    let author = kept.author.as_ref().map(|name| json!([{ "name": name }]));
    let fields = [
        ("id", json!(id)),
        ("url", json!(kept.link)),
        ("title", json!(kept.title)),
        ("content_html", json!(view.text().1)),
        ("date_published", time_of(kept.published)),
        ("date_modified", time_of(kept.updated)),
        ("authors", author.unwrap_or_default()),
        ("tags", list(kept.categories.iter().map(|tag| json!(tag)))),
        ("attachments", list(kept.enclosures.iter().map(attachment))),
        (
            "_backissue",
            json!({
                "feed_url": feed_url.unwrap_or_default(),
                "feed_title": feed.title,
                "id": kept.id,
                "read": entry.flags.is_read(),
                "starred": entry.flags.is_starred(),
                "labels": labels,
            }),
        ),
    ];
    object(fields)
}

fn attachment(file: &Enclosure) -> Value {
    object([
        ("url", json!(file.url)),
        ("mime_type", json!(file.media_type)),
        ("size_in_bytes", json!(file.length)),
        ("duration_in_seconds", json!(file.duration_seconds)),
    ])
}

/// Returns a list, or nothing if it is empty.
fn list(values: impl Iterator<Item = Value>) -> Value {
    let values: Vec<Value> = values.collect();
    if values.is_empty() { Value::Null } else { Value::Array(values) }
}

/// Returns an object of the fields that have a value.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
