//! Actions of the user on feeds and entries: polling, marking, unsubscribing, changing settings, importing and exporting.

pub mod downloads;
pub mod feeds;
pub mod jump;
pub mod marking;
pub mod older;
pub mod run_own;
pub mod timeline;
pub mod unsubscribe;
