//! Several changes of one thing that are being written: where the first one fails, the last one counts until it fails as well.

use std::ops::Bound::{Excluded, Unbounded};

use super::rollback::Rollback;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::subscription::AddressBefore;
use crate::engine::saved_searches::SavedSearch;
use crate::engine::state::Engine;
use crate::engine::store_work::JobId;
use crate::history::FeedKey;

/// A job failed that was to write settings of feeds: those that are to be shown again. A later change of the same feed that is
/// being written holds the whole of its settings; if it fails too, it takes back what was before both.
pub fn settings_to_show(
    engine: &mut Engine,
    failed: JobId,
    before: Vec<(FeedKey, Chosen)>,
) -> Vec<(FeedKey, Chosen)> {
    let mut shown = Vec::new();
    for (feed, chosen) in before {
        let later = engine.rollbacks.range_mut((Excluded(failed), Unbounded));
        let settings = later.filter_map(|(_, rollback)| {
            if let Rollback::Settings { before, .. } = rollback { Some(before) } else { None }
        });
        match settings.flatten().find(|(other, _)| *other == feed) {
            Some((_, later)) => *later = chosen,
            None => shown.push((feed, chosen)),
        }
    }
    shown
}

/// The same for the address of a feed and what is proposed of it.
pub fn address_to_show(
    engine: &mut Engine,
    failed: JobId,
    of: FeedKey,
    earlier: AddressBefore,
) -> Option<AddressBefore> {
    for (_, rollback) in engine.rollbacks.range_mut((Excluded(failed), Unbounded)) {
        if let Rollback::Address { feed, before, .. } = rollback
            && *feed == of
        {
            *before = earlier;
            return None;
        }
    }
    Some(earlier)
}

/// The same for saved searches, which are written as a whole.
pub fn searches_to_show(
    engine: &mut Engine,
    failed: JobId,
    earlier: Vec<SavedSearch>,
) -> Option<Vec<SavedSearch>> {
    for (_, rollback) in engine.rollbacks.range_mut((Excluded(failed), Unbounded)) {
        if let Rollback::Searches { before, .. } = rollback {
            *before = earlier;
            return None;
        }
    }
    Some(earlier)
}
