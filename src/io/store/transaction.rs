//! Transactions: batches for several trees, applied all or none.

use sled::transaction::{ConflictableTransactionError, TransactionError, Transactional};
use sled::{Batch, Tree};

use super::error::StoreError;

/// Applies each batch to its tree, all or none of them.
pub(super) fn apply_together(batches: &[(&Tree, &Batch)]) -> Result<(), StoreError> {
    let trees: Vec<&Tree> = batches.iter().map(|(tree, _)| *tree).collect();
    let applied = trees.as_slice().transaction(|trees| {
        for (tree, (_, batch)) in trees.iter().zip(batches) {
            tree.apply_batch(batch)?;
        }
        Ok::<(), ConflictableTransactionError<()>>(())
    });
    applied.map_err(|error| match error {
        TransactionError::Abort(()) => StoreError::Failed("a transaction was aborted".into()),
        TransactionError::Storage(error) => error.into(),
    })
}
