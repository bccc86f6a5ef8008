//! What can be taken back: steps of undo by the reader, and what was shown ahead of a write that failed.

pub mod address_change;
pub mod key_runs;
pub mod later_changes;
pub mod rollback;
pub mod take_back;
pub mod undo_stack;
