//! Entries that the server of an account dropped and fetched again: they have new numbers there.

use std::collections::{BTreeMap, BTreeSet};

use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::feed::FeedDocument;
use backissue_core::history::{FeedKey, KnownEntry};

impl Store {
    /// Returns the entries that the server had under another number already, because it dropped and fetched them again, with their ids
    /// in the document: their link, title and date are the same, and the link is unique.
    pub(super) fn known_there(
        &mut self,
        feed: FeedKey,
        document: &FeedDocument,
        taken: &BTreeSet<u32>,
    ) -> Result<Vec<(KnownEntry, String)>, StoreError> {
        let dates = document.entries.iter().filter_map(|entry| entry.published);
        let dates: BTreeSet<i64> = dates.map(|date| date.timestamp()).collect();
        let known = self.find_known(feed, |row| dates.contains(&row.listed))?;
        let known = known.into_values().flatten().filter(|known| taken.contains(&known.seq));
        let mut by_link: BTreeMap<String, Vec<KnownEntry>> = BTreeMap::new();
        for known in known {
            let link = known.kept.link.clone().unwrap_or_default();
            by_link.entry(link).or_default().push(known);
        }
        let mut again = Vec::new();
        for entry in &document.entries {
            let link = entry.link.as_deref().unwrap_or_default();
            let alike = document.entries.iter().filter(|other| other.link == entry.link).count();
            let Some([known]) = by_link.get(link).map(Vec::as_slice).filter(|_| alike == 1) else {
                continue;
            };
            let kept = &known.kept;
            if !link.is_empty() && kept.title == entry.title && kept.published == entry.published {
                again.push((known.clone(), entry.id.clone()));
            }
        }
        Ok(again)
    }
}
