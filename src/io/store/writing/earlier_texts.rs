//! Keeps the texts that entries had before a document changed them.

use crate::io::store::chunks::read_in;
use crate::io::store::handle::Store;
use backissue_core::history::edits::keep_previous;
use backissue_core::history::kept::Position;
use backissue_core::history::{DocumentPlace, FeedKey, Merged};

impl Store {
    /// Keeps the texts of the entries that a document edits or has under another id, and counts the edits that a reader sees.
    pub(in crate::io::store) fn keep_previous(
        &self,
        feed: FeedKey,
        merged: &mut Merged,
        place: DocumentPlace,
    ) {
        let first_new = merged.counters.next_seq.saturating_sub(merged.new);
        let known = merged.entries.range(..first_new);
        let edited: Vec<u32> = known
            .filter(|(_, it)| it.body.is_some() || it.earlier.is_some())
            .map(|it| *it.0)
            .collect();
        for (seq, (kept, body)) in read_in(&self.meta, &self.bodies, feed, edited.into_iter()) {
            let (Some(entry), Some(body)) = (merged.entries.get_mut(&seq), body) else { continue };
            // Of an archive, only copies with other ids are versions: its texts are older, whatever their times say.
            let is_poll = place.position == Position::Subscription;
            if !is_poll && entry.earlier.is_none() && entry.kept.id == kept.id {
                continue;
            }
            let counted = entry.is_edited;
            let is_seen =
                keep_previous(entry, &kept, body, place.fetched_at) && entry.row.flags.is_shown();
            let unseen = u32::from(counted && !is_seen);
            merged.edited = merged.edited.saturating_sub(unseen);
        }
    }
}
