//! Actions on one or several feeds: polling, unsubscribing and changing settings.

pub mod change_marked;
pub mod lists;
pub mod marking;
pub mod poll_answers;
pub mod polls_by_hand;
pub mod removed_feeds;
pub mod unsubscribe;
