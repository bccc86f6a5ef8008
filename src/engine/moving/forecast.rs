//! What taking over from another reader would add, counted before anything is changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::entries::entry_filters;
use crate::engine::external::feed_sources::allowed_address;
use crate::engine::feeds::addition::{MoveIn, Subscribe};
use crate::engine::feeds::addresses::{address_of, comparable, subscribed_as};
use crate::engine::save_searches::with_new;
use crate::engine::state::Engine;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::outgoing::outgoing_link;

/// Numbers of things that were found and of those that would be taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of things in the files of the other reader.
    pub found: usize,
    /// Number of things that would be taken, or that are here already.
    pub taken: usize,
}

impl Count {
    fn add(&mut self, found: bool, taken: bool) {
        self.found = self.found.saturating_add(usize::from(found));
        self.taken = self.taken.saturating_add(usize::from(found && taken));
    }
}

/// What taking over from another reader would add.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Feeds.
    pub feeds: Count,
    /// Number of the feeds that are already subscribed to. They only get new tags.
    pub subscribed: usize,
    /// Titles that the user chose.
    pub titles: Count,
    /// Different tags.
    pub tags: Count,
    /// Feeds that are hidden there, and quiet here.
    pub hidden: Count,
    /// Entries that were read.
    pub read: Count,
    /// Entries that were starred.
    pub starred: Count,
    /// Different labels of entries.
    pub labels: Count,
    /// Searches.
    pub searches: Count,
    /// Filters.
    pub filters: Count,
}

impl MoveIn {
    /// Replaces addresses that were exported without their secrets by those of the feeds that they were exported from.
    #[must_use]
    pub fn with_secrets(mut self, engine: &Engine) -> Self {
        let urls = engine.feeds.values().map(|feed| &feed.record.url);
        let exported = urls.filter_map(|url| Some((outgoing_link(url)?, url.clone())));
        let mut secret: BTreeMap<String, String> =
            exported.filter(|(out, url)| out != url).collect();
        secret.retain(|out, _| subscribed_as(engine, out).is_none());
        for asked in &mut self.subscriptions {
            if let Some(url) = secret.get(&asked.address) {
                asked.address.clone_from(url);
            }
        }
        let known = self.known.into_iter();
        self.known = known.map(|(at, of)| (secret.remove(&at).unwrap_or(at), of)).collect();
        self
    }
}

/// Returns the addresses of a list that cannot be subscribed to, each with the reason.
pub fn refused(engine: &Engine, moved: &MoveIn) -> Vec<(String, String)> {
    let refused = |asked: &Subscribe| {
        let why = allowed_address(asked, &engine.settings.network).err()?;
        Some((without_logins(&asked.address), why.into()))
    };
    moved.subscriptions.iter().filter_map(refused).collect()
}

/// Counts what taking over from another reader would add.
pub fn forecast(engine: &Engine, moved: &MoveIn) -> Forecast {
    let here: BTreeSet<String> =
        engine.feeds.values().map(|feed| comparable(&feed.record.url)).collect();
    let mut after = here.clone();
    let mut all = Forecast::default();
    let (mut tags, mut tags_taken) = (BTreeSet::new(), BTreeSet::new());
    for asked in &moved.subscriptions {
        let url = allowed_address(asked, &engine.settings.network);
        let url = url.ok().map(|url| comparable(&url));
        let is_new = url.as_ref().is_some_and(|url| after.insert(url.clone()));
        let is_valid = url.is_some();
        all.feeds.add(true, is_valid);
        all.subscribed =
            all.subscribed.saturating_add(usize::from(url.is_some_and(|url| here.contains(&url))));
        all.titles.add(asked.title.is_some(), is_new);
        all.hidden.add(asked.feed_settings.quiet, is_new);
        tags.extend(&asked.tags);
        if is_valid {
            tags_taken.extend(&asked.tags);
        }
    }
    all.tags = Count { found: tags.len(), taken: tags_taken.len() };
    let is_subscribed =
        |address: &String| address_of(address).is_ok_and(|url| after.contains(&comparable(&url)));
    for (address, entries) in &moved.known {
        let is_here = is_subscribed(address);
        for entry in entries {
            all.read.add(entry.is_read, is_here);
            all.starred.add(entry.is_starred, is_here);
        }
    }
    let labelled = moved.known.iter().flat_map(|(address, entries)| {
        let is_here = is_subscribed(address);
        entries.iter().flat_map(|entry| &entry.labels).map(move |label| (label, is_here))
    });
    let labels: BTreeSet<(&String, bool)> = labelled.collect();
    let here: BTreeSet<&str> =
        labels.iter().filter(|(_, is_here)| *is_here).map(|(label, _)| label.as_str()).collect();
    let found: BTreeSet<&str> = labels.iter().map(|(label, _)| label.as_str()).collect();
    let taken = here.len().saturating_sub(entry_filters::labels_without_room(engine, &here));
    all.labels = Count { found: found.len(), taken };
    let list = with_new(&engine.saved_searches, moved.searches.iter().cloned());
    for (_, query) in &moved.searches {
        all.searches.add(true, list.iter().any(|search| search.text == *query));
    }
    for filter in &moved.filters {
        all.filters.add(true, filter.feed.as_ref().is_none_or(is_subscribed));
    }
    all
}
