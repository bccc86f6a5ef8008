//! Marks, labels and filters, changes of many entries, undo, and what happens if a change cannot be written.

mod bulk;
mod drip;
mod failed_writes;
mod filters;
mod labelling;
mod read_marks;
mod undo;
mod unread_limits;
