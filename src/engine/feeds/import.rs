//! Subscribing to many addresses at once, as one change that can be taken back.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::addition::{Imported, Subscribe};
use super::addresses::{address_of, comparable};
use super::chosen_settings::{Chosen, FeedSettings};
use super::subscribe::insert;
use super::subscription::SubscriptionRecord;
use super::typed_logins::{TakenLogin, take_login};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::politeness::rate_limits;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::undo::rollback::Rollback;
use crate::engine::undo::undo_stack::Step;
use backissue_core::feed::logins::without_logins;
use backissue_core::feed::opml::subscription_list::{Opml, OpmlFeed};
use backissue_core::history::FeedKey;

/// The subscriptions that a list requests.
pub fn subscriptions_in(read: &Opml) -> Vec<Subscribe> {
    let subscribe = |outline: &OpmlFeed| Subscribe {
        address: outline.xml_url.clone(),
        title: outline.title.clone(),
        site: outline.html_url.clone(),
        tags: outline.tags.clone(),
        feed_settings: FeedSettings::from_opml(&outline.settings),
        ..Subscribe::default()
    };
    read.outlines.iter().map(subscribe).collect()
}

/// Subscribes to many addresses without asking anybody: they are due at once and wait for their turn.
pub fn import(engine: &mut Engine, now: DateTime<Utc>, wanted: Vec<Subscribe>) -> Vec<Effect> {
    let mut known: BTreeMap<String, FeedKey> =
        engine.feeds.values().map(|feed| (comparable(&feed.record.url), feed.key)).collect();
    let mut imported = Imported::default();
    let (mut records, mut steps, mut effects) = (Vec::new(), Vec::new(), Vec::new());
    for asked in wanted {
        let url = match address_of(&asked.address) {
            Ok(url) => url,
            Err(why) => {
                imported.bad.push((without_logins(&asked.address), why));
                continue;
            }
        };
        let TakenLogin { url, effects: kept, login } = take_login(engine, url);
        effects.extend(kept);
        imported.logins.extend(login);
        if let Some(&feed) = known.get(&comparable(&url)) {
            imported.known.push(feed);
            if let Some((before, record)) = with_tags(engine, feed, &asked.tags) {
                steps.push(Step::Changed { feed, before: Box::new(before) });
                records.push((feed, record));
            }
            continue;
        }
        let (feed, record) = insert(engine, now, &asked, url, None);
        known.insert(comparable(&record.url), feed);
        imported.added.push(feed);
        steps.push(Step::Resubscribed(feed));
        records.push((feed, record));
    }
    engine.tell(Event::FeedsChanged);
    let text = format!(
        "{} feeds added, {} subscribed to before, {} refused",
        imported.added.len(),
        imported.known.len(),
        imported.bad.len()
    );
    let change = (!steps.is_empty()).then(|| engine.undo.push(Step::Together(steps)));
    if change.is_some() {
        engine.say_undoable(text);
    } else {
        engine.say(text);
    }
    let added = imported.added.clone();
    let waits = added.iter().filter_map(|feed| rate_limits::save_wait(engine, *feed));
    let waits: Vec<Effect> = waits.collect();
    let rollback = Rollback::Subscribed { feeds: added, change };
    engine.imported = Some(imported);
    engine.unsaved = engine.unsaved.saturating_add(1);
    effects.push(Effect::store_ahead(Job::SaveRecords(records), rollback));
    effects.extend(waits);
    effects
}

/// Adds tags to a known subscription; answers with what was chosen for it before, and with its record. `None` if it has
/// them all.
fn with_tags(
    engine: &mut Engine,
    feed: FeedKey,
    tags: &[String],
) -> Option<(Chosen, SubscriptionRecord)> {
    let record = &mut engine.feeds.get_mut(&feed)?.record;
    let before = record.chosen();
    let new: Vec<String> = tags.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect();
    let changed = !new.is_empty();
    record.tags.extend(new);
    changed.then(|| (before, record.clone()))
}
