//! Steps that take the reader's changes back: a record for each, by the number of its change.

use crate::io::store::pack::{Batch, TableName};

use super::super::codec;
use super::error::StoreError;
use super::handle::Store;
use super::upkeep::check::StoreProblem;
use crate::engine::change::change_id::LaterStep;
use crate::engine::change::step::Step;
use crate::engine::change::undo_stack::{SavedStep, StepChanges};

/// Returns the batch that keeps and forgets steps.
pub(in crate::io::store) fn step_batch(changes: &StepChanges) -> Result<Batch, StoreError> {
    let mut batch = Batch::default();
    for id in &changes.gone {
        batch.remove(id.0.to_be_bytes());
    }
    for saved in &changes.kept {
        batch.insert(saved.id.0.to_be_bytes(), codec::encode_compressed(saved)?);
    }
    Ok(batch)
}

impl Store {
    /// Keeps and forgets steps, all or none of them.
    pub fn save_steps(&mut self, changes: &StepChanges) -> Result<(), StoreError> {
        let batch = step_batch(changes)?;
        self.db.commit(&[(TableName::Undo, &batch)])
    }

    /// Writes the step of a change in the same frame as the change, which is written next. The parts of an import join its step.
    pub(in crate::io::store) fn write_beside(
        &mut self,
        &LaterStep { id, at, joins, .. }: &LaterStep,
        parts: Vec<Step>,
    ) -> Result<(), StoreError> {
        let known = self.undo.get(id.0.to_be_bytes())?.filter(|_| joins);
        let known = known.map(|bytes| codec::decode_compressed::<SavedStep>(&bytes)).transpose()?;
        // The step has become too large before.
        let is_dropped = known.as_ref().is_some_and(|known| known.step.is_nothing());
        let new = SavedStep { id, at, step: Step::Imported(Vec::new()), undone: false };
        let mut saved = known.unwrap_or(new);
        if joins {
            for part in parts {
                saved.step.join(part);
            }
        } else if let Some(step) = parts.into_iter().next() {
            saved.step = step;
        }
        if is_dropped || (joins && !saved.step.is_saved()) {
            saved.step = Step::Imported(Vec::new());
        }
        if saved.step.is_saved() {
            let changes = StepChanges { kept: vec![saved], gone: Vec::new() };
            self.db.beside = Some(step_batch(&changes)?);
        }
        Ok(())
    }

    /// Returns the steps that can be taken back, oldest first. Changes are taken back in their order: what is older than a
    /// record that cannot be read is left out with it.
    pub fn saved_steps(&self) -> Result<Vec<SavedStep>, StoreError> {
        let mut saved = Vec::new();
        for record in self.undo.iter().rev() {
            let Ok(step) = codec::decode_compressed::<SavedStep>(&record?.1) else { break };
            saved.push(step);
        }
        saved.reverse();
        Ok(saved)
    }

    /// Checks the records; `repair` removes those that cannot be taken back: unreadable ones, and what is older.
    pub(super) fn check_steps(&mut self, repair: bool) -> Result<Option<StoreProblem>, StoreError> {
        let lost = self.undo.len().saturating_sub(self.saved_steps()?.len());
        if lost == 0 {
            return Ok(None);
        }
        if repair {
            let mut batch = Batch::default();
            for key in self.undo.keys().take(lost) {
                batch.remove(key?);
            }
            self.db.commit(&[(TableName::Undo, &batch)])?;
        }
        let text = format!("{lost} of your changes can no longer be undone: a record is damaged");
        Ok(Some(StoreProblem { text, repaired: repair }))
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::change::MarkChange;
    use crate::engine::change::change_id::ChangeId;
    use crate::engine::entries::filter_work::FilterChanges;
    use crate::io::store::undo_steps::*;
    use backissue_core::history::{EntryKey, FeedKey, Flag};

    fn marked(id: u64, seqs: impl Iterator<Item = u32>) -> SavedStep {
        let keys = seqs.map(|seq| EntryKey { feed: FeedKey(1), seq }).collect();
        let step = Step::Marked(MarkChange { flag: Flag::Read, value: true, keys });
        SavedStep { id: ChangeId(id), at: chrono::DateTime::UNIX_EPOCH, step, undone: false }
    }

    #[test]
    fn undo_steps_are_read_in_order_until_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let kept = vec![marked(2, 0..3), marked(300, 5..6)];
        store.save_steps(&StepChanges { kept: kept.clone(), gone: Vec::new() }).unwrap();
        drop(store);
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.saved_steps().unwrap(), kept);
        let changes = StepChanges { kept: Vec::new(), gone: vec![ChangeId(300)] };
        store.save_steps(&changes).unwrap();
        assert_eq!(store.saved_steps().unwrap(), kept[..1]);
    }

    #[test]
    fn steps_older_than_a_damaged_one_are_dropped_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let kept = (1..=3).map(|id| marked(id, 0..1)).collect();
        store.save_steps(&StepChanges { kept, gone: Vec::new() }).unwrap();
        store.put(TableName::Undo, 2_u64.to_be_bytes(), b"damaged").unwrap();
        assert_eq!(store.saved_steps().unwrap(), [marked(3, 0..1)]);
        let health = store.check(true).unwrap();
        assert!(health.findings[0].text.starts_with("2 of your changes"), "{health:?}");
        assert_eq!(store.check(false).unwrap().findings, []);
        assert_eq!(store.saved_steps().unwrap(), [marked(3, 0..1)]);
    }

    #[test]
    fn parts_join_the_step_of_an_import_until_it_is_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let import = SavedStep {
            step: Step::Imported(vec![Step::Resubscribed(FeedKey(1))]),
            ..marked(7, 0..0)
        };
        store.save_steps(&StepChanges { kept: vec![import.clone()], gone: Vec::new() }).unwrap();
        let later = LaterStep { id: ChangeId(7), at: import.at, filters: Vec::new(), joins: true };
        let mut expected = import.step;
        for part in [marked(7, 0..3).step, marked(7, 5..9).step] {
            expected.join(part.clone());
            store.write_beside(&later, vec![part]).unwrap();
            store.db.commit(&[]).unwrap();
            assert_eq!(store.saved_steps().unwrap()[0].step, expected);
        }
        for part in [marked(7, 0..300_000).step, marked(7, 0..1).step] {
            store.write_beside(&later, vec![part]).unwrap();
            store.db.commit(&[]).unwrap();
            assert_eq!(
                store.saved_steps().unwrap()[0].step,
                Step::Imported(Vec::new()),
                "no part alone"
            );
        }
        let first = LaterStep { id: ChangeId(8), ..later };
        store.write_beside(&first, vec![marked(8, 0..3).step]).unwrap();
        store.db.commit(&[]).unwrap();
        assert_eq!(
            store.saved_steps().unwrap()[1].step,
            Step::Imported(vec![marked(8, 0..3).step])
        );
    }

    #[test]
    fn largest_stored_step_stays_below_two_megabytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let mut written = |step: SavedStep| {
            let changes = StepChanges { kept: vec![step], gone: Vec::new() };
            store.save_steps(&changes).unwrap();
            store.undo.iter().next().unwrap().unwrap().1.len()
        };
        assert!(written(marked(1, 0..100_000)) < 200, "a whole list");
        let scattered = written(marked(1, (0..100_000).map(|seq| seq * 3)));
        assert!(scattered < 800_000, "{scattered} bytes");
        // The worst of all: no two entries side by side, far from the beginning.
        let flags = (0..250_000).map(|seq| EntryKey { feed: FeedKey(1), seq: seq * 5 + 70_000 });
        let flags = flags.map(|key| (key, Flag::Hidden, true)).collect();
        let changes = Box::new(FilterChanges { flags, ..FilterChanges::default() });
        let step = Step::Filters { before: Vec::new(), changes, forward: false };
        let worst = written(SavedStep { step, ..marked(1, 0..0) });
        assert!(worst < 2_000_000, "{worst} bytes");
    }
}
