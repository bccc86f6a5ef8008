//! JSON form of an entry, shared by the command line, pipes, and hooks.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::engine::external::external_run::HandedEntry;
use backissue_core::history::{EntryKey, Flags, KeptEntry};
use backissue_core::words::rfc_3339;

/// Formats an instant as RFC 3339 in UTC with whole seconds. Returns null for `None`.
pub fn time(at: Option<DateTime<Utc>>) -> Value {
    at.map_or(Value::Null, |at| Value::String(rfc_3339(at)))
}

/// Returns the fields of an entry as JSON, without the text of the entry.
pub fn entry(key: EntryKey, feed_title: &str, kept: &KeptEntry, flags: Flags) -> Value {
    json!({
        "kind": "entry",
        "number": key.to_string(),
        "feed": key.feed,
        "feed_title": feed_title,
        "id": kept.id,
        "title": kept.title,
        "link": kept.link,
        "comments": kept.comments,
        "author": kept.author,
        "published": time(kept.published),
        "updated": time(kept.updated),
        "first_seen": time(Some(kept.first_seen)),
        "listed": time(Some(kept.listed())),
        "read": flags.is_read(),
        "starred": flags.is_starred(),
        "categories": kept.categories,
        "enclosures": kept.enclosures.iter().map(|file| json!({
            "url": file.url,
            "type": file.media_type,
            "length": file.length,
            "duration_seconds": file.duration_seconds,
        })).collect::<Vec<_>>(),
    })
}

/// Returns an entry as JSON for external commands, including its feed's address and its text with markup.
pub fn entry_json(told: &HandedEntry) -> Value {
    let HandedEntry { entry: loaded, feed_title, feed_url } = told;
    let mut value = entry(loaded.key, feed_title, &loaded.kept, loaded.flags);
    if let Value::Object(fields) = &mut value {
        fields.insert("feed_url".into(), json!(feed_url));
        fields.insert("content".into(), json!(loaded.body.as_ref().and_then(|body| body.text())));
    }
    value
}

/// Returns the JSON document with new entries for the user's command.
pub fn news(entries: &[HandedEntry]) -> Value {
    json!({
        "kind": "new_entries",
        "count": entries.len(),
        "entries": entries.iter().map(entry_json).collect::<Vec<_>>(),
    })
}
