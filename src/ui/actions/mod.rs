//! Actions of the user on feeds and entries: polling, marking, unsubscribing, changing settings, importing and exporting.

pub mod downloads;
pub mod feeds;
pub mod history_lists;
pub mod jump;
pub mod marking;
pub mod run_own;
pub mod unsubscribe;
