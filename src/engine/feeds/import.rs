//! Subscribes to many addresses at once, as one change that can be undone, and exports the subscriptions as a list for other
//! programs.

use backissue_core::feed::address::without_logins;
use backissue_core::feed::opml::subscription_list::{NewsboatQuery, Opml, OpmlFeed, normal_tags};
use backissue_core::feed::opml::write_opml;
use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::history::FeedKey;
use backissue_core::search::translate_newsboat;
use chrono::{DateTime, Utc};

use super::addition::{Imported, Subscribe};
use super::addresses::{by_address, comparable, take_login};
use super::setting_row::{Chosen, FeedSettings};
use super::subscription::{GivenBy, NamedBy, Subscription, SubscriptionRecord};
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::{FeedChange, FeedParts};
use crate::engine::change::{self, Change};
use crate::engine::politeness::rate_limits;
use crate::engine::poll::learn;
use crate::engine::request::Event;
use crate::engine::start_external::allowed_address;
use crate::engine::state::Engine;

/// Returns the searches of newsboat in a list as names and queries, and a sentence for each that has no counterpart here.
pub fn searches_in(read: &Opml) -> (Vec<(String, String)>, Vec<String>) {
    let (mut searches, mut refused) = (Vec::new(), Vec::new());
    for NewsboatQuery { name, expression, line } in &read.queries {
        match translate_newsboat(expression) {
            Ok(text) => searches.push((name.clone(), text)),
            Err(why) => {
                refused.push(format!("line {line}: the search '{name}' is left out: {why}"));
            }
        }
    }
    (searches, refused)
}

/// Returns the requests to subscribe to the feeds in an OPML document.
pub fn subscriptions_in(read: &Opml) -> Vec<Subscribe> {
    let subscribe = |outline: &OpmlFeed| Subscribe {
        address: outline.xml_url.clone(),
        title: outline.title.clone(),
        site: outline.html_url.clone(),
        tags: outline.tags.clone(),
        feed_settings: FeedSettings::from_opml(&outline.settings),
        given_by: GivenBy::File,
        ..Subscribe::default()
    };
    read.outlines.iter().map(subscribe).collect()
}

/// Subscribes to many addresses without requesting them first. The new feeds are due at once.
pub fn import(engine: &mut Engine, now: DateTime<Utc>, wanted: Vec<Subscribe>) {
    let mut known = by_address(engine);
    let waits = rate_limits::host_waits(engine, now);
    let mut imported = Imported::default();
    let (mut changed, mut steps) = (Vec::new(), Vec::new());
    for asked in wanted {
        let url = match allowed_address(&asked, &engine.settings.network) {
            Ok(url) => url,
            Err(why) => {
                imported.bad.push((without_logins(&asked.address), why.into()));
                continue;
            }
        };
        let (url, login) = take_login(engine, url, asked.given_by);
        imported.logins.extend(login);
        if let Some(&feed) = known.get(&comparable(&url)) {
            imported.known.push(feed);
            let (before, change) = add_to(engine, feed, &asked);
            if change.renames() {
                let after = engine.feeds.get(&feed).map(|feed| feed.record.chosen());
                steps.push(Step::changed(feed, before, after.unwrap_or_default()));
            }
            if change != FeedChange::default() {
                changed.push((feed, change));
            }
            continue;
        }
        let place = comparable(&url);
        let feed = insert(engine, now, &asked, url, None, &waits);
        known.insert(place, feed);
        imported.added.push(feed);
        steps.push(Step::Resubscribed(feed));
    }
    engine.tell(Event::FeedsChanged);
    let text = format!(
        "{} feeds added, {} already subscribed to, {} refused",
        imported.added.len(),
        imported.known.len(),
        imported.bad.len()
    );
    let is_changed = !steps.is_empty();
    let step = is_changed.then(|| engine.undo.push(Step::Imported(steps))).flatten();
    if step.is_some() {
        engine.say_undoable(text);
    } else {
        engine.say(text);
    }
    let added = imported.added.clone();
    change::write(engine, Change::Subscribed(added, changed), step);
    for feed in &imported.added {
        rate_limits::save_wait(engine, *feed);
    }
    engine.imported = Some(imported);
}

/// Adds tags to an existing subscription, and trusts its address as one that the user gave if the user did. Returns the earlier
/// settings and the change.
pub(super) fn add_to(
    engine: &mut Engine,
    feed: FeedKey,
    asked: &Subscribe,
) -> (Chosen, FeedChange) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Default::default() };
    let before = FeedParts::of(subscription);
    let record = &mut subscription.record;
    let new: Vec<String> =
        asked.tags.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect();
    record.tags.extend(new);
    if !asked.given_by.is_supplied() {
        (record.given_by, record.named_by) = (Some(asked.given_by), None);
        record.former.iter_mut().for_each(|former| former.by_user = true);
    }
    (before.record.chosen(), FeedChange::since(&before, subscription))
}

/// Adds a subscription that is due at once, unless its host asked for a wait.
pub(super) fn insert(
    engine: &mut Engine,
    now: DateTime<Utc>,
    wanted: &Subscribe,
    url: String,
    named_by: Option<NamedBy>,
    waits: &[rate_limits::HostWait],
) -> FeedKey {
    let feed = engine.new_feed_key();
    let record = SubscriptionRecord {
        url,
        named_by,
        given_by: Some(wanted.given_by),
        // Limit the length of the title and remove line breaks, because it may come from a file or another process.
        own_title: wanted.title.as_deref().map(|title| one_line(title, NAME_MAX)),
        // The name on a server is what is known of the publisher's title.
        title: wanted.title.clone().filter(|_| wanted.given_by == GivenBy::Account),
        site: wanted.site.clone(),
        tags: normal_tags(wanted.tags.iter().map(String::as_str)),
        added: now,
        feed_settings: wanted.feed_settings.clone(),
        ..SubscriptionRecord::default()
    };
    engine.feeds.insert(feed, Subscription::new(feed, record));
    rate_limits::heed_wait(engine, now, feed, waits);
    learn::replan(engine, feed, now);
    engine.tell_when_durable(feed, Event::SubscriptionAdded(feed));
    feed
}

/// Returns the subscriptions as OPML 2.0. The user's settings are in attributes that only backissue uses.
pub fn subscriptions_text<'r>(records: impl Iterator<Item = &'r SubscriptionRecord>) -> String {
    let outline = |record: &SubscriptionRecord| OpmlFeed {
        xml_url: record.url.clone(),
        html_url: record.site.clone(),
        title: record.own_title.clone().or_else(|| record.title.clone()),
        tags: record.tags.clone(),
        settings: record.feed_settings.to_opml(),
    };
    let outlines: Vec<OpmlFeed> = records.map(outline).collect();
    write_opml("Subscriptions of backissue", &outlines)
}
