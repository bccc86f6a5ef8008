//! Subscribing to many addresses at once.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::subscribe::Wanted;
use super::subscribe::address_of;
use super::subscribe::comparable;
use super::subscribe::insert;
use super::subscription::SubscriptionRecord;
use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::history::FeedKey;
use crate::ui::panes::feeds_pane;

/// What came of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Subscriptions made.
    pub added: Vec<FeedKey>,
    /// Addresses subscribed to before; their new tags were added.
    pub known: Vec<FeedKey>,
    /// Addresses that cannot be subscribed to, and why.
    pub bad: Vec<(String, String)>,
}

/// Subscribes to many addresses without asking anybody: they are due at once and wait for their turn.
pub fn import(model: &mut Model, now: DateTime<Utc>, wanted: Vec<Wanted>) -> Vec<Effect> {
    let mut known: BTreeMap<String, FeedKey> =
        model.feeds.values().map(|feed| (comparable(&feed.record.url), feed.key)).collect();
    let mut imported = Imported::default();
    let mut records = Vec::new();
    for wish in wanted {
        let url = match address_of(&wish.address) {
            Ok(url) => url,
            Err(why) => {
                imported.bad.push((wish.address, why));
                continue;
            }
        };
        if let Some(&feed) = known.get(&comparable(&url)) {
            imported.known.push(feed);
            records.extend(with_tags(model, feed, &wish.tags));
            continue;
        }
        let (feed, record) = insert(model, now, &wish, url);
        known.insert(comparable(&record.url), feed);
        imported.added.push(feed);
        records.push((feed, record));
    }
    feeds_pane::rebuild(model);
    let text = format!(
        "{} subscriptions added, {} known before, {} refused",
        imported.added.len(),
        imported.known.len(),
        imported.bad.len()
    );
    model.screen.say(now, text);
    model.imported = Some(imported);
    model.unsaved = model.unsaved.saturating_add(1);
    vec![Effect::SaveRecords(records)]
}

/// Adds tags to a known subscription; `None` if it has them all.
fn with_tags(
    model: &mut Model,
    feed: FeedKey,
    tags: &[String],
) -> Option<(FeedKey, SubscriptionRecord)> {
    let record = &mut model.feeds.get_mut(&feed)?.record;
    let new: Vec<String> = tags.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect();
    let changed = !new.is_empty();
    record.tags.extend(new);
    changed.then(|| (feed, record.clone()))
}
