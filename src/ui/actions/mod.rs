//! Actions of the user on feeds and entries: polling, marking, unsubscribing, changing settings, importing and exporting.

pub mod change_marked;
pub mod downloads;
pub mod jump;
pub mod labels;
pub mod lists;
pub mod marking;
pub mod poll_answers;
pub mod polls_by_hand;
pub mod removed_feeds;
pub mod run_own;
pub mod save_entries;
pub mod share_menu;
pub mod unsubscribe;
