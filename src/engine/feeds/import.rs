//! Subscribing to many addresses at once.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::addition::{Imported, Subscribe};
use super::addresses::{address_of, comparable};
use super::subscribe::insert;
use super::subscription::SubscriptionRecord;
use super::typed_logins::{take_login, without_login};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::undo::rollback::Rollback;
use crate::history::FeedKey;

/// Subscribes to many addresses without asking anybody: they are due at once and wait for their turn.
pub fn import(engine: &mut Engine, now: DateTime<Utc>, wanted: Vec<Subscribe>) -> Vec<Effect> {
    let mut known: BTreeMap<String, FeedKey> =
        engine.feeds.values().map(|feed| (comparable(&feed.record.url), feed.key)).collect();
    let mut imported = Imported::default();
    let (mut records, mut effects) = (Vec::new(), Vec::new());
    for asked in wanted {
        let url = match address_of(&asked.address) {
            Ok(url) => url,
            Err(why) => {
                imported.bad.push((without_login(&asked.address), why));
                continue;
            }
        };
        let (url, kept) = take_login(engine, url);
        effects.extend(kept);
        if let Some(&feed) = known.get(&comparable(&url)) {
            imported.known.push(feed);
            records.extend(with_tags(engine, feed, &asked.tags));
            continue;
        }
        let (feed, record) = insert(engine, now, &asked, url);
        known.insert(comparable(&record.url), feed);
        imported.added.push(feed);
        records.push((feed, record));
    }
    engine.tell(Event::FeedsChanged);
    let text = format!(
        "{} subscriptions added, {} known before, {} refused",
        imported.added.len(),
        imported.known.len(),
        imported.bad.len()
    );
    engine.say(text);
    let rollback = Rollback::Subscribed(imported.added.clone());
    engine.imported = Some(imported);
    engine.unsaved = engine.unsaved.saturating_add(1);
    effects.push(Effect::store_ahead(Job::SaveRecords(records), rollback));
    effects
}

/// Adds tags to a known subscription; `None` if it has them all.
fn with_tags(
    engine: &mut Engine,
    feed: FeedKey,
    tags: &[String],
) -> Option<(FeedKey, SubscriptionRecord)> {
    let record = &mut engine.feeds.get_mut(&feed)?.record;
    let new: Vec<String> = tags.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect();
    let changed = !new.is_empty();
    record.tags.extend(new);
    changed.then(|| (feed, record.clone()))
}
