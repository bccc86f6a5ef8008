//! Older entries that the publisher does not link to: where they may exist, and what it costs to read them. Nothing is requested before
//! the user chooses a source. What a source brought can be hidden and shown again.

use std::sync::Arc;

use backissue_core::InputFlaw;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::text::counted_words;
use backissue_core::history::address::{carries_login_or_query, host};
use backissue_core::history::{Adaptor, DocumentKind, FeedKey, HistoryStatus};
use chrono::{DateTime, Utc};

use super::walk_stage::HistoryAction;
use super::{archive_response, brought, copies, walks};
use crate::engine::feeds::change_settings;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::state::Engine;

/// A source of older entries that the user can choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OlderSource {
    pub kind: SourceKind,
    /// What the source is, and the host that would receive requests.
    pub name: String,
    /// What it costs to read it.
    pub cost: String,
    /// `true` if it was chosen before.
    pub is_chosen: bool,
}

/// Kind of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceKind {
    Adaptor(Adaptor),
    /// A copy by another reader that was read before, by its address.
    Copy(String),
    /// A copy by another reader whose address the user types.
    OtherCopy,
}

/// Returns the sources of older entries of a feed. A feed that always has all its entries needs none.
pub fn sources(engine: &Engine, feed: &Subscription) -> Vec<OlderSource> {
    let record = &feed.history;
    if FeedSource::of(&feed.record.url) != FeedSource::Web || record.kind == DocumentKind::Complete
    {
        return Vec::new();
    }
    let copies = record.copies.iter().map(|copy| {
        let (documents, entries) = (copy.record.archives, copy.entries().len());
        let (documents, entries) = (
            counted_words(documents, "document", "documents"),
            counted_words(entries, "entry", "entries"),
        );
        OlderSource {
            kind: SourceKind::Copy(copy.url.clone()),
            name: format!("{}: {}", copy.name(), copy.url),
            cost: format!("{documents} read, {entries} here; reads on, at most 20 in one run"),
            is_chosen: true,
        }
    });
    let other = OlderSource {
        kind: SourceKind::OtherCopy,
        name: "another reader's copy, as 'backissue publish' writes it".to_owned(),
        cost: "you type its address; at most 20 documents of its host in one run".to_owned(),
        is_chosen: false,
    };
    adaptors(engine, feed).into_iter().chain(copies).chain([other]).collect()
}

/// Returns the sources that need no other reader. If the publisher has archives, they are used instead.
fn adaptors(engine: &Engine, feed: &Subscription) -> Vec<OlderSource> {
    let url = &feed.record.url;
    if feed.history.archived {
        return Vec::new();
    }
    let is_wordpress = feed.state.facts.hints.is_by_wordpress();
    // Nobody else has a feed of this machine.
    let is_private = carries_login_or_query(url) || feed.state.facts.loopback;
    let service = &engine.settings.history.internet_archive;
    let known = [
        (Adaptor::WordPress, url, is_wordpress && !feed.is_failing()),
        (Adaptor::InternetArchive, service, !is_private),
    ];
    let known = known.into_iter().filter(|(.., is_usable)| *is_usable);
    let source = |(adaptor, address, _): (Adaptor, &String, bool)| {
        let is_chosen = feed.record.feed_settings.archives == Some(adaptor);
        let chosen = if is_chosen { " (chosen)" } else { "" };
        let host = host(address).unwrap_or_default();
        OlderSource {
            kind: SourceKind::Adaptor(adaptor),
            name: format!("{} at {host}{chosen}", adaptor.source()),
            cost: adaptor.cost().to_owned(),
            is_chosen,
        }
    };
    known.map(source).collect()
}

/// Checks whether the publisher offers nothing more, so that a request for older entries lists other sources.
pub fn is_next(engine: &Engine, feed: FeedKey) -> bool {
    let Some(subscription) = engine.feeds.get(&feed) else { return false };
    let record = &subscription.history;
    let is_paged = record.kind == DocumentKind::Paged && !record.archived;
    let is_open = engine.backfills.contains_key(&feed) || engine.polls.contains_key(&feed);
    !engine.offline
        && !is_open
        && !is_paged
        && (record.missing() == 0 || is_gone(subscription))
        && brought::hidden(subscription).is_empty()
        && !matches!(record.status(), HistoryStatus::Complete(_))
        && !sources(engine, subscription).is_empty()
}

/// Checks whether the publisher answers that the feed does not exist any more.
fn is_gone(feed: &Subscription) -> bool {
    matches!(feed.state.status, Some(404 | 410))
}

/// Checks whether the pages of the publisher's software probably have more entries, so that a list can say so.
pub fn has_unread_pages(engine: &Engine, feed: &Subscription) -> bool {
    let pages = SourceKind::Adaptor(Adaptor::WordPress);
    let is_new = |source: &OlderSource| source.kind == pages && !source.is_chosen;
    feed.history.status() == HistoryStatus::NotOffered && adaptors(engine, feed).iter().any(is_new)
}

/// Reads a source of older entries now. The choice is a setting of the feed; it can be undone.
pub fn read(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    adaptor: Adaptor,
) -> Result<(), InputFlaw> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(()) };
    if engine.offline {
        return Err("backissue was started with --offline".into());
    }
    let way = archive_response::way_by(engine, feed, adaptor);
    if way.is_none() {
        return Err("its address has a login or a query, so nobody else is asked for it".into());
    }
    let mut chosen = subscription.record.chosen();
    chosen.feed_settings.archives = Some(adaptor);
    change_settings::change(engine, now, feed, chosen)?;
    if let Some(subscription) = engine.feeds.get_mut(&feed) {
        // A feed that was never read starts at the source, too.
        Arc::make_mut(&mut subscription.history).adapt(way.as_ref());
    }
    engine.say(format!("requesting older entries from {}", adaptor.source()));
    engine.host_queue.not_before = None;
    walks::begin(engine, now, feed, Some(HistoryAction::Everywhere));
    Ok(())
}

/// Reads a copy at a typed address, or continues to.
pub fn read_copy(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    url: &str,
) -> Result<(), InputFlaw> {
    copies::begin(engine, feed, url)?;
    walks::go_on_in_copy(engine, now, feed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::SubscriptionRecord;
    use crate::engine::request::{Input, Request};
    use crate::engine::settings::Settings;
    use crate::engine::update::update;

    #[test]
    fn a_source_that_may_not_know_the_address_changes_no_setting() {
        let (now, feed) = (DateTime::UNIX_EPOCH, FeedKey(1));
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), now);
        let url = "https://a.example/feed?key=secret".to_owned();
        let record = SubscriptionRecord { url, ..SubscriptionRecord::default() };
        engine.feeds.insert(feed, Subscription::new(feed, record.clone()));
        let request = Request::ReadElsewhere(feed, Adaptor::InternetArchive);
        let output = update(&mut engine, now, Input::Request(request));
        assert!(format!("{:?}", output.events).contains("has a login or a query"));
        assert_eq!((output.effects, engine.unsaved), (Vec::new(), 0));
        assert_eq!(engine.feeds[&feed].record, record);
    }
}
