//! What the reader does with feeds, one or several: they are checked, given up, changed.

pub mod change_marked;
pub mod lists;
pub mod marking;
pub mod poll_answers;
pub mod polls_by_hand;
pub mod removed_feeds;
pub mod unsubscribe;
