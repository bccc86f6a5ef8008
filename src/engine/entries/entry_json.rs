//! An entry as JSON, the same for the command line, for pipes and for hooks.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::engine::external::external_run::HandedEntry;
use backissue_core::history::{EntryKey, Flags, KeptEntry};

/// An instant in UTC, RFC 3339, whole seconds; null if there is none.
pub fn time(at: Option<DateTime<Utc>>) -> Value {
    at.map_or(Value::Null, |at| Value::String(at.to_rfc3339_opts(SecondsFormat::Secs, true)))
}

/// An entry.
pub fn entry(key: EntryKey, feed_title: &str, kept: &KeptEntry, flags: Flags) -> Value {
    json!({
        "kind": "entry",
        "number": key.to_string(),
        "feed": key.feed,
        "feed_title": feed_title,
        "id": kept.id,
        "title": kept.title,
        "link": kept.link,
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

/// An entry as commands are told of it: with the address of its feed and its text as marked up.
pub fn entry_json(told: &HandedEntry) -> Value {
    let HandedEntry { entry: loaded, feed_title, feed_url } = told;
    let mut value = entry(loaded.key, feed_title, &loaded.kept, loaded.flags);
    if let Value::Object(fields) = &mut value {
        fields.insert("feed_url".into(), json!(feed_url));
        fields.insert("content".into(), json!(loaded.body.as_ref().and_then(|body| body.text())));
    }
    value
}

/// New entries as one document.
pub fn news(entries: &[HandedEntry]) -> Value {
    json!({
        "kind": "new_entries",
        "count": entries.len(),
        "entries": entries.iter().map(entry_json).collect::<Vec<_>>(),
    })
}
