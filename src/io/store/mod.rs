//! The store: everything that lasts, in one sled database.
//!
//! Records are few and packed: 64 index rows, 32 entries or 4 bodies to a record, compressed. Trees touched
//! together are committed in one transaction. What is reported as done has been flushed and synced before
//! ([`Store::sync`]); sled alone does not survive a power cut.
//!
//! This folder does not decide anything: what to write is said by `history` and `app`.

mod absorb;
mod backup;
mod check;
mod chunks;
mod commit;
mod compact;
mod daily;
mod error;
mod fresh;
mod history;
mod jobs;
mod keeper;
mod lists;
mod news;
mod open;
mod pages;
mod places;
mod recovering;
mod rhythms;
mod rule_hits;
mod ruling;
mod schema;
mod searching;
mod shedding;
mod shown;
mod syncing;
mod texts;
mod times;

pub use backup::Backup;
pub use check::{Finding, Health};
pub use compact::Compacted;
pub use daily::backup_is_due;
pub use error::StoreError;
pub(super) use error::unpanicked;
pub use jobs::Job;
pub use keeper::Keeper;
pub use open::Store;
pub use rule_hits::RuleHits;
pub use searching::Found;
pub use shedding::Shed;
pub use texts::Texts;
