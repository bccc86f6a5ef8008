//! Checks that the page about the file of `export --state` names its fields.

use std::collections::BTreeSet;

use backissue_core::feed::Enclosure;
use backissue_core::other_readers::state_file::{StateEntry, StateFeed, StateLine};
use serde_json::Value;

use super::pages::{between, cells, page};

/// Returns the names of the fields of a line.
fn fields(line: &StateLine) -> BTreeSet<String> {
    let value = serde_json::to_value(line).unwrap();
    let names = value.as_object().unwrap().keys().filter(|name| *name != "kind");
    names.cloned().collect()
}

#[test]
fn fields_of_the_state_are_documented() {
    let text = Some("x".to_owned());
    let list = vec!["x".to_owned()];
    let date = Some(chrono::DateTime::UNIX_EPOCH);
    let entry = StateEntry {
        link: text.clone(),
        title: text.clone(),
        published: date,
        updated: date,
        labels: list.clone(),
        author: text.clone(),
        content: text,
        categories: list,
        files: vec![Enclosure::default()],
        ..StateEntry::default()
    };
    let document = page("docs/state.md");
    for (kind, line) in [
        ("state", StateLine::State { version: 1, exported: date }),
        ("feed", StateLine::Feed(StateFeed::default())),
        ("entry", StateLine::Entry(Box::new(entry))),
    ] {
        let rows = between(&document, kind).lines().skip(2);
        let named: BTreeSet<String> =
            rows.filter_map(|row| Some(cells(row).first()?.trim_matches('`').to_owned())).collect();
        assert_eq!(named, fields(&line), "{kind}");
        assert_eq!(serde_json::to_value(&line).unwrap()["kind"], kind);
        assert!(document.contains(&format!("## `{kind}`")));
    }
    let file = serde_json::to_value(Enclosure::default()).unwrap();
    for name in file.as_object().unwrap().keys() {
        assert!(document.contains(&format!("`{name}`")), "{name}");
    }
    assert_eq!(serde_json::to_value(StateLine::End).unwrap(), serde_json::json!({ "kind": "end" }));
    assert!(
        matches!(serde_json::to_value(date).unwrap(), Value::String(text) if text.ends_with('Z'))
    );
}
